//! A port's lock. A scheduler never waits for it to serve an event.
//!
//! A program that was written to often answers before the write returns. The scheduler that gets
//! that event finds the port locked; it sets a note and goes on, and the lock's holder serves the
//! noted events before it unlocks. The holder checks for notes once more after unlocking, and a
//! scheduler tries the lock once more after setting one: so one of the two sees the other's store.
//!
//! With one scheduler, another thread (one that starts programs, or runs a native function) that
//! holds the lock does not serve events: the messages it sends go to the scheduler first, and what
//! the scheduler itself then sends for the port would overtake them. It asks the scheduler to take
//! the lock.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{fence, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use kvik_proc::{sched, sysprof};

use crate::driver::Ready;
use crate::port::{Inner, Port};
use crate::{poll, table};

pub(crate) struct Lock {
    inner: Mutex<Inner>,
    notes: AtomicU8,
}

/// Events that can be noted, in the order in which they are served.
const NOTES: [Ready; 6] = [
    Ready::Input { hangup: false },
    Ready::Input { hangup: true },
    Ready::Output,
    Ready::Child,
    Ready::Fetch,
    Ready::Driver,
];

impl Lock {
    pub fn new(inner: Inner) -> Lock {
        Lock { inner: Mutex::new(inner), notes: AtomicU8::new(0) }
    }
    /// The caller holds the lock.
    fn take_notes(&self) -> impl Iterator<Item = Ready> {
        let notes = self.notes.swap(0, Ordering::AcqRel);
        NOTES.into_iter().enumerate().filter(move |(i, _)| notes & 1 << i != 0).map(|(_, why)| why)
    }
    fn has_notes(&self) -> bool {
        self.notes.load(Ordering::Relaxed) != 0
    }
    fn try_lock(&self) -> Option<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(g) => Some(g),
            Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The right to use a port now. System profiling may be told that the port is active meanwhile.
pub(crate) struct PortGuard<'a> {
    guard: MutexGuard<'a, Inner>,
    told: bool,
    /// Declared after the guard, so that it is dropped when the lock is free.
    after: After<'a>,
}
struct After<'a>(&'a Port);

impl Port {
    fn held<'a>(&'a self, guard: MutexGuard<'a, Inner>) -> PortGuard<'a> {
        PortGuard { guard, told: false, after: After(self) }
    }
    pub(crate) fn lock(&self) -> PortGuard<'_> {
        self.held(self.lock.inner.lock().unwrap_or_else(|e| e.into_inner()))
    }
    /// Like [`Port::lock`], without waiting.
    pub(crate) fn try_lock(&self) -> Option<PortGuard<'_>> {
        self.lock.try_lock().map(|g| self.held(g))
    }
    /// Locks it to serve an event. `None`: the lock's holder serves it, or has.
    pub(crate) fn lock_for(&self, why: Ready) -> Option<PortGuard<'_>> {
        if let Some(guard) = self.lock.try_lock() {
            return Some(self.held(guard));
        }
        let Some(i) = NOTES.iter().position(|n| *n == why) else { return Some(self.lock()) };
        self.lock.notes.fetch_or(1 << i, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        drop(self.lock.try_lock().map(|g| self.held(g)));
        None
    }
}

impl PortGuard<'_> {
    /// Marks the port as active, for system profiling: the guard is not only for looking at it.
    pub fn tell(&mut self) {
        self.told = sysprof::watches_ports();
        if self.told {
            sysprof::port(self.core.id, true);
        }
    }
}
impl Drop for PortGuard<'_> {
    fn drop(&mut self) {
        let port = self.after.0;
        while port.lock.has_notes() && sched::may_send() {
            for why in port.lock.take_notes() {
                poll::with_buffer(|buffer| port.serve(self, why, buffer));
            }
        }
        if self.told {
            sysprof::port(port.id, false);
        }
    }
}
impl Drop for After<'_> {
    fn drop(&mut self) {
        fence(Ordering::SeqCst);
        let port = self.0;
        if !port.lock.has_notes() {
            return;
        }
        if sched::may_send() {
            drop(port.lock.try_lock().map(|g| port.held(g)));
        } else {
            let id = port.id;
            sched::call_between_slices(move || drop(table::get(id).as_deref().map(Port::lock)));
        }
    }
}
impl Deref for PortGuard<'_> {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.guard
    }
}
impl DerefMut for PortGuard<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.guard
    }
}
