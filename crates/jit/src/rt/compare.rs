//! Comparisons and type tests that need more than the term's word.

use std::cmp::Ordering;

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::{cmp, PidTerm, PortTerm, Term, View};

use super::Operands;

/// A function that reads two terms and nothing else.
pub type Look = extern "C" fn(&Proc, u64, u64) -> u64;

fn term<'h>(_: &'h Proc, w: u64) -> Term<'h> {
    // SAFETY: templates pass live terms, and nothing is collected here.
    unsafe { Term::from_word(w) }
}

pub extern "C" fn equal_exact(p: &Proc, a: u64, b: u64) -> u64 {
    cmp::eq_exact(term(p, a), term(p, b)) as u64
}

/// Compares the second with the first: -1, 0 or 1, to be tested as a signed word.
pub extern "C" fn compare(p: &Proc, b: u64, a: u64) -> u64 {
    match cmp::compare(term(p, a), term(p, b)) {
        Ordering::Less => u64::MAX,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

pub extern "C" fn is_function(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    let arity = args.term(p, 1).as_usize();
    args.term(p, 0).as_fun().is_some_and(|f| Some(f.arity()) == arity) as u64
}

pub extern "C" fn is_reference(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    args.term(p, 0).as_ref().is_some() as u64
}

/// Whether it is a pid (`kind` 0) or port (1) of another node.
pub extern "C" fn is_external(p: &Proc, _: &Regs, args: Operands, kind: u64) -> u64 {
    let t = args.term(p, 0);
    if t.boxed().is_none() {
        return 0;
    }
    match t.view() {
        View::Pid(PidTerm::External(_)) => (kind == 0) as u64,
        View::Port(PortTerm::External(_)) => (kind == 1) as u64,
        _ => 0,
    }
}

/// Converts a number into float register `n`.
pub extern "C" fn to_float(p: &Proc, regs: &Regs, args: Operands, n: u64) -> u64 {
    let f = match args.term(p, 0).view() {
        View::Small(i) => Some(i as f64),
        View::Float(f) => Some(f),
        View::Big(b) => b.to_f64(),
        _ => None,
    };
    match f {
        Some(f) => {
            // SAFETY: the verifier has checked the register's number.
            unsafe { *regs.f_ptr().add(n as usize) = f };
            0
        }
        None => {
            p.badarith();
            NONE
        }
    }
}
