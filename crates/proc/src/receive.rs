//! What native code calls for `receive`.
//!
//! | instruction | call |
//! |---|---|
//! | `loop_rec` | [`Proc::peek`]: the message to match; or nothing: go to the wait instruction; or end the turn with `Outcome::Yield`, to look again |
//! | `loop_rec_end` | [`Proc::skip`], then back to `loop_rec` |
//! | `remove_message` | [`Proc::remove_message`] |
//! | `wait` | [`Proc::wait`], `Heap::ip` := the `loop_rec`, end the turn with `Outcome::Wait` |
//! | `wait_timeout` | [`Proc::wait_timeout`]: go on, or the same as `wait` |
//! | `timeout` | [`Proc::timeout`] |
//! | `recv_marker_*` | `marker_reserve`, `marker_bind`, `marker_clear`, `marker_use` |

use std::cell::RefMut;

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Term};

use crate::mailbox::Mailbox;
use crate::process::flag;
use crate::saved_calls::Saved;
use crate::signal::message;
use crate::signal_types::RefId;
use crate::timer::At;
use crate::trace::bit;
use crate::{clock, Proc};

/// What a `wait_timeout` comes to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// End the turn with `Outcome::Wait`.
    Wait,
    /// The time is over: go on behind the instruction.
    TimedOut,
    /// Not a valid time: `error(timeout_value)`.
    BadTime,
}

/// What a `loop_rec` finds.
#[derive(Debug)]
pub enum Peek<'h> {
    /// No message, or the process must end (its turn then ends with `Wait` and it does).
    Nothing,
    Message(Term<'h>),
    /// A collection is due, or the next message needs so many words in the block: collect, and look
    /// again. Nothing is live in x registers here.
    Collect(usize),
    /// More has come than can be handled in this turn: end it, and look again in the next.
    Later,
}

/// The longest time a `receive` takes, in milliseconds.
const MAX_TIMEOUT: u64 = 0xFFFF_FFFF;
/// A first message of more words than this is taken over instead of copied.
const SMALL_MESSAGE: usize = 64;
/// One that goes to who waits for it is copied to its heap up to this size: a line of text is less.
const LINE: usize = 192;

