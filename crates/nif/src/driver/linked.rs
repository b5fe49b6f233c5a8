//! A port whose driver is a C library made for OTP 25's `erl_driver.h`: calls the driver's
//! functions.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr;

use kvik_heap::build::next_ref;
use kvik_port::driver::{ControlReply, Driver, Flow, Ready};
use kvik_port::port::Core;
use kvik_term::Term;

use crate::driver::binaries::{BinaryPtr, BinaryRef};
use crate::driver::callback::{failure, Linked};
use crate::driver::interface::{port_pointer, IoVec};
use crate::driver::ports::{DriverEvent, PortState};
use crate::driver::{descriptors, monitors};
use crate::lock::lock;

/// Size of the buffer that `control` and `call` may reply in.
const REPLY_BUFFER_BYTES: usize = 64;

/// Port flags of `ErlDrvEntry`.
const SOFT_BUSY: c_int = 2;
const USE_INIT_ACK: c_int = 8;

impl Linked {
    /// Handles the queued events in order, until one ends the port.
    fn serve_events(&mut self, core: &mut Core) -> Flow {
        let Some(state) = self.state.clone() else { return Ok(()) };
        while let Some(event) = state.next_event() {
            match event {
                DriverEvent::AsyncReady(job) => match self.lib.entry.ready_async {
                    // SAFETY: the driver's own function, with what it gave.
                    Some(f) => self.running(core, |_, data| unsafe { f(data, job.data.0) }).1?,
                    None => job.discard(),
                },
                DriverEvent::ProcessExit(id) => {
                    let f = self.lib.entry.process_exit;
                    let (Some(mut m), Some(f)) = (monitors::fired(&state, id), f) else {
                        continue;
                    };
                    let m = (&raw mut m).cast();
                    // SAFETY: the driver's own function; the monitor lives for the call.
                    let flow = self.running(core, |_, data| unsafe { f(data, m) }).1;
                    monitors::remove(&state, id);
                    flow?;
                }
            }
        }
        Ok(())
    }
    /// A reply that the driver has left in `room`, or in memory of its own.
    fn answer(
        n: isize,
        room: &[u8; REPLY_BUFFER_BYTES],
        at: *mut c_char,
        keep: bool,
    ) -> Option<Vec<u8>> {
        let n = usize::try_from(n).ok()?;
        let own = !at.is_null() && at.cast_const().cast() != room.as_ptr();
        if !own {
            return Some(room[..n.min(REPLY_BUFFER_BYTES)].to_vec());
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
        let (data, flow) = self.running_for_caller(core, |e, _| match e.start {
            // SAFETY: the driver's own function.
            Some(start) => unsafe { start(port, command.as_mut_ptr().cast()) },
            None => ptr::null_mut(),
        });
        if let Some(exit) = failure(data) {
            return Err(exit);
        }
        let acknowledged = !self.data.is_null();
        if !acknowledged {
            self.data = data;
        }
        if !acknowledged && self.lib.entry.flags & USE_INIT_ACK != 0 {
            (self.opening, self.opener) = (Some(next_ref()), core.caller);
            self.is_unacknowledged = true;
        }
        self.started = true;
        self.lib.opened(core.id);
        flow
    }

    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let (_, flow) = self.running_for_caller(core, |e, data| match (e.outputv, e.output) {
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

    fn control(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<ControlReply> {
        let control = self.lib.entry.control?;
        let (mut bytes, mut room) = (data.to_vec(), [0u8; REPLY_BUFFER_BYTES]);
        let mut at = room.as_mut_ptr().cast();
        let (n, flow) = self.running_for_caller(core, |_, data| {
            // SAFETY: the driver's own function; what it is given lives for the call.
            unsafe {
                control(
                    data,
                    op,
                    bytes.as_mut_ptr().cast(),
                    bytes.len(),
                    &mut at,
                    REPLY_BUFFER_BYTES,
                )
            }
        });
        core.fail(flow);
        match self.binaries {
            true => binary_answer(n, &room, at),
            false => Linked::answer(n, &room, at, false).map(ControlReply::List),
        }
    }

    fn has_call(&self) -> bool {
        self.lib.entry.call.is_some()
    }
    fn call(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<Vec<u8>> {
        let call = self.lib.entry.call?;
        let (mut bytes, mut room) = (data.to_vec(), [0u8; REPLY_BUFFER_BYTES]);
        let (mut at, mut flags) = (room.as_mut_ptr().cast(), 0);
        let (n, flow) = self.running_for_caller(core, |_, data| {
            let (from, n) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: as for `control`.
            unsafe { call(data, op, from, n, &mut at, REPLY_BUFFER_BYTES, &mut flags) }
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
    fn carries_force(&self) -> bool {
        self.lib.entry.flags & SOFT_BUSY != 0
    }
    fn os_pid(&self) -> Option<i32> {
        self.os_pid
    }
    fn monitors(&self) -> Vec<u32> {
        self.state.as_ref().map_or(Vec::new(), |s| lock(&s.monitors).values().copied().collect())
    }
    fn open_reference(&self) -> Option<[u32; 3]> {
        self.opening
    }
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }

    fn stop(&mut self, core: &mut Core) {
        self.acknowledge(Term::local_port(core.id));
        if self.started {
            // The port has ended already: the driver's result does not matter.
            let _ = self.call_back(core, |e| e.stop);
            descriptors::forget(self.id);
            self.lib.closed(self.id);
            self.started = false;
        }
        if let Some(state) = self.state.take() {
            monitors::remove_all(&state);
            for event in state.close() {
                if let DriverEvent::AsyncReady(job) = event {
                    job.discard();
                }
            }
        }
    }
}

/// Calls `f` with the bytes as a vector: an empty header part, and a binary if there are any bytes.
fn with_vector(from: &[u8], f: impl FnOnce(*mut IoVec)) {
    let binary = if from.is_empty() { None } else { BinaryRef::of_bytes(from) };
    let at = binary.as_ref().map_or(BinaryPtr::NULL, BinaryRef::pointer);
    let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
    let size = at.bytes().len();
    let all = match size {
        0 => nothing,
        n => libc::iovec { iov_base: at.data().cast(), iov_len: n },
    };
    let (mut iov, mut binv) = ([nothing, all], [BinaryPtr::NULL, at]);
    let vsize = if size == 0 { 1 } else { 2 };
    // SAFETY: the arrays live for the call, and the part is the binary's.
    let mut v = unsafe { IoVec::new(vsize, size, iov.as_mut_ptr(), binv.as_mut_ptr()) };
    f(&mut v);
    drop(binary);
}

/// The reply of a port with binary replies: in `room`, or a binary that the driver gives away; null
/// is an empty list.
fn binary_answer(
    n: isize,
    room: &[u8; REPLY_BUFFER_BYTES],
    at: *mut c_char,
) -> Option<ControlReply> {
    let n = usize::try_from(n).ok()?;
    if at.is_null() {
        return Some(ControlReply::List(Vec::new()));
    }
    if at.cast_const().cast() == room.as_ptr() {
        return Some(ControlReply::Binary(room[..n.min(REPLY_BUFFER_BYTES)].to_vec()));
    }
    // SAFETY: the driver says that its answers are binaries, and gives its reference away.
    let b = unsafe { BinaryPtr::new(at.cast()).take() }?;
    Some(ControlReply::Binary(b.pointer().bytes().to_vec()))
}
