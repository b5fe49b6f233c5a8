//! [`NifLibrary`]: an open NIF library.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr};

use kvik_term::Atom;

use crate::abi::Unload;
use crate::env::NifEnv;

/// An open library, for one version of one module.
pub struct NifLibrary {
    pub handle: *mut c_void,
    pub module: Atom,
    /// Set by `load` or `upgrade`.
    pub priv_data: AtomicPtr<c_void>,
    /// Called before it is closed, if `load` has succeeded.
    pub unload: Option<Unload>,
    pub loaded: AtomicBool,
    /// Size of `ErlNifResourceTypeInit` in the library's version of the interface.
    pub type_init_size: usize,
}
// SAFETY: the handle is only used to close it; the rest does not change or is atomic.
unsafe impl Send for NifLibrary {}
// SAFETY: as above.
unsafe impl Sync for NifLibrary {}
impl Drop for NifLibrary {
    fn drop(&mut self) {
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
