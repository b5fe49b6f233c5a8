//! `erlang:system_info/1`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use kvik_proc::limits::{Defaults, MaxHeap};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use kvik_proc::sched::online::{self, Blocked};

use super::allocators::{self, Detail};
use super::{config, flags, processors};
use crate::process::ends_turn;
use crate::{dump, filename};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "system_info", 1, system_info_1)];

/// Reductions in a time slice.
const REDUCTIONS_A_TURN: usize = 4000;

/// The end of OTP's time range: the last monotonic time, in native units.
pub const END_TIME: i64 = 8_646_911_283_000_000_000;

fn atom<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    match Atom::intern(name) {
        Ok(a) => Ok(a.into()),
        Err(_) => Err(p.system_limit()),
    }
}

/// The sizes a heap grows through.
fn heap_sizes() -> Vec<i64> {
    let (mut a, mut b) = (12i64, 38i64);
    let mut sizes = vec![a, b];
    while b < 800_000 {
        (a, b) = (b, a + b + 1);
        sizes.push(b);
    }
    // From about a million words on they grow by a fifth.
    while b <= i64::MAX / 5 * 4 && sizes.len() < 151 {
        b += b / 5;
        sizes.push(b);
    }
    sizes.retain(|s| *s <= 1 << 59);
    sizes
}

fn system_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what] = *a else { return Err(p.badarg()) };
    match what.as_atom() {
        // First, because it is asked for most often.
        Some(am::scheduler_id) => {
            Ok(p.heap.integer(kvik_proc::sched::current().map_or(1, |n| n as i64 + 1)))
        }
        Some(a) => {
            let name = a.name();
            if let Some(n) = numbers(name) {
                return Ok(p.heap.integer(n));
            }
            if let Some(s) = string(name) {
                return Ok(p.heap.string(&s));
            }
            if let Some((_, v)) = ATOMS.iter().find(|s| s.0 == name) {
                return atom(p, v);
            }
            other(p, name)
        }
        None => pair(p, what),
    }
}

fn numbers(name: &str) -> Option<i64> {
    let c = config();
    let n = match name {
        "schedulers" => super::schedulers(),
        "schedulers_online" => online::online(),
        "schedulers_total" => super::schedulers(),
        "schedulers_active" => online::active(),
        "dirty_cpu_schedulers" => c.dirty_cpu,
        "dirty_cpu_schedulers_online" => flags::dirty_cpu_online(),
        "dirty_io_schedulers" => c.dirty_io,
        "thread_pool_size" => c.async_threads,
        "process_count" => kvik_proc::process::table().count(),
        // OTP's maximum; the table has one slot more.
        "process_limit" => kvik_proc::process::table().limit().min((1 << 27) - 1),
        "port_count" => kvik_port::table::count(),
        "port_limit" => kvik_port::table::limit(),
        "atom_count" => Atom::count(),
        "atom_limit" => kvik_term::atom::limit(),
        "ets_count" => kvik_ets::registry::count(),
        "ets_limit" => c.ets_limit,
        "logical_processors" => processors::found().configured,
        "logical_processors_available" => processors::found().available,
        "logical_processors_online" => processors::found().online,
        "run_queues" => super::schedulers(),
        "wordsize" => 8,
        "compat_rel" => c.compat_rel,
        "context_reductions" => REDUCTIONS_A_TURN,
        "creation" => kvik_proc::node::creation() as usize,
        "delayed_node_table_gc" => c.node_table_gc?,
        "dist_buf_busy_limit" => c.dist_buf_busy_limit,
        "outstanding_system_requests_limit" => {
            match flags::get("outstanding_system_requests_limit") {
                Some(n) if n > 0 => n as usize,
                _ => 2 * super::schedulers(),
            }
        }
        "start_time" => return Some(kvik_proc::clock::begin()),
        "end_time" => return Some(END_TIME),
        "trace_control_word" => return flags::get(name),
        _ => return None,
    };
    Some(n as i64)
}

