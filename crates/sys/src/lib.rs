//! System calls: files, polling, pipes, programs, terminals, signals. Everything here answers a
//! `Result` with the system's error number; nothing here knows a term.

pub mod alloc;
pub mod clock;
pub mod cpu_affinity;
pub mod errno;
pub mod fd;
pub mod file;
pub mod large_alloc;
pub mod local_time;
pub mod locale;
pub mod mapped;
pub mod math;
pub mod membarrier;
pub mod own_image;
pub mod path;
pub mod pcre;
mod pcre8;
pub mod pcre_match;
pub mod poll;
pub mod raw_socket;
mod say;
pub use say::complain_as_emulator;
pub mod shared_memory;
pub mod signal;
mod size_class_cache;
pub mod slab;
pub mod socket;
pub mod spawn;
pub mod syscall_counters;
pub mod tsc;
pub mod tty;
pub mod usage;
pub mod zlib;
pub mod zstd;

pub use errno::{Errno, Result};

/// Whether the work of schedulers is counted and timed: always, except in a build that shows the
/// cost of it (docs/internals/meter.md).
pub const METERED: bool = !cfg!(feature = "no-meter");
