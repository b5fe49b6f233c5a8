//! Output of a stream: bytes with back-pressure, parts of files, and shutdown.

use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};

use kvik_env::socket::{self, ECONNRESET, ENOTCONN};
use kvik_env::{fd, Errno};
use kvik_term::{am, Atom};

use super::{control, posix, Exit, Inet, Sender, State};
use crate::driver::{ControlReply, Flow};
use crate::packet::PacketKind;
use crate::poll::{self, Source};
use crate::port::state::Core;

/// A part of a file that is being sent.
pub struct SendFile {
    file: OwnedFd,
    /// Bytes of the queue that are sent before it.
    before: usize,
    offset: i64,
    left: u64,
    sent: u64,
    caller: u32,
}

/// The process to tell of a failed write, if no sender waits for the queue.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Waiting {
    Sender(Sender),
    /// The sender of a file, which has been told.
    File,
    Nobody,
}

/// The most bytes of a file in one system call.
const FILE_CHUNK: u64 = 1 << 20;

/// The reason that the sender of a file gets when its connection fails.
pub(super) fn file_error(e: Errno) -> Atom {
    match e {
        ECONNRESET | ENOTCONN | Errno::PIPE => am::closed,
        e => posix(e),
    }
}

impl Inet {
    pub(super) fn tcp_send(&mut self, core: &mut Core, caller: Sender, slices: &[&[u8]]) -> Flow {
        if self.state != State::Connected {
            let reason = match (std::mem::take(&mut self.delayed_close_send), self.delayed_reset) {
                (false, _) => posix(ENOTCONN),
                (true, true) => posix(ECONNRESET),
                (true, false) => am::closed,
            };
            self.reply(core, caller, Some(reason));
            return Ok(());
        }
        if self.shutdown.is_some() {
            return self.send_failed(core, Errno::PIPE, Waiting::Sender(caller));
        }
        let body: usize = slices.iter().map(|bytes| bytes.len()).sum();
        let head = (body as u32).to_be_bytes();
        let head = match self.packet {
            PacketKind::Length(n) => &head[4 - n as usize..],
            _ => &[],
        };
        let len = head.len() + body;
        self.stats.sent(len);
        let queued = self.queue.len();
        if queued > 0 || self.file.is_some() {
            self.queue.push(head);
            slices.iter().for_each(|bytes| self.queue.push(bytes));
            if queued + len >= self.high {
                return self.wait_to_send(core, caller);
            }
        } else if len > 0 {
            let done = match self.write_first(core, head, slices) {
                Ok(n) => n,
                Err(e) => return self.write_failed(core, e, Waiting::Sender(caller)),
            };
            if done < len {
                let mut done = done;
                for bytes in std::iter::once(&head).chain(slices) {
                    let of_this = done.min(bytes.len());
                    self.queue.push(&bytes[of_this..]);
                    done -= of_this;
                }
                if let Err(e) = self.watch(core) {
                    return self.write_failed(core, e, Waiting::Sender(caller));
                }
            }
        }
        self.reply(core, caller, None);
        Ok(())
    }

    /// Writes while the queue is empty. Returns the number of bytes written.
    fn write_first(&mut self, core: &Core, head: &[u8], body: &[&[u8]]) -> Result<usize, Errno> {
        if self.ignored {
            return Ok(0);
        }
        if self.delay_send {
            poll::again(core.home, Source::Output, core.id);
            return Ok(0);
        }
        let r = match body {
            [bytes] => socket::writev(self.raw()?, &[IoSlice::new(head), IoSlice::new(bytes)]),
            _ => {
                let all = std::iter::once(&head).chain(body);
                let all: Vec<IoSlice<'_>> = all.map(|bytes| IoSlice::new(bytes)).collect();
                socket::writev(self.raw()?, &all)
            }
        };
        match r {
            Err(Errno::AGAIN) => Ok(0),
            r => r,
        }
    }

    /// The queue has reached its high watermark: the sender waits for the low one.
    fn wait_to_send(&mut self, core: &mut Core, caller: Sender) -> Flow {
        if self.send_timeout == 0 {
            self.reply(core, caller, Some(am::timeout));
            return Ok(());
        }
        let deadline = self.deadline(core, self.send_timeout);
        self.senders.push((caller, deadline));
        core.set_busy(true);
        Ok(())
    }

