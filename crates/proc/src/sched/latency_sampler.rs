//! Samples the latencies of a scheduler at negligible cost. Slow events are timed each time: rounds
//! with a sleep or a check, and the time slice after a sleep. Of all others, up to ten million a
//! second, [`BURST_SLICES`] in a row are timed now and then; each timed slice stands for its share
//! of those since the last burst. A burst's start depends on a count and on chance, never on how
//! long anything takes. Long slices are rare and would make the sums depend on luck: they are
//! detected when the time between two checks is longer than usual, and count individually.

use std::sync::atomic::Ordering::Relaxed;

use kvik_env::clock::tsc::{ticks, Ticks, PARTS_PER_NS};

use super::local::{Local, NEXT_TIMED};
use super::metrics_page::{HistogramKind, MetricsCounter, Page};
use super::{mailbox_latency, Scheduler};
use crate::clock;

/// Time slices timed in a burst, and slices before them that only warm up the branch predictor.
const BURST_SLICES: u32 = 16;
const WARM_UP_SLICES: u32 = 2;
/// One burst in this many measures waits in the `next` slot instead.
const BURSTS_PER_WAIT_SAMPLE: u32 = 4;
/// One burst in this many also has a message timed.
const BURSTS_PER_MESSAGE_SAMPLE: u32 = 2;
/// Time slices between bursts: this many, plus a random number below this; or this many nanoseconds
/// if time slices are few.
const BURST_INTERVAL_SLICES: u32 = 16_384;
const BURST_INTERVAL_NS: u64 = 10_000_000;
/// A burst begins a random number of time slices, below this, after a check: the first slices after
/// one are not typical.
const MAX_SLICES_AFTER_CHECK: u32 = 64;
/// Untimed time slices needed to calibrate the overhead of timing.
const CALIBRATION_SLICES: u64 = 1024;
/// A long time slice or round.
const LONG_SLICE_NS: u64 = 50_000;
/// Slices shorter than this are distorted by timing; the distortion is below an eighth of it.
const SHORT_SLICE_NS: u64 = 512;
const MAX_OVERHEAD_PARTS: i64 = SHORT_SLICE_NS as i64 / 8 * PARTS_PER_NS;
/// Bursts needed to learn the distortion.
const CALIBRATION_BURSTS: i64 = 64;
/// How long the clock is extrapolated from ticks. Their rate is known to some 50 parts in a
/// million, so the error stays below the cost of reading the clock.
const MAX_EXTRAPOLATED_NS: u64 = 50_000;

pub(super) struct LatencySampler {
    ticks: Ticks,
    page: Page,
    /// The time slice count from which a burst may begin.
    due: u64,
    /// Time slices left in the current burst, including the offset and warm-up; 0 outside a burst.
    left: u32,
    /// In a burst, before the warm-up: time slices are not timed yet.
    early: bool,
    chance: u32,
    row: Burst,
    /// Rounds and time slices that were timed individually, and are not in the bursts.
    timed: (u64, u64),
    /// When the last burst began, and when a message sample was last requested.
    last_row: u64,
    last_mail: u64,
    /// While slices are timed: when the current one began, and when the last one ended.
    began: u64,
    ended: u64,
    /// Usual length of rounds and time slices in nanoseconds: the average of the last burst.
    usual: (u64, u64),
    slow: Slow,
    checked: Checked,
    /// Ticks and clock value of the last check that read the clock.
    read: (u64, u64),
    /// Untimed time slices since the last burst, and their time including their rounds.
    plain: (u64, u64),
    /// How much longer a slice and its round appear when timed, beyond the cost of the readings: in
    /// parts of a nanosecond, times [`CALIBRATION_BURSTS`]. Negative if readings cost less than
    /// assumed.
    disturbed: i64,
    /// Rounding remainders of rounds and time slices.
    over: (Remainder, Remainder),
}

