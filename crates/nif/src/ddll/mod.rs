//! `erl_ddll`: loading, unloading and watching linked-in drivers.

pub mod bifs;
mod options;
pub mod table;
