//! Run queues by priority, and who of those in them may go to another scheduler.

use std::collections::VecDeque;

use kvik_sync::Here;
use kvik_sys::ticks::ticks;
use kvik_sys::METERED;

use super::board::{Kind, Page};
use crate::process::{Priority, Rest, Ticket};

struct Waiting {
    ticket: Rest,
    mark: Mark,
}

/// What is known of one that waits: bit 0 for one that used up its turn, and likely will again: worth
/// another scheduler's waking up. Bits 1 to 3: how often it is still put back to the tail when it comes
/// to the head. Above them 0, or, where its wait is timed, how many waits it stands for (13 bits), and
/// since when it waits (what is left of the counter of ticks, less its last 4 bits).
#[derive(Copy, Clone)]
struct Mark(u64);

impl Mark {
    const REQUEUE: u64 = 1 << 1;

    fn new(busy: bool, since: u64, weight: u64) -> Mark {
        Mark(busy as u64 | weight.min(0x1FFF) << 4 | since >> 4 << 17)
    }
    fn is_busy(self) -> bool {
        self.0 & 1 != 0
    }
    fn is_timed(self) -> bool {
        self.0 >> 4 != 0
    }
    fn weight(self) -> u64 {
        self.0 >> 4 & 0x1FFF
    }
    fn requeues(self) -> u64 {
        self.0 >> 1 & 7
    }
    /// Ticks since then.
    fn waited(self, now: u64) -> u64 {
        (now >> 4 << 17).wrapping_sub(self.0 & !0x1_FFFF) >> 17 << 4
    }
}

/// Which waits in queues are timed: those of what is pushed behind a sleep, and one now and then.
struct Timing {
    page: Page,
    /// The number of the next one.
    next: u64,
    /// Behind a sleep: how many more, each for itself; and how many are left out then until the next
    /// of the others.
    exact: u32,
    rest: u64,
    /// How many that one stands for.
    weight: u64,
    chance: u32,
}
/// How many behind a sleep.
const EXACT: u32 = 8;
/// From one to the next: this many, and up to as many again.
const APART: u64 = 32;

pub(super) struct Queues {
    here: Here,
    /// Max, high, and one for normal and low together.
    by_priority: [VecDeque<Waiting>; 3],
    pub len: usize,
    busy: usize,
    pushed: u64,
    taken: u64,
    /// How many had been pushed at some time, and when that was; see [`Queues::age`].
    mark: (u64, u64),
    timing: Timing,
    /// Whom `pop` gave last, where that was raised, and the queue it came from.
    raised: Option<(u32, usize)>,
}
/// The queue of normal and low priority. A low process that comes to its head goes back to the tail
/// this often first, unless it is alone.
const SHARED: usize = Priority::Normal as usize;
const LOW_REQUEUES: u64 = 7;
/// Room that a queue keeps: 16 KB.
const SHORT: usize = 1024;
/// How far to look for processes that may go.
const LOOK: usize = 256;

