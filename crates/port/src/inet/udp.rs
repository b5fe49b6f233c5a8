//! Datagrams.

use kvik_env::socket::{self, Addr};
use kvik_env::Errno;
use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use super::{addr, options, posix, Inet, State, What};
use crate::driver::{ControlReply, Flow};
use crate::poll::{self, Source};
use crate::port::state::Core;

impl Inet {
    /// Sends the output of `prim_inet:sendto`: an address, control messages, and the datagram.
    pub(super) fn udp_send(&mut self, bytes: &[u8]) -> Result<(), Atom> {
        let einval = || posix(Errno::INVAL);
        let fd = self.raw().map_err(|_| einval())?;
        let (to, rest) = addr::decode(self.family, bytes).ok_or_else(einval)?;
        let (n, rest) = rest.split_at_checked(4).ok_or_else(einval)?;
        let n = n.iter().fold(0, |n, b| n << 8 | *b as usize);
        let (control, data) = rest.split_at_checked(n).ok_or_else(einval)?;
        let control = options::control_messages(control).ok_or_else(einval)?;
        let to = (self.state != State::Connected).then_some(&to);
        self.stats.sent(data.len());
        let sent = match *control {
            [] => socket::send_to(fd, data, to),
            _ => socket::send_message(fd, data, to, &control),
        };
        sent.map(drop).map_err(posix)
    }

    pub(super) fn receive_packet(&mut self, core: &mut Core, data: &[u8]) -> ControlReply {
        if self.fd.is_none() {
            return ControlReply::List([&[0], "exbadport".as_bytes()].concat());
        }
        let Ok(head) = <[u8; 8]>::try_from(data) else {
            return ControlReply::List([&[0], Errno::INVAL.name().as_bytes()].concat());
        };
        if self.is_active() {
            return ControlReply::List([&[0], Errno::INVAL.name().as_bytes()].concat());
        }
        if !self.pending.is_empty() {
            return ControlReply::List([&[0], "ealready".as_bytes()].concat());
        }
        let timeout = i32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let r = self.later(core, What::Receive, timeout);
        poll::with_buffer(|buffer| {
            let _ = self.udp_ready(core, buffer);
        });
        r
    }

    pub(super) fn udp_ready(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        let Ok(fd) = self.raw() else { return Ok(()) };
        // A datagram may be longer than the scheduler's buffer.
        let mut own = Vec::new();
        let buffer = match self.buffer > buffer.len() {
            true => {
                own.resize(self.buffer, 0);
                &mut own[..]
            }
            false => &mut buffer[..self.buffer],
        };
        for _ in 0..self.read_packets {
            if !self.is_active() && self.pending.is_empty() {
                return Ok(());
            }
            let received = match self.control_messages {
                0 => socket::receive_from(fd, buffer).map(|(n, from)| (n, from, None)),
                _ => socket::receive_message(fd, buffer).map(|(n, from, c)| (n, from, Some(c))),
            };
            match received {
                Ok((n, from, c)) => self.deliver_datagram(core, &buffer[..n], &from, c.as_deref()),
                Err(Errno::AGAIN) => return Ok(()),
                Err(e) => {
                    self.packet_error(core, e);
                    break;
                }
            }
        }
        if self.is_active() || !self.pending.is_empty() {
            poll::again(core.home, Source::Input, core.id);
        }
        Ok(())
    }

    fn packet_error(&mut self, core: &Core, e: Errno) {
        if !self.is_active() {
            return self.answer_error(core, posix(e));
        }
        let port = core.term();
        core.send(core.owner(), 5, |h| h.tuple(&[am::udp_error.into(), port, posix(e).into()]));
    }

    fn deliver_datagram(
        &mut self,
        core: &Core,
        bytes: &[u8],
        from: &Addr,
        control: Option<&[socket::ControlMessage]>,
    ) {
        self.stats.received(bytes.len());
        let words = self.data_words(bytes.len()) + 80 + 5 * control.map_or(0, |c| c.len());
        core.came(self.counted(bytes.len()));
        if self.is_active() {
            self.deliver_active_datagram(core, words, bytes, from, control);
            self.delivered(core);
            return;
        }
        let Some(p) = self.pending.pop_front() else {
            return;
        };
        let head = addr::encode(from);
        if self.list {
            core.came(head.len());
        }
        super::answer(core, &p, words, |h| {
            let head: Vec<_> = head.iter().map(|b| Term::int(*b as i32)).collect();
            let mut all = h.list_with_tail(&head, self.data(h, bytes));
            if let Some(c) = control {
                all = h.tuple(&[all, control_terms(h, c)]);
            }
            h.tuple(&[am::ok.into(), all])
        });
    }

    fn deliver_active_datagram(
        &self,
        core: &Core,
        words: usize,
        bytes: &[u8],
        from: &Addr,
        control: Option<&[socket::ControlMessage]>,
    ) {
        let port = core.term();
        core.send(core.owner(), words, |h| {
            let data = self.data(h, bytes);
            if self.deliver_port {
                let head = addr::encode(from);
                let head: Vec<_> = head.iter().map(|b| Term::int(*b as i32)).collect();
                let data = h.list_with_tail(&head, data);
                return h.tuple(&[port, h.tuple(&[am::data.into(), data])]);
            }
            let (ip, at) = addr::terms(h, from);
            match control {
                None => h.tuple(&[am::udp.into(), port, ip, at, data]),
                Some(c) => h.tuple(&[am::udp.into(), port, ip, at, control_terms(h, c), data]),
            }
        });
    }
}

/// `[{tos, Value}]` and the like.
fn control_terms<'h>(h: &'h Heap, control: &[socket::ControlMessage]) -> Term<'h> {
    let known = control.iter().filter_map(|c| Some((options::option_of(c)?, c.2)));
    let all: Vec<_> = known
        .map(|(opt, v)| {
            let name = Atom::intern(options::option_name(opt)).unwrap_or(am::error);
            h.tuple(&[name.into(), h.integer(v as i64)])
        })
        .collect();
    h.list(&all)
}
