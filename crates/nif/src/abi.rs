//! Structures of OTP's `erl_nif.h`, shared with libraries.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::env::NifEnv;
use crate::pointers::{CStrPtr, CTerm, Word};

pub const VARIANT: &[u8] = b"beam.vanilla";

/// `ERL_NIF_LATIN1`, and `ERL_NIF_UTF8` since 2.17.
pub const LATIN1: c_int = 1;
pub const UTF8: c_int = 2;
/// `ERL_NIF_DIRTY_JOB_CPU_BOUND`, `ERL_NIF_DIRTY_JOB_IO_BOUND`.
pub const DIRTY_CPU: c_uint = 1;
pub const DIRTY_IO: c_uint = 2;

pub type Native = unsafe extern "C" fn(*mut NifEnv, c_int, *const Word) -> CTerm;
pub type LoadFn = unsafe extern "C" fn(*mut NifEnv, *mut *mut c_void, Word) -> c_int;
pub type Upgrade =
    unsafe extern "C" fn(*mut NifEnv, *mut *mut c_void, *mut *mut c_void, Word) -> c_int;
pub type Unload = unsafe extern "C" fn(*mut NifEnv, *mut c_void);

/// `ErlNifFunc`
#[repr(C)]
pub struct NifFunction {
    pub name: CStrPtr,
    pub arity: c_uint,
    pub code: Native,
    pub flags: c_uint,
}

/// The same before version 2.7.
#[repr(C)]
pub struct OldFunction {
    pub name: CStrPtr,
    pub arity: c_uint,
    pub code: Native,
}

/// `ErlNifEntry`; a library made for an older version has only that version's fields.
#[repr(C)]
pub struct Entry {
    pub major: c_int,
    pub minor: c_int,
    pub name: CStrPtr,
    pub num_of_funcs: c_int,
    pub funcs: *const NifFunction,
    pub load: Option<LoadFn>,
    pub reload: Option<LoadFn>,
    pub upgrade: Option<Upgrade>,
    pub unload: Option<Unload>,
    /// Since 2.1.
    pub vm_variant: CStrPtr,
    /// Since 2.7.
    pub options: c_uint,
    /// Since 2.12.
    pub sizeof_resource_type_init: usize,
    /// Since 2.14.
    pub min_erts: CStrPtr,
}

/// `ErlNifPid`, `ErlNifPort`: a term.
pub type NifPid = Word;

/// `ErlNifMonitor`: the numbers of a reference.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct NifMonitor {
    pub numbers: [u32; 3],
    pub spare: [u32; 5],
}

/// `ErlNifOnHaltCallback`, `ErlNifOnUnloadThreadCallback`: called with the library's `priv_data`.
pub type LibraryCallback = unsafe extern "C" fn(*mut c_void);
pub type Dtor = unsafe extern "C" fn(*mut NifEnv, *mut c_void);
pub type StopFn = unsafe extern "C" fn(*mut NifEnv, *mut c_void, c_int, c_int);
pub type Down = unsafe extern "C" fn(*mut NifEnv, *mut c_void, *mut NifPid, *mut NifMonitor);
pub type DynCall = unsafe extern "C" fn(*mut NifEnv, *mut c_void, *mut c_void);

/// `ErlNifResourceTypeInit`
#[repr(C)]
#[derive(Copy, Clone, Default)]
pub struct TypeInit {
    pub dtor: Option<Dtor>,
    pub stop: Option<StopFn>,
    pub down: Option<Down>,
    /// How many of the callbacks are set, for `enif_init_resource_type`.
    pub members: c_int,
    pub dyncall: Option<DynCall>,
}

impl TypeInit {
    /// Whether no callback is set.
    pub fn is_empty(&self) -> bool {
        self.dtor.is_none() && self.stop.is_none() && self.down.is_none() && self.dyncall.is_none()
    }
}

/// `ErlNifSysInfo`
#[repr(C)]
pub struct SysInfo {
    pub driver_major: c_int,
    pub driver_minor: c_int,
    pub erts_version: *const c_char,
    pub otp_release: *const c_char,
    pub thread_support: c_int,
    pub smp_support: c_int,
    pub async_threads: c_int,
    pub scheduler_threads: c_int,
    pub nif_major: c_int,
    pub nif_minor: c_int,
    pub dirty_schedulers: c_int,
}
