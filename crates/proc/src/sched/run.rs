//! A scheduler's loop: timers, events, then the best process; sleep when there is none.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use kvik_heap::Regs;
use kvik_sync::{pin, EpochPin};

use super::local::{Local, NEXT_CLOSED};
use super::microstate_timing::{collecting, during, Microstate};
use super::{all, online, scavenger, send_work, Work, IDLE, STOP};
use crate::exit::Prepared;
use crate::hooks::{hooks, SliceEnd};
use crate::process::{flag, table, RunToken};
use crate::signal::deliver;
use crate::{clock, exit, sysprof, timer, trace};

/// Reductions a time slice.
pub const REDUCTIONS: i64 = 4000;
/// A process that has waited longer than this is given to a scheduler that sleeps. To wake that one
/// takes some 40 µs.
const PATIENCE_NS: u64 = 200_000;
/// A process whose partner is runnable here too stays, while no more than this many wait: apart,
/// each message between them would cost more than waiting does.
const PARTNERS: usize = 8;
/// Checks in a row, at each of which processes waited, after which a pair is worth another scheduler's
/// waking up.
const SUSTAINED: u32 = 4;
/// The most timers that ring between two time slices.
const TIMERS: usize = 500;
/// Ended processes whose memory is still kept, that are worth a look; and how many at least are let
/// go of by one look, where all threads keep up.
const ENDED: usize = 512;
const LET_GO: usize = 256;

/// A full collection between time slices. It settles the mailbox too: a row of messages that waits
/// is gone through here, and not by the first receive after it.
fn collect(t: &mut RunToken) -> kvik_heap::GcStats {
    t.private().settle_messages();
    t.private().note_collection();
    let heard = t.private().gc_begins(true, 0);
    let stats =
        collecting(t.private().heap.sizes().block, || t.private_mut().heap.collect_parked(true));
    if let Some(c) = heard {
        t.private().gc_ended(c, &stats);
    }
    stats
}

/// Does what others have asked of a process.
#[cold]
fn run_tasks(t: &mut RunToken) {
    while let Some(task) = t.private().next_task() {
        if task.collect {
            let stats = collect(t);
            // Where that is too large, the process ends when it would be run.
            let _ = t.private().check_heap(&stats);
        }
        (task.run)(Some(t.private()));
    }
}

/// Why processes of this scheduler's should go to another.
#[derive(Copy, Clone)]
struct Surplus {
    /// The oldest has waited long.
    aged: bool,
    /// Several have used up their time slices.
    busy: bool,
    /// Whoever goes, one is left to run.
    beside_next: bool,
    /// There was more than one to run for a while.
    sustained: bool,
}

struct Loop {
    l: &'static Local,
    regs: Box<Regs>,
    spin_ns: u64,
    /// Checks in a row at which processes waited while another scheduler slept.
    loaded: u32,
    /// Processes that have ended here and whose memory is kept until all threads have moved on.
    ended: usize,
    /// The scavenger's round that it has tidied up in last.
    tidied: u32,
}

pub(super) fn scheduler(id: usize, spin_us: u64, early: Vec<Work>) {
    let l = Local::start(id, &all()[id]);
    kvik_sync::single_threaded::claim();
    let mut s =
        Loop { l, regs: Regs::new(), spin_ns: spin_us * 1000, loaded: 0, ended: 0, tidied: 0 };
    s.l.me.counters.started.store(clock::now(), Relaxed);
    s.l.me.meter.enter(Microstate::Other);
    early.into_iter().for_each(|w| s.l.work(w));
    s.run();
    Local::stop();
}

impl Local {
    /// Takes on what others have for it.
    pub fn work(&self, w: Work) {
        match w {
            Work::Run(t) => self.queues.borrow_mut().push(t),
            Work::Raise(pid, to) => drop(self.raise(pid, to)),
            Work::Timer(at, due) => self.timers.borrow_mut().add(at, due),
            Work::Forget(at, due) => self.timers.borrow_mut().remove(at, due),
            Work::Signal(pid, s) => {
                deliver(pid, s);
            }
        }
    }
    /// Sends from other threads do not wake the process in the unparked slot, so it must not stay
    /// there for long.
    pub fn park_unparked(&self) {
        let park = if trace::on() { sysprof::park } else { RunToken::park };
        if let Some(t) = self.unparked.take().and_then(park) {
            self.queues.borrow_mut().push(t);
        }
    }
}

