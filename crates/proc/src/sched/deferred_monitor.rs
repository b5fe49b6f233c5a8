//! The monitor that the process which runs here sent last, held back for the message that mostly follows
//! it: docs/internals/scheduling.md.

use super::local::{local, Local, NOBODY};
use crate::process::flag;
use crate::signal::control;
use crate::signal_types::Control;
use crate::Proc;

impl Local {
    /// The time slice of a process is over: a monitor that it sent is held back no longer.
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

/// Holds back a monitor of the process that runs here. The one before is sent.
pub(crate) fn defer_monitor(to: u32, c: Control) {
    let Some(l) = local() else {
        control(to, c);
        return;
    };
    // While the one before is on its way none is held back: it would follow at once, as any signal to
    // the same process has it.
    l.flush_deferred();
    l.deferred_to.set(to);
    l.deferred_monitor.set(Some(c));
}
/// Whom the monitor goes to that is held back.
#[inline]
pub(crate) fn deferred_to() -> Option<u32> {
    local().map(|l| l.deferred_to.get()).filter(|to| *to != NOBODY)
}
/// Sends the monitor that is held back, if it goes to that process.
#[inline]
pub(crate) fn flush_monitor_to(pid: u32) {
    if let Some(l) = local().filter(|l| l.deferred_to.get() == pid) {
        l.flush_deferred();
    }
}
