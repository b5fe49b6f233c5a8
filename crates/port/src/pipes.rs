//! The `spawn` and `fd` drivers: a descriptor to read, one to write, and perhaps a program at
//! their other ends.

mod poll_migration;

use std::ffi::{CStr, CString};
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use kvik_env::embedded::{self, OwnCommand};
use kvik_env::poll::Interest;
use kvik_env::process::{reap, ChildProcess};
use kvik_env::{fd, file, pipe, tty, Errno};
use kvik_term::am;

use crate::affinity::{policy, scheduler_load};
use crate::driver::{ControlReply, Driver, Exit, Flow, Ready};
use crate::input::Input;
use crate::options::PortOptions;
use crate::poll::{self, Source};
use crate::port::state::Core;
use crate::port::OpenError;
use crate::queue::OutQueue;
use crate::spawn_thread::{self, Job, Start, SHELL};
use crate::{env, write_coalescing};

/// The most reads of one time slice, so that other ports are served.
const READS: usize = 4;
/// Bytes that a blocking pipe takes without blocking, once it is writable.
const SAFE_WRITE: usize = 4096;
/// Base of the `port_control` operations of descriptors; plus 100 it returns a terminal's size.
const TTY_CONTROL: u32 = 0x018b_0900;

pub(crate) struct Pipes {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    /// The output descriptor is blocking: poll it before each write.
    careful: bool,
    /// The output is in the poll set.
    output_polled: bool,
    /// The input is always readable: an ordinary file.
    always_ready: bool,
    edge: bool,
    /// The input is in a poll set.
    listens: bool,
    /// That poll set, and how many consecutive writes came from another scheduler.
    home: usize,
    away: u32,
    beside: policy::AffinityPolicy,
    /// Counted while the program answers each write and has not answered the last.
    owed: Option<scheduler_load::PendingAnswer>,
    decoder: Input,
    packet: u8,
    queue: OutQueue,
    /// Output to write at the end of the time slice. The queue is empty while there is some.
    held: Vec<u8>,
    /// The program, until its start is requested.
    job: Option<Job>,
    /// Its start was requested.
    begun: Option<Arc<Start>>,
    /// The running program.
    child: Option<ChildProcess>,
    exit_status: bool,
    status: Option<i32>,
    ended: bool,
}

fn c_string(b: &[u8]) -> Result<CString, OpenError> {
    CString::new(b).map_err(|_| OpenError::Badarg)
}

pub(crate) fn shell(command: &[u8], o: &PortOptions) -> Result<Pipes, OpenError> {
    let command = match embedded::command(command) {
        Some(OwnCommand::Program(path, args)) => return start(&path, args, o),
        Some(OwnCommand::Shell(command)) => command,
        None => [b"exec ", command].concat(),
    };
    let script = c_string(&command)?;
    start(SHELL, vec![c"sh".into(), c"-c".into(), script], o)
}

pub(crate) fn program(path: Vec<u8>, o: &PortOptions) -> Result<Pipes, OpenError> {
    let path = c_string(&path)?;
    let mut args = vec![match &o.arg0 {
        Some(a) => c_string(a)?,
        None => path.clone(),
    }];
    for a in o.args.iter().flatten() {
        args.push(c_string(a)?);
    }
    file::may_execute(&path).map_err(OpenError::Posix)?;
    start(&path, args, o)
}

fn start(path: &CStr, args: Vec<CString>, o: &PortOptions) -> Result<Pipes, OpenError> {
    let make = || -> kvik_env::Result<Pipes> {
        let ((their_in, our_out), (our_in, their_out)) = spawn_thread::pipes()?;
        fd::set_nonblocking(our_in.as_raw_fd(), true)?;
        fd::set_nonblocking(our_out.as_raw_fd(), true)?;
        let (stdin, stdout) = if o.use_stdio { (0, 1) } else { (3, 4) };
        let mut fds = Vec::new();
        if o.write {
            fds.push((their_in.as_raw_fd(), stdin));
        }
        if o.read {
            fds.push((their_out.as_raw_fd(), stdout));
        }
        if o.stderr_to_stdout {
            fds.push((their_out.as_raw_fd(), 2));
        }
        let dir = match &o.dir {
            Some(d) if !d.is_empty() => Some(CString::new(d.as_slice()).map_err(|_| Errno::INVAL)?),
            _ => None,
        };
        let job = Job {
            path: path.into(),
            args,
            env: env::block(&o.env),
            dir,
            fds,
            close_from: if o.use_stdio { 3 } else { 5 },
            ends: [their_in, their_out],
        };
        Ok(Pipes {
            edge: true,
            job: Some(job),
            exit_status: o.exit_status,
            ..over(o.read.then_some(our_in), o.write.then_some(our_out), false, o)
        })
    };
    make().map_err(OpenError::Posix)
}

