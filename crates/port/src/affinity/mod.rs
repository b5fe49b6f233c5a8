//! Pins programs that answer at once to the CPU of the scheduler that talks to them.
//!
//! `policy` selects programs, `eligibility` tells which of these may be pinned, `pinned_child` pins
//! and unpins them, `placement` puts schedulers with pinned programs on different CPUs, and
//! `scheduler_load` knows each scheduler's CPU and how many answers it waits for.

pub mod eligibility;
pub mod pinned_child;
pub mod placement;
pub mod policy;
pub mod scheduler_load;
