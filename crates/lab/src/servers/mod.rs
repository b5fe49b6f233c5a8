//! `kvik bench servers`: real servers on kvik and on OTP.
//!
//! The lab starts a load generator for each run, a program of its own (`lab/load/`), which starts the
//! server and measures it. `processes` is what both know of the processes below them.

#[allow(dead_code, reason = "shared with the load generator, which uses the rest")]
pub mod processes;

/// The workloads' names: those of `lab/load/src/workloads.rs`.
const NAMES: [&str; 20] = [
    "http/plain",
    "http/json",
    "http/websocket",
    "https/plain",
    "https/json",
    "tls/handshake",
    "inets/plain",
    "inets/json",
    "bandit/plain",
    "bandit/json",
    "bandit/websocket",
    "phoenix/plain",
    "phoenix/json",
    "amqp/transient",
    "amqp/durable",
    "amqp/quorum",
    "amqp/stream",
    "xmpp/chat",
    "nodes",
    "mnesia",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_load_generator_knows_these_workloads_and_no_others() {
        let source = include_str!("../../../../lab/load/src/workloads.rs");
        let (_, table) = source.split_once("WORKLOADS: &[Workload] = &[").unwrap();
        let (table, _) = table.split_once("\n];").unwrap();
        let calls = table.split(['\n', ' ']).filter_map(|word| word.split_once("(\""));
        let known: Vec<&str> = calls.filter_map(|(_, rest)| rest.split('"').next()).collect();
        assert_eq!(known, super::NAMES);
    }
}
