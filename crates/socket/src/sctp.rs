//! Several addresses, and the associations of SCTP sockets: what OTP does by the functions of
//! `libsctp` (`sctp_bindx(3)` and its kin), which are made of these socket options.

use std::os::fd::{AsRawFd, RawFd};

use kvik_env::socket::raw as sys;
use kvik_env::{fd, socket as typed, Errno};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address::{self, number32};
use crate::answer::{
    atom, closed, field, int, invalid, is, ok, posix, raise_invalid, settle, unsigned, ArgResult,
    Rejection,
};
use crate::connect::begin;
use crate::socket::{socket, state, Parts, Socket};

/// `SCTP_SOCKOPT_…`
mod number {
    pub const BIND_ADD: i32 = 100;
    pub const BIND_REMOVE: i32 = 101;
    pub const PEEL_OFF: i32 = 102;
    pub const PEER_ADDRESSES: i32 = 108;
    pub const LOCAL_ADDRESSES: i32 = 109;
    pub const CONNECT: i32 = 110;
}
const LEVEL: i32 = libc::IPPROTO_SCTP;

/// A list of addresses of the socket's domain, each in the kernel's layout; an IPv6 socket has IPv4
/// addresses too.
fn addresses<'h>(p: &'h Proc, socket: &Socket, list: Term<'h>) -> ArgResult<'h, Vec<Vec<u8>>> {
    let one = |t: Term<'h>| {
        let family = field(t, "family")?;
        let fits = match socket.domain {
            libc::AF_INET => is(family, "inet"),
            libc::AF_INET6 => is(family, "inet") || is(family, "inet6"),
            _ => false,
        };
        Some(address::decode(t).filter(|_| fits)?.bytes().to_vec())
    };
    let all = list.list_to_vec().filter(|all| !all.is_empty());
    let all = all.and_then(|all| all.into_iter().map(one).collect::<Option<Vec<_>>>());
    all.ok_or_else(|| Rejection::Answer(invalid(&p.heap, atom("sockaddr"))))
}

/// Connects to one of several addresses: `{ok, Association}`, or `select`.
pub fn connect<'h>(p: &'h Proc, socket: &Socket, a: &[Term<'h>]) -> BifResult<'h> {
    let to = match addresses(p, socket, a[2]) {
        Ok(all) => all.concat(),
        Err(rejected) => return settle(Err(rejected)),
    };
    let answer = |h: &'h Heap, id: i32| ok(h, h.integer(id.into()));
    let call = |fd| sys::set_option_result(fd, LEVEL, number::CONNECT, &to);
    let other = |p: &'h Proc| Err(raise_invalid(p, atom("state")));
    begin(p, socket, a[1], call, answer, other)
}

pub fn bind_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(bind(p, a))
}
fn bind<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if !a[1].is_nil() && a[1].as_cons().is_none() {
        return Err(p.badarg().into());
    }
    let all = addresses(p, socket, a[1])?;
    let action = match a[2].as_atom().map(|a| a.name()) {
        Some("add") => number::BIND_ADD,
        Some("remove") => number::BIND_REMOVE,
        _ => return Ok(invalid(&p.heap, atom("action"))),
    };
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    for address in all {
        if let Err(e) = typed::set_option(fd, LEVEL, action, &address) {
            return Ok(posix(&p.heap, e));
        }
    }
    s.read_state |= state::BOUND;
    Ok(am::ok.into())
}

/// The number of an association.
fn association<'h>(p: &'h Proc, t: Term<'h>) -> ArgResult<'h, i32> {
    match unsigned(t) {
        Some(n) => Ok(n as i32),
        None => int(p, t),
    }
}

pub fn peel_off_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(peel_off(p, a))
}
/// Makes a socket of one association.
fn peel_off<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if socket.protocol != libc::IPPROTO_SCTP {
        return Err(p.badarg().into());
    }
    let id = association(p, a[1])?;
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    let peeled = [id.to_ne_bytes(), [0; 4]].concat();
    let peeled = typed::option_with(fd, LEVEL, number::PEEL_OFF, peeled)
        .and_then(|b| number32(&b, 4).ok_or(Errno::INVAL))
        .and_then(|n| fd::adopt(n as RawFd))
        .and_then(|peeled| fd::set_nonblocking(peeled.as_raw_fd(), true).map(|_| peeled));
    let fd = match peeled {
        Ok(fd) => fd,
        Err(e) => return Ok(posix(&p.heap, e)),
    };
    let Socket { domain, protocol, .. } = *socket;
    let (kind, settings) = (libc::SOCK_STREAM, s.settings.clone());
    drop(s);
    let parts = Parts { fd, domain, kind, protocol, original: None, borrowed: false, settings };
    let new = Socket::new(parts, p.pid());
    let mut s = new.lock();
    s.read_state |= state::CONNECTED;
    s.write_state |= state::CONNECTED;
    drop(s);
    Ok(ok(&p.heap, new.term(&p.heap)))
}

pub fn local_names_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(names(p, a, number::LOCAL_ADDRESSES))
}
pub fn peer_names_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(names(p, a, number::PEER_ADDRESSES))
}
/// The addresses of an association. Unlike other calls it takes a closed socket.
fn names<'h>(p: &'h Proc, a: &[Term<'h>], option: i32) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let id = association(p, a[1])?;
    let s = socket.lock();
    let h = &p.heap;
    let found = s.fd().ok_or(Errno::BADF).and_then(|fd| read_addresses(fd, option, id));
    Ok(match found {
        Ok(all) => ok(h, h.list(&all.iter().map(|b| address::encode(h, b)).collect::<Vec<_>>())),
        Err(Errno(libc::ENOPROTOOPT)) => posix(h, Errno::NOTSUP),
        Err(e) => posix(h, e),
    })
}
/// `sctp_getaddrs`: the association, how many addresses there are, and these.
fn read_addresses(fd: RawFd, option: i32, id: i32) -> kvik_env::Result<Vec<Vec<u8>>> {
    const HEAD: usize = 8;
    let mut room = 1024;
    let b = loop {
        let mut b = id.to_ne_bytes().to_vec();
        b.resize(HEAD + room, 0);
        match typed::option_with(fd, LEVEL, option, b) {
            Err(Errno::NOMEM) if room < 1 << 20 => room *= 2,
            done => break done?,
        }
    };
    let mut rest = b.get(HEAD..).unwrap_or_default();
    let mut all = Vec::new();
    for _ in 0..number32(&b, 4).unwrap_or(0) {
        let size = match address::number16(rest, 0).map(i32::from) {
            Some(libc::AF_INET) => size_of::<libc::sockaddr_in>(),
            Some(libc::AF_INET6) => size_of::<libc::sockaddr_in6>(),
            _ => break,
        };
        let Some((one, behind)) = rest.split_at_checked(size) else { break };
        all.push(one.to_vec());
        rest = behind;
    }
    Ok(all)
}
