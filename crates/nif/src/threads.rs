//! Locks, conditions, threads, and thread-specific data: those of the C library, except for locks of
//! readers and writers. As in OTP, the thread that unlocks one need not be the one that locked it (a
//! process may go on elsewhere between two calls), and readers that come one after another do not
//! keep a writer waiting; those of the C library break on the first and do the second.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::zeroed;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use libc::{pthread_cond_t, pthread_mutex_t, pthread_t};
use parking_lot::lock_api::RawRwLock as _;
use parking_lot::RawRwLock;

use crate::pointers::{CStrPtr, In, InOut, Object, OutPointer};

const BUSY: c_int = libc::EBUSY;
const INVALID: c_int = libc::EINVAL;

fn name_of(name: CStrPtr) -> Option<CString> {
    (!name.is_null()).then(|| CString::new(name.bytes()).unwrap_or_default())
}
fn shown(name: &Option<CString>) -> *mut c_char {
    name.as_deref().unwrap_or(c"unknown").as_ptr().cast_mut()
}

/// A kind of lock: its structure and its functions. Operations on null pointers do nothing.
macro_rules! lock {
    ($ty:ident, $raw:ty, $init:path, $gone:path, $create:ident, $destroy:ident, $name:ident) => {
        pub struct $ty {
            raw: UnsafeCell<$raw>,
            name: Option<CString>,
        }
        #[no_mangle]
        pub extern "C" fn $create(name: CStrPtr) -> Object<$ty> {
            // SAFETY: all zero is a structure that the next call fills in, where it stays.
            let raw = UnsafeCell::new(unsafe { zeroed() });
            let lock = Object::boxed($ty { raw, name: name_of(name) });
            if let Some(l) = lock.get() {
                // SAFETY: nobody else has it yet.
                unsafe { $init(l.raw.get(), ptr::null()) };
            }
            lock
        }
        #[no_mangle]
        pub extern "C" fn $destroy(lock: Object<$ty>) {
            // SAFETY: the interface's contract: `create` made it, and nobody uses it any more.
            if let Some(l) = unsafe { lock.unbox() } {
                // SAFETY: as above.
                unsafe { $gone(l.raw.get()) };
            }
        }
        #[no_mangle]
        pub extern "C" fn $name(lock: Object<$ty>) -> *mut c_char {
            lock.get().map_or(ptr::null_mut(), |l| shown(&l.name))
        }
    };
}
lock!(
    MutexLock,
    pthread_mutex_t,
    libc::pthread_mutex_init,
    libc::pthread_mutex_destroy,
    enif_mutex_create,
    enif_mutex_destroy,
    enif_mutex_name
);
lock!(
    Cond,
    pthread_cond_t,
    libc::pthread_cond_init,
    libc::pthread_cond_destroy,
    enif_cond_create,
    enif_cond_destroy,
    enif_cond_name
);

pub struct RwLock {
    raw: RawRwLock,
    name: Option<CString>,
}
#[no_mangle]
pub extern "C" fn enif_rwlock_create(name: CStrPtr) -> Object<RwLock> {
    Object::boxed(RwLock { raw: RawRwLock::INIT, name: name_of(name) })
}
#[no_mangle]
pub extern "C" fn enif_rwlock_destroy(lock: Object<RwLock>) {
    // SAFETY: the interface's contract: `create` made it, and nobody uses it any more.
    drop(unsafe { lock.unbox() });
}
#[no_mangle]
pub extern "C" fn enif_rwlock_name(lock: Object<RwLock>) -> *mut c_char {
    lock.get().map_or(ptr::null_mut(), |l| shown(&l.name))
}
/// 0, or `EINVAL` for a null pointer.
fn with_raw(lock: Object<RwLock>, f: impl FnOnce(&RawRwLock)) -> c_int {
    lock.get().map(|l| f(&l.raw)).map_or(INVALID, |()| 0)
}
#[no_mangle]
pub extern "C" fn enif_rwlock_rlock(lock: Object<RwLock>) -> c_int {
    with_raw(lock, |l| l.lock_shared())
}
#[no_mangle]
pub extern "C" fn enif_rwlock_runlock(lock: Object<RwLock>) -> c_int {
    // SAFETY: the interface's contract: it is locked for reading. By which thread is all the same.
    with_raw(lock, |l| unsafe { l.unlock_shared() })
}
#[no_mangle]
pub extern "C" fn enif_rwlock_rwlock(lock: Object<RwLock>) -> c_int {
    with_raw(lock, |l| l.lock_exclusive())
}
#[no_mangle]
pub extern "C" fn enif_rwlock_rwunlock(lock: Object<RwLock>) -> c_int {
    // SAFETY: the interface's contract: it is locked for writing. By which thread is all the same.
    with_raw(lock, |l| unsafe { l.unlock_exclusive() })
}
#[no_mangle]
pub extern "C" fn enif_rwlock_tryrlock(lock: Object<RwLock>) -> c_int {
    lock.get().map_or(INVALID, |l| tried(l.raw.try_lock_shared()))
}
#[no_mangle]
pub extern "C" fn enif_rwlock_tryrwlock(lock: Object<RwLock>) -> c_int {
    lock.get().map_or(INVALID, |l| tried(l.raw.try_lock_exclusive()))
}

