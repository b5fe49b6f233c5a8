//! Signals before they are handled: the inbox, and the backlog of those that were taken from it and
//! exceeded the budget of a time slice (`crate::signal_budget`).

use kvik_sync::Chain;

use super::MessageQueue;
use crate::process::flag;
use crate::signal_types::Signal;

impl MessageQueue<'_> {
    /// Whether the inbox has signals.
    #[inline]
    pub fn has_arrivals(self) -> bool {
        self.p.places.inbox.as_ref().is_some_and(|m| m.has_items())
    }
    /// Whether all signals in the inbox satisfy `like`. False too if there are more than `most`.
    pub fn arrivals_are_all(self, most: usize, like: impl Fn(&Signal) -> bool) -> bool {
        self.p.places.inbox.as_ref().is_none_or(|m| m.are_all(most, like))
    }
    #[inline]
    pub fn has_backlog(self) -> bool {
        self.flag(flag::PENDING)
    }
    /// Takes the backlog, which precedes all signals in the inbox. The caller returns the unhandled
    /// rest with [`MessageQueue::keep_backlog`].
    pub fn take_backlog(self) -> Chain<Signal> {
        let chain = match (self.p.set_flag(flag::PENDING, false), self.existing()) {
            (true, Some(mut k)) => std::mem::take(&mut k.backlog),
            _ => Chain::default(),
        };
        self.check();
        chain
    }
    /// Takes all signals in the inbox; `see` is called with each, the last first. Only while there
    /// is no backlog, as the signals would overtake it.
    #[inline]
    pub fn take_arrivals(self, see: impl FnMut(&Signal)) -> Chain<Signal> {
        debug_assert!(!self.has_backlog());
        self.p.places.inbox.as_ref().map_or_else(Chain::default, |m| m.take(see))
    }
    /// Stores the unhandled rest of the signals taken last.
    pub fn keep_backlog(self, left: Chain<Signal>) {
        debug_assert!(!self.has_backlog());
        if left.is_empty() {
            return;
        }
        if self.p.places.kept.get().is_none() {
            self.p.set_flag(flag::SPARE_MAILBOX, true);
        }
        self.kept().backlog = left;
        self.p.set_flag(flag::PENDING, true);
        self.check();
    }
}
