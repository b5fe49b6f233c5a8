//! Code coverage: which counters a module gets, and the instructions that write to them.

use kvik_beam::{Code, Module, Opcode};
use kvik_code::{Coverage, CoverageMode, CoveragePoint};

use crate::compiler::Compiler;

/// The executable lines met so far in a function.
#[derive(Default)]
pub struct LinesMet {
    /// The location of the last `line` or `executable_line`.
    last: Option<u32>,
    /// The counter of that location, once there is one.
    counter: Option<usize>,
}

/// The record for a module that is loaded now. A file can ask for line counters whatever the mode
/// is, as `cover` does.
pub fn record_for(module: &Module, code: &Code) -> Option<Coverage> {
    let lines = &module.lines;
    let mode = match CoverageMode::current() {
        _ if lines.forces_counters() => CoverageMode::LineCounters,
        mode if mode.is_by_line() && !lines.has_executable() => CoverageMode::None,
        mode => mode,
    };
    let is_line = |op: &&kvik_beam::Op| op.opcode == Opcode::ExecutableLine;
    match mode {
        CoverageMode::None => None,
        _ if mode.is_by_line() => {
            Some(Coverage::new(mode, code.ops.iter().filter(is_line).count()))
        }
        _ => Some(Coverage::new(mode, code.functions.len())),
    }
}

impl Compiler<'_> {
    /// A function begins; in a mode by function its calls are recorded here.
    pub fn cover_function(&mut self) {
        self.lines_met = LinesMet::default();
        if self.coverage.as_ref().is_some_and(|c| !c.mode.is_by_line()) {
            self.cover(self.function_index);
        }
    }
    /// A source location begins.
    pub fn at_line(&mut self, location: u32) {
        self.line = location;
        if self.lines_met.last != Some(location) {
            self.lines_met = LinesMet { last: Some(location), counter: None };
        }
    }
    /// An executable line. Two with the same location, and nothing of another between them, are
    /// one, as in OTP.
    pub fn executable_line(&mut self, location: u32, cover_id: u32) {
        self.at_line(location);
        let function = self.function_index;
        let line = self.module.lines.get(location).map_or(0, |l| l.line);
        let Some(c) = self.coverage.as_mut().filter(|c| c.mode.is_by_line()) else { return };
        let point = CoveragePoint { line, cover_id, function };
        let counter = match self.lines_met.counter {
            Some(counter) => {
                c.points[counter] = point;
                counter
            }
            None => {
                c.points.push(point);
                c.points.len() - 1
            }
        };
        self.lines_met.counter = Some(counter);
        self.cover(counter);
    }
    fn cover(&mut self, counter: usize) {
        let Some(c) = &self.coverage else { return };
        let (address, counts) = (c.address(counter), c.mode.counts());
        if let Some(address) = address {
            self.count_at(address, counts);
        }
    }
}