impl Loop {
    fn run(&mut self) {
        kvik_sys::alloc::attach();
        let mut hold = EpochPin::take();
        while !STOP.load(Relaxed) {
            if !self.l.me.inbound.is_empty() {
                self.take_inbound();
            }
            if self.l.until_check.get() <= 0 {
                self.check(&mut hold);
            }
            if !online::is_active(self.l.id) {
                self.hand_on();
            }
            self.tell_some();
            match self.pick() {
                Some(t) => self.turn(t),
                None => {
                    self.l.park_unparked();
                    self.l.sample(|w| w.idles(self.l));
                    self.l.small_collections.sleeps();
                    self.l.queues.borrow_mut().time_some();
                    hold.flush();
                    hold.released(|| self.sleep());
                }
            }
        }
    }
    /// Tells a part of those who wait for it of a process's end.
    #[inline]
    fn tell_some(&mut self) {
        let first = self.l.exits.borrow_mut().pop_front();
        let Some(mut f) = first else { return };
        self.l.until_check.set(self.l.until_check.get() - REDUCTIONS / 2);
        if !during(Microstate::Aux, || f.step()) {
            self.l.exits.borrow_mut().push_front(f);
        }
    }
    fn take_inbound(&mut self) {
        for w in self.l.me.inbound.take(|_| ()) {
            self.l.work(w);
        }
        self.l.me.counters.queued.store(self.l.waiting(), Relaxed);
    }
    fn pick(&mut self) -> Option<RunToken> {
        if let Some(t) = self.l.picked.take() {
            return Some(t);
        }
        self.l.take_first()
    }

