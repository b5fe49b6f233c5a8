//! A scheduler's loop: handle timers and I/O events, run the best process, sleep if none is
//! runnable.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use kvik_heap::long_collection::LONG_WORDS;
use kvik_heap::Regs;
use kvik_sync::{pin, EpochPin};

use super::local::{note_collection, Local, NEXT_CLOSED};
use super::long_collections::{self, Collected, Kind, Ran};
use super::metrics_page::HistogramKind;
use super::microstate_timing::{collecting, during, Microstate};
use super::{all, online, scavenger, send_work, Work, IDLE, STOP};
use crate::exit::Prepared;
use crate::hooks::{hooks, SliceEnd};
use crate::process::{flag, table, RunToken};
use crate::signal::deliver;
use crate::{clock, exit, sysprof, timer, trace, Proc};

/// Reductions in a time slice.
pub const REDUCTIONS: i64 = 4000;
/// Reductions of the time slice that begins; with the feature `short-turns` 1 to 64, another number
/// each time.
#[inline]
pub(super) fn turn(p: &Proc) -> i64 {
    if cfg!(feature = "short-turns") {
        let seed = p.reductions.get().wrapping_add(p.pid().into()).wrapping_add(1);
        1 + (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as i64
    } else {
        REDUCTIONS
    }
}

/// Queue wait beyond which a process is handed to a sleeping scheduler. Waking that scheduler takes
/// some 40 µs.
const PATIENCE_NS: u64 = 200_000;
/// Queue length up to which a process stays if its partner is runnable here too: on different
/// schedulers, each message between them would cost more than the wait in the queue.
const PARTNERS: usize = 8;
/// Consecutive checks with processes waiting, after which moving a pair is worth waking another
/// scheduler.
const SUSTAINED: u32 = 4;
/// The most timers that fire between two time slices.
const TIMERS: usize = 500;
/// Number of ended processes not yet freed at which their memory is reclaimed; and how many one
/// pass frees at least, if all threads have left their epochs.
const ENDED: usize = 512;
const LET_GO: usize = 256;

/// Collects between time slices.
fn collect(t: &mut RunToken, full: bool) {
    let heard = t.private().gc_begins(full, 0);
    let stats =
        collecting(t.private().heap.sizes().block, || t.private_mut().heap.collect_parked(full));
    let p = t.private();
    p.gc_ended(heard, &stats);
    // If the heap is too large, the process ends before it runs.
    let _ = p.check_heap(&stats);
}

/// Why processes should migrate from this scheduler to an idle one.
#[derive(Copy, Clone)]
struct Surplus {
    /// The oldest queued process has waited long.
    aged: bool,
    /// Several have used up their time slices.
    busy: bool,
    /// Another process stays runnable here (in `next`), whichever are moved.
    beside_next: bool,
    /// More than one process was runnable at several checks in a row.
    sustained: bool,
}

struct Loop {
    l: &'static Local,
    regs: Box<Regs>,
    spin_ns: u64,
    /// Consecutive checks at which processes waited while another scheduler slept.
    loaded: u32,
    /// Processes that have ended here and whose memory is kept until all threads have left their
    /// epochs.
    ended: usize,
    /// The last scavenger round for which this scheduler released its own memory.
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
    /// Takes on work from another thread.
    pub fn work(&self, w: Work) {
        match w {
            Work::Run(t) => self.queues.borrow_mut().push(t),
            Work::Raise(pid, to) => drop(self.raise(pid, to)),
            Work::Timer(at, due) => self.timers.borrow_mut().add(at, due),
            Work::Forget(at, due) => self.timers.borrow_mut().remove(at, due),
            Work::Call(f) => f(),
            Work::Collected(c) => self.take_back(*c),
            Work::CallOnce(f) => f(),
            Work::Signal(pid, s) => {
                deliver(pid, s);
            }
        }
    }
    /// Another thread has collected a process's heap.
    fn take_back(&self, c: Collected) {
        let p = c.process.private();
        if let Some(stats) = c.stats {
            p.gc_ended(c.heard, &stats);
            let _ = p.check_heap(&stats);
            p.reductions.set(p.reductions.get().wrapping_add(stats.reductions()));
        }
        self.me.page.note(HistogramKind::Gc, c.took_ns, 1);
        note_collection(p);
        self.queues.borrow_mut().push(c.process);
    }
    /// A send from another thread does not wake the process in the unparked slot, so it must not
    /// stay there for long.
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
    /// Notifies some of the links and monitors of a process that has ended.
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
        // An ending process's signals are answered after it has ended.
        if t.private().has_signals() && !t.private().flag(flag::ENDING) {
            t.private().handle_first_signals();
        }
        t.private().has_chores();
        if t.private().flag(flag::UNREADY | flag::BOUND) {
            // Reductions count for a process that does not run, or ends here, as well.
            let spent = self.l.used(t.private());
            t = match self.make_ready(t) {
                Some(t) => t,
                None => return self.l.spend(spent),
            };
        }
        t.task().set_home(self.l.id as u16);
        let p = t.private();
        self.l.next_mode.set(self.l.usual_next_mode.get());
        let mut watched = None;
        if trace::on() {
            p.profile_turn();
            p.trace_turn("in");
            watched = p.turn_begins();
            p.monitor_queue();
        }
        if p.set_flag(flag::HIBERNATING, false) {
            // OTP leaves it a heap without room, and collects it as soon as it makes something.
            p.note_collection();
        }
        if self.l.me.meter.turns(Microstate::Emulator) {
            self.l.sampler.borrow_mut().begins(self.l);
        }
        self.l.current_task.put(t);
        let outcome = (hooks().run)(&self.l.current_task, &self.regs);
        let timed = self.l.me.meter.turns(Microstate::Other);
        // Native code may have switched processes: the token is that of another process, or absent
        // if that process is in `picked`.
        let Some(mut t) = self.l.current_task.take() else { return };
        if timed {
            self.l.sampler.borrow_mut().ends(self.l.me);
        }
        let p = t.private();
        let heard = trace::on();
        if heard && outcome != SliceEnd::Exit {
            p.trace_turn("out");
            p.monitor_queue();
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
                    // A process with messages continues at once, with the heap it has.
                    if t.private().can_go_on() {
                        t.private().set_flag(flag::WAITING, false);
                        return self.l.queues.borrow_mut().push(t);
                    }
                    // Whatever collection was due.
                    t.private().take_collection();
                    if self.gives_away(t.private(), Kind::ToFit) {
                        return long_collections::give(t, Kind::ToFit, self.l.id);
                    }
                    t.private_mut().collect_to_fit();
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
    /// Does what a process must do before it can run. `None`: it cannot run, or not here.
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
    /// The other scheduler that a process is bound to. If that one is not active, another stands
    /// in.
    fn elsewhere(&self, t: &RunToken) -> Option<usize> {
        let p = t.private();
        let bound = if p.flag(flag::BOUND) { p.rare(|x| x.bound)? } else { 0 };
        let to = bound.checked_sub(1)? % online::active();
        (to != self.l.id).then_some(to)
    }
    fn see_to_flags(&mut self, t: RunToken) -> Option<RunToken> {
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
            return self.run_tasks(t);
        }
        if let Some(full) = p.take_collection() {
            return self.collect(t, full);
        }
        if p.flag(flag::LITERALS) {
            return self.copy_literals(t);
        }
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
    /// Collects between time slices, or has another thread do so: then the process is gone. A
    /// full collection also settles the mailbox: queued messages get their slots here rather than
    /// in the next receive.
    fn collect(&mut self, mut t: RunToken, full: bool) -> Option<RunToken> {
        if full {
            t.private().settle_messages();
        }
        t.private().note_collection();
        let kind = Kind::Usual { full };
        if self.gives_away(t.private(), kind) {
            self.l.account(t.private());
            long_collections::give(t, kind, self.l.id);
            return None;
        }
        // A block that was only nearly full is collected when it is full.
        if full || t.private().heap.gc_due() {
            collect(&mut t, full);
        }
        Some(t)
    }
    /// Whether another thread should collect this heap.
    fn gives_away(&self, p: &Proc, kind: Kind) -> bool {
        let words = long_collections::words(p, kind);
        if words < LONG_WORDS {
            return false;
        }
        let all = self.l.me.counters.turns.load(Relaxed);
        let now = Ran { pid: p.pid(), own: p.reductions.get() / REDUCTIONS as u64, all };
        let others_ran = self.l.ran.replace(now).others_until(now);
        let timer = || self.l.timers.borrow().next();
        let rings = || timer().is_some_and(|at| at < clock::now() + long_collections::SOON_NS);
        long_collections::is_for_another(words, self.l.waiting() > 0, || others_ran || rings())
    }
    fn copy_literals(&mut self, mut t: RunToken) -> Option<RunToken> {
        if self.gives_away(t.private(), Kind::Literals) {
            self.l.account(t.private());
            long_collections::give(t, Kind::Literals, self.l.id);
            return None;
        }
        if let Some(stats) = t.private_mut().copy_literals() {
            t.private().gc_ended(None, &stats);
            let _ = t.private().check_heap(&stats);
        }
        Some(t)
    }
    /// Runs the system tasks that other processes requested of this one.
    #[cold]
    fn run_tasks(&mut self, mut t: RunToken) -> Option<RunToken> {
        while let Some((priority, mut task)) = t.private().next_task() {
            if std::mem::take(&mut task.collect) {
                t.private().put_task_back(priority, task);
                t = self.collect(t, true)?;
                continue;
            }
            (task.run)(Some(t.private()));
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
        let turn = turn(p);
        p.heap.set_reductions(turn);
        self.l.given.set(turn);
        let prepared = exit::prepare(p, &reason);
        if prepared != Prepared::NotYet {
            self.ended += 1;
            // A process woken by this end has no partner to stay with.
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
        // The remaining timers fire after the next time slice.
        self.l.until_check.set(0);
    }
    /// Gives half of the work to a sleeping scheduler: processes that used up their time slices, or
    /// any if they have waited long.
    ///
    /// With up to [`PARTNERS`] queued, processes with runnable partners stay. If none migrates, two
    /// partners may go together ([`super::queues::Queues::pair`]).
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
            // A busy process does not stay only because its parent is runnable here: the parent may
            // wait for it for long.
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

    /// This scheduler is not active: hands all runnable processes to one that is.
    #[cold]
    fn hand_on(&mut self) {
        let to = self.l.id % online::active();
        while let Some(t) = self.l.take_first() {
            send_work(to, Work::Run(t));
        }
    }

    /// Whether the process exists, is not parked, and last ran here.
    fn is_runnable(&self, pid: u32) -> bool {
        let guard = pin();
        let task = if pid == 0 { None } else { table().get(pid, &guard) };
        task.is_some_and(|t| !t.is_parked() && t.home() as usize == self.l.id)
    }

    fn sleep(&mut self) {
        // Timers and events are handled here, so the next check can wait.
        self.l.until_check.set(REDUCTIONS);
        let now = clock::now();
        self.ring(now);
        if self.has_work() || self.let_go() || self.spun() || self.l.idle_heaps.look(now) {
            return;
        }
        self.tidy(true);
        // The poll returns at once if there are events already.
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
    /// Releases this scheduler's own memory, which the scavenger cannot, once per scavenger round.
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
    /// Ends a sleep that began at `since`.
    fn woken(&self, since: u64) {
        self.l.me.meter.enter(Microstate::Other);
        if self.l.me.parker.is_up() {
            IDLE.fetch_sub(1, Relaxed);
        }
        let c = &self.l.me.counters;
        c.slept.store(c.slept.load(Relaxed) + (clock::now() - since), Relaxed);
    }
    /// Frees memory of ended processes. True if there were enough to try.
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
    /// Polls for `spin_ns` before sleeping, if configured.
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
