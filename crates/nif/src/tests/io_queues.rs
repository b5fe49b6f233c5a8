//! Vectors of bytes, and queues of them.

use std::ptr;

use super::{answer, array, c, in_out, input, Allocated};
use crate::binaries::{enif_alloc_binary, enif_inspect_binary, enif_make_new_binary, NifBinary};
use crate::compound::{enif_get_list_cell, enif_make_list_from_array};
use crate::ioq::*;
use crate::iovec::{enif_free_iovec, Vector};
use crate::pointers::{InOut, OutPointer, Word};

/// A queue, destroyed by C's function on drop.
struct Owned(*mut IoQueue);
impl Owned {
    fn new() -> Owned {
        let mut q = enif_ioq_create(1);
        Owned(q.get().unwrap())
    }
    fn ptr(&self) -> InOut<IoQueue> {
        // SAFETY: it is there as long as `self`, and each call is over before the next one.
        unsafe { InOut::new(self.0) }
    }
    /// All bytes in it, by part.
    fn parts(&self) -> Vec<Vec<u8>> {
        let mut n = 0;
        // SAFETY: the place is there for the call, and the parts until the queue changes.
        unsafe {
            let at = enif_ioq_peek(self.ptr(), OutPointer::new(&mut n));
            let part = |i| {
                let v: &libc::iovec = &*at.add(i);
                std::slice::from_raw_parts(v.iov_base.cast::<u8>(), v.iov_len).to_vec()
            };
            (0..n as usize).map(part).collect()
        }
    }
}
impl Drop for Owned {
    fn drop(&mut self) {
        enif_ioq_destroy(self.ptr())
    }
}

fn binary_term(e: &Allocated, bytes: &[u8]) -> Word {
    let mut w = 0;
    // SAFETY: the place is there for the call, and the new binary as long as said.
    unsafe {
        let at = enif_make_new_binary(e.ptr(), bytes.len(), OutPointer::new(&mut w));
        ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
    }
    w
}
fn inspected(e: &Allocated, bytes: &[u8]) -> NifBinary {
    let (w, mut b) = (binary_term(e, bytes), std::mem::MaybeUninit::uninit());
    // SAFETY: a place for it, which the function fills in.
    unsafe {
        assert_eq!(enif_inspect_binary(e.ptr(), c(w), OutPointer::new(b.as_mut_ptr())), 1);
        b.assume_init()
    }
}

#[test]
fn bytes_leave_in_the_order_they_came() {
    let (e, q) = (Allocated::new(), Owned::new());
    for (bytes, skip) in [(&b"abc"[..], 0), (b"defg", 1), (b"", 0), (b"hi", 2), (b"jk", 0)] {
        assert_eq!(enif_ioq_enq_binary(q.ptr(), in_out(&mut inspected(&e, bytes)), skip), 1);
    }
    assert_eq!(enif_ioq_enq_binary(q.ptr(), in_out(&mut inspected(&e, b"x")), 2), 0);
    assert_eq!(q.parts(), [&b"abc"[..], b"efg", b"jk"]);
    assert_eq!(enif_ioq_size(q.ptr()), 8);
    assert_eq!(answer::<usize>(|to| enif_ioq_deq(q.ptr(), 4, to)), Some(4));
    assert_eq!(q.parts(), [&b"fg"[..], b"jk"]);
    let mut size = 0;
    // SAFETY: the place is there for the call.
    let head = |to| enif_ioq_peek_head(e.ptr(), q.ptr(), unsafe { OutPointer::new(&mut size) }, to);
    let head = answer::<Word>(head).unwrap();
    let mut b = std::mem::MaybeUninit::<NifBinary>::uninit();
    // SAFETY: as above.
    unsafe {
        enif_inspect_binary(e.ptr(), c(head), OutPointer::new(b.as_mut_ptr()));
        assert_eq!((b.assume_init().bytes(), size), (&b"fg"[..], 2));
    }
    assert_eq!(answer::<usize>(|to| enif_ioq_deq(q.ptr(), 5, to)), None, "more than there is");
    assert_eq!(answer::<usize>(|to| enif_ioq_deq(q.ptr(), 4, to)), Some(0));
    assert_eq!((q.parts().len(), enif_ioq_size(q.ptr())), (0, 0));
    assert!(enif_ioq_create(2).get().is_none(), "no such option");
}

