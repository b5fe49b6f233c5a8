//! [`MessageQueue`]: the messages a process was sent and has not taken yet, in all the places where
//! one may be. Only its methods move a message from one place to the next; the code that sends,
//! handles signals and receives calls them.
//!
//! | place, the oldest messages first | what is there |
//! |---|---|
//! | first message: `Root::Message` | at most one message, on the process's heap; native code takes it with one load |
//! | mailbox: slots | messages in memory of their own. The one at the save pointer may be borrowed: it is `Root::Lent`, and its slot is empty |
//! | mailbox: chain | messages still linked as in the inbox |
//! | backlog | signals that were taken from the inbox and not handled: `flag::PENDING` |
//! | inbox | shared with senders: [`kvik_sync::Inbox`](kvik_sync::inbox::Inbox) |
//!
//! Priority messages are the first slots of the mailbox. One that arrives goes behind them, is
//! examined next, and then the receive goes on where it was; a first message is moved behind it.
//!
//! The first three hold *received* messages, which `message_queue_len` counts. In the last two,
//! messages lie among other signals, and those before a message have to be handled first.
//!
//! Invariants, asserted in debug builds wherever a message moves:
//!
//! 1. A message in one place is older than all in the places after it: a first message is older
//!    than the mailbox, slots than the chain, received messages than the backlog, the backlog than
//!    the inbox. So a message is appended to the mailbox only while there is no backlog, or from
//!    the backlog's front; the inbox is taken only while there is no backlog; and a `receive` takes
//!    nothing from the mailbox while there is a first message.
//! 2. No message is in two places. With a first message none is borrowed, and with none borrowed
//!    `Root::Lent` is empty.
//! 3. The number of received messages is that in the mailbox, plus one for a first message. The
//!    mailbox counts a borrowed one.
//! 4. The save pointer lies between the first position and the end. A first message has the position
//!    before the mailbox's first.
//! 5. With a priority message there is no first message; among themselves priority messages are in
//!    the order of arrival, whatever that of ordinary ones.
//! 6. `flag::PENDING` is set exactly while there is a backlog, and a process with one is not parked.
//! 7. The unfetched messages are the newest ones in the mailbox: see [`fetched`].
//!
//! `docs/internals/messages.md` has the places and moves as a diagram.

mod arrive;
mod fetched;
mod mailbox;
mod matching;
mod recv_marker;
mod signals;
#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell, RefMut};

use kvik_heap::literal::Leaving;
use kvik_heap::roots::Root;
use kvik_sync::Chain;
use kvik_term::Term;

use crate::process::flag;
use crate::signal_types::Signal;
use crate::{Proc, SelfHandle};

pub use arrive::Accepted;
pub(crate) use mailbox::Mailbox;
pub use matching::Peek;

/// The parts of a process's queue that are not on its heap.
pub(crate) struct Places {
    /// The consumer's end of the inbox. None if the process is in no table.
    inbox: Option<SelfHandle>,
    /// Allocated when the first message is put there: most waiting processes need none.
    kept: OnceCell<Box<RefCell<Kept>>>,
}

#[derive(Default)]
struct Kept {
    mailbox: Mailbox,
    backlog: Chain<Signal>,
}

impl Places {
    #[inline(always)]
    pub fn new(inbox: Option<SelfHandle>) -> Places {
        Places { inbox, kept: OnceCell::new() }
    }
    /// The process's handle on its task.
    #[inline]
    pub fn me(&self) -> Option<&SelfHandle> {
        self.inbox.as_ref()
    }
    /// Drops the mailbox if it is empty. False: there is a backlog, and it should be tried again.
    pub fn drop_spare(&mut self) -> bool {
        let Some(kept) = self.kept.get_mut().map(|k| k.get_mut()) else { return true };
        let backlog = !kept.backlog.is_empty();
        if !backlog && kept.mailbox.is_spare() {
            self.kept.take();
        }
        !backlog
    }
    /// Takes the mailbox of a process that ends, if it has more than `than` messages.
    pub fn take_many(&mut self, than: usize) -> Option<Mailbox> {
        let kept = self.kept.get_mut()?.get_mut();
        (kept.mailbox.len() > than).then(|| std::mem::take(&mut kept.mailbox))
    }
}

