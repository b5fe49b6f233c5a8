//! The last monitor signal of the running process, held back for the message that mostly follows
//! it: docs/internals/scheduling.md.

use super::local::{local, Local, NOBODY};
use crate::process::flag;
use crate::signal::control;
use crate::signal_types::Control;
use crate::Proc;

impl Local {
    /// Sends the monitor held back for a process whose time slice is over.
    pub fn flush_monitor(&self, p: &Proc) {
        p.set_flag(flag::DEFERS_MONITOR, false);
        self.flush_deferred();
    }
    pub fn flush_deferred(&self) {
        let to = self.deferred_to.replace(NOBODY);
        if let Some(c) = self.deferred_monitor.take() {
            control(to, c);
        }
    }
}

/// Holds back a monitor signal of the running process. The previous one is sent.
pub(crate) fn defer_monitor(to: u32, c: Control) {
    let Some(l) = local() else {
        control(to, c);
        return;
    };
    // Sent before the new one is stored: sending to a process flushes the monitor signal held back
    // for it, so the new one would follow at once.
    l.flush_deferred();
    l.deferred_to.set(to);
    l.deferred_monitor.set(Some(c));
}
/// The receiver of the monitor signal held back.
#[inline]
pub(crate) fn deferred_to() -> Option<u32> {
    local().map(|l| l.deferred_to.get()).filter(|to| *to != NOBODY)
}
/// Sends the monitor signal held back, if it goes to that process.
#[inline]
pub(crate) fn flush_monitor_to(pid: u32) {
    if let Some(l) = local().filter(|l| l.deferred_to.get() == pid) {
        l.flush_deferred();
    }
}
