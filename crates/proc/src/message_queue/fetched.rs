//! What a process knows of its own queue. In OTP new messages lie in an outer queue until the process
//! fetches them, and one that asks about itself is not told of those. Here messages get to the mailbox
//! at other times; how many OTP would still have in the outer queue is counted. A first or borrowed
//! message is one of them while `flag::UNFETCHED` is set, which a receive clears.

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
    /// So many messages more are in its mailbox that it has not looked for.
    pub fn note_unfetched(self, n: usize) {
        let Some(mut m) = self.mailbox_if_any() else { return };
        let first = self.has_unfetched_first(&m);
        // What was said before of others than those may be over.
        m.unfetched(first);
        m.note_unfetched(n, first);
    }
    /// Is there a message on its heap that it has not looked at?
    fn has_unfetched_first(self, m: &Mailbox) -> bool {
        self.flag(flag::UNFETCHED) && (self.p.heap.message().is_some() || m.lent())
    }
    /// The message on its heap, which goes to the mailbox, is not looked at now.
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
