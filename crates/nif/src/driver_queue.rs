//! The queue of a linked-in driver's port: parts of binaries, which the driver takes off as it writes
//! them.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int};
use std::ptr;

use libc::iovec;

use crate::driver::{Data, IoVec};
use crate::driver_binaries::{
    bytes, driver_alloc_binary, driver_binary_inc_refc, driver_free_binary, of_bytes, Binary,
};
use crate::driver_ports::{self, lock};

crate::exports::by_address! {
    driver_deq,
    driver_enq,
    driver_enq_bin,
    driver_enqv,
    driver_peekq,
    driver_peekqv,
    driver_pushq,
    driver_pushq_bin,
    driver_pushqv,
    driver_sizeq,
    driver_vec_to_buf,
}

/// The answer of what returns a size, for a port that is gone or takes no such part.
const NO_SIZE: usize = usize::MAX;

/// A part of a binary, with a reference to it.
struct Part {
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
    fn add(&mut self, parts: Vec<Part>, in_front: bool) {
        self.len += parts.iter().map(|p| p.vector.iov_len).sum::<usize>();
        match in_front {
            true => parts.into_iter().rev().for_each(|p| self.parts.push_front(p)),
            false => self.parts.extend(parts),
        }
    }
    /// False: there are not so many bytes.
    fn take(&mut self, mut n: usize) -> bool {
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
    fn show(&mut self) -> (*mut iovec, *mut *mut Binary, c_int) {
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
fn parts(v: *const IoVec, mut skip: usize) -> Vec<Part> {
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
fn add(port: Data, parts: Vec<Part>, in_front: bool) -> c_int {
    let Some(state) = driver_ports::get(port) else { return -1 };
    lock(&state.queue).add(parts, in_front);
    0
}
fn of_binary(b: *mut Binary, at: usize, n: usize) -> Vec<Part> {
    if b.is_null() || n == 0 {
        return Vec::new();
    }
    driver_binary_inc_refc(b);
    let base = bytes(b).as_ptr().wrapping_add(at).cast_mut().cast();
    vec![Part { binary: b, vector: iovec { iov_base: base, iov_len: n } }]
}
fn of_copy(from: *const c_char, n: usize) -> Option<Vec<Part>> {
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

#[no_mangle]
pub extern "C" fn driver_enqv(port: Data, v: *const IoVec, skip: usize) -> c_int {
    add(port, parts(v, skip), false)
}
#[no_mangle]
pub extern "C" fn driver_pushqv(port: Data, v: *const IoVec, skip: usize) -> c_int {
    add(port, parts(v, skip), true)
}
#[no_mangle]
pub extern "C" fn driver_enq_bin(port: Data, b: *mut Binary, at: usize, n: usize) -> c_int {
    add(port, of_binary(b, at, n), false)
}
#[no_mangle]
pub extern "C" fn driver_pushq_bin(port: Data, b: *mut Binary, at: usize, n: usize) -> c_int {
    add(port, of_binary(b, at, n), true)
}
#[no_mangle]
pub extern "C" fn driver_enq(port: Data, from: *const c_char, n: usize) -> c_int {
    of_copy(from, n).map_or(-1, |p| add(port, p, false))
}
#[no_mangle]
pub extern "C" fn driver_pushq(port: Data, from: *const c_char, n: usize) -> c_int {
    of_copy(from, n).map_or(-1, |p| add(port, p, true))
}
/// Takes bytes off its front; how many are left.
#[no_mangle]
pub extern "C" fn driver_deq(port: Data, n: usize) -> usize {
    let Some(state) = driver_ports::get(port) else { return NO_SIZE };
    let mut queue = lock(&state.queue);
    if queue.take(n) {
        queue.len()
    } else {
        NO_SIZE
    }
}
#[no_mangle]
pub extern "C" fn driver_sizeq(port: Data) -> usize {
    driver_ports::get(port).map_or(NO_SIZE, |state| state.queued())
}
/// What it shows is there until the queue changes.
#[no_mangle]
pub extern "C" fn driver_peekq(port: Data, n: *mut c_int) -> *mut iovec {
    let Some(state) = driver_ports::get(port) else {
        crate::env::put(n, -1);
        return ptr::null_mut();
    };
    let (iov, _, count) = lock(&state.queue).show();
    crate::env::put(n, count);
    iov
}
/// The same with the binaries; how many bytes there are.
#[no_mangle]
pub extern "C" fn driver_peekqv(port: Data, to: *mut IoVec) -> usize {
    let Some(state) = driver_ports::get(port) else { return NO_SIZE };
    let mut queue = lock(&state.queue);
    let (iov, binv, vsize) = queue.show();
    if !to.is_null() {
        // SAFETY: a structure of the caller's.
        unsafe { *to = IoVec { vsize, size: queue.len(), iov, binv } }
    }
    queue.len()
}
/// Copies at most `n` bytes; how many it were.
#[no_mangle]
pub extern "C" fn driver_vec_to_buf(v: *const IoVec, to: *mut c_char, n: usize) -> usize {
    let mut done = 0;
    // SAFETY: the interface's contract: a vector, and room for `n` bytes.
    unsafe {
        for i in 0..usize::try_from((*v).vsize).unwrap_or(0) {
            let part = *(*v).iov.add(i);
            let m = part.iov_len.min(n - done);
            ptr::copy_nonoverlapping(part.iov_base.cast(), to.add(done), m);
            done += m;
        }
    }
    done
}
