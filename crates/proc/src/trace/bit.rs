//! Trace flags of processes and ports.

pub const SEND: u32 = 1;
pub const RECEIVE: u32 = 2;
pub const PROCS: u32 = 4;
pub const CALL: u32 = 8;
pub const RETURN_TO: u32 = 16;
pub const RUNNING: u32 = 32;
pub const EXITING: u32 = 64;
pub const GC: u32 = 128;
pub const SILENT: u32 = 256;
pub const ARITY: u32 = 512;
pub const TIMESTAMP: u32 = 1 << 10;
pub const MONOTONIC: u32 = 1 << 11;
pub const STRICT: u32 = 1 << 12;
pub const SET_ON_SPAWN: u32 = 1 << 13;
pub const SET_ON_FIRST_SPAWN: u32 = 1 << 14;
pub const SET_ON_LINK: u32 = 1 << 15;
pub const SET_ON_FIRST_LINK: u32 = 1 << 16;
pub const PORTS: u32 = 1 << 17;
pub const RUNNING_PORTS: u32 = 1 << 18;
pub const RUNNING_PROCS: u32 = 1 << 19;
pub const SCHEDULER_ID: u32 = 1 << 20;
/// The flags that `all` stands for.
pub const ALL: u32 = (1 << 21) - 1;
/// Flags that say how to report, not what, and flags that processes and ports have in common.
pub const COMMON: u32 = SILENT | TIMESTAMP | MONOTONIC | STRICT | SCHEDULER_ID | SEND | RECEIVE;
pub const OF_PORTS: u32 = COMMON | PORTS | RUNNING_PORTS;
pub const OF_PROCESSES: u32 = ALL & !(PORTS | RUNNING_PORTS);
