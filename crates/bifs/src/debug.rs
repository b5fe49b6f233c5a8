//! Module `erts_debug`: sizes of terms, and its other functions that need no debug build.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kvik_heap::copy::{flat_size, size_shared};
use kvik_heap::{BinRef, SuspendedState};
use kvik_proc::process::{flag, table};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::reference_scan::{self, Wanted};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_debug", "flat_size", 1, flat_size_1),
    bif!("erts_debug", "size_shared", 1, size_shared_1),
    bif!("erts_debug", "same", 2, same_2),
    bif!("erts_debug", "copy_shared", 2, copy_shared_2),
    bif!("erts_debug", "get_internal_state", 1, get_internal_state_1),
    bif!("erts_debug", "set_internal_state", 2, set_internal_state_2),
    bif!("erts_debug", "disassemble", 1, disassemble_1),
    bif!("erts_debug", "interpreter_size", 0, interpreter_size_0),
    bif!("erts_debug", "instructions", 0, instructions_0),
    bif!("erts_debug", "unaligned_bitstring", 2, unaligned_bitstring_2, since 29),
];

fn flat_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    Ok(p.heap.integer(flat_size(t) as i64))
}
/// Counts each object once and literals not at all.
fn size_shared_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    Ok(p.heap.integer(size_shared(t) as i64))
}
fn same_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [x, y] = *a else { return Err(p.badarg()) };
    Ok(Term::bool(x.same(y)))
}
fn copy_shared_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, literals] = *a else { return Err(p.badarg()) };
    literals.as_bool().ok_or_else(|| p.badarg())?;
    Ok(p.heap.copy(t))
}
/// A copy outside the heap that begins at a given bit of its first byte.
fn unaligned_bitstring_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    /// So many bytes are not on the heap.
    const OFF_HEAP: usize = 65;
    let bits = a[0].as_bits().ok_or_else(|| p.badarg())?;
    let offset = a[1].as_usize().filter(|n| (1..8).contains(n)).ok_or_else(|| p.badarg())?;
    let (len, bytes) = (bits.bit_len(), bits.to_bytes());
    let room = (offset + len).div_ceil(8).max(OFF_HEAP) + 1;
    let (copy, ()) = p.heap.binary_with(room, |to| {
        for (i, byte) in bytes.iter().enumerate() {
            to[i] |= byte >> offset;
            to[i + 1] |= byte << (8 - offset);
        }
    });
    p.heap.bump_reductions((room >> 10) as i64);
    p.heap.sub_binary(copy, offset, len).ok_or_else(|| p.badarg())
}

kvik_state::vm_state! {
    /// Whether `get_internal_state` and `set_internal_state` are enabled.
    static AVAILABLE: AtomicBool = AtomicBool::new(false);
}

