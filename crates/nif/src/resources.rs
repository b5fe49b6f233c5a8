//! Resources: memory of C's behind magic references. Its destructor runs when the last reference
//! goes, on whatever thread that is.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_heap::build::next_ref;
use kvik_heap::{BinRef, Heap};
use kvik_term::{Atom, Term};

use crate::abi::{Dtor, TypeInit, Word};
use crate::env::{c_bytes, c_str, env, heap, put, term, Env};
use crate::load::Library;
use crate::monitors::Watching;

/// `ERL_NIF_RT_CREATE`, `ERL_NIF_RT_TAKEOVER`.
const CREATE: c_int = 1;
const TAKEOVER: c_int = 2;

/// A resource type, `ErlNifResourceType`. There is one for each module and name for good.
pub struct Type {
    module: Atom,
    name: Vec<u8>,
    state: Mutex<State>,
    /// Resources that are there.
    live: AtomicUsize,
}
#[derive(Default)]
struct State {
    calls: TypeInit,
    /// The library whose code the callbacks are. `None`: the type is not there (any more).
    owner: Option<Arc<Library>>,
    /// That was unloaded; it stays while there are resources.
    orphan: bool,
}

/// What `load` or `upgrade` has opened, to be put in place when that succeeds.
pub struct Opened {
    ty: &'static Type,
    calls: TypeInit,
}

type Types = HashMap<(Atom, Vec<u8>), &'static Type>;
fn types() -> MutexGuard<'static, Types> {
    static TYPES: OnceLock<Mutex<Types>> = OnceLock::new();
    TYPES.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}
fn type_of(module: Atom, name: &[u8]) -> &'static Type {
    let new = || {
        let (state, live) = (Mutex::default(), AtomicUsize::new(0));
        Box::leak(Box::new(Type { module, name: name.to_vec(), state, live })) as &'static Type
    };
    types().entry((module, name.to_vec())).or_insert_with(new)
}

impl Type {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// The callbacks as they are now, and what keeps their code.
    pub fn calls(&self) -> (TypeInit, Option<Arc<Library>>) {
        let s = self.state();
        (s.calls, s.owner.clone())
    }
    /// One resource less: the last one of a type whose library was unloaded takes that along.
    fn lost_one(&self) {
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

/// Puts in place what a library has opened.
pub fn commit(opened: Vec<Opened>, lib: &Arc<Library>) {
    for o in opened {
        let new = State { calls: o.calls, owner: Some(lib.clone()), orphan: false };
        let before = std::mem::replace(&mut *o.ty.state(), new);
        drop(before);
    }
}
/// A library is unloaded: its types go, those at once that have no resources.
pub fn release(lib: &Arc<Library>) {
    let all: Vec<&Type> = types().values().copied().collect();
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
    e: *mut Env,
    name: *const c_char,
    calls: TypeInit,
    flags: c_int,
    tried: *mut c_int,
) -> *const Type {
    let e = env(e);
    // SAFETY: null, or the library that is being loaded.
    let module = unsafe { e.lib.as_ref() }.map(|l| l.module);
    let (Some(module), Some(opened)) = (module, e.opened.as_mut()) else { return ptr::null() };
    let ty = type_of(module, c_str(name));
    let there = ty.state().owner.is_some() || opened.iter().any(|o| ptr::eq(o.ty, ty));
    let way = if there { TAKEOVER } else { CREATE };
    put(tried, if flags & way == 0 { flags } else { way });
    if flags & way == 0 {
        return ptr::null();
    }
    opened.push(Opened { ty, calls });
    ty
}
#[no_mangle]
pub extern "C" fn enif_open_resource_type(
    e: *mut Env,
    _module: *const c_char,
    name: *const c_char,
    dtor: Option<Dtor>,
    flags: c_int,
    tried: *mut c_int,
) -> *const Type {
    open(e, name, TypeInit { dtor, ..TypeInit::default() }, flags, tried)
}
/// The first `n` callbacks of a structure that may be shorter than ours.
fn first(init: *const TypeInit, n: usize) -> TypeInit {
    let mut calls = TypeInit::default();
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
    e: *mut Env,
    name: *const c_char,
    init: *const TypeInit,
    flags: c_int,
    tried: *mut c_int,
) -> *const Type {
    // SAFETY: null, or the library that is being loaded.
    let size = unsafe { env(e).lib.as_ref() }.map_or(0, |l| l.type_init_size);
    let n = if size > offset_of!(TypeInit, down) { 3 } else { size / size_of::<usize>() };
    open(e, name, first(init, n), flags, tried)
}
#[no_mangle]
pub extern "C" fn enif_init_resource_type(
    e: *mut Env,
    name: *const c_char,
    init: *const TypeInit,
    flags: c_int,
    tried: *mut c_int,
) -> *const Type {
    // SAFETY: this function wants a structure with all fields.
    let n = unsafe { (*init).members }.clamp(0, 4);
    open(e, name, first(init, n as usize), flags, tried)
}

/// A resource: what magic references keep. C's pointer is to memory of `size` bytes; before that
/// stands the address of this structure.
pub struct Resource {
    pub ty: &'static Type,
    memory: *mut u8,
    size: usize,
    numbers: [u32; 3],
    pub watching: Mutex<Watching>,
}
// SAFETY: the memory is C's to use as it sees fit; everything else does not change or is locked.
unsafe impl Send for Resource {}
// SAFETY: as above.
unsafe impl Sync for Resource {}

/// Bytes before C's memory, which has to be aligned for anything.
const HEAD: usize = 16;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, 16).ok()
}
impl Resource {
    pub fn data(&self) -> *mut c_void {
        // SAFETY: the memory is longer than its head.
        unsafe { self.memory.add(HEAD).cast() }
    }
}
impl Drop for Resource {
    fn drop(&mut self) {
        crate::monitors::forget_all(self);
        let (calls, keep) = self.ty.calls();
        if let Some(dtor) = calls.dtor {
            let mut e = Env::alone(keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
            // SAFETY: the type's destructor, whose library is kept; nobody has the memory any more.
            unsafe { dtor(&mut e, self.data()) }
        }
        if let Some(l) = layout(self.size) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.memory, l) }
        }
        drop(keep);
        self.ty.lost_one();
    }
}

