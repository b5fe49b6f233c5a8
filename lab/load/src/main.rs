//! The load generator of `kvik bench servers`, which the lab starts for each run.
//!
//! `driver` starts a server and measures it; `start` says how each server is started, `workloads` what
//! its clients do, `load` generates the load, and `processes` reads what the server used. The rest
//! are protocols.
#![forbid(unsafe_code)]

mod amqp;
mod driver;
mod handshakes;
mod http;
mod load;
#[path = "../../../crates/lab/src/machine.rs"]
#[allow(dead_code, reason = "shared with the lab, which uses the rest")]
mod machine;
mod phases;
#[path = "../../../crates/lab/src/servers/processes.rs"]
#[allow(dead_code, reason = "shared with the lab, which uses the rest")]
mod processes;
mod start;
mod tls;
mod websocket;
mod wire;
mod workloads;
mod xmpp;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    std::process::exit(driver::main(&args));
}
