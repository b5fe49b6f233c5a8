//! `nif_recvmmsg`: several messages by one call.

use kvik_env::socket::raw as sys;
use kvik_proc::{BifResult, Proc};
use kvik_term::Term;

use crate::answer::{ok, out_of_range, settle, sizes, ArgResult};
use crate::message;
use crate::receive::{room, ReceiveCall};
use crate::socket::socket;

/// The most messages of one call.
pub const MAX_MESSAGES: usize = 1024;
/// The most room of one call, whatever the caller asks for: fewer messages come then.
const MAX_ROOM_BYTES: usize = 64 << 20;

pub fn receive_6<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive(p, a))
}
fn receive<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = ReceiveCall::new(p, socket, a[5])?;
    let ([most, size, control], flags) = sizes(p, [a[1], a[2], a[3]], a[4])?;
    if most == 0 || u32::try_from(most).is_err() {
        return Err(out_of_range(p, a[1]));
    }
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    let size = room(size, s.settings.receive_buffer);
    let control = room(control, s.settings.receive_control);
    let fitting = (MAX_ROOM_BYTES / (size + control)).max(1);
    s.counters.read_tries += 1;
    let (h, natives) = (&p.heap, socket.natives);
    let mut read = Vec::new();
    let most = most.min(MAX_MESSAGES).min(fitting);
    let got = sys::receive_messages(fd, most, (size, control), flags, |data, control, envelope| {
        read.push(data.len());
        message::encode(h, h.binary(data), control, &envelope, natives)
    });
    match got {
        Ok(all) if all.is_empty() => Ok(ok(h, Term::NIL)),
        Ok(all) => {
            read.into_iter().for_each(|n| s.counters.read_message(n));
            reader.finish(&mut s, h.list(&all))
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
