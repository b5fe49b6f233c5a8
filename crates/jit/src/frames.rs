//! The stack of a process as frames, for a debugger.

use kvik_code::Location;
use kvik_proc::Proc;
use kvik_term::{am, Term};

use crate::rt::trace::{goes_on, slots, StackSlot};
use crate::stubs;

/// What runs in a frame.
pub enum FrameFunction {
    Code(Location),
    /// Code of the VM.
    Own(&'static str),
}

/// A frame: what a function's code continues with.
pub struct StackFrame<'h> {
    pub function: FrameFunction,
    /// The address at which it continues.
    pub address: usize,
    /// Its y registers, the first first.
    pub slots: Vec<StackSlot<'h>>,
}

/// The frames of a process that does not run, innermost first.
pub fn frames(p: &Proc) -> Vec<StackFrame<'_>> {
    let (address, _) = goes_on(p);
    let mut frames = vec![StackFrame { function: innermost(p), address, slots: Vec::new() }];
    for (_, slot) in slots(p) {
        match slot {
            StackSlot::Return(address) => {
                let function = returns_to(address);
                frames.push(StackFrame { function, address, slots: Vec::new() });
            }
            slot => frames.last_mut().map_or((), |f| f.slots.push(slot)),
        }
    }
    // What a process begins with, or goes on with after hibernation, has no caller yet.
    if let (1, Some(s)) = (frames.len(), stubs::get()) {
        let address = s.normal_exit.get();
        frames.push(StackFrame { function: returns_to(address), address, slots: Vec::new() });
    }
    frames
}

/// The x registers of a process that does not run.
pub fn saved_registers(p: &Proc) -> &[Term<'_>] {
    // SAFETY: the process does not run, and nothing is collected while the terms are borrowed.
    unsafe { p.heap.saved() }
}

/// The function of an exception handler.
pub fn handler(address: usize) -> FrameFunction {
    near(address)
}

fn near(address: usize) -> FrameFunction {
    match kvik_code::at(address).and_then(|i| i.location_near(address)) {
        Some(at) => FrameFunction::Code(at),
        None => FrameFunction::Own(stub(address)),
    }
}
fn returns_to(address: usize) -> FrameFunction {
    match kvik_code::at(address).and_then(|i| i.location(address)) {
        Some(at) => FrameFunction::Code(at),
        None => near(address),
    }
}

/// What the process continues with.
fn innermost(p: &Proc) -> FrameFunction {
    let (address, called) = goes_on(p);
    if let Some(e) = called {
        let (module, function, arity) = (e.module, e.function, e.arity);
        return FrameFunction::Code(Location { module, function, arity, line: None });
    }
    let starts = address == crate::start_ip().get();
    match starting(p).filter(|_| starts) {
        Some(at) => FrameFunction::Code(at),
        None => near(address),
    }
}
/// The call with which a process begins, or in which it hibernates.
fn starting(p: &Proc) -> Option<Location> {
    if p.is_hibernating() {
        let (module, function) = (am::erlang, am::hibernate);
        return Some(Location { module, function, arity: 3, line: None });
    }
    let [module, function, args] = *saved_registers(p) else { return None };
    let arity = u32::try_from(args.list().count()).ok()?;
    let (module, function) = (module.as_atom()?, function.as_atom()?);
    Some(Location { module, function, arity, line: None })
}

/// OTP's names of such code.
fn stub(address: usize) -> &'static str {
    match stubs::get() {
        Some(s) if s.normal_exit.get() == address => "<terminate process normally>",
        Some(s) if s.line_resume.get() == address => "<breakpoint>",
        _ => "unknown function",
    }
}