/// The queue of a process, for code that may touch the process.
#[derive(Copy, Clone)]
pub(crate) struct MessageQueue<'p> {
    p: &'p Proc,
}

impl Proc {
    /// The messages it has not taken.
    #[inline(always)]
    pub(crate) fn messages(&self) -> MessageQueue<'_> {
        MessageQueue { p: self }
    }
}

impl<'p> MessageQueue<'p> {
    #[inline]
    fn kept(self) -> RefMut<'p, Kept> {
        self.p.places.kept.get_or_init(Box::default).borrow_mut()
    }
    #[inline]
    fn existing(self) -> Option<RefMut<'p, Kept>> {
        Some(self.p.places.kept.get()?.borrow_mut())
    }
    /// The mailbox, which is allocated if missing.
    #[inline]
    fn mailbox(self) -> RefMut<'p, Mailbox> {
        RefMut::map(self.kept(), |k| &mut k.mailbox)
    }
    /// The mailbox, if there is one.
    #[inline]
    fn mailbox_if_any(self) -> Option<RefMut<'p, Mailbox>> {
        Some(RefMut::map(self.existing()?, |k| &mut k.mailbox))
    }
    #[inline]
    fn flag(self, f: u32) -> bool {
        self.p.flag(f)
    }

    /// Messages received and not taken.
    pub fn len(self) -> usize {
        let first = self.p.heap.message().is_some() as usize;
        first + self.mailbox_if_any().map_or(0, |m| m.len())
    }
    /// Words of the messages in the mailbox.
    pub fn words(self) -> usize {
        self.mailbox_if_any().map_or(0, |m| m.iter().map(|m| m.words()).sum())
    }
    /// An estimate of [`MessageQueue::words`], from the first `most` messages if there are more.
    pub fn words_about(self, most: usize) -> usize {
        let Some(m) = self.mailbox_if_any() else { return 0 };
        let words: usize = m.iter().take(most).map(|m| m.words()).sum();
        match m.len() {
            n if n > most => (words as u128 * n as u128 / most.max(1) as u128) as usize,
            _ => words,
        }
    }
    /// Calls `f` with each message, the oldest first.
    pub fn each(self, mut f: impl FnMut(Term<'_>)) {
        let heap = &self.p.heap;
        if let Some(t) = heap.message() {
            f(t);
        }
        let Some(m) = self.mailbox_if_any() else { return };
        if m.borrowed() {
            let (before, after) = m.iter_around();
            before.for_each(|t| f(t.term()));
            f(heap.root(Root::Lent));
            after.for_each(|t| f(t.term()));
        } else {
            m.iter().for_each(|t| f(t.term()));
        }
    }
    /// Whether the messages have grown by an eighth since this was last true.
    pub fn has_grown(self) -> bool {
        self.mailbox_if_any().is_some_and(|mut m| m.has_grown())
    }
    /// Gives the newest messages their slots, so that the next receive that skips some need not.
    pub fn settle(self) {
        if let Some(mut m) = self.mailbox_if_any() {
            m.settle();
        }
        self.check();
    }
    /// Copies messages outside the heap so that none shares these literals any more. The inbox
    /// holds none: the request is a signal that was handled after what lay there.
    pub fn copy_literals(self, leaving: &Leaving) {
        if let Some(mut m) = self.mailbox_if_any() {
            m.copy_literals(leaving);
        }
    }

    /// Asserts the invariants that can be checked in a few steps.
    #[inline(always)]
    fn check(self) {
        if cfg!(debug_assertions) {
            self.assert_invariants();
        }
    }
    fn assert_invariants(self) {
        let first = self.p.heap.message().is_some();
        let kept = self.existing();
        let m = kept.as_ref().map(|k| &k.mailbox);
        let borrowed = m.is_some_and(|m| m.borrowed());
        assert!(!(first && borrowed), "a first message and a borrowed one");
        assert!(
            borrowed || self.p.heap.root(Root::Lent).is_nil(),
            "a borrowed message without a slot"
        );
        let backlog = kept.as_ref().is_some_and(|k| !k.backlog.is_empty());
        assert!(backlog == self.flag(flag::PENDING), "the backlog and its flag");
        if let Some(m) = m {
            m.assert_invariants();
        }
    }
}