fn get_internal_state_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what] = *a else { return Err(p.badarg()) };
    if !AVAILABLE.load(Ordering::Relaxed) {
        return Err(p.error(am::undef));
    }
    if let Some([k, v]) = what.as_tuple_n::<2>() {
        return match k.as_atom().map(|a| a.name()) {
            Some("internal_hash") => Ok(p.heap.unsigned(kvik_term::hash::of_key(v))),
            Some("native_record_def") => {
                v.as_record().map(|r| r.definition_term()).ok_or_else(|| p.badarg())
            }
            Some("magic_ref") => magic_ref(p, v),
            Some("binary_info") => binary_info(p, v),
            Some("reader_groups_map") => {
                let n = v.as_usize().filter(|n| (1..=i32::MAX as usize).contains(n));
                let n = n.ok_or_else(|| p.badarg())?;
                Ok(crate::system::processors::groups(&p.heap, n))
            }
            Some("link_list") => crate::debug_relations::links(p, v),
            Some("monitor_list") => crate::debug_relations::monitors(p, v),
            Some("process_status") => process_status(p, v),
            Some("atom") => {
                let i = v.as_usize().and_then(|i| u32::try_from(i).ok());
                let a = i.and_then(kvik_term::Atom::from_index);
                a.map(Term::atom).ok_or_else(|| p.badarg())
            }
            _ => Err(p.badarg()),
        };
    }
    match what.as_atom().map(|a| a.name()) {
        Some("available_internal_state") => Ok(Term::bool(true)),
        Some("debugger_support") if kvik_release::current().has_debugger() => {
            Ok(Term::bool(kvik_code::DebuggerSwitches::current().is_enabled()))
        }
        Some("reds_left") => Ok(p.heap.integer(p.heap.reductions_left())),
        Some("DbTable_words") => {
            use kvik_ets::table::{SEGMENT_TABLE_GIVEN, TABLE_WORDS};
            let words = [TABLE_WORDS, SEGMENT_TABLE_GIVEN].map(|n| p.heap.integer(n as i64));
            Ok(p.heap.tuple(&words))
        }
        Some("process_info_args") => {
            let all: Vec<Term<'h>> = crate::process::items().map(Term::from).collect();
            Ok(p.heap.list(&all))
        }
        Some("memory") => crate::system::memory_term(p),
        Some("mmap") => Ok(am::undefined.into()),
        Some("min_unique_monotonic_integer") => Ok(p.heap.integer(kvik_proc::unique::FIRST)),
        Some("unique_monotonic_integer_state") => {
            Ok(p.heap.unsigned(kvik_proc::unique::monotonic_state()))
        }
        Some("stack_check") => Ok(p.heap.integer(kvik_proc::sched::STACK as i64)),
        Some("node_and_dist_references") => {
            Err(reference_scan::ask_all(p, Wanted::Nodes, crate::debug_nodes::references))
        }
        // Counts of watched descriptors: in error, all, those of drivers, those of native
        // libraries.
        Some("check_io_debug") => {
            let w = kvik_port::event_loop::watched();
            let all = [w.strays, w.ports + w.libraries, w.ports, w.libraries];
            Ok(p.heap.tuple(&all.map(|n| p.heap.integer(n as i64))))
        }
        Some("force_heap_frags" | "scheduler_dump" | "hashmap_collision_bonanza") => {
            Ok(Term::bool(false))
        }
        Some("lc_graph" | "flxctr_memory_usage") => Ok(am::notsup.into()),
        Some("monitoring_nodes") => Ok((kvik_proc::hooks::hooks().node.watchers)(&p.heap)),
        Some("next_port") => Ok(p.heap.integer(kvik_port::table::next_number().into())),
        Some("next_pid") => Ok(Term::int(table().next_number() as i32)),
        Some("processes") => {
            let all: Vec<_> = table().numbers().into_iter().map(Term::local_pid).collect();
            Ok(p.heap.list(&all))
        }
        Some("processes_bif_info") => Ok(crate::process::processes_info(p)),
        Some("persistent_term") => {
            let buckets = p.heap.integer(crate::persistent_term::buckets() as i64);
            Ok(p.heap.map(&[(am::table.into(), buckets)]))
        }
        _ => Err(p.badarg()),
    }
}
/// The status of a process; `undefined` if it has ended.
fn process_status<'h>(p: &'h Proc, pid: Term<'h>) -> BifResult<'h> {
    let n = pid.as_local_pid().ok_or_else(|| p.badarg())?;
    if n == p.pid() {
        return Ok(am::running.into());
    }
    if table().get(n, &kvik_sync::pin()).is_none() {
        return Ok(am::undefined.into());
    }
    Err(crate::process::ask(p, n, |of, _| of.map_or(am::undefined, crate::process::status).into()))
}
/// `{Address, References, IsForTests}` of the resource behind a magic reference; for other
/// references, whether this node made it.
fn magic_ref<'h>(p: &'h Proc, r: Term<'h>) -> BifResult<'h> {
    let Some(resource) = kvik_heap::Heap::resource_ref(r) else {
        let ours = kvik_proc::RefId::of_term(r).is_some();
        return Ok(Term::bool(ours));
    };
    let address = std::sync::Arc::as_ptr(resource).cast::<u8>() as u64;
    let count = std::sync::Arc::strong_count(resource) as i64;
    let ordinary = resource.downcast_ref::<TestResource>().is_some();
    Ok(p.heap.tuple(&[p.heap.unsigned(address), p.heap.integer(count), Term::bool(ordinary)]))
}