fn string(name: &str) -> Option<String> {
    let release = kvik_release::current();
    let version = |(major, minor): (u8, u8)| format!("{major}.{minor}");
    Some(match name {
        "otp_release" => release.name.into(),
        "version" => kvik_release::erts_version().into(),
        "nif_version" => version(release.nif),
        "driver_version" => version(release.driver),
        "machine" => "BEAM".into(),
        "system_architecture" => "x86_64-pc-linux-gnu".into(),
        _ => return None,
    })
}

const ATOMS: &[(&str, &str)] = &[
    ("build_type", "opt"),
    ("emu_type", "opt"),
    ("emu_flavor", "jit"),
    ("debug_compiled", "false"),
    ("lock_checking", "false"),
    ("lock_counting", "false"),
    // As OTP reports, although its JIT compares too, instead of using jump tables.
    ("beam_jump_table", "true"),
    ("constant_pool_support", "true"),
    ("endian", "little"),
    ("eager_check_io", "true"),
    ("dynamic_trace", "none"),
    ("dynamic_trace_probes", "false"),
    ("heap_type", "private"),
    ("scheduler_bind_type", "unbound"),
    ("smp_support", "true"),
    ("threads", "true"),
    ("hipe_architecture", "undefined"),
];

fn other<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    let c = config();
    let h = &p.heap;
    let int = |n: usize| h.integer(n as i64);
    Ok(match name {
        "system_version" => h.string(&system_version()),
        "multi_scheduling" => flags::multi_scheduling(p)?,
        "multi_scheduling_blockers" => blockers(p, false),
        "normal_multi_scheduling_blockers" => blockers(p, true),
        "break_ignored" => c.break_ignored.into(),
        "kernel_poll" => c.kernel_poll.into(),
        "time_warp_mode" => atom(p, c.time_warp_mode)?,
        "time_offset" => atom(p, super::time_warp::state())?,
        "tolerant_timeofday" => {
            let tolerant = c.time_correction && super::time_warp::state() == "final";
            atom(p, if tolerant { "enabled" } else { "disabled" })?
        }
        "time_correction" => c.time_correction.into(),
        "modified_timing_level" => c.modified_timing.map_or(am::undefined.into(), int),
        // The others are in `numbers`.
        "delayed_node_table_gc" => am::infinity.into(),
        "ets_always_compress" => c.ets_always_compress.into(),
        "ets_realloc_moves" => c.ets_realloc_moves.into(),
        "port_parallelism" => c.port_parallelism.into(),
        "message_queue_data" => {
            atom(p, if Defaults::get().off_heap_queue { "off_heap" } else { "on_heap" })?
        }
        "fullsweep_after" | "min_heap_size" | "min_bin_vheap_size" => flag_pair(p, name)?,
        "max_heap_size" => MaxHeap::system().map(h),
        "async_dist" if kvik_release::current().limits_shared_binaries() => {
            Defaults::get().async_dist.into()
        }
        "garbage_collection" => {
            let first =
                h.tuple(&[am::max_heap_size.into(), h.integer(MaxHeap::system().size as i64)]);
            let mut items = vec![first];
            for n in ["min_bin_vheap_size", "min_heap_size", "fullsweep_after"] {
                items.push(flag_pair(p, n)?);
            }
            h.list(&items)
        }
        "heap_sizes" => {
            let sizes: Vec<_> = heap_sizes().into_iter().map(|n| h.integer(n)).collect();
            h.list(&sizes)
        }
        "os_type" => h.tuple(&[atom(p, "unix")?, atom(p, "linux")?]),
        "os_version" => os_version(p),
        "schedulers_state" => {
            h.tuple(&[int(super::schedulers()), int(online::online()), int(online::active())])
        }
        "all_schedulers_state" => {
            let row = |kind: &str, n: usize, online: usize, active: usize| -> BifResult<'h> {
                Ok(h.tuple(&[atom(p, kind)?, int(n), int(online), int(active)]))
            };
            let dirty = flags::dirty_cpu_online();
            let active = |n: usize| if online::blocked() == Blocked::All { 0 } else { n };
            h.list(&[
                row("normal", super::schedulers(), online::online(), online::active())?,
                row("dirty_cpu", c.dirty_cpu, dirty, active(dirty))?,
                row("dirty_io", c.dirty_io, c.dirty_io, active(c.dirty_io))?,
            ])
        }
        "scheduler_bindings" => {
            let unbound = atom(p, "unbound")?;
            h.tuple(&vec![unbound; super::schedulers()])
        }
        "sequential_tracer" => {
            let tracer = kvik_proc::seq_trace::tracer().map_or(Term::bool(false), |t| t.term(h));
            h.tuple(&[am::sequential_tracer.into(), tracer])
        }
        "max_integer" => {
            let words = kvik_release::current().max_integer_words.ok_or_else(|| p.badarg())?;
            h.big(false, &vec![u64::MAX; words as usize])
        }
        "halt_flush_timeout" if kvik_release::current().has_halt_timeout() => {
            c.halt_flush_timeout.map_or(am::infinity.into(), |ms| h.integer(ms as i64))
        }
        "cpu_quota" => {
            super::cgroup::cpu_quota(processors::found().online).map_or(am::unknown.into(), int)
        }
        "system_logger" => kvik_proc::logger::get().term(),
        "cpu_topology" => processors::cpu_topology(p, "used")?,
        "check_io" => super::check_io::check_io(p)?,
        "update_cpu_info" if processors::update() => atom(p, "changed")?,
        "update_cpu_info" => atom(p, "unchanged")?,
        "taints" => {
            let all: Vec<Term> = crate::code::taints().into_iter().map(Term::atom).collect();
            h.list(&all)
        }
        "dist_ctrl" => {
            let all = (kvik_proc::hooks::hooks().node.controllers)();
            let one = |c: &(Atom, Term<'static>)| h.tuple(&[c.0.into(), c.1]);
            h.list(&all.iter().map(one).collect::<Vec<_>>())
        }
        "snifs" | "allocated_areas" => Term::NIL,
        "alloc_util_allocators" => allocators::names(p)?,
        "allocator" => allocators::settings(p)?,
        // No C compiler was used, so there are no flags.
        "compile_info" => {
            let none = |k: &str| Ok(h.tuple(&[atom(p, k)?, Term::NIL]));
            h.list(&[none("ldflags")?, none("cflags")?, none("config_h")?])
        }
        // How OTP tells literals from other terms.
        "literal_test" => atom(p, "range")?,
        "c_compiler_used" => h.tuple(&[am::undefined.into(), am::undefined.into()]),
        "os_monotonic_time_source" => time_source(p, "CLOCK_MONOTONIC", true)?,
        "os_system_time_source" => time_source(p, "CLOCK_REALTIME", false)?,
        "ethread_info" => ethread_info(p),
        "ethread_used_tse" => Term::int(0),
        "emu_args" => emu_args(p)?,
        "procs" => return Err(super::procs::ask_all(p)),
        "dist" | "info" | "loaded" => {
            let text = dump::part(name).ok_or_else(|| p.badarg())?;
            h.binary(&text)
        }
        _ => return Err(p.badarg()),
    })
}

