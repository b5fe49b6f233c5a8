//! The BIFs that OTP's `net_kernel` and `dist_util` call.

use std::sync::atomic::{AtomicU32, Ordering};

use kvik_heap::OwnedTerm;
use kvik_proc::process::flag;
use kvik_proc::signal::{deliver, Signal};
use kvik_proc::{bif, exit, node as this, registry, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, PidTerm, Term, View};

use crate::connect::{self, kill};
use crate::node::{self, handle, Controller, Phase};
use crate::signal::DistFlags;
use crate::{carrier, controller, names, node_events, node_monitors, spawn};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "dist_ctrl_get_data", 1, controller::get_data),
    bif!("erlang", "dist_ctrl_get_data_notification", 1, controller::data_notification),
    bif!("erlang", "dist_ctrl_get_opt", 2, controller::get_opt),
    bif!("erlang", "dist_ctrl_input_handler", 2, controller::input_handler),
    bif!("erlang", "dist_ctrl_put_data", 2, controller::put_data),
    bif!("erlang", "dist_ctrl_set_opt", 3, controller::set_opt),
    bif!("erlang", "dist_get_stat", 1, dist_get_stat_1),
    bif!("erlang", "setnode", 2, setnode_2),
    bif!("erts_internal", "get_creation", 0, get_creation_0),
    bif!("erts_internal", "get_dflags", 0, get_dflags_0),
    bif!("erts_internal", "abort_pending_connection", 2, abort_pending_connection_2),
    bif!("erts_internal", "create_dist_channel", 3, create_dist_channel_3),
    bif!("erts_internal", "new_connection", 1, new_connection_1),
    bif!("erts_internal", "dist_spawn_request", 4, spawn::request),
    bif!("erlang", "spawn_request_abandon", 1, spawn::abandon),
    bif!("erlang", "monitor_node", 2, node_monitors::monitor_node),
    bif!("erlang", "monitor_node", 3, node_monitors::monitor_node),
    bif!("erlang", "nodes", 0, names::nodes_0),
    bif!("erlang", "nodes", 1, names::nodes_1),
    bif!("erlang", "nodes", 2, names::nodes_2),
    bif!("net_kernel", "dflag_unicode_io", 1, dflag_unicode_io_1),
];

kvik_state::vm_state! {
    /// Pid number of the process whose exit makes this node not alive; `u32::MAX` if there is none.
    static NET_KERNEL: AtomicU32 = AtomicU32::new(u32::MAX);
}

/// Called when a process has ended.
pub fn ended(p: &Proc) {
    if NET_KERNEL.load(Ordering::Relaxed) == p.pid() {
        kernel_ended();
    }
    if p.flag(flag::WATCHES_NODES) {
        node_monitors::forget(p.pid());
        controller_ended(p);
    }
}
#[cold]
fn kernel_ended() {
    NET_KERNEL.store(u32::MAX, Ordering::Relaxed);
    let name = this::name();
    for node in node::all() {
        let (phase, id, controller) = {
            let s = node.lock();
            (s.phase, s.id, s.controller)
        };
        if phase == Phase::Up {
            connect::down(&node, id, Some(am::net_kernel_terminated.into()));
        } else {
            connect::down(&node, id, None);
        }
        controller.into_iter().for_each(|c| kill(c, am::net_kernel_terminated));
    }
    this::set(am::nonode_nohost, 0);
    let reason = OwnedTerm::immediate(am::net_kernel_terminated.into());
    node_events::tell_all(am::nodedown, name, None, true, Some(&reason));
}
/// Ends the connections that a process controlled.
fn controller_ended(p: &Proc) {
    let reason = || {
        let reason = p.cold(|x| x.exit_reason.clone()).flatten().unwrap_or_default();
        match reason.term().as_tuple_n::<2>() {
            Some([k, why]) if k == am::shutdown => OwnedTerm::new(why),
            _ => reason,
        }
    };
    for node in node::all() {
        let s = node.lock();
        let (own, id) = (s.controller == Some(Controller::Process(p.pid())), s.id);
        drop(s);
        if own {
            connect::down(&node, id, Some(reason().term()));
        }
    }
}

/// Checks for one `@`, letters, digits, `-` and `_` before it, and at least one character behind
/// it.
fn is_node_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && name.chars().all(fine) && !host.is_empty() && !host.contains('@')
    })
}
fn node_name(t: Term<'_>) -> Option<Atom> {
    t.as_atom().filter(|n| is_node_name(n.name()))
}