/// A non-blocking descriptor of our own for one that is shared with others: reopening a pipe or
/// terminal gives a descriptor whose flags affect nobody else. Also returns whether it may block.
fn own_descriptor(n: RawFd, write: bool) -> Option<(OwnedFd, bool)> {
    let kind = file::fstat(n).ok()?.kind;
    if matches!(kind, file::FileKind::Fifo) || tty::is_terminal(n) {
        let path = CString::new(format!("/proc/self/fd/{n}")).ok()?;
        let mode = file::OpenMode {
            read: !write,
            // `append` without `read` truncates nothing; a pipe takes both.
            write,
            append: write,
            nonblocking: true,
            ..file::OpenMode::default()
        };
        if let Ok(f) = file::open(&path, mode) {
            return Some((f, false));
        }
    }
    let careful =
        !matches!(kind, file::FileKind::Regular | file::FileKind::Device) || tty::is_terminal(n);
    Some((fd::duplicate(n).ok()?, careful))
}

pub(crate) fn open_fds(input: i32, output: i32, o: &PortOptions) -> Pipes {
    let input = if o.read { own_descriptor(input, false).map(|(f, _)| f) } else { None };
    let out = if o.write { own_descriptor(output, true) } else { None };
    let careful = out.as_ref().is_some_and(|(_, c)| *c);
    over(input, out.map(|(f, _)| f), careful, o)
}
/// Opens a file (or pipe or device) by its name; a file that is only written to is truncated.
pub(crate) fn open_file(path: &[u8], o: &PortOptions) -> Result<Pipes, OpenError> {
    let mode = file::OpenMode {
        read: o.read,
        write: o.write,
        nonblocking: true,
        ..file::OpenMode::default()
    };
    let f = file::open(&c_string(path)?, mode).map_err(OpenError::Posix)?;
    let both = o.read && o.write;
    let second = both.then(|| fd::duplicate(f.as_raw_fd())).transpose();
    let second = second.map_err(OpenError::Posix)?;
    let (input, output) = if o.read { (Some(f), second) } else { (None, Some(f)) };
    Ok(over(input, output, false, o))
}
fn over(input: Option<OwnedFd>, output: Option<OwnedFd>, careful: bool, o: &PortOptions) -> Pipes {
    Pipes {
        input,
        output,
        careful,
        output_polled: false,
        always_ready: false,
        edge: false,
        listens: false,
        home: 0,
        away: 0,
        beside: policy::AffinityPolicy::default(),
        owed: None,
        decoder: Input::new(o.line, o.packet),
        packet: o.packet,
        queue: OutQueue::default(),
        held: Vec::new(),
        job: None,
        begun: None,
        child: None,
        exit_status: false,
        status: None,
        ended: false,
    }
}

