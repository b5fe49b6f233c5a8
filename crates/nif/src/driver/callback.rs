//! The ports whose callbacks run on this thread. Driver functions act on the port whose callback
//! runs here, or on another port with the same driver.

use std::cell::Cell;
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use kvik_env::clock::Instant;
use kvik_env::Errno;
use kvik_heap::OwnedTerm;
use kvik_port::driver::{Exit, Flow};
use kvik_port::port::trace_events::calling_back;
use kvik_port::port::Core;
use kvik_proc::signal::{self, Signal};
use kvik_term::{am, Term};

use crate::driver::interface::{port_number, port_pointer, Data, Entry, OfData};
use crate::driver::library::{DriverLibrary, Running};
use crate::driver::ports::PortState;
use crate::lock::lock;

/// Results of a failed `start`.
const GENERAL: isize = -1;
const ERRNO: isize = -2;
const BADARG: isize = -3;

thread_local! {
    static RUNNING: Cell<*mut Running> = const { Cell::new(ptr::null_mut()) };
}

/// Whether this thread runs a driver's callback.
pub fn in_callback() -> bool {
    !RUNNING.get().is_null()
}

/// Runs `f` on a port whose callback runs on this thread, or on another port with the same driver
/// if this thread may take its lock.
pub fn with<R>(port: Data, f: impl FnOnce(&mut Running, &mut Core) -> R) -> Option<R> {
    let mut at = RUNNING.get();
    let innermost = at;
    // SAFETY: the chain is null, or on the stack of this thread's calls of `Linked::running`, which
    // have no other reference to it or to their cores while the callbacks run.
    while let Some(running) = unsafe { at.as_mut() } {
        // SAFETY: as above.
        let core = unsafe { &mut *running.core };
        if port == port_pointer(core.id) {
            return Some(f(running, core));
        }
        at = running.outer;
    }
    // SAFETY: as above.
    let library = unsafe { innermost.as_ref() }?.library.clone();
    with_sibling(&library, port_number(port)?, f)
}

/// Runs `f` on a port of the same driver without a callback on this thread. Spins for the port's
/// lock; if its holder waits for the driver's lock, which we hold, runs `f` on that port at once.
fn with_sibling<R>(
    library: &Arc<DriverLibrary>,
    id: u32,
    f: impl FnOnce(&mut Running, &mut Core) -> R,
) -> Option<R> {
    if !library.locks_driver() {
        return None;
    }
    let port = kvik_port::table::get(id)?;
    let mut f = Some(f);
    loop {
        let mut result = None;
        let mut call = |running: &mut Running, core: &mut Core| {
            result = f.take().map(|f| f(running, core));
        };
        if library.with_waiting(id, &mut call) {
            return result;
        }
        let tried = port.try_run(&mut |driver, core| {
            let Some(linked) = driver.as_any().and_then(|d| d.downcast_mut::<Linked>()) else {
                return Ok(());
            };
            if !Arc::ptr_eq(&linked.lib, library) {
                return Ok(());
            }
            linked.with_running(core, |running, core| call(running, core))
        });
        if tried {
            return result;
        }
        kvik_env::thread::yield_now();
    }
}

kvik_state::vm_state! {
    static TIMERS: AtomicU64 = AtomicU64::new(1);
}

pub fn new_timer() -> u64 {
    TIMERS.fetch_add(1, Ordering::Relaxed)
}

/// The driver of one port.
pub struct Linked {
    pub lib: Arc<DriverLibrary>,
    pub command: CString,
    pub data: Data,
    /// `start` has returned its data: callbacks are allowed.
    pub started: bool,
    /// Created by another port of the driver, so `start` is not called.
    pub created: bool,
    /// The number of the timer set last; 0 for none.
    pub timer: u64,
    pub timer_due: Option<Instant>,
    /// `control` returns binaries.
    pub binaries: bool,
    pub os_pid: Option<i32>,
    /// The callback is made for a process, which `driver_caller` tells.
    pub by_process: bool,
    /// What `open_port` has returned for the port that `erl_drv_init_ack` will start.
    pub opening: Option<[u32; 3]>,
    /// The process that opened the port.
    pub opener: u32,
    /// Nothing was told to the process that waits for `opening`.
    pub is_unacknowledged: bool,
    pub state: Option<Arc<PortState>>,
    pub id: u32,
}
// SAFETY: the data is the driver's, which calls for one port come to from one thread at a time.
unsafe impl Send for Linked {}

