//! `prim_net`: names of hosts, addresses and interfaces.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use kvik_bifs::blocking_pool::hand_off;
use kvik_env::socket::host_name;
use kvik_env::socket::raw::{self as sys, HostAddress, InterfaceAddress};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{
    atom, error, field, flag_list, is, latin1, ok, posix, raise_invalid, record, unsigned,
};
use crate::natives::natives;
use crate::option_value::kind;

kvik_state::vm_state! {
    /// Asks the natives themselves for debug output: it can be set and read, but there is none.
    static DEBUG: AtomicBool = AtomicBool::new(false);
}

pub fn info_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let mut fields = vec![("debug", Term::bool(DEBUG.load(Relaxed)))];
    if natives() >= SocketNatives::V3 {
        // As OTP says on Linux, where network namespaces work all the same.
        fields.push(("netns", am::false_.into()));
    }
    Ok(record(&p.heap, &fields))
}
/// `#{command := debug, data := boolean()}`; in V1 `{debug, boolean()}`.
pub fn command_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if natives() == SocketNatives::V1 {
        let debug = a[0].as_tuple_n::<2>().filter(|[what, _]| is(*what, "debug"));
        return Ok(match debug.and_then(|[_, on]| on.as_bool()) {
            Some(on) => set_debug(on),
            None => error(&p.heap, atom("einval")),
        });
    }
    let command = field(a[0], "command").ok_or_else(|| p.badarg())?;
    let data = field(a[0], "data").ok_or_else(|| p.badarg())?;
    let wrong = |what, value| raise_invalid(p, p.heap.tuple(&[atom(what), value]));
    match is(command, "debug") {
        true => data.as_bool().map(set_debug).ok_or_else(|| wrong("data", data)),
        false => Err(wrong("command", command)),
    }
}
fn set_debug(on: bool) -> Term<'static> {
    DEBUG.store(on, Relaxed);
    am::ok.into()
}

/// The most characters of a service's or protocol's name.
const MAX_NAME: usize = 255;
fn short_text(t: Term<'_>) -> Option<CString> {
    let text = latin1(t).filter(|b| b.len() <= MAX_NAME)?;
    // A C string ends at its first NUL.
    CString::new(text.split(|c| *c == 0).next().unwrap_or_default()).ok()
}
/// A protocol's name, none for `any`.
fn protocol_name(t: Term<'_>) -> Option<Option<CString>> {
    short_text(t).map(|name| Some(name).filter(|name| name.as_c_str() != c"any"))
}
pub fn service_by_name_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some((name, protocol)) = short_text(a[0]).zip(protocol_name(a[1])) else {
        return Ok(error(&p.heap, atom("einval")));
    };
    fn answer(h: &Heap, port: Option<u16>) -> Term<'_> {
        match port {
            // As in OTP, a C `short`: ports from 32768 on come as negative numbers.
            Some(port) => ok(h, h.integer((u16::from_be(port) as i16).into())),
            None => error(h, atom("einval")),
        }
    }
    Err(hand_off(p, move || sys::service_port(&name, protocol.as_deref()), answer))
}
pub fn service_by_port_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some((port, protocol)) = unsigned(a[0]).zip(protocol_name(a[1])) else {
        return Ok(error(&p.heap, atom("einval")));
    };
    fn answer(h: &Heap, name: Option<Vec<u8>>) -> Term<'_> {
        match name {
            Some(name) => ok(h, h.byte_list(&name)),
            None => error(h, atom("einval")),
        }
    }
    let port = (port as u16).to_be();
    Err(hand_off(p, move || sys::service_name(port, protocol.as_deref()), answer))
}

pub fn host_name_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(match host_name() {
        Ok(name) => ok(&p.heap, p.heap.byte_list(&name)),
        Err(e) => posix(&p.heap, e),
    })
}

/// `EAI_…`
const LOOKUP_ERRORS: &[(i32, &str)] = &[
    (-9, "eaddrfamily"),
    (libc::EAI_AGAIN, "eagain"),
    (libc::EAI_BADFLAGS, "ebadflags"),
    (libc::EAI_FAIL, "efail"),
    (libc::EAI_FAMILY, "efamily"),
    (libc::EAI_MEMORY, "emem"),
    (libc::EAI_NODATA, "enodata"),
    (libc::EAI_NONAME, "enoname"),
    (libc::EAI_OVERFLOW, "eoverflow"),
    (libc::EAI_SERVICE, "eservice"),
    (libc::EAI_SOCKTYPE, "esocktype"),
    (libc::EAI_SYSTEM, "esystem"),
];
fn lookup_error(h: &Heap, e: i32) -> Term<'_> {
    let known = LOOKUP_ERRORS.iter().find(|(n, _)| *n == e);
    error(h, atom(known.map_or("einval", |(_, name)| name)))
}

/// `NI_…`
const NAME_FLAGS: &[(&str, i32)] = &[
    ("namereqd", libc::NI_NAMEREQD),
    ("dgram", libc::NI_DGRAM),
    ("nofqdn", libc::NI_NOFQDN),
    ("numerichost", libc::NI_NUMERICHOST),
    ("numericserv", libc::NI_NUMERICSERV),
    ("idn", 32),
];
fn name_flags(t: Term<'_>) -> Option<i32> {
    if is(t, "undefined") {
        return Some(0);
    }
    let bit = |t: Term| NAME_FLAGS.iter().find(|(name, _)| is(t, name)).map(|(_, bit)| *bit);
    t.list_to_vec()?.into_iter().try_fold(0, |all, t| Some(all | bit(t)?))
}

