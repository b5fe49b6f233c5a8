//! The system calls that the load generator makes: files of kvik's own crate `sys`, without the C
//! libraries that this builds.

#![allow(dead_code, reason = "kvik uses the rest")]

extern crate self as kvik_state;

/// As in kvik's crate `state`: statics, as this program holds no VM.
#[macro_export]
macro_rules! vm_state {
    ($($(#[$attribute:meta])* $v:vis static $name:ident: $t:ty = $init:expr;)+) => {
        $($(#[$attribute])* $v static $name: $t = $init;)+
    };
}

#[path = "../../../crates/sys/src/cpu_affinity.rs"]
pub mod cpu_affinity;
#[path = "../../../crates/sys/src/errno.rs"]
pub mod errno;
#[path = "../../../crates/sys/src/poll.rs"]
pub mod poll;
#[path = "../../../crates/sys/src/say.rs"]
mod say;
#[path = "../../../crates/sys/src/signal.rs"]
pub mod signal;
#[path = "../../../crates/sys/src/syscall_counters.rs"]
pub mod syscall_counters;
#[path = "../../../crates/sys/src/usage.rs"]
pub mod usage;

pub use errno::{Errno, Result};

/// Whether system calls are counted: nobody asks here.
pub const METERED: bool = false;
