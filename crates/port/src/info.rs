//! What is told about ports, and what is done with all of them.

use std::sync::Arc;

use kvik_term::{Atom, Term};

use crate::port::Port;
use crate::table;

/// What `port_info` tells.
pub struct Info {
    pub name: Vec<u8>,
    pub owner: u32,
    pub links: Vec<u32>,
    pub monitored_by: Vec<u32>,
    pub registered: Option<Atom>,
    pub input: u64,
    pub output: u64,
    pub os_pid: Option<i32>,
    /// Processes that it monitors.
    pub monitors: Vec<u32>,
    pub queue_size: usize,
    pub parallelism: bool,
}

/// Writes out what was given to ports, before the VM halts.
pub fn flush_all() {
    for p in table::all() {
        p.flush();
    }
    crate::tty::restore();
}

/// The port of a term, where it is open or closing.
pub fn find(t: Term<'_>) -> Option<Arc<Port>> {
    table::get(t.as_local_port()?)
}
