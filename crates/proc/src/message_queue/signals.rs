//! Where signals lie before they are handled: the inbox, and the backlog of those that were taken from
//! it and that a turn did not allow for (`crate::pending`).

use kvik_sync::Chain;

use super::MessageQueue;
use crate::process::flag;
use crate::signal_types::Signal;

impl MessageQueue<'_> {
    /// Is there something in the inbox?
    #[inline]
    pub fn has_arrivals(self) -> bool {
        self.p.places.inbox.as_ref().is_some_and(|m| m.has_items())
    }
    /// Are all in the inbox like this? False too where there are more than `most`.
    pub fn arrivals_are_all(self, most: usize, like: impl Fn(&Signal) -> bool) -> bool {
        self.p.places.inbox.as_ref().is_none_or(|m| m.are_all(most, like))
    }
    #[inline]
    pub fn has_backlog(self) -> bool {
        self.flag(flag::PENDING)
    }
    /// What was not handled before, which comes before all in the inbox. It is in the caller's hands
    /// until [`MessageQueue::keep_backlog`], which takes what he leaves of it.
    pub fn take_backlog(self) -> Chain<Signal> {
        let chain = match (self.p.set_flag(flag::PENDING, false), self.existing()) {
            (true, Some(mut k)) => std::mem::take(&mut k.backlog),
            _ => Chain::default(),
        };
        self.check();
        chain
    }
    /// Everything in the inbox; each signal is shown, the last first. Only while there is no backlog,
    /// which would be overtaken.
    #[inline]
    pub fn take_arrivals(self, see: impl FnMut(&Signal)) -> Chain<Signal> {
        debug_assert!(!self.has_backlog());
        self.p.places.inbox.as_ref().map_or_else(Chain::default, |m| m.take(see))
    }
    /// What is left of the signals that were taken last.
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
