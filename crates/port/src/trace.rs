//! Trace messages of ports. Without a tracer nothing is looked up and nothing built.

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::sysprof;
use kvik_proc::trace::{self, bit, Event, TraceRef, Tracee};
use kvik_term::{am, Atom, Term};

/// Whether a port is traced with one of these flags.
fn is_traced(port: u32, flags: u32) -> bool {
    trace::on() && trace::port_flags(port) & flags != 0
}

/// An event of a port's life.
pub fn life(port: u32, tag: &str, what: Term<'_>) {
    if is_traced(port, bit::PORTS) {
        let what = OwnedTerm::new(what);
        trace::tell(Tracee::Port(port), bit::PORTS, tag, |h| Event::of(h.copy(what.term())));
    }
}
/// The port is open, and linked to its opener. New ports may be traced.
pub fn opened(port: u32, owner: u32, name: &[u8]) {
    if !trace::on() {
        return;
    }
    trace::begin(Tracee::Port(port));
    if is_traced(port, bit::PORTS) {
        let name: String = name.iter().map(|b| *b as char).collect();
        let name = Atom::intern(&name).unwrap_or(am::undefined);
        trace::tell(Tracee::Port(port), bit::PORTS, "open", |_| {
            Event::of(Term::local_pid(owner)).and(name.into())
        });
        life(port, "getting_linked", Term::local_pid(owner));
    }
}
/// The port is closed, and loses its name.
pub fn closed(port: u32, reason: Term<'_>, name: Option<Atom>) {
    if trace::on() {
        life(port, "closed", reason);
        if let Some(name) = name {
            life(port, "unregister", name.into());
        }
    }
}
/// The port is gone: what it sends from now on is not traced.
pub fn forget(port: u32) {
    if trace::on() {
        trace::forget(Tracee::Port(port));
        sysprof::ended(Tracee::Port(port));
    }
}
/// A request from a process: `{From, PortTarget}`.
pub fn received(port: u32, from: u32, what: impl for<'h> Fn(&'h Heap) -> Term<'h>) {
    if is_traced(port, bit::RECEIVE) {
        trace::tell(Tracee::Port(port), bit::RECEIVE, "receive", |h| {
            Event::of(h.tuple(&[Term::local_pid(from), what(h)]))
        });
    }
}
/// A request with data: `{From, {Tag, Data}}`.
pub fn received_data(port: u32, from: u32, data: &[&[u8]]) {
    received(port, from, |h| h.tuple(&[am::command.into(), h.binary(&data.concat())]));
}
/// A `control` or `call` request: `{From, {Tag, {Number, Data}}}`.
pub fn received_request(port: u32, from: u32, tag: Atom, op: u32, data: &[u8]) {
    received(port, from, |h| {
        let request = h.tuple(&[h.integer(op as i64), h.binary(data)]);
        h.tuple(&[tag.into(), request])
    });
}
/// The driver's timer has fired.
pub fn timed_out(port: u32) {
    if is_traced(port, bit::RECEIVE) {
        trace::tell(Tracee::Port(port), bit::RECEIVE, "receive", |_| Event::of(am::timeout.into()));
    }
}
/// The port sends a message.
pub fn sent(port: u32, to: u32, m: &OwnedTerm) {
    if is_traced(port, bit::SEND) {
        let tag = if trace::is_alive(to) { "send" } else { "send_to_non_existing_process" };
        trace::tell(Tracee::Port(port), bit::SEND, tag, |h| {
            Event::of(h.copy(m.term())).and(Term::local_pid(to))
        });
    }
}
/// The settings that report the port's sends.
pub fn of_sends(port: u32) -> Vec<TraceRef> {
    match trace::on() {
        true => trace::refs(Tracee::Port(port), bit::SEND),
        false => Vec::new(),
    }
}
/// The last message of a port, to its owner, sent when the port itself is gone.
pub fn sent_closed(heard: Vec<TraceRef>, port: u32, to: u32) {
    let port = Term::local_port(port);
    for r in heard.iter().filter(|r| r.tracer.takes(port, "send") == trace::TracerAnswer::Trace) {
        trace::post(&r.tracer, port, r.flags, "send", |_| {
            Event::of(am::closed.into()).and(Term::local_pid(to))
        });
    }
}
/// The port answers a call: `{Port, TracerAnswer}`.
pub fn answered(port: u32, to: u32, what: impl for<'h> Fn(&'h Heap) -> Term<'h>) {
    if is_traced(port, bit::SEND) {
        trace::tell(Tracee::Port(port), bit::SEND, "send", |h| {
            Event::of(h.tuple(&[Term::local_port(port), what(h)])).and(Term::local_pid(to))
        });
    }
}