/// Lock operations that call a function of the C library.
macro_rules! operations {
    ($($name:ident($ty:ident) = $f:path;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name(lock: Object<$ty>) -> c_int {
            // SAFETY: `create` made it, and it is the C library's that any thread may use.
            lock.get().map_or(INVALID, |l| unsafe { $f(l.raw.get()) })
        })*
    };
}
operations! {
    enif_mutex_lock(MutexLock) = libc::pthread_mutex_lock;
    enif_mutex_unlock(MutexLock) = libc::pthread_mutex_unlock;
    enif_cond_signal(Cond) = libc::pthread_cond_signal;
    enif_cond_broadcast(Cond) = libc::pthread_cond_broadcast;
}
/// 0, or `EBUSY`.
fn tried(locked: bool) -> c_int {
    if locked {
        0
    } else {
        BUSY
    }
}
#[no_mangle]
pub extern "C" fn enif_mutex_trylock(lock: Object<MutexLock>) -> c_int {
    // SAFETY: `create` made it.
    let r = lock.get().map(|l| unsafe { libc::pthread_mutex_trylock(l.raw.get()) });
    r.map_or(INVALID, |r| tried(r == 0))
}
#[no_mangle]
pub extern "C" fn enif_cond_wait(cond: Object<Cond>, lock: Object<MutexLock>) {
    if let (Some(cond), Some(lock)) = (cond.get(), lock.get()) {
        // SAFETY: `create` made them; the caller has locked the lock.
        unsafe { libc::pthread_cond_wait(cond.raw.get(), lock.raw.get()) };
    }
}

/// Thread-specific data by key. Keys are small numbers, which are not reused.
static KEYS: Mutex<c_int> = Mutex::new(0);
thread_local! {
    static DATA: RefCell<Vec<*mut c_void>> = const { RefCell::new(Vec::new()) };
}
#[no_mangle]
pub extern "C" fn enif_tsd_key_create(_name: CStrPtr, key: OutPointer<c_int>) -> c_int {
    let mut next = KEYS.lock().unwrap_or_else(|e| e.into_inner());
    key.put(*next);
    *next += 1;
    0
}
#[no_mangle]
pub extern "C" fn enif_tsd_key_destroy(_key: c_int) {}
#[no_mangle]
pub extern "C" fn enif_tsd_set(key: c_int, data: *mut c_void) {
    let _ = DATA.try_with(|d| {
        let (mut d, at) = (d.borrow_mut(), key.max(0) as usize);
        if d.len() <= at {
            d.resize(at + 1, ptr::null_mut());
        }
        d[at] = data;
    });
}
#[no_mangle]
pub extern "C" fn enif_tsd_get(key: c_int) -> *mut c_void {
    let get = |d: &RefCell<Vec<*mut c_void>>| d.borrow().get(key.max(0) as usize).copied();
    DATA.try_with(get).ok().flatten().unwrap_or(ptr::null_mut())
}

/// Stack of a thread beyond what C asked for: the C library keeps thread-specific data there.
const SYSTEM_STACK_BYTES: usize = 8 * 1024;

/// `ErlNifThreadOpts`: kilowords of stack; negative for the default.
#[repr(C)]
pub struct ThreadOpts {
    stack_size: c_int,
}
#[no_mangle]
pub extern "C" fn enif_thread_opts_create(_name: CStrPtr) -> InOut<ThreadOpts> {
    InOut::boxed(ThreadOpts { stack_size: -1 })
}
#[no_mangle]
pub extern "C" fn enif_thread_opts_destroy(o: InOut<ThreadOpts>) {
    // SAFETY: the interface's contract: `create` made it, and C gives it up.
    drop(unsafe { o.unbox() })
}

