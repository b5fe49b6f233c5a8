//! `nif_info`, `nif_command`, and what `prim_socket` says when it loads its natives.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address::domain;
use crate::answer::{atom, field, raise_invalid, record};
use crate::count;
use crate::option_value::kind;
use crate::send::PIECES;
use crate::sendfile::FileCounters;
use crate::socket::{socket, state, Settings, CONTROL_BUFFER, RECEIVE_BUFFER};

/// The process that keeps the register of sockets, plus one; 0 before there is one.
static REGISTER: AtomicU32 = AtomicU32::new(0);
/// Defaults of new sockets, and whether the natives themselves are to tell what they do, which none
/// does here: it can be set and asked for.
static USE_REGISTER: AtomicBool = AtomicBool::new(true);
static SOCKET_DEBUG: AtomicBool = AtomicBool::new(false);
static DEBUG: AtomicBool = AtomicBool::new(false);

/// The map that `prim_socket` passes to `erlang:load_nif/2`.
pub fn loaded(info: Term<'_>) {
    if let Some(pid) = field(info, "registry").and_then(|t| t.as_local_pid()) {
        REGISTER.store(pid + 1, Relaxed);
    }
    let settings =
        [("use_registry", &USE_REGISTER), ("socket_debug", &SOCKET_DEBUG), ("debug", &DEBUG)];
    for (name, setting) in settings {
        if let Some(on) = field(info, name).and_then(Term::as_bool) {
            setting.store(on, Relaxed);
        }
    }
}
pub fn register() -> Option<u32> {
    REGISTER.load(Relaxed).checked_sub(1)
}

/// What a new socket has, by what `socket:open` was told.
pub fn settings(options: Term<'_>) -> Settings {
    let or = |name, default: &AtomicBool| {
        field(options, name).and_then(Term::as_bool).unwrap_or(default.load(Relaxed))
    };
    Settings {
        receive_buffer: RECEIVE_BUFFER,
        receive_times: 0,
        receive_control: CONTROL_BUFFER,
        send_control: CONTROL_BUFFER,
        counters_wrap: false,
        debug: or("debug", &SOCKET_DEBUG),
        in_register: or("use_registry", &USE_REGISTER),
    }
}

/// What a socket has counted.
#[derive(Default)]
pub struct Counters {
    read_bytes: u64,
    pub read_fails: u64,
    read_packets: u64,
    read_packet_max: u64,
    pub read_tries: u64,
    write_bytes: u64,
    pub write_fails: u64,
    write_packets: u64,
    write_packet_max: u64,
    pub write_tries: u64,
    pub write_waits: u64,
    pub accept_success: u64,
    pub accept_fails: u64,
    pub accept_tries: u64,
    pub accept_waits: u64,
    /// Bytes of the packet that is under way.
    read_so_far: u64,
    written_so_far: u64,
    file: Option<Box<FileCounters>>,
}
impl Counters {
    pub fn wrote_all(&mut self, n: usize) {
        self.write_packets += 1;
        self.write_bytes += n as u64;
        let packet = std::mem::take(&mut self.written_so_far) + n as u64;
        self.write_packet_max = self.write_packet_max.max(packet);
    }
    pub fn wrote_part(&mut self, n: usize) {
        self.written_so_far += n as u64;
    }
    pub fn read_part(&mut self, n: usize) {
        self.read_bytes += n as u64;
        self.read_so_far += n as u64;
    }
    pub fn read_part_of_call(&mut self, n: usize) {
        self.read_bytes += n as u64;
    }
    pub fn read_packet(&mut self) {
        self.read_packets += 1;
        let packet = std::mem::take(&mut self.read_so_far);
        self.read_packet_max = self.read_packet_max.max(packet);
    }
    /// A message, of which the largest is not told.
    pub fn read_whole(&mut self, n: usize) {
        self.read_packets += 1;
        self.read_bytes += n as u64;
    }
    pub fn file(&mut self) -> &mut FileCounters {
        self.file.get_or_insert_default()
    }
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        let mut all = vec![
            ("read_byte", self.read_bytes),
            ("read_fails", self.read_fails),
            ("read_pkg", self.read_packets),
            ("read_pkg_max", self.read_packet_max),
            ("read_tries", self.read_tries),
            // Nothing is counted as such, as in OTP.
            ("read_waits", 0),
            ("write_byte", self.write_bytes),
            ("write_fails", self.write_fails),
            ("write_pkg", self.write_packets),
            ("write_pkg_max", self.write_packet_max),
            ("write_tries", self.write_tries),
            ("write_waits", self.write_waits),
            ("acc_success", self.accept_success),
            ("acc_fails", self.accept_fails),
            ("acc_tries", self.accept_tries),
            ("acc_waits", self.accept_waits),
        ];
        if let Some(f) = &self.file {
            all.extend([
                ("sendfile", f.calls),
                ("sendfile_byte", f.bytes),
                ("sendfile_fails", f.fails),
                ("sendfile_max", f.max),
                ("sendfile_pkg", f.packets),
                ("sendfile_pkg_max", f.packet_max),
                ("sendfile_tries", f.tries),
                ("sendfile_waits", f.waits),
            ]);
        }
        let fields: Vec<_> = all.into_iter().map(|(name, n)| (name, h.unsigned(n))).collect();
        record(h, &fields)
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
