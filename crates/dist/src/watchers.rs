//! Remote processes that monitor local ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::{control, Control};
use kvik_proc::{RefId, RemotePid};
use kvik_term::Term;

use crate::node::{lock_soon, RemoteNode, RemoteRef};

/// A remote process that monitors a local one.
pub struct RemoteWatcher {
    pub node: Arc<RemoteNode>,
    pub id: u32,
    pub watcher: RemotePid,
    pub key: RemoteRef,
    pub reference: OwnedTerm,
    /// Our pid, or the registered name.
    pub watched: Term<'static>,
    pub pid: u32,
}

kvik_state::vm_state! {
    /// By the monitor's local reference.
    static WATCHERS: Mutex<BTreeMap<RefId, RemoteWatcher>> = Mutex::new(BTreeMap::new());
}

fn watchers() -> MutexGuard<'static, BTreeMap<RefId, RemoteWatcher>> {
    WATCHERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// The remote process that monitors by this reference.
pub fn watcher(h: &Heap, id: RefId) -> Option<Term<'_>> {
    watchers().get(&id).map(|w| w.watcher.term(h))
}

/// Which of our processes a node's processes monitor over that connection, and which do. Nothing if
/// the table stays locked.
pub fn of(node: &RemoteNode, id: u32) -> Vec<(u32, RemotePid)> {
    let Some(all) = lock_soon(&WATCHERS) else { return Vec::new() };
    let here = all.values().filter(|w| w.node.name == node.name && w.id == id);
    here.map(|w| (w.pid, w.watcher)).collect()
}

/// A remote process's monitor: its target and the remote reference.
pub struct RemoteMonitor<'a> {
    pub watcher: RemotePid,
    pub key: RemoteRef,
    pub reference: Term<'a>,
    pub watched: Term<'static>,
    pub pid: u32,
}

/// Adds a remote monitor and returns its local reference. `None`: the connection is gone.
pub fn add_watcher(node: &Arc<RemoteNode>, id: u32, w: RemoteMonitor<'_>) -> Option<RefId> {
    let own = RefId::next();
    let RemoteMonitor { watcher, key, reference, watched, pid } = w;
    let reference = OwnedTerm::new(reference);
    let (node, at) = (node.clone(), key.clone());
    let w = RemoteWatcher { node: node.clone(), id, watcher, key, reference, watched, pid };
    // Insert before the connection knows the reference, as its loss removes all it knows.
    watchers().insert(own, w);
    let before = node.lock_up(id).map(|mut s| s.watched.insert(at, own));
    if before.is_none() {
        watchers().remove(&own);
    }
    before?.into_iter().for_each(forget_watcher);
    Some(own)
}
/// Removes a monitor that was cancelled or whose node is unreachable.
pub fn forget_watcher(id: RefId) {
    let gone = watchers().remove(&id);
    if let Some(w) = gone {
        control(w.pid, Control::Demonitor { id });
    }
}
/// Removes and returns the watcher to notify.
pub fn take(id: RefId) -> Option<RemoteWatcher> {
    watchers().remove(&id)
}