/// A C thread, `ErlNifTid`; kept after its end, for its name.
pub struct Thread {
    id: AtomicU64,
    name: Option<CString>,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
}
// SAFETY: the argument is for the thread itself alone, and the rest does not change or is atomic.
unsafe impl Send for Thread {}
// SAFETY: as above.
unsafe impl Sync for Thread {}
const _: () = assert!(size_of::<pthread_t>() == size_of::<u64>());

/// `ErlNifTid`, which is never freed.
pub type Tid = Option<&'static Thread>;
thread_local! {
    static SELF: Cell<Tid> = const { Cell::new(None) };
}
/// The name that the system shows, cut to the length it takes.
fn name_this_thread(name: &CStr) {
    const MAX_BYTES: usize = 15;
    let bytes = &name.to_bytes()[..name.count_bytes().min(MAX_BYTES)];
    let name = CString::new(bytes).unwrap_or_default();
    // SAFETY: a string that the call copies.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
}
/// The start data of a new thread.
struct Start {
    thread: &'static Thread,
    vm: kvik_state::Membership,
}
extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: `enif_thread_create` made it for this thread.
    let Start { thread: t, vm } = *unsafe { Box::from_raw(start.cast::<Start>()) };
    vm.join();
    SELF.set(Some(t));
    if let Some(name) = &t.name {
        name_this_thread(name);
    }
    (t.start)(t.argument)
}
#[no_mangle]
pub extern "C" fn enif_thread_create(
    name: CStrPtr,
    tid: OutPointer<Tid>,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
    opts: In<ThreadOpts>,
) -> c_int {
    let t = Thread { id: AtomicU64::new(0), name: name_of(name), start, argument };
    let t: &'static Thread = Box::leak(Box::new(t));
    tid.put(Some(t));
    let start = Start { thread: t, vm: kvik_state::Membership::of_this_thread() };
    let start = Box::into_raw(Box::new(start));
    // SAFETY: structures filled in by the calls; the new thread gets `start`, where there is one.
    unsafe {
        let mut attributes = zeroed();
        libc::pthread_attr_init(&mut attributes);
        if let Some(words) = opts.get().and_then(|o| usize::try_from(o.stack_size).ok()) {
            let size = (words * 8 * 1024 + SYSTEM_STACK_BYTES).max(64 * 1024);
            libc::pthread_attr_setstacksize(&mut attributes, size);
        }
        let r = libc::pthread_create(t.id.as_ptr().cast(), &attributes, begin, start.cast());
        libc::pthread_attr_destroy(&mut attributes);
        if r != 0 {
            drop(Box::from_raw(start));
        }
        r
    }
}
#[no_mangle]
pub extern "C" fn enif_thread_self() -> Tid {
    if SELF.get().is_none() {
        // A thread not created by C.
        // SAFETY: a plain call.
        let id = AtomicU64::new(unsafe { libc::pthread_self() });
        extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
            ptr::null_mut()
        }
        let t = Thread { id, name: None, start: nothing, argument: ptr::null_mut() };
        SELF.set(Some(Box::leak(Box::new(t))));
    }
    SELF.get()
}
#[no_mangle]
pub extern "C" fn enif_equal_tids(a: Tid, b: Tid) -> c_int {
    a.map(ptr::from_ref).eq(&b.map(ptr::from_ref)) as c_int
}
#[no_mangle]
pub extern "C" fn enif_thread_exit(value: *mut c_void) {
    // SAFETY: ends a thread of C's, which is what it asks for.
    unsafe { libc::pthread_exit(value) }
}
#[no_mangle]
pub extern "C" fn enif_thread_join(t: Tid, value: *mut *mut c_void) -> c_int {
    let Some(t) = t else { return libc::ESRCH };
    // SAFETY: the interface's contract: it is joined once, and there is room for the value.
    unsafe { libc::pthread_join(t.id.load(Ordering::Acquire), value) }
}
#[no_mangle]
pub extern "C" fn enif_thread_name(t: Tid) -> *mut c_char {
    t.map_or(ptr::null_mut(), |t| shown(&t.name))
}
