//! `nif_info`, `nif_command`, and the settings that `prim_socket` passes when it loads its natives.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::address::domain;
use crate::answer::{atom, field, raise_invalid, record};
use crate::count;
use crate::natives::natives;
use crate::option_value::kind;
use crate::register::set_register;
use crate::send::PIECES;
use crate::socket::{socket, state, SocketSettings, CONTROL_BUFFER, RECEIVE_BUFFER};

kvik_state::vm_state! {
    /// Defaults of new sockets. `DEBUG` asks the natives themselves for debug output: it can be set
    /// and read, but there is none here.
    static USE_REGISTER: AtomicBool = AtomicBool::new(true);
    static SOCKET_DEBUG: AtomicBool = AtomicBool::new(false);
    static DEBUG: AtomicBool = AtomicBool::new(false);
}

/// The map that `prim_socket` passes to `erlang:load_nif/2`.
pub fn loaded(info: Term<'_>) {
    let release = kvik_release::current();
    release.socket_atoms().map(atom).for_each(drop);
    if release.orders_map_keys_by_atom_index() {
        crate::supports::name_protocols();
    }
    if let Some(pid) = field(info, "registry").and_then(|t| t.as_local_pid()) {
        set_register(pid);
    }
    let settings =
        [("use_registry", &USE_REGISTER), ("socket_debug", &SOCKET_DEBUG), ("debug", &DEBUG)];
    for (name, setting) in settings {
        if let Some(on) = field(info, name).and_then(Term::as_bool) {
            setting.store(on, Relaxed);
        }
    }
}
/// What `prim_net` passes when it loads its library `net`, which nothing here needs.
pub fn net_loaded(_: Term<'_>) {
    kvik_release::current().net_atoms().map(atom).for_each(drop);
}
/// The settings of a new socket, by the options of `socket:open`.
pub fn settings(options: Term<'_>) -> SocketSettings {
    let or = |name, default: &AtomicBool| {
        field(options, name).and_then(Term::as_bool).unwrap_or(default.load(Relaxed))
    };
    SocketSettings {
        receive_buffer: RECEIVE_BUFFER,
        receive_times: 0,
        receive_control: CONTROL_BUFFER,
        send_control: CONTROL_BUFFER,
        counters_wrap: false,
        debug: or("debug", &SOCKET_DEBUG),
        in_register: or("use_registry", &USE_REGISTER),
    }
}

pub fn all_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let on = |b: &AtomicBool| Term::bool(b.load(Relaxed));
    let mut fields = vec![
        ("debug", on(&DEBUG)),
        ("socket_debug", on(&SOCKET_DEBUG)),
        ("use_registry", on(&USE_REGISTER)),
        ("iow", am::false_.into()),
        ("counters", count::all(&p.heap)),
        ("iov_max", p.heap.integer(PIECES as i64)),
    ];
    if natives() > SocketNatives::V1 {
        // Extended error information: OTP says so, and has none on Linux.
        fields.extend([("eei", am::true_.into()), ("io_backend", backend(&p.heap))]);
    }
    Ok(record(&p.heap, &fields))
}

/// The functions of `libsctp` that OTP needs. Here they are socket options.
const SCTP_FUNCTIONS: [&str; 7] =
    ["bindx", "peeloff", "getladdrs", "freeladdrs", "getpaddrs", "freepaddrs", "connectx"];
fn backend(h: &Heap) -> Term<'_> {
    let mut fields = vec![("name", atom("unix_essio"))];
    if natives() >= SocketNatives::V3 {
        fields.push(("sctp", record(h, &SCTP_FUNCTIONS.map(|name| (name, am::true_.into())))));
    }
    record(h, &fields)
}

const STATES: &[(&str, u32)] = &[
    ("bound", state::BOUND),
    ("listening", state::LISTENING),
    ("accepting", state::ACCEPTING),
    ("connecting", state::CONNECTING),
    ("connected", state::CONNECTED),
    ("selected", state::SELECTED),
    ("closing", state::CLOSING),
    ("closed", state::CLOSED),
];
fn states(h: &Heap, s: u32) -> Term<'_> {
    let set = STATES.iter().filter(|(_, bit)| s & bit != 0);
    h.list(&set.map(|(name, _)| atom(name)).collect::<Vec<_>>())
}

pub fn socket_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (socket, h) = (socket(p, a[0])?, &p.heap);
    let s = socket.lock();
    let made = match socket.original {
        None => atom("normal"),
        Some(_) if s.borrowed => atom("fromfd"),
        Some(fd) => h.tuple(&[atom("fromfd"), h.integer(fd.into())]),
    };
    let number = |n: usize| h.integer(n as i64);
    let fields = [
        ("domain", domain(h, socket.domain)),
        ("type", kind(h, socket.kind)),
        ("protocol", h.integer(socket.protocol.into())),
        ("owner", s.owner.map_or(am::undefined.into(), Term::local_pid)),
        ("rstates", states(h, s.read_state)),
        ("wstates", states(h, s.write_state)),
        ("ctype", made),
        ("counters", s.counters.term(h)),
        ("num_readers", number(s.readers.len())),
        ("num_writers", number(s.writers.len())),
        ("num_acceptors", number(s.acceptors.len())),
    ];
    Ok(record(h, &fields))
}

/// `#{command := debug | socket_debug | use_registry, data := boolean()}`
pub fn command_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let command = field(a[0], "command").ok_or_else(|| p.badarg())?;
    let data = field(a[0], "data").ok_or_else(|| p.badarg())?;
    let wrong = |what, value| raise_invalid(p, p.heap.tuple(&[atom(what), value]));
    let setting = match command.as_atom().map(|c| c.name()) {
        Some("debug") => &DEBUG,
        Some("socket_debug") => &SOCKET_DEBUG,
        Some("use_registry") => &USE_REGISTER,
        // In V3 the part for the operating system takes any command.
        _ if natives() >= SocketNatives::V3 => return Ok(am::ok.into()),
        _ => return Err(wrong("command", command)),
    };
    setting.store(data.as_bool().ok_or_else(|| wrong("data", data))?, Relaxed);
    Ok(am::ok.into())
}
