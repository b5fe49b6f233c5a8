//! `erlang:system_flag/2`, and the values it sets.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};

use kvik_heap::SuspendedState;
use kvik_proc::limits::{next_heap_size, Defaults, MaxHeap};
use kvik_proc::logger::{self, SystemLogger};
use kvik_proc::sched::microstate_timing;
use kvik_proc::sched::online::{self, Blocked};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::process::{after_slices, ends_turn};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "system_flag", 2, system_flag_2),
    bif!("erts_internal", "scheduler_wall_time", 1, scheduler_wall_time_1),
];

/// A number that a flag sets: name, lowest, highest, value at start.
pub(super) struct Number {
    pub name: &'static str,
    range: (i64, i64),
    value: AtomicI64,
}

const fn number(name: &'static str, low: i64, high: i64, start: i64) -> Number {
    Number { name, range: (low, high), value: AtomicI64::new(start) }
}

kvik_state::vm_state! {
    static NUMBERS: [Number; 3] = [
        number("backtrace_depth", 0, 1024, 8),
        number("trace_control_word", 0, u32::MAX as i64, 0),
        number("outstanding_system_requests_limit", 1, (1 << 27) - 1, 0),
    ];
}

/// The default for new processes that a flag names.
fn setting<'d>(d: &'d mut Defaults, name: &str) -> Option<&'d mut usize> {
    Some(match name {
        "fullsweep_after" => &mut d.fullsweep_after,
        "min_heap_size" => &mut d.min_heap_size,
        "min_bin_vheap_size" => &mut d.min_bin_vheap_size,
        _ => return None,
    })
}
/// Sets a default; returns the previous value. Outer `None`: unknown name; inner: no valid value.
fn set_setting(name: &str, to: Option<usize>) -> Option<Option<usize>> {
    Defaults::change(|d| {
        let n = setting(d, name)?;
        Some(to.map(|to| {
            let to = match name {
                "fullsweep_after" => to.min(65_535),
                _ => next_heap_size(to),
            };
            std::mem::replace(n, to)
        }))
    })
}

/// Sets from the command line how many system tasks of a process may be outstanding.
pub fn set_outstanding_requests(n: usize) {
    let limit = NUMBERS.iter().find(|x| x.name == "outstanding_system_requests_limit");
    limit.into_iter().for_each(|l| l.value.store(n as i64, Relaxed));
}

pub(super) fn get(name: &str) -> Option<i64> {
    if let Some(n) = setting(&mut Defaults::get(), name) {
        return Some(*n as i64);
    }
    NUMBERS.iter().find(|n| n.name == name).map(|n| n.value.load(Relaxed))
}
/// Maximum number of frames in a stack trace.
pub fn backtrace_depth() -> usize {
    usize::try_from(get("backtrace_depth").unwrap_or(8)).unwrap_or(8)
}

/// The trace control word, which trace match specifications read and write.
pub fn trace_control_word() -> i64 {
    get("trace_control_word").unwrap_or(0)
}
/// Sets the trace control word; returns the previous value.
pub fn set_trace_control_word(n: i64) -> i64 {
    let word = NUMBERS.iter().find(|x| x.name == "trace_control_word");
    word.map_or(0, |w| w.value.swap(n, Relaxed))
}

/// The bind types that are accepted; schedulers stay unbound with each of them.
const BIND_TYPES: [&str; 9] = [
    "unbound",
    "default_bind",
    "no_spread",
    "thread_spread",
    "processor_spread",
    "spread",
    "no_node_thread_spread",
    "no_node_processor_spread",
    "thread_no_node_processor_spread",
];

kvik_state::vm_state! {
    static WALL_TIME: AtomicBool = AtomicBool::new(false);
}

/// Whether `scheduler_wall_time` is on.
pub fn wall_time_on() -> bool {
    WALL_TIME.load(Relaxed)
}

fn scheduler_wall_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ends_turn(p, || switch(p, a.first().copied(), &WALL_TIME))
}
fn switch<'h>(p: &'h Proc, on: Option<Term<'h>>, flag: &AtomicBool) -> BifResult<'h> {
    let on = on.and_then(|t| t.as_bool()).ok_or_else(|| p.badarg())?;
    Ok(Term::bool(flag.swap(on, Relaxed)))
}

/// Switches microstate accounting on or off, or resets it.
fn microstates<'h>(p: &'h Proc, value: Term<'h>) -> BifResult<'h> {
    let others = crate::blocking_pool::meters(usize::MAX);
    let reset = value.as_atom().is_some_and(|a| a.name() == "reset");
    if reset {
        microstate_timing::reset(&others);
        return Ok(Term::bool(microstate_timing::on()));
    }
    let to = value.as_bool().ok_or_else(|| p.badarg())?;
    Ok(Term::bool(microstate_timing::switch(to, &others)))
}

kvik_state::vm_state! {
    /// How many dirty CPU schedulers are online; 0 until that is changed.
    static DIRTY_CPU: AtomicUsize = AtomicUsize::new(0);
}

pub(super) fn dirty_cpu_online() -> usize {
    match DIRTY_CPU.load(Relaxed) {
        0 => super::config().dirty_cpu_online,
        n => n,
    }
}
/// Sets how many schedulers are online, and dirty CPU schedulers in proportion.
fn set_online(n: usize) -> Option<usize> {
    let all = online::set_online(n)?;
    if n != all {
        let share = super::config().dirty_cpu * 100 / super::schedulers().max(1);
        let dirty = dirty_cpu_online() * (n * share / all.max(1)) / 100;
        DIRTY_CPU.store(dirty.clamp(1, super::config().dirty_cpu.max(1)), Relaxed);
    }
    Some(all)
}

