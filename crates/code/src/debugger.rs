//! The debugger's switches (since OTP 28), and what a module that is loaded under them keeps for it.

use std::sync::atomic::{AtomicU8, Ordering};

const ENABLED: u8 = 1;
const NO_LINE_BREAKPOINTS: u8 = 2;

kvik_state::vm_state! {
    static SWITCHES: AtomicU8 = AtomicU8::new(0);
}

/// The switches, now or when a module was made.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct DebuggerSwitches(u8);

impl DebuggerSwitches {
    pub fn current() -> DebuggerSwitches {
        DebuggerSwitches(SWITCHES.load(Ordering::Relaxed))
    }
    /// Whether there is a debugger at all (`+D`).
    pub fn is_enabled(self) -> bool {
        self.0 & ENABLED != 0
    }
    /// Whether code is to have places for breakpoints at lines, if there is a debugger.
    pub fn wants_line_breakpoints(self) -> bool {
        self.0 & NO_LINE_BREAKPOINTS == 0
    }
    /// Whether code has such places.
    pub fn has_line_breakpoints(self) -> bool {
        self.is_enabled() && self.wants_line_breakpoints()
    }
}

pub fn enable() {
    SWITCHES.fetch_or(ENABLED, Ordering::Relaxed);
}
/// For modules that are loaded from now on.
pub fn want_line_breakpoints(on: bool) {
    match on {
        true => SWITCHES.fetch_and(!NO_LINE_BREAKPOINTS, Ordering::Relaxed),
        false => SWITCHES.fetch_or(NO_LINE_BREAKPOINTS, Ordering::Relaxed),
    };
}

/// A place in native code where a breakpoint can be set.
#[derive(Copy, Clone, Debug)]
pub struct LinePoint {
    pub offset: u32,
    /// Where the process goes on behind it.
    pub resume: u32,
    /// Line number; 0: not known.
    pub line: u32,
    /// Live x registers.
    pub live: u16,
    /// Index of its function in the module.
    pub function: usize,
    /// Its number in the file's debug information, from 0 on.
    pub item: usize,
}

/// What a module keeps for the debugger.
#[derive(Default, Debug)]
pub struct DebugTable {
    /// The switches when it was made.
    pub switches: DebuggerSwitches,
    /// Whether its file has debug information.
    pub has_info: bool,
    /// Index of the first literal with an item of that information, if code has line breakpoints.
    pub first_item: usize,
    /// Sorted by offset.
    pub points: Vec<LinePoint>,
}

impl DebugTable {
    /// The place behind which a process goes on at that offset.
    pub fn point_before(&self, resume: usize) -> Option<&LinePoint> {
        let i = self.points.partition_point(|p| (p.resume as usize) < resume);
        self.points.get(i).filter(|p| p.resume as usize == resume)
    }
}
