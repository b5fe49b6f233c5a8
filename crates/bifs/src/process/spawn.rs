//! Starting processes: `spawn*`, `spawn_request`.

use kvik_heap::OwnedTerm;
use kvik_proc::limits::{next_heap_size, MaxHeap};
use kvik_proc::links_monitors::MonitorOptions;
use kvik_proc::seq_trace::SpawnTrace;
use kvik_proc::signal::{deliver_from, message};
use kvik_proc::spawn::{spawn_with, SpawnOptions, Spawned};
use kvik_proc::{bif, BifEntry, BifResult, Priority, Proc};
use kvik_term::{am, Atom, Term};

use super::flags::queue_data;
use super::relations::{link_options, monitor_options};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "spawn", 3, spawn_3),
    bif!("erlang", "spawn_link", 3, spawn_link_3),
    bif!("erlang", "spawn_opt", 4, spawn_opt_4),
    bif!("erts_internal", "spawn_request", 4, spawn_request_4),
    bif!("erts_internal", "spawn_system_process", 3, spawn_system_process_3),
];

/// Which replies a `spawn_request` sends, and their first element.
pub struct SpawnReply {
    pub success: bool,
    pub error: bool,
    pub tag: Option<OwnedTerm>,
}
impl Default for SpawnReply {
    fn default() -> SpawnReply {
        SpawnReply { success: true, error: true, tag: None }
    }
}

pub fn mfa<'h>(a: &[Term<'h>]) -> Option<(Atom, Atom, Term<'h>)> {
    a[2].is_proper_list().then_some(())?;
    Some((a[0].as_atom()?, a[1].as_atom()?, a[2]))
}

/// Parses one option; `None` if it is unknown or invalid.
pub fn option(o: &mut SpawnOptions, r: &mut Option<&mut SpawnReply>, t: Term<'_>) -> Option<()> {
    match t.as_atom() {
        Some(am::link) => o.link = true,
        Some(am::monitor) => o.monitor = Some(MonitorOptions::default()),
        Some(_) => return None,
        None => {
            let [k, v] = t.as_tuple_n()?;
            match k.as_atom()? {
                am::monitor => o.monitor = Some(monitor_options(v)?),
                am::link if kvik_release::current().has_priority_messages() => {
                    (o.link, o.priority_link) = (true, link_options(v)?);
                }
                am::priority => o.priority = Priority::of(v)?,
                am::message_queue_data => o.off_heap_queue = Some(queue_data(v)?),
                am::min_heap_size => o.min_heap_size = Some(v.as_usize()?),
                am::min_bin_vheap_size => o.min_bin_vheap_size = Some(v.as_usize()?),
                am::fullsweep_after => o.fullsweep_after = Some((v.as_usize()? as u16).into()),
                am::max_heap_size => o.max_heap_size = Some(MaxHeap::read(v)?),
                am::async_dist => o.async_dist = Some(v.as_bool()?),
                am::scheduler => o.scheduler = super::flags::scheduler(v)?,
                am::reply => {
                    let r = r.as_mut()?;
                    (r.success, r.error) = match v.as_atom()? {
                        am::yes => (true, true),
                        am::no => (false, false),
                        am::error_only => (false, true),
                        am::success_only => (true, false),
                        _ => return None,
                    };
                }
                am::reply_tag => r.as_mut()?.tag = Some(OwnedTerm::new(v)),
                _ => return None,
            }
        }
    }
    Some(())
}

/// Limit of a process's first heap, in words; a larger `min_heap_size` is cut to it.
const MAX_FIRST_HEAP: usize = 1 << 28;

/// What sequential tracing reports of a call with these options, if the caller has a token.
fn request(
    p: &Proc,
    options: Term<'_>,
    tag: Option<&OwnedTerm>,
    answered: bool,
) -> Option<SpawnTrace> {
    p.seq_token()?;
    let tag = tag.map_or(OwnedTerm::immediate(am::spawn_reply.into()), OwnedTerm::clone);
    Some(SpawnTrace { options: OwnedTerm::new(options), tag, answered })
}

