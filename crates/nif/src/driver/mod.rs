//! Linked-in drivers: ports whose drivers are C libraries made for OTP's `erl_driver.h`. From the
//! bottom up:
//!
//! - `interface`, `binaries`, `queue`, `port_data_lock`: structures shared with C;
//! - `library`, `load`: a driver's library, its lock, and loading it;
//! - `ports`: port state that any thread may use;
//! - `callback`, `linked`: the callbacks running on a thread, and calling them;
//! - everything else: functions that drivers call, by subject.

pub mod async_pool;
pub mod binaries;
pub mod callback;
pub mod calls;
pub mod descriptors;
pub mod interface;
pub mod library;
mod linked;
pub mod load;
pub mod misc;
pub mod monitors;
pub mod output;
mod port_data_lock;
pub mod ports;
mod queue;
mod queue_calls;
pub mod terms;
mod threads;

use crate::address::Address;

/// The functions of the interface.
pub const FUNCTIONS: &[&[Address]] = &[
    async_pool::ALL,
    binaries::ALL,
    calls::ALL,
    descriptors::ALL,
    misc::ALL,
    monitors::ALL,
    output::ALL,
    port_data_lock::ALL,
    queue_calls::ALL,
    terms::ALL,
    threads::ALL,
];
