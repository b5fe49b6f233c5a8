//! How a `receive` uses the queue: it examines one message after the other, leaves those that do
//! not match where they are, and takes the first that does.

use kvik_heap::roots::Root;
use kvik_heap::OwnedTerm;
use kvik_term::Term;

use super::arrive::SMALL_MESSAGE;
use super::mailbox::Mailbox;
use super::MessageQueue;
use crate::process::flag;
use crate::signal_types::RefId;

/// The result of a `loop_rec`.
#[derive(Debug)]
pub enum Peek<'h> {
    /// No message, or the process must end (its time slice then ends with `Wait` and it does).
    Nothing,
    Message(Term<'h>),
    /// A collection is due, or the next message needs so many words in the block: collect, and look
    /// again. No x register is live here.
    Collect(usize),
    /// More signals arrived than this time slice may handle: end it, and look again in the next.
    Later,
}

impl<'p> MessageQueue<'p> {
    /// Whether every message was examined.
    #[inline]
    pub fn at_end(self) -> bool {
        self.mailbox_if_any().is_none_or(|m| m.at_end() && !m.borrowed())
            && self.p.heap.message().is_none()
    }
    /// Whether the mailbox has a message that was not examined.
    pub fn has_next(self) -> bool {
        self.mailbox_if_any().is_some_and(|mut m| m.has_next())
    }
    /// The message to match next, which is copied to the heap or borrowed. `None`: all were
    /// examined.
    #[inline]
    pub fn look(self) -> Option<Peek<'p>> {
        let heap = &self.p.heap;
        if let Some(t) = heap.message() {
            return Some(Peek::Message(t));
        }
        let m = self.mailbox_if_any();
        if m.as_ref().is_some_and(|m| m.borrowed()) {
            return Some(Peek::Message(heap.root(Root::Lent)));
        }
        if heap.gc_due() {
            return Some(Peek::Collect(0));
        }
        let found = self.look_in(&mut *m?);
        self.check();
        found
    }
    /// The message at the save pointer: copied to the heap as the first message, or borrowed.
    #[inline]
    fn look_in(self, m: &mut Mailbox) -> Option<Peek<'p>> {
        let heap = &self.p.heap;
        m.fetch_to_look();
        let words = m.front_words();
        let small = |n: &usize| *n <= SMALL_MESSAGE && !self.flag(flag::NOTICES_MESSAGES);
        let Some(words) = words.filter(small) else {
            if words.is_some_and(|n| heap.is_due_before_message(n)) {
                return Some(Peek::Collect(0));
            }
            return m.lend().map(|t| Peek::Message(heap.borrow_message(t)));
        };
        if words > heap.room() {
            return Some(Peek::Collect(words));
        }
        let m = m.take_front()?;
        let t = m.as_immediate().unwrap_or_else(|| {
            // A copy does not preserve sharing, so a term may take more words than before.
            let small = heap.copy_small(m.term(), SMALL_MESSAGE);
            small.unwrap_or_else(|| heap.copy(m.term()))
        });
        heap.set_root(Root::Message, t);
        Some(Peek::Message(t))
    }
    /// The current message does not match: on to the next.
    #[inline]
    pub fn skip(self) {
        self.p.set_flag(flag::UNFETCHED, false);
        let mut m = self.mailbox();
        if let Some(t) = self.p.heap.take_message() {
            m.skip_first(OwnedTerm::message(t));
        } else {
            self.give_back(&mut m);
            m.skip();
        }
        drop(m);
        self.check();
    }
    /// The same. Returns the next message if it is in a slot, as where a receive skips many, and
    /// nothing else has to be done first.
    #[inline]
    pub fn skip_to_next(self) -> Option<Term<'p>> {
        let heap = &self.p.heap;
        let m = self.mailbox_if_any().filter(|m| m.can_exchange() && !heap.gc_due());
        let Some(mut m) = m else {
            self.skip();
            return None;
        };
        self.p.set_flag(flag::UNFETCHED, false);
        let next = m.exchange_lent(self.take_borrowed());
        drop(m);
        let next = next.map(|t| heap.borrow_message(t));
        self.check();
        next
    }
    #[inline]
    pub(super) fn give_back(self, m: &mut Mailbox) {
        if m.borrowed() {
            m.give_back(self.take_borrowed());
        }
    }
    /// The borrowed message, no part of which the process holds any more: a guard that failed may have
    /// left one as the value of its exception, as `map_size(V)` does with `{badmap, V}`, or in what the
    /// stack trace would say of it, as `<<V/binary>>` does.
    #[inline]
    fn take_borrowed(self) -> OwnedTerm {
        self.p.heap.set_root(Root::ExcValue, Term::NIL);
        self.p.heap.set_root(Root::Spare, Term::NIL);
        self.p.heap.take_borrowed_message()
    }
    /// The current message matches: takes it out of the queue. Returns it with its token, if it has
    /// token information.
    #[inline]
    pub fn take(self) -> Option<(OwnedTerm, Term<'p>)> {
        let heap = &self.p.heap;
        if heap.take_message().is_some() {
            return None;
        }
        let message = heap.root(Root::Lent);
        let mut m = self.mailbox();
        if m.keep_lent() {
            heap.keep_borrowed_message();
            heap.set_root(Root::Lent, Term::NIL);
            crate::sched::note_collection(self.p);
        }
        let token = m.take().and_then(|t| t.token);
        drop(m);
        self.check();
        token.map(|token| (token, message))
    }
    /// Joins the memory of a borrowed message to the heap, as the process keeps a part of it; the
    /// message may still go back to the mailbox.
    pub fn keep_lent(self) {
        self.p.heap.keep_borrowed_message();
    }
    /// Moves a first message to the front of the mailbox.
    #[inline]
    pub(super) fn put_first_back(self) -> bool {
        let t = self.p.heap.take_message();
        t.map(|t| self.mailbox().put_before(OwnedTerm::message(t))).is_some()
    }
    /// No received message will match. `fetched`: the process knows of all of them.
    #[inline]
    pub fn skip_all(self, fetched: bool) {
        self.put_first_back();
        let Some(mut m) = self.mailbox_if_any() else { return };
        self.give_back(&mut m);
        if fetched {
            m.fetch();
        }
        m.skip_all();
        drop(m);
        self.check();
    }
    /// The receive is over without a message: the next begins with the oldest.
    pub fn restart(self) {
        self.skip_all(false);
        if let Some(mut m) = self.mailbox_if_any() {
            m.restart();
        }
        self.check();
    }
    /// The receive timed out before it examined the message that woke it.
    pub fn miss(self) {
        let first = self.put_first_back();
        if let Some(mut m) = self.mailbox_if_any().filter(|m| first || m.borrowed()) {
            self.keep_first_unfetched(&mut m);
        }
        self.check();
    }
    /// Moves all messages to the mailbox, for code that expects them there.
    pub fn shelve(self) {
        if self.put_first_back() {
            self.mailbox().restart();
        }
        self.check();
    }

    /// Marks the end of the queue: no present message can hold a reference made later.
    pub fn reserve_marker(self) -> u64 {
        self.mailbox().reserve()
    }
    /// The reference that the marker is for.
    pub fn bind_marker(self, marker: u64, id: RefId) {
        self.mailbox().bind(marker, id);
    }
    pub fn clear_bound_marker(self, id: RefId) {
        if let Some(mut m) = self.mailbox_if_any() {
            m.unbind(id);
        }
    }
    pub fn clear_marker(self, marker: u64) {
        if let Some(mut m) = self.mailbox_if_any() {
            m.unreserve(marker);
        }
    }
    /// The next receive begins after the marker of a reference. A first message is examined in any
    /// case.
    pub fn use_marker(self, id: RefId) {
        self.mailbox().use_marker(id);
        self.check();
    }
}
