//! When a process handles its signals, and how many at a time.
//!
//! | when | how many |
//! |---|---|
//! | a time slice begins | what half the time slice allows, or all of it if the process waits |
//! | a `receive` finds nothing | what the rest of the time slice allows |
//! | a BIF must see all signals | all |
//!
//! The inbox is taken whole. The unhandled rest is the backlog ([`crate::message_queue`]). A
//! process with a backlog must not be parked: a sender that finds one parked may bypass the inbox.
//!
//! A process that must end handles no more signals. They are answered after its links and monitors
//! were notified (`exit::ExitProgress`).

use kvik_sync::Chain;

use crate::process::flag;
use crate::signal_types::{Control, Signal};
use crate::trace::bit;
use crate::Proc;

/// Fractions of a reduction in which a signal's price is counted.
const PARTS_PER_REDUCTION: i64 = 4;
/// At least this many reductions' worth are handled, so that a process makes progress.
const MIN_REDUCTIONS: i64 = 16;
/// How many signals are scanned to see whether all are messages.
const SCANNED_SIGNALS: usize = 64;

/// Most signals only change a record; a 'DOWN' or an exit signal often becomes a message.
#[inline]
fn price(s: &Signal) -> i64 {
    match s {
        Signal::Message(_) | Signal::Time => 1,
        Signal::Control(c) => match **c {
            Control::Exit { .. }
            | Control::ExitAlias { .. }
            | Control::Down { .. }
            | Control::Unlink { .. } => PARTS_PER_REDUCTION,
            _ => 1,
        },
        Signal::Run(_) => PARTS_PER_REDUCTION,
    }
}

/// Which kinds were among the signals taken.
#[derive(Default)]
struct Came {
    /// A message, or the end of a wait.
    message: bool,
    /// Signals other than messages and the end of a wait.
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
    /// Whether no signals other than messages are pending, so that the process's state is up to
    /// date.
    pub fn is_settled(&self) -> bool {
        !self.flag(flag::EXITING | flag::ENDING) && !self.has_other_signals()
    }
    /// Whether signals other than messages are pending, as far as a few steps can tell.
    pub fn has_other_signals(&self) -> bool {
        self.flag(flag::SIGNALLED | flag::PENDING)
            || !self.messages().arrivals_are_all(SCANNED_SIGNALS, Signal::is_mail)
    }
    /// Whether it is settled, and has no unfetched message either.
    pub fn is_undisturbed(&self) -> bool {
        self.is_settled() && !self.has_unfetched_messages()
    }
    /// Whether what asks for its state, or gives it a task, need not be a signal. From OTP 27 on
    /// messages that it has not fetched are in the way, too.
    pub fn is_open(&self) -> bool {
        self.is_settled()
            && !(self.has_unfetched_messages() && kvik_release::current().fetches_before_answers())
    }
    /// Whether there are signals, or messages that the process has not fetched.
    #[inline]
    pub fn has_unfetched_messages(&self) -> bool {
        self.flag(flag::UNFETCHED) || self.has_signals()
    }
    /// Whether there are signals taken from the inbox and not handled.
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.messages().has_backlog()
    }
    /// Takes signals from the inbox: messages go to the mailbox, other signals are handled, within
    /// the rest of the time slice.
    #[inline]
    pub fn handle_signals(&self) {
        if self.has_unhandled() {
            self.handle_worth(self.heap.reductions_left());
        }
    }
    #[inline]
    fn has_unhandled(&self) -> bool {
        self.has_pending() || self.messages().has_arrivals()
    }
    /// The same if the process inspects itself: afterwards it knows of all messages.
    pub fn fetch_signals(&self) {
        self.handle_signals();
        self.note_fetch();
    }
    /// The process has fetched its messages.
    pub(crate) fn note_fetch(&self) {
        self.messages().fetch();
    }
    /// The process is collected: in OTP that fetches its messages if they go on its heap.
    pub fn note_collection(&self) {
        if !self.flag(flag::OFF_HEAP_QUEUE) {
            self.note_fetch();
        }
    }
    /// The same if the process requests the collection itself.
    pub fn fetch_for_collection(&self) {
        match self.flag(flag::OFF_HEAP_QUEUE) {
            true => (),
            false if self.is_settled() => self.fetch_signals(),
            false => self.note_fetch(),
        }
    }
    /// How many messages it knows of: those that came since its last fetch do not count, as in OTP.
    pub fn fetched_count(&self) -> usize {
        self.messages().fetched_len()
    }
    /// Whether it has sent itself a signal that it may not have handled.
    pub fn has_sent_to_self(&self) -> bool {
        self.sent_to_self.get()
    }
    pub fn note_sent_to_self(&self) {
        self.sent_to_self.set(true);
    }
    /// All pending signals were handled.
    pub fn forget_sent_to_self(&self) {
        self.sent_to_self.set(false);
    }
    /// It is about to wait for an answer; in OTP that fetches its messages.
    pub fn fetch_messages(&self) {
        if self.is_settled() {
            self.fetch_signals();
        }
    }
    /// Handles all pending signals, when their full effect must be visible.
    pub fn handle_all_signals(&self) {
        self.handle_worth(i64::MAX / PARTS_PER_REDUCTION);
    }
    /// Handles signals at the start of a time slice. A process that does not wait keeps half the
    /// time slice for itself, however many there are.
    ///
    /// A waiting process that is suspended by one signal and resumed by another runs in a later
    /// time slice: as in OTP, where handling such a signal takes a whole time slice for signals
    /// alone.
    pub(crate) fn handle_first_signals(&self) {
        let dormant = self.flag(flag::WAITING | flag::ROUSED) && !self.flag(flag::UNFETCHED);
        let signalled = self.set_flag(flag::SIGNALLED, false);
        if signalled {
            self.set_flag(flag::UNFETCHED | flag::ROUSED, false);
            self.end_replied_monitor();
        }
        let waits = self.flag(flag::WAITING | flag::SUSPENDED);
        let came = match self.has_unhandled() {
            true => self.handle_worth(self.heap.reductions_left() >> !waits as u32),
            false => Came::default(),
        };
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
        let all = reductions.max(MIN_REDUCTIONS) * PARTS_PER_REDUCTION;
        let mut left = all;
        // What is only mail costs nothing, with the meter's stamp in it or not.
        let mut costs = self.has_pending() || self.is_traced(bit::RECEIVE);
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
            costs |= came.signals;
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
        if costs {
            self.heap.bump_reductions((all - left) / PARTS_PER_REDUCTION);
        }
        if self.heap.max_words() > 0 {
            self.check_queue();
        }
        came
    }
    /// Handles signals worth up to `parts`, and keeps the others as the backlog. Returns the parts
    /// left.
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
    /// Messages alone may exceed `max_heap_size`, and a process that takes none of them may never
    /// be collected: requests a collection, which finds that out.
    #[cold]
    fn check_queue(&self) {
        if self.messages().has_grown() && self.queue_words() > self.heap.max_words() {
            self.ask_for_gc(false);
        }
    }
}
