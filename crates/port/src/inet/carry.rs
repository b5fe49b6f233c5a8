//! A stream that carries a connection to another node: each packet is a signal.

use kvik_env::Errno;
use kvik_term::am;

use super::{Inet, State};
use crate::driver::{Exit, Flow};
use crate::packet::{self, PacketKind};
use crate::poll::{self, Source};
use crate::port::state::Core;

/// The most bytes written before other ports are served.
const BYTES_A_TURN: usize = 1 << 20;
/// The most bytes in the socket's own queue; the rest stays in the channel, which knows which
/// senders are to wait for it.
const QUEUE: usize = 64 * 1024;

impl Inet {
    /// Passes a complete packet to the channel.
    pub(super) fn pass_on(&mut self, core: &mut Core, packet: &[u8]) -> Flow {
        let Some(channel) = core.channel.clone() else { return Ok(()) };
        let body = packet::body(self.packet, packet);
        core.count_input(body.len());
        match channel.take(body) {
            true => Ok(()),
            false => Err(Exit::Reason(am::killed)),
        }
    }
    /// Writes the channel's packets, as far as the socket takes them.
    pub(super) fn fetch(&mut self, core: &mut Core) -> Flow {
        let Some(channel) = core.channel.clone() else { return Ok(()) };
        let mut turn = 0;
        while self.state == State::Connected {
            while self.queue.len() < QUEUE {
                let Some((header, packet)) = channel.next() else { break };
                let size = header.len() + packet.len();
                turn += size;
                let head = (size as u32).to_be_bytes();
                let head = match self.packet {
                    // OTP truncates the length, which the other node treats as a protocol error.
                    PacketKind::Length(n) if size >> (8 * n as u32) != 0 => {
                        return Err(Exit::Posix(Errno::MSGSIZE));
                    }
                    PacketKind::Length(n) => &head[4 - n as usize..],
                    _ => &[],
                };
                self.stats.sent(head.len() + size);
                core.count_output(size);
                self.queue.push(head);
                self.queue.push(&header);
                self.queue.push_vec(packet);
            }
            if self.queue.is_empty() {
                return Ok(());
            }
            if turn > BYTES_A_TURN {
                poll::again(core.home, Source::Output, core.id);
                return Ok(());
            }
            self.write_queue(core)?;
            if !self.queue.is_empty() {
                // The poll set reports when there is room.
                return self.watch(core).map_err(Exit::Posix);
            }
        }
        Ok(())
    }
}
