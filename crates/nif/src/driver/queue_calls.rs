//! Driver functions for a port's queue, and for the lock that guards it.

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use libc::iovec;

use crate::driver::binaries::BinaryPtr;
use crate::driver::interface::{Data, IoVec};
use crate::driver::port_data_lock::PortDataLock;
use crate::driver::ports;
use crate::driver::queue::{of_binary, of_copy, parts, Part};
use crate::lock::lock;
use crate::pointers::{Array, In, OutBuffer, OutPointer};

crate::address::by_address! {
    driver_deq,
    driver_enq,
    driver_enq_bin,
    driver_enqv,
    driver_pdl_create,
    driver_peekq,
    driver_peekqv,
    driver_pushq,
    driver_pushq_bin,
    driver_pushqv,
    driver_sizeq,
    driver_vec_to_buf,
}

/// Returned by functions that return a size, if the port is closed or takes no such part.
const NO_SIZE: usize = usize::MAX;

fn add(port: Data, parts: Vec<Part>, in_front: bool) -> c_int {
    let Some(state) = ports::get(port) else { return -1 };
    lock(&state.queue).add(parts, in_front);
    0
}
#[no_mangle]
pub extern "C" fn driver_enqv(port: Data, v: In<IoVec>, skip: usize) -> c_int {
    add(port, parts(v, skip), false)
}
#[no_mangle]
pub extern "C" fn driver_pushqv(port: Data, v: In<IoVec>, skip: usize) -> c_int {
    add(port, parts(v, skip), true)
}
#[no_mangle]
pub extern "C" fn driver_enq_bin(port: Data, b: BinaryPtr, at: usize, n: usize) -> c_int {
    add(port, of_binary(b, at, n), false)
}
#[no_mangle]
pub extern "C" fn driver_pushq_bin(port: Data, b: BinaryPtr, at: usize, n: usize) -> c_int {
    add(port, of_binary(b, at, n), true)
}
#[no_mangle]
pub extern "C" fn driver_enq(port: Data, from: Array<u8>, n: usize) -> c_int {
    of_copy(from.slice(n)).map_or(-1, |p| add(port, p, false))
}
#[no_mangle]
pub extern "C" fn driver_pushq(port: Data, from: Array<u8>, n: usize) -> c_int {
    of_copy(from.slice(n)).map_or(-1, |p| add(port, p, true))
}
/// Removes bytes from the front; returns how many are left.
#[no_mangle]
pub extern "C" fn driver_deq(port: Data, n: usize) -> usize {
    let Some(state) = ports::get(port) else { return NO_SIZE };
    let mut queue = lock(&state.queue);
    if queue.take(n) {
        queue.len()
    } else {
        NO_SIZE
    }
}
#[no_mangle]
pub extern "C" fn driver_sizeq(port: Data) -> usize {
    ports::get(port).map_or(NO_SIZE, |state| state.queued())
}
/// The result is valid until the queue changes.
#[no_mangle]
pub extern "C" fn driver_peekq(port: Data, n: OutPointer<c_int>) -> *mut iovec {
    let Some(state) = ports::get(port) else {
        n.put(-1);
        return ptr::null_mut();
    };
    let (iov, _, count) = lock(&state.queue).show();
    n.put(count);
    iov
}
/// Like `driver_peekq`, with the binaries; returns the number of bytes, or -1 for a null pointer.
#[no_mangle]
pub extern "C" fn driver_peekqv(port: Data, to: OutPointer<IoVec>) -> usize {
    let Some(state) = ports::get(port).filter(|_| !to.is_null()) else { return NO_SIZE };
    let mut queue = lock(&state.queue);
    let (iov, binv, vsize) = queue.show();
    // SAFETY: what is shown is there until the queue changes, which C knows.
    to.put(unsafe { IoVec::new(vsize, queue.len(), iov, binv) });
    queue.len()
}
/// Copies at most `n` bytes; returns how many.
#[no_mangle]
pub extern "C" fn driver_vec_to_buf(v: In<IoVec>, mut to: OutBuffer, n: usize) -> usize {
    let mut done = 0;
    for (part, _) in v.get().into_iter().flat_map(IoVec::parts) {
        let part = &part[..part.len().min(n - done)];
        to.put_bytes(done, part);
        done += part.len();
    }
    done
}

/// Null if the port already has one.
#[no_mangle]
pub extern "C" fn driver_pdl_create(port: Data) -> *const PortDataLock {
    let Some(state) = ports::get(port) else { return ptr::null() };
    let new = PortDataLock::new();
    let at = Arc::as_ptr(&new);
    state.pdl.set(new).map_or(ptr::null(), |()| at)
}
