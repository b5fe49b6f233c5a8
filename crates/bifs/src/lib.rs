//! The functions the VM itself implements: one file for each Erlang module (or part of one), one
//! line in a table for each function.
#![forbid(unsafe_code)]

pub mod binary;
pub mod buffer;
pub mod checksum;
pub mod etf;
pub mod file;
pub mod filename;
pub mod iolist;
mod md5;
pub mod path;
pub mod unicode;