impl Queues {
    /// The time that some wait is noted there.
    pub fn new(here: Here, page: Page) -> Queues {
        Queues {
            here,
            by_priority: [const { VecDeque::new() }; 3],
            len: 0,
            busy: 0,
            pushed: 0,
            taken: 0,
            mark: (0, 0),
            timing: Timing { page, next: 1, exact: 0, rest: 1, weight: 1, chance: 1 },
            raised: None,
        }
    }
    /// The scheduler slept: few are pushed, and the wait of each is worth timing.
    pub fn time_some(&mut self) {
        let t = &mut self.timing;
        if t.exact == 0 {
            t.rest = t.next - self.pushed;
        }
        t.exact = EXACT;
        t.next = self.pushed + 1;
    }
    /// How many came from here so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }
    pub fn push(&mut self, t: Ticket) {
        self.add(t, false)
    }
    /// A process that used up its turn.
    pub fn push_busy(&mut self, t: Ticket) {
        self.add(t, true)
    }
    /// A process that used up its turn and has signals left to handle: where it was raised for one of
    /// those, it stays raised.
    pub fn push_pending(&mut self, t: Ticket) {
        let pid = t.task().pid;
        match self.raised.take().filter(|(raised, _)| *raised == pid) {
            Some((_, queue)) => self.add_to(t, true, Some(queue)),
            None => self.add(t, true),
        }
    }
    fn add(&mut self, ticket: Ticket, busy: bool) {
        self.add_to(ticket, busy, None)
    }
    fn add_to(&mut self, ticket: Ticket, busy: bool, raised: Option<usize>) {
        self.len += 1;
        self.pushed += 1;
        self.busy += busy as usize;
        let mut mark = if METERED && self.pushed >= self.timing.next {
            self.mark(busy)
        } else {
            Mark(busy as u64)
        };
        let ticket = Rest::new(ticket, self.here);
        let queue = match (raised, ticket.task().priority()) {
            (Some(queue), _) => queue,
            (None, Priority::Low) => {
                mark.0 += LOW_REQUEUES * Mark::REQUEUE;
                SHARED
            }
            (None, p) => p as usize,
        };
        self.by_priority[queue].push_back(Waiting { ticket, mark });
    }
    /// Of one whose wait is timed.
    #[cold]
    fn mark(&mut self, busy: bool) -> Mark {
        let t = &mut self.timing;
        let now = ticks().now();
        if t.exact > 0 {
            t.exact -= 1;
            t.next = self.pushed + if t.exact > 0 { 1 } else { t.rest };
            return Mark::new(busy, now, 1);
        }
        let mark = Mark::new(busy, now, t.weight);
        t.chance ^= t.chance << 13;
        t.chance ^= t.chance >> 17;
        t.chance ^= t.chance << 5;
        t.weight = APART + u64::from(t.chance) % APART;
        t.next = self.pushed + t.weight;
        mark
    }
    #[cold]
    fn waited(&self, m: Mark) {
        let ticks = ticks();
        let ns = ticks.between(0, m.waited(ticks.now()));
        self.timing.page.note(Kind::Wait, ns, m.weight());
    }
    /// Gives up the room of a long queue that has become short.
    pub fn shrink(&mut self) {
        self.by_priority.iter_mut().for_each(|q| q.shrink_to(SHORT));
    }
    /// The best process there is.
    pub fn pop(&mut self) -> Option<Ticket> {
        if self.len == 0 {
            return None;
        }
        let w = match self.pop_urgent() {
            Some(w) => w,
            None => self.pop_shared()?,
        };
        self.note_taken(&w);
        Some(w.ticket.take())
    }
    fn pop_urgent(&mut self) -> Option<Waiting> {
        let queue = self.by_priority[..SHARED].iter().position(|q| !q.is_empty())?;
        let w = self.by_priority[queue].pop_front()?;
        let task = w.ticket.task();
        self.raised = (task.priority() as usize > queue).then_some((task.pid, queue));
        Some(w)
    }
    fn pop_shared(&mut self) -> Option<Waiting> {
        self.raised = None;
        let shared = &mut self.by_priority[SHARED];
        let mut w = shared.pop_front()?;
        while w.mark.requeues() > 0 && !shared.is_empty() {
            w.mark.0 -= Mark::REQUEUE;
            shared.push_back(w);
            w = shared.pop_front()?;
        }
        Some(w)
    }
    fn note_taken(&mut self, w: &Waiting) {
        self.len -= 1;
        self.taken += 1;
        self.busy -= w.mark.is_busy() as usize;
        if w.mark.is_timed() {
            self.waited(w.mark);
        }
    }
    /// Lets a process have its next turn as one of higher priority, if it waits here.
    pub fn raise(&mut self, pid: u32, to: Priority) -> bool {
        let to = (to as usize).min(SHARED);
        for q in to..self.by_priority.len() {
            let at = self.by_priority[q].iter().position(|w| w.ticket.task().pid == pid);
            let Some(i) = at else { continue };
            // One that was raised before keeps its place.
            if q == to && self.by_priority[q][i].mark.requeues() == 0 {
                return true;
            }
            if let Some(mut w) = self.by_priority[q].remove(i) {
                w.mark.0 -= w.mark.requeues() * Mark::REQUEUE;
                self.by_priority[to].push_back(w);
                return true;
            }
        }
        false
    }
    /// Is there something that goes before processes of normal priority?
    pub fn has_urgent(&self) -> bool {
        !self.by_priority[0].is_empty() || !self.by_priority[1].is_empty()
    }
    /// Are there several that used up their turns? One alone loses little by staying: the others of
    /// its queue are done soon, or wait long, which their age says.
    pub fn has_many_busy(&self) -> bool {
        self.busy > 1
    }
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
    /// Two that may go together: who used up a turn, and a partner of it that waits here as well, or
    /// the one partner that it talks with, which waits for it and will follow. One who used up a turn
    /// is to be left then, unless there are `others` that run here now.
    ///
    /// Where the load is `sustained`, who talks with one partner only, which waits for it, need not
    /// have used up a turn, and any other may be left.
    pub fn pair(
        &self,
        others: bool,
        sustained: bool,
        partners: impl Fn(&Ticket) -> [u32; 2],
        runs: impl Fn(u32) -> bool,
    ) -> Option<[u32; 2]> {
        let all = || self.by_priority.iter().flatten();
        let busy = || all().filter(|w| w.mark.is_busy());
        let waits = |pid: u32| all().any(|w| w.ticket.task().pid == pid);
        let is_left = |pair: &[u32; 2], w: &Waiting| !pair.contains(&w.ticket.task().pid);
        let follower = |w: &Waiting| {
            let pid = w.ticket.task().pid;
            let [to, from] = partners(&w.ticket);
            (to == from && to != 0 && to != pid && !runs(to)).then_some([pid, to])
        };
        let of = |w: &Waiting| {
            let pid = w.ticket.task().pid;
            let here = partners(&w.ticket).into_iter().find(|q| *q != pid && waits(*q));
            here.map(|q| [pid, q]).or_else(|| follower(w))
        };
        let pair = busy().find_map(of);
        if let Some(pair) = pair.filter(|p| others || busy().any(|w| is_left(p, w))) {
            return Some(pair);
        }
        let pair = all().take(LOOK).find_map(follower).filter(|_| sustained)?;
        (others || all().any(|w| is_left(&pair, w))).then_some(pair)
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
                if stays(&w.ticket, w.mark.is_busy()) {
                    left.push_back(w);
                } else {
                    self.note_taken(&w);
                    taken.push(w.ticket.take());
                }
            }
            left.into_iter().rev().for_each(|w| self.by_priority[q].push_front(w));
        }
        taken
    }
}
