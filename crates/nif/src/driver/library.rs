//! [`Library`]: a linked-in driver's library that is loaded, with the driver's lock and the callbacks
//! that run or wait for it.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_env::clock::Instant;
use kvik_port::driver::Exit;
use kvik_port::port::Core;

use crate::driver::interface::{Data, Entry};
use crate::lock::lock;

/// A port flag of `ErlDrvEntry`: the ports' locks are enough.
const PORT_LOCKING: c_int = 1;

/// A library that is loaded. When nobody refers to it any more it is closed.
pub struct Library {
    /// Null for an entry that a program has added itself.
    handle: *mut c_void,
    pub entry: &'static Entry,
    /// Held during callbacks of drivers that ask for that.
    pub lock: Mutex<()>,
    /// Callbacks that wait for it.
    pub waiting: Mutex<Waiting>,
    name: String,
    pub ports: Arc<Ports>,
    /// Told the name once it is closed.
    on_close: fn(&str),
}
/// The ports that use a driver.
pub type Ports = Mutex<Vec<u32>>;
// SAFETY: the handle is only used to close it, and the entry does not change.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Drop for Library {
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
    pub library: Arc<Library>,
    pub exit: Option<Exit>,
    /// The timer that counts, and when it is due; see [`Linked::timer`].
    pub timer: u64,
    pub timer_due: Option<Instant>,
    /// See [`Linked::binaries`].
    pub binaries: bool,
    pub os_pid: Option<i32>,
    /// What `erl_drv_init_ack` was given.
    pub acknowledged: Option<Data>,
    /// How much of a time slice it says it has taken.
    pub time_slice_percent: c_int,
    /// The port in whose callback this one is called.
    pub outer: *mut Running,
}

/// Callbacks that wait for the lock of their driver, by their ports.
#[derive(Default)]
pub struct Waiting(Vec<(u32, *mut Running)>);
// SAFETY: each is on the stack of a thread that waits until it has taken it out again.
unsafe impl Send for Waiting {}

impl Library {
    pub fn new(
        handle: *mut c_void,
        entry: &'static Entry,
        name: &str,
        on_close: fn(&str),
    ) -> Library {
        let (lock, waiting, ports) = Default::default();
        Library { handle, entry, lock, waiting, name: name.to_string(), ports, on_close }
    }
    pub fn opened(&self, port: u32) {
        lock(&self.ports).push(port);
    }
    pub fn closed(&self, port: u32) {
        lock(&self.ports).retain(|p| *p != port);
    }
    /// Has the driver one callback at a time?
    pub fn locks_driver(&self) -> bool {
        self.entry.flags & PORT_LOCKING == 0
    }
    /// To be called with the driver's lock. False: no callback of the port waits for it.
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
    /// The driver's lock, where it asks for no more than the ports'.
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
