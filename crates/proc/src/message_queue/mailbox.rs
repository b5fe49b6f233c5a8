//! [`Mailbox`]: the received messages, except a first message on the heap; with the save pointer
//! and receive markers. Only [`MessageQueue`](super::MessageQueue) changes it.
//!
//! Positions of messages only grow. A message taken from the middle leaves a gap. Gaps at either
//! end are removed at once; when gaps make up more than half, or were stepped over often, the
//! mailbox is compacted. The newest messages stay in the inbox's chain as long as they are taken in
//! order.

use std::collections::VecDeque;

use kvik_heap::literal::Leaving;
use kvik_heap::OwnedTerm;
use kvik_sync::Chain;

use super::recv_marker::Markers;
use crate::sched::mailbox_latency;
use crate::signal_types::{RefId, Signal};

/// The content of a position.
enum Slot {
    Gap,
    Message(OwnedTerm),
    /// A message with the token it gives the receiver: see [`crate::seq_trace`].
    Tokened(Box<Tokened>),
    /// A message with its send time in ticks: see [`crate::sched::mailbox_latency`].
    Stamped(Box<(OwnedTerm, u64)>),
}

struct Tokened {
    message: OwnedTerm,
    token: OwnedTerm,
}

impl Slot {
    #[inline]
    fn message(&self) -> Option<&OwnedTerm> {
        match self {
            Slot::Gap => None,
            Slot::Message(m) => Some(m),
            Slot::Tokened(t) => Some(&t.message),
            Slot::Stamped(m) => Some(&m.0),
        }
    }
    #[inline]
    fn message_mut(&mut self) -> Option<&mut OwnedTerm> {
        match self {
            Slot::Gap => None,
            Slot::Message(m) => Some(m),
            Slot::Tokened(t) => Some(&mut t.message),
            Slot::Stamped(m) => Some(&mut m.0),
        }
    }
    #[inline]
    fn is_gap(&self) -> bool {
        matches!(self, Slot::Gap)
    }
}

/// A message that was taken out, and its token, if any: an empty list ends the receiver's.
pub(super) struct TakenMessage {
    pub message: OwnedTerm,
    pub token: Option<OwnedTerm>,
}

pub(crate) struct Mailbox {
    slots: VecDeque<Slot>,
    /// How many of them are [`Slot::Tokened`].
    tokened: usize,
    /// Messages after the slots, and nothing else.
    fresh: Chain<Signal>,
    fresh_len: usize,
    /// The position of the first slot.
    base: u64,
    /// The position of the next message to examine (the save pointer).
    save: u64,
    /// The number of slots of priority messages, which come first.
    priority: usize,
    /// While the save pointer is among them, because one came during a receive: the position of an
    /// ordinary message at which the receive continues.
    resume: Option<u64>,
    gaps: usize,
    /// Steps over gaps since the last compaction.
    walked: usize,
    markers: Option<Box<Markers>>,
    /// The message at the save pointer is on the process's heap, as `Root::Lent`; its slot is an
    /// empty list.
    borrowed: bool,
    /// The first message was examined and not taken: it likely stays for a while, so copying it to
    /// the heap does not pay.
    selective: bool,
    /// The length at which [`Mailbox::has_grown`] is true next.
    look: usize,
    /// How many of the newest messages its process does not know of: see [`Mailbox::unfetched`].
    unfetched: usize,
    /// The unfetched messages came after a message on the heap, and are fetched together with it.
    with_first: bool,
}

/// The position of the first message. A first message on the heap may be before it, and priority
/// messages take the positions before the ordinary ones.
const FIRST: u64 = 1 << 48;

/// Prefetch distance, in messages.
const PREFETCH_DISTANCE: usize = 4;

impl Default for Mailbox {
    fn default() -> Mailbox {
        Mailbox {
            slots: VecDeque::new(),
            tokened: 0,
            fresh: Chain::default(),
            fresh_len: 0,
            base: FIRST,
            save: FIRST,
            priority: 0,
            resume: None,
            gaps: 0,
            walked: 0,
            markers: None,
            borrowed: false,
            selective: false,
            look: 0,
            unfetched: 0,
            with_first: false,
        }
    }
}