fn start<'h>(p: &'h Proc, m: (Atom, Atom, Term<'h>), o: &mut SpawnOptions) -> Option<Spawned> {
    let least = |n: usize| next_heap_size(n.min(MAX_FIRST_HEAP));
    o.min_heap_size = o.min_heap_size.map(least);
    spawn_with(Some(p), m.0, m.1, m.2, o)
}
fn plain<'h>(p: &'h Proc, a: &[Term<'h>], mut o: SpawnOptions) -> BifResult<'h> {
    if p.seq_token().is_some() {
        let options = if o.link { p.heap.list(&[am::link.into()]) } else { Term::NIL };
        o.request = request(p, options, None, false);
    }
    let m = mfa(a).ok_or_else(|| p.badarg())?;
    let s = start(p, m, &mut o).ok_or_else(|| p.system_limit())?;
    let pid = Term::local_pid(s.pid);
    s.go();
    Ok(pid)
}
fn spawn_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    plain(p, a, SpawnOptions::default())
}
fn spawn_link_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    plain(p, a, SpawnOptions { link: true, ..SpawnOptions::default() })
}
fn spawn_system_process_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    plain(p, a, SpawnOptions { system: true, ..SpawnOptions::default() })
}

fn spawn_opt_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut o = SpawnOptions::default();
    // Errors in the options are reported first.
    let all = a[3].list_to_vec().ok_or_else(|| p.badarg_because(am::badopt))?;
    for t in all {
        option(&mut o, &mut None, t).ok_or_else(|| p.badarg_because(am::badopt))?;
    }
    if !o.heap_fits() {
        return Err(p.badarg_because(am::badopt));
    }
    let m = mfa(a).ok_or_else(|| p.badarg())?;
    let has_alias = o.monitor.as_ref().is_some_and(|m| m.alias.is_some());
    o.request = request(p, a[3], None, false);
    let s = start(p, m, &mut o).ok_or_else(|| p.system_limit())?;
    let pid = Term::local_pid(s.pid);
    let r = s.monitor.map(|id| reference(p, id, has_alias));
    s.go();
    Ok(match r {
        Some(r) => p.heap.tuple(&[pid, r]),
        None => pid,
    })
}
fn reference<'h>(p: &'h Proc, id: kvik_proc::RefId, alias: bool) -> Term<'h> {
    if alias {
        p.heap.alias_ref_of_numbers(id.0, p.pid())
    } else {
        id.term(&p.heap)
    }
}

/// Returns atoms for errors, which `erlang.erl` raises; a failure to spawn comes as a message.
fn spawn_request_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(m) = mfa(a) else { return Ok(am::badarg.into()) };
    let Some(all) = a[3].list_to_vec() else { return Ok(am::badopt.into()) };
    let mut o = SpawnOptions::default();
    let mut r = SpawnReply::default();
    // Parse all options: those for the reply may follow an invalid one.
    let bad = all.into_iter().filter(|t| option(&mut o, &mut Some(&mut r), *t).is_none()).count();
    let good = bad == 0 && o.heap_fits();
    let has_alias = o.monitor.as_ref().is_some_and(|m| m.alias.is_some());
    o.request = request(p, a[3], r.tag.as_ref(), true);
    let spawned = if good { start(p, m, &mut o) } else { None };
    let (id, what, value) = match &spawned {
        Some(s) => (s.monitor.or(s.request), am::ok, Term::local_pid(s.pid)),
        None => (None, am::error, Term::atom(if good { am::system_limit } else { am::badopt })),
    };
    let r_term = reference(
        p,
        id.unwrap_or_else(kvik_proc::RefId::next),
        has_alias && spawned.as_ref().is_some_and(|s| s.monitor.is_some()),
    );
    if if spawned.is_some() { r.success } else { r.error } {
        let m = message(|h| {
            let tag = r.tag.as_ref().map_or(am::spawn_reply.into(), |t| h.copy(t.term()));
            h.tuple(&[tag, h.copy(r_term), what.into(), value])
        });
        match &spawned {
            Some(s) if s.request.is_some() => s.proc().seq_answer(p, m),
            s => {
                let from =
                    s.as_ref().map_or(kvik_proc::node::name().into(), |s| Term::local_pid(s.pid));
                deliver_from(p.pid(), from, m);
            }
        }
    }
    if let Some(s) = spawned {
        s.go();
    }
    Ok(r_term)
}
