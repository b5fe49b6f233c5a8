//! `nif_info`, `nif_command`, and the settings that `prim_socket` passes when it loads its natives.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address::domain;
use crate::answer::{atom, field, raise_invalid, record};
use crate::count;
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
    let fields = [
        ("debug", on(&DEBUG)),
        ("socket_debug", on(&SOCKET_DEBUG)),
        ("use_registry", on(&USE_REGISTER)),
        ("iow", am::false_.into()),
        ("counters", count::all(&p.heap)),
        ("iov_max", p.heap.integer(PIECES as i64)),
    ];
    Ok(record(&p.heap, &fields))
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
        _ => return Err(wrong("command", command)),
    };
    setting.store(data.as_bool().ok_or_else(|| wrong("data", data))?, Relaxed);
    Ok(am::ok.into())
}
