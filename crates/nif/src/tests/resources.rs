//! Resources: the destructor runs once, when the last reference is dropped.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::Arc;

use kvik_term::Atom;

use super::{array, c, Allocated};
use crate::env::{enif_clear_env, enif_make_copy, EnvPtr, NifEnv};
use crate::library::NifLibrary;
use crate::pointers::{CStrPtr, OutPointer};
use crate::resource_types::{commit, enif_open_resource_type, release, TypePtr};
use crate::resources::*;

/// A library that has code but no functions: the program itself.
fn library(module: &str) -> Arc<NifLibrary> {
    Arc::new(NifLibrary {
        handle: crate::shared_object::open(None),
        module: Atom::intern(module).unwrap(),
        priv_data: AtomicPtr::new(ptr::null_mut()),
        unload: None,
        loaded: AtomicBool::new(true),
        options: Default::default(),
        type_init_size: 0,
    })
}
/// Opens a type as a library does while loading. Returns the type, and what was tried.
fn open(lib: &Arc<NifLibrary>, name: CStrPtr, flags: i32) -> (TypePtr, i32) {
    let mut e = NifEnv::alone(&**lib);
    e.loading = Some(Default::default());
    let (mut tried, no_module) = (0, c"".into());
    // SAFETY: both are there for the call.
    let (env, to) = unsafe { (EnvPtr::new(&mut e), OutPointer::new(&mut tried)) };
    let ty = enif_open_resource_type(env, no_module, name, Some(destroyed), flags, to);
    commit(e.loading.take().unwrap().types, lib);
    (ty, tried)
}
/// A destructor that increments the counter that the resource points to.
unsafe extern "C" fn destroyed(_: *mut NifEnv, memory: *mut c_void) {
    // SAFETY: `resource` has put a counter's address there.
    unsafe { (**memory.cast::<*const AtomicUsize>()).fetch_add(1, Ordering::AcqRel) };
}
fn resource(ty: TypePtr, count: &AtomicUsize) -> ResourcePtr {
    let r = enif_alloc_resource(ty, 100);
    // SAFETY: memory of that many bytes, aligned for anything.
    unsafe { r.resource().data().cast::<*const AtomicUsize>().write(count) };
    r
}

const CREATE: i32 = 1;
const TAKEOVER: i32 = 2;

#[test]
fn destroyed_once_when_the_last_reference_goes() {
    let lib = library("nif_resource_counts");
    let (ty, tried) = open(&lib, c"type".into(), CREATE | TAKEOVER);
    assert!(ty.is_some() && tried == CREATE);
    let count = AtomicUsize::new(0);
    let (e, other) = (Allocated::new(), Allocated::new());
    let r = resource(ty, &count);
    assert_eq!(enif_sizeof_resource(r), 100);
    enif_keep_resource(r);
    enif_release_resource(r);
    let w = enif_make_resource(e.ptr(), r);
    enif_make_copy(other.ptr(), c(w));
    enif_release_resource(r);
    assert_eq!((count.load(Ordering::Acquire), ty.unwrap().live.load(Ordering::Acquire)), (0, 1));
    enif_clear_env(e.ptr());
    assert_eq!(count.load(Ordering::Acquire), 0, "the copy keeps it");
    drop(other);
    assert_eq!((count.load(Ordering::Acquire), ty.unwrap().live.load(Ordering::Acquire)), (1, 0));
}

#[test]
fn terms_lead_back_to_their_own_type() {
    let lib = library("nif_resource_types");
    let (one, _) = open(&lib, c"one".into(), CREATE);
    let (other, _) = open(&lib, c"other".into(), CREATE);
    let count = AtomicUsize::new(0);
    let e = Allocated::new();
    let r = resource(one, &count);
    let got = |w, ty| {
        let mut at = ptr::null_mut();
        // SAFETY: the place is there for the call.
        let there = enif_get_resource(e.ptr(), c(w), ty, unsafe { OutPointer::new(&mut at) });
        (there != 0).then_some(at)
    };
    let memory = r.resource().data();
    let reference = enif_make_resource(e.ptr(), r);
    let binary = enif_make_resource_binary(e.ptr(), r, array(b"bytes"), 5);
    enif_release_resource(r);
    for w in [reference, binary] {
        assert_eq!((got(w, one), got(w, other), got(w, None)), (Some(memory), None, None));
    }
    assert_eq!(got(crate::terms::enif_make_ref(e.ptr()), one), None);
    drop(e);
    assert_eq!(count.load(Ordering::Acquire), 1);
}

#[test]
fn types_are_created_once_and_taken_over() {
    let (first, second) = (library("nif_resource_owners"), library("nif_resource_owners"));
    let (ty, _) = open(&first, c"type".into(), CREATE);
    assert!(matches!(open(&second, c"type".into(), CREATE), (None, CREATE)));
    let (again, tried) = open(&second, c"type".into(), CREATE | TAKEOVER);
    assert!(again.zip(ty).is_some_and(|(a, b)| ptr::eq(a, b)) && tried == TAKEOVER);
    assert!(matches!(open(&first, c"new".into(), TAKEOVER), (None, TAKEOVER)));
    // An unloaded library and its type live as long as the type's resources.
    let count = AtomicUsize::new(0);
    let r = resource(ty, &count);
    release(&second);
    assert_eq!(Arc::strong_count(&second), 2);
    enif_release_resource(r);
    assert_eq!((count.load(Ordering::Acquire), Arc::strong_count(&second)), (1, 1));
}
