//! The messages a process knows of. In OTP new messages lie in an outer queue until the process
//! fetches them, and a process that inspects itself does not see them. Here messages reach the
//! mailbox at other times, so the mailbox counts how many OTP would still have in the outer queue.
//! A first or borrowed message is one of them while `flag::UNFETCHED` is set, which a receive
//! clears.

use super::mailbox::Mailbox;
use super::MessageQueue;
use crate::process::flag;

impl MessageQueue<'_> {
    /// The process knows of all that was received.
    pub fn fetch(self) {
        self.p.set_flag(flag::UNFETCHED, false);
        if let Some(mut m) = self.mailbox_if_any() {
            m.fetch();
        }
    }
    /// Notes `n` more messages in the mailbox that the process has not fetched.
    pub fn note_unfetched(self, n: usize) {
        let Some(mut m) = self.mailbox_if_any() else { return };
        let first = self.has_unfetched_first(&m);
        // Earlier notes about other messages may be out of date.
        m.unfetched(first);
        m.note_unfetched(n, first);
    }
    /// Whether the message on its heap was not examined.
    fn has_unfetched_first(self, m: &Mailbox) -> bool {
        self.flag(flag::UNFETCHED) && (self.p.heap.message().is_some() || m.borrowed())
    }
    /// The message on its heap moves to the mailbox without being examined now.
    pub(super) fn keep_first_unfetched(self, m: &mut Mailbox) {
        if self.flag(flag::UNFETCHED) {
            m.keep_first_unfetched();
        }
    }
    /// How many messages the process knows of.
    pub fn fetched_len(self) -> usize {
        let (first, others) = match self.mailbox_if_any() {
            Some(mut m) => {
                let first = self.has_unfetched_first(&m);
                (first, m.unfetched(first))
            }
            None => (self.flag(flag::UNFETCHED) && self.p.heap.message().is_some(), 0),
        };
        self.len().saturating_sub(first as usize + others)
    }
}
