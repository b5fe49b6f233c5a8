//! Linked-in drivers: a port whose driver is a C library made for OTP 25's `erl_driver.h`.
//!
//! What a driver calls (`driver_calls.rs`) acts on the port whose callback is running on this
//! thread. To C a port is a number, so that one that is gone does no harm.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use kvik_port::driver::{Driver, Exit, Flow, Ready, Reply};
use kvik_port::events::calling_back;
use kvik_port::port::Core;
use kvik_sys::Errno;
use kvik_term::{am, Atom};

use crate::descriptors;
use crate::driver_binaries::{self as binaries, Binary};
use crate::driver_library::Library;
use crate::driver_monitors;
use crate::driver_ports::{lock, Event, PortState};

/// `ErlDrvData`, and `ErlDrvPort`.
pub type Data = *mut c_void;

/// `ErlIOVec`
#[repr(C)]
pub struct IoVec {
    pub vsize: c_int,
    pub size: usize,
    pub iov: *mut libc::iovec,
    pub binv: *mut *mut Binary,
}

type Control =
    unsafe extern "C" fn(Data, c_uint, *mut c_char, usize, *mut *mut c_char, usize) -> isize;
type Call = unsafe extern "C" fn(
    Data,
    c_uint,
    *mut c_char,
    usize,
    *mut *mut c_char,
    usize,
    *mut c_uint,
) -> isize;
pub type OfData = Option<unsafe extern "C" fn(Data)>;
pub type OfEvent = Option<unsafe extern "C" fn(Data, *mut c_void)>;

/// `ErlDrvEntry`
#[repr(C)]
pub struct Entry {
    pub init: Option<unsafe extern "C" fn() -> c_int>,
    start: Option<unsafe extern "C" fn(Data, *mut c_char) -> Data>,
    stop: OfData,
    output: Option<unsafe extern "C" fn(Data, *mut c_char, usize)>,
    ready_input: OfEvent,
    ready_output: OfEvent,
    pub name: *const c_char,
    pub finish: Option<unsafe extern "C" fn()>,
    handle: *mut c_void,
    control: Option<Control>,
    pub timeout: OfData,
    outputv: Option<unsafe extern "C" fn(Data, *mut IoVec)>,
    pub ready_async: OfEvent,
    pub flush: OfData,
    call: Option<Call>,
    unused: *mut c_void,
    pub marker: c_int,
    pub major: c_int,
    pub minor: c_int,
    pub flags: c_int,
    handle2: *mut c_void,
    pub process_exit: OfEvent,
    pub stop_select: OfEvent,
    pub emergency_close: OfData,
}

// SAFETY: the driver's description of itself, which nobody writes to once it is loaded.
unsafe impl Sync for Entry {}

/// What `start` answers where it fails.
const GENERAL: isize = -1;
const ERRNO: isize = -2;
const BADARG: isize = -3;
/// What `control` and `call` may answer without memory of their own.
const ROOM: usize = 64;

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
    outer: *mut Running,
}

thread_local! {
    static RUNNING: Cell<*mut Running> = const { Cell::new(ptr::null_mut()) };
}

/// Does this thread run a driver's callback?
pub fn in_callback() -> bool {
    !RUNNING.get().is_null()
}

pub fn port_pointer(id: u32) -> Data {
    ((id as usize + 1) << 3) as Data
}
/// The number of a port that [`port_pointer`] made.
pub fn port_number(port: Data) -> Option<u32> {
    let at = port as usize;
    (at.is_multiple_of(8)).then(|| u32::try_from((at >> 3).checked_sub(1)?).ok()).flatten()
}

/// Does something with the port that the pointer is, where its callback is running on this thread, or
/// where the thread may take its lock for that: another port with the same driver.
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

/// The same with a port of the same driver that no callback runs for here. Its lock is waited for, but
/// not while a thread that has it waits for the driver's lock, which is ours.
fn with_sibling<R>(
    library: &Arc<Library>,
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
        std::thread::yield_now();
    }
}

static TIMERS: AtomicU64 = AtomicU64::new(1);
pub fn new_timer() -> u64 {
    TIMERS.fetch_add(1, Ordering::Relaxed)
}

