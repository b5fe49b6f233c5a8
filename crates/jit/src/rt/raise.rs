//! Exceptions: recording them and finding their handlers.

use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_proc::{ErrorClass, Proc};
use kvik_term::word::{catch_address, is_catch_mark, NONE};
use kvik_term::{am, Atom, Term};

use super::{trace, x_terms, Operands};

use crate::continuation::is_continuation;

/// Raises the exception recorded in the process, at `ip`. Returns the handler's address, with the
/// stack cut to the handler's frame, or 0.
pub extern "C" fn raise(p: &Proc, regs: &Regs, _: Operands, ip: u64) -> u64 {
    if p.is_exiting() {
        return 0;
    }
    if p.heap.exc_class() == ErrorClass::Hibernate as u8 {
        super::stop::hibernate(p);
        return 0;
    }
    let (ip, passed) = breaks_passed(p, ip);
    let given = p.heap.exc_class() >= ErrorClass::ErrorWithTrace as u8;
    let trace = if given {
        trace::given(p, p.heap.root(Root::ExcTrace))
    } else {
        trace::capture(p, ip as usize)
    };
    let class = match p.heap.exc_class() % 4 {
        0 => (ErrorClass::Error, am::error),
        1 => (ErrorClass::Exit, am::exit),
        _ => (ErrorClass::Throw, am::throw),
    };
    p.heap.set_exc_class(class.0 as u8);
    p.heap.set_root(Root::ExcTrace, trace);
    p.heap.set_root(Root::Spare, Term::NIL);
    let found = find_handler(p);
    if crate::entry_breakpoints::active() {
        let left = found.map(|f| f.1);
        let mut end = (class.1, p.heap.root(Root::ExcValue));
        if left.is_none() && end.0 == am::throw {
            end = (am::error, p.heap.tuple(&[am::nocatch.into(), end.1]));
        }
        crate::breakpoints::unwound(p, (&passed, ip), left, end.0, end.1);
    }
    let Some((handler, left)) = found else { return 0 };
    // SAFETY: the handler's frame begins there.
    unsafe { p.heap.cut_stack(left) };
    regs.set_x(0, NONE);
    regs.set_x(1, class.1.word());
    regs.set_x(2, p.heap.root(Root::ExcValue).word());
    regs.set_x(3, trace.word());
    p.heap.set_root(Root::ExcValue, Term::NIL);
    p.heap.set_root(Root::ExcTrace, Term::NIL);
    handler
}

/// A traced BIF has failed, so `ip` may be the return address of a traced call's frame. Pops such
/// frames and returns the location of the actual caller, with the frames popped.
fn breaks_passed(p: &Proc, mut ip: u64) -> (u64, Vec<Term<'_>>) {
    let mut frames = Vec::new();
    while crate::entry_breakpoints::active() && crate::breakpoints::is_return(ip) {
        // SAFETY: native code waits for our answer.
        let stack = unsafe { p.heap.stack() };
        let &[frame, next, ..] = stack else { break };
        // SAFETY: below that address lies a term.
        frames.push(unsafe { Term::from_word(frame) });
        // SAFETY: below the traced call's frame lies that of its caller.
        unsafe { p.heap.cut_stack(stack.len() - 2) };
        ip = next;
    }
    (ip, frames)
}

/// The innermost handler, and how many words of the stack remain from its frame on.
fn find_handler(p: &Proc) -> Option<(u64, usize)> {
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let mut frame = 0;
    for (i, w) in stack.iter().enumerate() {
        if is_continuation(*w) {
            frame = i + 1;
        } else if is_catch_mark(*w) {
            return Some((catch_address(*w), stack.len() - frame));
        }
    }
    None
}

/// No clause matches: the arguments are still in x registers.
pub extern "C" fn function_clause(p: &Proc, regs: &Regs, _: Operands, arity: u64) -> u64 {
    let args = p.heap.list(x_terms(p, regs, arity as usize));
    let first = p.heap.tuple(&[
        am::undefined.into(),
        am::undefined.into(),
        args,
        am::function_clause.into(),
    ]);
    p.error(am::function_clause);
    p.heap.set_root(Root::Spare, first);
    NONE
}

/// `{Tag, Value}`, or the tag alone for `if_clause`.
pub extern "C" fn tagged(p: &Proc, _: &Regs, args: Operands, tag: u64) -> u64 {
    let tag = Atom::from_index(tag as u32).unwrap_or(am::error);
    if tag == am::if_clause {
        p.error(tag);
    } else {
        p.error_pair(tag, args.term(p, 0));
    }
    NONE
}

pub extern "C" fn badarith(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    p.badarith();
    NONE
}

/// Reached only by code that no compiler makes: an operand does not have the type that the code
/// relies on, or a call returned that could not. No handler accounts for that, so none may be
/// found: the stack is dropped.
pub extern "C" fn impossible(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    p.exit(am::internal_error);
    // SAFETY: without a handler the process ends.
    unsafe { p.heap.cut_stack(0) };
    NONE
}

/// `raise`: raises the reason again, with its original trace. The class is the trace's.
pub extern "C" fn again(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    let (trace, reason) = (args.term(p, 0), args.term(p, 1));
    p.raise_with_trace(trace::class_of(trace), reason, trace);
    NONE
}

/// `raw_raise`: class, reason, trace. An invalid class gives `badarg`.
pub extern "C" fn raw_raise(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    let class = match args.term(p, 0).as_atom() {
        Some(am::error) => ErrorClass::Error,
        Some(am::exit) => ErrorClass::Exit,
        Some(am::throw) => ErrorClass::Throw,
        _ => return am::badarg.word(),
    };
    p.raise_with_trace(class, args.term(p, 1), args.term(p, 2));
    NONE
}

pub extern "C" fn build_stacktrace(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    trace::stacktrace(p, args.term(p, 0)).word()
}

/// The value of an old-style `catch` for an exception: class, reason and trace are in x1 to x3.
pub extern "C" fn catch_end(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    let &[_, class, reason, raw] = x_terms(p, regs, 4) else { return NONE };
    if class == am::throw {
        return reason.word();
    }
    let value = if class == am::error {
        p.heap.tuple(&[reason, trace::stacktrace(p, raw)])
    } else {
        reason
    };
    p.heap.tuple(&[am::UP_EXIT.into(), value]).word()
}
