//! When a process handles its signals, and how many at a time.
//!
//! | where | as many as |
//! |---|---|
//! | a turn begins | half the turn allows, or all of it where the process waits |
//! | a `receive` finds nothing | what is left of the turn allows |
//! | a BIF is to see what has come | there are |
//!
//! The inbox is taken whole. What of it was not handled is the backlog ([`crate::message_queue`]). A
//! process with one must not be parked: who finds one parked may hand it a signal past the inbox.
//!
//! A process that must end handles none any more. They are answered when links and monitors have been
//! told (`exit::Farewell`).

use kvik_sync::Chain;

use crate::process::flag;
use crate::signal_types::{Control, Signal};
use crate::trace::bit;
use crate::Proc;

/// Parts of a reduction in which the price of a signal is counted.
const PARTS: i64 = 4;
/// So many reductions' worth are handled at least, that a process may go on at all.
const LEAST: i64 = 16;
/// How many signals are looked at to tell whether all are messages.
const LOOK: usize = 64;

/// Most leave a note and no more; a 'DOWN' or an exit signal often becomes a message.
#[inline]
fn price(s: &Signal) -> i64 {
    match s {
        Signal::Message(_) | Signal::Time => 1,
        Signal::Control(c) => match **c {
            Control::Exit { .. } | Control::Down { .. } | Control::Unlink { .. } => PARTS,
            _ => 1,
        },
        Signal::Run(_) => PARTS,
    }
}

/// What was among the signals that were taken.
#[derive(Default)]
struct Came {
    /// A message, or the end of a wait.
    message: bool,
    /// Others than messages and the end of a wait.
    signals: bool,
    suspension: bool,
}

impl Came {
    fn note(&mut self, s: &Signal) {
        self.message |= s.is_mail();
        self.signals |= !s.is_mail();
        self.suspension |=
            matches!(s, Signal::Control(c) if matches!(**c, Control::Suspend { .. }));
    }
}

