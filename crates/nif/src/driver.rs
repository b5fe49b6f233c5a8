//! Linked-in drivers: a port whose driver is a C library made for OTP 25's `erl_driver.h`.
//!
//! What a driver calls (`driver_calls.rs`) acts on the port whose callback is running on this
//! thread. To C a port is a number, so that one that is gone does no harm.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};

use kvik_port::driver::{Driver, Exit, Flow, Ready, Reply};
use kvik_port::events::calling_back;
use kvik_port::port::Core;
use kvik_sys::Errno;
use kvik_term::{am, Atom};

use crate::ddll::Library;
use crate::descriptors;
use crate::driver_binaries::{self as binaries, Binary};

/// `ErlDrvData`, and `ErlDrvPort`.
pub type Data = *mut c_void;

/// `ErlIOVec`
#[repr(C)]
pub struct IoVec {
    vsize: c_int,
    size: usize,
    iov: *mut libc::iovec,
    binv: *mut *mut c_void,
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
type OfData = Option<unsafe extern "C" fn(Data)>;
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
    timeout: OfData,
    outputv: Option<unsafe extern "C" fn(Data, *mut IoVec)>,
    ready_async: OfEvent,
    flush: OfData,
    call: Option<Call>,
    unused: *mut c_void,
    pub marker: c_int,
    pub major: c_int,
    pub minor: c_int,
    pub flags: c_int,
    handle2: *mut c_void,
    process_exit: OfEvent,
    stop_select: OfEvent,
    emergency_close: OfData,
}

/// What `start` answers where it fails.
const GENERAL: isize = -1;
const ERRNO: isize = -2;
const BADARG: isize = -3;
/// What `control` and `call` may answer without memory of their own.
const ROOM: usize = 64;

/// The port whose callback is running on this thread.
pub struct Running {
    pub core: *mut Core,
    pub exit: Option<Exit>,
    /// The timer that counts; see [`Linked::timer`].
    pub timer: u64,
    /// See [`Linked::binaries`].
    pub binaries: bool,
    pub stop_select: OfEvent,
}

thread_local! {
    static RUNNING: Cell<*mut Running> = const { Cell::new(ptr::null_mut()) };
}

pub fn port_pointer(id: u32) -> Data {
    ((id as usize + 1) << 3) as Data
}

/// Does something with the port that the pointer is, where its callback is running here.
pub fn with<R>(port: Data, f: impl FnOnce(&mut Running, &mut Core) -> R) -> Option<R> {
    let running = RUNNING.get();
    // SAFETY: it is null, or on the stack of this thread's `Linked::running`, which has no other
    // reference to it or to the core while the callback runs.
    let running = unsafe { running.as_mut() }?;
    // SAFETY: as above.
    let core = unsafe { &mut *running.core };
    (port == port_pointer(core.id)).then(|| f(running, core))
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
    /// The number of the timer that was set last; 0 for none.
    timer: u64,
    /// What `control` answers is a binary.
    binaries: bool,
    id: u32,
}
// SAFETY: the data is the driver's, which calls for one port come to from one thread at a time.
unsafe impl Send for Linked {}