    /// One time slice of one process.
    fn turn(&mut self, mut t: RunToken) {
        self.l.begin(t.private());
        // Those of a process that ends are answered when it has.
        if t.private().has_signals() && !t.private().flag(flag::ENDING) {
            t.private().handle_first_signals();
        }
        t.private().has_chores();
        if t.private().flag(flag::UNREADY | flag::BOUND) {
            // What was done for one that is not run, or ends here, counts as well.
            let spent = self.l.used(t.private());
            t = match self.make_ready(t) {
                Some(t) => t,
                None => return self.l.spend(spent),
            };
        }
        t.task().set_home(self.l.id as u16);
        let p = t.private();
        if p.set_flag(flag::HIBERNATING, false) {
            // OTP leaves it a heap without room, and collects it as soon as it makes something.
            p.note_collection();
        }
        self.l.next_mode.set(self.l.usual_next_mode.get());
        let mut watched = None;
        if trace::on() {
            p.profile_turn();
            p.trace_turn("in");
            watched = p.turn_begins();
        }
        if self.l.me.meter.turns(Microstate::Emulator) {
            self.l.sampler.borrow_mut().begins(self.l);
        }
        self.l.current_task.put(t);
        let outcome = (hooks().run)(&self.l.current_task, &self.regs);
        let timed = self.l.me.meter.turns(Microstate::Other);
        // It may be another by now, whose turn it was; or none, where that one is in `picked`.
        let Some(mut t) = self.l.current_task.take() else { return };
        if timed {
            self.l.sampler.borrow_mut().ends(self.l.me);
        }
        let p = t.private();
        let heard = trace::on();
        if heard && outcome != SliceEnd::Exit {
            p.trace_turn("out");
        }
        if let Some(began) = watched {
            p.turn_ends(began);
        }
        self.l.next_mode.set(NEXT_CLOSED);
        if p.flag(flag::DEFERS_MONITOR) && !p.is_exiting() && outcome != SliceEnd::Exit {
            self.l.flush_monitor(p);
        }
        self.l.account(p);
        if t.private().is_exiting() {
            return self.end(t);
        }
        match outcome {
            SliceEnd::Yield if t.private().has_pending() => {
                self.l.queues.borrow_mut().push_pending(t)
            }
            SliceEnd::Yield => self.l.queues.borrow_mut().push_busy(t),
            SliceEnd::Wait => {
                if t.private().flag(flag::SPARE_MAILBOX) {
                    t.private_mut().drop_spare_mailbox();
                }
                if t.private().is_hibernating() {
                    // One with messages goes on at once, with the heap it has.
                    if t.private().can_go_on() {
                        t.private().set_flag(flag::WAITING, false);
                        return self.l.queues.borrow_mut().push(t);
                    }
                    t.private_mut().heap.collect_to_fit();
                }
                if t.private().has_chores() {
                    return self.l.queues.borrow_mut().push(t);
                }
                if t.private().has_pending() {
                    return self.l.queues.borrow_mut().push_pending(t);
                }
                let t = if heard { sysprof::park(t) } else { t.park() };
                if let Some(t) = t {
                    self.l.queues.borrow_mut().push(t);
                }
            }
            SliceEnd::Exit => {
                let reason = exit::own_reason(t.private());
                self.terminate(t, reason);
            }
        }
    }
    /// What a process must do before it can run. `None`: it can't, or not here.
    #[cold]
    fn make_ready(&mut self, mut t: RunToken) -> Option<RunToken> {
        while t.private().flag(flag::UNREADY) {
            t = self.see_to_flags(t)?;
        }
        match self.elsewhere(&t) {
            Some(to) => {
                send_work(to, Work::Run(t));
                None
            }
            None => Some(t),
        }
    }
    /// The other scheduler that a process is bound to. Where that one is not active, another stands
    /// in for it.
    fn elsewhere(&self, t: &RunToken) -> Option<usize> {
        let p = t.private();
        let bound = if p.flag(flag::BOUND) { p.rare(|x| x.bound)? } else { 0 };
        let to = bound.checked_sub(1)? % online::active();
        (to != self.l.id).then_some(to)
    }
    fn see_to_flags(&mut self, mut t: RunToken) -> Option<RunToken> {
        let p = t.private();
        if p.is_exiting() {
            if trace::on() {
                match p.flag(flag::ENDING) {
                    true => p.trace_exiting("in_exiting"),
                    false => p.trace_turn("in"),
                }
            }
            self.end(t);
            return None;
        }
        if p.flag(flag::TASKS) {
            run_tasks(&mut t);
            return Some(t);
        }
        let full = p.take_full_gc().then(|| collect(&mut t));
        let copied = t.private_mut().copy_literals();
        if full.into_iter().chain(copied).any(|s| t.private().check_heap(&s).is_err()) {
            self.end(t);
            return None;
        }
        let p = t.private();
        if p.flag(flag::WAITING) && p.can_go_on() {
            p.set_flag(flag::WAITING, false);
        }
        let next_turn = p.has_sat_out() && !p.flag(flag::WAITING);
        if next_turn {
            self.l.account(p);
            self.l.queues.borrow_mut().push_sat_out(t);
            return None;
        }
        if p.flag(flag::WAITING | flag::SUSPENDED) {
            if p.has_pending() {
                self.l.account(p);
                self.l.queues.borrow_mut().push_pending(t);
                return None;
            }
            let t = if trace::on() { sysprof::park(t) } else { t.park() }?;
            t.private().handle_signals();
            return Some(t);
        }
        Some(t)
    }
    fn end(&mut self, t: RunToken) {
        let p = t.private();
        if p.rare(|x| x.exit_progress.is_some()) == Some(true) {
            let left = exit::go_on(t);
            return self.ends_later(left);
        }
        let reason = p.with_cold(|x| x.exit_reason.take()).unwrap_or_default();
        self.terminate(t, reason);
    }
    fn terminate(&mut self, t: RunToken, reason: kvik_heap::OwnedTerm) {
        let p = t.private();
        p.heap.set_reductions(REDUCTIONS);
        self.l.given.set(REDUCTIONS);
        let prepared = exit::prepare(p, &reason);
        if prepared != Prepared::NotYet {
            self.ended += 1;
            // Whom its end wakes has no partner to stay with.
            let left = exit::terminate(t, reason, prepared);
            self.l.flush_deferred();
            return self.ends_later(left);
        }
        if trace::on() {
            p.trace_exiting("out_exiting");
        }
        t.task().set_ending();
        p.with_cold(|x| x.exit_reason = Some(reason));
        self.l.account(p);
        self.l.queues.borrow_mut().push_busy(t);
    }

