//! Establishes a connection: from now on a port or process carries it, and signals held meanwhile
//! are sent.

use std::sync::Arc;

use kvik_port::Channel;
use kvik_proc::signal::post;
use kvik_proc::signal_handlers::resume;
use kvik_term::{am, Term};

use crate::connect::down;
use crate::node::{Controller, Phase, RemoteNode};
use crate::signal::DistFlags;
use crate::{node_events, receive, spawn_request};

/// A connection carried by a port.
struct Carried {
    node: Arc<RemoteNode>,
    id: u32,
}
impl Channel for Carried {
    fn take(&self, packet: &[u8]) -> bool {
        receive::packet(&self.node, self.id, packet)
    }
    fn next(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.node.next(self.id)
    }
    fn ended(&self, reason: Term<'_>) {
        down(&self.node, self.id, Some(reason));
    }
}

/// Called after the handshake. `None`: not a valid controller, or no connection is pending.
pub fn up(
    node: &Arc<RemoteNode>,
    c: Controller,
    (flags, creation): (DistFlags, u32),
    setup: u32,
    kernel: u32,
) -> Option<()> {
    let id = {
        let s = node.lock();
        (s.phase == Phase::Pending && s.controller.is_none()).then_some(s.id)?
    };
    if let Controller::Port(n) = c {
        let port = kvik_port::table::get(n)?;
        if !port.carry(Arc::new(Carried { node: node.clone(), id })) {
            return None;
        }
    }
    // Sent before any process learns of the node.
    post(kernel, |h| {
        h.tuple(&[am::dist_ctrlr.into(), c.term(), node.name.into(), Term::local_pid(setup)])
    });
    let mut resumed = Vec::new();
    let unknown = {
        let mut s = node.lock();
        if s.phase != Phase::Pending || s.id != id {
            return None;
        }
        s.phase = Phase::Up;
        (s.controller, s.flags, s.creation) = (Some(c), flags, creation);
        s.process = Default::default();
        (s.bytes, s.busy) = (0, false);
        for held in std::mem::take(&mut s.held) {
            if let Some((from, signal)) = held.encode(flags) {
                s.push(from, signal, &mut resumed);
            }
        }
        if !s.busy {
            s.end_busy(&mut resumed);
        }
        let none = std::collections::BTreeMap::new();
        match flags.has(DistFlags::SPAWN) {
            true => none,
            false => std::mem::take(&mut s.spawns),
        }
    };
    spawn_request::failed(unknown, am::notsup);
    node.kick();
    resumed.into_iter().for_each(|pid| resume(pid, pid));
    node_events::tell_all(am::nodeup, node.name, Some(id), flags.published(), None);
    Some(())
}
