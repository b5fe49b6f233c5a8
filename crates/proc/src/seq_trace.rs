//! Sequential tracing: a token that travels with messages, so that the effects of one event can be
//! followed through many processes. Sending, receiving or printing with a token is reported to the
//! system tracer, as the token's flags say.
//!
//! A process that carries a token, or has messages with token information in its mailbox, has
//! `flag::SEQ`; while there is any such process, [`on`] makes every message carry the token its
//! receiver is to have. Messages that no process sent (from ports, timers, monitors) leave the
//! receiver's token as it is.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Atom, Term};

use crate::process::{flag, is_alive, table};
use crate::seq_trace_types::Parting;
pub use crate::seq_trace_types::SeqTraceCounters;
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
use crate::trace::{module, Event, Tracee, Tracer, TracerAnswer, TracerModule};
use crate::tracing_on::{self, User};
use crate::{trace, Proc};

/// A token's flags: what it reports.
pub mod bit {
    pub const SEND: i64 = 1;
    pub const RECEIVE: i64 = 2;
    pub const PRINT: i64 = 4;
    pub const TIMESTAMP: i64 = 8;
    pub const STRICT: i64 = 16;
    pub const MONOTONIC: i64 = 32;
}

/// Flags, label, serial, sender, previous serial.
pub type Token<'h> = [Term<'h>; 5];

/// Bits of OTP's tag of small integers; the value is above them.
const TAG_BITS: u32 = 4;
/// A small integer as OTP's words hold it.
fn tagged(n: u64) -> u64 {
    n << TAG_BITS | 15
}
/// A serial: the bits of the number that fit beside a tag.
fn small<'h>(h: &'h Heap, n: u64) -> Term<'h> {
    h.integer((n << TAG_BITS) as i64 >> TAG_BITS)
}
/// The number of a serial, as an unsigned one.
pub fn serial_of(t: Term<'_>) -> u64 {
    t.as_small().map_or(0, |n| ((n as u64) << TAG_BITS) >> TAG_BITS)
}

kvik_state::vm_state! {
    /// Processes with `flag::SEQ`.
    static CARRIERS: AtomicUsize = AtomicUsize::new(0);
}

/// Whether there is a token anywhere.
#[inline]
pub fn on() -> bool {
    CARRIERS.load(Relaxed) != 0
}

kvik_state::vm_state! {
    /// The pid or port of the system tracer as a word; 0 for none.
    static TRACER: AtomicU64 = AtomicU64::new(0);
    /// The system tracer if it is a module.
    static TRACER_MODULE: Mutex<Option<Arc<TracerModule>>> = Mutex::new(None);
}
fn tracer_module() -> MutexGuard<'static, Option<Arc<TracerModule>>> {
    TRACER_MODULE.lock().unwrap_or_else(|e| e.into_inner())
}

/// In `TRACER`: it is a port.
const PORT: u64 = 1 << 32;
/// In `TRACER`: there is one.
const SET: u64 = 1 << 33;
/// In `TRACER`: it is a module.
const MODULE: u64 = 1 << 34;

/// The system tracer. One that has ended is forgotten.
pub fn tracer() -> Option<Tracer> {
    let set = TRACER.load(Relaxed);
    let n = set as u32;
    let tracer = match set {
        s if s & MODULE != 0 => Tracer::Module(tracer_module().clone()?),
        s if s & PORT != 0 => Tracer::To(Tracee::Port(n)),
        _ => Tracer::To(Tracee::Process(n)),
    };
    if set == 0 || tracer.is_enabled(am::undefined.into()) {
        return Some(tracer).filter(|_| set != 0);
    }
    let _ = TRACER.compare_exchange(set, 0, Relaxed, Relaxed);
    None
}
/// Sets the system tracer; returns the old one.
pub fn set_tracer(to: Option<Tracer>) -> Option<Tracer> {
    let before = tracer();
    let set = match &to {
        None => 0,
        Some(Tracer::To(Tracee::Process(n))) => SET | *n as u64,
        Some(Tracer::To(Tracee::Port(n))) => SET | PORT | *n as u64,
        Some(Tracer::Module(_)) => SET | MODULE,
    };
    let module = match to {
        Some(Tracer::Module(m)) => Some(m),
        _ => None,
    };
    let old = std::mem::replace(&mut *tracer_module(), module);
    drop(old);
    TRACER.store(set, Relaxed);
    before
}

/// Whether it is the system tracer: no events about itself are reported to it, and its tokens are
/// sent unchanged.
fn is_tracer(pid: u32) -> bool {
    TRACER.load(Relaxed) == SET | u64::from(pid)
}

