//! Keeps programs that answer at once on the processor of the scheduler that talks to them.
//!
//! `policy` says which programs, `eligibility` which of these may be kept, `pinned_child` keeps them
//! and lets them go, `placement` has the schedulers that keep some stay apart, and `scheduler_load`
//! knows where schedulers run and what they are owed.

pub mod eligibility;
pub mod pinned_child;
pub mod placement;
pub mod policy;
pub mod scheduler_load;
