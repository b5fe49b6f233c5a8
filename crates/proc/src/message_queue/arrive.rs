//! Arrival of messages: on the heap, as the first message or a borrowed one, or at the end of the
//! mailbox.

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::Chain;
use kvik_term::Term;

use super::MessageQueue;
use crate::process::flag;
use crate::signal_types::Signal;

/// A first message of more words than this is taken over instead of copied.
pub(super) const SMALL_MESSAGE: usize = 64;
/// A message to a waiting process is copied to its heap up to this size: a line of text is smaller.
const LINE: usize = 192;

/// While one of these is set messages go to the mailbox.
const NOT_ON_HEAP: u32 = flag::EXITING
    | flag::TIMED_OUT
    | flag::SUSPENDED
    | flag::HIBERNATING
    | flag::OFF_HEAP_QUEUE
    | flag::NOTICES_MESSAGES
    | flag::CHORES;

/// Where a message went: onto the heap, or into memory of its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// Words of its own memory, plus one; 0 if it is on the heap. A sender tests this each time.
    apart: usize,
}
impl Accepted {
    pub const ON_HEAP: Accepted = Accepted { apart: 0 };
    fn apart(words: usize) -> Accepted {
        Accepted { apart: words + 1 }
    }
    /// Words that were allocated for it.
    #[inline]
    pub fn words(self) -> usize {
        self.apart.saturating_sub(1)
    }
}

impl<'p> MessageQueue<'p> {
    /// Accepts a message from a sender that has ended the process's wait: a small one goes to its
    /// heap.
    #[inline]
    pub fn accept(self, t: Term<'_>) -> Accepted {
        // A fragment is the second choice: with neither, a mailbox would be allocated, and stay.
        let copy =
            |h: &'p Heap| h.copy_small(t, LINE).or_else(|| h.copy_to_fragment(t, SMALL_MESSAGE));
        let put = self.put_on_heap(copy);
        if put {
            self.mark(flag::UNFETCHED);
            return Accepted::ON_HEAP;
        }
        let message = OwnedTerm::message(t);
        let words = message.words();
        self.push(message);
        self.note_accepted();
        Accepted::apart(words)
    }
    /// The same while the process is queued, with an empty inbox. False: the message has to go
    /// through the inbox.
    #[inline]
    pub fn accept_early(self, t: Term<'_>) -> bool {
        let put = !self.flag(flag::ENDING | flag::PENDING)
            && self.put_on_heap(|h| h.copy_small(t, SMALL_MESSAGE));
        if put {
            self.mark(flag::UNFETCHED);
        }
        put
    }
    /// A sender that may touch the process has put a message at the end of its mailbox.
    pub fn note_accepted(self) {
        self.note_unfetched(1);
        self.mark(flag::UNFETCHED);
    }
    /// Puts a message that a signal became: on the heap if possible, else in memory of its own.
    #[inline]
    pub fn put_of_signal(
        self,
        make: impl FnOnce(&'p Heap) -> Option<Term<'p>>,
        make_owned: impl FnOnce() -> OwnedTerm,
    ) {
        let waits = self.flag(flag::WAITING);
        match self.put_on_heap(make) {
            true if waits => self.mark(flag::ROUSED),
            true => (),
            false => self.push(make_owned()),
        }
    }
    /// Appends a chain of messages that was all there was in the inbox.
    #[inline]
    pub fn append(self, row: Chain<Signal>, n: usize) {
        let only = if n == 1 { row.first().and_then(Signal::message) } else { None };
        if !only.is_some_and(|m| self.put_on_heap(|h| h.copy_small(m.term(), SMALL_MESSAGE))) {
            debug_assert!(!self.has_backlog());
            self.mailbox().append(row, n);
            self.note_unfetched(n);
        }
        self.mark(flag::UNFETCHED);
        self.check();
    }
    /// Appends a message to the mailbox.
    #[inline]
    pub fn push(self, m: OwnedTerm) {
        debug_assert!(!self.has_backlog());
        self.mailbox().push(m);
        self.check();
    }
    /// The same with its send time in ticks. A mailbox allocated for it is dropped once it is
    /// taken.
    pub fn push_stamped(self, m: OwnedTerm, sent: u64) {
        debug_assert!(!self.has_backlog());
        if self.p.places.kept.get().is_none() {
            self.mark(flag::SPARE_MAILBOX);
        }
        self.mailbox().push_stamped(m, sent);
        self.check();
    }
    /// The same with a token of sequential tracing, or an empty list for none.
    pub fn push_tokened(self, m: OwnedTerm, token: OwnedTerm) {
        debug_assert!(!self.has_backlog());
        self.mailbox().push_tokened(m, token);
        self.check();
    }
    /// Puts a priority message after those that there are and before all others. The receive in
    /// progress examines it next, and then goes on where it was.
    pub fn push_priority(self, message: OwnedTerm, token: Option<OwnedTerm>) {
        debug_assert!(!self.has_backlog());
        let first = self.put_first_back();
        let mut m = self.mailbox();
        if first {
            m.restart();
        }
        if first || m.borrowed() {
            self.keep_first_unfetched(&mut m);
        }
        if m.borrowed() {
            // A guard of the receive may be under way, stopped by the end of its turn, and hold parts.
            self.keep_lent();
        }
        self.give_back(&mut m);
        m.push_priority(message, token);
        drop(m);
        self.check();
    }
    /// Puts a message on the process's heap, if it waits for one and has examined all others, or
    /// does not wait and has none. False: neither, or there is no room.
    #[inline]
    fn put_on_heap(self, make: impl FnOnce(&'p Heap) -> Option<Term<'p>>) -> bool {
        let (p, flags) = (self.p, self.p.flags.get());
        let mut m = self.mailbox_if_any();
        if flags & NOT_ON_HEAP != 0 || m.as_ref().is_some_and(|m| m.borrowed() || !m.at_end()) {
            return false;
        }
        let waits = flags & flag::WAITING != 0;
        if !waits && (p.heap.message().is_some() || m.as_ref().is_some_and(|m| !m.is_empty())) {
            return false;
        }
        debug_assert!(p.heap.message().is_none() && !self.has_backlog());
        let Some(t) = make(&p.heap) else { return false };
        if m.as_mut().is_none_or(|m| m.make_room_before()) {
            p.heap.set_root(Root::Message, t);
        } else if let Some(m) = &mut m {
            p.heap.set_root(Root::Lent, t);
            m.push_lent();
        }
        drop(m);
        p.flags.set(flags & !flag::WAITING);
        self.check();
        true
    }
    #[inline]
    fn mark(self, f: u32) {
        self.p.flags.set(self.p.flags.get() | f);
    }

    /// Marks all messages in the mailbox as sent without a token.
    pub fn no_tokens(self) {
        if let Some(mut m) = self.mailbox_if_any() {
            m.no_tokens();
        }
    }
    /// Whether any message carries token information.
    pub fn has_tokens(self) -> bool {
        self.mailbox_if_any().is_some_and(|m| m.has_tokens())
    }
}
