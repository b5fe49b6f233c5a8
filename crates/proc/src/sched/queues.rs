//! Run queues by priority, and who of those in them may go to another scheduler.

use std::collections::VecDeque;

use crate::process::{Priority, Ticket};

struct Waiting {
    ticket: Ticket,
    /// It used up its turn, and likely will again: worth another scheduler's waking up.
    busy: bool,
}

pub(super) struct Queues {
    by_priority: [VecDeque<Waiting>; 4],
    pub len: usize,
    busy: usize,
    /// Normal processes picked since a low one was.
    skipped: u32,
    pushed: u64,
    taken: u64,
    /// How many had been pushed at some time, and when that was; see [`Queues::age`].
    mark: (u64, u64),
}
/// A low process goes before the normal ones every so often.
const LOW_TURN: u32 = 8;
/// How far to look for processes that may go.
const LOOK: usize = 256;

impl Queues {
    pub const fn new() -> Queues {
        Queues {
            by_priority: [const { VecDeque::new() }; 4],
            len: 0,
            busy: 0,
            skipped: 0,
            pushed: 0,
            taken: 0,
            mark: (0, 0),
        }
    }
    pub fn push(&mut self, t: Ticket) {
        self.add(t, false)
    }
    /// A process that used up its turn.
    pub fn push_busy(&mut self, t: Ticket) {
        self.add(t, true)
    }
    fn add(&mut self, ticket: Ticket, busy: bool) {
        self.len += 1;
        self.pushed += 1;
        self.busy += busy as usize;
        self.by_priority[ticket.task().priority() as usize].push_back(Waiting { ticket, busy });
    }
    /// The best process there is.
    pub fn pop(&mut self) -> Option<Ticket> {
        if self.len == 0 {
            return None;
        }
        let [max, high, normal, low] = &mut self.by_priority;
        let w = max.pop_front().or_else(|| high.pop_front()).or_else(|| {
            if !low.is_empty() && (normal.is_empty() || self.skipped >= LOW_TURN) {
                self.skipped = 0;
                return low.pop_front();
            }
            self.skipped += 1;
            normal.pop_front()
        })?;
        self.note_taken(&w);
        Some(w.ticket)
    }
    fn note_taken(&mut self, w: &Waiting) {
        self.len -= 1;
        self.taken += 1;
        self.busy -= w.busy as usize;
    }
    /// Lets a process have its next turn as one of higher priority, if it waits here.
    pub fn raise(&mut self, pid: u32, to: Priority) {
        for q in to as usize + 1..self.by_priority.len() {
            let at = self.by_priority[q].iter().position(|w| w.ticket.task().pid == pid);
            if let Some(w) = at.and_then(|i| self.by_priority[q].remove(i)) {
                return self.by_priority[to as usize].push_back(w);
            }
        }
    }
    /// Is there something that goes before processes of normal priority?
    pub fn has_urgent(&self) -> bool {
        !self.by_priority[0].is_empty() || !self.by_priority[1].is_empty()
    }
    /// Is there a process that used up its turn?
    pub fn has_busy(&self) -> bool {
        self.busy > 0
    }
    /// How long the process that came first has waited at least. To be asked every so often: those
    /// that came before the last time but one are known to.
    pub fn age(&mut self, now: u64) -> u64 {
        if self.taken >= self.mark.0 {
            self.mark = (self.pushed, now);
        }
        now - self.mark.1
    }
    /// Up to `most` of the oldest processes, but for those that have to stay.
    pub fn take(&mut self, most: usize, stays: impl Fn(&Ticket, bool) -> bool) -> Vec<Ticket> {
        let mut taken = Vec::new();
        let mut looked = 0;
        for q in 0..self.by_priority.len() {
            let mut left = VecDeque::new();
            while let Some(w) = self.by_priority[q].pop_front() {
                looked += 1;
                if taken.len() >= most || looked > most.max(LOOK) {
                    self.by_priority[q].push_front(w);
                    break;
                }
                if stays(&w.ticket, w.busy) {
                    left.push_back(w);
                } else {
                    self.note_taken(&w);
                    taken.push(w.ticket);
                }
            }
            left.into_iter().rev().for_each(|w| self.by_priority[q].push_front(w));
        }
        taken
    }
}
