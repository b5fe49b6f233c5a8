//! Environments: what they hold, and what a call leaves in them.

use std::ffi::c_int;
use std::ptr;

use kvik_term::am;

use super::{answer, array, c, Allocated};
use crate::call::{call_alone, record};
use crate::characters::enif_make_string;
use crate::compound::enif_make_list_from_array;
use crate::env::*;
use crate::pointers::{CTerm, OutPointer, Word};
use crate::process::enif_self;
use crate::terms::{enif_is_identical, enif_make_ulong};

#[test]
fn copies_outlive_where_they_come_from() {
    let to = Allocated::new();
    let copy = {
        let from = Allocated::new();
        let items = [u64::MAX, 1 << 60].map(|i| c(enif_make_ulong(from.ptr(), i)));
        let list = enif_make_list_from_array(from.ptr(), array(&items), 2);
        let copy = enif_make_copy(to.ptr(), c(list));
        assert!(copy != list && enif_is_identical(c(copy), c(list)) == 1);
        copy
    };
    let items = [u64::MAX, 1 << 60].map(|i| c(enif_make_ulong(to.ptr(), i)));
    let same = enif_make_list_from_array(to.ptr(), array(&items), 2);
    assert_eq!(enif_is_identical(c(copy), c(same)), 1);
}

#[test]
fn clearing_forgets_terms_and_exceptions() {
    let e = Allocated::new();
    for _ in 0..3 {
        enif_make_string(e.ptr(), c"some text".into(), crate::abi::LATIN1);
        let w = enif_make_badarg(e.ptr());
        assert_eq!(enif_is_exception(e.ptr(), c(w)), 1);
        let why = answer::<Word>(|to| enif_has_pending_exception(e.ptr(), to));
        assert_eq!(why, Some(kvik_term::am::badarg.word()));
        enif_clear_env(e.ptr());
        assert_eq!(enif_has_pending_exception(e.ptr(), OutPointer::NULL), 0);
        assert_eq!(enif_is_exception(e.ptr(), c(w)), 0);
    }
}

#[test]
fn an_environment_of_its_own_has_no_process_and_no_library() {
    let e = Allocated::new();
    assert_eq!(enif_priv_data(e.ptr()), ptr::null_mut());
    assert_eq!(enif_consume_timeslice(e.ptr(), 100), 0);
    let mut pid = 0;
    // SAFETY: the place is there for the call.
    let got = enif_self(e.ptr(), unsafe { OutPointer::new(&mut pid) });
    assert!(got.is_null() && pid == 0);
    enif_free_env(EnvPtr::NULL);
}

/// A NIF that answers with its process, or with `undefined`.
unsafe extern "C" fn whose(e: *mut NifEnv, _: c_int, _: *const Word) -> CTerm {
    let mut pid = am::undefined.word();
    // SAFETY: the environment and the place are there for the call.
    unsafe { enif_self(EnvPtr::new(e), OutPointer::new(&mut pid)) };
    c(pid)
}
#[test]
fn a_call_with_its_own_heap_is_on_behalf_of_the_process_it_is_given() {
    let r = record(ptr::null(), (am::undefined, am::undefined, 0), whose, 0, None);
    let r = r.expect("a record");
    let asked = |pid| call_alone(&r.entry, pid, &[]).expect("an answer");
    assert_eq!(asked(Some(7)).term().as_local_pid(), Some(7));
    assert_eq!(asked(None).term(), am::undefined);
}