    /// A process that has ended needs a further time slice.
    fn ends_later(&mut self, t: Option<RunToken>) {
        let Some(t) = t else { return };
        if trace::on() {
            t.private().trace_exiting("out_exiting");
        }
        self.l.account(t.private());
        self.l.queues.borrow_mut().push(t);
    }

    /// Timers and events, every 4,000 reductions or so.
    fn check(&mut self, hold: &mut EpochPin) {
        let begins = self.l.sample(|w| w.check_begins(self.l.me));
        let (began, now) = begins.unwrap_or_else(|| (0, clock::now()));
        self.look_around(hold, now);
        self.l.sample(|w| w.check_ends(self.l, began));
    }
    fn look_around(&mut self, hold: &mut EpochPin, now: u64) {
        self.l.until_check.set(REDUCTIONS);
        self.l.park_unparked();
        self.l.update_prefetching();
        self.tidy(false);
        self.l.idle_heaps.look(now);
        self.ring(now);
        self.look_for_events();
        self.l.me.meter.enter(Microstate::Aux);
        hold.flush_some();
        hold.renew();
        self.l.me.meter.enter(Microstate::Other);
        let mut q = self.l.queues.borrow_mut();
        self.l.me.counters.queued.store(q.len, Relaxed);
        let age = q.age(now);
        if q.len == 0 || IDLE.load(Relaxed) == 0 {
            self.loaded = 0;
            return;
        }
        self.loaded += 1;
        let next = self.l.next.take();
        let surplus = Surplus {
            aged: age >= PATIENCE_NS,
            busy: q.has_many_busy(),
            beside_next: next.is_some(),
            sustained: self.loaded >= SUSTAINED,
        };
        self.l.next.set(next);
        let worth = surplus.beside_next && q.has_busy();
        drop(q);
        if surplus.aged || surplus.busy || surplus.sustained || worth {
            self.give(surplus);
        }
    }
    fn look_for_events(&self) {
        self.l.me.meter.enter(Microstate::CheckIo);
        (hooks().poll)(self.l.id, Some(Duration::ZERO), &mut || ());
        self.l.me.meter.enter(Microstate::Other);
    }
    fn ring(&mut self, now: u64) {
        self.l.me.meter.enter(Microstate::Aux);
        self.ring_some(now);
        self.l.me.meter.enter(Microstate::Other);
    }
    fn ring_some(&mut self, now: u64) {
        for _ in 0..TIMERS {
            let due = self.l.timers.borrow_mut().pop_due(now);
            match due {
                Some(due) => timer::ring(due),
                None => return,
            }
        }
        // The others after the next time slice.
        self.l.until_check.set(0);
    }
    /// Half of the work to a scheduler that sleeps: processes that used up their time slices, or
    /// all where they have waited long.
    ///
    /// Of few, those with partners stay. Where none go so, two go that are partners
    /// ([`super::queues::Queues::pair`]).
    fn give(&mut self, of: Surplus) {
        let other = all().iter().take(online::active()).position(|s| s.parker.is_asleep());
        let Some(other) = other else { return };
        let next = self.l.next.take();
        let mut q = self.l.queues.borrow_mut();
        let most = (q.len + next.is_some() as usize) / 2;
        self.l.next.set(next);
        let few = q.len <= PARTNERS;
        let mut work = q.take(most, |t, busy| {
            let p = t.private();
            // Who has used up a time slice does not stay just because its parent, who may wait for
            // long, is to run here too.
            let parent = if busy { 0 } else { p.parent.get() };
            let partners = [p.last_to.get(), p.last_from.get(), parent];
            let has_partner = || partners.iter().any(|q| self.is_runnable(*q));
            !(of.aged || of.busy && busy) || few && has_partner() || p.flag(flag::BOUND)
        });
        if work.is_empty() && few {
            let partners =
                |t: &RunToken| [&t.private().last_to, &t.private().last_from].map(|q| q.get());
            let runs = |pid| self.is_runnable(pid);
            if let Some(pair) = q.pair(of.beside_next, of.sustained, partners, runs) {
                self.loaded = 0;
                work = q
                    .take(2, |t, _| t.private().flag(flag::BOUND) || !pair.contains(&t.task().pid));
            }
        }
        let c = &self.l.me.counters;
        c.given.store(c.given.load(Relaxed) + work.len() as u64, Relaxed);
        c.queued.store(q.len, Relaxed);
        all()[other].counters.queued.fetch_add(work.len(), Relaxed);
        for t in work {
            send_work(other, Work::Run(t));
        }
    }

