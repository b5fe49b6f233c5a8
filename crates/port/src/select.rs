//! Descriptors that are selected: a message, built beforehand, goes to a process when a descriptor is
//! ready, once for each time it is asked for. `enif_select` and the module `socket` are made of it.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_env::poll::Interest;
use kvik_heap::{OwnedTerm, Resource};
use kvik_proc::signal::{self, Signal};

use crate::poll::{self, Source};

/// Which of a descriptor's events are meant.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Events {
    pub read: bool,
    pub write: bool,
    pub error: bool,
}
impl Events {
    pub const READ: Events = Events { read: true, write: false, error: false };
    pub const WRITE: Events = Events { read: false, write: true, error: false };
    pub const ALL: Events = Events { read: true, write: true, error: true };
}

/// Who is to get what.
type Waiting = Option<(u32, OwnedTerm)>;

/// A descriptor that some resource has selected. It is kept until it is given up ([`stop`]).
struct Selected {
    by: Resource,
    read: Waiting,
    write: Waiting,
    error: Waiting,
    /// Is it in the poll set?
    polled: bool,
}

fn selected() -> MutexGuard<'static, HashMap<RawFd, Selected>> {
    kvik_state::vm_state! {
        static SELECTED: OnceLock<Mutex<HashMap<RawFd, Selected>>> = OnceLock::new();
    }
    SELECTED.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

impl Selected {
    /// Has the poll set watch for what is waited for. False: the descriptor cannot be watched.
    fn watch(&mut self, fd: RawFd) -> bool {
        let (read, write) = (self.read.is_some(), self.write.is_some());
        let i = Interest { read, write, ..Interest::default() };
        // Always in the set with that number: sets are taken modulo their count.
        let home = fd as usize;
        // Errors are told of without being asked for.
        let wanted = read || write || self.error.is_some();
        let fine = match (self.polled, wanted) {
            (false, true) => match poll::add(home, fd, Source::Library, fd as u32, i) {
                Ok(false) => true,
                Ok(true) | Err(_) => return false,
            },
            (true, true) => poll::modify(home, fd, Source::Library, fd as u32, i).is_ok(),
            (true, false) => {
                poll::remove(home, fd);
                true
            }
            (false, false) => true,
        };
        self.polled = wanted;
        fine
    }
    /// Takes what is waited for. The events there were.
    fn take(&mut self, which: Events) -> (Events, [Waiting; 3]) {
        let read = self.read.take_if(|_| which.read);
        let write = self.write.take_if(|_| which.write);
        let error = self.error.take_if(|_| which.error);
        let there = Events { read: read.is_some(), write: write.is_some(), error: error.is_some() };
        (there, [read, write, error])
    }
}

/// The poll set tells of a descriptor.
pub fn ready(fd: RawFd, read: bool, write: bool, hangup: bool) {
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return };
    let which = Events { read: read || hangup, write: write || hangup, error: hangup };
    let (_, messages) = s.take(which);
    s.watch(fd);
    drop(all);
    for (pid, message) in messages.into_iter().flatten() {
        signal::deliver(pid, Signal::Message(message));
    }
}

/// Sends `message` to `pid` when one of the events comes; what was to be sent for it before is
/// forgotten. False: the descriptor cannot be watched.
pub fn select(fd: RawFd, by: &Resource, which: Events, pid: u32, message: OwnedTerm) -> bool {
    steal(fd, by);
    let mut all = selected();
    let new = || Selected { by: by.clone(), read: None, write: None, error: None, polled: false };
    let s = all.entry(fd).or_insert_with(new);
    let place = match which {
        Events { read: true, .. } => &mut s.read,
        Events { write: true, .. } => &mut s.write,
        _ => &mut s.error,
    };
    let before = place.replace((pid, message));
    let fine = s.watch(fd);
    let gone = if fine { None } else { all.remove(&fd) };
    drop(all);
    drop((before, gone));
    fine
}

/// Nobody is to hear of these events any more. Those that were waited for.
pub fn cancel(fd: RawFd, by: &Resource, which: Events) -> Events {
    steal(fd, by);
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return Events::default() };
    let (there, messages) = s.take(which);
    s.watch(fd);
    drop(all);
    drop(messages);
    there
}

/// The descriptor is not used any more: it may be closed. The events that were waited for.
pub fn stop(fd: RawFd) -> Events {
    forget(fd, |_| true).map_or(Events::default(), |mut s| s.take(Events::ALL).0)
}

/// Takes a descriptor from another resource, which has closed it, and somebody has opened another
/// with its number. The other is not told.
fn steal(fd: RawFd, by: &Resource) {
    drop(forget(fd, |s| !std::ptr::addr_eq(Arc::as_ptr(&s.by), Arc::as_ptr(by))))
}
/// Nobody waits for it any more, if it is one to forget. What is forgotten is dropped with the table
/// unlocked: a resource may go with that.
fn forget(fd: RawFd, which: impl Fn(&Selected) -> bool) -> Option<Selected> {
    let mut all = selected();
    let polled = all.get(&fd).filter(|s| which(s))?.polled;
    if polled {
        poll::remove(fd as usize, fd);
    }
    all.remove(&fd)
}
