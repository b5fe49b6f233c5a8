//! [`DriverLibrary`]: a loaded library of a linked-in driver, with the driver's lock and the
//! callbacks that run or wait for it.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_env::clock::Instant;
use kvik_port::driver::Exit;
use kvik_port::port::Core;

use crate::driver::interface::{Data, Entry};
use crate::lock::lock;

/// A port flag of `ErlDrvEntry`: port-level locking suffices.
const PORT_LOCKING: c_int = 1;

/// A loaded library. It is closed when the last reference is dropped.
pub struct DriverLibrary {
    /// Null for an entry that a program has added.
    handle: *mut c_void,
    pub entry: &'static Entry,
    /// Held during callbacks of drivers with driver-level locking.
    pub lock: Mutex<()>,
    /// Callbacks that wait for it.
    pub waiting: Mutex<Waiting>,
    name: String,
    pub ports: Arc<DriverPorts>,
    /// Called with the name once it is closed.
    on_close: fn(&str),
}
/// The ports that use a driver.
pub type DriverPorts = Mutex<Vec<u32>>;
// SAFETY: the handle is only used to close it, and the entry does not change.
unsafe impl Send for DriverLibrary {}
// SAFETY: as above.
unsafe impl Sync for DriverLibrary {}

impl Drop for DriverLibrary {
    fn drop(&mut self) {
        // SAFETY: no port uses it any more, and nobody else knows it.
        unsafe {
            if let Some(f) = self.entry.finish {
                f();
            }
            if self.handle.is_null() {
                return;
            }
            libc::dlclose(self.handle);
        }
        (self.on_close)(&self.name);
    }
}

/// The port whose callback is running on this thread.
pub struct Running {
    pub core: *mut Core,
    pub library: Arc<DriverLibrary>,
    pub exit: Option<Exit>,
    /// The active timer and its deadline; see [`Linked::timer`].
    pub timer: u64,
    pub timer_due: Option<Instant>,
    /// See [`Linked::binaries`].
    pub binaries: bool,
    pub os_pid: Option<i32>,
    /// The argument of `erl_drv_init_ack`.
    pub acknowledged: Option<Result<Data, Exit>>,
    /// See [`Linked::by_process`].
    pub by_process: bool,
    /// The percentage of a time slice that the callback reported.
    pub time_slice_percent: c_int,
    /// The port whose callback encloses this one.
    pub outer: *mut Running,
}

/// Callbacks that wait for their driver's lock, by port.
#[derive(Default)]
pub struct Waiting(Vec<(u32, *mut Running)>);
// SAFETY: each is on the stack of a thread that waits until it has taken it out again.
unsafe impl Send for Waiting {}

impl DriverLibrary {
    pub fn new(
        handle: *mut c_void,
        entry: &'static Entry,
        name: &str,
        on_close: fn(&str),
    ) -> DriverLibrary {
        let (lock, waiting, ports) = Default::default();
        DriverLibrary { handle, entry, lock, waiting, name: name.to_string(), ports, on_close }
    }
    pub fn opened(&self, port: u32) {
        lock(&self.ports).push(port);
    }
    pub fn closed(&self, port: u32) {
        lock(&self.ports).retain(|p| *p != port);
    }
    /// Whether the driver has one callback at a time.
    pub fn locks_driver(&self) -> bool {
        self.entry.flags & PORT_LOCKING == 0
    }
    /// Call it with the driver's lock held. False: no callback of the port waits for it.
    pub fn with_waiting(&self, id: u32, f: &mut dyn FnMut(&mut Running, &mut Core)) -> bool {
        let waiting = lock(&self.waiting);
        let Some((_, running)) = waiting.0.iter().find(|(n, _)| *n == id) else { return false };
        // SAFETY: the thread whose it is waits for the driver's lock, and takes it out of the list,
        // which is locked, before it goes on.
        let running = unsafe { &mut **running };
        // SAFETY: as above.
        let core = unsafe { &mut *running.core };
        f(running, core);
        true
    }
    /// The driver's lock; `None` if port-level locking suffices.
    pub fn lock_for(&self, id: u32, running: *mut Running) -> Option<MutexGuard<'_, ()>> {
        if !self.locks_driver() {
            return None;
        }
        if let Ok(guard) = self.lock.try_lock() {
            return Some(guard);
        }
        lock(&self.waiting).0.push((id, running));
        let guard = lock(&self.lock);
        lock(&self.waiting).0.retain(|(_, r)| *r != running);
        Some(guard)
    }
}
