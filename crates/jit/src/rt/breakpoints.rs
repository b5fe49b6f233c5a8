//! Traced calls and their returns.

use kvik_heap::Regs;
use kvik_proc::saved_calls::Saved;
use kvik_proc::trace::bit;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::{am, Export, Term};

use super::{x_terms, Operands};
use crate::breakpoints::{self, Called};
use crate::continuation::is_continuation;
use crate::{entry_breakpoints, stubs};

/// Length of the instruction a breakpoint covers.
const FIRST: u64 = 3;

/// A traced function was entered at `at`. Returns the address at which to continue after the
/// replaced instruction; 0 if the process has to yield first (scratch words: address, live
/// registers).
pub extern "C" fn entry(p: &Proc, regs: &Regs, _: Operands, at: u64) -> u64 {
    let untraced = p.heap.reductions_left() > 1 && !p.is_traced(bit::CALL);
    if untraced && entry_breakpoints::passes(at as usize) {
        regs.set_scratch(0, 0);
        return at + FIRST;
    }
    let instance = kvik_code::at(at as usize);
    let Some((i, f)) = instance.as_ref().and_then(|i| Some((i, i.function_at(at as usize)?)))
    else {
        std::process::abort()
    };
    // The process yields and comes back here with a new time slice; the call is traced then.
    if p.heap.reductions_left() <= 1 {
        regs.set_scratch(0, at);
        regs.set_scratch(1, f.arity as u64);
        return 0;
    }
    let f = Called { module: i.name, function: f.function, arity: f.arity, through_export: false };
    let mut to = at + FIRST;
    let mut export = 0;
    if let Some(divert) = entry_breakpoints::entry(at as usize) {
        called(p, regs, f);
        // If that used up the time slice, the process would yield behind the entry and then come
        // back here.
        p.heap.set_reductions(p.heap.reductions_left().max(2));
        if divert {
            let e = error_handler(p, regs, f);
            (to, export) = (e.address() as u64, e as *const Export as u64);
        }
    }
    regs.set_scratch(0, export);
    to
}

/// Makes the process call its error handler with the function's name and arguments.
fn error_handler(p: &Proc, regs: &Regs, f: Called) -> &'static Export {
    let args = p.heap.list(x_terms(p, regs, f.arity as usize));
    for (i, t) in [f.module.into(), f.function.into(), args].into_iter().enumerate() {
        regs.set_x(i, Term::word(t));
    }
    kvik_code::export(super::call::error_handler(p), am::breakpoint, 3)
}

/// A call through an export. Returns the export's original target; the export is in the first
/// scratch word.
pub extern "C" fn export(p: &Proc, regs: &Regs, _: Operands, e: u64) -> u64 {
    // SAFETY: the address of an entry, which is never freed.
    let e: &'static Export = unsafe { &*(e as *const Export) };
    match kvik_proc::saved_calls::on() {
        true => p.save_call(Saved::Call(e.module, e.function, e.arity)),
        false => breakpoints::notice_fewer_exports(),
    }
    regs.set_scratch(0, e as *const Export as u64);
    called(
        p,
        regs,
        Called { module: e.module, function: e.function, arity: e.arity, through_export: true },
    );
    regs.set_scratch(0, e as *const Export as u64);
    breakpoints::behind(e).unwrap_or_else(|| e.code.get()).get() as u64
}

fn called(p: &Proc, regs: &Regs, f: Called) {
    let Some(h) = breakpoints::hooks() else { return };
    let arity = f.arity as usize;
    let Some(frame) = (h.call)(p, f, x_terms(p, regs, arity)) else { return };
    let mut word = frame.word();
    if !p.heap.has_room(4) && arity < 255 {
        regs.set_x(arity, word);
        // SAFETY: arguments and frame are all that is live in registers.
        unsafe { super::stop::collect_now(p, regs.x_ptr(), arity + 1, 8) };
        // SAFETY: the collector has moved it.
        word = unsafe { *regs.x_ptr().add(arity) };
    }
    if let (true, Some(s)) = (p.heap.has_room(4), stubs::get()) {
        // SAFETY: there is room; a term and a code address.
        unsafe {
            p.heap.push_stack(word);
            p.heap.push_stack(s.returned.get() as u64);
        }
    }
}

/// A traced call returns: its value is in x0, and its frame is no longer on the stack.
pub extern "C" fn returned(p: &Proc, regs: &Regs, _: Operands, frame: u64) -> u64 {
    let (Some(h), &[value]) = (breakpoints::hooks(), x_terms(p, regs, 1)) else { return NONE };
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    // Skips the frames of calls that made this one as their tail call.
    let to = stack.chunks(2).map(|c| c[0]).find(|w| !breakpoints::is_return(*w));
    let to = to.filter(|w| is_continuation(*w)).map(|w| w as usize);
    let to = to.and_then(|w| kvik_code::at(w)?.location(w));
    // SAFETY: the stub took it from the stack.
    (h.returned)(p, unsafe { Term::from_word(frame) }, value, to);
    NONE
}
