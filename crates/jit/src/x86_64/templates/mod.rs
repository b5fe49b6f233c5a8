//! One template per instruction, a file for each family.

mod arith;
mod bits;
mod calls;
mod control;
mod coverage;
mod data;
mod debugger;
mod entry;
mod exceptions;
pub mod floats;
mod guards;
mod maps;
mod receive;
mod records;
mod tests;
