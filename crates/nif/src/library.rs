//! [`NifLibrary`]: an open NIF library.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use kvik_term::Atom;

use crate::abi::{LibraryCallback, Unload};
use crate::env::NifEnv;

/// The options of a library.
#[derive(Copy, Clone, Default)]
pub struct LibraryOptions {
    /// The VM halts only when no call into the library is under way.
    pub delay_halt: bool,
    /// Called when the VM halts.
    pub on_halt: Option<LibraryCallback>,
    /// Called by each scheduler before the library is unloaded.
    pub on_unload_thread: Option<LibraryCallback>,
}

/// An open library, for one version of one module.
pub struct NifLibrary {
    /// Null if another owner closes it.
    pub handle: *mut c_void,
    pub module: Atom,
    /// Set by `load` or `upgrade`.
    pub priv_data: AtomicPtr<c_void>,
    /// Called before it is closed, if `load` has succeeded.
    pub unload: Option<Unload>,
    pub loaded: AtomicBool,
    /// Set when `load` or `upgrade` has succeeded.
    pub options: OnceLock<LibraryOptions>,
    /// Size of `ErlNifResourceTypeInit` in the library's version of the interface.
    pub type_init_size: usize,
}
// SAFETY: the handle is only used to close it; the rest does not change or is atomic.
unsafe impl Send for NifLibrary {}
// SAFETY: as above.
unsafe impl Sync for NifLibrary {}

impl NifLibrary {
    pub fn options(&self) -> LibraryOptions {
        self.options.get().copied().unwrap_or_default()
    }
    /// The data that the library has set.
    pub fn data(&self) -> *mut c_void {
        self.priv_data.load(Ordering::Acquire)
    }
    /// The same library for a new owner, who unloads it; without options.
    fn moved(&mut self) -> NifLibrary {
        NifLibrary {
            handle: std::mem::replace(&mut self.handle, ptr::null_mut()),
            module: self.module,
            priv_data: AtomicPtr::new(self.data()),
            unload: self.unload.take(),
            loaded: AtomicBool::new(*self.loaded.get_mut()),
            options: OnceLock::new(),
            type_init_size: self.type_init_size,
        }
    }
    /// Calls a function on each scheduler; the last of them unloads the library.
    fn unload_on_schedulers(&mut self, callback: LibraryCallback) {
        let lib = Arc::new(self.moved());
        kvik_proc::sched::call_on_each(move || {
            // SAFETY: the library's own function, as it is still open.
            unsafe { callback(lib.data()) }
        });
    }
}

impl Drop for NifLibrary {
    fn drop(&mut self) {
        if let Some(callback) = self.options().on_unload_thread {
            return self.unload_on_schedulers(callback);
        }
        if let Some(f) = self.unload.filter(|_| *self.loaded.get_mut()) {
            let data = *self.priv_data.get_mut();
            let mut e = NifEnv::alone(self);
            // SAFETY: the library's own function, as it is still open.
            unsafe { f(&mut e, data) }
        }
        // SAFETY: it is open, and nobody uses its code any more.
        unsafe { libc::dlclose(self.handle) };
    }
}
