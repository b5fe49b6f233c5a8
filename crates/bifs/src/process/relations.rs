//! Links, monitors, aliases, exit signals.

use kvik_heap::{OwnedTerm, SuspendedState};
use kvik_proc::links_monitors::{AliasKind, MonitorOptions, Monitoring, Target};
use kvik_proc::process::flag;
use kvik_proc::remote::RemoteSignal;
use kvik_proc::signal::{deliver, RefId, Signal};
use kvik_proc::{bif, node, registry, BifEntry, BifResult, Proc, Raised, RemotePid};
use kvik_term::{am, Atom, PidTerm, PortTerm, Ref, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "link", 1, link_1),
    bif!("erlang", "unlink", 1, unlink_1),
    bif!("erlang", "monitor", 2, monitor_2),
    bif!("erlang", "monitor", 3, monitor_3),
    bif!("erlang", "demonitor", 1, demonitor_1),
    bif!("erlang", "demonitor", 2, demonitor_2),
    bif!("erlang", "alias", 0, alias_0),
    bif!("erlang", "alias", 1, alias_1),
    bif!("erlang", "unalias", 1, unalias_1),
    bif!("erlang", "exit", 2, exit_2),
    bif!("erlang", "exit_signal", 2, exit_signal_2),
    bif!("erlang", "link", 2, link_2, since 28),
    bif!("erlang", "exit", 3, exit_3, since 28),
    bif!("erlang", "exit_signal", 3, exit_signal_3, since 28),
];

fn exit_to_self<'h>(p: &'h Proc, from: Term<'h>, reason: Atom) {
    let reason = OwnedTerm::immediate(Term::atom(reason));
    let m = kvik_proc::signal::message(|h| {
        h.tuple(&[am::UP_EXIT.into(), h.copy(from), h.copy(reason.term())])
    });
    deliver(p.pid(), Signal::Message(m));
}

/// The option of a link: the exit signal is to be a priority message.
pub(super) fn link_options(t: Term<'_>) -> Option<bool> {
    let mut options = t.list();
    let mut priority = false;
    for o in options.by_ref() {
        (o == am::priority).then_some(())?;
        priority = true;
    }
    options.rest.is_nil().then_some(priority)
}
fn link_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    link(p, a[0], false)
}
fn link_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let priority = link_options(a[1]).ok_or_else(|| p.badarg_because(am::badopt))?;
    link(p, a[0], priority)
}
fn link<'h>(p: &'h Proc, peer: Term<'h>, priority: bool) -> BifResult<'h> {
    match peer.view() {
        View::Pid(PidTerm::Local(_)) | View::Port(PortTerm::Local(_)) => {
            let to = peer.immediate().ok_or_else(|| p.badarg())?;
            if p.link(to) {
                if !to.same(p.self_pid()) {
                    p.prioritize_link(to, priority);
                }
                return Ok(true.into());
            }
            if !p.flag(flag::TRAP_EXIT) {
                return Err(p.error(am::noproc));
            }
            match priority {
                true => p.link_to_ended(peer, am::noproc),
                false => exit_to_self(p, peer, am::noproc),
            }
            Ok(true.into())
        }
        View::Pid(PidTerm::External(_)) => {
            let to = RemotePid::of(peer).filter(|_| !node::is_own(peer));
            if to.is_some_and(|to| p.link_remote(to)) {
                p.prioritize_link(peer, priority);
                return Ok(true.into());
            }
            if p.flag(flag::TRAP_EXIT) {
                match priority {
                    true => p.link_to_ended(peer, am::noconnection),
                    false => exit_to_self(p, peer, am::noconnection),
                }
            } else {
                let reason = OwnedTerm::immediate(Term::atom(am::noconnection));
                p.begin_exit(reason);
                p.check_exit()?;
            }
            Ok(true.into())
        }
        _ => Err(p.badarg()),
    }
}
fn unlink_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].view() {
        View::Pid(PidTerm::Local(_)) | View::Port(PortTerm::Local(_)) => {
            if let Some(from) = a[0].immediate() {
                p.unlink(from);
            }
            Ok(true.into())
        }
        View::Pid(_) => {
            if let Some(from) = RemotePid::of(a[0]) {
                p.unlink_remote(from);
            }
            Ok(true.into())
        }
        View::Port(_) => Ok(true.into()),
        _ => Err(p.badarg()),
    }
}

