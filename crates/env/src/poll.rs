//! Poll sets.

#[cfg(not(feature = "simulation"))]
pub use kvik_sys::poll::Poller;
pub use kvik_sys::poll::{Event, Events, Interest, MAX_EVENTS};

#[cfg(feature = "simulation")]
pub use crate::simulation::Poller;