/// A token as sent with the next message of a process.
fn stamped<'h>(h: &'h Heap, t: &Token<'_>, sender: Term<'static>, c: SeqTraceCounters) -> Term<'h> {
    let n = |n: u64| small(h, n);
    h.tuple(&[h.copy(t[0]), h.copy(t[1]), n(c.clock), sender, n(c.last)])
}

/// Reports an event to the system tracer, if the token (a tuple) has that flag.
fn tell(token: Term<'_>, asked: i64, receiver: Term<'_>, m: Term<'_>) {
    let Some([flags, label, serial, sender, last]) = token.as_tuple_n::<5>() else { return };
    let flags = flags.as_small().filter(|f| f & asked != 0);
    let (Some(flags), Some(to)) = (flags, tracer()) else { return };
    let kind = match asked {
        bit::SEND => am::send,
        bit::RECEIVE => am::receive,
        _ => am::print,
    };
    const STAMPS: [(i64, u32); 3] = [
        (bit::TIMESTAMP, trace::bit::TIMESTAMP),
        (bit::STRICT, trace::bit::STRICT),
        (bit::MONOTONIC, trace::bit::MONOTONIC),
    ];
    let stamp = STAMPS.iter().filter(|s| flags & s.0 != 0).fold(0, |bits, s| bits | s.1);
    let what = Happening { kind, serials: [last, serial], sender, receiver, m };
    let to = match to {
        Tracer::To(to) => to,
        Tracer::Module(t) => return what.tell_module(&t, label, stamp),
    };
    to.hear(message(|h| {
        let mut parts = vec![am::seq_trace.into(), h.copy(label), what.term(h)];
        parts.extend(trace::stamp(h, stamp));
        h.tuple(&parts)
    }));
}
/// What is reported with a label.
struct Happening<'t> {
    kind: Atom,
    serials: [Term<'t>; 2],
    sender: Term<'t>,
    receiver: Term<'t>,
    m: Term<'t>,
}
impl Happening<'_> {
    /// `{Kind, {Last, Serial}, Sender, Receiver, Message}`
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        let [last, serial] = self.serials.map(|t| h.copy(t));
        let [sender, receiver, m] = [self.sender, self.receiver, self.m].map(|t| h.copy(t));
        h.tuple(&[self.kind.into(), h.tuple(&[last, serial]), sender, receiver, m])
    }
    fn tell_module(&self, t: &TracerModule, label: Term<'_>, stamp: u32) {
        let process = if self.kind == am::receive { self.receiver } else { self.sender };
        let process = process.as_local_pid().map_or(am::undefined.into(), Term::local_pid);
        if module::enabled(t, process, "seq_trace") == TracerAnswer::Trace {
            module::tell(t, label, stamp, "seq_trace", |h| Event::of(self.term(h)));
        }
    }
}

/// A token with the previous serial, and that serial.
fn before<'h>(h: &'h Heap, token: Term<'_>) -> Option<(Term<'h>, u64)> {
    let [flags, label, serial, sender, last] = token.as_tuple_n::<5>()?;
    let n = serial_of(serial).wrapping_sub(1);
    let copies = [flags, label, sender, last].map(|t| h.copy(t));
    let [flags, label, sender, last] = copies;
    Some((h.tuple(&[flags, label, small(h, n), sender, last]), n))
}
/// Another node's spawn request with that token failed: reports it, and returns the token for the
/// answer, in the name of the node.
pub fn refused(
    token: &OwnedTerm,
    request: Term<'_>,
    parent: Term<'_>,
    answer: Term<'_>,
) -> OwnedTerm {
    let node = crate::node::name().into();
    let h = Heap::detached();
    let Some((first, n)) = before(&h, token.term()) else { return OwnedTerm::default() };
    tell(first, bit::RECEIVE, node, request);
    let [flags, label, ..] = token.term().as_tuple_n::<5>().unwrap_or([Term::NIL; 5]);
    let t = [flags, label, Term::NIL, Term::NIL, Term::NIL];
    let c = SeqTraceCounters { clock: n.wrapping_add(1), last: n };
    let reply = OwnedTerm::new(stamped(&h, &t, node, c));
    tell(reply.term(), bit::SEND, parent, answer);
    reply
}

/// A spawn as reported if its caller has a token.
pub struct SpawnTrace {
    /// The options, and the first element of the answer.
    pub options: OwnedTerm,
    pub tag: OwnedTerm,
    /// The answer is a message.
    pub answered: bool,
}

