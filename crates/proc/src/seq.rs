//! Sequential tracing: a token that goes along with messages, so that what came of one event can be
//! followed through many processes. Who sends with a token, receives or prints with one has that
//! told to the system tracer, as the token's flags say.
//!
//! A process that carries a token, or has messages in its mailbox that say something of tokens, has
//! `flag::SEQ`; as long as there is any, [`on`] makes every send say what its receiver's token is
//! to be. Messages that no process sent (of ports, timers, monitors) leave it as it is.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Atom, Term};

use crate::process::{flag, is_alive, table};
pub use crate::seq_types::Counters;
use crate::seq_types::Parting;
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
use crate::trace::Tracer;
use crate::tracing_on::{self, User};
use crate::{trace, Proc};

/// What a token asks for: the flags in it.
pub mod bit {
    pub const SEND: i64 = 1;
    pub const RECEIVE: i64 = 2;
    pub const PRINT: i64 = 4;
    pub const TIMESTAMP: i64 = 8;
    pub const STRICT: i64 = 16;
    pub const MONOTONIC: i64 = 32;
}

/// Flags, label, serial, sender, the serial before.
pub type Token<'h> = [Term<'h>; 5];

/// Bits of OTP's tag of small integers, above which they stand in their words.
const TAG_BITS: u32 = 4;
/// A small integer as OTP's words hold it.
fn tagged(n: u64) -> u64 {
    n << TAG_BITS | 15
}
/// A serial: what of the number finds room beside a tag.
fn small<'h>(h: &'h Heap, n: u64) -> Term<'h> {
    h.integer((n << TAG_BITS) as i64 >> TAG_BITS)
}
/// The number of a serial: it counts as an unsigned one.
pub fn serial_of(t: Term<'_>) -> u64 {
    t.as_small().map_or(0, |n| ((n as u64) << TAG_BITS) >> TAG_BITS)
}

kvik_state::vm_state! {
    /// Processes with `flag::SEQ`.
    static CARRIERS: AtomicUsize = AtomicUsize::new(0);
}

/// Is there a token anywhere?
#[inline]
pub fn on() -> bool {
    CARRIERS.load(Relaxed) != 0
}

kvik_state::vm_state! {
    /// The word of the pid or port that is told; 0 for none.
    static TRACER: AtomicU64 = AtomicU64::new(0);
}

/// In that word: it is a port.
const PORT: u64 = 1 << 32;
/// In that word: there is one.
const SET: u64 = 1 << 33;

/// Who is told. One that has ended is no longer.
pub fn tracer() -> Option<Tracer> {
    let set = TRACER.load(Relaxed);
    let n = set as u32;
    let tracer = if set & PORT != 0 { Tracer::Port(n) } else { Tracer::Process(n) };
    if set == 0 || tracer.is_there() {
        return Some(tracer).filter(|_| set != 0);
    }
    let _ = TRACER.compare_exchange(set, 0, Relaxed, Relaxed);
    None
}
/// Sets who is told; who it was before.
pub fn set_tracer(to: Option<Tracer>) -> Option<Tracer> {
    let before = tracer();
    let set = match to {
        None => 0,
        Some(Tracer::Process(n)) => SET | n as u64,
        Some(Tracer::Port(n)) => SET | PORT | n as u64,
    };
    TRACER.store(set, Relaxed);
    before
}

/// The system tracer hears nothing of itself, and its tokens go out as they are.
fn is_tracer(pid: u32) -> bool {
    TRACER.load(Relaxed) == SET | u64::from(pid)
}

/// A token as it goes out with the next message of a process.
fn stamped<'h>(h: &'h Heap, t: &Token<'_>, sender: Term<'static>, c: Counters) -> Term<'h> {
    let n = |n: u64| small(h, n);
    h.tuple(&[h.copy(t[0]), h.copy(t[1]), n(c.clock), sender, n(c.last)])
}

/// Tells the system tracer of an event, where the token (a tuple) asks for that.
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
    let event = message(|h| {
        let serials = h.tuple(&[h.copy(last), h.copy(serial)]);
        let what = h.tuple(&[kind.into(), serials, h.copy(sender), h.copy(receiver), h.copy(m)]);
        let mut parts = vec![am::seq_trace.into(), h.copy(label), what];
        parts.extend(trace::stamp(h, stamp));
        h.tuple(&parts)
    });
    to.hear(event);
}

/// A token with the serial before, and that serial.
fn before<'h>(h: &'h Heap, token: Term<'_>) -> Option<(Term<'h>, u64)> {
    let [flags, label, serial, sender, last] = token.as_tuple_n::<5>()?;
    let n = serial_of(serial).wrapping_sub(1);
    let copies = [flags, label, sender, last].map(|t| h.copy(t));
    let [flags, label, sender, last] = copies;
    Some((h.tuple(&[flags, label, small(h, n), sender, last]), n))
}
/// No process came of another node's request with that token: what is told of it, and the token for
/// the answer, in the name of the node.
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
    let c = Counters { clock: n.wrapping_add(1), last: n };
    let reply = OwnedTerm::new(stamped(&h, &t, node, c));
    tell(reply.term(), bit::SEND, parent, answer);
    reply
}