#[no_mangle]
pub extern "C" fn enif_alloc_resource(ty: *const Type, size: usize) -> *mut c_void {
    // SAFETY: a type that `open` gave: those stay for good.
    let Some(ty) = (unsafe { ty.as_ref() }) else { return ptr::null_mut() };
    let Some(l) = layout(size) else { return ptr::null_mut() };
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(l) };
    if memory.is_null() {
        return ptr::null_mut();
    }
    ty.live.fetch_add(1, Ordering::AcqRel);
    let watching = Mutex::default();
    let r = Arc::new(Resource { ty, memory, size, numbers: next_ref(), watching });
    let at = r.data();
    // SAFETY: the head has room for a pointer. The count is C's until `enif_release_resource`.
    unsafe { memory.cast::<*const Resource>().write(Arc::into_raw(r)) };
    at
}
fn pointer(obj: *mut c_void) -> *const Resource {
    // SAFETY: the interface's contract: `enif_alloc_resource` gave it, and it is kept.
    unsafe { obj.cast::<u8>().sub(HEAD).cast::<*const Resource>().read() }
}
/// The resource that C's pointer stands for.
pub fn of_pointer<'a>(obj: *mut c_void) -> &'a Resource {
    // SAFETY: as above.
    unsafe { &*pointer(obj) }
}
/// The same, kept.
pub fn kept(obj: *mut c_void) -> Arc<Resource> {
    let r = pointer(obj);
    // SAFETY: as above; the count is one more.
    unsafe {
        Arc::increment_strong_count(r);
        Arc::from_raw(r)
    }
}
#[no_mangle]
pub extern "C" fn enif_keep_resource(obj: *mut c_void) -> c_int {
    std::mem::forget(kept(obj));
    1
}
#[no_mangle]
pub extern "C" fn enif_release_resource(obj: *mut c_void) {
    // SAFETY: the interface's contract: one count of C's is given back.
    drop(unsafe { Arc::from_raw(pointer(obj)) })
}
#[no_mangle]
pub extern "C" fn enif_sizeof_resource(obj: *mut c_void) -> usize {
    of_pointer(obj).size
}
#[no_mangle]
pub extern "C" fn enif_make_resource(e: *mut Env, obj: *mut c_void) -> Word {
    term_of(heap(e), kept(obj)).word()
}
/// The reference that keeps a resource.
pub fn term_of(heap: &Heap, r: Arc<Resource>) -> Term<'_> {
    heap.magic_ref_of_numbers(r.numbers, r)
}
/// A binary with the bytes, which are copied. It keeps the resource alive.
#[no_mangle]
pub extern "C" fn enif_make_resource_binary(
    e: *mut Env,
    obj: *mut c_void,
    data: *const c_void,
    size: usize,
) -> Word {
    let b = BinRef::with_owner(c_bytes(data.cast(), size), kept(obj));
    heap(e).refc_binary(b, size).word()
}
#[no_mangle]
pub extern "C" fn enif_get_resource(
    e: *mut Env,
    t: Word,
    ty: *const Type,
    to: *mut *mut c_void,
) -> c_int {
    let of = |r: &kvik_heap::Resource| {
        r.downcast_ref::<Resource>().filter(|r| ptr::eq(r.ty, ty)).map(Resource::data)
    };
    // Its reference, or a binary of its bytes.
    let found = match Heap::resource_ref(term(t)) {
        Some(r) => of(r),
        None => heap(e).off_heap_of(term(t)).and_then(|(b, ..)| b.owner().and_then(of)),
    };
    found.map(|data| put(to, data)).is_some() as c_int
}
/// Calls the `dyncall` of a resource of the type with that module and name; 0 where it did.
#[no_mangle]
pub extern "C" fn enif_dynamic_resource_call(
    e: *mut Env,
    module: Word,
    name: Word,
    resource: Word,
    data: *mut c_void,
) -> c_int {
    let r = Heap::resource_ref(term(resource)).and_then(|r| r.downcast_ref::<Resource>());
    let (Some(r), Some(m), Some(n)) = (r, term(module).as_atom(), term(name).as_atom()) else {
        return 1;
    };
    let (calls, keep) = r.ty.calls();
    match calls.dyncall {
        Some(f) if r.ty.module == m && r.ty.name == n.name().as_bytes() => {
            let before =
                std::mem::replace(&mut env(e).lib, keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
            // SAFETY: the type's function, whose library is kept.
            unsafe { f(e, r.data(), data) };
            env(e).lib = before;
            0
        }
        _ => 1,
    }
}