impl Parting {
    pub(crate) fn of(p: &Proc) -> Option<Parting> {
        let token = p.heap.root(Root::SeqToken);
        token.as_tuple_n::<5>()?;
        let (token, sender) = (OwnedTerm::new(token), p.self_pid());
        Some(Parting { token, sender, counters: p.seq_counters() })
    }
    /// The token for an exit signal that is sent now.
    pub(crate) fn next(&mut self, to: Term<'_>, reason: Term<'_>) -> Option<Box<OwnedTerm>> {
        let t = self.token.term().as_tuple_n::<5>()?;
        if self.sender.as_local_pid().is_some_and(is_tracer) {
            return Some(Box::new(self.token.clone()));
        }
        self.counters.clock = self.counters.clock.wrapping_add(1);
        let (sender, c) = (self.sender, self.counters);
        let token = message(|h| stamped(h, &t, sender, c));
        tell_exit(&token, sender, to, reason);
        Some(Box::new(token))
    }
}
fn tell_exit(token: &OwnedTerm, from: Term<'static>, to: Term<'_>, reason: Term<'_>) {
    if to.as_local_pid().is_some_and(is_alive) {
        let m = message(|h| h.tuple(&[am::UP_EXIT.into(), from, h.copy(reason)]));
        tell(token.term(), bit::SEND, to, m.term());
    }
}

