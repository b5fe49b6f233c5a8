//! Module `kvik`: runtime information for which OTP has no function.

use kvik_ets::order::make_map;
use kvik_heap::Heap;
use kvik_proc::sched::histogram::Histogram;
use kvik_proc::sched::metrics_page::{self, HistogramKind, SchedulerMetrics};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("kvik", "processor_time", 0, processor_time_0),
    bif!("kvik", "scheduling", 0, scheduling_0),
    bif!("kvik", "scheduling", 1, scheduling_1),
];

/// CPU time of all threads in nanoseconds, user and kernel.
fn processor_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(kvik_env::clock::cpu_nanos()))
}

/// The scheduling metrics of all schedulers together, with their number.
fn scheduling_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let picture = metrics_page::read();
    let n = p.heap.integer(picture.schedulers.len() as i64);
    view(p, &picture.all(), Some(("schedulers", n)))
}
/// The scheduling metrics of one scheduler, numbered from 1.
fn scheduling_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a.first().and_then(|t| t.as_small()).and_then(|n| usize::try_from(n).ok());
    let at = n.and_then(|n| n.checked_sub(1)).ok_or_else(|| p.badarg())?;
    let picture = metrics_page::read();
    let v = picture.schedulers.get(at).ok_or_else(|| p.badarg())?;
    view(p, v, None)
}

type Pair<'h> = (&'static str, Term<'h>);

fn map<'h>(p: &'h Proc, pairs: Vec<Pair<'h>>) -> BifResult<'h> {
    let key = |(k, v): Pair<'h>| Ok((Atom::intern(k).map_err(|_| p.system_limit())?.into(), v));
    let pairs = pairs.into_iter().map(key).collect::<Result<Vec<_>, _>>()?;
    Ok(make_map(&p.heap, &pairs))
}
fn view<'h>(p: &'h Proc, v: &SchedulerMetrics, first: Option<Pair<'h>>) -> BifResult<'h> {
    let mut pairs = Vec::from_iter(first);
    pairs.extend(v.counts().map(|(k, n)| (k, p.heap.unsigned(n))));
    let numbers = |p: &'h Proc, all: Vec<(&'static str, u64)>| {
        map(p, all.into_iter().map(|(k, n)| (k, p.heap.unsigned(n))).collect())
    };
    pairs.push(("calls", numbers(p, v.calls().collect())?));
    pairs.push(("bytes", numbers(p, v.bytes().collect())?));
    pairs.push(("time", p.heap.unsigned(v.time)));
    pairs.push(("asleep", p.heap.unsigned(v.asleep)));
    let histograms = [
        ("schedule", v.schedule(false)),
        ("schedule_and_sleep", v.schedule(true)),
        ("wait", v.histogram(HistogramKind::Wait)),
        ("run", v.histogram(HistogramKind::Run)),
        ("gc", v.histogram(HistogramKind::Gc)),
        ("message_wait", v.histogram(HistogramKind::Mail)),
    ];
    for (k, h) in histograms {
        pairs.push((k, histogram(p, &h)?));
    }
    map(p, pairs)
}
/// `#{count, time, histogram}`; the histogram maps the shortest duration of each non-empty bucket
/// to its count.
fn histogram<'h>(p: &'h Proc, of: &Histogram) -> BifResult<'h> {
    let h: &Heap = &p.heap;
    let rows = of.rows().into_iter().filter(|r| r.2 > 0);
    let rows: Vec<_> = rows.map(|(least, _, n)| (h.unsigned(least), h.unsigned(n))).collect();
    map(
        p,
        vec![
            ("count", h.unsigned(of.count())),
            ("time", h.unsigned(of.sum)),
            ("histogram", make_map(h, &rows)),
        ],
    )
}
