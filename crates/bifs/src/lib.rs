//! The functions the VM itself implements: one file for each Erlang module (or part of one), one
//! line in a table for each function.
#![forbid(unsafe_code)]

pub mod atomics;
pub mod binary;
pub mod buffer;
pub mod checksum;
pub mod code;
pub mod counters;
pub mod etf;
pub mod ets;
pub mod file;
pub mod filename;
pub mod iolist;
pub mod match_spec;
mod md5;
pub mod os;
pub mod packet;
pub mod path;
pub mod persistent_term;
pub mod port;
pub mod re;
pub mod system;
pub mod unicode;
pub mod zlib;
