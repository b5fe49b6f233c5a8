//! Port data locks: they guard a port's queue, shared by a driver's threads and its callbacks.

use std::ffi::c_long;
use std::sync::Arc;

use crate::pointers::Object;
use crate::threads::{
    enif_mutex_create, enif_mutex_destroy, enif_mutex_lock, enif_mutex_unlock, MutexLock,
};

crate::address::by_address! {
    driver_pdl_dec_refc,
    driver_pdl_get_refc,
    driver_pdl_inc_refc,
    driver_pdl_lock,
    driver_pdl_unlock,
}

/// Reference-counted as an `Arc`; the port holds one reference.
pub struct PortDataLock {
    mutex: Object<MutexLock>,
}
// SAFETY: a lock, made to be used by several threads.
unsafe impl Send for PortDataLock {}
// SAFETY: as above.
unsafe impl Sync for PortDataLock {}

impl PortDataLock {
    pub fn new() -> Arc<PortDataLock> {
        Arc::new(PortDataLock { mutex: enif_mutex_create(c"port_data_lock".into()) })
    }
}
impl Drop for PortDataLock {
    fn drop(&mut self) {
        enif_mutex_destroy(self.mutex);
    }
}

/// The reference count that C sees.
fn count(pdl: *const PortDataLock) -> c_long {
    // SAFETY: the interface's contract: the caller has a reference, so it is live; the `Arc` made
    // here is not dropped.
    let arc = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(pdl) });
    Arc::strong_count(&arc) as c_long
}
#[no_mangle]
pub extern "C" fn driver_pdl_get_refc(pdl: *const PortDataLock) -> c_long {
    count(pdl)
}
#[no_mangle]
pub extern "C" fn driver_pdl_inc_refc(pdl: *const PortDataLock) -> c_long {
    // SAFETY: the interface's contract: the caller has a reference.
    unsafe { Arc::increment_strong_count(pdl) }
    count(pdl)
}
#[no_mangle]
pub extern "C" fn driver_pdl_dec_refc(pdl: *const PortDataLock) -> c_long {
    // SAFETY: as above; the caller gives its reference up.
    let arc = unsafe { Arc::from_raw(pdl) };
    let left = Arc::strong_count(&arc) as c_long - 1;
    drop(arc);
    left
}
/// The holder of the lock has a reference.
#[no_mangle]
pub extern "C" fn driver_pdl_lock(pdl: *const PortDataLock) {
    // SAFETY: as above.
    unsafe {
        Arc::increment_strong_count(pdl);
        enif_mutex_lock((*pdl).mutex);
    }
}
#[no_mangle]
pub extern "C" fn driver_pdl_unlock(pdl: *const PortDataLock) {
    // SAFETY: as above: `driver_pdl_lock` took the reference that goes here.
    unsafe {
        enif_mutex_unlock((*pdl).mutex);
        drop(Arc::from_raw(pdl));
    }
}
