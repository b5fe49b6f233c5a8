//! Resource types: their callbacks, and the library that contains these. There is one for each
//! module and name, never freed; libraries open them while being loaded.

use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_term::Atom;

use crate::abi::{Dtor, TypeInit};
use crate::env::EnvPtr;
use crate::library::{LibraryOptions, NifLibrary};
use crate::pointers::{CStrPtr, In, OutPointer};

/// `ERL_NIF_RT_CREATE`, `ERL_NIF_RT_TAKEOVER`.
const CREATE: c_int = 1;
const TAKEOVER: c_int = 2;

/// A resource type, `ErlNifResourceType`. There is one for each module and name, never freed.
pub struct ResourceType {
    pub module: Atom,
    pub name: Vec<u8>,
    state: Mutex<State>,
    /// Number of live resources.
    pub live: AtomicUsize,
}
#[derive(Default)]
struct State {
    calls: TypeInit,
    /// The library that contains the callbacks. `None`: the type does not exist (any more).
    owner: Option<Arc<NifLibrary>>,
    /// The library was unloaded; it is kept while there are resources.
    orphan: bool,
}

/// `ErlNifResourceType *`. Types are never freed.
pub type TypePtr = Option<&'static ResourceType>;

/// A type opened by `load` or `upgrade`; takes effect when that succeeds.
pub struct Opened {
    ty: &'static ResourceType,
    calls: TypeInit,
}

/// What a library has set up in its `load` or `upgrade`; takes effect when that succeeds.
#[derive(Default)]
pub struct Loading {
    pub types: Vec<Opened>,
    pub options: LibraryOptions,
}

type Types = HashMap<(Atom, Vec<u8>), &'static ResourceType>;
fn types() -> MutexGuard<'static, Types> {
    kvik_state::vm_state! {
        static TYPES: OnceLock<Mutex<Types>> = OnceLock::new();
    }
    TYPES.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}
fn type_of(module: Atom, name: &[u8]) -> &'static ResourceType {
    let new = || {
        let (state, live) = (Mutex::default(), AtomicUsize::new(0));
        Box::leak(Box::new(ResourceType { module, name: name.to_vec(), state, live }))
            as &'static ResourceType
    };
    types().entry((module, name.to_vec())).or_insert_with(new)
}

impl ResourceType {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// The current callbacks, and the library that keeps their code loaded.
    pub fn calls(&self) -> (TypeInit, Option<Arc<NifLibrary>>) {
        let s = self.state();
        (s.calls, s.owner.clone())
    }
    pub fn has_destructor(&self) -> bool {
        self.state().calls.dtor.is_some()
    }
    /// Counts a destroyed resource; the last one of an unloaded library's type releases the
    /// library.
    pub fn lost_one(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let mut s = self.state();
            if s.orphan && self.live.load(Ordering::Acquire) == 0 {
                let gone = std::mem::take(&mut *s);
                drop(s);
                drop(gone);
            }
        }
    }
}

/// Makes the types that a library has opened take effect.
pub fn commit(opened: Vec<Opened>, lib: &Arc<NifLibrary>) {
    for o in opened {
        let new = State { calls: o.calls, owner: Some(lib.clone()), orphan: false };
        let before = std::mem::replace(&mut *o.ty.state(), new);
        drop(before);
    }
}
/// Handles unloading of a library: types without resources are released at once, others later.
pub fn release(lib: &Arc<NifLibrary>) {
    let all: Vec<&ResourceType> = types().values().copied().collect();
    for t in all {
        let mut s = t.state();
        if s.owner.as_ref().is_some_and(|o| Arc::ptr_eq(o, lib)) {
            s.orphan = true;
            if s.calls.is_empty() || t.live.load(Ordering::Acquire) == 0 {
                let gone = std::mem::take(&mut *s);
                drop(s);
                drop(gone);
            }
        }
    }
}

fn open(
    mut e: EnvPtr,
    name: CStrPtr,
    calls: TypeInit,
    flags: c_int,
    tried: OutPointer<c_int>,
) -> TypePtr {
    let e = e.env();
    // SAFETY: null, or the library that is being loaded.
    let module = unsafe { e.lib.as_ref() }.map(|l| l.module);
    let (Some(module), Some(loading)) = (module, e.loading.as_mut()) else {
        tried.put(flags);
        return None;
    };
    let opened = &mut loading.types;
    let ty = type_of(module, name.bytes());
    let there = ty.state().owner.is_some() || opened.iter().any(|o| ptr::eq(o.ty, ty));
    let way = if there { TAKEOVER } else { CREATE };
    tried.put(if flags & way == 0 { flags } else { way });
    if flags & way == 0 {
        return None;
    }
    opened.push(Opened { ty, calls });
    Some(ty)
}
#[no_mangle]
pub extern "C" fn enif_open_resource_type(
    e: EnvPtr,
    _module: CStrPtr,
    name: CStrPtr,
    dtor: Option<Dtor>,
    flags: c_int,
    tried: OutPointer<c_int>,
) -> TypePtr {
    open(e, name, TypeInit { dtor, ..TypeInit::default() }, flags, tried)
}
/// The first `n` callbacks of a structure that may be smaller than ours.
fn first(init: In<TypeInit>, n: usize) -> TypeInit {
    let mut calls = TypeInit::default();
    let init = init.as_ptr();
    // SAFETY: the structure has the callbacks that its maker says it has.
    unsafe {
        if n > 0 {
            calls.dtor = (*init).dtor;
        }
        if n > 1 {
            calls.stop = (*init).stop;
        }
        if n > 2 {
            calls.down = (*init).down;
        }
        if n > 3 {
            calls.dyncall = (*init).dyncall;
        }
    }
    calls
}
#[no_mangle]
pub extern "C" fn enif_open_resource_type_x(
    mut e: EnvPtr,
    name: CStrPtr,
    init: In<TypeInit>,
    flags: c_int,
    tried: OutPointer<c_int>,
) -> TypePtr {
    // SAFETY: null, or the library that is being loaded.
    let size = unsafe { e.env().lib.as_ref() }.map_or(0, |l| l.type_init_size);
    let n = if size > offset_of!(TypeInit, down) { 3 } else { size / size_of::<usize>() };
    open(e, name, first(init, n), flags, tried)
}
#[no_mangle]
pub extern "C" fn enif_init_resource_type(
    e: EnvPtr,
    name: CStrPtr,
    init: In<TypeInit>,
    flags: c_int,
    tried: OutPointer<c_int>,
) -> TypePtr {
    // This function requires a structure with all fields.
    let n = init.get().map_or(0, |i| i.members.clamp(0, 4));
    open(e, name, first(init, n as usize), flags, tried)
}
