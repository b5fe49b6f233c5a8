//! The functions of the interface as C calls them, without a library and without OTP.

mod binaries;
mod characters;
mod environments;
mod io_queues;
mod resources;
mod terms;

use std::ffi::c_int;

use crate::env::{enif_alloc_env, enif_free_env, EnvPtr, NifEnv};
use crate::pointers::{Array, CTerm, In, InOut, OutBuffer, OutPointer, Word};

/// An environment that C has allocated, and frees on drop.
struct Allocated(*mut NifEnv);

impl Allocated {
    fn new() -> Allocated {
        Allocated(enif_alloc_env().as_ptr())
    }
    /// The pointer that C passes.
    fn ptr(&self) -> EnvPtr {
        // SAFETY: it is there as long as `self`, and each call of a test is over before the next one.
        unsafe { EnvPtr::new(self.0) }
    }
}
impl Drop for Allocated {
    fn drop(&mut self) {
        enif_free_env(self.ptr())
    }
}

/// A term from one of the functions, in the form C passes.
fn c(w: Word) -> CTerm {
    // SAFETY: the tests use terms as long as their environments are there.
    unsafe { CTerm::new(w) }
}
/// Calls a function that writes a result; `None` if it reports failure.
fn answer<T: Default>(f: impl FnOnce(OutPointer<T>) -> c_int) -> Option<T> {
    let mut to = T::default();
    // SAFETY: it is there for the call.
    let there = f(unsafe { OutPointer::new(&mut to) }) != 0;
    there.then_some(to)
}
fn array<T>(items: &[T]) -> Array<T> {
    // SAFETY: the tests say the array's length, and keep it for the call.
    unsafe { Array::new(items.as_ptr()) }
}
fn input<T>(item: &T) -> In<T> {
    // SAFETY: the tests keep it for the call.
    unsafe { In::new(item) }
}
fn in_out<T>(item: &mut T) -> InOut<T> {
    // SAFETY: as above, and nobody else uses it.
    unsafe { InOut::new(item) }
}
/// Calls a function with a buffer of `size` bytes; its result and the bytes written.
fn written(size: usize, f: impl FnOnce(OutBuffer) -> c_int) -> (c_int, Vec<u8>) {
    let mut room = vec![0xff_u8; size];
    // SAFETY: the tests say that size.
    let n = f(unsafe { OutBuffer::new(room.as_mut_ptr().cast()) });
    (n, room)
}
