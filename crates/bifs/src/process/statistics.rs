//! `statistics/1`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kvik_proc::{bif, clock, sched, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "statistics", 1, statistics_1)];

static LAST_RUNTIME: AtomicU64 = AtomicU64::new(0);
static LAST_WALL: AtomicU64 = AtomicU64::new(0);
static LAST_REDUCTIONS: AtomicU64 = AtomicU64::new(0);

/// `{Total, SinceLastCall}`.
fn since<'h>(p: &'h Proc, last: &AtomicU64, total: u64) -> Term<'h> {
    let before = last.swap(total, Relaxed);
    p.heap.tuple(&[p.heap.unsigned(total), p.heap.unsigned(total.saturating_sub(before))])
}
fn total(f: impl Fn(&sched::Counters) -> u64) -> u64 {
    sched::all().iter().map(|s| f(&s.counters)).sum()
}
fn queue_lengths(p: &Proc) -> Term<'_> {
    let n = |s: &sched::Scheduler| Term::int(s.counters.queued.load(Relaxed) as i32);
    let all: Vec<Term<'static>> = sched::all().iter().map(n).collect();
    p.heap.list(&all)
}
/// Whether the schedulers' work time is to be told is switched by `system_flag/2`, which asks for
/// nothing here: it is always counted.
fn wall_times<'h>(p: &'h Proc) -> Term<'h> {
    let now = clock::now();
    let one = |(i, s): (usize, &sched::Scheduler)| {
        let all = now.saturating_sub(s.counters.started.load(Relaxed));
        let active = all.saturating_sub(s.counters.slept.load(Relaxed));
        p.heap.tuple(&[Term::int(i as i32 + 1), p.heap.unsigned(active), p.heap.unsigned(all)])
    };
    let all: Vec<Term<'h>> = sched::all().iter().enumerate().map(one).collect();
    p.heap.list(&all)
}

fn statistics_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = &p.heap;
    let pair = |a: u64, b: u64| h.tuple(&[h.unsigned(a), h.unsigned(b)]);
    Ok(match a[0].as_atom().ok_or_else(|| p.badarg())? {
        am::runtime => since(p, &LAST_RUNTIME, kvik_sys::clock::cpu_nanos() as u64 / 1_000_000),
        am::wall_clock => since(p, &LAST_WALL, clock::now() / 1_000_000),
        am::reductions | am::exact_reductions => {
            since(p, &LAST_REDUCTIONS, total(|c| c.reductions.load(Relaxed)))
        }
        am::context_switches => pair(total(|c| c.turns.load(Relaxed)), 0),
        am::run_queue | am::total_run_queue_lengths | am::total_run_queue_lengths_all => {
            h.integer(sched::run_queue_len() as i64)
        }
        am::total_active_tasks | am::total_active_tasks_all => {
            h.integer(sched::run_queue_len() as i64 + 1)
        }
        am::run_queue_lengths
        | am::run_queue_lengths_all
        | am::active_tasks
        | am::active_tasks_all => queue_lengths(p),
        am::garbage_collection => {
            let (n, words) = kvik_heap::gc::totals();
            h.tuple(&[h.unsigned(n), h.unsigned(words), Term::int(0)])
        }
        am::scheduler_wall_time | am::scheduler_wall_time_all => wall_times(p),
        _ => return Err(p.badarg()),
    })
}
