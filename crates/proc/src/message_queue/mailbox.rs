//! [`Mailbox`]: the received messages but the first one where that is on the heap, with the save
//! pointer and receive markers. Only [`MessageQueue`](super::MessageQueue) changes it.
//!
//! Messages have positions that only grow. One taken from the middle leaves a gap; gaps at either
//! end go at once; when more than half are gaps, or they were stepped over often, the rest moves
//! together. Those that came last stay in the chain they came in as long as they are taken in order.

use std::collections::VecDeque;

use kvik_heap::literal::Leaving;
use kvik_heap::OwnedTerm;
use kvik_sync::Chain;

use super::recv_marker::Markers;
use crate::sched::mail;
use crate::signal_types::{RefId, Signal};

/// What there is at a position.
enum Slot {
    Gap,
    Message(OwnedTerm),
    /// A message with what its sender's token makes of the receiver's: see [`crate::seq`].
    Tokened(Box<Tokened>),
    /// A message with when it was sent, in ticks: see [`crate::sched::mail`].
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

/// A message that was taken out. Its token, where it has one: an empty list ends the receiver's.
pub(super) struct Taken {
    pub message: OwnedTerm,
    pub token: Option<OwnedTerm>,
}

pub(crate) struct Mailbox {
    slots: VecDeque<Slot>,
    /// How many of them are [`Slot::Tokened`].
    tokened: usize,
    /// What comes after them: messages only.
    fresh: Chain<Signal>,
    fresh_len: usize,
    /// The position of the first slot.
    base: u64,
    /// The position of the next message to look at.
    save: u64,
    gaps: usize,
    /// Steps over gaps since they were closed last.
    walked: usize,
    markers: Option<Box<Markers>>,
    /// Is the message at the save pointer on the process's heap, as `Root::Lent`? Its slot is an
    /// empty list.
    lent: bool,
    /// The first message was looked at and not taken: it is likely to stay for a while, so that
    /// copying it to the heap does not pay.
    selective: bool,
    /// How many messages there are when [`Mailbox::has_grown`] says so next.
    look: usize,
    /// How many of the last messages its process does not know of: see [`Mailbox::unfetched`].
    unfetched: usize,
    /// They came behind a message that is on the heap, and are fetched together with that.
    with_first: bool,
}

/// How many messages ahead of the one looked at memory is asked for.
const AHEAD: usize = 4;

impl Default for Mailbox {
    fn default() -> Mailbox {
        Mailbox {
            slots: VecDeque::new(),
            tokened: 0,
            fresh: Chain::default(),
            fresh_len: 0,
            // There may be a first message already, which has the position before.
            base: 1,
            save: 1,
            gaps: 0,
            walked: 0,
            markers: None,
            lent: false,
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
    /// The same with when it was sent.
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
    /// What is there now came without a token.
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
    /// Frees some messages of a process that has ended. Are all gone?
    pub(crate) fn free_some(&mut self, most: usize) -> bool {
        (0..most).any(|_| self.slots.pop_front().is_none() && self.fresh.next().is_none())
    }
    /// Does any message say something of tokens?
    pub(super) fn has_tokens(&self) -> bool {
        self.tokened != 0
    }
    /// Puts in so many messages, which is all there is in the chain.
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
    /// Is there nothing in it that anybody will ask for?
    pub(super) fn is_spare(&self) -> bool {
        self.is_empty() && self.markers.is_none()
    }
    /// As far as a few steps tell.
    pub(super) fn assert_invariants(&self) {
        assert!(self.base <= self.save && self.save <= self.end(), "the save pointer");
        assert!(self.fresh.is_empty() == (self.fresh_len == 0), "the length of the chain");
        assert!(self.gaps <= self.slots.len() && self.tokened + self.gaps <= self.slots.len());
        assert!(!self.slots.front().is_some_and(Slot::is_gap), "a gap at the front");
        assert!(self.fresh_len > 0 || !self.slots.back().is_some_and(Slot::is_gap), "at the end");
        assert!(self.unfetched <= self.len(), "what was not fetched");
        let borrowed = || self.slots.get((self.save - self.base) as usize)?.message();
        assert!(!self.lent || borrowed().is_some_and(|m| m.term().is_nil()), "a borrowed slot");
    }
    /// Has it grown by an eighth since the last time this said so? For what goes over all messages.
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
    /// No message shares these literals any more.
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
    /// Gives the message at the save pointer to be borrowed; its slot stays, empty.
    #[inline]
    pub(super) fn lend(&mut self) -> Option<OwnedTerm> {
        let m = self.current().map(std::mem::take)?;
        self.lent = true;
        Some(m)
    }
    /// An empty slot for a message at the save pointer, which is at the end, that is on the heap.
    #[inline]
    pub(super) fn push_lent(&mut self) {
        debug_assert!(self.at_end() && !self.lent);
        self.push(OwnedTerm::default());
        self.lent = true;
    }
    #[inline]
    pub(super) fn lent(&self) -> bool {
        self.lent
    }
    /// The borrowed message goes back to its slot.
    #[inline]
    pub(super) fn give_back(&mut self, m: OwnedTerm) {
        debug_assert!(self.lent);
        self.lent = false;
        if let Some(slot) = self.current() {
            *slot = m;
        }
    }
    /// The borrowed message stays on the heap; its slot is to be taken out. False: none is borrowed.
    #[inline]
    pub(super) fn keep_lent(&mut self) -> bool {
        std::mem::take(&mut self.lent)
    }
    /// Has every message been looked at?
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
    /// Is there a message that was not looked at?
    pub(super) fn has_next(&mut self) -> bool {
        self.current().is_some()
    }
    /// Gives the first position away to a message that is not kept here. False: there are others.
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
    /// How many of the last messages have come since its process looked for new ones: in OTP they are in
    /// its outer queue still. `first`: it has not looked at the one on its heap.
    pub(super) fn unfetched(&mut self, first: bool) -> usize {
        if self.with_first && !first {
            self.fetch();
        }
        self.unfetched
    }
    /// So many of the last messages have come, beside those that were not fetched before.
    pub(super) fn note_unfetched(&mut self, n: usize, with_first: bool) {
        self.unfetched += n;
        self.with_first |= with_first;
    }
    /// The message on the heap comes here, and is one of them.
    pub(super) fn keep_first_unfetched(&mut self) {
        self.unfetched += 1;
        self.with_first = false;
    }
    /// Its process takes over all that has come.
    #[inline]
    pub(super) fn fetch(&mut self) {
        self.unfetched = 0;
        self.with_first = false;
    }
    /// Does the receive look at a message that was not fetched yet? All are, then.
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
            self.save += 1;
            self.walked += 1;
        }
    }
    /// Words of the message at the save pointer, if it is the first one and worth copying.
    #[inline]
    pub(super) fn front_words(&self) -> Option<usize> {
        if self.save != self.base || self.selective {
            return None;
        }
        let first = match self.slots.front() {
            // It is taken when it matches, not when it is looked at.
            Some(Slot::Stamped(_)) => None,
            Some(s) => s.message(),
            None => self.fresh.first().and_then(Signal::message),
        };
        first.map(|m| m.words())
    }
    /// Gives the first message, with the save pointer on it; its position is still there for
    /// `put_before`.
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
    /// Takes the message that room was made for; it was looked at.
    pub(super) fn put_before(&mut self, m: OwnedTerm) {
        self.slots.push_front(Slot::Message(m));
        self.base -= 1;
    }
    /// The same in a receive that matches it against patterns.
    #[inline]
    pub(super) fn skip_first(&mut self, m: OwnedTerm) {
        self.selective = true;
        self.put_before(m);
    }
    /// Nothing that is there now will match.
    #[inline]
    pub(super) fn skip_all(&mut self) {
        self.settle();
        self.save = self.end();
    }
    /// The message at the save pointer doesn't match.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.save = (self.save + 1).min(self.end());
        // Messages lie anywhere in memory.
        let soon = self.slots.get((self.save - self.base) as usize + AHEAD);
        if let Some(m) = soon.and_then(Slot::message) {
            m.prefetch();
        }
    }
    /// Takes the message at the save pointer out and starts over.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Taken> {
        let i = (self.save - self.base) as usize;
        let s = std::mem::replace(self.slots.get_mut(i)?, Slot::Gap);
        let m = self.taken(s)?;
        self.selective &= i != 0;
        self.gaps += 1;
        self.tidy();
        self.save = self.base;
        Some(m)
    }
    #[inline]
    fn taken(&mut self, s: Slot) -> Option<Taken> {
        match s {
            Slot::Gap => None,
            Slot::Message(message) => Some(Taken { message, token: None }),
            Slot::Stamped(m) => {
                mail::taken(m.1);
                Some(Taken { message: m.0, token: None })
            }
            Slot::Tokened(t) => {
                self.tokened -= 1;
                Some(Taken { message: t.message, token: Some(t.token) })
            }
        }
    }
    pub(super) fn restart(&mut self) {
        self.save = self.base;
    }
    #[inline]
    fn tidy(&mut self) {
        while self.slots.front().is_some_and(Slot::is_gap) {
            self.slots.pop_front();
            self.base += 1;
            self.gaps -= 1;
        }
        if self.fresh_len == 0 && self.slots.back().is_some_and(Slot::is_gap) {
            while self.slots.back().is_some_and(Slot::is_gap) {
                self.slots.pop_back();
                self.gaps -= 1;
            }
            self.lower_markers();
        }
        // What is stepped over again and again costs more than closing it once.
        let most = self.slots.len();
        if self.gaps > 32 && (self.gaps > most / 2 || self.walked > most) {
            self.compact();
        }
    }
    /// The end has come down: what comes next must not lie before a marker.
    fn lower_markers(&mut self) {
        let end = self.end();
        if let Some(m) = &mut self.markers {
            m.lower(end);
        }
    }
    /// Closes the gaps. Messages move towards the end, which stays where it is: those after a
    /// marker remain after it.
    fn compact(&mut self) {
        self.slots.retain(|s| !s.is_gap());
        self.base += self.gaps as u64;
        (self.gaps, self.walked) = (0, 0);
        self.save = self.save.clamp(self.base, self.end());
    }

    /// Marks the end of the mailbox: what is there cannot hold a reference made later.
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
            // Gaps at the end may have been cut since.
            self.save = at.clamp(self.base, self.end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::Term;

    fn int(i: i32) -> OwnedTerm {
        OwnedTerm::immediate(Term::int(i))
    }
    fn next(m: &mut Mailbox) -> Option<i64> {
        m.current().and_then(|t| t.term().as_small())
    }

    #[test]
    fn selective_receive_and_gaps() {
        let mut m = Mailbox::default();
        (0..200).for_each(|i| m.push(int(i)));
        for i in (1..200).step_by(2) {
            while next(&mut m) != Some(i) {
                m.skip();
            }
            assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(i));
        }
        assert_eq!(m.len(), 100);
        let left: Vec<_> = m.iter().filter_map(|t| t.term().as_small()).collect();
        assert_eq!(left, (0..200).step_by(2).collect::<Vec<i64>>());
        assert_eq!(next(&mut m), Some(0));
    }

    fn chain(range: std::ops::Range<i32>) -> (Chain<Signal>, usize) {
        let inbox = kvik_sync::inbox::Inbox::default();
        let n = range.len();
        for i in range {
            inbox.push(kvik_sync::Node::new(Signal::Message(int(i))));
        }
        (inbox.take(|_| ()), n)
    }
    /// Takes one out of the middle, and looks on from where it was.
    fn take_out(m: &mut Mailbox, value: i64) -> Option<OwnedTerm> {
        let save = m.save;
        while next(m)? != value {
            m.skip();
        }
        let taken = m.take();
        m.save = save;
        taken.map(|t| t.message)
    }
    fn append(m: &mut Mailbox, range: std::ops::Range<i32>) {
        let (c, n) = chain(range);
        m.append(c, n);
    }

    #[test]
    fn fresh_messages_come_after_the_others() {
        let mut m = Mailbox::default();
        append(&mut m, 0..3);
        append(&mut m, 3..5);
        assert_eq!((m.len(), m.front_words()), (5, Some(0)));
        assert_eq!(m.take_front().and_then(|t| t.term().as_small()), Some(0));
        m.put_before(int(0));
        assert_eq!((m.len(), next(&mut m)), (5, Some(1)));
        m.skip();
        append(&mut m, 5..6);
        m.push(int(6));
        append(&mut m, 7..8);
        let all: Vec<_> = m.iter().filter_map(|t| t.term().as_small()).collect();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
        assert_eq!(take_out(&mut m, 7).map(|m| m.words()), Some(0));
        for i in 2..7 {
            assert_eq!(next(&mut m), Some(i));
            m.skip();
        }
        assert!(m.at_end() && !m.has_next());
    }

    #[test]
    fn a_marker_among_fresh_messages() {
        let mut m = Mailbox::default();
        append(&mut m, 0..3);
        for i in 0..2 {
            assert_eq!(next(&mut m), Some(i));
            m.skip();
        }
        assert_eq!(next(&mut m), Some(2));
        append(&mut m, 3..5);
        let (r, k) = (RefId([1, 2, 3]), m.reserve());
        m.bind(k, r);
        assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(2));
        append(&mut m, 5..7);
        m.use_marker(r);
        assert_eq!(next(&mut m), Some(5));
        m.take();
        assert_eq!(m.len(), 5);
        m.use_marker(r);
        assert_eq!(next(&mut m), Some(6));
    }

    #[test]
    fn a_receive_fetches_when_it_comes_to_what_it_does_not_know() {
        let mut m = Mailbox::default();
        append(&mut m, 0..2);
        append(&mut m, 2..4);
        m.note_unfetched(2, false);
        assert_eq!(take_out(&mut m, 1).map(|m| m.words()), Some(0));
        m.fetch_to_look();
        assert_eq!(m.unfetched(false), 2);
        m.skip();
        m.fetch_to_look();
        assert_eq!((next(&mut m), m.unfetched(false)), (Some(2), 0));
        // Those that came behind one on the heap are known once that is looked at.
        append(&mut m, 4..5);
        m.note_unfetched(1, true);
        assert_eq!((m.unfetched(true), m.unfetched(false)), (1, 0));
    }

    #[test]
    fn one_message_that_stays_does_not_make_others_slow() {
        let mut m = Mailbox::default();
        (0..20_000).for_each(|i| m.push(int(i)));
        let mut steps = 0;
        for i in 1..20_000 {
            while next(&mut m) != Some(i) {
                m.skip();
            }
            steps += m.save - m.base;
            assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(i));
        }
        assert!(steps < 20_000 * 500 && m.len() == 1);
    }

    #[test]
    fn markers_skip_what_came_before() {
        let mut m = Mailbox::default();
        (0..100).for_each(|i| m.push(int(i)));
        let r = RefId([1, 2, 3]);
        let k = m.reserve();
        m.bind(k, r);
        take_out(&mut m, 99);
        m.push(int(1000));
        m.use_marker(r);
        assert_eq!(next(&mut m), Some(1000));
        m.take();
        assert_eq!(next(&mut m), Some(0));
        m.unbind(r);
        m.use_marker(r);
        assert_eq!(next(&mut m), Some(0));
    }
}
