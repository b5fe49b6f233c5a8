//! A poll set whose waits end by the clock in force.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use kvik_sys::poll as sys;

use crate::poll::Events;
use crate::{Fault, Result};

pub struct Poller(Arc<sys::Poller>);

impl Poller {
    pub fn new() -> Result<Poller> {
        sys::Poller::new().map(|p| Poller(Arc::new(p)))
    }
    /// Waits for events: until one comes (`None`) or at most this long.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> Result<usize> {
        Fault::Poll.fail()?;
        let clock = &crate::current().clock;
        match timeout {
            Some(t) if !t.is_zero() => clock
                .poll(&self.0, t, |t| self.0.wait(events, t))
                .unwrap_or_else(|| self.0.wait(events, timeout)),
            _ => self.0.wait(events, timeout),
        }
    }
}
impl Deref for Poller {
    type Target = sys::Poller;
    fn deref(&self) -> &sys::Poller {
        &self.0
    }
}
