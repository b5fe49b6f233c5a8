//! The target machine of native code. A target has an encoder (`Asm`, `Label`), the methods of
//! `Compiler` that `function.rs` calls, the stubs of `stubs.rs`, and the code that `breakpoints.rs`
//! writes over an entry.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("there is native code for x86-64 only");

#[cfg(target_arch = "x86_64")]
pub use crate::x86_64::*;
