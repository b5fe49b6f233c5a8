//! Resources: C memory behind magic references. When the last reference is dropped, a scheduler runs
//! the destructor between two time slices.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::Weak;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_heap::build::{next_ref_of, RefKind};
use kvik_heap::{BinRef, Heap};
use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::resource_types::{ResourceType, TypePtr};

use crate::env::{EnvPtr, NifEnv};
use crate::pointers::{Array, CTerm, OutPointer, Word};

/// The processes that a resource monitors.
pub type Watching = HashMap<RefId, u32>;

/// Resources by the reference of their monitor.
pub fn watchers() -> MutexGuard<'static, HashMap<RefId, Weak<NifResource>>> {
    kvik_state::vm_state! {
        static WATCHERS: OnceLock<Mutex<HashMap<RefId, Weak<NifResource>>>> = OnceLock::new();
    }
    WATCHERS.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

pub fn watching(r: &NifResource) -> MutexGuard<'_, Watching> {
    r.watching.lock().unwrap_or_else(|e| e.into_inner())
}

/// Removes all monitors of a resource that is destroyed.
fn forget_monitors(r: &NifResource) {
    let all = std::mem::take(&mut *watching(r));
    for (id, pid) in all {
        watchers().remove(&id);
        signal::control(pid, Control::Demonitor { id });
    }
}

/// A resource, kept alive by magic references. C's pointer is to memory of `size` bytes, preceded
/// by the address of this structure.
pub struct NifResource {
    pub ty: &'static ResourceType,
    memory: *mut u8,
    size: usize,
    numbers: [u32; 3],
    watching: Mutex<Watching>,
    /// Its destructor runs or has run: only the memory is left to be freed.
    destroyed: bool,
}
// SAFETY: the memory is C's to use as it sees fit; everything else does not change or is locked.
unsafe impl Send for NifResource {}
// SAFETY: as above.
unsafe impl Sync for NifResource {}

/// Bytes before C's memory; keeps that aligned for any type.
const HEAD: usize = 16;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, 16).ok()
}
impl NifResource {
    pub fn data(&self) -> *mut c_void {
        // SAFETY: the memory is longer than its head.
        unsafe { self.memory.add(HEAD).cast() }
    }
}
impl Drop for NifResource {
    /// The destructor runs later, where nothing is locked: C may release a resource while it holds a
    /// lock that the destructor takes, and the last term may go with a table's row.
    fn drop(&mut self) {
        forget_monitors(self);
        if self.destroyed || !self.ty.has_destructor() {
            return self.free();
        }
        let moved = NifResource {
            ty: self.ty,
            memory: self.memory,
            size: self.size,
            numbers: self.numbers,
            watching: Mutex::default(),
            destroyed: true,
        };
        let r = Arc::new(moved);
        r.point_to_self();
        kvik_proc::sched::call_between_slices(move || r.destroy());
    }
}
impl NifResource {
    /// Has C's pointer lead to this structure.
    fn point_to_self(self: &Arc<NifResource>) {
        // SAFETY: the head has room for a pointer, and C does not write there.
        unsafe { self.memory.cast::<*const NifResource>().write(Arc::as_ptr(self)) }
    }
    fn destroy(&self) {
        let (calls, keep) = self.ty.calls();
        if let Some(dtor) = calls.dtor {
            let mut e = NifEnv::alone(keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
            // SAFETY: the type's destructor, whose library is kept; nobody has the memory any more.
            unsafe { dtor(&mut e, self.data()) }
        }
    }
    fn free(&mut self) {
        if let Some(l) = layout(self.size) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.memory, l) }
        }
        self.ty.lost_one();
    }
}

#[no_mangle]
pub extern "C" fn enif_alloc_resource(ty: TypePtr, size: usize) -> ResourcePtr {
    const NONE: ResourcePtr = ResourcePtr(ptr::null_mut());
    let (Some(ty), Some(l)) = (ty, layout(size)) else { return NONE };
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(l) };
    if memory.is_null() {
        return NONE;
    }
    ty.live.fetch_add(1, Ordering::AcqRel);
    let watching = Mutex::default();
    let numbers = next_ref_of(RefKind::Magic);
    let r = Arc::new(NifResource { ty, memory, size, numbers, watching, destroyed: false });
    r.point_to_self();
    let at = r.data();
    // The count is C's until `enif_release_resource`.
    std::mem::forget(r);
    ResourcePtr(at)
}
/// C's pointer to the memory of a resource. Only C and `enif_alloc_resource` make one.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct ResourcePtr(*mut c_void);