#[test]
fn queue_takes_over_a_binarys_memory() {
    let q = Owned::new();
    let mut b = std::mem::MaybeUninit::uninit();
    // SAFETY: a place for it, which the function fills in.
    let mut b = unsafe {
        assert_eq!(enif_alloc_binary(1000, OutPointer::new(b.as_mut_ptr())), 1);
        b.assume_init()
    };
    let at = b.bytes().as_ptr();
    assert_eq!(enif_ioq_enq_binary(q.ptr(), in_out(&mut b), 10), 1);
    assert_eq!(enif_ioq_size(q.ptr()), 990);
    let mut n = 0;
    // SAFETY: as above, and one part is there.
    let first = unsafe { *enif_ioq_peek(q.ptr(), OutPointer::new(&mut n)) };
    assert_eq!((n, first.iov_base.cast_const().cast()), (1, at.wrapping_add(10)), "not copied");
}

#[test]
fn vectors_of_lists_share_large_binaries() {
    let (e, q) = (Allocated::new(), Owned::new());
    let large = vec![7; 1000];
    let items = [&b"small"[..], &large, b"more"].map(|b| c(binary_term(&e, b)));
    let list = enif_make_list_from_array(e.ptr(), array(&items), 3);
    let mut v: *mut Vector = ptr::null_mut();
    let inspect = |env, max, v: &mut _| {
        answer::<Word>(|to| enif_inspect_iovec(env, max, c(list), to, in_out(v)))
    };
    // Without an environment: its bytes are copies.
    let rest = inspect(crate::env::EnvPtr::NULL, 2, &mut v).unwrap();
    let head = answer::<Word>(|to| enif_get_list_cell(e.ptr(), c(rest), to, OutPointer::NULL));
    assert_eq!(head, Some(items[2].word()));
    // SAFETY: it was made just now.
    let parts = unsafe { &*v };
    assert_eq!(parts.parts().map(|(p, size)| (p.len(), size)), Some((2, 1005)));
    assert_eq!(enif_ioq_enqv(q.ptr(), input(parts), 3), 1);
    assert_eq!(enif_ioq_enqv(q.ptr(), input(parts), 1006), 0);
    // SAFETY: as above; it is C's to free.
    enif_free_iovec(unsafe { InOut::new(v) });
    assert_eq!(q.parts(), [&b"ll"[..], &large]);
    // A vector that the environment frees.
    v = ptr::null_mut();
    inspect(e.ptr(), 100, &mut v).unwrap();
    // SAFETY: as above.
    assert_eq!(enif_ioq_enqv(q.ptr(), input(unsafe { &*v }), 0), 1);
    drop(e);
    assert_eq!(q.parts()[2..], [&b"small"[..], &large, b"more"]);
}

#[test]
fn environment_outlives_the_structure_of_the_caller() {
    let (e, q) = (Allocated::new(), Owned::new());
    let items = [&b"one"[..], b"", &[7; 100]].map(|b| c(binary_term(&e, b)));
    let list = enif_make_list_from_array(e.ptr(), array(&items), 3);
    // As in a native function that returns: its memory is another's when the environment ends.
    let mut room = Box::new(std::mem::MaybeUninit::<Vector>::zeroed());
    let mut v = room.as_mut_ptr();
    let rest = answer::<Word>(|to| enif_inspect_iovec(e.ptr(), 0, c(list), to, in_out(&mut v)));
    let head = |w| answer::<Word>(|to| enif_get_list_cell(e.ptr(), c(w), to, OutPointer::NULL));
    assert_eq!(rest.and_then(head), Some(items[1].word()), "at least one");
    let rest = answer::<Word>(|to| enif_inspect_iovec(e.ptr(), 9, c(list), to, in_out(&mut v)));
    assert_eq!(rest, Some(kvik_term::word::NIL));
    // SAFETY: it was filled in, and is there until it is overwritten.
    unsafe {
        assert_eq!((*v).parts().map(|(p, size)| (p.len(), size)), Some((2, 103)));
        assert_eq!(enif_ioq_enqv(q.ptr(), input(&*v), 0), 1);
        enif_free_iovec(InOut::new(v));
        v.write_bytes(0xff, 1);
    }
    drop(e);
    assert_eq!(q.parts(), [&b"one"[..], &[7; 100]]);
}