/// The driver of one port.
pub struct Linked {
    lib: Arc<Library>,
    command: CString,
    data: Data,
    /// `start` has given its data: callbacks may be called.
    started: bool,
    /// Made by another port of the driver: `start` is not called.
    created: bool,
    /// The number of the timer that was set last; 0 for none.
    timer: u64,
    timer_due: Option<Instant>,
    /// What `control` answers is a binary.
    binaries: bool,
    os_pid: Option<i32>,
    state: Option<Arc<PortState>>,
    id: u32,
}
// SAFETY: the data is the driver's, which calls for one port come to from one thread at a time.
unsafe impl Send for Linked {}

/// Port flags of `ErlDrvEntry`.
const PORT_LOCKING: c_int = 1;
const SOFT_BUSY: c_int = 2;

/// Callbacks that wait for the lock of their driver, by their ports.
#[derive(Default)]
pub struct Waiting(Vec<(u32, *mut Running)>);
// SAFETY: each is on the stack of a thread that waits until it has taken it out again.
unsafe impl Send for Waiting {}

impl Library {
    /// Has the driver one callback at a time?
    fn locks_driver(&self) -> bool {
        self.entry.flags & PORT_LOCKING == 0
    }
    /// To be called with the driver's lock. False: no callback of the port waits for it.
    fn with_waiting(&self, id: u32, f: &mut dyn FnMut(&mut Running, &mut Core)) -> bool {
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
    fn lock_for(&self, id: u32, running: *mut Running) -> Option<MutexGuard<'_, ()>> {
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

impl Linked {
    pub fn new(lib: Arc<Library>, command: &[u8]) -> Linked {
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
            state: None,
            id: 0,
        }
    }
    /// For `driver_create_port`.
    pub fn created(lib: Arc<Library>, data: Data) -> Linked {
        Linked { data, created: true, ..Linked::new(lib, &[]) }
    }
    /// Does something as a callback may; how the port ends, where that has said so.
    fn with_running(&mut self, core: &mut Core, f: impl FnOnce(&mut Running, &mut Core)) -> Flow {
        let mut running = self.start_running(core);
        f(&mut running, core);
        self.end_running(running)
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
            time_slice_percent: 0,
            outer: RUNNING.get(),
        }
    }
    fn end_running(&mut self, r: Running) -> Flow {
        (self.timer, self.timer_due) = (r.timer, r.timer_due);
        (self.binaries, self.os_pid) = (r.binaries, r.os_pid);
        if let Some(data) = r.acknowledged {
            match failure(data) {
                Some(exit) => return Err(exit),
                None => self.data = data,
            }
        }
        r.exit.map_or(Ok(()), Err)
    }
    /// Runs a callback; how the port ends, where the driver has said so.
    fn running<R>(&mut self, core: &mut Core, f: impl FnOnce(&Entry, Data) -> R) -> (R, Flow) {
        let mut running = self.start_running(core);
        let at = &raw mut running;
        // A callback of the same driver below has its lock already.
        let locked = self.lib.locks_driver() && is_running(&self.lib);
        let guard = if locked { None } else { self.lib.lock_for(core.id, at) };
        let before = RUNNING.replace(at);
        let r = calling_back(|| f(self.lib.entry, self.data));
        RUNNING.set(before);
        drop(guard);
        (r, self.end_running(running))
    }
    /// A callback that takes the driver's data alone.
    fn call_back(&mut self, core: &mut Core, which: fn(&Entry) -> OfData) -> Flow {
        let (_, flow) = self.running(core, |e, data| {
            if let Some(f) = which(e) {
                // SAFETY: the driver's own function.
                unsafe { f(data) }
            }
        });
        flow
    }
    /// The events that wait, in order, until one ends the port.
    fn serve_events(&mut self, core: &mut Core) -> Flow {
        let Some(state) = self.state.clone() else { return Ok(()) };
        while let Some(event) = state.next_event() {
            match event {
                Event::AsyncReady(job) => match self.lib.entry.ready_async {
                    // SAFETY: the driver's own function, with what it gave.
                    Some(f) => self.running(core, |_, data| unsafe { f(data, job.data.0) }).1?,
                    None => job.discard(),
                },
                Event::ProcessExit(id) => {
                    let f = self.lib.entry.process_exit;
                    let (Some(mut m), Some(f)) = (driver_monitors::fired(&state, id), f) else {
                        continue;
                    };
                    let m = (&raw mut m).cast();
                    // SAFETY: the driver's own function; the monitor lives for the call.
                    let flow = self.running(core, |_, data| unsafe { f(data, m) }).1;
                    driver_monitors::remove(&state, id);
                    flow?;
                }
            }
        }
        Ok(())
    }
    /// An answer that the driver has left in `room`, or in memory of its own.
    fn answer(n: isize, room: &[u8; ROOM], at: *mut c_char, keep: bool) -> Option<Vec<u8>> {
        let n = usize::try_from(n).ok()?;
        let own = !at.is_null() && at.cast_const().cast() != room.as_ptr();
        if !own {
            return Some(room[..n.min(ROOM)].to_vec());
        }
        // SAFETY: the driver says that so many bytes are there, which it got from `driver_alloc`.
        unsafe {
            let bytes = std::slice::from_raw_parts(at.cast::<u8>(), n).to_vec();
            if !keep {
                libc::free(at.cast());
            }
            Some(bytes)
        }
    }
}

