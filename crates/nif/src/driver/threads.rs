//! Locks, conditions and threads by the names that drivers know them by: those of NIF libraries.

use std::ffi::{c_char, c_int, c_void};

use crate::threads::{self, Cond, MutexLock, RwLock, Thread, ThreadOpts};

/// Functions that are another one under a different name.
macro_rules! same {
    ($($name:ident = $of:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name($($arg: $ty),*) $(-> $result)? {
            threads::$of($($arg),*)
        })*
        crate::address::by_address! { $($name,)* }
    };
}

/// What a thread of C's begins with.
type Start = extern "C" fn(*mut c_void) -> *mut c_void;

same! {
    erl_drv_mutex_create = enif_mutex_create(name: *const c_char) -> *mut MutexLock;
    erl_drv_mutex_destroy = enif_mutex_destroy(lock: *mut MutexLock);
    erl_drv_mutex_lock = enif_mutex_lock(lock: *mut MutexLock) -> c_int;
    erl_drv_mutex_name = enif_mutex_name(lock: *mut MutexLock) -> *mut c_char;
    erl_drv_mutex_trylock = enif_mutex_trylock(lock: *mut MutexLock) -> c_int;
    erl_drv_mutex_unlock = enif_mutex_unlock(lock: *mut MutexLock) -> c_int;
    erl_drv_cond_broadcast = enif_cond_broadcast(cond: *mut Cond) -> c_int;
    erl_drv_cond_create = enif_cond_create(name: *const c_char) -> *mut Cond;
    erl_drv_cond_destroy = enif_cond_destroy(cond: *mut Cond);
    erl_drv_cond_name = enif_cond_name(cond: *mut Cond) -> *mut c_char;
    erl_drv_cond_signal = enif_cond_signal(cond: *mut Cond) -> c_int;
    erl_drv_cond_wait = enif_cond_wait(cond: *mut Cond, lock: *mut MutexLock);
    erl_drv_rwlock_create = enif_rwlock_create(name: *const c_char) -> *mut RwLock;
    erl_drv_rwlock_destroy = enif_rwlock_destroy(lock: *mut RwLock);
    erl_drv_rwlock_name = enif_rwlock_name(lock: *mut RwLock) -> *mut c_char;
    erl_drv_rwlock_rlock = enif_rwlock_rlock(lock: *mut RwLock) -> c_int;
    erl_drv_rwlock_runlock = enif_rwlock_runlock(lock: *mut RwLock) -> c_int;
    erl_drv_rwlock_rwlock = enif_rwlock_rwlock(lock: *mut RwLock) -> c_int;
    erl_drv_rwlock_rwunlock = enif_rwlock_rwunlock(lock: *mut RwLock) -> c_int;
    erl_drv_rwlock_tryrlock = enif_rwlock_tryrlock(lock: *mut RwLock) -> c_int;
    erl_drv_rwlock_tryrwlock = enif_rwlock_tryrwlock(lock: *mut RwLock) -> c_int;
    erl_drv_thread_create = enif_thread_create(
        name: *const c_char,
        tid: *mut *mut Thread,
        start: Start,
        argument: *mut c_void,
        opts: *const ThreadOpts
    ) -> c_int;
    erl_drv_thread_exit = enif_thread_exit(value: *mut c_void);
    erl_drv_thread_join = enif_thread_join(t: *mut Thread, value: *mut *mut c_void) -> c_int;
    erl_drv_thread_name = enif_thread_name(t: *mut Thread) -> *mut c_char;
    erl_drv_thread_opts_create = enif_thread_opts_create(name: *const c_char) -> *mut ThreadOpts;
    erl_drv_thread_opts_destroy = enif_thread_opts_destroy(o: *mut ThreadOpts);
    erl_drv_thread_self = enif_thread_self() -> *mut Thread;
    erl_drv_equal_tids = enif_equal_tids(a: *mut Thread, b: *mut Thread) -> c_int;
    erl_drv_tsd_get = enif_tsd_get(key: c_int) -> *mut c_void;
    erl_drv_tsd_key_create = enif_tsd_key_create(name: *const c_char, key: *mut c_int) -> c_int;
    erl_drv_tsd_key_destroy = enif_tsd_key_destroy(key: c_int);
    erl_drv_tsd_set = enif_tsd_set(key: c_int, data: *mut c_void);
}
