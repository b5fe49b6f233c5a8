//! Code coverage by the VM (since OTP 27): which functions or lines of a module have run, or how
//! often. Native code counts; a module that was loaded while the mode was `none` has no such code.

use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};

/// What is recorded. The modes by line need files with `executable_line` instructions.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum CoverageMode {
    #[default]
    None,
    Function,
    FunctionCounters,
    Line,
    LineCounters,
}
use CoverageMode::*;

const MODES: [(CoverageMode, &str); 5] = [
    (None, "none"),
    (Function, "function"),
    (FunctionCounters, "function_counters"),
    (Line, "line"),
    (LineCounters, "line_counters"),
];

kvik_state::vm_state! {
    /// The mode for modules that are loaded from now on.
    static MODE: AtomicU8 = AtomicU8::new(0);
}

impl CoverageMode {
    pub fn of_name(name: &str) -> Option<CoverageMode> {
        MODES.iter().find(|m| m.1 == name).map(|m| m.0)
    }
    pub fn name(self) -> &'static str {
        MODES.iter().find(|m| m.0 == self).map_or("none", |m| m.1)
    }
    pub fn counts(self) -> bool {
        matches!(self, FunctionCounters | LineCounters)
    }
    pub fn is_by_line(self) -> bool {
        matches!(self, Line | LineCounters)
    }
    /// The mode for modules that are loaded now.
    pub fn current() -> CoverageMode {
        let mode = MODE.load(Ordering::Relaxed);
        MODES.iter().find(|m| m.0 as u8 == mode).map_or(None, |m| m.0)
    }
    /// Sets that mode; returns the one before.
    pub fn set(self) -> CoverageMode {
        let before = CoverageMode::current();
        MODE.store(self as u8, Ordering::Relaxed);
        before
    }
}

/// An executable line.
#[derive(Copy, Clone, Debug)]
pub struct CoveragePoint {
    /// Line number; 0: not known.
    pub line: u32,
    /// The number that the compiler gave it.
    pub cover_id: u32,
    /// Index of its function in the module.
    pub function: usize,
}

/// The record of a version of a module.
pub struct Coverage {
    pub mode: CoverageMode,
    /// By line: the executable lines, in order.
    pub points: Vec<CoveragePoint>,
    /// A counter, or 0 and 1, for each function or line. Native code writes to them.
    counters: Box<[AtomicU64]>,
}

impl Coverage {
    /// A record with room for `most` functions or lines.
    pub fn new(mode: CoverageMode, most: usize) -> Coverage {
        Coverage {
            mode,
            points: Vec::new(),
            counters: (0..most).map(|_| AtomicU64::new(0)).collect(),
        }
    }
    /// The address of a counter, as long as the record lives.
    pub fn address(&self, i: usize) -> Option<usize> {
        self.counters.get(i).map(|c| c.as_ptr() as usize)
    }
    pub fn count(&self, i: usize) -> u64 {
        self.counters.get(i).map_or(0, |c| c.load(Ordering::Relaxed))
    }
    pub fn reset(&self) {
        self.counters.iter().for_each(|c| c.store(0, Ordering::Relaxed));
    }
    /// Whether any line of a function has run.
    pub fn any_line_of(&self, function: usize) -> bool {
        let of = |(_, p): &(usize, &CoveragePoint)| p.function == function;
        self.points.iter().enumerate().filter(of).any(|(i, _)| self.count(i) > 0)
    }
}