    /// All there is to run, to one who may run it.
    #[cold]
    fn hand_on(&mut self) {
        let to = self.l.id % online::active();
        while let Some(t) = self.l.take_first() {
            send_work(to, Work::Run(t));
        }
    }

    /// Is there such a process that does not wait, and was run here last?
    fn is_runnable(&self, pid: u32) -> bool {
        let guard = pin();
        let task = if pid == 0 { None } else { table().get(pid, &guard) };
        task.is_some_and(|t| !t.is_parked() && t.home() as usize == self.l.id)
    }

    fn sleep(&mut self) {
        // What is looked at here need not be looked at again at once.
        self.l.until_check.set(REDUCTIONS);
        let now = clock::now();
        self.ring(now);
        if self.has_work() || self.let_go() || self.spun() || self.l.idle_heaps.look(now) {
            return;
        }
        self.tidy(true);
        // The wait itself looks for events first: it ends at once where there are some.
        IDLE.fetch_add(1, Relaxed);
        self.l.me.parker.sleeps();
        self.l.me.counters.queued.store(0, Relaxed);
        if !self.l.me.inbound.is_empty() || STOP.load(Relaxed) {
            return self.woken(now);
        }
        let timer = self.l.timers.borrow().next();
        let next = timer.into_iter().chain(self.l.idle_heaps.next(now)).min();
        let timeout = next.map(|at| Duration::from_nanos(at.saturating_sub(clock::now())));
        self.l.me.meter.enter(Microstate::Sleep);
        self.l.me.counters.asleep.store(now.max(1), Relaxed);
        sysprof::scheduler(self.l.id, false);
        let from = self.l.sample(|w| w.falls_asleep(self.l.me));
        (hooks().poll)(self.l.id, timeout, &mut || {
            let woken = !self.l.me.parker.is_asleep();
            self.l.me.counters.asleep.store(0, Relaxed);
            sysprof::scheduler(self.l.id, true);
            self.woken(now);
            self.l.sample(|w| w.slept(self.l.me, from.unwrap_or_default(), woken));
        });
    }
    /// What the scavenger cannot do for it, once in each of its rounds.
    #[inline]
    fn tidy(&mut self, idle: bool) {
        if self.tidied != scavenger::rounds() {
            self.release_memory(idle);
        }
    }
    #[cold]
    fn release_memory(&mut self, idle: bool) {
        self.tidied = scavenger::rounds();
        self.l.queues.borrow_mut().shrink();
        self.l.exits.borrow_mut().shrink_to(0);
        kvik_sys::alloc::tidy(idle);
    }
    /// It slept since then.
    fn woken(&self, since: u64) {
        self.l.me.meter.enter(Microstate::Other);
        if self.l.me.parker.is_up() {
            IDLE.fetch_sub(1, Relaxed);
        }
        let c = &self.l.me.counters;
        c.slept.store(c.slept.load(Relaxed) + (clock::now() - since), Relaxed);
    }
    /// Gives memory of processes that have ended back. True where there was some.
    fn let_go(&mut self) -> bool {
        let many = self.ended >= ENDED;
        if many {
            EpochPin::take().flush();
            self.ended -= LET_GO;
        }
        many
    }
    fn has_work(&self) -> bool {
        self.l.queues.borrow().len > 0
            || !self.l.me.inbound.is_empty()
            || !self.l.exits.borrow().is_empty()
    }
    /// Looks for work a little longer where that was asked for.
    fn spun(&self) -> bool {
        let end = clock::now() + self.spin_ns;
        while self.spin_ns > 0 && clock::now() < end {
            self.look_for_events();
            if self.has_work() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }
}
