//! Functions that native code calls for `receive`.
//!
//! | instruction | call |
//! |---|---|
//! | `loop_rec` | [`Proc::peek`]: the message to match; or nothing: go to the wait instruction; or end the time slice with `SliceEnd::Yield`, to look again |
//! | `loop_rec_end` | [`Proc::skip`], then back to `loop_rec` |
//! | `remove_message` | [`Proc::remove_message`] |
//! | `wait` | [`Proc::wait`], `Heap::ip` := the `loop_rec`, end the time slice with `SliceEnd::Wait` |
//! | `wait_timeout` | [`Proc::wait_timeout`]: go on, or the same as `wait` |
//! | `timeout` | [`Proc::timeout`] |
//! | `recv_marker_*` | `marker_reserve`, `marker_bind`, `marker_clear`, `marker_use` |

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Term};

pub use crate::message_queue::{Accepted, Peek};
use crate::process::flag;
use crate::saved_calls::Saved;
use crate::signal::message;
use crate::signal_types::RefId;
use crate::timer::At;
use crate::trace::bit;
use crate::{clock, Proc};

/// The result of a `wait_timeout`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// End the time slice with `SliceEnd::Wait`.
    Wait,
    /// The timeout has expired: continue after the instruction.
    TimedOut,
    /// Not a valid time: `error(timeout_value)`.
    BadTime,
}

/// The longest timeout of a `receive`, in milliseconds.
const MAX_TIMEOUT: u64 = 0xFFFF_FFFF;
/// Estimated words for a message that a signal becomes, if it is not made on the heap.
const SIGNAL_WORDS: usize = 16;

/// Reductions for a look at what has come, in a `receive` at the end of the messages it knows.
pub const LOOK: i64 = 4;

