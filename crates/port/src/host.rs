//! [`Host`]: what ports need from processes. `vm` installs it before the first port is opened.

use std::sync::OnceLock;

use kvik_heap::OwnedTerm;
use kvik_term::{Atom, Term};

pub trait Host: Send + Sync {
    /// Puts a message from a port, or the system, into a process's mailbox; drops it if there is no
    /// such process.
    fn send(&self, pid: u32, from: Term<'static>, message: OwnedTerm);
    /// Resumes a process that was told to wait for a port.
    fn resume(&self, pid: u32);
    /// Sends an exit signal from a port to a linked process; the link is removed on both sides.
    fn exit(&self, pid: u32, port: u32, reason: OwnedTerm);
    /// A monitor fires: `{'DOWN', Ref, port, Item, Reason}`, where `Item` is the port or
    /// `{Name, node()}`.
    fn down(&self, pid: u32, monitor: [u32; 3], port: u32, name: Option<Atom>, reason: OwnedTerm);
    /// Links a process to a port on the process's side. `false`: no such process.
    fn link(&self, pid: u32, port: Term<'static>) -> bool;
    /// Removes a link on the process's side.
    fn unlink(&self, pid: u32, port: Term<'static>);
    fn is_alive(&self, pid: u32) -> bool;
    /// The name a port is registered under.
    fn name_of(&self, port: u32) -> Option<Atom>;
    /// A port is gone, and its name with it.
    fn unregister(&self, port: u32);
    /// The pid or port registered under this name.
    fn whereis(&self, name: Atom) -> Option<Term<'static>>;
}

kvik_state::vm_state! {
    static HOST: OnceLock<&'static dyn Host> = OnceLock::new();
}

/// The first call counts.
pub fn install(h: &'static dyn Host) {
    let _ = HOST.set(h);
}
pub fn host() -> Option<&'static dyn Host> {
    HOST.get().copied()
}
