//! `kvik:web/1`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use kvik_bifs::blocking_pool::hand_off;
use kvik_env::Errno;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::ServeError;

pub const BIFS: &[BifEntry] = &[bif!("kvik", "web", 1, web_1)];

/// `web(#{ip => Address, port => Port})` serves the page: `{ok, Address}`, a binary; `{error,
/// {already_started, Address}}`; `{error, Posix}`. `web(stop)` stops it: `ok`, or `{error,
/// not_started}`.
fn web_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what] = *a else { return Err(p.badarg()) };
    if what.as_atom().is_some_and(|a| a.name() == "stop") {
        // Handed off, as the server thread may have to finish something first.
        return Err(hand_off(p, crate::stop, |h, was| match was {
            true => am::ok.into(),
            false => h.tuple(&[am::error.into(), atom("not_started")]),
        }));
    }
    let at = address(what).ok_or_else(|| p.badarg())?;
    Ok(match crate::start(at) {
        Ok(address) => p.heap.tuple(&[am::ok.into(), p.heap.binary(address.as_bytes())]),
        Err(why) => {
            let why = match why {
                ServeError::Already(at) => {
                    p.heap.tuple(&[atom("already_started"), p.heap.binary(at.as_bytes())])
                }
                ServeError::System(e) => {
                    atom(e.raw_os_error().map_or("einval", |n| Errno(n).name()))
                }
            };
            p.heap.tuple(&[am::error.into(), why])
        }
    })
}
fn atom(name: &str) -> Term<'static> {
    Atom::intern(name).unwrap_or(am::undefined).into()
}

/// The address in a map with the optional keys `ip` and `port`, and no others.
fn address(t: Term<'_>) -> Option<SocketAddr> {
    let map = t.as_map()?;
    let mut at = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    for (k, v) in kvik_term::map::iter(map) {
        match k.as_atom()?.name() {
            "ip" => at.set_ip(ip(v)?),
            "port" => at.set_port(number(v)?),
            _ => return None,
        }
    }
    Some(at)
}
fn number(t: Term<'_>) -> Option<u16> {
    u16::try_from(t.as_small()?).ok()
}
/// An address in `inet`'s forms: `{A, B, C, D}`, an 8-tuple, `loopback`, `any`.
fn ip(t: Term<'_>) -> Option<IpAddr> {
    match t.as_atom() {
        Some(a) if a.name() == "loopback" => return Some(Ipv4Addr::LOCALHOST.into()),
        Some(a) if a.name() == "any" => return Some(Ipv4Addr::UNSPECIFIED.into()),
        _ => {}
    }
    if let Some(four) = t.as_tuple_n::<4>() {
        let mut bytes = [0; 4];
        for (to, t) in bytes.iter_mut().zip(four) {
            *to = u8::try_from(t.as_small()?).ok()?;
        }
        return Some(Ipv4Addr::from(bytes).into());
    }
    let mut words = [0; 8];
    for (to, t) in words.iter_mut().zip(t.as_tuple_n::<8>()?) {
        *to = number(t)?;
    }
    Some(Ipv6Addr::from(words).into())
}
