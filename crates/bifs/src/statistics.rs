//! `erlang:statistics/1`, from the counters of the schedulers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kvik_ets::order::make_map;
use kvik_proc::sched::metrics_page;
use kvik_proc::sched::microstate_timing::{Microstate, MicrostateClock};
use kvik_proc::{bif, clock, sched, BifEntry, BifResult, Proc};
use kvik_sys::syscall_counters::SyscallCounter;
use kvik_term::{am, Atom, Term};

use crate::blocking_pool;
use crate::process::{in_next_turn, Found};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "statistics", 1, statistics_1)];

kvik_state::vm_state! {
    /// Values of the last call, for items that report a difference.
    static LAST_RUNTIME: AtomicU64 = AtomicU64::new(0);
    static LAST_WALL: AtomicU64 = AtomicU64::new(0);
    static LAST_REDUCTIONS: AtomicU64 = AtomicU64::new(0);
}

/// A total and its increase since the last call.
fn since<'h>(p: &'h Proc, total: u64, last: &AtomicU64) -> Term<'h> {
    // Counters of other schedulers are read late or out of order; the reported total never
    // decreases.
    let before = last.fetch_max(total, Relaxed);
    let total = total.max(before);
    let grown = total - before;
    p.heap.tuple(&[p.heap.unsigned(total), p.heap.unsigned(grown)])
}

fn reductions(p: &Proc) -> u64 {
    let all: u64 = sched::all().iter().map(|s| s.counters.reductions.load(Relaxed)).sum();
    all.saturating_add(sched::used_in_turn(p))
}

/// Number of runnable processes of each scheduler.
fn queues() -> Vec<u64> {
    sched::note_queue();
    sched::all().iter().map(|s| s.counters.queued.load(Relaxed) as u64).collect()
}

/// Appends the lengths of the dirty run queues, which are always empty.
fn with_dirty(mut q: Vec<u64>, queues: usize) -> Vec<u64> {
    q.resize(q.len() + queues, 0);
    q
}

fn statistics_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // Whether times are measured may have changed meanwhile.
    if let Some(answer) = p.resumed::<Found>() {
        return Ok(answer);
    }
    let what = a.first().and_then(|t| t.as_atom()).map_or("", Atom::name);
    // What OTP asks its schedulers for.
    match what {
        "microstate_accounting" | "garbage_collection" | "io" => in_next_turn(p, item(p, a)?),
        "scheduler_wall_time" | "scheduler_wall_time_all" if crate::system::wall_time_on() => {
            in_next_turn(p, item(p, a)?)
        }
        _ => item(p, a),
    }
}
fn item<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let what = a.first().and_then(|t| t.as_atom()).ok_or_else(|| p.badarg())?;
    let h = &p.heap;
    let list = |v: Vec<u64>| {
        let v: Vec<_> = v.into_iter().map(|n| h.unsigned(n)).collect();
        h.list(&v)
    };
    // A scheduler that is not asleep has one more active task, the running one.
    let active = || {
        let runs = |(i, n): (usize, u64)| n + !sched::is_idle(i) as u64;
        queues().into_iter().enumerate().map(runs).collect::<Vec<u64>>()
    };
    let zero = Term::int(0);
    Ok(match what.name() {
        "runtime" => {
            // User time only, as in OTP; `kvik:processor_time/0` includes kernel time.
            let ms = kvik_env::clock::user_cpu_micros() as u64 / 1000;
            since(p, ms, &LAST_RUNTIME)
        }
        "wall_clock" => since(p, clock::now() / 1_000_000, &LAST_WALL),
        "reductions" | "exact_reductions" => since(p, reductions(p), &LAST_REDUCTIONS),
        "context_switches" => {
            let n = sched::all().iter().map(|s| s.counters.turns.load(Relaxed)).sum();
            h.tuple(&[h.unsigned(n), zero])
        }
        "run_queue" => h.unsigned(queues().iter().sum()),
        "run_queue_lengths" => list(with_dirty(queues(), 1)),
        "run_queue_lengths_all" => list(with_dirty(queues(), 2)),
        "total_run_queue_lengths" | "total_run_queue_lengths_all" => {
            h.unsigned(queues().iter().sum())
        }
        "run_queues" => {
            let all: Vec<_> = with_dirty(queues(), 2).into_iter().map(|n| h.unsigned(n)).collect();
            h.tuple(&all)
        }
        "active_tasks" => list(with_dirty(active(), 1)),
        "active_tasks_all" => list(with_dirty(active(), 2)),
        "total_active_tasks" | "total_active_tasks_all" => h.unsigned(active().iter().sum()),
        "scheduler_wall_time" => wall_times(p, false),
        "scheduler_wall_time_all" => wall_times(p, true),
        "microstate_accounting" => microstates(p)?,
        "garbage_collection" => {
            let (collections, words) = kvik_heap::gc::totals();
            h.tuple(&[h.unsigned(collections), h.unsigned(words), zero])
        }
        "io" => io(p)?,
        _ => return Err(p.badarg()),
    })
}

