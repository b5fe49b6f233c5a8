//! `monitor_node/2,3`: processes that monitor one node.

use kvik_proc::process::flag;
use kvik_proc::send::SendOptions;
use kvik_proc::signal::{deliver, message, Signal};
use kvik_proc::{node as this, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::{connect, node, node_events};

/// `monitor_node/2,3`
pub fn monitor_node<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(node), Some(on)) = (a.first(), a.get(1)) else {
        return Err(p.badarg());
    };
    let options = a.get(2).copied().unwrap_or(Term::NIL);
    let all = options.list_to_vec().ok_or_else(|| p.badarg_because(am::badopt))?;
    if !all.iter().all(|o| o.is_atom(am::allow_passive_connect)) {
        return Err(p.badarg_because(am::badopt));
    }
    let name = node.as_atom().ok_or_else(|| p.badarg())?;
    // A node that is not alive fails before it checks the flag.
    if name != am::nonode_nohost && !this::is_alive() {
        return Err(p.error(am::notalive));
    }
    let on = on.as_bool().ok_or_else(|| p.badarg())?;
    // Our own node is always up.
    if name != this::name() {
        match on {
            true if all.is_empty() => watch(p, name),
            true => return passive(p, a),
            false => watch_less(p, name),
        }
    }
    Ok(Term::bool(true))
}
fn watch(p: &Proc, name: Atom) {
    p.set_flag(flag::WATCHES_NODES, true);
    let record = |s: &mut node::NodeState| *s.node_monitors.entry(p.pid()).or_default() += 1;
    if connect::attach(&node::of(name), SendOptions::ANY, record).is_err() {
        let down = message(|h| h.tuple(&[am::nodedown.into(), name.into()]));
        deliver(p.pid(), Signal::Message(down));
    }
}
fn watch_less(p: &Proc, name: Atom) {
    let Some(node) = node::known(name) else { return };
    let mut s = node.lock();
    if let Some(n) = s.node_monitors.get_mut(&p.pid()) {
        *n -= 1;
        if *n == 0 {
            s.node_monitors.remove(&p.pid());
        }
    }
}
/// Monitors a node; without a connection it traps to Erlang code, which waits for one.
fn passive<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().ok_or_else(|| p.badarg())?;
    let node = node::of(name);
    let up = node.visible().is_some();
    if !up {
        return Err(p.trap_in_next_turn(kvik_code::export(am::erlang, am::dmonitor_node, 3), a));
    }
    watch(p, name);
    Ok(Term::bool(true))
}

/// Removes the node monitors of a process that has ended.
pub fn forget(pid: u32) {
    node_events::forget(pid);
    for node in node::all() {
        node.lock().node_monitors.remove(&pid);
    }
}
