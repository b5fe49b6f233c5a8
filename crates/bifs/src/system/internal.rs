//! Small natives of `erts_internal`, this node, and dynamic tracing, which
//! we are built without.

use std::sync::RwLock;

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Pid, Port, Ref, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "get_dflags", 0, get_dflags_0),
    bif!("erts_internal", "system_check", 1, system_check_1),
    bif!("erts_internal", "is_system_process", 1, is_system_process_1),
    bif!("erts_internal", "no_aux_work_threads", 0, no_aux_work_threads_0),
    bif!("erts_internal", "perf_counter_unit", 0, nanoseconds),
    bif!("erts_internal", "time_unit", 0, nanoseconds),
    bif!("erts_internal", "term_type", 1, term_type_1),
    bif!("erts_internal", "gather_alloc_histograms", 1, notsup),
    bif!("erts_internal", "gather_carrier_info", 1, notsup),
    bif!("erlang", "nodes", 0, nodes_0),
    bif!("erlang", "nodes", 1, nodes_1),
    bif!("erlang", "nodes", 2, nodes_2),
    bif!("erlang", "node", 0, node_0),
    bif!("erlang", "node", 1, node_1),
    bif!("erlang", "dist_get_stat", 1, badarg),
    bif!("erlang", "dt_put_tag", 1, undefined),
    bif!("erlang", "dt_get_tag", 0, undefined),
    bif!("erlang", "dt_get_tag_data", 0, undefined),
    bif!("erlang", "dt_spread_tag", 1, yes),
    bif!("erlang", "dt_restore_tag", 1, yes),
    bif!("erlang", "dt_prepend_vm_tag_data", 1, itself),
    bif!("erlang", "dt_append_vm_tag_data", 1, itself),
    bif!("error_logger", "warning_map", 0, warning_map_0),
];

/// What OTP 25 offers, needs, and needs of old nodes, in a handshake.
const DFLAGS: [i64; 5] = [55_966_662_588, 17_239_956, 55_966_662_588, 8_396_866, 8192];

fn get_dflags_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let mut parts = vec![am::erts_dflags.into()];
    parts.extend(DFLAGS.map(|n| p.heap.integer(n)));
    Ok(p.heap.tuple(&parts))
}
fn undefined<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(am::undefined.into())
}
fn yes<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(true))
}
fn itself<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a.first().copied().ok_or_else(|| p.badarg())
}
fn notsup<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.notsup())
}
fn badarg<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.badarg())
}
fn nanoseconds<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(1_000_000_000))
}
/// All schedulers answer while this one does.
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
    // One that has ended is none.
    Ok(Term::bool(task.is_some_and(|t| t.is_system())))
}
/// Schedulers and one more thread do the work beside processes.
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
        View::Map(m) if m.is_node() => "hashmap_node",
        View::Map(m) if !m.is_flat() => "hashmap",
        View::Map(_) => "flatmap",
        View::Bits(b) if !b.is_binary() || b.as_bytes().is_none() => "sub_binary",
        View::Bits(_) => match p.heap.off_heap_of(t) {
            Some(_) => "refc_binary",
            None => "heap_binary",
        },
        View::Fun(f) if f.is_export() => "export",
        View::Fun(_) => "fun",
        View::Pid(Pid::External(_)) => "external_pid",
        View::Pid(_) => "pid",
        View::Port(Port::External(_)) => "external_port",
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
        View::Pid(Pid::External(e))
        | View::Port(Port::External(e))
        | View::Ref(Ref::External(e)) => Ok(e.node().into()),
        View::Pid(_) | View::Port(_) | View::Ref(_) => Ok(kvik_proc::node::name().into()),
        _ => Err(p.badarg()),
    }
}
fn nodes_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::NIL)
}
/// Which kinds of nodes are asked for; of all kinds only `this` and `known` have one.
fn names_this(p: &Proc, kinds: Term<'_>) -> Result<bool, kvik_proc::Raised> {
    let kinds = match kinds.as_atom() {
        Some(_) => vec![kinds],
        None => kinds.list_to_vec().ok_or_else(|| p.badarg())?,
    };
    let mut this = false;
    for k in kinds {
        match k.as_atom() {
            Some(am::this | am::known) => this = true,
            Some(am::visible | am::hidden | am::connected) => {}
            _ => return Err(p.badarg()),
        }
    }
    Ok(this)
}
fn nodes_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [kinds] = *a else { return Err(p.badarg()) };
    Ok(match names_this(p, kinds)? {
        true => p.heap.list(&[kvik_proc::node::name().into()]),
        false => Term::NIL,
    })
}
fn nodes_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [kinds, options] = *a else { return Err(p.badarg()) };
    let options = options.as_map().ok_or_else(|| p.badarg())?;
    let mut info = Vec::new();
    for (k, v) in kvik_ets::order::map_pairs(options) {
        let wanted = v.as_bool().ok_or_else(|| p.badarg())?;
        let value: Term<'_> = match k.as_atom() {
            Some(am::connection_id) => am::undefined.into(),
            Some(am::node_type) => am::this.into(),
            _ => return Err(p.badarg()),
        };
        if wanted {
            info.push((k, value));
        }
    }
    if !names_this(p, kinds)? {
        return Ok(Term::NIL);
    }
    let info = kvik_ets::order::make_map(&p.heap, &info);
    Ok(p.heap.list(&[p.heap.tuple(&[kvik_proc::node::name().into(), info])]))
}
static WARNING_MAP: RwLock<Atom> = RwLock::new(am::warning);
/// `+W`: what warnings are logged as.
pub fn set_warning_map(level: Atom) {
    *WARNING_MAP.write().unwrap_or_else(|e| e.into_inner()) = level;
}
fn warning_map_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok((*WARNING_MAP.read().unwrap_or_else(|e| e.into_inner())).into())
}