/// `{Scheduler, Active, Total}` of each scheduler, while the measurement is enabled. Dirty
/// schedulers come last. There are no dirty CPU ones, so they show no active time; the I/O ones are
/// the threads of the pool, listed only if all are requested.
fn wall_times<'h>(p: &'h Proc, all: bool) -> Term<'h> {
    if !crate::system::wall_time_on() {
        return am::undefined.into();
    }
    let now = clock::now();
    let total = |s: &sched::Scheduler| now.saturating_sub(s.counters.started.load(Relaxed));
    let slept = |s: &sched::Scheduler| {
        let since = s.counters.asleep.load(Relaxed);
        let now = if since == 0 { 0 } else { now.saturating_sub(since) };
        s.counters.slept.load(Relaxed) + now
    };
    let mut times: Vec<(u64, u64)> =
        sched::all().iter().map(|s| (total(s).saturating_sub(slept(s)), total(s))).collect();
    let longest = times.iter().map(|t| t.1).max().unwrap_or(0);
    let c = crate::system::config();
    times.extend((0..c.dirty_cpu).map(|_| (0, longest)));
    if all {
        times.extend(blocking_pool::busy(now, c.dirty_io).into_iter().map(|busy| (busy, longest)));
    }
    let row = |(i, (active, total)): (usize, (u64, u64))| {
        let id = p.heap.integer(i as i64 + 1);
        p.heap.tuple(&[id, p.heap.unsigned(active), p.heap.unsigned(total)])
    };
    let rows: Vec<_> = times.into_iter().enumerate().map(row).collect();
    p.heap.list(&rows)
}

/// The microstate accounting of each thread: `#{type, id, counters}`.
fn microstates<'h>(p: &'h Proc) -> BifResult<'h> {
    let h = &p.heap;
    let atom = |name: &str| Atom::intern(name).map(Term::from).map_err(|_| p.system_limit());
    let (kind, id, counters) = (atom("type")?, atom("id")?, atom("counters")?);
    let names = Microstate::NAMES.iter().map(|n| atom(n)).collect::<Result<Vec<_>, _>>()?;
    let row = |of: Term<'h>, n: usize, m: &MicrostateClock| {
        let pairs: Vec<_> = names.iter().copied().zip(m.read().map(|n| h.unsigned(n))).collect();
        let pairs = [(kind, of), (id, h.integer(n as i64)), (counters, make_map(h, &pairs))];
        make_map(h, &pairs)
    };
    let (scheduler, pool) = (atom("scheduler")?, atom("dirty_io_scheduler")?);
    let mut rows: Vec<Term<'h>> = Vec::new();
    let schedulers = sched::all().iter().zip(1..).map(|(s, n)| row(scheduler, n, &s.meter));
    rows.extend(schedulers);
    let meters = blocking_pool::meters(crate::system::config().dirty_io);
    rows.extend(meters.into_iter().zip(1..).map(|(m, n)| row(pool, n, m)));
    rows.reverse();
    Ok(h.list(&rows))
}

/// Bytes received and sent through ports.
fn io<'h>(p: &'h Proc) -> BifResult<'h> {
    let all = metrics_page::read().all();
    let row = |name: &str, what: SyscallCounter| -> BifResult<'h> {
        let name = Atom::intern(name).map_err(|_| p.system_limit())?;
        Ok(p.heap.tuple(&[name.into(), p.heap.unsigned(all.asked(what))]))
    };
    Ok(p.heap
        .tuple(&[row("input", SyscallCounter::Input)?, row("output", SyscallCounter::Output)?]))
}