/// The storage of a binary: `heap_binary`, or `{refc_binary, Size, {binary, SizeOfAll}, Flags}`.
fn binary_info<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    let h = &p.heap;
    t.as_bits().ok_or_else(|| p.badarg())?;
    let atom = |name: &str| Atom::intern(name).map(Term::from).map_err(|_| p.system_limit());
    let Some(o) = h.off_heap_info(t) else { return atom("heap_binary") };
    let all = h.tuple(&[am::binary.into(), h.integer(o.capacity as i64)]);
    let flags = Term::int(if o.writable { 3 } else { 0 });
    Ok(h.tuple(&[atom("refc_binary")?, h.integer(o.size as i64), all, flags]))
}

/// The resource behind a reference made by `set_internal_state(make, magic_ref)`.
struct TestResource;

/// Loop limits of BIFs that trap in OTP. Those here do not, so setting a limit has no effect.
const LOOP_LIMIT: i32 = 100_000;

/// Starts a chain of `more + 1` timers, each set when the one before fires; all but the first fire
/// at once. The last one sends the process a message.
fn rings(pid: u32, ns: u64, more: u32) {
    let ring = move || match more.checked_sub(1) {
        Some(more) => rings(pid, 0, more),
        None => {
            let done = kvik_term::Atom::intern("multizero_timeout_in_timeout_done");
            kvik_proc::signal::post(pid, |_| done.map_or(Term::NIL, Term::from));
        }
    };
    let now = kvik_proc::clock::now();
    // A timer without delay is due at the start of the current millisecond.
    let at = if ns == 0 { now - now % 1_000_000 } else { now.saturating_add(ns) };
    kvik_proc::timer::call_at(at, Box::new(ring));
}
/// State of a process that blocks all schedulers: whether its stop request was accepted.
struct Blocked;
impl SuspendedState for Blocked {
    type In<'h> = bool;
}
kvik_state::vm_state! {
    static BLOCK_MS: AtomicU64 = AtomicU64::new(0);
}

/// Stops all schedulers for `ms` milliseconds.
fn block<'h>(p: &'h Proc, ms: u64) -> BifResult<'h> {
    if p.resumed::<Blocked>() == Some(true) {
        return Ok(Term::bool(true));
    }
    BLOCK_MS.store(ms, Ordering::Relaxed);
    // Another pending stop request goes first; this one is then made again.
    let asked = kvik_port::stop_the_world::run_alone(|_| {
        kvik_env::thread::sleep(Duration::from_millis(BLOCK_MS.load(Ordering::Relaxed)));
    });
    p.give_up_turn();
    Err(p.again::<Blocked>(asked, None))
}