impl Driver for Linked {
    fn start(&mut self, core: &mut Core) -> Flow {
        self.id = core.id;
        self.state = Some(PortState::open(core.id, core.home, self.lib.entry));
        if self.created {
            self.started = true;
            self.lib.opened(core.id);
            return Ok(());
        }
        let port = port_pointer(core.id);
        // The driver may write to its copy.
        let mut command = self.command.as_bytes_with_nul().to_vec();
        let (data, flow) = self.running(core, |e, _| match e.start {
            // SAFETY: the driver's own function.
            Some(start) => unsafe { start(port, command.as_mut_ptr().cast()) },
            None => ptr::null_mut(),
        });
        if let Some(exit) = failure(data) {
            return Err(exit);
        }
        self.data = data;
        self.started = true;
        self.lib.opened(core.id);
        flow
    }

    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let (_, flow) = self.running(core, |e, data| match (e.outputv, e.output) {
            (Some(outputv), _) => with_vector(bytes, |v| {
                // SAFETY: the driver's own function; the vectors live for the call.
                unsafe { outputv(data, v) }
            }),
            (None, Some(output)) => {
                let mut bytes = bytes.to_vec();
                // SAFETY: as above.
                unsafe { output(data, bytes.as_mut_ptr().cast(), bytes.len()) }
            }
            (None, None) => {}
        });
        flow
    }

    fn ready(&mut self, core: &mut Core, why: Ready, _: &mut [u8]) -> Flow {
        match why {
            Ready::Timer(n) if n == self.timer => {
                (self.timer, self.timer_due) = (0, None);
                kvik_port::trace_timed_out(core.id);
                self.call_back(core, |e| e.timeout)
            }
            Ready::Driver => self.serve_events(core),
            Ready::Selected { fd, output } if descriptors::is_selected(self.id, fd, output) => {
                let (_, flow) = self.running(core, |e, data| {
                    let f = if output { e.ready_output } else { e.ready_input };
                    if let Some(f) = f {
                        // SAFETY: the driver's own function.
                        unsafe { f(data, descriptors::event(fd)) }
                    }
                });
                flow
            }
            _ => Ok(()),
        }
    }

    fn control(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<Reply> {
        let control = self.lib.entry.control?;
        let (mut bytes, mut room) = (data.to_vec(), [0u8; ROOM]);
        let mut at = room.as_mut_ptr().cast();
        let (n, flow) = self.running(core, |_, data| {
            // SAFETY: the driver's own function; what it is given lives for the call.
            unsafe { control(data, op, bytes.as_mut_ptr().cast(), bytes.len(), &mut at, ROOM) }
        });
        core.fail(flow);
        match self.binaries {
            true => binary_answer(n, &room, at),
            false => Linked::answer(n, &room, at, false).map(Reply::List),
        }
    }

    fn has_call(&self) -> bool {
        self.lib.entry.call.is_some()
    }
    fn call(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<Vec<u8>> {
        let call = self.lib.entry.call?;
        let (mut bytes, mut room) = (data.to_vec(), [0u8; ROOM]);
        let (mut at, mut flags) = (room.as_mut_ptr().cast(), 0);
        let (n, flow) = self.running(core, |_, data| {
            let (from, n) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: as for `control`.
            unsafe { call(data, op, from, n, &mut at, ROOM, &mut flags) }
        });
        core.fail(flow);
        const KEEP_BUFFER: c_uint = 1;
        Linked::answer(n, &room, at, flags & KEEP_BUFFER != 0)
    }

    fn queued(&self) -> usize {
        self.state.as_ref().map_or(0, |s| s.queued())
    }
    fn closing(&mut self, core: &mut Core) -> Flow {
        self.call_back(core, |e| e.flush)
    }
    fn drains_on(&self, _: Ready) -> bool {
        true
    }
    fn drains_after_failure(&self) -> bool {
        true
    }
    fn carries_force(&self) -> bool {
        self.lib.entry.flags & SOFT_BUSY != 0
    }
    fn os_pid(&self) -> Option<i32> {
        self.os_pid
    }
    fn monitors(&self) -> Vec<u32> {
        self.state.as_ref().map_or(Vec::new(), |s| lock(&s.monitors).values().copied().collect())
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }

    fn stop(&mut self, core: &mut Core) {
        if self.started {
            // The port is ended already: what the driver says of its end does not matter.
            let _ = self.call_back(core, |e| e.stop);
            descriptors::forget(self.id);
            self.lib.closed(self.id);
            self.started = false;
        }
        if let Some(state) = self.state.take() {
            driver_monitors::remove_all(&state);
            for event in state.close() {
                if let Event::AsyncReady(job) = event {
                    job.discard();
                }
            }
        }
    }
}

/// Is a callback of that driver running on this thread?
fn is_running(library: &Arc<Library>) -> bool {
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
/// How a start has failed, where the data says so.
fn failure(data: Data) -> Option<Exit> {
    match data as isize {
        GENERAL => Some(Exit::Posix(Errno::INVAL)),
        ERRNO => Some(Exit::Posix(Errno::last())),
        BADARG => Some(Exit::Reason(am::badarg)),
        _ => None,
    }
}
/// Bytes as a vector: an empty part for a header, and a binary, where there are any bytes.
fn with_vector(from: &[u8], f: impl FnOnce(*mut IoVec)) {
    let binary = if from.is_empty() { ptr::null_mut() } else { binaries::of_bytes(from) };
    let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
    let (all, size) = match binary.is_null() {
        true => (nothing, 0),
        false => {
            let base = binaries::bytes(binary).as_ptr().cast_mut().cast();
            (libc::iovec { iov_base: base, iov_len: from.len() }, from.len())
        }
    };
    let (mut iov, mut binv) = ([nothing, all], [ptr::null_mut(), binary]);
    let (iov, binv) = (iov.as_mut_ptr(), binv.as_mut_ptr());
    let mut v = IoVec { vsize: if size == 0 { 1 } else { 2 }, size, iov, binv };
    f(&mut v);
    binaries::driver_free_binary(binary);
}

/// An answer of a port whose driver says that they are binaries: in `room`, or one that it gives
/// away; none is an empty list.
fn binary_answer(n: isize, room: &[u8; ROOM], at: *mut c_char) -> Option<Reply> {
    let n = usize::try_from(n).ok()?;
    if at.is_null() {
        return Some(Reply::List(Vec::new()));
    }
    if at.cast_const().cast() == room.as_ptr() {
        return Some(Reply::Binary(room[..n.min(ROOM)].to_vec()));
    }
    let b: *mut Binary = at.cast();
    let bytes = binaries::bytes(b).to_vec();
    binaries::driver_free_binary(b);
    Some(Reply::Binary(bytes))
}

/// An atom by its name, as C has it.
pub fn atom(name: *const c_char) -> Atom {
    let name: String = crate::env::c_str(name).iter().map(|b| *b as char).collect();
    Atom::intern(&name).unwrap_or(am::error)
}