/// Durations are recorded in whole nanoseconds and never below 0; but a time slice may be as short
/// as ten, and a processor's counter may advance in steps of that. The remainder, positive or
/// negative, carries over to the next duration, so that sums are right.
#[derive(Default)]
struct Remainder(i64);

impl Remainder {
    /// Whole nanoseconds of `parts` and the remainder.
    fn whole(&mut self, parts: i64) -> u64 {
        let all = parts.saturating_add(self.0);
        let ns = (all / PARTS_PER_NS).max(0);
        self.0 = (all - ns * PARTS_PER_NS).max(-MAX_OVERHEAD_PARTS);
        ns as u64
    }
}

/// Weight of each time slice in the burst, and how many slices are accounted for so far. Timing
/// waits in `next` takes a reading in the middle of time slices, so such a burst measures only
/// these waits: its slices and rounds have weight 0.
#[derive(Default)]
struct Burst {
    number: u32,
    rounds: u64,
    turns: u64,
    /// Time slices of processes that did not come from the queue; 0 if their waits are not timed.
    nexts: u64,
    seen: (u64, u64, u64),
    /// Sums of timed rounds and slices, and the number of each.
    sum: (u64, u64),
    count: (u64, u64),
}

/// A round in which the scheduler had nothing to run.
#[derive(Default)]
struct Slow {
    since: Option<u64>,
    /// Ticks asleep.
    asleep: u64,
    /// The current time slice is the one after such a round.
    behind: bool,
}

/// The last check of timers and events.
#[derive(Default)]
struct Checked {
    began: u64,
    ended: u64,
    /// Time slices so far at its end.
    at: u64,
    /// It is not in a histogram yet: its round may still be going on.
    pending: bool,
    /// Nothing was timed since then.
    alone: bool,
}

fn turns(me: &Scheduler) -> u64 {
    me.counters.turns.load(Relaxed)
}