fn set_internal_state_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, value] = *a else { return Err(p.badarg()) };
    let name = what.as_atom().map_or("", |a| a.name());
    if name == "available_internal_state" {
        let on = value.as_bool().ok_or_else(|| p.badarg())?;
        return Ok(Term::bool(AVAILABLE.swap(on, Ordering::Relaxed)));
    }
    if !AVAILABLE.load(Ordering::Relaxed) {
        return Err(p.error(am::undef));
    }
    let is = |s: &str| value.as_atom().is_some_and(|a| a.name() == s);
    match name {
        "reds_left" => {
            let n = value.as_i64().filter(|n| *n >= 0).ok_or_else(|| p.badarg())?;
            p.heap.set_reductions(n);
            Ok(Term::bool(true))
        }
        "debugger_support" if kvik_release::current().has_debugger() => {
            if value == am::true_ {
                kvik_code::debugger::enable();
                return Ok(am::ok.into());
            }
            Ok(am::badarg.into())
        }
        // Only requested collections are held back; a full heap is still collected.
        "gc_state" => {
            let on = value.as_bool().ok_or_else(|| p.badarg())?;
            Ok(Term::bool(!p.set_flag(flag::GC_OFF, !on)))
        }
        "next_pid" => {
            let n = value.as_u64().ok_or_else(|| p.badarg())?;
            table().set_next_number(n as u32);
            Ok(p.heap.integer(table().next_number().into()))
        }
        "next_port" => {
            let n = value.as_u64().ok_or_else(|| p.badarg())?;
            Ok(p.heap.integer(kvik_port::table::set_next_number(n as u32).into()))
        }
        "unique_monotonic_integer_state" => {
            let n = value.as_u64().ok_or_else(|| p.badarg())?;
            kvik_proc::unique::set_monotonic_state(n);
            Ok(Term::bool(true))
        }
        _ if name == kvik_release::current().code_permission() => {
            let take = value.as_bool().ok_or_else(|| p.badarg())?;
            Ok(Term::bool(crate::code::take_write_permission(p, take)))
        }
        // Unreferenced nodes are never kept, so there is no delay to set.
        "node_tab_delayed_delete" => match value.as_i64() {
            Some(_) => Ok(am::ok.into()),
            None => Err(p.badarg()),
        },
        // The per-process counters cannot overflow, so there is nothing to set.
        "process_uniq_counter" => match value.is_integer() {
            true => Ok(Term::bool(true)),
            false => Err(p.badarg()),
        },
        "test_long_gc_sleep" => {
            let ms = value.as_u64().ok_or_else(|| p.badarg())?;
            kvik_proc::sysmon::TEST_LONG_GC_MS.store(ms, Ordering::Relaxed);
            Ok(Term::bool(true))
        }
        // A timer whose callback sets a timer without delay, whose callback sets another.
        "multizero_timeout_in_timeout" => {
            let ms = value.as_u64().ok_or_else(|| p.badarg())?;
            rings(p.pid(), ms.saturating_mul(1_000_000), 2);
            Ok(am::ok.into())
        }
        "block" => block(p, value.as_u64().ok_or_else(|| p.badarg())?),
        "sleep" => {
            let ms = value.as_u64().ok_or_else(|| p.badarg())?;
            kvik_env::thread::sleep(std::time::Duration::from_millis(ms));
            Ok(Term::bool(true))
        }
        // The work that OTP waits for here is already done, but other processes get their time
        // slices meanwhile.
        "wait"
            if ["deallocations", "timer_cancellations", "aux_work", "thread_progress"]
                .into_iter()
                .any(is) =>
        {
            p.give_up_turn();
            Ok(am::ok.into())
        }
        "binary_loop_limit" | "re_loop_limit" | "unicode_loop_limit" => Ok(Term::int(LOOP_LIMIT)),
        // Every process can receive signals from many senders in parallel.
        "proc_sig_buffers" => Ok(Term::bool(value.is_atom(am::true_))),
        "ets_force_trap" | "jit_asm_dump" => Ok(am::notsup.into()),
        "ets_force_split" | "ets_debug_random_split_join" => Ok(am::notsup.into()),
        "colliding_names" => colliding_names(p, value),
        // `{Reference, Address}`
        "make" if is("magic_ref") => {
            let resource = std::sync::Arc::new(TestResource);
            let address = std::sync::Arc::as_ptr(&resource).cast::<u8>() as u64;
            Ok(p.heap.tuple(&[p.heap.magic_ref(resource), p.heap.unsigned(address)]))
        }
        // Zeros outside the heap, whatever their number.
        "binary" => {
            let n = value.as_usize().ok_or_else(|| p.badarg())?;
            if Vec::<u8>::new().try_reserve_exact(n).is_err() {
                return Ok(Term::bool(false));
            }
            Ok(p.heap.refc_binary(BinRef::with(n, |_| ()).0, n))
        }
        "mbuf" => Ok(p.heap.copy(value)),
        "fill_heap" => {
            p.ask_for_gc(false);
            Ok(Term::bool(true))
        }
        _ => Err(p.badarg()),
    }
}
/// Names of tables that share a registry lock with the given one.
fn colliding_names<'h>(p: &'h Proc, value: Term<'h>) -> BifResult<'h> {
    let [name, n] = value.as_tuple_n::<2>().ok_or_else(|| p.badarg())?;
    let (Some(name), Some(n)) = (name.as_atom(), n.as_usize().filter(|n| *n < 1000)) else {
        return Err(p.badarg());
    };
    let mut names: Vec<Term<'h>> = Vec::new();
    for i in 0..100_000 {
        if names.len() >= n {
            break;
        }
        let a = kvik_term::Atom::intern(&format!("am{i:x}")).map_err(|_| p.system_limit())?;
        if a != name && kvik_ets::registry::share_lock(a, name) {
            names.push(a.into());
        }
    }
    Ok(p.heap.list(&names))
}
/// All code is native: there are no instructions left to disassemble.
fn disassemble_1<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(false))
}
fn interpreter_size_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::int(0))
}
/// The names of all BEAM instructions that the loader knows.
fn instructions_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = (0..=u8::MAX).filter_map(kvik_beam::Opcode::from_number);
    let names: Vec<_> = all.map(|o| p.heap.string(o.name())).collect();
    Ok(p.heap.list(&names))
}