    pub(super) fn send_timed_out(&mut self, core: &mut Core, now: i64) -> Flow {
        let late: Vec<_> = self.senders.iter().filter(|s| s.1 <= now).map(|s| s.0).collect();
        if late.is_empty() {
            return Ok(());
        }
        self.senders.retain(|s| s.1 > now);
        // Other senders no longer wait: the queue may stay full.
        core.set_busy(false);
        for to in late {
            self.reply(core, to, Some(am::timeout));
        }
        if self.send_timeout_close {
            self.answer_all(core, am::closed);
            if self.is_active() && kvik_release::current().tells_owner_of_late_send() {
                self.tell_closed(core);
                if self.exit_on_close {
                    return self.exit(core, Exit::Normal);
                }
            }
            self.close_socket(core);
        }
        Ok(())
    }

    /// Tells waiting senders that their sends have failed. Returns whether there were any.
    pub(super) fn fail_senders(&mut self, core: &mut Core, reason: Atom) -> bool {
        if self.senders.is_empty() {
            return false;
        }
        self.clear_queue(core);
        let senders = std::mem::take(&mut self.senders);
        core.set_busy(false);
        for (to, _) in senders {
            self.reply(core, to, Some(reason));
        }
        true
    }

    /// Drops the queue. Processes that wait for it to become empty are told that it is.
    pub(super) fn clear_queue(&mut self, core: &Core) {
        self.queue.clear();
        self.tell_empty(core);
    }
    fn tell_empty(&mut self, core: &Core) {
        let port = core.term();
        for to in std::mem::take(&mut self.want_empty) {
            core.send(to, 3, |h| h.tuple(&[am::empty_out_q.into(), port]));
        }
    }

    /// A write has failed. A broken pipe without our own shutdown is a reset by the peer.
    fn write_failed(&mut self, core: &mut Core, e: Errno, waiting: Waiting) -> Flow {
        let e = if e == Errno::PIPE && !self.shutdown_done { ECONNRESET } else { e };
        self.send_failed(core, e, waiting)
    }

    /// Sending or shutdown has failed.
    fn send_failed(&mut self, core: &mut Core, e: Errno, waiting: Waiting) -> Flow {
        let reset = e == ECONNRESET && self.show_econnreset;
        let reason = if reset { posix(e) } else { am::closed };
        let mut callers: Vec<Sender> = self.senders.drain(..).map(|s| s.0).collect();
        match (callers.is_empty(), waiting) {
            (false, _) => core.set_busy(false),
            (true, Waiting::Sender(caller)) => callers.push(caller),
            (true, _) => {}
        }
        if self.is_active() {
            if reset {
                self.tell_error(core, e);
            }
            self.tell_closed(core);
            callers.iter().for_each(|to| self.reply(core, *to, Some(reason)));
            if self.exit_on_close {
                return self.exit(core, Exit::Normal);
            }
            self.close_socket(core);
            return Ok(());
        }
        self.answer_all(core, am::closed);
        callers.iter().for_each(|to| self.reply(core, *to, Some(reason)));
        self.delayed_close_send |= callers.is_empty()
            && match waiting {
                Waiting::Nobody => true,
                Waiting::File => kvik_release::current().tells_sender_of_lost_file(),
                Waiting::Sender(_) => false,
            };
        self.close_socket(core);
        // An owner that ignores errors of sends gets it from the next receive.
        (self.delayed_close_receive, self.delayed_reset) = (true, reset);
        Ok(())
    }

    pub(super) fn write_queue(&mut self, core: &mut Core) -> Flow {
        if self.ignored {
            return Ok(());
        }
        if self.file.is_some() {
            return self.write_file(core);
        }
        while !self.queue.is_empty() {
            let r = self.raw().and_then(|fd| self.queue.slices(|s| socket::writev(fd, s)));
            match r {
                Ok(n) => self.queue.advance(n),
                Err(Errno::AGAIN) => return self.watch(core).map_err(Exit::Posix),
                Err(_) if core.channel.is_some() => return self.closed_by_peer(core),
                Err(e) => return self.write_failed(core, e, Waiting::Nobody),
            }
            self.wake_senders(core);
        }
        self.wake_senders(core);
        self.queue_is_empty(core)
    }

    fn wake_senders(&mut self, core: &mut Core) {
        if self.queue.len() <= self.low && !self.senders.is_empty() {
            let senders = std::mem::take(&mut self.senders);
            core.set_busy(false);
            senders.iter().for_each(|s| self.reply(core, s.0, None));
        }
    }