/// The target of a monitor of this kind and item. A local name is resolved here.
fn target<'h>(kind: Term<'h>, item: Term<'h>) -> Option<Target> {
    let is_port = kind == am::port;
    match (kind.as_atom()?, item.view()) {
        (am::process, View::Pid(_)) => Some(Target::Remote(OwnedTerm::new(item))),
        // What no port can have as a number is reported as it was given.
        (am::port, View::Port(PortTerm::Local(n))) => Some(match u32::try_from(n) {
            Ok(n) => Target::Port(n),
            Err(_) => Target::Remote(OwnedTerm::new(item)),
        }),
        // A port of this node from before the node was started.
        (am::port, View::Port(_)) if node::is_own(item) => {
            Some(Target::Remote(OwnedTerm::new(item)))
        }
        (am::process | am::port, View::Atom(name)) => Some(named(name, is_port)),
        (am::process | am::port, View::Tuple(_)) => {
            let [name, at] = item.as_tuple_n()?;
            let (name, at) = (name.as_atom()?, at.as_atom()?);
            if at == node::name() {
                return Some(named(name, is_port));
            }
            (!is_port && node::is_alive()).then(|| Target::Remote(OwnedTerm::new(item)))
        }
        (am::time_offset, _) if item == am::clock_service => Some(Target::TimeOffset),
        _ => None,
    }
}
fn named(name: Atom, port: bool) -> Target {
    let is_kind = |t: &Term<'static>| {
        if port {
            t.as_local_port().is_some()
        } else {
            t.as_local_pid().is_some()
        }
    };
    let pid = registry::whereis(name).filter(is_kind);
    Target::Named { pid: pid.unwrap_or(Term::NIL), port, name, node: node::name() }
}

fn start<'h>(
    p: &'h Proc,
    target: Target,
    MonitorOptions { tag, alias, priority }: MonitorOptions,
) -> Term<'h> {
    let id = RefId::next_for(alias.is_some());
    // A process that monitors itself only gets the reference: no monitor, and no alias either, as
    // in OTP.
    let own = match &target {
        Target::Process(n) => *n == p.pid(),
        Target::Named { pid, .. } => pid.same(p.self_pid()),
        _ => false,
    };
    if !own {
        if priority {
            p.prioritize_monitor(id);
        }
        p.monitor(id, Monitoring { target, tag, alias });
    }
    match alias {
        Some(_) => p.heap.alias_ref_of_numbers(id.0, p.pid()),
        None => id.term(&p.heap),
    }
}
fn monitored<'h>(p: &'h Proc, kind: Term<'h>, item: Term<'h>) -> Result<Target, Raised> {
    if let (true, Some(n)) = (kind == am::process, item.as_local_pid()) {
        return Ok(Target::Process(n));
    }
    if ![am::process, am::port, am::time_offset].iter().any(|k| kind == *k) {
        return Err(p.badarg_because(am::badtype));
    }
    target(kind, item).ok_or_else(|| p.badarg())
}
fn monitor_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let t = monitored(p, a[0], a[1])?;
    Ok(start(p, t, MonitorOptions::default()))
}
/// The options `{alias, Kind}`, `{tag, Term}` and `priority`.
pub(super) fn monitor_options(t: Term<'_>) -> Option<MonitorOptions> {
    let mut all = MonitorOptions::default();
    let mut options = t.list();
    for o in options.by_ref() {
        if o == am::priority && kvik_release::current().has_priority_messages() {
            all.priority = true;
            continue;
        }
        let [k, v] = o.as_tuple_n()?;
        match k.as_atom()? {
            am::tag => all.tag = Some(OwnedTerm::new(v)),
            am::alias => {
                all.alias = Some(match v.as_atom()? {
                    am::explicit_unalias => AliasKind::ExplicitUnalias,
                    am::demonitor => AliasKind::Demonitor,
                    am::reply_demonitor => AliasKind::ReplyDemonitor,
                    _ => return None,
                })
            }
            _ => return None,
        }
    }
    options.rest.is_nil().then_some(all)
}
fn monitor_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // Errors in the options are reported first.
    let options = monitor_options(a[2]).ok_or_else(|| p.badarg_because(am::badopt))?;
    let t = monitored(p, a[0], a[1])?;
    Ok(start(p, t, options))
}

