//! The page's data as JSON. Counters and histograms are those of the metrics page, counted from the
//! VM's start: the page subtracts its previous values.

use std::sync::atomic::Ordering::Relaxed;

use kvik_ets::Access;
use kvik_proc::process::table;
use kvik_proc::sched::histogram::Histogram;
use kvik_proc::sched::metrics_page::{read, HistogramKind, MetricsCounter, SchedulerMetrics};
use kvik_proc::sched::microstate_timing::Microstate;
use kvik_proc::{clock, node, sched};
use kvik_term::{Atom, Term};
use serde_json::{json, Value};

use crate::process_details::show;
use crate::process_sampler::{ProcessSampler, LISTS, PART};

/// Maximum rows of ports and of tables.
const MAX_ROWS: usize = 15;
/// Maximum ports and tables examined.
const LOOKS: usize = 2000;

/// How often each scheduler was seen in each state, in the order of [`Microstate::ALL`].
#[derive(Default)]
pub struct Samples(Vec<[u64; Microstate::ALL.len()]>);

impl Samples {
    /// Samples the state of each scheduler.
    pub fn take(&mut self) {
        let all = sched::all();
        self.0.resize(all.len(), [0; Microstate::ALL.len()]);
        for (n, s) in self.0.iter_mut().zip(all) {
            if let Some(n) = n.get_mut(s.meter.state() as usize) {
                *n += 1;
            }
        }
    }
}

pub fn json(sampler: &ProcessSampler, samples: &Samples) -> Value {
    let picture = read();
    let all = picture.all();
    let schedulers: Vec<Value> = picture
        .schedulers
        .iter()
        .enumerate()
        .map(|(i, v)| scheduler(v, samples.0.get(i), i))
        .collect();
    json!({
        "now": clock::now(),
        "system": kvik_bifs::system::system_version().trim(),
        "version": env!("CARGO_PKG_VERSION"),
        "node": node::name().name(),
        "os_pid": std::process::id(),
        "atoms": Atom::count(),
        "schedulers": schedulers,
        "histograms": histograms(&all),
        "processes": processes(sampler),
        "ports": ports(),
        "tables": tables(),
        "memory": memory(),
    })
}

fn scheduler(
    v: &SchedulerMetrics,
    samples: Option<&[u64; Microstate::ALL.len()]>,
    i: usize,
) -> Value {
    let counters = sched::all().get(i).map(|s| &s.counters);
    let mut value = json!({
        "time": v.time,
        "asleep": v.asleep,
        "schedule": v.schedule(false).sum,
        "run": v.histogram(HistogramKind::Run).sum,
        "gc": v.histogram(HistogramKind::Gc).sum,
        "queue": counters.map_or(0, |c| c.queued.load(Relaxed)),
        "states": samples.map_or(json!({}), |s| {
            Microstate::NAMES.iter().zip(s).map(|(k, n)| (k.to_string(), json!(n))).collect()
        }),
    });
    for (name, n) in v.counts() {
        value[name] = n.into();
    }
    value["switches"] = v.count(MetricsCounter::Switches).into();
    value
}

fn histograms(v: &SchedulerMetrics) -> Value {
    json!({
        "schedule": histogram(&v.schedule(false)),
        "wait": histogram(&v.histogram(HistogramKind::Wait)),
        "run": histogram(&v.histogram(HistogramKind::Run)),
        "gc": histogram(&v.histogram(HistogramKind::Gc)),
    })
}
/// The sum, and for each non-empty bucket its lower bound and count.
fn histogram(h: &Histogram) -> Value {
    let rows = h.rows().into_iter().filter(|r| r.2 > 0);
    json!({ "sum": h.sum, "buckets": rows.map(|r| json!([r.0, r.2])).collect::<Vec<_>>() })
}

fn processes(sampler: &ProcessSampler) -> Value {
    let t = table();
    let mut value = json!({
        "count": t.count(),
        "limit": t.limit(),
        "asked": sampler.size,
        "part": PART,
        "top": {},
    });
    for (name, list) in LISTS {
        let rows = sampler.top(list).map(|(pid, k, a)| {
            json!({
                "id": pid,
                "pid": show(Term::local_pid(pid)),
                "name": a.and_then(|a| a.name.clone()),
                "initial": a.map(|a| &a.initial),
                "current": a.map(|a| &a.current),
                "status": if k.silent { "no answer" } else { a.map_or("", |a| a.status) },
                "rate": k.rate,
                "reductions": k.numbers.reductions,
                "mailbox": k.numbers.mailbox,
                "memory": k.numbers.memory,
            })
        });
        value["top"][name] = rows.collect();
    }
    value
}

fn ports() -> Value {
    use kvik_port::table::{count, get, open_ids};
    let look = |id: u32| {
        let i = get(id)?.info()?;
        Some((
            i.input + i.output,
            json!({
                "port": show(Term::local_port(id)),
                "name": String::from_utf8_lossy(&i.name).chars().take(80).collect::<String>(),
                "registered": i.registered.map(|a| show(a.into())),
                "owner": show(Term::local_pid(i.owner)),
                "owner_id": i.owner,
                "os_pid": i.os_pid,
                "input": i.input,
                "output": i.output,
                "queue": i.queue_size,
            }),
        ))
    };
    let mut all: Vec<_> = open_ids().into_iter().take(LOOKS).filter_map(look).collect();
    all.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    let rows: Vec<Value> = all.into_iter().take(MAX_ROWS).map(|(_, v)| v).collect();
    json!({ "count": count(), "top": rows })
}

fn tables() -> Value {
    let all = kvik_ets::registry::all();
    let count = all.len();
    let look = |t: &std::sync::Arc<kvik_ets::Table>| {
        let s = t.read(0, Access::Info).ok()?;
        Some((t.memory(&s) * size_of::<u64>(), s.store.len(), s.owner, s.name, t.clone()))
    };
    let mut all: Vec<_> = all.iter().take(LOOKS).filter_map(look).collect();
    all.sort_by_key(|t| std::cmp::Reverse(t.0));
    let row = |(memory, rows, owner, name, t): (usize, usize, u32, Atom, _)| {
        let t: std::sync::Arc<kvik_ets::Table> = t;
        json!({
            "name": show(name.into()),
            "type": t.options.kind.atom().name(),
            "owner": show(Term::local_pid(owner)),
            "owner_id": owner,
            "rows": rows,
            "memory": memory,
        })
    };
    json!({ "count": count, "top": all.into_iter().take(MAX_ROWS).map(row).collect::<Vec<_>>() })
}

/// Bytes by kind, as `erlang:memory/0` reports them.
fn memory() -> Value {
    kvik_bifs::system::memory().into_iter().map(|(k, n)| (k.to_string(), json!(n))).collect()
}