impl ResourcePtr {
    fn pointer(self) -> *const NifResource {
        // SAFETY: the interface's contract: `enif_alloc_resource` gave it, and it is kept.
        unsafe { self.0.cast::<u8>().sub(HEAD).cast::<*const NifResource>().read() }
    }
    /// The resource that the pointer stands for.
    pub fn resource(&self) -> &NifResource {
        // SAFETY: as above.
        unsafe { &*self.pointer() }
    }
    /// A new reference to it.
    pub fn keep(self) -> Arc<NifResource> {
        let r = self.pointer();
        // SAFETY: as above; the count is one more.
        unsafe {
            Arc::increment_strong_count(r);
            Arc::from_raw(r)
        }
    }
}
#[no_mangle]
pub extern "C" fn enif_keep_resource(obj: ResourcePtr) -> c_int {
    std::mem::forget(obj.keep());
    1
}
#[no_mangle]
pub extern "C" fn enif_release_resource(obj: ResourcePtr) {
    // SAFETY: the interface's contract: one count of C's is given back.
    drop(unsafe { Arc::from_raw(obj.pointer()) })
}
#[no_mangle]
pub extern "C" fn enif_sizeof_resource(obj: ResourcePtr) -> usize {
    obj.resource().size
}
#[no_mangle]
pub extern "C" fn enif_make_resource(e: EnvPtr, obj: ResourcePtr) -> Word {
    term_of(e.heap(), obj.keep()).word()
}
/// A magic reference to a resource.
pub fn term_of(heap: &Heap, r: Arc<NifResource>) -> Term<'_> {
    heap.magic_ref_of_numbers(r.numbers, r)
}
/// A binary with a copy of the bytes. It keeps the resource alive.
#[no_mangle]
pub extern "C" fn enif_make_resource_binary(
    e: EnvPtr,
    obj: ResourcePtr,
    data: Array<u8>,
    size: usize,
) -> Word {
    let b = BinRef::with_owner(data.slice(size), obj.keep());
    e.heap().refc_binary(b, size).word()
}
#[no_mangle]
pub extern "C" fn enif_get_resource(
    e: EnvPtr,
    t: CTerm,
    ty: TypePtr,
    to: OutPointer<*mut c_void>,
) -> c_int {
    let of = |r: &kvik_heap::MagicResource| {
        r.downcast_ref::<NifResource>()
            .filter(|r| ty.is_some_and(|ty| ptr::eq(r.ty, ty)))
            .map(NifResource::data)
    };
    // Its reference, or a binary that keeps it.
    let found = match Heap::resource_ref(t.term()) {
        Some(r) => of(r),
        None => e.heap().off_heap_of(t.term()).and_then(|(b, ..)| b.owner().and_then(of)),
    };
    found.map(|data| to.put(data)).is_some() as c_int
}
/// Calls the `dyncall` of a resource type with that module and name; 0 if it was called.
#[no_mangle]
pub extern "C" fn enif_dynamic_resource_call(
    mut e: EnvPtr,
    module: CTerm,
    name: CTerm,
    resource: CTerm,
    data: *mut c_void,
) -> c_int {
    let r = Heap::resource_ref(resource.term()).and_then(|r| r.downcast_ref::<NifResource>());
    let (Some(r), Some(m), Some(n)) = (r, module.term().as_atom(), name.term().as_atom()) else {
        return 1;
    };
    let (calls, keep) = r.ty.calls();
    match calls.dyncall {
        Some(f) if r.ty.module == m && r.ty.name == n.name().as_bytes() => {
            let before =
                std::mem::replace(&mut e.env().lib, keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
            // SAFETY: the type's function, whose library is kept.
            unsafe { f(e.as_ptr(), r.data(), data) };
            e.env().lib = before;
            0
        }
        _ => 1,
    }
}