impl Mailbox {
    #[inline]
    pub(super) fn push(&mut self, m: OwnedTerm) {
        self.settle();
        self.slots.push_back(Slot::Message(m));
    }
    /// The same with its send time.
    pub(super) fn push_stamped(&mut self, m: OwnedTerm, sent: u64) {
        self.settle();
        self.slots.push_back(Slot::Stamped(Box::new((m, sent))));
    }
    /// The same with a token, or an empty list for none.
    pub(super) fn push_tokened(&mut self, message: OwnedTerm, token: OwnedTerm) {
        self.settle();
        self.tokened += 1;
        self.slots.push_back(Slot::Tokened(Box::new(Tokened { message, token })));
    }
    /// A priority message, with a token (or an empty list for none) while tokens matter.
    pub(super) fn push_priority(&mut self, message: OwnedTerm, token: Option<OwnedTerm>) {
        debug_assert!(!self.borrowed);
        self.pass_gaps();
        let slot = match token {
            None => Slot::Message(message),
            Some(token) => {
                self.tokened += 1;
                Slot::Tokened(Box::new(Tokened { message, token }))
            }
        };
        let (place, next) = (self.priority, (self.save - self.base) as usize);
        self.slots.insert(place, slot);
        // Ordinary messages keep their positions.
        self.base -= 1;
        self.priority += 1;
        if next > place {
            self.resume = Some(self.save);
            self.save = self.base + place as u64;
        } else {
            self.save -= 1;
        }
    }
    /// Marks all present messages as sent without a token.
    pub(super) fn no_tokens(&mut self) {
        self.settle();
        for s in &mut self.slots {
            let (message, token) = match std::mem::replace(s, Slot::Gap) {
                Slot::Gap => continue,
                Slot::Message(m) => (m, OwnedTerm::default()),
                Slot::Tokened(t) => (t.message, OwnedTerm::default()),
                Slot::Stamped(m) => (m.0, OwnedTerm::default()),
            };
            *s = Slot::Tokened(Box::new(Tokened { message, token }));
        }
        self.tokened = self.slots.len() - self.gaps;
    }
    /// Frees up to `most` messages of a process that has ended. True if all are gone.
    pub(crate) fn free_some(&mut self, most: usize) -> bool {
        (0..most).any(|_| self.slots.pop_front().is_none() && self.fresh.next().is_none())
    }
    /// Whether any message carries token information.
    pub(super) fn has_tokens(&self) -> bool {
        self.tokened != 0
    }
    /// Appends a chain of `n` messages and nothing else.
    #[inline]
    pub(super) fn append(&mut self, new: Chain<Signal>, n: usize) {
        self.fresh.append(new);
        self.fresh_len += n;
    }
    /// Gives each message a slot.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.fresh_len > 0 {
            self.settle_all();
        }
    }
    fn settle_all(&mut self) {
        self.slots.reserve(self.fresh_len);
        self.fresh_len = 0;
        let new = std::mem::take(&mut self.fresh);
        self.slots.extend(new.filter_map(|s| s.into_message().map(Slot::Message)));
    }
    fn end(&self) -> u64 {
        self.base + (self.slots.len() + self.fresh_len) as u64
    }
    /// Messages in it.
    pub(super) fn len(&self) -> usize {
        self.slots.len() + self.fresh_len - self.gaps
    }
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether it is empty and has no markers.
    pub(super) fn is_spare(&self) -> bool {
        self.is_empty() && self.markers.is_none()
    }
    /// Asserts what can be checked in a few steps.
    pub(super) fn assert_invariants(&self) {
        assert!(self.base <= self.save && self.save <= self.end(), "the save pointer");
        assert!(self.fresh.is_empty() == (self.fresh_len == 0), "the length of the chain");
        assert!(self.gaps <= self.slots.len() && self.tokened + self.gaps <= self.slots.len());
        assert!(!self.slots.front().is_some_and(Slot::is_gap), "a gap at the front");
        assert!(self.fresh_len > 0 || !self.slots.back().is_some_and(Slot::is_gap), "at the end");
        assert!(self.unfetched <= self.len(), "what was not fetched");
        assert!(self.priority <= self.slots.len(), "priority messages");
        let ordinary = self.base + self.priority as u64;
        let resumes = |at| self.save < ordinary && ordinary <= at && at <= self.end();
        assert!(self.resume.is_none_or(resumes), "where the receive continues");
        let borrowed = || self.slots.get((self.save - self.base) as usize)?.message();
        assert!(!self.borrowed || borrowed().is_some_and(|m| m.term().is_nil()), "a borrowed slot");
    }
    /// Whether it has grown by an eighth since this was last true: limits how often work over all
    /// messages is done.
    pub(super) fn has_grown(&mut self) -> bool {
        let n = self.len();
        let grown = n >= self.look;
        if grown || n < self.look / 2 {
            self.look = n + n / 8 + 16;
        }
        grown
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &OwnedTerm> {
        self.slots
            .iter()
            .filter_map(Slot::message)
            .chain(self.fresh.iter().filter_map(Signal::message))
    }
    /// Copies messages so that none shares these literals any more.
    pub(super) fn copy_literals(&mut self, leaving: &Leaving) {
        self.settle();
        for m in
            self.slots.iter_mut().filter_map(Slot::message_mut).filter(|m| m.may_refer(leaving))
        {
            *m = m.clone();
        }
    }
    /// The message at the save pointer.
    #[inline]
    pub(super) fn current(&mut self) -> Option<&mut OwnedTerm> {
        self.pass_gaps();
        let i = (self.save - self.base) as usize;
        if i >= self.slots.len() {
            self.settle();
        }
        self.slots.get_mut(i)?.message_mut()
    }
    /// Takes the message at the save pointer to be borrowed; its slot stays, empty.
    #[inline]
    pub(super) fn lend(&mut self) -> Option<OwnedTerm> {
        let m = self.current().map(std::mem::take)?;
        self.borrowed = true;
        Some(m)
    }
    /// Adds an empty slot for a borrowed message at the save pointer, which is at the end.
    #[inline]
    pub(super) fn push_lent(&mut self) {
        debug_assert!(self.at_end() && !self.borrowed);
        self.push(OwnedTerm::default());
        self.borrowed = true;
    }
    #[inline]
    pub(super) fn borrowed(&self) -> bool {
        self.borrowed
    }
    /// Returns the borrowed message to its slot.
    #[inline]
    pub(super) fn give_back(&mut self, m: OwnedTerm) {
        debug_assert!(self.borrowed);
        self.borrowed = false;
        if let Some(slot) = self.current() {
            *slot = m;
        }
    }
    /// The borrowed message stays on the heap; the caller takes its slot out. False: none is
    /// borrowed.
    #[inline]
    pub(super) fn keep_lent(&mut self) -> bool {
        std::mem::take(&mut self.borrowed)
    }
    /// Whether every message was examined.
    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.save == self.end()
    }
    /// The messages before and after the one at the save pointer.
    pub(super) fn iter_around(
        &self,
    ) -> (impl Iterator<Item = &OwnedTerm>, impl Iterator<Item = &OwnedTerm>) {
        let i = (self.save - self.base) as usize;
        let fresh = self.fresh.iter().filter_map(Signal::message);
        let after = self.slots.iter().skip(i + 1).filter_map(Slot::message).chain(fresh);
        (self.slots.iter().take(i).filter_map(Slot::message), after)
    }
    /// Whether there is a message that was not examined.
    pub(super) fn has_next(&mut self) -> bool {
        self.current().is_some()
    }
    /// Reserves the first position for a message on the heap. False: there are other messages.
    #[inline]
    pub(super) fn make_room_before(&mut self) -> bool {
        let empty = self.slots.is_empty() && self.fresh_len == 0;
        if empty {
            self.fetch();
            self.base += 1;
            self.save = self.base;
        }
        empty
    }
    /// How many of the newest messages arrived since its process last fetched: in OTP they would
    /// still be in its outer queue. `first`: it has not examined the one on its heap.
    pub(super) fn unfetched(&mut self, first: bool) -> usize {
        if self.with_first && !first {
            self.fetch();
        }
        self.unfetched
    }
    /// The `n` newest messages have arrived, besides those not fetched before.
    pub(super) fn note_unfetched(&mut self, n: usize, with_first: bool) {
        self.unfetched += n;
        self.with_first |= with_first;
    }
    /// The message on the heap moves here, unfetched.
    pub(super) fn keep_first_unfetched(&mut self) {
        self.unfetched += 1;
        self.with_first = false;
    }
    /// Its process fetches all messages.
    #[inline]
    pub(super) fn fetch(&mut self) {
        self.unfetched = 0;
        self.with_first = false;
    }
    /// If the receive examines an unfetched message, all are fetched.
    #[inline]
    pub(super) fn fetch_to_look(&mut self) {
        if self.unfetched > 0 {
            self.pass_gaps();
            let left = self.end() - self.save;
            if left > 0 && left <= self.unfetched as u64 {
                self.fetch();
            }
        }
    }
    fn pass_gaps(&mut self) {
        while self.slots.get((self.save - self.base) as usize).is_some_and(Slot::is_gap) {
            self.step();
            self.walked += 1;
        }
    }
    /// On to the next message. Behind the priority messages the receive continues where it was.
    #[inline]
    fn step(&mut self) {
        self.save += 1;
        if self.resume.is_some() && self.save - self.base >= self.priority as u64 {
            self.save = self.resume.take().unwrap_or(self.save);
        }
    }
    /// Words of the message at the save pointer, if it is the first one and worth copying.
    #[inline]
    pub(super) fn front_words(&self) -> Option<usize> {
        if self.save != self.base || self.selective || self.priority > 0 {
            return None;
        }
        let first = match self.slots.front() {
            // Its latency ends when it is taken, not when it is examined.
            Some(Slot::Stamped(_)) => None,
            Some(s) => s.message(),
            None => self.fresh.first().and_then(Signal::message),
        };
        first.map(|m| m.words())
    }
    /// Takes the first message, with the save pointer on it; its position remains for `put_before`.
    #[inline]
    pub(super) fn take_front(&mut self) -> Option<OwnedTerm> {
        if self.slots.is_empty() {
            let m = self.fresh.next()?.into_message()?;
            self.fresh_len -= 1;
            self.base += 1;
            self.save = self.base;
            return Some(m);
        }
        let first = self.slots.pop_front()?;
        self.base += 1;
        while self.slots.front().is_some_and(Slot::is_gap) {
            self.slots.pop_front();
            self.base += 1;
            self.gaps -= 1;
        }
        self.save = self.base;
        self.taken(first).map(|t| t.message)
    }
    /// Puts the message on the heap, once examined, into the position reserved for it.
    pub(super) fn put_before(&mut self, m: OwnedTerm) {
        debug_assert!(self.priority == 0);
        self.slots.push_front(Slot::Message(m));
        self.base -= 1;
    }
    /// The same in a receive that matches it against patterns.
    #[inline]
    pub(super) fn skip_first(&mut self, m: OwnedTerm) {
        self.selective = true;
        self.put_before(m);
    }
    /// No present message will match.
    #[inline]
    pub(super) fn skip_all(&mut self) {
        self.settle();
        self.save = self.end();
        self.resume = None;
    }
    /// The message at the save pointer doesn't match.
    #[inline]
    pub(super) fn skip(&mut self) {
        if self.save < self.end() {
            self.step();
        }
        // Messages are scattered in memory, so the next ones are prefetched.
        let soon = self.slots.get((self.save - self.base) as usize + PREFETCH_DISTANCE);
        if let Some(m) = soon.and_then(Slot::message) {
            m.prefetch();
        }
    }
    /// Whether the message at the save pointer is borrowed, and the next one is simply that behind it.
    #[inline]
    pub(super) fn can_exchange(&self) -> bool {
        self.borrowed && self.resume.is_none() && self.unfetched == 0
    }
    /// `give_back` and `skip`, and then `lend` of the next message if it has a slot. To be called if
    /// `can_exchange`.
    #[inline]
    pub(super) fn exchange_lent(&mut self, back: OwnedTerm) -> Option<OwnedTerm> {
        let i = (self.save - self.base) as usize;
        if let Some(slot) = self.slots.get_mut(i).and_then(Slot::message_mut) {
            *slot = back;
        }
        self.save += 1;
        if let Some(m) = self.slots.get(i + 1 + PREFETCH_DISTANCE).and_then(Slot::message) {
            m.prefetch();
        }
        let next = self.slots.get_mut(i + 1).and_then(Slot::message_mut).map(std::mem::take);
        self.borrowed = next.is_some();
        next
    }
    /// Takes the message at the save pointer out and starts over.
    #[inline]
    pub(super) fn take(&mut self) -> Option<TakenMessage> {
        let i = (self.save - self.base) as usize;
        let s = std::mem::replace(self.slots.get_mut(i)?, Slot::Gap);
        let m = self.taken(s)?;
        self.selective &= i != 0;
        self.gaps += 1;
        self.resume = None;
        self.tidy();
        self.save = self.base;
        Some(m)
    }
    #[inline]
    fn taken(&mut self, s: Slot) -> Option<TakenMessage> {
        match s {
            Slot::Gap => None,
            Slot::Message(message) => Some(TakenMessage { message, token: None }),
            Slot::Stamped(m) => {
                mailbox_latency::taken(m.1);
                Some(TakenMessage { message: m.0, token: None })
            }
            Slot::Tokened(t) => {
                self.tokened -= 1;
                Some(TakenMessage { message: t.message, token: Some(t.token) })
            }
        }
    }
    pub(super) fn restart(&mut self) {
        self.save = self.base;
        self.resume = None;
    }
    #[inline]
    fn tidy(&mut self) {
        while self.slots.front().is_some_and(Slot::is_gap) {
            self.slots.pop_front();
            self.base += 1;
            self.gaps -= 1;
            self.priority = self.priority.saturating_sub(1);
        }
        if self.fresh_len == 0 && self.slots.back().is_some_and(Slot::is_gap) {
            while self.slots.back().is_some_and(Slot::is_gap) {
                self.slots.pop_back();
                self.gaps -= 1;
            }
            self.priority = self.priority.min(self.slots.len());
            self.lower_markers();
        }
        // Stepping over gaps repeatedly costs more than one compaction.
        let most = self.slots.len();
        if self.gaps > 32 && (self.gaps > most / 2 || self.walked > most) {
            self.compact();
        }
    }
    /// The end has moved down: lowers markers, so that no new message lies before one.
    fn lower_markers(&mut self) {
        let end = self.end();
        if let Some(m) = &mut self.markers {
            m.lower(end);
        }
    }
    /// Compacts. Messages move towards the end, which stays where it is: those after a marker
    /// remain after it.
    fn compact(&mut self) {
        self.priority -= self.slots.iter().take(self.priority).filter(|s| s.is_gap()).count();
        self.slots.retain(|s| !s.is_gap());
        self.base += self.gaps as u64;
        (self.gaps, self.walked) = (0, 0);
        self.save = self.save.clamp(self.base, self.end());
    }

    /// Marks the end of the mailbox: no present message can hold a reference made later.
    #[inline]
    pub(super) fn reserve(&mut self) -> u64 {
        let at = self.end();
        self.markers.get_or_insert_default().reserve(at)
    }
    /// The reference that the marker is for.
    #[inline]
    pub(super) fn bind(&mut self, marker: u64, id: RefId) {
        if let Some(m) = &mut self.markers {
            m.bind(marker, id);
        }
    }
    #[inline]
    pub(super) fn unbind(&mut self, id: RefId) {
        if let Some(m) = &mut self.markers {
            m.unbind(id);
        }
    }
    #[inline]
    pub(super) fn unreserve(&mut self, marker: u64) {
        if let Some(m) = &mut self.markers {
            m.unreserve(marker);
        }
    }
    /// Starts the next receive at the marker of a reference.
    #[inline]
    pub(super) fn use_marker(&mut self, id: RefId) {
        if let Some(at) = self.markers.as_ref().and_then(|m| m.position_of(id)) {
            // Gaps at the end may have been removed since. Priority messages are examined first.
            let ordinary = self.base + self.priority as u64;
            self.save = at.clamp(ordinary, self.end());
            self.resume = None;
            if self.priority > 0 {
                self.resume = Some(std::mem::replace(&mut self.save, self.base));
            }
        }
    }
}

#[cfg(test)]
mod tests;
