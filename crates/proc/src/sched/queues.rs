//! Run queues by priority, and the choice of processes that may migrate to another scheduler.

use std::collections::{HashMap, VecDeque};

use kvik_env::clock::tsc::ticks;
use kvik_sync::ThreadId;
use kvik_sys::METERED;

use super::metrics_page::{HistogramKind, Page};
use crate::process::{Priority, QueuedToken, RunToken};

struct Waiting {
    /// None: the placeholder of a process with raised priority, which runs from another queue. If
    /// the process becomes runnable again before the placeholder reaches the head, it takes that
    /// place, as in OTP.
    run_token: Option<QueuedToken>,
    mark: Mark,
}

impl Waiting {
    fn is(&self, pid: u32) -> bool {
        self.run_token.as_ref().is_some_and(|t| t.task().pid == pid)
    }
    fn is_place_of(&self, pid: u32) -> bool {
        self.run_token.is_none() && self.mark.place_of() == pid
    }
}

/// State of a queue entry. Bit 0: it used up its time slice and likely will again, so it is worth
/// waking another scheduler for. Bits 1 to 3: how often it is still requeued at the tail when it
/// reaches the head. Above them 0, or, if its wait is timed, how many waits the sample stands for
/// (13 bits) and the start of the wait (the tick counter without its last 4 bits).
#[derive(Copy, Clone)]
struct Mark(u64);

impl Mark {
    const REQUEUE: u64 = 1 << 1;

    fn new(busy: bool, since: u64, weight: u64) -> Mark {
        Mark(busy as u64 | weight.min(0x1FFF) << 4 | since >> 4 << 17)
    }
    /// A placeholder, with its process's pid where the ticks would be.
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
    /// Ticks since the wait began.
    fn waited(self, now: u64) -> u64 {
        (now >> 4 << 17).wrapping_sub(self.0 & !0x1_FFFF) >> 17 << 4
    }
}

/// Selects the queue waits to be timed: of the first entries pushed after a sleep, and one at
/// random intervals.
struct Timing {
    page: Page,
    /// Push count of the next entry to time.
    next: u64,
    /// After a sleep: how many more entries are timed individually; and how many pushes then pass
    /// before the next random sample.
    exact: u32,
    rest: u64,
    /// How many waits the next random sample stands for.
    weight: u64,
    chance: u32,
}
/// Entries timed individually after a sleep.
const EXACT_ENTRIES: u32 = 8;
/// Pushes between random samples: this many, plus a random number below this.
const SAMPLE_INTERVAL: u64 = 32;

pub(super) struct Queues {
    here: ThreadId,
    /// Max, high, and one for normal and low together.
    by_priority: [VecDeque<Waiting>; 3],
    pub len: usize,
    busy: usize,
    pushed: u64,
    taken: u64,
    /// The push count at some time, and that time; see [`Queues::age`].
    mark: (u64, u64),
    timing: Timing,
    /// Elevation requests pending for each raised process in these queues.
    elevations: HashMap<u32, Elevations>,
    /// The process that `pop` returned last, if it was raised.
    raised: Option<(u32, Elevations)>,
    /// Whether `elevations` or `raised` is non-empty; mostly neither is.
    raises: bool,
    /// Processes with placeholders here, and the priorities of these.
    places: HashMap<u32, Vec<Priority>>,
}

/// Requests for which a process was raised, counted by the requester's priority: max, high and
/// normal. Each is a system task in OTP, and pending ones keep the process at their priority.
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
/// Capacity that a queue keeps: 16 KB.
const MIN_CAPACITY: usize = 1024;
/// How many entries to scan for processes that may migrate.
const SCANNED_ENTRIES: usize = 256;