fn setnode_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = node_name(a[0]).filter(|n| *n != am::nonode_nohost);
    let creation = a[1].as_usize().and_then(|n| u32::try_from(n).ok());
    let kernel = registry::whereis_process(am::net_kernel);
    match (name, creation, kernel) {
        (Some(name), Some(creation), Some(kernel)) if !this::is_alive() => {
            NET_KERNEL.store(kernel, Ordering::Relaxed);
            this::set(name, creation);
            node_events::tell_all(am::nodeup, name, None, true, None);
            Ok(Term::bool(true))
        }
        _ => Err(p.badarg()),
    }
}
fn get_creation_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(match this::is_alive() {
        true => p.heap.unsigned(this::creation() as u64),
        false => am::undefined.into(),
    })
}
/// The flags that we offer, those a node must have, those controllers may add or refuse, and those
/// that require packets in order, which some controllers cannot guarantee.
fn get_dflags_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = [
        DistFlags::offered(),
        DistFlags::mandatory(),
        DistFlags::offered(),
        DistFlags::REJECTABLE,
        DistFlags::DIST_HDR_ATOM_CACHE,
    ];
    let mut parts = vec![am::erts_dflags.into()];
    parts.extend(all.map(|n| p.heap.unsigned(n)));
    Ok(p.heap.tuple(&parts))
}

/// `{Number, Handle}` of the existing connection, or of a new pending one.
fn new_connection_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = node_name(a[0]).filter(|n| *n != this::name()).ok_or_else(|| p.badarg())?;
    if !this::is_alive() && registry::whereis_process(am::net_kernel).is_none() {
        return Err(p.notsup());
    }
    let node = node::of(name);
    let mut s = node.lock();
    if s.phase == Phase::Idle {
        s.begin();
    }
    Ok(s.handle(&p.heap, &node))
}
/// False if the connection was established meanwhile.
fn abort_pending_connection_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().ok_or_else(|| p.badarg())?;
    let (node, id) = handle(a[1]).filter(|h| h.0.name == name).ok_or_else(|| p.badarg())?;
    let up = node.lock_up(id).is_some();
    if !up {
        connect::down(&node, id, None);
    }
    Ok(Term::bool(!up))
}

/// Called after the handshake: `{ok, Handle}`, or an error atom. If a process is to control the
/// connection, it must agree first, and the result comes as a message.
fn create_dist_channel_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let kernel = NET_KERNEL.load(Ordering::Relaxed);
    let arguments = || {
        let name = node_name(a[0]).filter(|n| *n != this::name() && kernel != u32::MAX)?;
        let [flags, creation] = a[2].as_tuple_n()?;
        let creation = u32::try_from(creation.as_u64()?).ok()?;
        let controller = match a[1].view() {
            View::Pid(PidTerm::Local(n)) => Controller::Process(n),
            _ => Controller::Port(a[1].as_local_port()?),
        };
        Some((name, controller, DistFlags(flags.as_u64()?), creation))
    };
    let Some((name, controller, flags, creation)) = arguments() else {
        return Ok(am::badarg.into());
    };
    if !flags.has(DistFlags::mandatory()) {
        const FORMAT: &str = "~p attempted to enable connection to node ~p which does not support \
                              all mandatory capabilities.~n";
        exit::log_error(p, FORMAT, |h| h.list(&[p.self_pid(), name.into()]));
        return Ok(am::badarg.into());
    }
    let node = node::of(name);
    if carrier::up(&node, controller, (flags, creation), p.pid(), kernel).is_none() {
        return Ok(am::badarg.into());
    }
    if let Controller::Process(pid) = controller {
        let mark = |p: Option<&Proc>| {
            if let Some(p) = p {
                p.set_flag(flag::WATCHES_NODES, true);
            }
        };
        match pid == p.pid() {
            true => mark(Some(p)),
            false => {
                deliver(pid, Signal::Run(Box::new(mark)));
            }
        }
    }
    let handle = node.lock().handle(&p.heap, &node);
    Ok(p.heap.tuple(&[am::ok.into(), handle]))
}

/// `{ok, Received, Sent, PendingBytes}`; all 0 once the connection is lost, until there is another.
fn dist_get_stat_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = handle(a[0]).ok_or_else(|| p.badarg())?;
    let s = node.lock();
    if s.id != id {
        return Err(p.badarg());
    }
    let n = |n: u64| p.heap.unsigned(n);
    Ok(p.heap.tuple(&[am::ok.into(), n(s.received), n(s.sent), n(s.bytes as u64)]))
}

/// Whether the process's node writes Unicode text.
fn dflag_unicode_io_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = match a[0].view() {
        View::Pid(PidTerm::Local(_)) => return Ok(Term::bool(true)),
        View::Pid(PidTerm::External(e)) => e.node(),
        _ => return Err(p.badarg()),
    };
    let knows = |n: std::sync::Arc<node::RemoteNode>| n.lock().flags.has(DistFlags::UNICODE_IO);
    Ok(Term::bool(name == this::name() || node::known(name).is_some_and(knows)))
}