impl Proc {
    /// The token it carries.
    #[inline]
    pub fn seq_token(&self) -> Option<Token<'_>> {
        self.heap.root(Root::SeqToken).as_tuple_n()
    }
    pub fn set_seq_token<'h>(&'h self, t: Option<Token<'h>>) {
        self.heap.set_root(Root::SeqToken, t.map_or(Term::NIL, |t| self.heap.tuple(&t)));
        match t {
            Some(_) => self.carry(),
            None => self.carry_no_more(),
        }
    }
    pub fn seq_counters(&self) -> SeqTraceCounters {
        self.rare(|x| x.seq).unwrap_or_default()
    }
    pub fn set_seq_counters(&self, c: SeqTraceCounters) {
        if c != self.seq_counters() {
            self.with_rare(|x| x.seq = c);
        }
    }
    /// Makes it a carrier: from now on it handles token information.
    pub(crate) fn carry(&self) {
        if self.set_flag(flag::SEQ, true) {
            return;
        }
        self.messages().shelve();
        self.messages().no_tokens();
        if CARRIERS.fetch_add(1, Relaxed) == 0 {
            tracing_on::update(User::SeqTrace, on);
        }
    }
    /// Ends that, unless a message in its mailbox has token information.
    fn carry_no_more(&self) {
        if !self.messages().has_tokens() {
            self.forget_seq();
        }
    }
    /// The process is no carrier any more.
    pub(crate) fn forget_seq(&self) {
        if self.set_flag(flag::SEQ, false) && CARRIERS.fetch_sub(1, Relaxed) == 1 {
            tracing_on::update(User::SeqTrace, on);
        }
    }
    /// Clears token, serials and the token information of messages.
    pub fn reset_seq(&self) {
        self.set_seq_counters(SeqTraceCounters::default());
        self.heap.set_root(Root::SeqToken, Term::NIL);
        if self.messages().has_tokens() {
            self.messages().no_tokens();
        }
        self.carry_no_more();
    }
    /// The token for a message sent now.
    fn seq_next(&self) -> Option<Term<'_>> {
        let t = self.seq_token()?;
        if is_tracer(self.pid()) {
            return Some(self.heap.root(Root::SeqToken));
        }
        let mut c = self.seq_counters();
        c.clock = c.clock.wrapping_add(1);
        self.set_seq_counters(c);
        let t = stamped(&self.heap, &t, self.self_pid(), c);
        self.heap.set_root(Root::SeqToken, t);
        Some(t)
    }
    fn seq_tell(&self, token: Term<'_>, asked: i64, receiver: Term<'_>, m: Term<'_>) {
        if !self.flag(flag::SENSITIVE) && !is_tracer(self.pid()) {
            tell(token, asked, receiver, m)
        }
    }
    /// Reports a message being sent; returns the token to send with it, or an empty list.
    pub fn seq_send(&self, to: Term<'_>, m: Term<'_>) -> OwnedTerm {
        let Some(t) = self.seq_next() else { return OwnedTerm::default() };
        self.seq_tell(t, bit::SEND, to, m);
        OwnedTerm::new(t)
    }
    /// Reports what the program prints. False: there is no token.
    pub fn seq_print(&self, m: Term<'_>) -> bool {
        let Some(t) = self.seq_next() else { return false };
        self.seq_tell(t, bit::PRINT, Term::NIL, m);
        true
    }
    /// Appends a message to the mailbox, with a token or an empty list.
    pub fn put_tokened_from(&self, from: Term<'static>, m: OwnedTerm, token: OwnedTerm) {
        if self.is_traced(trace::bit::RECEIVE) {
            self.trace_receive(from, m.term());
        }
        self.put_with_token(m, token)
    }
    /// The same for a message that tracing of messages does not report.
    pub fn put_with_token(&self, m: OwnedTerm, token: OwnedTerm) {
        if !token.term().is_nil() && !token.term().is_atom(am::undefined) {
            self.carry();
        }
        match self.flag(flag::SEQ) {
            true => self.messages().push_tokened(m, token),
            false => self.messages().push(m),
        }
    }
    /// The same for a message of the system, whose receiver keeps the token that it has.
    pub fn put_from_system(&self, m: OwnedTerm) {
        self.put_with_token(m, OwnedTerm::immediate(am::undefined.into()))
    }
    /// A message with this token information was taken.
    pub(crate) fn seq_received(&self, token: &OwnedTerm, m: Term<'_>) {
        if token.term().is_atom(am::undefined) {
            return;
        }
        // Uses fragments, as the caller may rely on words reserved in the block.
        self.heap.in_fragments(|| {
            let t = self.heap.copy(token.term());
            self.heap.set_root(Root::SeqToken, t);
            let Some([_, _, serial, _, _]) = t.as_tuple_n::<5>() else {
                return self.carry_no_more();
            };
            let last = serial_of(serial);
            let clock = self.seq_counters().clock.max(last);
            self.set_seq_counters(SeqTraceCounters { clock, last });
            self.seq_tell(t, bit::RECEIVE, self.self_pid(), m);
        })
    }
    /// This process has just spawned another: hands the token on, and reports it as if the two had
    /// sent each other messages.
    pub(crate) fn seq_spawn(
        &self,
        child: &Proc,
        id: [u32; 3],
        r: &SpawnTrace,
        call: (Atom, Atom, u8),
        args: Term<'_>,
    ) {
        let Some(token) = self.seq_next() else { return };
        let request = message(|h| {
            let (m, f, arity) = call;
            let call = h.tuple(&[m.into(), f.into(), Term::int(arity as i32)]);
            let leader = h.copy(self.heap.root(Root::GroupLeader));
            let (options, tag) = (h.copy(r.options.term()), h.copy(r.tag.term()));
            let (what, id) = (am::spawn_request.into(), h.ref_of_numbers(id));
            h.tuple(&[what, id, self.self_pid(), leader, call, options, tag, h.copy(args)])
        });
        self.seq_tell(token, bit::SEND, child.self_pid(), request.term());
        self.seq_tell(token, bit::RECEIVE, child.self_pid(), request.term());
        let clock = token.as_tuple_n::<5>().map_or(0, |t| serial_of(t[2]));
        child.set_seq_counters(SeqTraceCounters { clock, last: clock });
        child.heap.set_root(Root::SeqToken, child.heap.copy(token));
        child.carry();
        if r.answered {
            return;
        }
        let answer = message(|h| {
            let (tag, id) = (h.copy(r.tag.term()), h.ref_of_numbers(id));
            h.tuple(&[tag, id, am::ok.into(), child.self_pid()])
        });
        let Some(token) = child.seq_next() else { return };
        self.seq_tell(token, bit::SEND, self.self_pid(), answer.term());
        self.seq_tell(token, bit::RECEIVE, self.self_pid(), answer.term());
        // As if it were received, except that OTP takes its tagged word for the serial.
        let clock = tagged(child.seq_counters().clock);
        self.set_seq_counters(SeqTraceCounters { clock, last: clock });
    }
    /// A process of another node spawned this one, with a token. The request counts as two
    /// messages: itself, and the arguments, which come as a message with the token as it is.
    pub fn seq_requested(&self, token: &OwnedTerm, request: Term<'_>) {
        let Some(first) = before(&self.heap, token.term()) else { return };
        self.seq_tell(first.0, bit::RECEIVE, self.self_pid(), request);
        self.set_seq_counters(SeqTraceCounters { clock: first.1, last: first.1 });
        self.heap.set_root(Root::SeqToken, self.heap.copy(token.term()));
        self.carry();
    }
    /// The answer of a new process to the requester, as a message with the token.
    pub fn seq_answer(&self, to: &Proc, answer: OwnedTerm) {
        let token = self.seq_send(to.self_pid(), answer.term());
        to.put_with_token(answer, token);
    }
}

/// Clears all tokens: here at once, elsewhere before anything that this process sends from now on.
pub fn reset_all(p: &Proc) {
    p.handle_all_signals();
    p.reset_seq();
    for pid in table().numbers() {
        let there = pid != p.pid() && table().get(pid, &pin()).is_some();
        if there {
            let reset = |p: Option<&Proc>| p.into_iter().for_each(Proc::reset_seq);
            deliver(pid, Signal::Run(Box::new(reset)));
        }
    }
}
