//! Connections between nodes.
//!
//! OTP's Erlang code does the handshake; then `setnode/3` hands over the socket's port (or a
//! process), and all signals to and from the other node go through it. A [`node::RemoteNode`] is
//! what we know of another node; [`signal`] writes signals, [`receive`] reads them, [`spawn`]
//! creates processes on either side. See `docs/internals/distribution.md`.
#![forbid(unsafe_code)]

mod bifs;
mod carrier;
mod connect;
mod controller;
mod encoded;
mod fragments;
mod names;
mod node;
mod node_events;
mod node_monitors;
mod packet;
mod receive;
mod rejected;
mod report;
mod send;
mod sender;
mod signal;
mod spawn;
mod spawn_request;
mod watchers;

pub use node::set_busy_limit;

use kvik_proc::hooks::NodeHooks;
use kvik_proc::BifEntry;

pub const BIFS: &[BifEntry] = bifs::BIFS;

/// For `kvik_proc::Hooks`.
pub const HOOKS: NodeHooks = NodeHooks {
    send: send::send,
    tell: send::tell,
    watcher: watchers::watcher,
    creation: node::creation,
    controllers: node::controllers,
    monitor_nodes: node_events::monitor_nodes,
    watchers: node_events::watchers,
    report: report::sections,
};

/// Installs the hooks; must run before the first process ends.
pub fn install() {
    kvik_proc::hooks::on_exit(bifs::ended);
}