impl Proc {
    #[inline]
    pub fn has_signals(&self) -> bool {
        self.flag(flag::PENDING | flag::SIGNALLED) || self.messages().has_arrivals()
    }
    /// Is there no signal but messages that it has yet to handle, so that what it says of itself is
    /// true now?
    pub fn is_settled(&self) -> bool {
        !self.flag(flag::EXITING | flag::ENDING) && !self.has_other_signals()
    }
    /// Are there signals other than messages that it has yet to handle, as far as a few steps tell?
    pub fn has_other_signals(&self) -> bool {
        self.flag(flag::SIGNALLED | flag::PENDING)
            || !self.messages().arrivals_are_all(LOOK, Signal::is_mail)
    }
    /// The same, and no message either that it has not looked for.
    pub fn is_undisturbed(&self) -> bool {
        self.is_settled() && !self.flag(flag::UNFETCHED) && !self.has_signals()
    }
    /// Are there signals left that were taken from the inbox and not handled?
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.messages().has_backlog()
    }
    /// Takes what has come in: messages go to the mailbox, other signals are handled. As far as the
    /// turn goes.
    #[inline]
    pub fn handle_signals(&self) {
        self.handle_worth(self.heap.reductions_left());
    }
    /// The same where the process looks at itself: what has come is known to it then.
    pub fn fetch_signals(&self) {
        self.handle_signals();
        self.note_fetch();
    }
    /// Signals were handled, or taken over with its messages: it knows of all that has come.
    pub(crate) fn note_fetch(&self) {
        self.messages().fetch();
    }
    /// It is collected: in OTP that takes over the messages that have come, where they are to be on its heap.
    pub fn note_collection(&self) {
        if !self.flag(flag::OFF_HEAP_QUEUE) {
            self.note_fetch();
        }
    }
    /// The same where it asks for that itself.
    pub fn fetch_for_collection(&self) {
        match self.flag(flag::OFF_HEAP_QUEUE) {
            true => (),
            false if self.is_settled() => self.fetch_signals(),
            false => self.note_fetch(),
        }
    }
    /// How many messages it knows of itself: those that have come since it last looked for new ones do
    /// not count, as in OTP.
    pub fn fetched_count(&self) -> usize {
        self.messages().fetched_len()
    }
    /// Has it sent itself something that it may not have handled?
    pub fn has_sent_to_self(&self) -> bool {
        self.sent_to_self.get()
    }
    pub fn note_sent_to_self(&self) {
        self.sent_to_self.set(true);
    }
    /// All that has come was handled.
    pub fn forget_sent_to_self(&self) {
        self.sent_to_self.set(false);
    }
    /// It is about to wait for an answer, and in OTP it takes over the messages that have come.
    pub fn fetch_messages(&self) {
        if self.is_settled() {
            self.fetch_signals();
        }
    }
    /// The same with all that has come, where somebody wants to see what it comes to.
    pub fn handle_all_signals(&self) {
        self.handle_worth(i64::MAX / PARTS);
    }
    /// Before it runs. One that doesn't wait has half its turn for itself, however many come.
    ///
    /// Who was waiting and is suspended by one of them, and resumed by another, has its turn later: as in
    /// OTP, where to handle such a signal takes all of a turn that is for signals alone.
    pub(crate) fn handle_first_signals(&self) {
        let dormant = self.flag(flag::WAITING | flag::ROUSED) && !self.flag(flag::UNFETCHED);
        let signalled = self.set_flag(flag::SIGNALLED, false);
        if signalled {
            self.set_flag(flag::UNFETCHED | flag::ROUSED, false);
            self.end_replied_monitor();
        }
        let waits = self.flag(flag::WAITING | flag::SUSPENDED);
        let came = self.handle_worth(self.heap.reductions_left() >> !waits as u32);
        if signalled || came.signals {
            self.note_fetch();
            if !self.has_pending() {
                self.forget_sent_to_self();
            }
        }
        if came.suspension && !came.message && dormant {
            self.sit_out();
        }
    }
    fn handle_worth(&self, reductions: i64) -> Came {
        let mut came = Came::default();
        if self.is_exiting() {
            return came;
        }
        let queue = self.messages();
        let all = reductions.max(LEAST) * PARTS;
        let mut left = all;
        if self.has_pending() {
            left = self.handle_chain(queue.take_backlog(), left);
        }
        if !self.has_pending() && !self.is_exiting() {
            let (mut messages, mut controls, mut others) = (0, 0, false);
            let new = queue.take_arrivals(|s| match s {
                Signal::Message(_) => messages += 1,
                s => {
                    others = true;
                    controls += (matches!(s, Signal::Control(_)) && s.is_mail()) as usize;
                    came.note(s);
                }
            });
            came.message |= messages > 0;
            if others || self.is_traced(bit::RECEIVE) {
                left = self.handle_chain(new, left);
                if !came.signals && messages + controls > 0 {
                    queue.note_unfetched(messages + controls);
                    self.set_flag(flag::UNFETCHED, true);
                }
            } else if messages > 0 {
                queue.append(new, messages);
            } else if left == all {
                return came;
            }
        }
        self.heap.bump_reductions((all - left) / PARTS);
        if self.heap.max_words() > 0 {
            self.check_queue();
        }
        came
    }
    /// Handles signals for so many parts of a reduction, and keeps the others. What is left of the
    /// parts.
    fn handle_chain(&self, mut chain: Chain<Signal>, mut parts: i64) -> i64 {
        while parts > 0 && !self.is_exiting() {
            let Some(s) = chain.next() else { return parts };
            parts -= price(&s);
            self.set_flag(flag::MORE, !chain.is_empty());
            self.handle(s);
        }
        self.messages().keep_backlog(chain);
        parts
    }
    /// Messages alone may be more than `max_heap_size` allows: a collection is to find that out,
    /// which a process that takes none of them may never come to.
    #[cold]
    fn check_queue(&self) {
        if self.messages().has_grown() && self.queue_words() > self.heap.max_words() {
            self.ask_for_gc(false);
        }
    }
}