impl Proc {
    /// Is there nothing at all for a `receive` to look at, and nothing that has to be seen to first?
    #[inline]
    pub fn has_no_mail(&self) -> bool {
        self.mailbox.get().is_none_or(|m| m.at_end() && !m.lent)
            && self.heap.message().is_none()
            && !self.flag(flag::EXITING)
            && !self.heap.gc_due()
            && !self.has_signals()
    }
    /// The message at the save pointer.
    #[inline]
    pub fn peek(&self) -> Peek<'_> {
        if self.flag(flag::EXITING | flag::TIMED_OUT) {
            return Peek::Nothing;
        }
        loop {
            if let Some(t) = self.heap.message() {
                return Peek::Message(t);
            }
            let m = self.mailbox.get();
            if m.as_ref().is_some_and(|m| m.lent) {
                return Peek::Message(self.heap.root(Root::Lent));
            }
            if self.heap.gc_due() {
                return Peek::Collect(0);
            }
            if let Some(found) = m.and_then(|m| self.look_at_next(m)) {
                return found;
            }
            if !self.has_signals() {
                return Peek::Nothing;
            }
            if self.has_pending() && self.out_of_reductions() {
                return Peek::Later;
            }
            self.fetch_signals();
            if self.flag(flag::EXITING | flag::TIMED_OUT) {
                return Peek::Nothing;
            }
        }
    }
    /// Puts the message at the save pointer on the heap.
    #[inline]
    fn look_at_next(&self, mut m: RefMut<'_, Mailbox>) -> Option<Peek<'_>> {
        m.fetch_to_look();
        let small = |n: &usize| *n <= SMALL_MESSAGE && !self.flag(flag::NOTICES_MESSAGES);
        let Some(words) = m.front_words().filter(small) else {
            let t = m.current().map(std::mem::take)?;
            m.lent = true;
            return Some(Peek::Message(self.heap.lend(t)));
        };
        if words > self.heap.room() {
            return Some(Peek::Collect(words));
        }
        let m = m.take_front()?;
        let t = m.as_immediate().unwrap_or_else(|| {
            // A term with a part that occurs twice takes more words than it had.
            let small = self.heap.copy_small(m.term(), SMALL_MESSAGE);
            small.unwrap_or_else(|| self.heap.copy(m.term()))
        });
        self.heap.set_root(Root::Message, t);
        Some(Peek::Message(t))
    }
    /// Takes a message from a sender who has ended this process's wait, and may touch it so: a small
    /// one goes straight to the heap. False: it did not, as always where the process is suspended, which
    /// waits on then.
    #[inline]
    pub(crate) fn accept<'h>(&'h self, t: Term<'_>) -> bool {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(Term::local_pid(self.last_from.get()), t);
        }
        // A mailbox would be made for one that finds no room, and stay.
        let copy = |h: &'h Heap| h.copy_small(t, LINE).or_else(|| h.copy_beside(t, SMALL_MESSAGE));
        let put = self.put_on_heap(copy);
        if !put {
            self.mailbox.borrow_mut().push(OwnedTerm::message(t));
            self.note_unfetched(1);
        }
        self.flags.set(self.flags.get() | flag::UNFETCHED);
        put
    }
    /// The same where the message is a signal: the process is not active for it.
    #[inline]
    pub(crate) fn accept_of_signal(&self, t: Term<'_>) {
        let before = self.flag(flag::UNFETCHED);
        let waits = self.flag(flag::WAITING);
        if self.accept(t) && waits {
            self.set_flag(flag::ROUSED, true);
        }
        self.set_flag(flag::UNFETCHED, before);
    }
    /// The same while the process waits for its turn. False: the message has to go the usual way.
    #[inline]
    pub(crate) fn accept_early(&self, from: u32, t: Term<'_>) -> bool {
        const LATER: u32 = flag::ENDING | flag::PENDING;
        let put = !self.flag(LATER)
            && !self.is_traced(bit::RECEIVE)
            && self.put_on_heap(|h| h.copy_small(t, SMALL_MESSAGE));
        if put {
            self.flags.set(self.flags.get() | flag::UNFETCHED);
            self.last_from.set(from);
        }
        put
    }
    /// Puts in a small message made on the spot, by whoever may touch the process.
    pub(crate) fn put_message(
        &self,
        from: Term<'static>,
        make: impl for<'h> Fn(&'h Heap) -> Term<'h>,
    ) {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(from, message(&make).term());
        }
        if !self.put_of_signal(|h| Some(make(h))) {
            self.mailbox.borrow_mut().push(OwnedTerm::build(SMALL_MESSAGE / 4, make));
        }
    }
    /// The same for a tuple of immediates.
    pub(crate) fn put_tuple<const N: usize>(
        &self,
        from: Term<'static>,
        elements: [Term<'static>; N],
    ) {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(from, OwnedTerm::tuple(elements).term());
        }
        if !self.put_of_signal(|h| Some(h.tuple(&elements))) {
            self.mailbox.borrow_mut().push(OwnedTerm::tuple(elements));
        }
    }
    /// Puts the message that a signal became on the process's heap, where that can be.
    #[inline]
    fn put_of_signal<'h>(&'h self, make: impl FnOnce(&'h Heap) -> Option<Term<'h>>) -> bool {
        let waits = self.flag(flag::WAITING);
        let put = self.put_on_heap(make);
        if put && waits {
            self.flags.set(self.flags.get() | flag::ROUSED);
        }
        put
    }
    /// Puts a message on the process's heap, if it waits for one and has looked at all others, or
    /// does not wait and has none. False: neither, or there is no room.
    #[inline]
    fn put_on_heap<'h>(&'h self, make: impl FnOnce(&'h Heap) -> Option<Term<'h>>) -> bool {
        const NOT_NOW: u32 = flag::EXITING
            | flag::TIMED_OUT
            | flag::SUSPENDED
            | flag::HIBERNATING
            | flag::OFF_HEAP_QUEUE
            | flag::NOTICES_MESSAGES
            | flag::CHORES;
        let flags = self.flags.get();
        let mut m = self.mailbox.get();
        if flags & NOT_NOW != 0 || m.as_ref().is_some_and(|m| m.lent || !m.at_end()) {
            return false;
        }
        let waits = flags & flag::WAITING != 0;
        if !waits && (self.heap.message().is_some() || m.as_ref().is_some_and(|m| !m.is_empty())) {
            return false;
        }
        let Some(t) = make(&self.heap) else { return false };
        if m.as_mut().is_none_or(|m| m.make_room_before()) {
            self.heap.set_root(Root::Message, t);
        } else if let Some(m) = &mut m {
            self.heap.set_root(Root::Lent, t);
            m.push(OwnedTerm::default());
            m.lent = true;
        }
        self.flags.set(flags & !flag::WAITING);
        true
    }
    /// The one message that has come: to the heap, where it will be looked at.
    #[inline]
    pub(crate) fn put_only(&self, m: &OwnedTerm) -> bool {
        self.put_on_heap(|h| h.copy_small(m.term(), SMALL_MESSAGE))
    }
    /// Has all messages in the mailbox, for who looks for them there.
    pub(crate) fn shelve(&self) {
        if let Some(t) = self.heap.take_message() {
            let mut m = self.mailbox.borrow_mut();
            m.put_before(OwnedTerm::message(t));
            m.restart();
        }
    }
    /// The message doesn't match: on to the next.
    #[inline]
    pub fn skip(&self) {
        self.set_flag(flag::UNFETCHED, false);
        let mut m = self.mailbox.borrow_mut();
        if let Some(t) = self.heap.take_message() {
            m.selective = true;
            return m.put_before(OwnedTerm::message(t));
        }
        if m.lent {
            self.give_back(&mut m);
        }
        m.skip();
    }
    fn give_back(&self, m: &mut Mailbox) {
        m.lent = false;
        let t = self.heap.take_back();
        if let Some(slot) = m.current() {
            *slot = t;
        }
    }
    /// The message matches: takes it out.
    #[inline]
    pub fn remove_message(&self) {
        self.end_wait();
        self.save_call(Saved::Receive);
        if self.heap.take_message().is_some() {
            return;
        }
        let mut m = self.mailbox.borrow_mut();
        let message = self.heap.root(Root::Lent);
        if m.lent {
            m.lent = false;
            self.heap.keep_lent();
            self.heap.set_root(Root::Lent, Term::NIL);
        }
        if let Some(token) = m.take().and_then(|t| t.token) {
            drop(m);
            self.seq_received(&token, message);
        }
    }
    /// The `receive` is over without a message.
    pub fn timeout(&self) {
        self.all_looked_at(false);
        if let Some(mut m) = self.mailbox.get() {
            m.restart();
        }
        self.end_wait();
    }
    /// Native code does the same by itself where it finds a message in `Root::Message`.
    #[inline]
    fn end_wait(&self) {
        self.deadline.set(0);
        self.flags.set(self.flags.get() & !flag::RECEIVING);
    }
    /// A `receive` that waits has looked at every message, or has no clauses that could match one.
    #[inline]
    fn all_looked_at(&self, fetched: bool) {
        if let Some(t) = self.heap.take_message() {
            self.mailbox.borrow_mut().put_before(OwnedTerm::message(t));
        }
        let Some(mut m) = self.mailbox.get() else { return };
        if m.lent {
            self.give_back(&mut m);
        }
        if fetched {
            m.fetch();
        }
        m.skip_all();
    }
    /// With a mailbox each receive takes longer, and most processes that wait need none: one that was
    /// made for a timed message goes, unless others have come to it.
    pub(crate) fn drop_spare_mailbox(&mut self) {
        self.set_flag(flag::SPARE_MAILBOX, false);
        self.mailbox.drop_empty();
    }
    /// Notes that the process waits for a message.
    #[inline]
    pub fn wait(&self) {
        self.all_looked_at(true);
        self.flags.set((self.flags.get() | flag::WAITING) & !flag::UNFETCHED);
    }
    /// Notes that it waits until a message comes or the time is over. The first call of a
    /// `receive` sets the time; later ones, after messages that don't match, keep to it.
    pub fn wait_timeout(&self, time: Term<'_>) -> Wait {
        if self.deadline.get() == 0 {
            if time.is_atom(am::infinity) {
                // Not asked for the time again.
                self.deadline.set(u64::MAX);
                self.wait();
                return Wait::Wait;
            }
            let Some(ms) = time.as_u64().filter(|t| *t <= MAX_TIMEOUT) else {
                // The next `receive` looks at all messages again.
                self.timeout();
                return Wait::BadTime;
            };
            if ms == 0 {
                return Wait::TimedOut;
            }
            self.arm(At::deadline(clock::now() + ms * 1_000_000));
        } else if self.flag(flag::TIMED_OUT) {
            return Wait::TimedOut;
        }
        self.wait();
        Wait::Wait
    }
    /// One timer serves many waits: it stays set when a wait is over, and when it rings too early
    /// it is set again for the deadline of the moment.
    pub(crate) fn arm(&self, deadline: At) {
        self.deadline.set(deadline.word());
        let armed = self.armed.get();
        if armed == 0 || armed > deadline.word() {
            self.armed.set(deadline.word());
            crate::timer::set_process_timer(self.pid(), deadline);
        }
    }
    /// The timer has rung, but not for the wait of the moment, if there is one: it is set again for
    /// that. False: the time is over.
    pub(crate) fn puts_timer_off(&self) -> bool {
        self.armed.set(0);
        let deadline = self.deadline.get();
        if deadline == 0 || deadline == u64::MAX {
            return true;
        }
        let deadline = At::of_word(deadline);
        let early = clock::now() < deadline.ns();
        if early {
            self.arm(deadline);
        }
        early
    }
    /// The timer has rung. Where the time is over that ends the `receive`, whatever came meanwhile.
    pub(crate) fn time_signal(&self) {
        if self.puts_timer_off() {
            return;
        }
        self.set_flag(flag::TIMED_OUT, true);
        if let Some(t) = self.heap.take_message() {
            let mut m = self.mailbox.borrow_mut();
            m.put_before(OwnedTerm::message(t));
            self.keep_first_unfetched(&mut m);
        } else if let Some(mut m) = self.mailbox.get().filter(|m| m.lent) {
            self.keep_first_unfetched(&mut m);
        }
    }
    /// Has a waiting process something to do in its `receive`?
    pub fn can_go_on(&self) -> bool {
        self.flag(flag::TIMED_OUT) || self.mailbox.get().is_some_and(|mut m| m.has_next())
    }

    /// `recv_marker_reserve`.
    pub fn marker_reserve(&self) -> Term<'static> {
        self.fetch_signals();
        let n = self.mailbox.borrow_mut().reserve();
        Term::small(n as i64).unwrap_or(Term::NIL)
    }
    /// `recv_marker_bind Marker Ref`.
    pub fn marker_bind(&self, marker: Term<'_>, r: Term<'_>) {
        if let (Some(n), Some(id)) = (marker.as_u64(), RefId::of_term(r)) {
            self.mailbox.borrow_mut().bind(n, id);
        }
    }
    /// `recv_marker_clear`: of a reference, or a marker that was not bound.
    pub fn marker_clear(&self, r: Term<'_>) {
        let Some(mut m) = self.mailbox.get() else { return };
        match RefId::of_term(r) {
            Some(id) => m.unbind(id),
            None => m.unreserve(r.as_u64().unwrap_or(0)),
        }
    }
    /// `recv_marker_use`.
    pub fn marker_use(&self, r: Term<'_>) {
        if let Some(id) = RefId::of_term(r) {
            self.mailbox.borrow_mut().use_marker(id);
        }
    }
}