impl Pipes {
    /// Writes what can be written without blocking. Returns how many bytes that was.
    fn try_write(&self, slices: &[IoSlice<'_>]) -> Result<usize, Exit> {
        let Some(out) = &self.output else {
            return Err(Exit::Posix(Errno::BADF));
        };
        let out = out.as_raw_fd();
        let r = if !self.careful {
            pipe::writev(out, slices)
        } else if fd::wait_ready(out, true, 0) == Ok(true) {
            match slices.iter().find(|s| !s.is_empty()) {
                Some(s) => pipe::write(out, &s[..s.len().min(SAFE_WRITE)]),
                None => Ok(0),
            }
        } else {
            Ok(0)
        };
        match r {
            Err(Errno::AGAIN) => Ok(0),
            r => r.map_err(Exit::Posix),
        }
    }

    /// Like [`Pipes::try_write`], for a write that may wake the program.
    fn write_waking(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Exit> {
        if let Some(child) = &self.child {
            self.beside.wakes(child.pid, self.home);
        }
        let owes = self.beside.owes_one();
        self.owed = owes.then(|| {
            self.owed.take().unwrap_or_else(|| scheduler_load::PendingAnswer::to(self.home))
        });
        self.try_write(slices)
    }
    /// Whether to hold this many bytes until the end of the time slice: if the program is busy, and
    /// the pipe is sure to take them then.
    fn may_hold(&self, bytes: usize) -> bool {
        if !self.held.is_empty() {
            return true;
        }
        let takes = || self.output.as_ref().is_some_and(|out| fd::takes(out.as_raw_fd()));
        let fits = (1..=write_coalescing::MAX_HELD_BYTES).contains(&bytes);
        fits && self.child.is_some() && self.beside.is_silent() && self.queue.is_empty() && takes()
    }

    /// Registers the output, to hear when more can be written.
    fn watch_output(&mut self, core: &Core) -> Flow {
        if self.output_polled {
            return Ok(());
        }
        let Some(out) = &self.output else { return Ok(()) };
        let i = Interest { write: true, edge: !self.careful, read: false };
        let always = poll::add(core.home, out.as_raw_fd(), Source::Output, core.id, i)
            .map_err(Exit::Posix)?;
        // An ordinary file takes everything at once; if it ever does not, each time slice retries.
        self.output_polled = !always;
        Ok(())
    }
    /// A level-triggered output must leave the poll set while there is nothing to write.
    fn unwatch_output(&mut self, core: &Core) {
        if let (true, true, Some(out)) = (self.careful, self.output_polled, &self.output) {
            poll::remove(core.home, out.as_raw_fd());
            self.output_polled = false;
        }
    }

    fn write_queue(&mut self, core: &mut Core) -> Flow {
        while !self.queue.is_empty() {
            let n = self.queue.slices(|s| self.try_write(s))?;
            if n == 0 {
                self.watch_output(core)?;
                break;
            }
            self.queue.advance(n);
            if self.careful {
                break;
            }
        }
        if self.queue.is_empty() {
            self.unwatch_output(core);
        } else {
            self.watch_output(core)?;
        }
        core.drained(self.queue.len());
        Ok(())
    }

    fn read_some(&mut self, core: &mut Core, hangup: bool, buffer: &mut [u8]) -> Flow {
        for turn in 0.. {
            let Some(input) = &self.input else { return Ok(()) };
            if self.ended {
                return Ok(());
            }
            let n = match pipe::read_bytes(input.as_raw_fd(), buffer) {
                Ok(0) => return self.end_of_input(core),
                Ok(n) => n,
                Err(Errno::AGAIN) => return Ok(()),
                // EIO: a terminal whose other end is gone.
                Err(Errno(5)) if self.begun.is_some() => return self.end_of_input(core),
                Err(e) => return Err(Exit::Posix(e)),
            };
            self.beside.answers();
            self.owed = None;
            if self.beside.may_be_elsewhere() {
                self.go_to_program(core);
            }
            if matches!(self.decoder, Input::Line(..)) {
                core.count_input(n);
            }
            self.decoder.feed(&buffer[..n], |p| core.deliver(p));
            if self.always_ready || turn + 1 >= READS {
                // There may be more, for which no further event comes.
                if self.edge || self.always_ready {
                    poll::again(self.home, Source::Input, core.id);
                }
                return Ok(());
            }
            if !self.edge || n < buffer.len() && !hangup {
                return Ok(());
            }
        }
        Ok(())
    }

    fn end_of_input(&mut self, core: &mut Core) -> Flow {
        self.ended = true;
        if let Some(input) = &self.input {
            poll::remove(self.home, input.as_raw_fd());
        }
        if self.exit_status && self.status.is_none() {
            return Ok(());
        }
        self.report_end(core)
    }

    fn report_end(&mut self, core: &mut Core) -> Flow {
        if let (true, Some(s)) = (self.exit_status, self.status) {
            core.tell_owner(3, |h| {
                let s = h.integer(s as i64);
                h.tuple(&[am::exit_status.into(), s])
            });
        }
        // The rest of a line comes after the status, as in OTP.
        self.decoder.end(|p| core.deliver(p));
        core.end_of_input()
    }

    /// Registers the program if it has been started by now.
    fn child_begun(&mut self, core: &mut Core) -> Flow {
        let Some(child) = self.begun.as_ref().and_then(|s| s.take()) else { return Ok(()) };
        let child = self.child.insert(child.map_err(Exit::Posix)?);
        let i = Interest { read: true, ..Interest::default() };
        poll::add(core.home, child.pidfd.as_raw_fd(), Source::Child, core.id, i)
            .map_err(Exit::Posix)?;
        self.listen(core)
    }
    /// Registers the input. With a program only after our copies of its pipe ends are closed, so
    /// that a process that gets its output finds its pipes as the program has them.
    fn listen(&mut self, core: &Core) -> Flow {
        let Some(input) = &self.input else { return Ok(()) };
        let i = Interest { read: true, write: false, edge: self.edge };
        (self.home, self.listens) = (core.home, true);
        self.always_ready = poll::add(self.home, input.as_raw_fd(), Source::Input, core.id, i)
            .map_err(Exit::Posix)?;
        Ok(())
    }

    fn child_ended(&mut self, core: &mut Core) -> Flow {
        let Some(child) = &self.child else { return Ok(()) };
        // Before it is reaped, as another program may get its process id.
        self.beside.unpin();
        let Some(status) = reap(child.pid) else {
            return Ok(());
        };
        poll::remove(core.home, child.pidfd.as_raw_fd());
        self.child = None;
        self.owed = None;
        self.status = Some(status);
        if self.exit_status && (self.ended || self.input.is_none()) {
            return self.report_end(core);
        }
        Ok(())
    }
}

impl Driver for Pipes {
    fn start(&mut self, core: &mut Core) -> Flow {
        let Some(job) = self.job.take() else { return self.listen(core) };
        self.home = core.home;
        self.begun = Some(spawn_thread::start(job, core.id, core.home));
        self.child_begun(core)
    }

    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let head = (bytes.len() as u32).to_be_bytes();
        let head = &head[4 - self.packet as usize..];
        if self.packet > 0 && self.packet < 4 && bytes.len() >> (8 * self.packet) != 0 {
            return Err(Exit::Posix(Errno::INVAL));
        }
        let total = head.len() + bytes.len();
        if self.held.len() + total > write_coalescing::MAX_HELD_BYTES {
            self.write_held(core)?;
        }
        if let Some(scheduler) = core.turn.filter(|_| self.may_hold(total)) {
            self.held.extend_from_slice(head);
            self.held.extend_from_slice(bytes);
            write_coalescing::note(scheduler, core.id);
            return Ok(());
        }
        self.write_held(core)?;
        let mut done = 0;
        if self.queue.is_empty() {
            let slices = [IoSlice::new(head), IoSlice::new(bytes)];
            done = self.write_waking(&slices[head.is_empty() as usize..])?;
        }
        self.follow(core);
        if done == total {
            return Ok(());
        }
        if done < head.len() {
            self.queue.push(&head[done..]);
            done = head.len();
        }
        self.queue.push(&bytes[done - head.len()..]);
        core.queued(self.queue.len());
        if self.careful {
            // A blocking descriptor takes a little at a time; the rest is written at once.
            return self.write_queue(core);
        }
        self.watch_output(core)
    }

    fn write_held(&mut self, core: &mut Core) -> Flow {
        if self.held.is_empty() {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        // An error is ignored: a write at once would have reached the program before it ended.
        let done = self.write_waking(&[IoSlice::new(&held)]).unwrap_or(held.len());
        self.follow(core);
        if done == held.len() {
            return Ok(());
        }
        self.queue.push(&held[done..]);
        core.queued(self.queue.len());
        self.watch_output(core)
    }

    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        match why {
            Ready::Input { hangup } => self.read_some(core, hangup, buffer),
            Ready::Output => self.write_queue(core),
            Ready::Started => self.child_begun(core),
            Ready::Child => self.child_ended(core),
            Ready::Timer(_) | Ready::Fetch | Ready::Selected { .. } | Ready::Driver => Ok(()),
        }
    }

    fn control(&mut self, _core: &mut Core, op: u32, _data: &[u8]) -> Option<ControlReply> {
        if self.begun.is_some() || op != TTY_CONTROL + 100 {
            return None;
        }
        let size = |f: &Option<OwnedFd>| tty::window_size(f.as_ref()?.as_raw_fd());
        let (columns, rows) = size(&self.output).or_else(|| size(&self.input))?;
        Some(ControlReply::List([columns.to_ne_bytes(), rows.to_ne_bytes()].concat()))
    }

    fn queued(&self) -> usize {
        self.queue.len()
    }

    fn flush(&mut self) {
        let Some(out) = &self.output else { return };
        let out = out.as_raw_fd();
        // A program may never read: it gets one second. Other descriptors have no limit.
        let patience = if self.begun.is_some() { 1000 } else { -1 };
        while !self.queue.is_empty() {
            if fd::wait_ready(out, true, patience) != Ok(true) {
                return;
            }
            match self.queue.slices(|s| self.try_write(s)) {
                Ok(n) => self.queue.advance(n),
                Err(_) => return self.queue.clear(),
            }
        }
    }

    fn stop(&mut self, core: &mut Core) {
        self.owed = None;
        self.beside.unpin();
        if let Some(f) = self.input.take() {
            poll::remove(self.home, f.as_raw_fd());
        }
        if let Some(f) = self.output.take().filter(|_| self.output_polled) {
            poll::remove(core.home, f.as_raw_fd());
        }
        if let Some(child) = self.child.take() {
            poll::orphan(core.home, child);
        }
    }

    fn os_pid(&self) -> Option<i32> {
        self.begun.as_ref()?.pid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_answers_are_counted() {
        let last = poll::count() - 1;
        let before = scheduler_load::pending_answers(last);
        let one = scheduler_load::PendingAnswer::to(last);
        assert_eq!(scheduler_load::pending_answers(last), before + 1);
        drop(one);
        assert_eq!(scheduler_load::pending_answers(last), before);
    }
}
