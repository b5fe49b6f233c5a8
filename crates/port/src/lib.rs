//! Ports: objects with an owner, links and monitors in front of a driver: programs, descriptors
//! and whatever else a [`driver::Driver`] does.
//!
//! A port runs on the thread that holds its lock: that of the process that writes to it, or the
//! scheduler whose poll set reported an event. Nothing waits while holding the lock, and no
//! scheduler waits for it to serve an event: the lock's holder serves it (`port/lock.rs`).
#![forbid(unsafe_code)]

mod affinity;
pub mod channel;
pub mod console;
pub mod ctrl_c;
pub mod driver;
pub mod env;
pub mod event_loop;
mod forker;
pub mod host;
pub mod inet;
pub mod input;
pub mod iodata;
pub mod library_watch;
mod open;
pub mod options;
pub mod packet;
pub mod packet_term;
pub mod pipes;
pub mod poll;
pub mod port;
pub mod processes;
pub mod queue;
pub mod ram_file;
pub mod select;
pub mod signals;
pub mod spawn_thread;
pub mod stop_the_world;
pub mod table;
mod trace;
pub mod tty;
pub mod write_coalescing;

pub use channel::Channel;
pub use event_loop::check_io;
pub use host::Host;
pub use options::{PortOptions, PortTarget};
pub use poll::wake;
pub use port::{Command, OpenError, Port};
pub use trace::{sent as trace_sent, timed_out as trace_timed_out};

/// Sets up everything the first port needs: processes as ports' host, poll sets, drivers, signals.
/// `kvik_proc::Hooks` gets [`check_io`], [`wake`] and [`processes::HOOKS`].
pub fn install(schedulers: usize) -> kvik_env::Result<()> {
    processes::install();
    poll::init(schedulers)?;
    inet::install();
    ram_file::install();
    tty::install();
    forker::open().map_err(|_| kvik_env::Errno::AGAIN)?;
    signals::init()
}

/// The VM ends: writes held output and unpins programs.
pub fn settle() {
    write_coalescing::write_all();
    affinity::pinned_child::let_go_all();
}

/// Flushes all ports, before the VM halts.
pub fn flush_all() {
    for p in table::all() {
        p.flush();
    }
    tty::restore();
}

use std::sync::{OnceLock, RwLock};

/// Makes a driver for a port; the argument is the whole command, which begins with its name.
pub type MakeDriver = fn(&[u8]) -> Box<dyn driver::Driver>;

kvik_state::vm_state! {
    static DRIVERS: RwLock<Vec<(&'static str, MakeDriver)>> = RwLock::new(Vec::new());
}

/// Adds a driver that ports can be opened with by name.
pub fn add_driver(name: &'static str, make: MakeDriver) {
    let mut all = DRIVERS.write().unwrap_or_else(|e| e.into_inner());
    all.push((name, make));
}

/// The names of all built-in drivers.
pub fn drivers() -> impl Iterator<Item = &'static str> {
    let all = DRIVERS.read().unwrap_or_else(|e| e.into_inner());
    all.iter().map(|(name, _)| *name).collect::<Vec<_>>().into_iter()
}

/// Makes a loaded driver, if one has the name that a command begins with.
type Loaded = fn(&[u8]) -> Option<Box<dyn driver::Driver>>;
kvik_state::vm_state! {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
}

/// The first call counts.
pub fn set_loaded_drivers(f: Loaded) {
    let _ = LOADED.set(f);
}

/// Makes the driver that a command's first word names.
fn driver_by_name(command: &[u8]) -> Option<Box<dyn driver::Driver>> {
    let word = command.split(|b| *b == b' ').next()?;
    let all = DRIVERS.read().unwrap_or_else(|e| e.into_inner());
    let make = all.iter().find(|(n, _)| n.as_bytes() == word).map(|(_, make)| *make);
    drop(all);
    make.map(|make| make(command)).or_else(|| LOADED.get()?(command))
}
