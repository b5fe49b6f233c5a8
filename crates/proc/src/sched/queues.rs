//! Run queues by priority, and who of those in them may go to another scheduler.

use std::collections::{HashMap, VecDeque};

use kvik_env::clock::ticks::ticks;
use kvik_sync::Here;
use kvik_sys::METERED;

use super::board::{Kind, Page};
use crate::process::{Priority, Rest, Ticket};

struct Waiting {
    /// None: the place of one that was raised, and has its turn from another queue. Where it becomes
    /// runnable again before the place comes to the head, it takes it up, as in OTP.
    ticket: Option<Rest>,
    mark: Mark,
}

impl Waiting {
    fn is(&self, pid: u32) -> bool {
        self.ticket.as_ref().is_some_and(|t| t.task().pid == pid)
    }
    fn is_place_of(&self, pid: u32) -> bool {
        self.ticket.is_none() && self.mark.place_of() == pid
    }
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
    /// Of a place: whose it is, where the ticks would be.
    fn place(pid: u32, requeues: u64) -> Mark {
        Mark((u64::from(pid) << 17) | (requeues * Mark::REQUEUE))
    }
    fn place_of(self) -> u32 {
        (self.0 >> 17) as u32
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
    /// For how many requests each was raised that waits for that here.
    elevations: HashMap<u32, Elevations>,
    /// Whom `pop` gave last, where that was raised.
    raised: Option<(u32, Elevations)>,
    /// Is there either? Mostly there is none.
    raises: bool,
    /// Who has places here, of which priorities.
    places: HashMap<u32, Vec<Priority>>,
}

/// Requests for which a process was raised, by the priority of who asks: max, high and normal. Each is a
/// system task in OTP, and what is left of those keeps the process at their priority.
#[derive(Copy, Clone, Default)]
struct Elevations([u32; 3]);

impl Elevations {
    fn add(&mut self, p: Priority) {
        if let Some(n) = self.0.get_mut(p as usize) {
            *n = n.saturating_add(1);
        }
    }
    fn best(self) -> Option<Priority> {
        self.0.iter().position(|n| *n > 0).map(|i| Priority::ALL[i])
    }
    fn less_one(mut self) -> Elevations {
        if let Some(n) = self.0.iter_mut().find(|n| **n > 0) {
            *n -= 1;
        }
        self
    }
}

fn queue_of(p: Priority) -> usize {
    (p as usize).min(SHARED)
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
            elevations: HashMap::new(),
            raised: None,
            raises: false,
            places: HashMap::new(),
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
    /// A process that used up its turn and has signals left to handle: where it was raised for those, it
    /// stays raised.
    pub fn push_pending(&mut self, t: Ticket) {
        let left = self.left_of(&t);
        self.add_raised(t, true, left);
    }
    /// One that sits out its turn has answered one request by that, and stays raised for the others.
    pub fn push_sat_out(&mut self, t: Ticket) {
        let left = self.left_of(&t).map(Elevations::less_one);
        self.add_raised(t, false, left);
    }
    /// One that waited and is raised.
    pub fn push_raised(&mut self, t: Ticket, to: Priority) {
        let mut one = Elevations::default();
        one.add(to);
        self.add_raised(t, false, Some(one));
    }
    /// What the process was raised for that was popped last.
    fn left_of(&mut self, t: &Ticket) -> Option<Elevations> {
        let pid = t.task().pid;
        self.raised.take().filter(|(raised, _)| *raised == pid).map(|(_, left)| left)
    }
    fn add_raised(&mut self, t: Ticket, busy: bool, left: Option<Elevations>) {
        let Some((left, best)) = left.and_then(|left| Some((left, left.best()?))) else {
            return self.add(t, busy);
        };
        self.elevations.insert(t.task().pid, left);
        self.raises = true;
        let priority = best.min(t.task().priority());
        self.add_to(t, busy, Some(priority));
    }
    fn add(&mut self, ticket: Ticket, busy: bool) {
        self.add_to(ticket, busy, None)
    }
    fn add_to(&mut self, mut ticket: Ticket, busy: bool, raised: Option<Priority>) {
        let priority = raised.unwrap_or_else(|| ticket.task().priority());
        if !self.places.is_empty() {
            match self.take_up_place(ticket, busy, priority) {
                Some(t) => ticket = t,
                None => return,
            }
        }
        self.len += 1;
        self.pushed += 1;
        self.busy += busy as usize;
        let mut mark = if METERED && self.pushed >= self.timing.next {
            self.mark(busy)
        } else {
            Mark(busy as u64)
        };
        let ticket = Rest::new(ticket, self.here);
        if priority == Priority::Low {
            mark.0 += LOW_REQUEUES * Mark::REQUEUE;
        }
        self.by_priority[queue_of(priority)].push_back(Waiting { ticket: Some(ticket), mark });
    }
    /// Where a process has a place of that priority or a higher one, it gets its turn there.
    #[cold]
    fn take_up_place(&mut self, t: Ticket, busy: bool, priority: Priority) -> Option<Ticket> {
        let pid = t.task().pid;
        let best = self.places.get(&pid).and_then(|all| all.iter().min().copied());
        let Some(best) = best.filter(|p| *p <= priority) else { return Some(t) };
        self.forget_place(pid, best);
        let at = self.by_priority[queue_of(best)].iter_mut().rfind(|w| w.is_place_of(pid));
        let Some(w) = at else { return Some(t) };
        w.ticket = Some(Rest::new(t, self.here));
        w.mark = Mark(busy as u64 | (w.mark.requeues() * Mark::REQUEUE));
        self.pushed += 1;
        self.busy += busy as usize;
        None
    }
    fn forget_place(&mut self, pid: u32, priority: Priority) {
        if let Some(all) = self.places.get_mut(&pid) {
            all.retain(|p| *p != priority);
            if all.is_empty() {
                self.places.remove(&pid);
            }
        }
    }
    /// A place has come to the head, whose process has nothing to do.
    #[cold]
    fn drop_place(&mut self, m: Mark, queue: usize) {
        self.len -= 1;
        let pid = m.place_of();
        let here = |p: &&Priority| queue_of(**p) == queue;
        if let Some(p) = self.places.get(&pid).and_then(|all| all.iter().find(here).copied()) {
            self.forget_place(pid, p);
        }
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
        while self.len > 0 {
            let (w, queue) = match self.pop_urgent() {
                Some(found) => found,
                None => (self.pop_shared()?, SHARED),
            };
            match w.ticket {
                Some(t) => {
                    self.note_taken(w.mark);
                    if self.raises {
                        self.raised = self.take_elevations(t.task().pid);
                    }
                    return Some(t.take());
                }
                None => self.drop_place(w.mark, queue),
            }
        }
        None
    }
    fn pop_urgent(&mut self) -> Option<(Waiting, usize)> {
        let queue = self.by_priority[..SHARED].iter().position(|q| !q.is_empty())?;
        Some((self.by_priority[queue].pop_front()?, queue))
    }
    fn pop_shared(&mut self) -> Option<Waiting> {
        let shared = &mut self.by_priority[SHARED];
        let mut w = shared.pop_front()?;
        while w.mark.requeues() > 0 && !shared.is_empty() {
            w.mark.0 -= Mark::REQUEUE;
            shared.push_back(w);
            w = shared.pop_front()?;
        }
        Some(w)
    }
    #[cold]
    fn take_elevations(&mut self, pid: u32) -> Option<(u32, Elevations)> {
        let of = self.elevations.remove(&pid).map(|e| (pid, e));
        self.raises = of.is_some() || !self.elevations.is_empty();
        of
    }
    fn note_taken(&mut self, m: Mark) {
        self.len -= 1;
        self.taken += 1;
        self.busy -= m.is_busy() as usize;
        if m.is_timed() {
            self.waited(m);
        }
    }
    /// Lets a process have its next turn as one of higher priority, if it waits here. Its place stays.
    pub fn raise(&mut self, pid: u32, to: Priority) -> bool {
        if !self.by_priority.iter().flatten().any(|w| w.is(pid)) {
            return false;
        }
        self.elevations.entry(pid).or_default().add(to);
        self.raises = true;
        let to = queue_of(to);
        for q in to..self.by_priority.len() {
            let Some(i) = self.by_priority[q].iter().rposition(|w| w.is(pid)) else { continue };
            let w = &mut self.by_priority[q][i];
            let requeues = w.mark.requeues();
            // One that was raised before stays where it is.
            if q == to && requeues == 0 {
                return true;
            }
            let Some(ticket) = w.ticket.take() else { return false };
            let place = if q < SHARED { Priority::ALL[q] } else { ticket.task().priority() };
            let mark = Mark(w.mark.0 - requeues * Mark::REQUEUE);
            w.mark = Mark::place(pid, requeues);
            self.by_priority[to].push_back(Waiting { ticket: Some(ticket), mark });
            self.places.entry(pid).or_default().push(place);
            self.len += 1;
            return true;
        }
        true
    }
    /// Is there something that goes before processes of normal priority?
    pub fn has_urgent(&self) -> bool {
        self.by_priority[..SHARED].iter().any(|q| q.iter().any(|w| w.ticket.is_some()))
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
    pub fn pair<'q>(
        &'q self,
        others: bool,
        sustained: bool,
        partners: impl Fn(&Ticket) -> [u32; 2],
        runs: impl Fn(u32) -> bool,
    ) -> Option<[u32; 2]> {
        let with_ticket = |w: &'q Waiting| w.ticket.as_ref().map(|t| (t, w.mark));
        let all = || self.by_priority.iter().flatten().filter_map(with_ticket);
        let busy = || all().filter(|w| w.1.is_busy()).map(|w| w.0);
        let all = || all().map(|w| w.0);
        let waits = |pid: u32| all().any(|t| t.task().pid == pid);
        let is_left = |pair: &[u32; 2], t: &Rest| !pair.contains(&t.task().pid);
        let follower = |t: &Rest| {
            let pid = t.task().pid;
            let [to, from] = partners(t);
            (to == from && to != 0 && to != pid && !runs(to)).then_some([pid, to])
        };
        let of = |t: &Rest| {
            let pid = t.task().pid;
            let here = partners(t).into_iter().find(|q| *q != pid && waits(*q));
            here.map(|q| [pid, q]).or_else(|| follower(t))
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
                match w.ticket {
                    Some(t) if !stays(&t, w.mark.is_busy()) => {
                        self.note_taken(w.mark);
                        self.elevations.remove(&t.task().pid);
                        taken.push(t.take());
                    }
                    ticket => left.push_back(Waiting { ticket, mark: w.mark }),
                }
            }
            left.into_iter().rev().for_each(|w| self.by_priority[q].push_front(w));
        }
        taken
    }
}
