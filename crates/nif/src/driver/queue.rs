//! The queue of a linked-in driver's port: parts of binaries, which the driver takes off as it writes
//! them.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int};
use std::ptr;

use libc::iovec;

use crate::driver::binaries::{
    bytes, driver_alloc_binary, driver_binary_inc_refc, driver_free_binary, of_bytes, Binary,
};
use crate::driver::interface::IoVec;

/// A part of a binary, with a reference to it.
pub struct Part {
    binary: *mut Binary,
    vector: iovec,
}
// SAFETY: the binary is counted atomically, and the part is used under the queue's lock.
unsafe impl Send for Part {}
impl Drop for Part {
    fn drop(&mut self) {
        driver_free_binary(self.binary);
    }
}

#[derive(Default)]
pub struct Queue {
    parts: VecDeque<Part>,
    len: usize,
    /// What `driver_peekq` and `driver_peekqv` show C, until the queue changes.
    shown: Vec<iovec>,
    binaries: Vec<*mut Binary>,
}
// SAFETY: the pointers are those of the parts.
unsafe impl Send for Queue {}

impl Queue {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn clear(&mut self) {
        *self = Queue::default();
    }
    pub fn add(&mut self, parts: Vec<Part>, in_front: bool) {
        self.len += parts.iter().map(|p| p.vector.iov_len).sum::<usize>();
        match in_front {
            true => parts.into_iter().rev().for_each(|p| self.parts.push_front(p)),
            false => self.parts.extend(parts),
        }
    }
    /// False: there are not so many bytes.
    pub fn take(&mut self, mut n: usize) -> bool {
        if n > self.len {
            return false;
        }
        self.len -= n;
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
    pub fn show(&mut self) -> (*mut iovec, *mut *mut Binary, c_int) {
        self.shown = self.parts.iter().map(|p| p.vector).collect();
        self.binaries = self.parts.iter().map(|p| p.binary).collect();
        let n = self.shown.len() as c_int;
        match n {
            0 => (ptr::null_mut(), ptr::null_mut(), 0),
            _ => (self.shown.as_mut_ptr(), self.binaries.as_mut_ptr(), n),
        }
    }
}

/// The parts of a vector of C's behind the first `skip` bytes. What lies in no binary is copied.
pub fn parts(v: *const IoVec, mut skip: usize) -> Vec<Part> {
    let mut all = Vec::new();
    // SAFETY: the interface's contract: a vector, whose arrays have `vsize` elements, and whose
    // elements lie in the binaries beside them, where those are not null.
    unsafe {
        let v = &*v;
        for i in 0..usize::try_from(v.vsize).unwrap_or(0) {
            let mut vector = *v.iov.add(i);
            let skipped = skip.min(vector.iov_len);
            skip -= skipped;
            vector.iov_base = vector.iov_base.wrapping_byte_add(skipped);
            vector.iov_len -= skipped;
            if vector.iov_len == 0 {
                continue;
            }
            let mut binary = if v.binv.is_null() { ptr::null_mut() } else { *v.binv.add(i) };
            if binary.is_null() {
                let from = std::slice::from_raw_parts(vector.iov_base.cast(), vector.iov_len);
                binary = of_bytes(from);
                if binary.is_null() {
                    continue;
                }
                vector.iov_base = bytes(binary).as_ptr().cast_mut().cast();
            } else {
                driver_binary_inc_refc(binary);
            }
            all.push(Part { binary, vector });
        }
    }
    all
}
pub fn of_binary(b: *mut Binary, at: usize, n: usize) -> Vec<Part> {
    if b.is_null() || n == 0 {
        return Vec::new();
    }
    driver_binary_inc_refc(b);
    let base = bytes(b).as_ptr().wrapping_add(at).cast_mut().cast();
    vec![Part { binary: b, vector: iovec { iov_base: base, iov_len: n } }]
}
pub fn of_copy(from: *const c_char, n: usize) -> Option<Vec<Part>> {
    let b = driver_alloc_binary(n);
    if b.is_null() {
        return None;
    }
    // SAFETY: the interface's contract: so many bytes are there; the binary is new and as long.
    unsafe { ptr::copy_nonoverlapping(from.cast(), bytes(b).as_ptr().cast_mut(), n) };
    let parts = of_binary(b, 0, n);
    driver_free_binary(b);
    Some(parts)
}
