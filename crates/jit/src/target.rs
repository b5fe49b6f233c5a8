//! The machine that native code is made for. A target has an encoder (`Asm`, `Label`), the methods
//! of `Compiler` that `function.rs` calls, the stubs of `stubs.rs`, and what `breakpoints.rs` puts
//! over an entry.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("there is native code for x86-64 only");

#[cfg(target_arch = "x86_64")]
pub use crate::x86_64::*;