    fn queue_is_empty(&mut self, core: &mut Core) -> Flow {
        self.tell_empty(core);
        let (Some(how), Ok(fd)) = (self.shutdown.take(), self.raw()) else { return Ok(()) };
        match socket::shutdown(fd, how) {
            Ok(()) => {
                self.shutdown_done = true;
                Ok(())
            }
            Err(e) => self.send_failed(core, e, Waiting::Nobody),
        }
    }

    pub(super) fn shut_down(&mut self, data: &[u8]) -> ControlReply {
        if self.state != State::Connected {
            return control::error(ENOTCONN);
        }
        let [how] = *data else {
            return control::error(Errno::INVAL);
        };
        if how != 0 && !self.queue.is_empty() {
            self.shutdown = Some(how);
            return control::ok(&[]);
        }
        match self.raw().and_then(|fd| socket::shutdown(fd, how)) {
            Ok(()) => control::ok(&[]),
            Err(e) => {
                self.shutdown_done |= how != 0;
                control::error(e)
            }
        }
    }

    pub(super) fn send_file(&mut self, core: &mut Core, data: &[u8]) -> ControlReply {
        let Ok(d) = <[u8; 20]>::try_from(data) else {
            return control::error(Errno::INVAL);
        };
        if self.state != State::Connected {
            return control::error(ENOTCONN);
        }
        if self.file.is_some() {
            return control::error(Errno::INVAL);
        }
        let n = i32::from_ne_bytes([d[0], d[1], d[2], d[3]]);
        let long = |i: usize| d[i..i + 8].iter().fold(0u64, |n, b| n << 8 | *b as u64);
        let file = match fd::duplicate(n) {
            Ok(f) => f,
            Err(e) => return control::error(e),
        };
        self.file = Some(SendFile {
            file,
            before: self.queue.len(),
            offset: long(4) as i64,
            left: long(12),
            sent: 0,
            caller: core.caller,
        });
        if let Err(e) = self.watch(core) {
            self.file = None;
            return control::error(e);
        }
        let flow = self.write_file(core);
        core.fail(flow);
        control::ok(&[])
    }

    /// Writes the queue from before the file, then the file, as far as the socket takes it.
    fn write_file(&mut self, core: &mut Core) -> Flow {
        match self.write_file_part() {
            Err(Errno::AGAIN) => Ok(()),
            Err(e) => {
                self.abort_file(core, file_error(e));
                self.write_failed(core, e, Waiting::File)
            }
            Ok(()) => {
                let file = self.file.take();
                self.wake_senders(core);
                let flow = if self.queue.is_empty() {
                    self.queue_is_empty(core)
                } else {
                    // Output that was queued meanwhile is written in the next time slice.
                    poll::again(core.home, Source::Output, core.id);
                    Ok(())
                };
                if let Some(f) = file {
                    let port = core.term();
                    core.send(f.caller, 20, |h| {
                        let low = h.unsigned(f.sent & 0xFFFF_FFFF);
                        let r = h.tuple(&[am::ok.into(), low, h.unsigned(f.sent >> 32)]);
                        h.tuple(&[am::sendfile.into(), port, r])
                    });
                }
                flow
            }
        }
    }

    fn write_file_part(&mut self) -> Result<(), Errno> {
        let to = self.raw()?;
        let Some(f) = &mut self.file else { return Ok(()) };
        while f.before > 0 {
            let n = socket::write(to, self.queue.front(f.before))?;
            self.queue.advance(n);
            f.before -= n;
        }
        while f.left > 0 {
            let count = f.left.min(FILE_CHUNK) as usize;
            match socket::send_file(to.as_raw_fd(), f.file.as_raw_fd(), f.offset, count)? {
                0 => f.left = 0,
                n => {
                    f.offset += n as i64;
                    f.sent += n as u64;
                    f.left -= n as u64;
                }
            }
        }
        Ok(())
    }

    /// Tells the sender of a file that it has failed. Returns whether there was one.
    pub(super) fn abort_file(&mut self, core: &Core, reason: Atom) -> bool {
        let Some(f) = self.file.take() else { return false };
        let port = core.term();
        core.send(f.caller, 8, |h| {
            let r = h.tuple(&[am::error.into(), reason.into()]);
            h.tuple(&[am::sendfile.into(), port, r])
        });
        true
    }
}
