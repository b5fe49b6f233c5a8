//! `nif_sendmmsg`: several messages by one call.

use std::borrow::Cow;
use std::io::IoSlice;

use kvik_env::socket::raw::{self as sys, OutgoingMessage, RawAddr};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{atom, bytes, field, int, invalid, ok, settle, ArgResult, Rejection};
use crate::control;
use crate::receive_several::MAX_MESSAGES;
use crate::requests::WRITERS;
use crate::send::{may_write, sent_so_far, PIECES};
use crate::socket::{socket, Socket};

/// A message's parts, which the system's structures refer to.
struct Message<'h> {
    pieces: Vec<Cow<'h, [u8]>>,
    to: Option<RawAddr>,
    control: Vec<u8>,
}

pub fn send_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(send(p, a))
}
fn send<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let list = a[1].list_to_vec().filter(|_| a[3].as_ref().is_some()).ok_or_else(|| p.badarg())?;
    let flags = int(p, a[2])?;
    let mut s = socket.lock();
    let fd = may_write(p, socket, &mut s, a[3])?;
    if !list.iter().all(|t| t.as_map().is_some()) {
        return Err(p.badarg().into());
    }
    if list.is_empty() {
        return Ok(am::ok.into());
    }
    let list = list.into_iter().take(MAX_MESSAGES);
    let room = s.settings.send_control;
    let messages =
        list.map(|t| message(p, socket, t, room)).collect::<ArgResult<'h, Vec<Message>>>()?;
    let outgoing: Vec<OutgoingMessage> = messages
        .iter()
        .map(|m| OutgoingMessage {
            pieces: m.pieces.iter().map(|b| IoSlice::new(b)).collect(),
            to: m.to.as_ref(),
            control: &m.control,
        })
        .collect();
    s.counters.write_tries += 1;
    let sent = match sys::send_messages(fd, &outgoing, flags) {
        Ok(sent) => sent,
        Err(e) => return sent_so_far(p, socket, &mut s, Err(e), 0, false, a[3]),
    };
    if s.writers.current.is_some() {
        socket.serve_next(&mut s, WRITERS);
    }
    Ok(answer(p, &messages, &sent))
}
fn message<'h>(
    p: &'h Proc,
    socket: &Socket,
    t: Term<'h>,
    room: usize,
) -> ArgResult<'h, Message<'h>> {
    let wrong = |what| Rejection::Answer(invalid(&p.heap, atom(what)));
    let to = field(t, "addr").map(|t| address::decode(t).ok_or_else(|| wrong("addr")));
    let to = to.transpose()?;
    let iov = field(t, "iov").and_then(Term::list_to_vec).ok_or_else(|| p.badarg())?;
    let pieces = iov.into_iter().take(PIECES).map(|t| bytes(t).ok_or_else(|| p.badarg()));
    let pieces = pieces.collect::<Result<_, _>>()?;
    let control = field(t, "ctrl")
        .map(|t| control::encode(t, room, socket.natives).ok_or_else(|| wrong("ctrl")));
    Ok(Message { pieces, to, control: control.transpose()?.unwrap_or_default() })
}
/// `ok`, or `{ok, [{Index, Sent}]}` for those that were cut off.
fn answer<'h>(p: &'h Proc, messages: &[Message<'h>], sent: &[usize]) -> Term<'h> {
    let h = &p.heap;
    let mut short = Vec::new();
    for (i, (message, n)) in messages.iter().zip(sent).enumerate() {
        let size: usize = message.pieces.iter().map(|b| b.len()).sum();
        if size != *n {
            short.push(h.tuple(&[h.unsigned(i as u64), h.unsigned(*n as u64)]));
        }
    }
    match short.is_empty() {
        true => am::ok.into(),
        false => ok(h, h.list(&short)),
    }
}
