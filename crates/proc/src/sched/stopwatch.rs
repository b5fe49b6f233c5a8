//! Times what a scheduler does, at a cost that cannot be seen. What is slow anyway is timed each time
//! it happens: rounds in which it slept or looked for events, and the turn behind a sleep. Of the
//! others, of which there may be ten million a second, [`BURST`] in a row are timed now and then, and
//! each stands for its part of all there were since the last time. When that is depends on a count
//! and on chance, never on how long anything takes. Long ones are rare and would make the sums depend
//! on luck: they are found where the time between two looks at events is longer than usual, and stand
//! for themselves.

use std::sync::atomic::Ordering::Relaxed;

use kvik_env::clock::ticks::{ticks, Ticks, PARTS};

use super::board::{Count, Kind, Page};
use super::local::{Local, TIMED};
use super::{mail, Scheduler};
use crate::clock;

/// Turns that are timed in a row, and those before them that only have the processor learn the way.
const BURST: u32 = 16;
const WARM: u32 = 2;
/// One row of so many is for how long partners wait.
const WAITS: u32 = 4;
/// With one row of so many a message is timed.
const MAIL: u32 = 2;
/// Turns from one such row to the next: this many, and up to as many again, or where turns are few,
/// that many nanoseconds.
const APART: u32 = 16_384;
const LONG_AGO_NS: u64 = 10_000_000;
/// A row begins up to so many turns behind a look at events, which is no turn like others.
const AWAY: u32 = 64;
/// Turns that were not timed, to learn from.
const LEARN: u64 = 1024;
/// What is long.
const LONG_NS: u64 = 50_000;
/// Up to this a turn is so short that timing it shows; it does by less than an eighth of that.
const SHORT_NS: u64 = 512;
const SHOWS: i64 = SHORT_NS as i64 / 8 * PARTS;
/// How many rows it takes to learn by how much.
const ROWS: i64 = 64;
/// How long the time is reckoned by ticks, whose worth is known to some 50 parts in a million: what
/// they lead away by is less than a reading of the clock takes.
const RECKONED_NS: u64 = 50_000;

pub(super) struct Stopwatch {
    ticks: Ticks,
    page: Page,
    /// The turn from which on a row may begin.
    due: u64,
    /// Turns of the row under way that are still to come, those before it among them; 0 for none.
    left: u32,
    /// The row is still to begin, and the turns before it are not looked at.
    early: bool,
    chance: u32,
    row: Row,
    /// Those that were timed one by one are not in the rows: rounds, turns.
    timed: (u64, u64),
    /// When the last row began, and when a message was last asked for.
    last_row: u64,
    last_mail: u64,
    /// When the turn under way began, and when the last one ended, while that is looked at.
    began: u64,
    ended: u64,
    /// What rounds and turns last as a rule, in nanoseconds: the average of the last row.
    usual: (u64, u64),
    slow: Slow,
    checked: Checked,
    /// When a look at events read the clock last, in ticks, and what that said.
    read: (u64, u64),
    /// Turns that were not timed, and their time with their rounds, since the last row.
    plain: (u64, u64),
    /// How much longer a turn and its round seem where they are timed, beyond what the readings take: in
    /// parts of a nanosecond, times [`ROWS`]. Below 0 where readings take less than they should.
    disturbed: i64,
    /// What rounds and turns are still to get.
    over: (Over, Over),
}

/// What is timed is noted in whole nanoseconds, none of it less than nothing; but a turn may be as short
/// as ten, and a processor's counter may go by steps of that. What is left over, or was too much, goes
/// to the next, so that sums are right.
#[derive(Default)]
struct Over(i64);

impl Over {
    /// Whole nanoseconds of so many parts and what is over.
    fn whole(&mut self, parts: i64) -> u64 {
        let all = parts.saturating_add(self.0);
        let ns = (all / PARTS).max(0);
        self.0 = (all - ns * PARTS).max(-SHOWS);
        ns as u64
    }
}

