//! Locks, conditions, threads, and data of threads: those of the C library.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::zeroed;
use std::ptr;
use std::sync::Mutex;

use libc::{pthread_cond_t, pthread_mutex_t, pthread_rwlock_t, pthread_t};

use crate::pointers::put;

const BUSY: c_int = libc::EBUSY;

fn name_of(name: *const c_char) -> Option<CString> {
    // SAFETY: a string that ends with a zero.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}
fn shown(name: &Option<CString>) -> *mut c_char {
    name.as_ref().map_or(ptr::null_mut(), |n| n.as_ptr().cast_mut())
}

/// A kind of lock: its structure, and how it is made, unmade and named. A null pointer does nothing.
macro_rules! lock {
    ($ty:ident, $raw:ty, $init:path, $gone:path, $create:ident, $destroy:ident, $name:ident) => {
        pub struct $ty {
            raw: $raw,
            name: Option<CString>,
        }
        #[no_mangle]
        pub extern "C" fn $create(name: *const c_char) -> *mut $ty {
            // SAFETY: a structure that the next call fills in, where it stays.
            unsafe {
                let lock = Box::into_raw(Box::new($ty { raw: zeroed(), name: name_of(name) }));
                $init(&raw mut (*lock).raw, ptr::null());
                lock
            }
        }
        #[no_mangle]
        pub extern "C" fn $destroy(lock: *mut $ty) {
            if !lock.is_null() {
                // SAFETY: `create` made it, and nobody uses it any more.
                unsafe {
                    $gone(&raw mut (*lock).raw);
                    drop(Box::from_raw(lock))
                }
            }
        }
        #[no_mangle]
        pub extern "C" fn $name(lock: *mut $ty) -> *mut c_char {
            // SAFETY: null, or what `create` made.
            unsafe { lock.as_ref() }.map_or(ptr::null_mut(), |l| shown(&l.name))
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
lock!(
    RwLock,
    pthread_rwlock_t,
    libc::pthread_rwlock_init,
    libc::pthread_rwlock_destroy,
    enif_rwlock_create,
    enif_rwlock_destroy,
    enif_rwlock_name
);

/// What is done to a lock, by the C library's own function.
macro_rules! operations {
    ($($name:ident($ty:ident) = $f:path;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name(lock: *mut $ty) -> c_int {
            // SAFETY: the interface's contract: `create` made it.
            unsafe { $f(&raw mut (*lock).raw) }
        })*
    };
}
operations! {
    enif_mutex_lock(MutexLock) = libc::pthread_mutex_lock;
    enif_mutex_unlock(MutexLock) = libc::pthread_mutex_unlock;
    enif_cond_signal(Cond) = libc::pthread_cond_signal;
    enif_cond_broadcast(Cond) = libc::pthread_cond_broadcast;
    enif_rwlock_rlock(RwLock) = libc::pthread_rwlock_rdlock;
    enif_rwlock_runlock(RwLock) = libc::pthread_rwlock_unlock;
    enif_rwlock_rwlock(RwLock) = libc::pthread_rwlock_wrlock;
    enif_rwlock_rwunlock(RwLock) = libc::pthread_rwlock_unlock;
}
/// 0, or `EBUSY`.
fn tried(r: c_int) -> c_int {
    if r == 0 {
        0
    } else {
        BUSY
    }
}
#[no_mangle]
pub extern "C" fn enif_mutex_trylock(lock: *mut MutexLock) -> c_int {
    // SAFETY: the interface's contract: `create` made it.
    tried(unsafe { libc::pthread_mutex_trylock(&raw mut (*lock).raw) })
}
#[no_mangle]
pub extern "C" fn enif_rwlock_tryrlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as above.
    tried(unsafe { libc::pthread_rwlock_tryrdlock(&raw mut (*lock).raw) })
}
#[no_mangle]
pub extern "C" fn enif_rwlock_tryrwlock(lock: *mut RwLock) -> c_int {
    // SAFETY: as above.
    tried(unsafe { libc::pthread_rwlock_trywrlock(&raw mut (*lock).raw) })
}
#[no_mangle]
pub extern "C" fn enif_cond_wait(cond: *mut Cond, lock: *mut MutexLock) {
    // SAFETY: as above; the caller has locked the lock.
    unsafe { libc::pthread_cond_wait(&raw mut (*cond).raw, &raw mut (*lock).raw) };
}

/// Data of threads by key. Keys are small numbers; one that is given up is not used again.
static KEYS: Mutex<c_int> = Mutex::new(0);
thread_local! {
    static DATA: RefCell<Vec<*mut c_void>> = const { RefCell::new(Vec::new()) };
}
#[no_mangle]
pub extern "C" fn enif_tsd_key_create(_name: *const c_char, key: *mut c_int) -> c_int {
    let mut next = KEYS.lock().unwrap_or_else(|e| e.into_inner());
    put(key, *next);
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

/// `ErlNifThreadOpts`: kilowords of stack, negative for as many as usual.
#[repr(C)]
pub struct ThreadOpts {
    stack_size: c_int,
}
#[no_mangle]
pub extern "C" fn enif_thread_opts_create(_name: *const c_char) -> *mut ThreadOpts {
    Box::into_raw(Box::new(ThreadOpts { stack_size: -1 }))
}
#[no_mangle]
pub extern "C" fn enif_thread_opts_destroy(o: *mut ThreadOpts) {
    if !o.is_null() {
        // SAFETY: `create` made it.
        drop(unsafe { Box::from_raw(o) })
    }
}

/// A thread of C's, `ErlNifTid`; it stays after its end, for its name.
pub struct Thread {
    id: pthread_t,
    name: Option<CString>,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
}
thread_local! {
    static SELF: std::cell::Cell<*mut Thread> = const { std::cell::Cell::new(ptr::null_mut()) };
}
extern "C" fn begin(t: *mut c_void) -> *mut c_void {
    let t = t.cast::<Thread>();
    SELF.set(t);
    // SAFETY: `enif_thread_create` made it, for good.
    unsafe { ((*t).start)((*t).argument) }
}
#[no_mangle]
pub extern "C" fn enif_thread_create(
    name: *const c_char,
    tid: *mut *mut Thread,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
    opts: *const ThreadOpts,
) -> c_int {
    let t = Box::new(Thread { id: 0, name: name_of(name), start, argument });
    let t = Box::into_raw(t);
    put(tid, t);
    // SAFETY: structures filled in by the calls; the new thread has `t` for good.
    unsafe {
        let mut attributes = zeroed();
        libc::pthread_attr_init(&mut attributes);
        if let Some(words) = opts.as_ref().and_then(|o| usize::try_from(o.stack_size).ok()) {
            let size = (words * 8 * 1024).max(64 * 1024);
            libc::pthread_attr_setstacksize(&mut attributes, size);
        }
        let r = libc::pthread_create(&raw mut (*t).id, &attributes, begin, t.cast());
        libc::pthread_attr_destroy(&mut attributes);
        r
    }
}
#[no_mangle]
pub extern "C" fn enif_thread_self() -> *mut Thread {
    if SELF.get().is_null() {
        // A thread that C has not made.
        // SAFETY: a plain call.
        let id = unsafe { libc::pthread_self() };
        extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
            ptr::null_mut()
        }
        let t = Thread { id, name: None, start: nothing, argument: ptr::null_mut() };
        SELF.set(Box::into_raw(Box::new(t)));
    }
    SELF.get()
}
#[no_mangle]
pub extern "C" fn enif_equal_tids(a: *mut Thread, b: *mut Thread) -> c_int {
    ptr::eq(a, b) as c_int
}
#[no_mangle]
pub extern "C" fn enif_thread_exit(value: *mut c_void) {
    // SAFETY: ends a thread of C's, which is what it asks for.
    unsafe { libc::pthread_exit(value) }
}
#[no_mangle]
pub extern "C" fn enif_thread_join(t: *mut Thread, value: *mut *mut c_void) -> c_int {
    // SAFETY: `enif_thread_create` made it.
    unsafe { libc::pthread_join((*t).id, value) }
}
#[no_mangle]
pub extern "C" fn enif_thread_name(t: *mut Thread) -> *mut c_char {
    // SAFETY: as above.
    unsafe { t.as_ref() }.map_or(ptr::null_mut(), |t| shown(&t.name))
}
