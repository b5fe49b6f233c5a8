//! `erlang:statistics/1`, from what schedulers count.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kvik_proc::{bif, clock, sched, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "statistics", 1, statistics_1)];

/// What the last call of an item gave, for those that tell the difference.
static LAST_RUNTIME: AtomicU64 = AtomicU64::new(0);
static LAST_WALL: AtomicU64 = AtomicU64::new(0);
static LAST_REDUCTIONS: AtomicU64 = AtomicU64::new(0);

/// A total and what it grew by since the last call.
fn since<'h>(p: &'h Proc, total: u64, last: &AtomicU64) -> Term<'h> {
    // What other schedulers do is seen a little later, or not at all: it never shrinks.
    let before = last.fetch_max(total, Relaxed);
    let total = total.max(before);
    let grown = total - before;
    p.heap.tuple(&[p.heap.unsigned(total), p.heap.unsigned(grown)])
}

fn reductions(p: &Proc) -> u64 {
    let all: u64 = sched::all().iter().map(|s| s.counters.reductions.load(Relaxed)).sum();
    let turn = sched::REDUCTIONS.saturating_sub(p.heap.reductions_left());
    all.saturating_add(u64::try_from(turn).unwrap_or(0))
}

/// Runnable processes of each scheduler.
fn queues() -> Vec<u64> {
    sched::note_queue();
    sched::all().iter().map(|s| s.counters.queued.load(Relaxed) as u64).collect()
}

/// Behind the schedulers' numbers those of queues for dirty work, which nothing ever waits in.
fn with_dirty(mut q: Vec<u64>, queues: usize) -> Vec<u64> {
    q.resize(q.len() + queues, 0);
    q
}

fn statistics_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let what = a.first().and_then(|t| t.as_atom()).ok_or_else(|| p.badarg())?;
    let h = &p.heap;
    let list = |v: Vec<u64>| {
        let v: Vec<_> = v.into_iter().map(|n| h.unsigned(n)).collect();
        h.list(&v)
    };
    // On a scheduler that is not asleep one more is active, that which runs.
    let active = || {
        let runs = |(i, n): (usize, u64)| n + !sched::is_idle(i) as u64;
        queues().into_iter().enumerate().map(runs).collect::<Vec<u64>>()
    };
    let zero = Term::int(0);
    Ok(match what.name() {
        "runtime" => {
            let ms = kvik_sys::clock::cpu_nanos() as u64 / 1_000_000;
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
        "active_tasks" => list(with_dirty(active(), 1)),
        "active_tasks_all" => list(with_dirty(active(), 2)),
        "total_active_tasks" | "total_active_tasks_all" => h.unsigned(active().iter().sum()),
        "scheduler_wall_time" | "scheduler_wall_time_all" => wall_times(p),
        "garbage_collection" => {
            let (collections, words) = kvik_heap::gc::totals();
            h.tuple(&[h.unsigned(collections), h.unsigned(words), zero])
        }
        "io" => io(p)?,
        _ => return Err(p.badarg()),
    })
}

/// `{Scheduler, Active, Total}` of each, while that is switched on.
fn wall_times<'h>(p: &'h Proc) -> Term<'h> {
    if !crate::system::wall_time_on() {
        return am::undefined.into();
    }
    let now = clock::now();
    let rows: Vec<_> = sched::all()
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let total = now.saturating_sub(s.counters.started.load(Relaxed));
            let active = total.saturating_sub(s.counters.slept.load(Relaxed));
            let id = p.heap.integer(i as i64 + 1);
            p.heap.tuple(&[id, p.heap.unsigned(active), p.heap.unsigned(total)])
        })
        .collect();
    p.heap.list(&rows)
}

/// Bytes that came in and went out through ports are not counted yet: both are 0.
fn io<'h>(p: &'h Proc) -> BifResult<'h> {
    let row = |name: &str| -> BifResult<'h> {
        let name = Atom::intern(name).map_err(|_| p.system_limit())?;
        Ok(p.heap.tuple(&[name.into(), Term::int(0)]))
    };
    Ok(p.heap.tuple(&[row("input")?, row("output")?]))
}
