//! The live page: shows in a browser what the VM does (docs/internals/web.md).
//!
//! A dedicated thread serves it ([`server`]). It reads counters that schedulers maintain anyway,
//! asks processes by signals ([`process_sampler`]), and is idle without a viewer. It never changes
//! the VM's state.
#![forbid(unsafe_code)]

mod bif;
mod connection;
mod data;
mod http;
mod page;
mod process_details;
mod process_sampler;
mod server;

pub use bif::BIFS;

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard};

use kvik_env::socket::Listener;
use kvik_env::thread::{self, JoinHandle};

use server::{Server, StopHandle};

/// A running server.
struct Running {
    address: String,
    stop: StopHandle,
    thread: JoinHandle<()>,
}
kvik_state::vm_state! {
    static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(|e| e.into_inner())
}

/// Why the page could not be served.
#[derive(Debug)]
pub enum ServeError {
    /// A server is running already, at that address.
    Already(String),
    System(io::Error),
}
impl From<io::Error> for ServeError {
    fn from(e: io::Error) -> ServeError {
        ServeError::System(e)
    }
}
impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ServeError::Already(at) => write!(f, "there is one: {at}"),
            ServeError::System(e) => e.fmt(f),
        }
    }
}

/// Serves the page at that address (port 0: any free port) until [`stop`]. Returns its URL, with a
/// new token.
pub fn start(at: SocketAddr) -> Result<String, ServeError> {
    let mut now = running();
    if let Some(r) = &*now {
        return Err(ServeError::Already(r.address.clone()));
    }
    let listener = Listener::bind(at)?;
    let token = token()?;
    let address = format!("http://{}/{token}/", listener.local_addr()?);
    let (server, stop) = Server::new(listener, token)?;
    let thread = thread::spawn("web", None, move || server.run())?;
    *now = Some(Running { address: address.clone(), stop, thread });
    Ok(address)
}
/// Stops the server; on return its address is free. False: none was running.
pub fn stop() -> bool {
    let Some(r) = running().take() else { return false };
    r.stop.stop();
    let _ = r.thread.join();
    true
}

/// A token that cannot be guessed: 128 random bits in text form.
fn token() -> io::Result<String> {
    Ok(kvik_env::random::secret()?.iter().map(|b| format!("{b:02x}")).collect())
}
