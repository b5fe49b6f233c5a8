//! Datagrams.

use kvik_sys::socket::{self, Addr};
use kvik_sys::Errno;
use kvik_term::{am, Term};

use super::{addr, posix, Inet, State, What};
use crate::driver::{Flow, Reply};
use crate::poll::{self, Source};
use crate::port::Core;

/// Datagrams of one turn.
const TURN: usize = 64;

impl Inet {
    /// Sends what `prim_inet:sendto` wrote: an address, ancillary data, and the datagram.
    pub(super) fn udp_send(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let fd = self.raw().map_err(|_| Errno::INVAL)?;
        let (to, rest) = addr::decode(self.family, bytes).ok_or(Errno::INVAL)?;
        let (n, rest) = rest.split_at_checked(4).ok_or(Errno::INVAL)?;
        if n != [0; 4] {
            // Ancillary data of single datagrams.
            return Err(Errno::NOTSUP);
        }
        let to = (self.state != State::Connected).then_some(&to);
        self.stats.sent(rest.len());
        socket::send_to(fd, rest, to).map(drop)
    }

    pub(super) fn receive_packet(&mut self, core: &mut Core, data: &[u8]) -> Reply {
        if self.fd.is_none() {
            return Reply::List([&[0], "exbadport".as_bytes()].concat());
        }
        let Ok(head) = <[u8; 8]>::try_from(data) else {
            return Reply::List([&[0], Errno::INVAL.name().as_bytes()].concat());
        };
        if self.is_active() {
            return Reply::List([&[0], Errno::INVAL.name().as_bytes()].concat());
        }
        if !self.pending.is_empty() {
            return Reply::List([&[0], "ealready".as_bytes()].concat());
        }
        let timeout = i32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let r = self.later(core, What::Receive(0), timeout);
        let mut buffer = vec![0; self.buffer.max(64 * 1024)];
        let _ = self.udp_ready(core, &mut buffer);
        r
    }

    pub(super) fn udp_ready(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        let Ok(fd) = self.raw() else { return Ok(()) };
        for _ in 0..TURN {
            if !self.is_active() && self.pending.is_empty() {
                return Ok(());
            }
            let room = buffer.len().min(self.buffer);
            match socket::receive_from(fd, &mut buffer[..room]) {
                Ok((n, from)) => self.deliver_packet(core, &buffer[..n], &from),
                Err(Errno::AGAIN) => return Ok(()),
                Err(e) => self.packet_error(core, e),
            }
        }
        poll::again(core.home, Source::Input, core.id);
        Ok(())
    }

    fn packet_error(&mut self, core: &Core, e: Errno) {
        if !self.is_active() {
            return self.answer_error(core, posix(e));
        }
        let port = core.term();
        core.send(core.owner(), 5, |h| h.tuple(&[am::udp_error.into(), port, posix(e).into()]));
    }

    fn deliver_packet(&mut self, core: &Core, bytes: &[u8], from: &Addr) {
        self.stats.received(bytes.len());
        let words = self.data_words(bytes.len()) + 80;
        core.came(self.counted(bytes.len()));
        if self.is_active() {
            let port = core.term();
            core.send(core.owner(), words, |h| {
                let (ip, at) = addr::terms(h, from);
                let data = self.data(h, bytes);
                h.tuple(&[am::udp.into(), port, ip, at, data])
            });
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
            let all = h.list_with_tail(&head, self.data(h, bytes));
            h.tuple(&[am::ok.into(), all])
        });
    }
}
