//! The queue of a linked-in driver's port: parts of binaries, which the driver removes as it writes
//! them.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ptr;

use libc::iovec;

use crate::driver::binaries::{BinaryPtr, BinaryRef};
use crate::driver::interface::IoVec;
use crate::pointers::In;

/// A part of a binary, with a reference to it.
pub struct Part {
    binary: BinaryRef,
    vector: iovec,
}
// SAFETY: the vector points into the binary, and the part is used under the queue's lock.
unsafe impl Send for Part {}

impl Part {
    fn new(binary: BinaryRef, base: *const u8, n: usize) -> Part {
        Part { binary, vector: iovec { iov_base: base.cast_mut().cast(), iov_len: n } }
    }
    /// The whole of a binary as one part.
    fn whole(binary: BinaryRef) -> Part {
        let (base, n) = (binary.pointer().data(), binary.pointer().bytes().len());
        Part::new(binary, base, n)
    }
}

#[derive(Default)]
pub struct DriverQueue {
    parts: VecDeque<Part>,
    len: usize,
    /// The vector that `driver_peekq` and `driver_peekqv` expose to C until the queue changes.
    shown: Vec<iovec>,
    binaries: Vec<BinaryPtr>,
    /// The queue has changed since they were made.
    is_stale: bool,
}
// SAFETY: the pointers are those of the parts.
unsafe impl Send for DriverQueue {}

impl DriverQueue {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn clear(&mut self) {
        *self = DriverQueue::default();
    }
    pub fn add(&mut self, parts: Vec<Part>, in_front: bool) {
        self.is_stale |= !parts.is_empty();
        self.len += parts.iter().map(|p| p.vector.iov_len).sum::<usize>();
        match in_front {
            true => parts.into_iter().rev().for_each(|p| self.parts.push_front(p)),
            false => self.parts.extend(parts),
        }
    }
    /// Removes `n` bytes. False: there are fewer.
    pub fn take(&mut self, mut n: usize) -> bool {
        if n > self.len {
            return false;
        }
        self.len -= n;
        self.is_stale |= n > 0;
        while let Some(first) = self.parts.front_mut().filter(|_| n > 0) {
            let v = &mut first.vector;
            if n < v.iov_len {
                v.iov_base = v.iov_base.wrapping_byte_add(n);
                v.iov_len -= n;
                break;
            }
            n -= v.iov_len;
            self.parts.pop_front();
        }
        true
    }
    pub fn show(&mut self) -> (*mut iovec, *mut BinaryPtr, c_int) {
        if std::mem::take(&mut self.is_stale) {
            self.shown = self.parts.iter().map(|p| p.vector).collect();
            self.binaries = self.parts.iter().map(|p| p.binary.pointer()).collect();
        }
        let n = self.shown.len() as c_int;
        match n {
            0 => (ptr::null_mut(), ptr::null_mut(), 0),
            _ => (self.shown.as_mut_ptr(), self.binaries.as_mut_ptr(), n),
        }
    }
}

/// The parts of a C vector behind the first `skip` bytes. Bytes outside binaries are copied.
pub fn parts(v: In<IoVec>, mut skip: usize) -> Vec<Part> {
    let mut all = Vec::new();
    for (bytes, binary) in v.get().into_iter().flat_map(IoVec::parts) {
        let skipped = skip.min(bytes.len());
        skip -= skipped;
        let rest = &bytes[skipped..];
        if rest.is_empty() {
            continue;
        }
        match binary.keep() {
            Some(b) => all.push(Part::new(b, rest.as_ptr(), rest.len())),
            None => all.extend(BinaryRef::of_bytes(rest).map(Part::whole)),
        }
    }
    all
}
pub fn of_binary(b: BinaryPtr, at: usize, n: usize) -> Vec<Part> {
    let part = |kept: BinaryRef| Part::new(kept, b.data().wrapping_add(at), n);
    b.keep().filter(|_| n > 0).map(part).into_iter().collect()
}
/// `None`: out of memory.
pub fn of_copy(from: &[u8]) -> Option<Vec<Part>> {
    let b = BinaryRef::of_bytes(from)?;
    Some(if from.is_empty() { Vec::new() } else { vec![Part::whole(b)] })
}
