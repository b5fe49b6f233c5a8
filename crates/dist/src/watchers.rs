//! Processes of other nodes that watch ours.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::{control, Control};
use kvik_proc::{RefId, RemotePid};
use kvik_term::Term;

use crate::node::{Node, RemoteRef};

/// A process of another node that watches one of ours.
pub struct Watcher {
    pub node: Arc<Node>,
    pub id: u32,
    pub watcher: RemotePid,
    pub key: RemoteRef,
    pub reference: OwnedTerm,
    /// Our pid, or the name.
    pub watched: Term<'static>,
    pub pid: u32,
}

kvik_state::vm_state! {
    /// By the reference the monitor has here.
    static WATCHERS: Mutex<BTreeMap<RefId, Watcher>> = Mutex::new(BTreeMap::new());
}

fn watchers() -> MutexGuard<'static, BTreeMap<RefId, Watcher>> {
    WATCHERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Who watches by this reference.
pub fn watcher(h: &Heap, id: RefId) -> Option<Term<'_>> {
    watchers().get(&id).map(|w| w.watcher.term(h))
}

/// What another node's process watches, and by which reference of its.
pub struct Watch<'a> {
    pub watcher: RemotePid,
    pub key: RemoteRef,
    pub reference: Term<'a>,
    pub watched: Term<'static>,
    pub pid: u32,
}

/// A monitor of another node's: the reference it has here. `None`: the connection is gone.
pub fn add_watcher(node: &Arc<Node>, id: u32, w: Watch<'_>) -> Option<RefId> {
    let own = RefId::next();
    let Watch { watcher, key, reference, watched, pid } = w;
    let reference = OwnedTerm::new(reference);
    let (node, at) = (node.clone(), key.clone());
    let w = Watcher { node: node.clone(), id, watcher, key, reference, watched, pid };
    // Before the connection knows it, which forgets it when it is lost.
    watchers().insert(own, w);
    let before = node.lock_up(id).map(|mut s| s.watched.insert(at, own));
    if before.is_none() {
        watchers().remove(&own);
    }
    before?.into_iter().for_each(forget_watcher);
    Some(own)
}
/// It watches no more, or cannot be told any more.
pub fn forget_watcher(id: RefId) {
    let gone = watchers().remove(&id);
    if let Some(w) = gone {
        control(w.pid, Control::Demonitor { id });
    }
}
/// Takes out who is to be told.
pub fn take(id: RefId) -> Option<Watcher> {
    watchers().remove(&id)
}
