//! `erts_debug:get_internal_state({link_list | monitor_list, Pid})`: the links and monitors of a
//! process, as the records that OTP's suites expect.

use kvik_heap::Heap;
use kvik_proc::hooks::hooks;
use kvik_proc::links_monitors::{LinkState, MonitoredBy, Monitoring, Target};
use kvik_proc::signal::RefId;
use kvik_proc::{BifResult, Proc, ABROAD};
use kvik_term::{am, Term};

use crate::process;

/// `what` builds the list of a process on a heap.
fn list_of<'h>(
    p: &'h Proc,
    pid: Term<'h>,
    what: for<'a> fn(&Proc, &'a Heap) -> Term<'a>,
) -> BifResult<'h> {
    let Some(n) = pid.as_local_pid() else { return Ok(am::undefined.into()) };
    if n == p.pid() {
        p.handle_all_signals();
        p.check_exit()?;
        return Ok(what(p, &p.heap));
    }
    Err(process::ask(p, n, move |of, h| of.map_or(am::undefined.into(), |of| what(of, h))))
}

pub fn links<'h>(p: &'h Proc, pid: Term<'h>) -> BifResult<'h> {
    list_of(p, pid, |p, h| {
        let all =
            p.cold(|x| x.links.values().rev().copied().collect::<Vec<_>>()).unwrap_or_default();
        let rows = all.into_iter().map(|l| {
            let kind = if l.peer.as_local_port().is_some() { am::port } else { am::process };
            let (state, id) = match l.state {
                LinkState::Linked => (am::linked, Term::NIL),
                LinkState::Unlinking(id) => (am::unlinking, h.unsigned(id)),
            };
            h.tuple(&[am::erl_link.into(), kind.into(), l.peer, state.into(), id])
        });
        h.list(&rows.collect::<Vec<_>>())
    })
}

pub fn monitors<'h>(p: &'h Proc, pid: Term<'h>) -> BifResult<'h> {
    list_of(p, pid, |p, h| {
        let rows = p.cold(|x| {
            let own = x.monitoring.iter().rev().map(|(id, m)| watching(h, id, m));
            own.chain(x.monitored_by.iter().map(|(id, m)| watched(h, &id.0, m))).collect::<Vec<_>>()
        });
        h.list(&rows.unwrap_or_default())
    })
}

fn row<'h>(h: &'h Heap, five: [Term<'h>; 5]) -> Term<'h> {
    let [kind, side, id, other, extra] = five;
    h.tuple(&[am::erl_monitor.into(), kind, side, id, other, extra])
}
fn watching<'h>(h: &'h Heap, id: &RefId, m: &Monitoring) -> Term<'h> {
    let (kind, other, extra) = match &m.target {
        Target::Process(n) => (am::process, Term::local_pid(*n), Term::NIL),
        Target::Port(n) => (am::port, Term::local_port(*n), Term::NIL),
        Target::Named { pid, port, name, .. } => {
            (if *port { am::port } else { am::process }, *pid, (*name).into())
        }
        Target::TimeOffset => (am::time_offset, am::clock_service.into(), Term::NIL),
        Target::Remote(t) => (am::dist_process, h.copy(t.term()), Term::NIL),
    };
    row(h, [kind.into(), am::origin.into(), id.term(h), other, extra])
}
fn watched<'h>(h: &'h Heap, id: &RefId, m: &MonitoredBy) -> Term<'h> {
    let extra = m.name.map_or(Term::NIL, Term::from);
    let remote = (m.pid == ABROAD).then(|| (hooks().node.watcher)(h, *id)).flatten();
    let kind = if remote.is_some() { am::dist_process } else { am::process };
    let watcher = remote.unwrap_or(Term::local_pid(m.pid));
    row(h, [kind.into(), am::target.into(), id.term(h), watcher, extra])
}