fn demonitor_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_ref() {
        Some(Ref::Local(r)) => {
            p.demonitor(RefId::of(r));
            Ok(true.into())
        }
        _ => Err(p.badarg()),
    }
}
fn demonitor_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (mut flush, mut info) = (false, false);
    let mut options = a[1].list();
    for o in options.by_ref() {
        match o.as_atom() {
            Some(am::flush) => flush = true,
            Some(am::info) => info = true,
            _ => return Err(p.badarg()),
        }
    }
    if !options.rest.is_nil() {
        return Err(p.badarg());
    }
    let Some(Ref::Local(r)) = a[0].as_ref() else { return Err(p.badarg()) };
    let id = RefId::of(r);
    let found = p.demonitor(id);
    let answer = found || !info;
    if flush && !found {
        let flush = kvik_code::export(am::erts_internal, am::flush_monitor_messages, 3);
        return Err(p.trap_in_next_turn(flush, &[a[0], false.into(), answer.into()]));
    }
    Ok(answer.into())
}

fn new_alias<'h>(p: &'h Proc, once: bool, priority: bool) -> Term<'h> {
    let id = RefId::next_for(true);
    if priority {
        p.prioritize_alias(id);
    }
    p.with_cold(|x| x.aliases.insert(id, once));
    p.heap.alias_ref_of_numbers(id.0, p.pid())
}
fn alias_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(new_alias(p, false, false))
}
fn alias_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (mut once, mut priority) = (false, false);
    for o in a[0].list_to_vec().ok_or_else(|| p.badarg())? {
        match o.as_atom() {
            Some(am::explicit_unalias) => once = false,
            Some(am::reply) => once = true,
            Some(am::priority) if kvik_release::current().has_priority_messages() => {
                priority = true
            }
            _ => return Err(p.badarg()),
        }
    }
    Ok(new_alias(p, once, priority))
}
fn unalias_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_ref() {
        Some(Ref::Local(r)) => {
            let id = RefId::of(r);
            p.end_priority_alias(id);
            Ok(p.with_cold(|x| x.end_alias(&id)).is_some().into())
        }
        Some(_) => Ok(false.into()),
        None => Err(p.badarg()),
    }
}

/// An exit signal from a process to itself. If it ends the process, it does so in the next time
/// slice, before any code runs. Otherwise it is handled like other signals.
fn exit_self<'h>(p: &'h Proc, own: Term<'static>, reason: Term<'h>) -> BifResult<'h> {
    if p.resumed::<Exiting>().is_none() {
        p.send_exit(own, reason);
        if reason != am::kill && p.flag(flag::TRAP_EXIT) {
            return Ok(true.into());
        }
        p.give_up_turn();
        return Err(p.again::<Exiting>((), None));
    }
    p.handle_all_signals();
    p.check_exit()?;
    Ok(true.into())
}
struct Exiting;
impl SuspendedState for Exiting {
    type In<'h> = ();
}
fn exit_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let priority = link_options(a[2]).ok_or_else(|| p.badarg_because(am::badopt))?;
    exit(p, a, priority, exit_self)
}
fn exit_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    exit(p, a, false, exit_self)
}
fn exit_signal_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let priority = link_options(a[2]).ok_or_else(|| p.badarg_because(am::badopt))?;
    exit(p, a, priority, signal_self)
}
fn exit_signal_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    exit(p, a, false, signal_self)
}
/// An exit signal to itself as to any other process: it goes on until it handles the signal, and
/// `normal` has no effect unless it traps exits.
fn signal_self<'h>(p: &'h Proc, own: Term<'static>, reason: Term<'h>) -> BifResult<'h> {
    if reason != am::normal || p.flag(flag::TRAP_EXIT) {
        p.send_exit(own, reason);
    }
    Ok(true.into())
}
type ToSelf = for<'h> fn(&'h Proc, Term<'static>, Term<'h>) -> BifResult<'h>;

/// Sends an exit signal; `to_self` does so if the process is the caller.
fn exit<'h>(p: &'h Proc, a: &[Term<'h>], priority: bool, to_self: ToSelf) -> BifResult<'h> {
    match a[0].view() {
        View::Ref(r) if kvik_release::current().has_priority_messages() => {
            match r {
                Ref::Local(_) => p.send_exit_to_alias(a[0], a[1], priority),
                Ref::External(_) => _ = p.tell_abroad(RemoteSignal::Exit(a[0], a[1], priority)),
            }
            Ok(true.into())
        }
        View::Pid(PidTerm::Local(_)) | View::Port(PortTerm::Local(_)) => {
            let Some(to) = a[0].immediate() else { return Ok(true.into()) };
            if !to.same(p.self_pid()) {
                p.send_exit(to, a[1]);
                return Ok(true.into());
            }
            to_self(p, to, a[1])
        }
        View::Pid(_) => {
            p.tell_abroad(RemoteSignal::Exit(a[0], a[1], priority));
            Ok(true.into())
        }
        View::Port(_) => Ok(true.into()),
        _ => Err(p.badarg()),
    }
}