impl Linked {
    pub fn new(lib: Arc<DriverLibrary>, command: &[u8]) -> Linked {
        let command = CString::new(command).unwrap_or_default();
        Linked {
            lib,
            command,
            data: ptr::null_mut(),
            started: false,
            created: false,
            timer: 0,
            timer_due: None,
            binaries: false,
            os_pid: None,
            by_process: false,
            opening: None,
            opener: 0,
            is_unacknowledged: false,
            state: None,
            id: 0,
        }
    }
    /// Made by `driver_create_port`.
    pub fn created(lib: Arc<DriverLibrary>, data: Data) -> Linked {
        Linked { data, created: true, ..Linked::new(lib, &[]) }
    }
    /// Runs `f` in the context of a callback; returns how the port ends, if the driver requested
    /// that.
    fn with_running(&mut self, core: &mut Core, f: impl FnOnce(&mut Running, &mut Core)) -> Flow {
        let mut running = self.start_running(core);
        f(&mut running, core);
        self.end_running(core, running)
    }
    fn start_running(&self, core: *mut Core) -> Running {
        Running {
            core,
            library: self.lib.clone(),
            exit: None,
            timer: self.timer,
            timer_due: self.timer_due,
            binaries: self.binaries,
            os_pid: self.os_pid,
            acknowledged: None,
            by_process: self.by_process,
            time_slice_percent: 0,
            outer: RUNNING.get(),
        }
    }
    fn end_running(&mut self, core: &mut Core, r: Running) -> Flow {
        (self.timer, self.timer_due) = (r.timer, r.timer_due);
        (self.binaries, self.os_pid) = (r.binaries, r.os_pid);
        if let Some(data) = r.acknowledged {
            match data {
                Ok(data) => self.data = data,
                // In `start`, as if it had returned that.
                Err(exit) if !self.is_unacknowledged => return Err(exit),
                Err(exit) => {
                    self.acknowledge(exit.term());
                    core.unlink_owner();
                    return Err(Exit::Normal);
                }
            }
            self.acknowledge(Term::local_port(core.id));
        }
        if r.exit.is_some() {
            // What a driver has queued is dropped when it ends its open port.
            if let Some(state) = self.state.as_ref().filter(|_| core.is_open()) {
                lock(&state.queue).clear();
            }
            self.acknowledge(Term::local_port(core.id));
        }
        r.exit.map_or(Ok(()), Err)
    }
    /// Runs a callback; returns how the port ends, if the driver requested that.
    pub fn running<R>(&mut self, core: &mut Core, f: impl FnOnce(&Entry, Data) -> R) -> (R, Flow) {
        let mut running = self.start_running(core);
        let at = &raw mut running;
        // An outer callback of the same driver already holds its lock.
        let locked = self.lib.locks_driver() && is_running(&self.lib);
        let guard = if locked { None } else { self.lib.lock_for(core.id, at) };
        let before = RUNNING.replace(at);
        let r = calling_back(|| f(self.lib.entry, self.data));
        RUNNING.set(before);
        drop(guard);
        (r, self.end_running(core, running))
    }
    /// Runs a callback for a process.
    pub fn running_for_caller<R>(
        &mut self,
        core: &mut Core,
        f: impl FnOnce(&Entry, Data) -> R,
    ) -> (R, Flow) {
        self.by_process = true;
        let result = self.running(core, f);
        self.by_process = false;
        result
    }
    /// Sends `{Ref, Result}` to the process whose `open_port` waits for it.
    pub fn acknowledge(&mut self, result: Term<'static>) {
        let Some(n) = self.opening.filter(|_| std::mem::take(&mut self.is_unacknowledged)) else {
            return;
        };
        let m = OwnedTerm::build(16, |h| h.tuple(&[h.ref_of_numbers(n), result]));
        signal::deliver(self.opener, Signal::Message(m));
    }
    /// Runs a callback that takes only the driver's data.
    pub fn call_back(&mut self, core: &mut Core, which: fn(&Entry) -> OfData) -> Flow {
        let (_, flow) = self.running(core, |e, data| {
            if let Some(f) = which(e) {
                // SAFETY: the driver's own function.
                unsafe { f(data) }
            }
        });
        flow
    }
}

/// Whether a callback of that driver is running on this thread.
fn is_running(library: &Arc<DriverLibrary>) -> bool {
    let mut at = RUNNING.get();
    // SAFETY: as in `with`.
    while let Some(running) = unsafe { at.as_ref() } {
        if Arc::ptr_eq(&running.library, library) {
            return true;
        }
        at = running.outer;
    }
    false
}
/// Why a start has failed, if the data says so.
pub fn failure(data: Data) -> Option<Exit> {
    match data as isize {
        GENERAL => Some(Exit::Posix(Errno::INVAL)),
        ERRNO => Some(Exit::Posix(Errno::last())),
        BADARG => Some(Exit::Reason(am::badarg)),
        _ => None,
    }
}