impl Linked {
    pub fn new(lib: Arc<Library>, command: &[u8]) -> Linked {
        let command = CString::new(command).unwrap_or_default();
        let data = ptr::null_mut();
        Linked { lib, command, data, started: false, timer: 0, binaries: false, id: 0 }
    }
    /// Drivers that do not ask for more have one callback at a time.
    fn lock(&self) -> Option<MutexGuard<'_, ()>> {
        const PORT_LOCKING: c_int = 1;
        let all = self.lib.entry.flags & PORT_LOCKING == 0;
        all.then(|| self.lib.lock.lock().unwrap_or_else(|e| e.into_inner()))
    }
    /// Runs a callback; how the port ends, where the driver has said so.
    fn running<R>(&mut self, core: &mut Core, f: impl FnOnce(&Entry, Data) -> R) -> (R, Flow) {
        let (timer, binaries, stop_select) =
            (self.timer, self.binaries, self.lib.entry.stop_select);
        let mut running = Running { core, exit: None, timer, binaries, stop_select };
        let lock = self.lock();
        let before = RUNNING.replace(&mut running);
        let r = calling_back(|| f(self.lib.entry, self.data));
        RUNNING.set(before);
        drop(lock);
        (self.timer, self.binaries) = (running.timer, running.binaries);
        (r, running.exit.map_or(Ok(()), Err))
    }
    /// An answer that the driver has left in `room`, or in memory of its own.
    fn answer(n: isize, room: &[u8; ROOM], at: *mut c_char) -> Option<Vec<u8>> {
        let n = usize::try_from(n).ok()?;
        let own = !at.is_null() && at.cast_const().cast() != room.as_ptr();
        if !own {
            return Some(room[..n.min(ROOM)].to_vec());
        }
        // SAFETY: the driver says that so many bytes are there, which it got from `driver_alloc`.
        unsafe {
            let bytes = std::slice::from_raw_parts(at.cast::<u8>(), n).to_vec();
            libc::free(at.cast());
            Some(bytes)
        }
    }
}

impl Driver for Linked {
    fn start(&mut self, core: &mut Core) -> Flow {
        self.id = core.id;
        let port = port_pointer(core.id);
        // The driver may write to its copy.
        let mut command = self.command.as_bytes_with_nul().to_vec();
        let (data, flow) = self.running(core, |e, _| match e.start {
            // SAFETY: the driver's own function.
            Some(start) => unsafe { start(port, command.as_mut_ptr().cast()) },
            None => ptr::null_mut(),
        });
        match data as isize {
            GENERAL => return Err(Exit::Posix(Errno::INVAL)),
            ERRNO => return Err(Exit::Posix(Errno::last())),
            BADARG => return Err(Exit::Reason(am::badarg)),
            _ => {}
        }
        self.data = data;
        self.started = true;
        self.lib.opened(core.id);
        flow
    }

    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let mut bytes = bytes.to_vec();
        let (_, flow) = self.running(core, |e, data| {
            let at = bytes.as_mut_ptr();
            match (e.outputv, e.output) {
                (Some(outputv), _) => {
                    let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
                    let all = libc::iovec { iov_base: at.cast(), iov_len: bytes.len() };
                    let mut iov = [nothing, all];
                    let mut binv = [ptr::null_mut(); 2];
                    let (iov, binv) = (iov.as_mut_ptr(), binv.as_mut_ptr());
                    let mut v = IoVec { vsize: 2, size: bytes.len(), iov, binv };
                    // SAFETY: the driver's own function; the vectors live for the call.
                    unsafe { outputv(data, &mut v) }
                }
                // SAFETY: as above.
                (None, Some(output)) => unsafe { output(data, at.cast(), bytes.len()) },
                (None, None) => {}
            }
        });
        flow
    }

    fn ready(&mut self, core: &mut Core, why: Ready, _: &mut [u8]) -> Flow {
        match why {
            Ready::Timer(n) if n == self.timer => {
                self.timer = 0;
                let (_, flow) = self.running(core, |e, data| {
                    if let Some(f) = e.timeout {
                        // SAFETY: the driver's own function.
                        unsafe { f(data) }
                    }
                });
                flow
            }
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
            false => Linked::answer(n, &room, at).map(Reply::List),
        }
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
        Linked::answer(n, &room, at)
    }

    fn stop(&mut self, core: &mut Core) {
        if !self.started {
            return;
        }
        // The port is ended already: what the driver says of its end does not matter.
        let _ = self.running(core, |e, data| {
            if let Some(f) = e.stop {
                // SAFETY: the driver's own function.
                unsafe { f(data) }
            }
        });
        self.started = false;
        descriptors::forget(self.id);
        self.lib.closed(self.id);
    }
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
