//! The live page: what the VM does, in a browser (docs/internals/web.md).
//!
//! One thread of its own serves it ([`server`]). It reads what schedulers write down anyway, asks
//! processes by signals ([`survey`]), and does nothing at all while nobody looks on. It changes
//! nothing.
#![forbid(unsafe_code)]

mod about;
mod bif;
mod connection;
mod data;
mod http;
mod page;
mod server;
mod survey;

pub use bif::BIFS;

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard};

use kvik_env::socket::Listener;
use kvik_env::thread::{self, JoinHandle};

use server::{Server, Stop};

/// A page that is served.
struct Running {
    address: String,
    stop: Stop,
    thread: JoinHandle<()>,
}
kvik_state::vm_state! {
    static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(|e| e.into_inner())
}

/// Why there is no page.
#[derive(Debug)]
pub enum Fault {
    /// There is one, at that address.
    Already(String),
    System(io::Error),
}
impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Fault {
        Fault::System(e)
    }
}
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Already(at) => write!(f, "there is one: {at}"),
            Fault::System(e) => e.fmt(f),
        }
    }
}

/// Serves the page there (port 0: any that is free), until [`stop`]. Its address, with a new token.
pub fn start(at: SocketAddr) -> Result<String, Fault> {
    let mut now = running();
    if let Some(r) = &*now {
        return Err(Fault::Already(r.address.clone()));
    }
    let listener = Listener::bind(at)?;
    let token = token()?;
    let address = format!("http://{}/{token}/", listener.local_addr()?);
    let (server, stop) = Server::new(listener, token)?;
    let thread = thread::spawn("web", None, move || server.run())?;
    *now = Some(Running { address: address.clone(), stop, thread });
    Ok(address)
}
/// Serves it no more; when this returns its address is free. False: there was none.
pub fn stop() -> bool {
    let Some(r) = running().take() else { return false };
    r.stop.stop();
    let _ = r.thread.join();
    true
}

/// What nobody can guess: 128 bits of chance as digits.
fn token() -> io::Result<String> {
    Ok(kvik_env::random::secret()?.iter().map(|b| format!("{b:02x}")).collect())
}
