//! The receiver of the VM's log events: `system_flag(system_logger, _)`.

use std::sync::{Mutex, MutexGuard};

use kvik_term::{am, Term};

use crate::process::is_alive;
use crate::registry;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SystemLogger {
    /// The process registered as `logger`.
    Registered,
    Process(u32),
    /// Events are dropped.
    Nobody,
}

impl SystemLogger {
    pub fn of(t: Term<'_>) -> Option<SystemLogger> {
        match t.as_local_pid() {
            Some(pid) => Some(SystemLogger::Process(pid)),
            None if t.is_atom(am::logger) => Some(SystemLogger::Registered),
            None if t.is_atom(am::undefined) => Some(SystemLogger::Nobody),
            None => None,
        }
    }
    pub fn term(self) -> Term<'static> {
        match self {
            SystemLogger::Registered => am::logger.into(),
            SystemLogger::Process(pid) => Term::local_pid(pid),
            SystemLogger::Nobody => am::undefined.into(),
        }
    }
}

kvik_state::vm_state! {
    static LOGGER: Mutex<SystemLogger> = Mutex::new(SystemLogger::Registered);
}

fn lock() -> MutexGuard<'static, SystemLogger> {
    LOGGER.lock().unwrap_or_else(|e| e.into_inner())
}
/// The receiver set last, even if it has ended: only the next event resets that.
pub fn get() -> SystemLogger {
    *lock()
}
/// Sets the receiver; returns the old one.
pub fn set(new: SystemLogger) -> SystemLogger {
    std::mem::replace(&mut *lock(), new)
}
/// The process that gets an event; none: the event is dropped.
pub(crate) fn process() -> Option<u32> {
    let mut l = lock();
    if matches!(*l, SystemLogger::Process(pid) if !is_alive(pid)) {
        *l = SystemLogger::Registered;
    }
    match *l {
        SystemLogger::Registered => registry::whereis_process(am::logger),
        SystemLogger::Process(pid) => Some(pid),
        SystemLogger::Nobody => None,
    }
}
