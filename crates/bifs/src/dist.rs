//! Distribution, as far as it is there: a node can be made alive, and nobody can be connected with
//! it. A handshake ends where the channel would be made.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;

use kvik_heap::Heap;
use kvik_proc::signal::{deliver, message, Signal};
use kvik_proc::{bif, node, registry, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::census::{Found, Holder};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "dist_ctrl_get_data", 1, badarg),
    bif!("erlang", "dist_ctrl_get_data_notification", 1, badarg),
    bif!("erlang", "dist_ctrl_get_opt", 2, badarg),
    bif!("erlang", "dist_ctrl_input_handler", 2, badarg),
    bif!("erlang", "dist_ctrl_put_data", 2, badarg),
    bif!("erlang", "dist_ctrl_set_opt", 3, badarg),
    bif!("erlang", "setnode", 2, setnode_2),
    bif!("erts_internal", "get_creation", 0, get_creation_0),
    bif!("erts_internal", "abort_pending_connection", 2, abort_pending_connection_2),
    bif!("erts_internal", "create_dist_channel", 3, create_dist_channel_3),
    bif!("erts_internal", "new_connection", 1, new_connection_1),
    bif!("erlang", "monitor_node", 2, monitor_node),
    bif!("erlang", "monitor_node", 3, monitor_node),
];

/// The process with whose end the node is no longer alive; the number of none.
static NET_KERNEL: AtomicU32 = AtomicU32::new(u32::MAX);

pub fn install() {
    kvik_proc::hooks::on_exit(ended);
}
fn ended(p: &Proc) {
    if NET_KERNEL.load(Ordering::Relaxed) == p.pid() {
        NET_KERNEL.store(u32::MAX, Ordering::Relaxed);
        node::set(am::nonode_nohost, 0);
        pending().clear();
    }
}

/// Connections whose handshake is under way, each with its number, by the node's atom.
static PENDING: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());

fn pending() -> std::sync::MutexGuard<'static, BTreeMap<u32, u64>> {
    PENDING.lock().unwrap_or_else(|e| e.into_inner())
}

fn badarg<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.badarg())
}

/// Something before the only `@`, of letters, digits, `-` and `_`, and something behind it.
fn is_node_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && name.chars().all(fine) && !host.is_empty() && !host.contains('@')
    })
}

fn setnode_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().filter(|n| is_node_name(n.name()) && *n != am::nonode_nohost);
    let creation = a[1].as_usize().and_then(|n| u32::try_from(n).ok());
    let kernel = registry::whereis_process(am::net_kernel);
    match (name, creation, kernel) {
        (Some(name), Some(creation), Some(kernel)) if !node::is_alive() => {
            NET_KERNEL.store(kernel, Ordering::Relaxed);
            node::set(name, creation);
            Ok(Term::bool(true))
        }
        _ => Err(p.badarg()),
    }
}
fn get_creation_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(match node::is_alive() {
        true => p.heap.unsigned(node::creation() as u64),
        false => am::undefined.into(),
    })
}

/// `{Number, Handle}` of the connection that is being made.
fn new_connection_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let node = a[0].as_atom().filter(|n| *n != node::name()).ok_or_else(|| p.badarg())?;
    if !node::is_alive() {
        return Err(p.notsup());
    }
    let next = || NEXT.fetch_add(1, Ordering::Relaxed) as u64;
    let id = *pending().entry(node.index()).or_insert_with(next);
    Ok(p.heap.tuple(&[p.heap.unsigned(id), p.heap.make_ref()]))
}
/// Was it still being made?
fn abort_pending_connection_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let node = a[0].as_atom().ok_or_else(|| p.badarg())?;
    let id = a[1].as_tuple_n::<2>().and_then(|[id, _]| id.as_usize());
    let mut all = pending();
    let found = id.is_some() && all.get(&node.index()).map(|n| *n as usize) == id;
    if found {
        all.remove(&node.index());
    }
    Ok(Term::bool(found))
}
/// The other node has proved who it is, and there is nothing to talk to it with.
fn create_dist_channel_3<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(if node::is_alive() { p.notsup() } else { p.badarg() })
}

/// Watching a node that cannot be reached ends at once.
fn monitor_node<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(node), Some(on)) = (a.first(), a.get(1)) else {
        return Err(p.badarg());
    };
    let options = a.get(2).copied().unwrap_or(Term::NIL);
    let known = |o: Term<'_>| o.is_atom(am::allow_passive_connect);
    let (Some(name), Some(on), true) = (
        node.as_atom(),
        on.as_bool(),
        options.list_to_vec().is_some_and(|l| l.into_iter().all(known)),
    ) else {
        return Err(p.badarg());
    };
    // Our own node is always there.
    if name != node::name() {
        if !node::is_alive() {
            return Err(p.error(am::notalive));
        }
        if on {
            let down = message(|h| h.tuple(&[am::nodedown.into(), name.into()]));
            deliver(p.pid(), Signal::Message(down));
        }
    }
    Ok(Term::bool(true))
}

/// `{{node_references, [{Node, N, Holders}]}, {dist_references, ...}}`: who holds pids, ports and
/// references of which node. Our own node is always held, by the system.
pub fn references<'h>(h: &'h Heap, found: &Found) -> Term<'h> {
    let pair = |a: Term<'h>, b: Term<'h>| h.tuple(&[a, b]);
    let held = |who: Term<'h>, how: Atom, n: usize| {
        pair(who, h.list(&[pair(how.into(), h.integer(n as i64))]))
    };
    let entry = |what: Term<'h>, n: usize, held: &[Term<'h>]| {
        h.tuple(&[what, h.integer(n as i64), h.list(held)])
    };
    let name = |i: u32| Atom::from_index(i).unwrap_or(am::undefined).into();
    let node = |(i, creation): (u32, u32)| pair(name(i), h.integer(creation as i64));
    let own = (kvik_proc::node::name().index(), kvik_proc::node::creation());
    let by_system = || held(pair(am::system.into(), am::undefined.into()), am::system, 1);

    let mut holders: BTreeMap<(u32, u32), (usize, Vec<Term<'h>>)> = BTreeMap::new();
    holders.insert(own, (1, vec![by_system()]));
    for (&(key, who), &n) in found {
        let Some(key) = key else { continue };
        let (all, list) = holders.entry(key).or_default();
        *all += n;
        list.push(match who {
            Holder::Process(pid) => {
                held(pair(am::process.into(), Term::local_pid(pid)), am::heap, n)
            }
            Holder::Table(id) => {
                let table = kvik_ets::registry::by_id(id);
                let table = table.map(|t| kvik_ets::registry::reference(h, &t));
                held(pair(am::ets.into(), table.unwrap_or(am::undefined.into())), am::ets, n)
            }
        });
    }
    let nodes: Vec<_> = holders.iter().map(|(k, (n, l))| entry(node(*k), *n, l)).collect();

    let mut names: BTreeMap<u32, Vec<Term<'h>>> = BTreeMap::new();
    names.insert(own.0, vec![by_system()]);
    for &key in holders.keys() {
        let by_node = held(pair(am::node.into(), node(key)), am::node, 1);
        names.entry(key.0).or_default().push(by_node);
    }
    let dist: Vec<_> = names.iter().map(|(n, l)| entry(name(*n), l.len(), l)).collect();
    let rows = |of: Atom, rows: &[Term<'h>]| pair(of.into(), h.list(rows));
    pair(rows(am::node_references, &nodes), rows(am::dist_references, &dist))
}