pub fn name_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(of) = address::decode(a[0]) else {
        return Ok(error(&p.heap, atom("einval")));
    };
    let flags = name_flags(a[1]).ok_or_else(|| p.badarg())?;
    type Names = Result<(Vec<u8>, Vec<u8>), i32>;
    fn answer(h: &Heap, r: Names) -> Term<'_> {
        match r {
            Ok((host, service)) => {
                let (host, service) = (h.byte_list(&host), h.byte_list(&service));
                ok(h, record(h, &[("host", host), ("service", service)]))
            }
            Err(e) => lookup_error(h, e),
        }
    }
    Err(hand_off(p, move || sys::find_names(&of, flags), answer))
}

pub fn address_info_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let text = |t: Term<'h>| match is(t, "undefined") {
        true => Ok(None),
        false => latin1(t).and_then(|b| CString::new(b).ok()).map(Some).ok_or_else(|| p.badarg()),
    };
    let (host, service) = (text(a[0])?, text(a[1])?);
    if host.is_none() && service.is_none() {
        return Err(p.badarg());
    }
    fn answer(h: &Heap, r: Result<Vec<HostAddress>, i32>) -> Term<'_> {
        let first = natives() == SocketNatives::V1;
        let one = |f: &HostAddress| {
            let name = if first { "type" } else { "socktype" };
            let kind = if f.kind == 0 && !first { atom("any") } else { kind(h, f.kind) };
            record(
                h,
                &[
                    ("family", address::domain(h, f.family)),
                    (name, kind),
                    ("protocol", h.integer(f.protocol.into())),
                    ("addr", address::encode(h, f.address.bytes())),
                ],
            )
        };
        match r {
            Ok(all) => ok(h, h.list(&all.iter().map(one).collect::<Vec<_>>())),
            Err(e) => lookup_error(h, e),
        }
    }
    let find = move || sys::find_addresses(host.as_deref(), service.as_deref());
    Err(hand_off(p, find, answer))
}

/// Flags that are returned with an interface's address.
const FLAGS: &[(&str, i32)] = &[
    ("up", libc::IFF_UP),
    ("broadcast", libc::IFF_BROADCAST),
    ("debug", libc::IFF_DEBUG),
    ("loopback", libc::IFF_LOOPBACK),
    ("pointopoint", libc::IFF_POINTOPOINT),
    ("notrailers", libc::IFF_NOTRAILERS),
    ("running", libc::IFF_RUNNING),
    ("noarp", libc::IFF_NOARP),
    ("promisc", libc::IFF_PROMISC),
    ("master", libc::IFF_MASTER),
    ("slave", libc::IFF_SLAVE),
    ("multicast", libc::IFF_MULTICAST),
    ("portsel", libc::IFF_PORTSEL),
    ("automedia", libc::IFF_AUTOMEDIA),
    ("dynamic", libc::IFF_DYNAMIC),
];

/// `#{netns := Path}`: the interfaces of a network namespace.
pub fn interface_addresses_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_map().is_none() {
        return Err(p.badarg());
    }
    let namespace = match field(a[0], "netns") {
        Some(path) => Some(latin1(path).ok_or_else(|| p.badarg())?),
        None => None,
    };
    let all = match namespace {
        Some(path) => sys::in_namespace(&path, sys::interface_addresses),
        None => sys::interface_addresses(),
    };
    let h = &p.heap;
    Ok(match all {
        Ok(all) => {
            let all: Vec<Term> = all.iter().map(|i| interface(h, i)).collect();
            ok(h, h.list(&all))
        }
        Err(e) => posix(h, e),
    })
}
fn interface<'h>(h: &'h Heap, i: &InterfaceAddress) -> Term<'h> {
    let named = FLAGS.iter().fold(0, |all, (_, bit)| all | bit);
    let flags = i.flags as i32;
    let mut fields =
        vec![("name", h.byte_list(&i.name)), ("flags", flag_list(h, FLAGS, flags & named))];
    let mut add = |key, a: &Option<sys::RawAddr>| {
        if let Some(a) = a {
            fields.push((key, address::encode(h, a.bytes())));
        }
    };
    add("addr", &i.address);
    add("netmask", &i.mask);
    if flags & libc::IFF_POINTOPOINT != 0 {
        add("dstaddr", &i.other);
    } else if flags & libc::IFF_BROADCAST != 0 {
        add("broadaddr", &i.other);
    }
    record(h, &fields)
}

pub fn name_to_index_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = latin1(a[0]).filter(|name| name.len() <= sys::INTERFACE_NAME_SIZE);
    let Some(mut name) = name else { return Ok(error(&p.heap, am::einval)) };
    name.push(0);
    // It ends at the first zero.
    let name = CStr::from_bytes_until_nul(&name).map_err(|_| p.badarg())?;
    Ok(match sys::interface_index(name) {
        Ok(n) => ok(&p.heap, p.heap.unsigned(n.into())),
        Err(e) => posix(&p.heap, e),
    })
}
pub fn index_to_name_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_i64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| p.badarg())?;
    Ok(match sys::interface_name(n) {
        Some(name) => ok(&p.heap, p.heap.byte_list(&name)),
        None => error(&p.heap, atom("enxio")),
    })
}
pub fn names_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let h = &p.heap;
    let one = |(n, name): &(u32, Vec<u8>)| h.tuple(&[h.unsigned((*n).into()), h.byte_list(name)]);
    Ok(match sys::interface_names() {
        Ok(all) => ok(h, h.list(&all.iter().map(one).collect::<Vec<_>>())),
        Err(e) => posix(h, e),
    })
}
/// Functions that exist only on other systems.
pub fn not_here_1<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.notsup())
}