/// The arguments with which `erl` would have started OTP's emulator.
fn emu_args<'h>(p: &'h Proc) -> BifResult<'h> {
    let all = super::EMU_ARGS.get().map_or(&[][..], |v| v);
    let one = |a: &OsString| filename::from_native(p, a.as_bytes()).ok_or_else(|| p.badarg());
    let all = all.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    Ok(p.heap.list(&all))
}

/// The processes that block multi-scheduling.
fn blockers(p: &Proc, normal: bool) -> Term<'_> {
    let pids: Vec<_> = online::blockers(normal).into_iter().map(Term::local_pid).collect();
    p.heap.list(&pids)
}

/// The atomic operations that the CPU has, without a library.
fn ethread_info<'h>(p: &'h Proc) -> Term<'h> {
    let h = &p.heap;
    let native = h.string("native");
    let row = |name: &str| h.tuple(&[h.string(name), native, Term::NIL]);
    let widths = ["32-bit native atomics", "64-bit native atomics", "Double word native atomics"];
    h.list(&widths.map(row))
}

fn flag_pair<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    let n = flags::get(name).unwrap_or(0);
    Ok(p.heap.tuple(&[atom(p, name)?, p.heap.integer(n)]))
}

/// The banner that `erl` prints when it starts, with kvik's name in it.
pub fn system_version() -> String {
    let c = config();
    format!(
        "Erlang/OTP {} [erts-{}] [kvik] [64-bit] [smp:{}:{}] [ds:{}:{}:{}] \
         [async-threads:{}] [jit]\n",
        kvik_release::current().name,
        kvik_release::erts_version(),
        super::schedulers(),
        super::schedulers(),
        c.dirty_cpu,
        c.dirty_cpu_online,
        c.dirty_io,
        c.async_threads
    )
}