impl Proc {
    /// Whether a `receive` has nothing to examine, and nothing has to be handled first.
    #[inline]
    pub fn has_no_mail(&self) -> bool {
        self.messages().at_end()
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
            if let Some(found) = self.messages().look() {
                return found;
            }
            if !self.has_signals() {
                return Peek::Nothing;
            }
            if self.has_pending() && self.out_of_reductions() {
                return Peek::Later;
            }
            self.heap.bump_reductions(LOOK);
            self.fetch_signals();
            if self.flag(flag::EXITING | flag::TIMED_OUT) {
                return Peek::Nothing;
            }
        }
    }
    /// Accepts a message from a sender that has ended this process's wait, and so may touch it: a
    /// small one goes straight to the heap. False: it did not, as always if the process is
    /// suspended; that one waits on.
    #[inline]
    pub(crate) fn accept(&self, t: Term<'_>) -> Accepted {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(Term::local_pid(self.last_from.get()), t);
        }
        self.messages().accept(t)
    }
    /// The same for a message that is a signal: it does not make the process active.
    #[inline]
    pub(crate) fn accept_of_signal(&self, t: Term<'_>) {
        let before = self.flag(flag::UNFETCHED);
        let waits = self.flag(flag::WAITING);
        if self.accept(t) == Accepted::ON_HEAP && waits {
            self.set_flag(flag::ROUSED, true);
        }
        self.set_flag(flag::UNFETCHED, before);
    }
    /// The same while the process is queued. False: the message must go through the inbox.
    #[inline]
    pub(crate) fn accept_early(&self, from: u32, t: Term<'_>) -> bool {
        let put = !self.is_traced(bit::RECEIVE) && self.messages().accept_early(t);
        if put {
            self.last_from.set(from);
        }
        put
    }
    /// Adds a small message built in place; the caller may touch the process.
    pub(crate) fn put_message(
        &self,
        from: Term<'static>,
        make: impl for<'h> Fn(&'h Heap) -> Term<'h>,
    ) {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(from, message(&make).term());
        }
        let owned = || OwnedTerm::build(SIGNAL_WORDS, &make);
        self.messages().put_of_signal(|h| Some(make(h)), owned);
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
        self.messages().put_of_signal(|h| Some(h.tuple(&elements)), || OwnedTerm::tuple(elements));
    }
    /// The message doesn't match: on to the next.
    #[inline]
    pub fn skip(&self) {
        self.messages().skip();
    }
    /// The same; returns the next, if it is in the mailbox. `None`: `peek` finds out.
    #[inline]
    pub fn skip_to_next(&self) -> Option<Term<'_>> {
        if self.flag(flag::EXITING | flag::TIMED_OUT) {
            self.skip();
            return None;
        }
        self.messages().skip_to_next()
    }
    /// The current message may go back to the mailbox while the process keeps a part of it.
    pub fn keep_message(&self) {
        self.messages().keep_lent();
    }
    /// The message matches: takes it out.
    #[inline]
    pub fn remove_message(&self) {
        self.end_wait();
        self.save_call(Saved::Receive);
        if let Some((token, message)) = self.messages().take() {
            self.seq_received(&token, message);
        }
    }
    /// The `receive` is over without a message.
    pub fn timeout(&self) {
        self.messages().restart();
        self.end_wait();
    }
    /// Native code does the same inline when it finds a message in `Root::Message`.
    #[inline]
    fn end_wait(&self) {
        self.deadline.set(0);
        self.flags.set(self.flags.get() & !flag::RECEIVING);
    }
    /// Drops a mailbox that was allocated for a timed message, unless it holds others: with a
    /// mailbox each receive takes longer, and most waiting processes need none.
    pub(crate) fn drop_spare_mailbox(&mut self) {
        let tried = self.places.drop_spare();
        self.set_flag(flag::SPARE_MAILBOX, !tried);
    }
    /// Notes that the process waits for a message.
    #[inline]
    pub fn wait(&self) {
        // The receive has examined every message, or has no clauses that could match one.
        self.messages().skip_all(true);
        self.flags.set((self.flags.get() | flag::WAITING) & !flag::UNFETCHED);
    }
    /// Notes that it waits for a message or the timeout. The first call of a `receive` sets the
    /// deadline; later ones, after messages that do not match, keep it.
    pub fn wait_timeout(&self, time: Term<'_>) -> Wait {
        if self.deadline.get() == 0 {
            if time.is_atom(am::infinity) {
                // The deadline is not computed again.
                self.deadline.set(u64::MAX);
                self.wait();
                return Wait::Wait;
            }
            let Some(ms) = time.as_u64().filter(|t| *t <= MAX_TIMEOUT) else {
                // The next `receive` examines all messages again.
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
    /// The timer has fired. If the deadline has passed, the `receive` ends, whatever came
    /// meanwhile.
    pub(crate) fn time_signal(&self) {
        if self.puts_timer_off() {
            return;
        }
        self.set_flag(flag::TIMED_OUT, true);
        self.messages().miss();
    }
    /// Whether a waiting process can continue its `receive`.
    pub fn can_go_on(&self) -> bool {
        self.flag(flag::TIMED_OUT) || self.messages().has_next()
    }

    /// `recv_marker_reserve`.
    pub fn marker_reserve(&self) -> Term<'static> {
        self.fetch_signals();
        let n = self.messages().reserve_marker();
        Term::small(n as i64).unwrap_or(Term::NIL)
    }
    /// `recv_marker_bind Marker Ref`.
    pub fn marker_bind(&self, marker: Term<'_>, r: Term<'_>) {
        if let (Some(n), Some(id)) = (marker.as_u64(), RefId::of_term(r)) {
            self.messages().bind_marker(n, id);
        }
    }
    /// `recv_marker_clear`: of a reference, or a marker that was not bound.
    pub fn marker_clear(&self, r: Term<'_>) {
        match RefId::of_term(r) {
            Some(id) => self.messages().clear_bound_marker(id),
            None => self.messages().clear_marker(r.as_u64().unwrap_or(0)),
        }
    }
    /// `recv_marker_use`.
    pub fn marker_use(&self, r: Term<'_>) {
        if let Some(id) = RefId::of_term(r) {
            self.messages().use_marker(id);
        }
    }
}