impl Queues {
    /// Sampled wait times are recorded in `page`.
    pub fn new(here: ThreadId, page: Page) -> Queues {
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
    /// The scheduler slept, so few entries are pushed: times each of the next ones.
    pub fn time_some(&mut self) {
        let t = &mut self.timing;
        if t.exact == 0 {
            t.rest = t.next - self.pushed;
        }
        t.exact = EXACT_ENTRIES;
        t.next = self.pushed + 1;
    }
    /// How many processes were taken from these queues so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }
    pub fn push(&mut self, t: RunToken) {
        self.add(t, false)
    }
    /// A process that used up its time slice.
    pub fn push_busy(&mut self, t: RunToken) {
        self.add(t, true)
    }
    /// A process that used up its time slice and has signals left to handle. If it was raised for
    /// those, it stays raised.
    pub fn push_pending(&mut self, t: RunToken) {
        let left = self.left_of(&t);
        self.add_raised(t, true, left);
    }
    /// A process that sits out its time slice. That answers one request; it stays raised for the
    /// others.
    pub fn push_sat_out(&mut self, t: RunToken) {
        let left = self.left_of(&t).map(Elevations::less_one);
        self.add_raised(t, false, left);
    }
    /// A process that waited and is raised.
    pub fn push_raised(&mut self, t: RunToken, to: Priority) {
        let mut one = Elevations::default();
        one.add(to);
        self.add_raised(t, false, Some(one));
    }
    /// The elevations of `t`, if it is the process popped last and was raised.
    fn left_of(&mut self, t: &RunToken) -> Option<Elevations> {
        let pid = t.task().pid;
        self.raised.take().filter(|(raised, _)| *raised == pid).map(|(_, left)| left)
    }
    fn add_raised(&mut self, t: RunToken, busy: bool, left: Option<Elevations>) {
        let Some((left, best)) = left.and_then(|left| Some((left, left.best()?))) else {
            return self.add(t, busy);
        };
        self.elevations.insert(t.task().pid, left);
        self.raises = true;
        let priority = best.min(t.task().priority());
        self.add_to(t, busy, Some(priority));
    }
    fn add(&mut self, run_token: RunToken, busy: bool) {
        self.add_to(run_token, busy, None)
    }
    fn add_to(&mut self, mut run_token: RunToken, busy: bool, raised: Option<Priority>) {
        let priority = raised.unwrap_or_else(|| run_token.task().priority());
        if !self.places.is_empty() {
            match self.take_up_place(run_token, busy, priority) {
                Some(t) => run_token = t,
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
        let run_token = QueuedToken::new(run_token, self.here);
        if priority == Priority::Low {
            mark.0 += LOW_REQUEUES * Mark::REQUEUE;
        }
        self.by_priority[queue_of(priority)]
            .push_back(Waiting { run_token: Some(run_token), mark });
    }
    /// If the process has a placeholder of that priority or a higher one, it takes that place.
    #[cold]
    fn take_up_place(&mut self, t: RunToken, busy: bool, priority: Priority) -> Option<RunToken> {
        let pid = t.task().pid;
        let best = self.places.get(&pid).and_then(|all| all.iter().min().copied());
        let Some(best) = best.filter(|p| *p <= priority) else { return Some(t) };
        self.forget_place(pid, best);
        let at = self.by_priority[queue_of(best)].iter_mut().rfind(|w| w.is_place_of(pid));
        let Some(w) = at else { return Some(t) };
        w.run_token = Some(QueuedToken::new(t, self.here));
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
    /// Drops a placeholder that reached the head while its process was not runnable.
    #[cold]
    fn drop_place(&mut self, m: Mark, queue: usize) {
        self.len -= 1;
        let pid = m.place_of();
        let here = |p: &&Priority| queue_of(**p) == queue;
        if let Some(p) = self.places.get(&pid).and_then(|all| all.iter().find(here).copied()) {
            self.forget_place(pid, p);
        }
    }
    /// The mark of an entry whose wait is timed.
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
        t.weight = SAMPLE_INTERVAL + u64::from(t.chance) % SAMPLE_INTERVAL;
        t.next = self.pushed + t.weight;
        mark
    }
    #[cold]
    fn waited(&self, m: Mark) {
        let ticks = ticks();
        let ns = ticks.between(0, m.waited(ticks.now()));
        self.timing.page.note(HistogramKind::Wait, ns, m.weight());
    }
    /// Releases spare capacity of queues that have become short.
    pub fn shrink(&mut self) {
        self.by_priority.iter_mut().for_each(|q| q.shrink_to(MIN_CAPACITY));
    }
    /// Takes the first process of the highest priority.
    pub fn pop(&mut self) -> Option<RunToken> {
        while self.len > 0 {
            let (w, queue) = match self.pop_urgent() {
                Some(found) => found,
                None => (self.pop_shared()?, SHARED),
            };
            match w.run_token {
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
    /// Raises a process queued here to a higher priority for its next time slice. A placeholder
    /// stays in its old queue.
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
            // A process that was raised before stays where it is.
            if q == to && requeues == 0 {
                return true;
            }
            let Some(run_token) = w.run_token.take() else { return false };
            let place = if q < SHARED { Priority::ALL[q] } else { run_token.task().priority() };
            let mark = Mark(w.mark.0 - requeues * Mark::REQUEUE);
            w.mark = Mark::place(pid, requeues);
            self.by_priority[to].push_back(Waiting { run_token: Some(run_token), mark });
            self.places.entry(pid).or_default().push(place);
            self.len += 1;
            return true;
        }
        true
    }
    /// Whether a process of high or max priority is queued.
    pub fn has_urgent(&self) -> bool {
        self.by_priority[..SHARED].iter().any(|q| q.iter().any(|w| w.run_token.is_some()))
    }
    /// Whether several queued processes used up their time slices. One alone loses little by
    /// staying: the others in its queue finish soon, or wait long, which their age shows.
    pub fn has_many_busy(&self) -> bool {
        self.busy > 1
    }
    pub fn has_busy(&self) -> bool {
        self.busy > 0
    }
    /// A lower bound on the oldest process's wait. Call it periodically: by the last call but one
    /// at the latest, it knows about everything queued.
    pub fn age(&mut self, now: u64) -> u64 {
        if self.taken >= self.mark.0 {
            self.mark = (self.pushed, now);
        }
        now - self.mark.1
    }
    /// A pair that may migrate together: a process that used up a time slice, and a partner that is
    /// queued here as well, or its only partner, which waits for it and will follow. Another
    /// process that used up a time slice must remain, unless `others` run here now.
    ///
    /// Under `sustained` load, a process with a single partner that waits for it qualifies without
    /// having used up a time slice, and any other process may be the one that remains.
    pub fn pair<'q>(
        &'q self,
        others: bool,
        sustained: bool,
        partners: impl Fn(&RunToken) -> [u32; 2],
        runs: impl Fn(u32) -> bool,
    ) -> Option<[u32; 2]> {
        let with_ticket = |w: &'q Waiting| w.run_token.as_ref().map(|t| (t, w.mark));
        let all = || self.by_priority.iter().flatten().filter_map(with_ticket);
        let busy = || all().filter(|w| w.1.is_busy()).map(|w| w.0);
        let all = || all().map(|w| w.0);
        let waits = |pid: u32| all().any(|t| t.task().pid == pid);
        let is_left = |pair: &[u32; 2], t: &QueuedToken| !pair.contains(&t.task().pid);
        let follower = |t: &QueuedToken| {
            let pid = t.task().pid;
            let [to, from] = partners(t);
            (to == from && to != 0 && to != pid && !runs(to)).then_some([pid, to])
        };
        let of = |t: &QueuedToken| {
            let pid = t.task().pid;
            let here = partners(t).into_iter().find(|q| *q != pid && waits(*q));
            here.map(|q| [pid, q]).or_else(|| follower(t))
        };
        let pair = busy().find_map(of);
        if let Some(pair) = pair.filter(|p| others || busy().any(|w| is_left(p, w))) {
            return Some(pair);
        }
        let pair = all().take(SCANNED_ENTRIES).find_map(follower).filter(|_| sustained)?;
        (others || all().any(|w| is_left(&pair, w))).then_some(pair)
    }
    /// Takes up to `most` of the oldest processes, except those that have to stay.
    pub fn take(&mut self, most: usize, stays: impl Fn(&RunToken, bool) -> bool) -> Vec<RunToken> {
        let mut taken = Vec::new();
        let mut looked = 0;
        for q in 0..self.by_priority.len() {
            let mut left = VecDeque::new();
            while let Some(w) = self.by_priority[q].pop_front() {
                looked += 1;
                if taken.len() >= most || looked > most.max(SCANNED_ENTRIES) {
                    self.by_priority[q].push_front(w);
                    break;
                }
                match w.run_token {
                    Some(t) if !stays(&t, w.mark.is_busy()) => {
                        self.note_taken(w.mark);
                        self.elevations.remove(&t.task().pid);
                        taken.push(t.take());
                    }
                    run_token => left.push_back(Waiting { run_token, mark: w.mark }),
                }
            }
            left.into_iter().rev().for_each(|w| self.by_priority[q].push_front(w));
        }
        taken
    }
}