/// What a `spawn` says of itself where its caller has a token.
pub struct Request {
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
    /// The token for an exit signal that goes out now.
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
    pub fn seq_counters(&self) -> Counters {
        self.rare(|x| x.seq).unwrap_or_default()
    }
    pub fn set_seq_counters(&self, c: Counters) {
        if c != self.seq_counters() {
            self.with_rare(|x| x.seq = c);
        }
    }
    /// From now on tokens are a matter for it.
    fn carry(&self) {
        if self.set_flag(flag::SEQ, true) {
            return;
        }
        self.messages().shelve();
        self.messages().no_tokens();
        if CARRIERS.fetch_add(1, Relaxed) == 0 {
            tracing_on::update(User::SeqTrace, on);
        }
    }
    /// The same is over, unless a message in its mailbox says something of tokens.
    fn carry_no_more(&self) {
        if !self.messages().has_tokens() {
            self.forget_seq();
        }
    }
    /// It is no carrier any more.
    pub(crate) fn forget_seq(&self) {
        if self.set_flag(flag::SEQ, false) && CARRIERS.fetch_sub(1, Relaxed) == 1 {
            tracing_on::update(User::SeqTrace, on);
        }
    }
    /// Token, serials and what messages say of tokens go.
    pub fn reset_seq(&self) {
        self.set_seq_counters(Counters::default());
        self.heap.set_root(Root::SeqToken, Term::NIL);
        if self.messages().has_tokens() {
            self.messages().no_tokens();
        }
        self.carry_no_more();
    }
    /// The token for what goes out now.
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
    /// A message goes out: the token that goes along, or an empty list.
    pub fn seq_send(&self, to: Term<'_>, m: Term<'_>) -> OwnedTerm {
        let Some(t) = self.seq_next() else { return OwnedTerm::default() };
        self.seq_tell(t, bit::SEND, to, m);
        OwnedTerm::new(t)
    }
    /// What a program prints, if there is a token to print with.
    pub fn seq_print(&self, m: Term<'_>) -> bool {
        let Some(t) = self.seq_next() else { return false };
        self.seq_tell(t, bit::PRINT, Term::NIL, m);
        true
    }
    /// To the end of the mailbox, with a token or an empty list.
    pub fn put_tokened_from(&self, from: Term<'static>, m: OwnedTerm, token: OwnedTerm) {
        if self.is_traced(trace::bit::RECEIVE) {
            self.trace_receive(from, m.term());
        }
        self.put_with_token(m, token)
    }
    /// The same of a message that tracing of messages says nothing of.
    pub fn put_with_token(&self, m: OwnedTerm, token: OwnedTerm) {
        if !token.term().is_nil() {
            self.carry();
        }
        match self.flag(flag::SEQ) {
            true => self.messages().push_tokened(m, token),
            false => self.messages().push(m),
        }
    }
    /// A message was taken that says this of tokens.
    pub(crate) fn seq_received(&self, token: &OwnedTerm, m: Term<'_>) {
        // Words may be reserved for what follows.
        self.heap.in_fragments(|| {
            let t = self.heap.copy(token.term());
            self.heap.set_root(Root::SeqToken, t);
            let Some([_, _, serial, _, _]) = t.as_tuple_n::<5>() else {
                return self.carry_no_more();
            };
            let last = serial_of(serial);
            let clock = self.seq_counters().clock.max(last);
            self.set_seq_counters(Counters { clock, last });
            self.seq_tell(t, bit::RECEIVE, self.self_pid(), m);
        })
    }
    /// This process has just made another: hands the token on, and tells of it as if the two had
    /// sent each other messages.
    pub(crate) fn seq_spawn(
        &self,
        child: &Proc,
        id: [u32; 3],
        r: &Request,
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
        child.set_seq_counters(Counters { clock, last: clock });
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
        // As if it were received, but for what OTP takes for the serial: its tagged word.
        let clock = tagged(child.seq_counters().clock);
        self.set_seq_counters(Counters { clock, last: clock });
    }
    /// This new process was asked for by one of another node, with a token. The request counts as
    /// two messages: itself, and the arguments, which come as a message with the token as it is.
    pub fn seq_requested(&self, token: &OwnedTerm, request: Term<'_>) {
        let Some(first) = before(&self.heap, token.term()) else { return };
        self.seq_tell(first.0, bit::RECEIVE, self.self_pid(), request);
        self.set_seq_counters(Counters { clock: first.1, last: first.1 });
        self.heap.set_root(Root::SeqToken, self.heap.copy(token.term()));
        self.carry();
    }
    /// The answer of a new process to who asked for it, as a message with the token.
    pub fn seq_answer(&self, to: &Proc, answer: OwnedTerm) {
        let token = self.seq_send(to.self_pid(), answer.term());
        to.put_with_token(answer, token);
    }
}

/// Ends all tokens: here at once, elsewhere before anything that this process sends from now on.
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
