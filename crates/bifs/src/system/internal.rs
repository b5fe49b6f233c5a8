//! Small BIFs of `erts_internal`, `node/0,1`, and dynamic tracing, which kvik is built without.

use std::sync::RwLock;

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, PidTerm, PortTerm, Ref, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "system_check", 1, system_check_1),
    bif!("erts_internal", "is_system_process", 1, is_system_process_1),
    bif!("erts_internal", "no_aux_work_threads", 0, no_aux_work_threads_0),
    bif!("erts_internal", "perf_counter_unit", 0, nanoseconds),
    bif!("erts_internal", "time_unit", 0, nanoseconds),
    bif!("erts_internal", "term_type", 1, term_type_1),
    bif!("erts_internal", "gather_alloc_histograms", 1, not_enabled_1),
    bif!("erts_internal", "gather_carrier_info", 1, not_enabled_1),
    bif!("erlang", "node", 0, node_0),
    bif!("erlang", "node", 1, node_1),
    bif!("erlang", "dt_put_tag", 1, undefined),
    bif!("erlang", "dt_get_tag", 0, undefined),
    bif!("erlang", "dt_get_tag_data", 0, undefined),
    bif!("erlang", "dt_spread_tag", 1, dt_spread_tag_1),
    bif!("erlang", "dt_restore_tag", 1, dt_restore_tag_1),
    bif!("erlang", "dt_prepend_vm_tag_data", 1, itself),
    bif!("erlang", "dt_append_vm_tag_data", 1, itself),
    bif!("error_logger", "warning_map", 0, warning_map_0),
];

/// There are no tags to spread: only checks the argument.
fn dt_spread_tag_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_bool().map(|_| true.into()).ok_or_else(|| p.badarg())
}
fn undefined<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(am::undefined.into())
}
/// Accepts only what `dt_spread_tag` returns.
fn dt_restore_tag_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let is_tag = a[0].as_bool() == Some(true);
    is_tag.then(|| Term::bool(true)).ok_or_else(|| p.badarg())
}
fn itself<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a.first().copied().ok_or_else(|| p.badarg())
}
/// How many messages with figures of an allocator will come: none, as of one that is not enabled.
fn not_enabled_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // From that release on with flags, which say how to group the figures. Before it, the size is
    // not checked.
    let size = kvik_release::current().tags_allocations_with_code().then_some(6);
    let request = a[0].as_tuple().filter(|t| size.is_none_or(|n| t.elements().len() == n));
    let [allocator, thread, ..] = *request.map_or(&[][..], |t| t.elements()) else {
        return Err(p.badarg());
    };
    let is_known = allocator.as_atom().is_some_and(|n| super::allocators::is_off(n.name()));
    let is_thread = thread.as_i64().is_some_and(|n| (0..=super::schedulers() as i64).contains(&n));
    (is_known && is_thread).then(|| Term::int(0)).ok_or_else(|| p.badarg())
}
fn nanoseconds<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(1_000_000_000))
}
/// Always `ok`: while this scheduler responds, all are taken to respond.
fn system_check_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a.first().and_then(|t| t.as_atom()).map(Atom::name) {
        Some("schedulers") => Ok(am::ok.into()),
        _ => Err(p.badarg()),
    }
}
fn is_system_process_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let pid = a.first().and_then(|t| t.as_local_pid()).ok_or_else(|| p.badarg())?;
    let guard = kvik_sync::pin();
    let task = kvik_proc::process::table().get(pid, &guard);
    // A process that has ended is not a system process.
    Ok(Term::bool(task.is_some_and(|t| t.is_system())))
}
/// The schedulers and one more thread do the auxiliary work.
fn no_aux_work_threads_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(super::schedulers() as i64 + 1))
}
fn term_type_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let name = match t.view() {
        View::Small(_) => "fixnum",
        View::Big(_) => "bignum",
        View::Float(_) => "hfloat",
        View::Atom(_) => "atom",
        View::Nil => "nil",
        View::Cons(_) => "list",
        View::Tuple(_) => "tuple",
        View::Record(_) => "record",
        View::Map(m) if m.is_node() => "hashmap_node",
        View::Map(m) if !m.is_flat() => "hashmap",
        View::Map(_) => "flatmap",
        View::Bits(b) if kvik_release::current().term_words().part.is_some() => {
            match b.bit_len() > kvik_term::word::HEAP_BIN_LIMIT * 8 {
                true => "sub_binary",
                false => "heap_binary",
            }
        }
        View::Bits(b) if !b.is_binary() || b.as_bytes().is_none() => "sub_binary",
        View::Bits(_) => match p.heap.off_heap_of(t) {
            Some(_) => "refc_binary",
            None => "heap_binary",
        },
        View::Fun(f) if f.is_export() => "export",
        View::Fun(_) => "fun",
        View::Pid(PidTerm::External(_)) => "external_pid",
        View::Pid(_) => "pid",
        View::Port(PortTerm::External(_)) => "external_port",
        View::Port(_) => "port",
        View::Ref(Ref::External(_)) => "external_reference",
        View::Ref(_) => "reference",
    };
    Ok(Atom::intern(name).map_err(|_| p.system_limit())?.into())
}

fn node_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(kvik_proc::node::name().into())
}
fn node_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    match t.view() {
        View::Pid(PidTerm::External(e))
        | View::Port(PortTerm::External(e))
        | View::Ref(Ref::External(e)) => Ok(e.node().into()),
        View::Pid(_) | View::Port(_) | View::Ref(_) => Ok(kvik_proc::node::name().into()),
        _ => Err(p.badarg()),
    }
}
kvik_state::vm_state! {
    static WARNING_MAP: RwLock<Atom> = RwLock::new(am::warning);
}

/// `+W`: the level that warnings are logged at.
pub fn set_warning_map(level: Atom) {
    *WARNING_MAP.write().unwrap_or_else(|e| e.into_inner()) = level;
}
fn warning_map_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok((*WARNING_MAP.read().unwrap_or_else(|e| e.into_inner())).into())
}
