//! Poll sets whose waits end by the current clock, and that can report all ready descriptors again.

use std::collections::HashMap;
use std::ops::Deref;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use kvik_sys::poll as sys;

use crate::poll::{Interest, PollEvents};
use crate::{Fault, Result};

/// The descriptors of a poll set, each with its token and what is waited for.
#[derive(Default)]
struct Watched(Mutex<HashMap<RawFd, (u64, Interest)>>);

impl Watched {
    fn all(&self) -> MutexGuard<'_, HashMap<RawFd, (u64, Interest)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Poller {
    set: Arc<sys::Poller>,
    watched: Arc<Watched>,
}

/// All poll sets.
pub(crate) struct Pollers(Mutex<Vec<(Weak<sys::Poller>, Weak<Watched>)>>);

impl Pollers {
    pub(super) const fn new() -> Pollers {
        Pollers(Mutex::new(Vec::new()))
    }
    /// Makes every set report each descriptor that is ready now, edge-triggered ones too.
    pub(crate) fn tell_all(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(set, watched)| {
            let (Some(set), Some(watched)) = (set.upgrade(), watched.upgrade()) else {
                return false;
            };
            for (fd, (token, interest)) in watched.all().iter() {
                // A descriptor closed meanwhile is in no set any more, which is an error here.
                let _ = set.modify(*fd, *token, *interest);
            }
            true
        });
    }
    fn add(&self, p: &Poller) {
        let one = (Arc::downgrade(&p.set), Arc::downgrade(&p.watched));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}

impl Poller {
    pub fn new() -> Result<Poller> {
        let p = Poller { set: Arc::new(sys::Poller::new()?), watched: Arc::default() };
        crate::current().pollers.add(&p);
        Ok(p)
    }
    pub fn add(&self, fd: RawFd, token: u64, i: Interest) -> Result<()> {
        let mut all = self.watched.all();
        self.set.add(fd, token, i)?;
        all.insert(fd, (token, i));
        Ok(())
    }
    pub fn modify(&self, fd: RawFd, token: u64, i: Interest) -> Result<()> {
        let mut all = self.watched.all();
        self.set.modify(fd, token, i)?;
        all.insert(fd, (token, i));
        Ok(())
    }
    pub fn remove(&self, fd: RawFd) -> Result<()> {
        self.watched.all().remove(&fd);
        self.set.remove(fd)
    }
    /// Waits for events: until one comes (`None`) or at most this long.
    pub fn wait(&self, events: &mut PollEvents, timeout: Option<Duration>) -> Result<usize> {
        Fault::Poll.fail()?;
        let clock = &crate::current().clock;
        match timeout {
            Some(t) if !t.is_zero() => clock
                .poll(&self.set, t, |t| self.set.wait(events, t))
                .unwrap_or_else(|| self.set.wait(events, timeout)),
            _ => self.set.wait(events, timeout),
        }
    }
}
impl Deref for Poller {
    type Target = sys::Poller;
    fn deref(&self) -> &sys::Poller {
        &self.set
    }
}
