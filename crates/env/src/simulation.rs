//! The environment of a simulation: injected faults, and a clock that moves only on request.

mod injection;
mod poller;
mod spec;
mod virtual_clock;

pub use injection::{Faults, When};
pub use poller::Poller;
use poller::Pollers;
pub use virtual_clock::VirtualClock;

/// The environment: all that a simulation replaces between the VM and the operating system.
pub struct Env {
    pub faults: Faults,
    pub clock: VirtualClock,
    pub(crate) pollers: Pollers,
}

/// The current environment: that of this thread's VM.
#[inline]
pub fn current() -> &'static Env {
    kvik_state::vm_state! {
        static ENV: Env =
            Env { faults: Faults::new(), clock: VirtualClock::new(), pollers: Pollers::new() };
    }
    &ENV
}

impl Env {
    /// The time of day: the virtual clock's, or the system's plus all jumps so far.
    pub(crate) fn wall_nanos(&self, system: impl FnOnce() -> i64) -> i64 {
        self.clock.jump(crate::Fault::ClockJump.jump());
        self.clock.wall().unwrap_or_else(system).saturating_add(self.clock.jumps())
    }
}

/// `KVIK_FAULTS`: faults from the start, in the format of [`Faults::arm`]. `KVIK_CLOCK=virtual`:
/// time starts at the present and stands still.
pub(crate) fn from_variables() -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok();
    let faults = variable("KVIK_FAULTS").unwrap_or_default();
    current().faults.arm(&faults).map_err(|e| format!("KVIK_FAULTS: {e}"))?;
    match variable("KVIK_CLOCK").as_deref() {
        None | Some("") => Ok(()),
        Some("virtual") => {
            current().clock.stop();
            Ok(())
        }
        Some(other) => Err(format!("KVIK_CLOCK: {other}: not \"virtual\"")),
    }
}