/// What each turn of a row stands for, and what is in rows so far. Timing how long partners wait takes
/// a reading in the middle of turns, so there it is all that is timed: what is noted of the rest stands
/// for nothing.
#[derive(Default)]
struct Row {
    number: u32,
    rounds: u64,
    turns: u64,
    /// Turns of processes that did not come from the queue; 0 where their waits are not timed.
    nexts: u64,
    seen: (u64, u64, u64),
    /// Sums of rounds and turns that were timed, and how many there were of each.
    sum: (u64, u64),
    count: (u64, u64),
}

/// A round in which the scheduler had nothing to run.
#[derive(Default)]
struct Slow {
    since: Option<u64>,
    /// Ticks asleep.
    asleep: u64,
    /// The turn under way is the one behind it.
    behind: bool,
}

/// The last look at timers and events.
#[derive(Default)]
struct Checked {
    began: u64,
    ended: u64,
    /// Turns there had been.
    at: u64,
    /// It is not in a histogram yet: its round goes on, as far as is known.
    pending: bool,
    /// Nothing was looked at since then.
    alone: bool,
}

fn turns(me: &Scheduler) -> u64 {
    me.counters.turns.load(Relaxed)
}

impl Stopwatch {
    pub fn new(page: Page) -> Stopwatch {
        let ticks = ticks();
        Stopwatch {
            ticks,
            page,
            due: 0,
            left: 0,
            early: false,
            chance: ticks.now() as u32 | 1,
            row: Row::default(),
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
    /// Nanoseconds from one reading to the next, less what reading takes.
    fn between(&self, from: u64, to: u64) -> u64 {
        self.ticks.between(from.wrapping_add(self.ticks.cost()), to)
    }
    /// The same in parts, of a turn or a round, and less what timing both adds to each.
    fn undisturbed(&self, from: u64, to: u64) -> i64 {
        let parts = self.ticks.parts_between(from.wrapping_add(self.ticks.cost()), to);
        parts.saturating_sub(self.disturbed / (2 * ROWS))
    }
    /// From a row what turns and rounds usually take; and from those before that were not timed how
    /// much longer that is than it should be.
    fn learn(&mut self) {
        let (sum, n) = (self.row.sum, self.row.count);
        let (turns, ns) = std::mem::take(&mut self.plain);
        if self.row.nexts > 0 || n.0 == 0 || n.1 == 0 {
            return;
        }
        self.usual = (sum.0 / n.0, sum.1 / n.1);
        if turns >= LEARN && ns / turns < SHORT_NS {
            let average = |sum: u64, n: u64| (sum * PARTS as u64 / n) as i64;
            let more = average(sum.0, n.0) + average(sum.1, n.1) - average(ns, turns);
            let known = self.disturbed + more.clamp(-SHOWS, SHOWS);
            self.disturbed = known.clamp(-ROWS * SHOWS, ROWS * SHOWS);
        }
    }
    /// One of so many, each as likely.
    fn one_of(&mut self, n: u32) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 17;
        self.chance ^= self.chance << 5;
        u64::from(self.chance % n)
    }

    /// Has turns timed where it is time for that.
    fn perhaps_row(&mut self, l: &Local, now: u64) {
        let n = turns(l.me);
        let each = u64::from(BURST);
        let new = n.saturating_sub(self.timed.1).saturating_sub(self.row.seen.1) >= each;
        let long_ago = || self.ticks.between(self.last_row, now) >= LONG_AGO_NS;
        if self.left == 0 && new && (n >= self.due || long_ago()) {
            self.row(l, n);
        }
    }
    #[cold]
    fn row(&mut self, l: &Local, n: u64) {
        self.due = n + u64::from(APART) + self.one_of(APART);
        let each = u64::from(BURST);
        let nexts = n.saturating_sub(l.queues.borrow().taken());
        let r = &mut self.row;
        let part = |all: u64, seen: &mut u64, timed: bool| {
            let stands_for = if timed { all.saturating_sub(*seen) / each } else { 0 };
            *seen += stands_for * each;
            stands_for
        };
        r.number = r.number.wrapping_add(1);
        let waits = r.number.is_multiple_of(WAITS);
        r.rounds = part(n.saturating_sub(self.timed.0), &mut r.seen.0, !waits);
        r.turns = part(n.saturating_sub(self.timed.1), &mut r.seen.1, !waits);
        r.nexts = part(nexts, &mut r.seen.2, waits);
        (r.sum, r.count) = Default::default();
        self.left = BURST + WARM + self.one_of(AWAY) as u32;
        // What is behind a sleep is looked at in any case.
        self.early = self.slow.since.is_none();
        self.last_row = self.now();
        l.me.meter.watch(true);
        if self.row.number.is_multiple_of(MAIL) {
            self.ask_for_mail(mail::AHEAD);
        }
    }

    fn ask_for_mail(&mut self, ahead: u32) {
        self.last_mail = self.now();
        mail::time_one_of(self.one_of(ahead));
    }

    /// Is the turn under way one of those before a row?
    pub fn is_early(&self) -> bool {
        self.early
    }
    /// One of those has gone straight to the next.
    pub fn passed(&mut self, me: &Scheduler) {
        self.left -= 1;
        if !self.stays_early(me) {
            self.began = self.now();
        }
    }
    /// A turn begins: is it one of those?
    fn stays_early(&mut self, me: &Scheduler) -> bool {
        if self.early && self.left <= BURST + WARM {
            self.early = false;
            if std::mem::take(&mut self.checked.alone) {
                self.look_back(turns(me) - self.checked.at, self.now());
            }
        }
        self.early
    }

    /// A turn begins that somebody wants to hear of.
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
    /// The turn of one partner has ended then, and that of the other begins now.
    pub fn switched(&mut self, l: &Local, then: u64) {
        let now = self.now();
        self.turn_ends(l.me, then);
        self.settle(turns(l.me));
        self.ended = then;
        self.round_ends(l, now);
        self.began = self.now();
    }
    fn round_ends(&mut self, l: &Local, now: u64) {
        let in_row = self.left > 0 && self.left <= BURST;
        match self.slow.since.take() {
            Some(since) => self.idled(since, now),
            None if in_row && !self.checked.pending => {
                let ns = self.over.0.whole(self.undisturbed(self.ended, now));
                if ns < LONG_NS {
                    self.page.note(Kind::Round, ns, self.row.rounds);
                    self.row.sum.0 += ns;
                    self.row.count.0 += 1;
                } else {
                    self.page.note(Kind::Round, ns, 1);
                    self.timed.0 += 1;
                }
            }
            None => (),
        }
        let since = l.next_since.replace(0);
        if since != 0 {
            self.page.note(Kind::Wait, self.between(since, now), self.row.nexts);
        }
        if in_row && self.row.nexts > 0 {
            l.alone.set(TIMED);
        }
    }
    /// The round is over in which it had nothing to run.
    fn idled(&mut self, since: u64, now: u64) {
        let asleep = std::mem::take(&mut self.slow.asleep);
        let all = self.ticks.between(since, now);
        if asleep > 0 {
            self.page.note(Kind::Slept, all, 1);
            let awake = all.saturating_sub(self.ticks.between(0, asleep));
            self.page.note(Kind::Awake, awake, 1);
        } else {
            self.page.note(Kind::Round, all, 1);
        }
        self.timed.0 += 1;
        self.slow.behind = true;
    }
    /// A turn that was looked at has ended.
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
    /// It has ended then.
    pub fn ended(&mut self, me: &Scheduler, then: u64) {
        self.turn_ends(me, then);
        self.ended = then;
    }
    fn turn_ends(&mut self, me: &Scheduler, now: u64) {
        let ns = self.over.1.whole(self.undisturbed(self.began, now));
        if std::mem::take(&mut self.slow.behind) {
            self.page.note(Kind::Run, ns, 1);
            self.timed.1 += 1;
        } else if self.left > 0 {
            if self.left <= BURST && ns < LONG_NS {
                self.page.note(Kind::Run, ns, self.row.turns);
                self.row.sum.1 += ns;
                self.row.count.1 += 1;
            } else if ns >= LONG_NS {
                self.page.note(Kind::Run, ns, 1);
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

    /// It is about to look at timers and events: when that is, in ticks, and on the clock.
    pub fn check_begins(&mut self, me: &Scheduler) -> (u64, u64) {
        let now = self.now();
        let n = turns(me);
        if self.checked.alone {
            self.look_back(n - self.checked.at, now);
        }
        self.settle(n);
        (now, self.on_the_clock(now))
    }
    /// What [`clock::now`] says at that tick: read anew where ticks alone may have led away from it.
    fn on_the_clock(&mut self, now: u64) -> u64 {
        let (then, said) = self.read;
        let since = self.ticks.between(then, now);
        if since.wrapping_sub(1) < RECKONED_NS {
            return said + since;
        }
        self.read = (now, clock::now());
        self.read.1
    }
    /// What so many turns have taken that none was timed of.
    fn look_back(&mut self, n: u64, now: u64) {
        let all = self.between(self.checked.ended, now);
        let (round, turn) = self.usual;
        let (usual, least) = match n {
            0 => return,
            1 => (round, 0),
            _ => (n * (round + turn), LONG_NS),
        };
        let more = all.saturating_sub(usual);
        if more >= least {
            self.page.note(Kind::Run, more, 1);
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
        self.page.add(Count::Checks, 1);
        self.publish(me);
        self.perhaps_row(l, ended);
    }
    /// The round is over in which it looked at events.
    fn settle(&mut self, n: u64) {
        let c = &mut self.checked;
        if c.pending && n > c.at {
            c.pending = false;
            let ns = self.ticks.between(c.began, c.ended) + self.usual.0;
            self.page.note(Kind::Round, ns, 1);
            self.timed.0 += 1;
        }
    }

    /// It has nothing to run. The next turn is looked at.
    pub fn idles(&mut self, l: &Local) {
        let now = self.now();
        self.settle(turns(l.me));
        self.perhaps_row(l, now);
        if self.ticks.between(self.last_mail, now) >= LONG_AGO_NS {
            // Where there is little to do there are no rows.
            self.ask_for_mail(mail::FEW);
        }
        let checked = std::mem::take(&mut self.checked);
        let since = if checked.pending { checked.began } else { now };
        self.slow.since.get_or_insert(since);
        self.early = false;
        l.me.meter.watch(true);
        self.publish(l.me);
    }
    /// It falls asleep; when that was.
    pub fn falls_asleep(&self, me: &Scheduler) -> u64 {
        self.publish(me);
        self.now()
    }
    /// It slept from then on, and is up. Was it woken by another thread?
    pub fn slept(&mut self, me: &Scheduler, from: u64, woken: bool) {
        self.slow.asleep += self.now().wrapping_sub(from);
        self.page.add(Count::Sleeps, 1);
        self.page.add(Count::Woken, u64::from(woken));
        self.publish(me);
    }
    /// Shows what is counted elsewhere.
    fn publish(&self, me: &Scheduler) {
        let c = &me.counters;
        self.page.set(Count::Switches, c.turns.load(Relaxed));
        self.page.set(Count::Reductions, c.reductions.load(Relaxed));
        self.page.set(Count::Given, c.given.load(Relaxed));
        self.page.set(Count::Slept, c.slept.load(Relaxed));
        self.page.set(Count::Asleep, c.asleep.load(Relaxed));
        self.page.set(Count::Started, c.started.load(Relaxed));
        self.page.set(Count::Queued, c.queued.load(Relaxed) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_right_though_each_is_whole_and_none_below_nothing() {
        let mut over = Over::default();
        let parts = [100, 27, 1, 0, -70, 40, 30, 6400, -SHOWS / 2, 64];
        let all: Vec<u64> = parts.iter().map(|p| over.whole(*p)).collect();
        assert_eq!(all, [1, 0, 1, 0, 0, 0, 0, 100, 0, 0]);
        assert_eq!(102 * PARTS + over.0, parts.iter().sum::<i64>());
        // What was far too much, as on a processor whose counter is behind, is not paid back for ever.
        assert_eq!((over.whole(i64::MIN / 4), over.0), (0, -SHOWS));
        assert_eq!((over.whole(SHOWS), over.whole(2 * PARTS)), (0, 2));
    }
}
