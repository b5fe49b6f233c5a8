//! Monitors of sockets on processes: their owners, and waiting processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use kvik_heap::Heap;
use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::requests::{PendingRequest, ACCEPTORS, READERS, WRITERS};
use crate::socket::{state, Socket, SocketState};

/// A monitored process, and the monitor's reference.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct SocketMonitor {
    id: RefId,
    pid: u32,
}

fn watchers() -> MutexGuard<'static, HashMap<RefId, Weak<Socket>>> {
    kvik_state::vm_state! {
        static WATCHERS: OnceLock<Mutex<HashMap<RefId, Weak<Socket>>>> = OnceLock::new();
    }
    WATCHERS.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// Monitors a process. `None`: there is no such process.
pub fn watch(socket: &Arc<Socket>, pid: u32) -> Option<SocketMonitor> {
    let id = RefId::next();
    watchers().insert(id, Arc::downgrade(socket));
    let m = Control::Monitor { from: signal::LIBRARY, id, name: None };
    if signal::try_control(pid, m).is_err() {
        watchers().remove(&id);
        return None;
    }
    Some(SocketMonitor { id, pid })
}
pub fn unwatch(m: SocketMonitor) {
    if watchers().remove(&m.id).is_some() {
        signal::control(m.pid, Control::Demonitor { id: m.id });
    }
}
/// Removes all monitors of a socket that is being dropped.
pub fn forget_all(s: &mut SocketState) {
    let owner = s.owner_monitor.take();
    let closer = s.closer.take().and_then(|c| c.monitor);
    owner.into_iter().chain(closer).for_each(unwatch);
    s.connector.take().into_iter().for_each(PendingRequest::release);
    for line in [READERS, WRITERS, ACCEPTORS] {
        let q = (line.queue)(s);
        let current = q.current.take();
        current.into_iter().chain(q.take_waiting()).for_each(PendingRequest::release);
    }
}

/// Handles the end of a monitored process. False: the reference is not a socket's.
pub fn down(dead: u32, id: RefId) -> bool {
    let Some(watcher) = watchers().remove(&id) else { return false };
    if let Some(socket) = watcher.upgrade() {
        let mut s = socket.lock();
        socket.process_ended(&mut s, SocketMonitor { id, pid: dead });
    }
    true
}
/// The socket that a monitor's reference belongs to.
pub fn watcher(heap: &Heap, id: RefId) -> Option<Term<'_>> {
    let socket = watchers().get(&id).and_then(Weak::upgrade)?;
    Some(socket.term(heap))
}

impl Socket {
    fn process_ended(&self, s: &mut SocketState, m: SocketMonitor) {
        let is_closer = s.closer.as_ref().is_some_and(|c| c.pid == m.pid);
        if is_closer {
            s.closer = None;
            if s.owner_monitor == Some(m) {
                (s.owner, s.owner_monitor) = (None, None);
            }
            self.close_for_good(s);
        } else if s.owner_monitor == Some(m) {
            self.owner_ended(s);
        } else if s.connector.as_ref().is_some_and(|c| c.monitor == Some(m)) {
            s.connector = None;
            s.write_state &= !state::CONNECTING;
        } else if s.read_state & state::CLOSED == 0 {
            for line in [READERS, ACCEPTORS, WRITERS] {
                self.requester_ended(s, line, m.pid, m);
            }
        }
    }
}