fn system_flag_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(answer) = p.resumed::<InForce>() {
        return Ok(answer);
    }
    let [flag, value] = *a else { return Err(p.badarg()) };
    let Some(flag) = flag.as_atom() else {
        return Err(p.badarg_because(am::badopt));
    };
    let name = flag.name();
    if let Some(n) = NUMBERS.iter().find(|n| n.name == name) {
        return set_number(p, n, value);
    }
    if let Some(before) = set_setting(name, value.as_small().and_then(|n| n.try_into().ok())) {
        return before.map(|n| p.heap.integer(n as i64)).ok_or_else(|| p.badarg());
    }
    match name {
        "schedulers_online" => {
            let before = value.as_usize().and_then(set_online).ok_or_else(|| p.badarg())?;
            in_force(p, p.heap.integer(before as i64), value.as_usize() != Some(before))
        }
        "dirty_cpu_schedulers_online" => {
            let most = super::config().dirty_cpu.min(online::online());
            let n = value.as_usize().filter(|n| (1..=most).contains(n));
            let before = dirty_cpu_online();
            DIRTY_CPU.store(n.ok_or_else(|| p.badarg())?, Relaxed);
            Ok(p.heap.integer(before as i64))
        }
        "max_heap_size" => set_max_heap(p, value),
        // `kernel_refc` counts the processes that want it, and switches it on and off.
        "scheduler_wall_time" if value.as_bool().is_some() => {
            let counted =
                Atom::intern("system_flag_scheduler_wall_time").map_err(|_| p.system_limit())?;
            Err(p.trap_in_next_turn(kvik_code::export(am::erts_internal, counted, 1), &[value]))
        }
        "microstate_accounting" => ends_turn(p, || microstates(p, value)),
        "system_logger" => set_logger(p, value),
        "multi_scheduling" => match value.as_atom() {
            Some(am::block) => block(p, false),
            Some(am::block_normal) => block(p, true),
            Some(am::unblock) => told(p, online::unblock(p.pid(), false)),
            Some(am::unblock_normal) => told(p, online::unblock(p.pid(), true)),
            _ => Err(p.badarg()),
        },
        "time_offset" if value.as_atom().is_some_and(|v| v.name() == "finalize") => {
            Ok(Atom::intern(super::time_warp::finalize()).map_err(|_| p.system_limit())?.into())
        }
        "scheduler_bind_type"
            if value.as_atom().is_some_and(|v| BIND_TYPES.contains(&v.name())) =>
        {
            Ok(Atom::intern("unbound").map_err(|_| p.system_limit())?.into())
        }
        "erts_alloc" => super::allocators::set(p, value),
        "scheduler_wall_time" | "scheduler_bind_type" => Err(p.badarg()),
        "sequential_tracer" => super::seq_trace::set_tracer(p, value),
        "reset_seq_trace" => {
            kvik_proc::seq_trace::reset_all(p);
            Ok(true.into())
        }
        "cpu_topology" => super::processors::set(p, value),
        "internal_cpu_topology" => super::processors::set_internal(p, value),
        _ => Err(p.badarg_because(am::badopt)),
    }
}

/// Returns `answer` when every scheduler does what was just `changed` about them.
fn in_force<'h>(p: &'h Proc, answer: Term<'h>, changed: bool) -> BifResult<'h> {
    match changed {
        true => Err(after_slices::<InForce>(p, answer)),
        false => Ok(answer),
    }
}
/// State of a call that waits until its change is in force: the answer.
enum InForce {}
impl SuspendedState for InForce {
    type In<'h> = Term<'h>;
}

/// Blocks multi-scheduling for the process. With one scheduler nothing changes for normal ones; OTP
/// waits for its dirty schedulers in the first block, so the process is suspended for a moment.
fn block<'h>(p: &'h Proc, normal: bool) -> BifResult<'h> {
    let first = online::blockers(normal).is_empty();
    let now = told(p, online::block(p.pid(), normal))?;
    in_force(p, now, super::schedulers() > 1 || first && !normal)
}

/// Whether multi-scheduling is enabled, or how it is blocked.
pub(super) fn multi_scheduling<'h>(p: &'h Proc) -> BifResult<'h> {
    told(p, online::blocked())
}
fn told<'h>(p: &'h Proc, b: Blocked) -> BifResult<'h> {
    let name = match b {
        Blocked::No => "enabled",
        Blocked::Normal => "blocked_normal",
        Blocked::All => "blocked",
    };
    Ok(kvik_term::Atom::intern(name).map_err(|_| p.system_limit())?.into())
}

fn set_number<'h>(p: &'h Proc, n: &Number, value: Term<'h>) -> BifResult<'h> {
    let v = value.as_small().filter(|v| *v >= n.range.0).ok_or_else(|| p.badarg())?;
    if v > n.range.1 && n.name != "backtrace_depth" {
        return Err(p.badarg());
    }
    let v = v.min(n.range.1);
    if n.name == "backtrace_depth" {
        kvik_proc::limits::BACKTRACE_DEPTH.store(v as usize, Relaxed);
    }
    Ok(p.heap.integer(n.value.swap(v, Relaxed)))
}

fn set_max_heap<'h>(p: &'h Proc, value: Term<'h>) -> BifResult<'h> {
    let least = get("min_heap_size").unwrap_or(0) as usize;
    let new = MaxHeap::read_any(value).filter(|m| m.size == 0 || m.size >= least);
    Ok(MaxHeap::set_system(new.ok_or_else(|| p.badarg())?).map(&p.heap))
}

fn set_logger<'h>(p: &'h Proc, value: Term<'h>) -> BifResult<'h> {
    let new = SystemLogger::of(value).ok_or_else(|| p.badarg())?;
    Ok(logger::set(new).term())
}
