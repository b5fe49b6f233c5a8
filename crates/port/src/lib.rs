//! Ports: objects with an owner, links and monitors in front of a driver: programs, descriptors
//! and whatever else a [`driver::Driver`] does.
//!
//! A port is run by whoever has its lock: the process that writes to it, or the scheduler whose
//! poll set told that it is ready. Nothing waits while holding the lock, and no scheduler waits for
//! it to serve what is ready: who has it does that (`port/lock.rs`).
#![forbid(unsafe_code)]

mod affinity;
pub mod breaks;
pub mod channel;
pub mod console;
pub mod driver;
pub mod env;
pub mod event_loop;
pub mod host;
pub mod inet;
pub mod input;
pub mod iodata;
mod open;
pub mod options;
pub mod packet;
pub mod packet_term;
pub mod pause;
pub mod pipes;
pub mod poll;
pub mod port;
pub mod processes;
pub mod queue;
pub mod ram_file;
pub mod select;
pub mod signals;
pub mod starter;
pub mod table;
mod trace;
pub mod tty;
pub mod write_coalescing;

pub use channel::Channel;
pub use event_loop::check_io;
pub use host::Host;
pub use options::{Options, What};
pub use poll::wake;
pub use port::{Command, OpenError, Port};
pub use trace::{sent as trace_sent, timed_out as trace_timed_out};

/// All there is to do before the first port is opened: processes as ports' host, poll sets, drivers,
/// signals. `kvik_proc::Hooks` gets [`check_io`], [`wake`] and [`processes::HOOKS`].
pub fn install(schedulers: usize) -> kvik_env::Result<()> {
    processes::install();
    poll::init(schedulers)?;
    inet::install();
    ram_file::install();
    tty::install();
    signals::init()
}

/// The machine ends: programs hear what was held back, and may run where they might before.
pub fn settle() {
    write_coalescing::write_all();
    affinity::pinned_child::let_go_all();
}

/// Writes out what was given to ports, before the VM halts.
pub fn flush_all() {
    for p in table::all() {
        p.flush();
    }
    tty::restore();
}

use std::sync::{OnceLock, RwLock};

/// Makes a driver for a port that is opened with this name (the whole command).
pub type MakeDriver = fn(&[u8]) -> Box<dyn driver::Driver>;

kvik_state::vm_state! {
    static DRIVERS: RwLock<Vec<(&'static str, MakeDriver)>> = RwLock::new(Vec::new());
}

/// Adds a driver that ports can be opened with by name.
pub fn add_driver(name: &'static str, make: MakeDriver) {
    let mut all = DRIVERS.write().unwrap_or_else(|e| e.into_inner());
    all.push((name, make));
}

/// The names of all that are built in.
pub fn drivers() -> impl Iterator<Item = &'static str> {
    let all = DRIVERS.read().unwrap_or_else(|e| e.into_inner());
    all.iter().map(|(name, _)| *name).collect::<Vec<_>>().into_iter()
}

/// Makes a driver of those that were loaded, if one has the name that a command begins with.
type Loaded = fn(&[u8]) -> Option<Box<dyn driver::Driver>>;
kvik_state::vm_state! {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
}

/// The first call counts.
pub fn set_loaded_drivers(f: Loaded) {
    let _ = LOADED.set(f);
}

/// A driver by the first word of a command.
fn driver_by_name(command: &[u8]) -> Option<Box<dyn driver::Driver>> {
    let word = command.split(|b| *b == b' ').next()?;
    let all = DRIVERS.read().unwrap_or_else(|e| e.into_inner());
    let make = all.iter().find(|(n, _)| n.as_bytes() == word).map(|(_, make)| *make);
    drop(all);
    make.map(|make| make(command)).or_else(|| LOADED.get()?(command))
}
