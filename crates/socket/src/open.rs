//! `nif_open`, `nif_bind`, `nif_listen`, names, and `nif_shutdown`.

use std::os::fd::AsRawFd;

use kvik_env::socket::raw::{self as sys, RawAddr};
use kvik_env::{fd, socket as typed};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{
    atom, bytes, closed, done, field, int, invalid, ok, posix, raise_invalid, settle, small_int,
    ArgResult, Rejection,
};
use crate::info::settings;
use crate::option_value::kind_number;
use crate::socket::{socket, state, Parts, Socket};

/// Options that describe a socket.
const DOMAIN: (i32, i32) = (libc::SOL_SOCKET, libc::SO_DOMAIN);
const KIND: (i32, i32) = (libc::SOL_SOCKET, libc::SO_TYPE);
const PROTOCOL: (i32, i32) = (libc::SOL_SOCKET, libc::SO_PROTOCOL);

pub fn open_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(open(p, a))
}
fn open<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let wrong = |what| Rejection::Answer(invalid(&p.heap, atom(what)));
    let mut protocol = int(p, a[2])?;
    if a[3].as_map().is_none() {
        return Err(p.badarg().into());
    }
    let domain = address::domain_number(a[0]).ok_or_else(|| wrong("domain"))?;
    let kind = kind_number(a[1]).ok_or_else(|| wrong("type"))?;
    let namespace = field(a[3], "netns").and_then(bytes);
    let opened = match namespace {
        Some(path) => sys::in_namespace(&path, || sys::open(domain, kind, protocol)),
        None => sys::open(domain, kind, protocol),
    };
    let fd = match opened {
        Ok(fd) => fd,
        Err(e) => return Ok(posix(&p.heap, e)),
    };
    if protocol == 0 {
        protocol = typed::int(fd.as_raw_fd(), PROTOCOL).unwrap_or(0);
    }
    let (original, borrowed, settings) = (None, false, settings(a[3]));
    let parts = Parts { fd, domain, kind, protocol, original, borrowed, settings };
    let new = Socket::new(parts, p.pid());
    Ok(ok(&p.heap, new.term(&p.heap)))
}

/// Makes a socket of an existing descriptor: of a copy, unless `dup` is false.
pub fn adopt_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(adopt(p, a))
}
fn adopt<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let wrong = |what| Rejection::Answer(invalid(&p.heap, atom(what)));
    let original = int(p, a[0])?;
    if a[1].as_map().is_none() {
        return Err(p.badarg().into());
    }
    let domain = typed::int(original, DOMAIN).ok();
    let domain = domain.or_else(|| address::domain_number(field(a[1], "domain")?));
    let domain = domain.ok_or_else(|| wrong("domain"))?;
    let kind = typed::int(original, KIND).ok();
    let kind = kind.or_else(|| kind_number(field(a[1], "type")?)).ok_or_else(|| wrong("type"))?;
    let protocol = typed::int(original, PROTOCOL).ok();
    let protocol = protocol.or_else(|| small_int(field(a[1], "protocol")?)).unwrap_or(0);
    let copies = field(a[1], "dup").and_then(Term::as_bool).unwrap_or(true);
    let taken = match copies {
        true => sys::duplicate(original),
        // `adopt` comes last: an adopted descriptor would be closed if the other call failed.
        false => fd::set_nonblocking(original, true).and_then(|_| fd::adopt(original)),
    };
    let fd = match taken {
        Ok(fd) => fd,
        Err(e) => return Ok(posix(&p.heap, e)),
    };
    let is_connected = sys::peer_address(fd.as_raw_fd()).is_ok();
    let (borrowed, settings) = (!copies, settings(a[1]));
    let original = Some(original);
    let parts = Parts { fd, domain, kind, protocol, original, borrowed, settings };
    let new = Socket::new(parts, p.pid());
    if is_connected {
        new.lock().write_state |= state::CONNECTED;
    }
    Ok(ok(&p.heap, new.term(&p.heap)))
}

pub fn bind_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let Some(address) = address::decode(a[1]) else {
        return Ok(invalid(&p.heap, atom("sockaddr")));
    };
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    let bound = sys::bind(fd, &address);
    if bound.is_ok() {
        s.read_state |= state::BOUND;
    }
    Ok(done(&p.heap, bound))
}
/// Several addresses of an SCTP socket: not supported, as in OTP.
pub fn bind_3<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.notsup())
}

pub fn listen_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(listen(p, a))
}
fn listen<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let backlog = int(p, a[1])?;
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    let listens = typed::listen(fd, backlog);
    if listens.is_ok() {
        s.read_state |= state::LISTENING;
    }
    Ok(done(&p.heap, listens))
}

fn address_answer(h: &Heap, r: kvik_env::Result<RawAddr>) -> Term<'_> {
    match r {
        Ok(a) => ok(h, address::encode(h, a.bytes())),
        Err(e) => posix(h, e),
    }
}
pub fn local_name_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let s = socket(p, a[0])?.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    Ok(address_answer(&p.heap, sys::local_address(fd)))
}
pub fn peer_name_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let s = socket(p, a[0])?.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    Ok(address_answer(&p.heap, sys::peer_address(fd)))
}

pub fn shutdown_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let how = match a[1].as_atom() {
        Some(am::read) => 0,
        Some(am::write) => 1,
        Some(_) if crate::answer::is(a[1], "read_write") => 2,
        _ => return Err(raise_invalid(p, p.heap.tuple(&[atom("how"), a[1]]))),
    };
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    Ok(done(&p.heap, typed::shutdown(fd, how)))
}
