//! The last monitor signal of the running process, held back for the message that mostly follows
//! it: docs/internals/scheduling.md.

use super::local::{local, Local, NOBODY};
use crate::process::flag;
use crate::signal::monitor_signal;
use crate::signal_types::MonitorSignal;
use crate::Proc;

impl Local {
    /// Sends the monitor held back for a process whose time slice is over.
    pub fn flush_monitor(&self, p: &Proc) {
        p.set_flag(flag::DEFERS_MONITOR, false);
        self.flush_deferred();
    }
    pub fn flush_deferred(&self) {
        let to = self.deferred_to.get();
        if let Some(m) = self.take_deferred() {
            monitor_signal(to, m);
        }
    }
    fn take_deferred(&self) -> Option<MonitorSignal> {
        self.deferred_to.set(NOBODY);
        self.deferred_monitor.take()
    }
}

/// Holds back a monitor signal of the running process. The previous one is sent.
pub(crate) fn defer_monitor(to: u32, m: MonitorSignal) {
    let Some(l) = local() else {
        monitor_signal(to, m);
        return;
    };
    // Sent before the new one is stored: sending to a process flushes the monitor signal held back
    // for it, so the new one would follow at once.
    l.flush_deferred();
    l.deferred_to.set(to);
    l.deferred_monitor.set(Some(m));
}
/// The receiver of the monitor signal held back.
#[inline]
pub(crate) fn deferred_to() -> Option<u32> {
    local().map(|l| l.deferred_to.get()).filter(|to| *to != NOBODY)
}
/// The monitor signal held back, to be sent by the caller.
pub(crate) fn take_deferred() -> Option<MonitorSignal> {
    local()?.take_deferred()
}
/// Sends the monitor signal held back, if it goes to that process.
#[inline]
pub(crate) fn flush_monitor_to(pid: u32) {
    if let Some(l) = local().filter(|l| l.deferred_to.get() == pid) {
        l.flush_deferred();
    }
}
