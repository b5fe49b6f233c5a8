//! Binaries of terms, and binaries that C owns.

use std::mem::MaybeUninit;

use super::{answer, array, c, in_out, Allocated};
use crate::binaries::*;
use crate::driver::binaries::{
    driver_binary_get_refc, driver_free_binary, driver_realloc_binary, BinaryPtr,
};
use crate::env::enif_is_exception;
use crate::pointers::{OutPointer, Word};

/// A structure that a function fills in.
fn filled(f: impl FnOnce(OutPointer<NifBinary>) -> i32) -> Option<NifBinary> {
    let mut to = MaybeUninit::uninit();
    // SAFETY: a place for it, read only where the function says that it has written there.
    unsafe { (f(OutPointer::new(to.as_mut_ptr())) != 0).then(|| to.assume_init()) }
}
fn bytes_of(e: &Allocated, w: Word) -> Option<Vec<u8>> {
    filled(|to| enif_inspect_binary(e.ptr(), c(w), to)).map(|b| b.bytes().to_vec())
}
fn term_of(e: &Allocated, bytes: &[u8]) -> Word {
    let mut w = 0;
    // SAFETY: the place is there for the call, and the new binary as long as said.
    unsafe {
        let at = enif_make_new_binary(e.ptr(), bytes.len(), OutPointer::new(&mut w));
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
    }
    w
}

#[test]
fn bytes_come_back_from_all_kinds() {
    let e = Allocated::new();
    for n in [0, 1, 64, 65, 5000] {
        let bytes: Vec<u8> = (0..n).map(|i| i as u8).collect();
        let w = term_of(&e, &bytes);
        assert_eq!(bytes_of(&e, w), Some(bytes.clone()));
        let part = enif_make_sub_binary(e.ptr(), c(w), n / 3, n / 2);
        assert_eq!(bytes_of(&e, part), Some(bytes[n / 3..n / 3 + n / 2].to_vec()));
        let past = enif_make_sub_binary(e.ptr(), c(w), n, 1);
        assert_eq!(enif_is_exception(e.ptr(), c(past)), 1);
    }
    assert_eq!(bytes_of(&e, crate::terms::enif_make_int(e.ptr(), 1)), None);
}

#[test]
fn owned_binaries_grow_shrink_and_become_terms() {
    let e = Allocated::new();
    let mut b = filled(|to| enif_alloc_binary(3, to)).unwrap();
    assert_eq!(enif_realloc_binary(in_out(&mut b), 10_000), 1);
    assert_eq!(b.bytes().len(), 10_000);
    assert_eq!(enif_realloc_binary(in_out(&mut b), 2), 1);
    let w = enif_make_binary(e.ptr(), in_out(&mut b));
    assert_eq!(bytes_of(&e, w), Some(b.bytes().to_vec()));
    enif_release_binary(in_out(&mut b));
    assert_eq!(bytes_of(&e, w), Some(b.bytes().to_vec()), "it stays readable");
    let mut released = filled(|to| enif_alloc_binary(3, to)).unwrap();
    enif_release_binary(in_out(&mut released));
    enif_release_binary(in_out(&mut released));
    assert_eq!(released.bytes(), b"");
    assert_eq!(enif_realloc_binary(in_out(&mut released), 5), 1);
    enif_release_binary(in_out(&mut released));
    assert_eq!(bytes_of(&e, w).map(|b| b.len()), Some(2), "the term has its own reference");
}

/// As `sprintf` does with the last digits of a hash.
#[test]
fn a_few_bytes_behind_the_end_are_nobody_elses() {
    let e = Allocated::new();
    // Blocks of these sizes lie side by side, and are filled up to the last byte.
    for size in [64, 65, 96, 480] {
        let of_size = |size| filled(|to| enif_alloc_binary(size, to)).unwrap();
        let mut all: Vec<NifBinary> = (0..100).map(|_| of_size(size)).collect();
        for b in &mut all[50..] {
            assert_eq!(enif_realloc_binary(in_out(b), size + 16), 1);
        }
        for b in &all {
            let end = b.bytes().as_ptr_range().end.cast_mut();
            // SAFETY: the spare bytes.
            unsafe { std::ptr::write_bytes(end, 0xff, kvik_heap::binary::SPARE_BYTES - 1) };
        }
        for mut b in all {
            let w = enif_make_binary(e.ptr(), in_out(&mut b));
            assert_eq!(bytes_of(&e, w).map(|b| b.len()), Some(b.bytes().len()));
        }
    }
}

#[test]
fn inspected_binaries_are_copied_where_they_are_changed() {
    let e = Allocated::new();
    let w = term_of(&e, b"abcdef");
    let mut b = filled(|to| enif_inspect_binary(e.ptr(), c(w), to)).unwrap();
    assert_eq!(enif_realloc_binary(in_out(&mut b), 3), 1);
    assert_eq!(b.bytes(), b"abc");
    enif_release_binary(in_out(&mut b));
    assert_eq!(bytes_of(&e, w), Some(b"abcdef".to_vec()));
}

#[test]
fn terms_go_through_the_external_format() {
    let e = Allocated::new();
    let w = crate::characters::enif_make_string(e.ptr(), c"text".into(), crate::abi::LATIN1);
    let mut b = filled(|to| enif_term_to_binary(e.ptr(), c(w), to)).unwrap();
    let decode = |bytes: &[u8], opts| {
        answer::<Word>(|to| {
            enif_binary_to_term(e.ptr(), array(bytes), bytes.len(), to, opts) as i32
        })
    };
    let back = decode(b.bytes(), 0).unwrap();
    assert_eq!(crate::terms::enif_is_identical(c(w), c(back)), 1);
    assert_eq!(decode(&b.bytes()[..3], 0), None);
    assert_eq!(decode(b.bytes(), 1), None, "no such option");
    let unknown = b"\x83\x77\x10nif: not an atom";
    assert_eq!(decode(unknown, 0x2000_0000), None, "safe");
    enif_release_binary(in_out(&mut b));
}

#[test]
fn binaries_of_drivers_grow_from_none() {
    let b = driver_realloc_binary(BinaryPtr::NULL, 3);
    assert_eq!((b.bytes().len(), driver_binary_get_refc(b)), (3, 1));
    let b = driver_realloc_binary(b, 100_000);
    assert_eq!(b.bytes().len(), 100_000);
    driver_free_binary(b);
    driver_free_binary(BinaryPtr::NULL);
}

/// What is left of a binary that has become a term belongs to C.
#[test]
fn terms_keep_what_a_small_binary_held() {
    let e = Allocated::new();
    let mut b: NifBinary = filled(|to| enif_alloc_binary(8, to)).unwrap();
    let (size, data) = (b.bytes().len(), b.bytes().as_ptr().cast_mut());
    // SAFETY: the binary's own bytes, which the environment keeps from `enif_make_binary` on.
    let w = unsafe {
        data.write_bytes(b'a', size);
        let w = enif_make_binary(e.ptr(), in_out(&mut b));
        data.write_bytes(b'b', size);
        w
    };
    enif_release_binary(in_out(&mut b));
    assert_eq!((bytes_of(&e, w), b.bytes()), (Some(b"aaaaaaaa".to_vec()), &b"bbbbbbbb"[..]));
}
