//! Locks, conditions and threads under their driver names; the implementation is that of NIFs.

use std::ffi::{c_char, c_int, c_void};

use crate::pointers::{CStrPtr, In, InOut, Object, OutPointer};
use crate::threads::{self, Cond, MutexLock, RwLock, ThreadOpts, Tid};

/// Defines functions that are aliases of others.
macro_rules! same {
    ($($name:ident = $of:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name($($arg: $ty),*) $(-> $result)? {
            threads::$of($($arg),*)
        })*
        crate::address::by_address! { $($name,)* }
    };
}

/// Start routine of a C thread.
type Start = extern "C" fn(*mut c_void) -> *mut c_void;

same! {
    erl_drv_mutex_create = enif_mutex_create(name: CStrPtr) -> Object<MutexLock>;
    erl_drv_mutex_destroy = enif_mutex_destroy(lock: Object<MutexLock>);
    erl_drv_mutex_lock = enif_mutex_lock(lock: Object<MutexLock>) -> c_int;
    erl_drv_mutex_name = enif_mutex_name(lock: Object<MutexLock>) -> *mut c_char;
    erl_drv_mutex_trylock = enif_mutex_trylock(lock: Object<MutexLock>) -> c_int;
    erl_drv_mutex_unlock = enif_mutex_unlock(lock: Object<MutexLock>) -> c_int;
    erl_drv_cond_broadcast = enif_cond_broadcast(cond: Object<Cond>) -> c_int;
    erl_drv_cond_create = enif_cond_create(name: CStrPtr) -> Object<Cond>;
    erl_drv_cond_destroy = enif_cond_destroy(cond: Object<Cond>);
    erl_drv_cond_name = enif_cond_name(cond: Object<Cond>) -> *mut c_char;
    erl_drv_cond_signal = enif_cond_signal(cond: Object<Cond>) -> c_int;
    erl_drv_cond_wait = enif_cond_wait(cond: Object<Cond>, lock: Object<MutexLock>);
    erl_drv_rwlock_create = enif_rwlock_create(name: CStrPtr) -> Object<RwLock>;
    erl_drv_rwlock_destroy = enif_rwlock_destroy(lock: Object<RwLock>);
    erl_drv_rwlock_name = enif_rwlock_name(lock: Object<RwLock>) -> *mut c_char;
    erl_drv_rwlock_rlock = enif_rwlock_rlock(lock: Object<RwLock>) -> c_int;
    erl_drv_rwlock_runlock = enif_rwlock_runlock(lock: Object<RwLock>) -> c_int;
    erl_drv_rwlock_rwlock = enif_rwlock_rwlock(lock: Object<RwLock>) -> c_int;
    erl_drv_rwlock_rwunlock = enif_rwlock_rwunlock(lock: Object<RwLock>) -> c_int;
    erl_drv_rwlock_tryrlock = enif_rwlock_tryrlock(lock: Object<RwLock>) -> c_int;
    erl_drv_rwlock_tryrwlock = enif_rwlock_tryrwlock(lock: Object<RwLock>) -> c_int;
    erl_drv_thread_create = enif_thread_create(
        name: CStrPtr,
        tid: OutPointer<Tid>,
        start: Start,
        argument: *mut c_void,
        opts: In<ThreadOpts>
    ) -> c_int;
    erl_drv_thread_exit = enif_thread_exit(value: *mut c_void);
    erl_drv_thread_join = enif_thread_join(t: Tid, value: *mut *mut c_void) -> c_int;
    erl_drv_thread_name = enif_thread_name(t: Tid) -> *mut c_char;
    erl_drv_thread_opts_create = enif_thread_opts_create(name: CStrPtr) -> InOut<ThreadOpts>;
    erl_drv_thread_opts_destroy = enif_thread_opts_destroy(o: InOut<ThreadOpts>);
    erl_drv_thread_self = enif_thread_self() -> Tid;
    erl_drv_equal_tids = enif_equal_tids(a: Tid, b: Tid) -> c_int;
    erl_drv_tsd_get = enif_tsd_get(key: c_int) -> *mut c_void;
    erl_drv_tsd_key_create = enif_tsd_key_create(name: CStrPtr, key: OutPointer<c_int>) -> c_int;
    erl_drv_tsd_key_destroy = enif_tsd_key_destroy(key: c_int);
    erl_drv_tsd_set = enif_tsd_set(key: c_int, data: *mut c_void);
}