fn os_version<'h>(p: &'h Proc) -> Term<'h> {
    let text = kvik_env::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let number = |s: &str| -> i64 {
        let end = s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
        s[..end].parse().unwrap_or(0)
    };
    let mut parts = text.split('.').map(number).chain(std::iter::repeat(0));
    let three: Vec<_> = parts.by_ref().take(3).map(|n| p.heap.integer(n)).collect();
    p.heap.tuple(&three)
}

fn time_source<'h>(p: &'h Proc, clock: &str, monotonic: bool) -> BifResult<'h> {
    let h = &p.heap;
    let now = if monotonic {
        kvik_env::clock::monotonic_nanos()
    } else {
        kvik_env::clock::wall_nanos().max(0)
    };
    let mut items = vec![
        ("function", atom(p, "clock_gettime")?),
        ("clock_id", atom(p, clock)?),
        ("resolution", h.integer(1_000_000_000)),
    ];
    if monotonic {
        if kvik_release::current().tells_used_resolution() {
            items.push(("used_resolution", h.integer(1_000_000_000)));
        }
        items.push(("extended", atom(p, "no")?));
    }
    items.push(("parallel", am::yes.into()));
    items.push(("time", h.integer(now)));
    let mut list = Vec::new();
    for (k, v) in items {
        list.push(h.tuple(&[atom(p, k)?, v]));
    }
    Ok(h.list(&list))
}

/// `{memory_internal, Ref, Allocators}`: one message for each auxiliary work thread but one. None
/// of them has any of OTP's allocators.
fn memory_internal<'h>(p: &'h Proc, r: Term<'h>, names: Term<'h>) -> BifResult<'h> {
    let names = names.list_to_vec().ok_or_else(|| p.badarg())?;
    let off: Vec<_> = names.iter().map(|n| p.heap.tuple(&[*n, Term::bool(false)])).collect();
    let off = p.heap.list(&off);
    for i in 0..super::schedulers() {
        let m = p.heap.tuple(&[r, p.heap.integer(i as i64), off]);
        let m = kvik_proc::Signal::Message(kvik_heap::OwnedTerm::new(m));
        kvik_proc::deliver(p.pid(), m);
    }
    Ok(Term::bool(true))
}

fn pair<'h>(p: &'h Proc, what: Term<'h>) -> BifResult<'h> {
    if let Some([k, r, names]) = what.as_tuple_n::<3>() {
        if k.as_atom().is_some_and(|a| a.name() == "memory_internal") && r.as_ref().is_some() {
            return memory_internal(p, r, names);
        }
    }
    let Some([k, v]) = what.as_tuple_n::<2>() else {
        return Err(p.badarg());
    };
    match k.as_atom().map(Atom::name) {
        Some("allocator") => return ends_turn(p, || allocators::info(p, v, Detail::All)),
        Some("allocator_sizes") => return ends_turn(p, || allocators::info(p, v, Detail::Sizes)),
        _ => {}
    }
    match (k.as_atom().map(Atom::name), v.as_atom().map(Atom::name)) {
        (Some("wordsize"), Some("internal" | "external")) => Ok(Term::int(8)),
        (Some("cpu_topology"), Some(which @ ("detected" | "used" | "defined"))) => {
            processors::cpu_topology(p, which)
        }
        _ => Err(p.badarg()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_sizes_are_otps() {
        let s = heap_sizes();
        assert_eq!(s[..8], [12, 38, 51, 90, 142, 233, 376, 610]);
        assert!(s.contains(&833_026) && s.contains(&999_631) && s.contains(&1_199_557));
        let next = |n| kvik_proc::limits::next_heap_size(n);
        assert_eq!([1, 12, 13, 200].map(next), [12, 12, 38, 233]);
    }
}