impl LatencySampler {
    pub fn new(page: Page) -> LatencySampler {
        let ticks = ticks();
        LatencySampler {
            ticks,
            page,
            due: 0,
            left: 0,
            early: false,
            chance: ticks.now() as u32 | 1,
            row: Burst::default(),
            timed: (0, 0),
            last_row: ticks.now(),
            last_mail: 0,
            began: 0,
            ended: 0,
            usual: (0, 0),
            slow: Slow::default(),
            checked: Checked::default(),
            read: (0, 0),
            plain: (0, 0),
            disturbed: 0,
            over: Default::default(),
        }
    }
    pub fn now(&self) -> u64 {
        self.ticks.now()
    }
    /// Nanoseconds from one reading to the next, less the cost of a reading.
    fn between(&self, from: u64, to: u64) -> u64 {
        self.ticks.between(from.wrapping_add(self.ticks.cost()), to)
    }
    /// The same in parts, for a slice or a round, also less the distortion by timing.
    fn undisturbed(&self, from: u64, to: u64) -> i64 {
        let parts = self.ticks.parts_between(from.wrapping_add(self.ticks.cost()), to);
        parts.saturating_sub(self.disturbed / (2 * CALIBRATION_BURSTS))
    }
    /// Learns from a burst how long slices and rounds usually take, and from the untimed slices
    /// before it how much timing distorts.
    fn learn(&mut self) {
        let (sum, n) = (self.row.sum, self.row.count);
        let (turns, ns) = std::mem::take(&mut self.plain);
        if self.row.nexts > 0 || n.0 == 0 || n.1 == 0 {
            return;
        }
        self.usual = (sum.0 / n.0, sum.1 / n.1);
        if turns >= CALIBRATION_SLICES && ns / turns < SHORT_SLICE_NS {
            let average = |sum: u64, n: u64| (sum * PARTS_PER_NS as u64 / n) as i64;
            let more = average(sum.0, n.0) + average(sum.1, n.1) - average(ns, turns);
            let known = self.disturbed + more.clamp(-MAX_OVERHEAD_PARTS, MAX_OVERHEAD_PARTS);
            self.disturbed = known.clamp(
                -CALIBRATION_BURSTS * MAX_OVERHEAD_PARTS,
                CALIBRATION_BURSTS * MAX_OVERHEAD_PARTS,
            );
        }
    }
    /// A random number below `n`.
    fn one_of(&mut self, n: u32) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 17;
        self.chance ^= self.chance << 5;
        u64::from(self.chance % n)
    }

    /// Starts a burst if one is due.
    fn perhaps_row(&mut self, l: &Local, now: u64) {
        let n = turns(l.me);
        let each = u64::from(BURST_SLICES);
        let new = n.saturating_sub(self.timed.1).saturating_sub(self.row.seen.1) >= each;
        let long_ago = || self.ticks.between(self.last_row, now) >= BURST_INTERVAL_NS;
        if self.left == 0 && new && (n >= self.due || long_ago()) {
            self.row(l, n);
        }
    }
    #[cold]
    fn row(&mut self, l: &Local, n: u64) {
        self.due = n + u64::from(BURST_INTERVAL_SLICES) + self.one_of(BURST_INTERVAL_SLICES);
        let each = u64::from(BURST_SLICES);
        let nexts = n.saturating_sub(l.queues.borrow().taken());
        let r = &mut self.row;
        let part = |all: u64, seen: &mut u64, timed: bool| {
            let stands_for = if timed { all.saturating_sub(*seen) / each } else { 0 };
            *seen += stands_for * each;
            stands_for
        };
        r.number = r.number.wrapping_add(1);
        let waits = r.number.is_multiple_of(BURSTS_PER_WAIT_SAMPLE);
        r.rounds = part(n.saturating_sub(self.timed.0), &mut r.seen.0, !waits);
        r.turns = part(n.saturating_sub(self.timed.1), &mut r.seen.1, !waits);
        r.nexts = part(nexts, &mut r.seen.2, waits);
        (r.sum, r.count) = Default::default();
        self.left = BURST_SLICES + WARM_UP_SLICES + self.one_of(MAX_SLICES_AFTER_CHECK) as u32;
        // The slice after a sleep is timed in any case.
        self.early = self.slow.since.is_none();
        self.last_row = self.now();
        l.me.meter.watch(true);
        if self.row.number.is_multiple_of(BURSTS_PER_MESSAGE_SAMPLE) {
            self.ask_for_mail(mailbox_latency::SAMPLE_INTERVAL);
        }
    }

    fn ask_for_mail(&mut self, ahead: u32) {
        self.last_mail = self.now();
        mailbox_latency::sample_within(self.one_of(ahead));
    }

    /// Whether the current time slice comes before a burst's warm-up.
    pub fn is_early(&self) -> bool {
        self.early
    }
    /// Such a slice has switched straight to the next.
    pub fn passed(&mut self, me: &Scheduler) {
        self.left -= 1;
        if !self.stays_early(me) {
            self.began = self.now();
        }
    }
    /// A time slice begins: whether it also comes before the warm-up.
    fn stays_early(&mut self, me: &Scheduler) -> bool {
        if self.early && self.left <= BURST_SLICES + WARM_UP_SLICES {
            self.early = false;
            if std::mem::take(&mut self.checked.alone) {
                self.look_back(turns(me) - self.checked.at, self.now());
            }
        }
        self.early
    }

    /// A time slice begins that is timed.
    #[cold]
    pub fn begins(&mut self, l: &Local) {
        if self.stays_early(l.me) {
            return;
        }
        let now = self.now();
        self.settle(turns(l.me));
        self.round_ends(l, now);
        self.began = self.now();
    }
    /// At `then` the slice of one partner ended; that of the other begins now.
    pub fn switched(&mut self, l: &Local, then: u64) {
        let now = self.now();
        self.turn_ends(l.me, then);
        self.settle(turns(l.me));
        self.ended = then;
        self.round_ends(l, now);
        self.began = self.now();
    }
    fn round_ends(&mut self, l: &Local, now: u64) {
        let in_row = self.left > 0 && self.left <= BURST_SLICES;
        match self.slow.since.take() {
            Some(since) => self.idled(since, now),
            None if in_row && !self.checked.pending => {
                let ns = self.over.0.whole(self.undisturbed(self.ended, now));
                if ns < LONG_SLICE_NS {
                    self.page.note(HistogramKind::Round, ns, self.row.rounds);
                    self.row.sum.0 += ns;
                    self.row.count.0 += 1;
                } else {
                    self.page.note(HistogramKind::Round, ns, 1);
                    self.timed.0 += 1;
                }
            }
            None => (),
        }
        let since = l.next_since.replace(0);
        if since != 0 {
            self.page.note(HistogramKind::Wait, self.between(since, now), self.row.nexts);
        }
        if in_row && self.row.nexts > 0 {
            l.next_mode.set(NEXT_TIMED);
        }
    }
    /// Ends a round in which the scheduler had nothing to run.
    fn idled(&mut self, since: u64, now: u64) {
        let asleep = std::mem::take(&mut self.slow.asleep);
        let all = self.ticks.between(since, now);
        if asleep > 0 {
            self.page.note(HistogramKind::Slept, all, 1);
            let awake = all.saturating_sub(self.ticks.between(0, asleep));
            self.page.note(HistogramKind::Awake, awake, 1);
        } else {
            self.page.note(HistogramKind::Round, all, 1);
        }
        self.timed.0 += 1;
        self.slow.behind = true;
    }
    /// A timed slice has ended.
    #[cold]
    pub fn ends(&mut self, me: &Scheduler) {
        if self.early {
            self.left -= 1;
            return;
        }
        let now = self.now();
        self.turn_ends(me, now);
        self.ended = self.now();
    }
    /// The slice ended at `then`.
    pub fn ended(&mut self, me: &Scheduler, then: u64) {
        self.turn_ends(me, then);
        self.ended = then;
    }
    fn turn_ends(&mut self, me: &Scheduler, now: u64) {
        let ns = self.over.1.whole(self.undisturbed(self.began, now));
        if std::mem::take(&mut self.slow.behind) {
            self.page.note(HistogramKind::Run, ns, 1);
            self.timed.1 += 1;
        } else if self.left > 0 {
            if self.left <= BURST_SLICES && ns < LONG_SLICE_NS {
                self.page.note(HistogramKind::Run, ns, self.row.turns);
                self.row.sum.1 += ns;
                self.row.count.1 += 1;
            } else if ns >= LONG_SLICE_NS {
                self.page.note(HistogramKind::Run, ns, 1);
                self.timed.1 += 1;
            }
            self.left -= 1;
            if self.left == 0 {
                self.learn();
            }
        }
        if self.left == 0 {
            me.meter.watch(false);
        }
    }

    /// A check begins: returns the time in ticks, and on the clock.
    pub fn check_begins(&mut self, me: &Scheduler) -> (u64, u64) {
        let now = self.now();
        let n = turns(me);
        if self.checked.alone {
            self.look_back(n - self.checked.at, now);
        }
        self.settle(n);
        (now, self.on_the_clock(now))
    }
    /// The value of [`clock::now`] at that tick: extrapolated, or read again if ticks alone may
    /// have drifted.
    fn on_the_clock(&mut self, now: u64) -> u64 {
        let (then, said) = self.read;
        let since = self.ticks.between(then, now);
        if since.wrapping_sub(1) < MAX_EXTRAPOLATED_NS {
            return said + since;
        }
        self.read = (now, clock::now());
        self.read.1
    }
    /// Accounts for `n` untimed time slices.
    fn look_back(&mut self, n: u64, now: u64) {
        let all = self.between(self.checked.ended, now);
        let (round, turn) = self.usual;
        let (usual, least) = match n {
            0 => return,
            1 => (round, 0),
            _ => (n * (round + turn), LONG_SLICE_NS),
        };
        let more = all.saturating_sub(usual);
        if more >= least {
            self.page.note(HistogramKind::Run, more, 1);
            self.timed.1 += 1;
        } else {
            self.plain = (self.plain.0 + n, self.plain.1 + all);
        }
    }
    pub fn check_ends(&mut self, l: &Local, began: u64) {
        let me = l.me;
        let began = if self.checked.pending { self.checked.began } else { began };
        let (ended, at, alone) = (self.now(), turns(me), self.left == 0 || self.early);
        self.checked = Checked { began, ended, at, pending: true, alone };
        self.page.add(MetricsCounter::Checks, 1);
        self.publish(me);
        self.perhaps_row(l, ended);
    }
    /// Ends the round of the last check.
    fn settle(&mut self, n: u64) {
        let c = &mut self.checked;
        if c.pending && n > c.at {
            c.pending = false;
            let ns = self.ticks.between(c.began, c.ended) + self.usual.0;
            self.page.note(HistogramKind::Round, ns, 1);
            self.timed.0 += 1;
        }
    }

    /// The scheduler has nothing to run. The next time slice is timed.
    pub fn idles(&mut self, l: &Local) {
        let now = self.now();
        self.settle(turns(l.me));
        self.perhaps_row(l, now);
        if self.ticks.between(self.last_mail, now) >= BURST_INTERVAL_NS {
            // An idle scheduler has no bursts to request it.
            self.ask_for_mail(mailbox_latency::SHORT_SAMPLE_INTERVAL);
        }
        let checked = std::mem::take(&mut self.checked);
        let since = if checked.pending { checked.began } else { now };
        self.slow.since.get_or_insert(since);
        self.early = false;
        l.me.meter.watch(true);
        self.publish(l.me);
    }
    /// The scheduler falls asleep; returns the time.
    pub fn falls_asleep(&self, me: &Scheduler) -> u64 {
        self.publish(me);
        self.now()
    }
    /// The scheduler slept since `from`; `woken`: another thread woke it.
    pub fn slept(&mut self, me: &Scheduler, from: u64, woken: bool) {
        self.slow.asleep += self.now().wrapping_sub(from);
        self.page.add(MetricsCounter::Sleeps, 1);
        self.page.add(MetricsCounter::Woken, u64::from(woken));
        self.publish(me);
    }
    /// Publishes counters kept elsewhere.
    fn publish(&self, me: &Scheduler) {
        let c = &me.counters;
        self.page.set(MetricsCounter::Switches, c.turns.load(Relaxed));
        self.page.set(MetricsCounter::Reductions, c.reductions.load(Relaxed));
        self.page.set(MetricsCounter::Given, c.given.load(Relaxed));
        self.page.set(MetricsCounter::Slept, c.slept.load(Relaxed));
        self.page.set(MetricsCounter::Asleep, c.asleep.load(Relaxed));
        self.page.set(MetricsCounter::Started, c.started.load(Relaxed));
        self.page.set(MetricsCounter::Queued, c.queued.load(Relaxed) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_sums_right() {
        let mut over = Remainder::default();
        let parts = [100, 27, 1, 0, -70, 40, 30, 6400, -MAX_OVERHEAD_PARTS / 2, 64];
        let all: Vec<u64> = parts.iter().map(|p| over.whole(*p)).collect();
        assert_eq!(all, [1, 0, 1, 0, 0, 0, 0, 100, 0, 0]);
        assert_eq!(102 * PARTS_PER_NS + over.0, parts.iter().sum::<i64>());
        // An excess far too large, as on a processor whose counter runs behind, is not paid back
        // for ever.
        assert_eq!((over.whole(i64::MIN / 4), over.0), (0, -MAX_OVERHEAD_PARTS));
        assert_eq!((over.whole(MAX_OVERHEAD_PARTS), over.whole(2 * PARTS_PER_NS)), (0, 2));
    }
}
