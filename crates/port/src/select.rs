//! Selected descriptors: a prepared message goes to a process when a descriptor is ready, once for
//! each request. `enif_select` and the module `socket` are built on it.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_env::poll::Interest;
use kvik_heap::{MagicResource, OwnedTerm};
use kvik_proc::signal::{self, Signal};

use crate::library_watch::LibraryWatch;

/// A set of a descriptor's events.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct EventMask {
    pub read: bool,
    pub write: bool,
    pub error: bool,
}
impl EventMask {
    pub const READ: EventMask = EventMask { read: true, write: false, error: false };
    pub const WRITE: EventMask = EventMask { read: false, write: true, error: false };
    pub const ALL: EventMask = EventMask { read: true, write: true, error: true };
}

/// The receiver and the message.
type Waiting = Option<(u32, OwnedTerm)>;

/// A descriptor that some resource has selected. It is kept until [`stop`].
struct Selected {
    by: MagicResource,
    read: Waiting,
    write: Waiting,
    error: Waiting,
    watch: LibraryWatch,
}

fn selected() -> MutexGuard<'static, HashMap<RawFd, Selected>> {
    kvik_state::vm_state! {
        static SELECTED: OnceLock<Mutex<HashMap<RawFd, Selected>>> = OnceLock::new();
    }
    SELECTED.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

impl Selected {
    /// Sets the poll set's interest to the awaited events. False: the descriptor cannot be watched.
    fn watch(&mut self, fd: RawFd) -> bool {
        let (read, write) = (self.read.is_some(), self.write.is_some());
        let i = Interest { read, write, ..Interest::default() };
        // The kernel always reports errors, without a flag.
        let wanted = read || write || self.error.is_some();
        matches!(self.watch.set(fd, wanted.then_some(i)), Ok(false))
    }
    /// Takes the messages for some events. Returns which events were awaited, and the messages.
    fn take(&mut self, which: EventMask) -> (EventMask, [Waiting; 3]) {
        let read = self.read.take_if(|_| which.read);
        let write = self.write.take_if(|_| which.write);
        let error = self.error.take_if(|_| which.error);
        let there =
            EventMask { read: read.is_some(), write: write.is_some(), error: error.is_some() };
        (there, [read, write, error])
    }
}

/// The poll set has reported a descriptor.
pub fn ready(fd: RawFd, read: bool, write: bool, hangup: bool) {
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return };
    let which = EventMask { read: read || hangup, write: write || hangup, error: hangup };
    let (_, messages) = s.take(which);
    s.watch(fd);
    drop(all);
    for (pid, message) in messages.into_iter().flatten() {
        signal::deliver(pid, Signal::Message(message));
    }
}

/// Sends `message` to `pid` when one of the events comes; it replaces an earlier message for that
/// event. False: the descriptor cannot be watched.
pub fn select(
    fd: RawFd,
    by: &MagicResource,
    which: EventMask,
    pid: u32,
    message: OwnedTerm,
) -> bool {
    steal(fd, by);
    let mut all = selected();
    let watch = LibraryWatch::default;
    let new = || Selected { by: by.clone(), read: None, write: None, error: None, watch: watch() };
    let s = all.entry(fd).or_insert_with(new);
    let place = match which {
        EventMask { read: true, .. } => &mut s.read,
        EventMask { write: true, .. } => &mut s.write,
        _ => &mut s.error,
    };
    let before = place.replace((pid, message));
    let fine = s.watch(fd);
    let gone = if fine { None } else { all.remove(&fd) };
    drop(all);
    drop((before, gone));
    fine
}

/// Cancels the messages for some events. Returns which were awaited.
pub fn cancel(fd: RawFd, by: &MagicResource, which: EventMask) -> EventMask {
    steal(fd, by);
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return EventMask::default() };
    let (there, messages) = s.take(which);
    s.watch(fd);
    drop(all);
    drop(messages);
    there
}

/// Forgets a descriptor, which may then be closed. Returns which events were awaited.
pub fn stop(fd: RawFd) -> EventMask {
    forget(fd, |_| true).map_or(EventMask::default(), |mut s| s.take(EventMask::ALL).0)
}

/// Takes a descriptor from another resource, which has closed it, so that its number was reused.
/// The other resource is not told.
fn steal(fd: RawFd, by: &MagicResource) {
    drop(forget(fd, |s| !std::ptr::addr_eq(Arc::as_ptr(&s.by), Arc::as_ptr(by))))
}
/// Removes a descriptor that satisfies `which`. The caller drops it with the table unlocked, since
/// that may drop a resource.
fn forget(fd: RawFd, which: impl Fn(&Selected) -> bool) -> Option<Selected> {
    let mut all = selected();
    let s = all.get_mut(&fd).filter(|s| which(s))?;
    let _ = s.watch.set(fd, None);
    all.remove(&fd)
}
