//! Stack traces. An exception keeps addresses only: a tuple of its class, the first line's function
//! and arguments (or `[]`), and addresses as small integers. The list that programs see is built
//! when somebody asks for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use kvik_heap::roots::Root;
use kvik_proc::{Class, Proc};
use kvik_term::{am, Term};

/// `erlang:system_flag(backtrace_depth, N)`
pub static DEPTH: AtomicUsize = AtomicUsize::new(8);

/// A word on a stack that a call comes back to: addresses of continuations end in 8.
pub fn is_continuation(w: u64) -> bool {
    w & 15 == 8
}

/// The raw trace of an exception raised at `ip`.
pub fn capture(p: &Proc, ip: usize) -> Term<'_> {
    let depth = DEPTH.load(Ordering::Relaxed);
    let class = Term::int((p.heap.exc_class() % 4) as i32);
    let mut words = vec![class, p.heap.root(Root::Spare), p.heap.integer(ip as i64)];
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let calls = stack.iter().filter(|w| is_continuation(**w)).take(depth.saturating_sub(1));
    words.extend(calls.map(|w| p.heap.integer(*w as i64)));
    p.heap.tuple(&words)
}

/// The class of the exception that a raw trace comes from. A trace that a program gives is an
/// error's.
pub fn class_of(trace: Term<'_>) -> Class {
    match trace.as_tuple().and_then(|t| t.get(0)).and_then(Term::as_small) {
        Some(1) => Class::Exit,
        Some(2) => Class::Throw,
        _ => Class::Error,
    }
}

/// The list of `{Module, Function, ArityOrArgs, Info}`.
pub fn stacktrace<'h>(p: &'h Proc, raw: Term<'h>) -> Term<'h> {
    let Some(t) = raw.as_tuple() else { return raw };
    let [_, first, addresses @ ..] = t.elements() else { return Term::NIL };
    let mut lines: Vec<Term<'h>> = Vec::new();
    let mut rest = addresses;
    if let Some([m, f, args, kind]) = first.as_tuple_n::<4>() {
        if kind == am::function_clause {
            if let Some((here, more)) = rest.split_first() {
                lines.extend(line(p, *here, Some(args), None));
                rest = more;
            }
        } else if kind == am::error_info {
            // The place itself fails, and `args` says how.
            if let Some((here, more)) = rest.split_first() {
                let info = p.heap.tuple(&[am::error_info.into(), args]);
                lines.extend(line(p, *here, None, Some(info)));
                rest = more;
            }
        } else {
            let info = if kind == am::undef { Term::NIL } else { error_info(p, raw) };
            lines.push(p.heap.tuple(&[m, f, args, info]));
        }
    }
    lines.extend(rest.iter().filter_map(|a| line(p, *a, None, None)));
    lines.truncate(DEPTH.load(Ordering::Relaxed).max(1));
    p.heap.list(&lines)
}

/// `[{error_info, #{module => erl_erts_errors}}]` for errors of BIFs.
fn error_info<'h>(p: &'h Proc, raw: Term<'h>) -> Term<'h> {
    if class_of(raw) != Class::Error {
        return Term::NIL;
    }
    let map = p.heap.map(&[(am::module.into(), am::erl_erts_errors.into())]);
    p.heap.list(&[p.heap.tuple(&[am::error_info.into(), map])])
}

fn line<'h>(
    p: &'h Proc,
    address: Term<'h>,
    args: Option<Term<'h>>,
    more: Option<Term<'h>>,
) -> Option<Term<'h>> {
    let address = usize::try_from(address.as_i64()?).ok()?;
    let at = kvik_code::at(address)?.location(address)?;
    let h = &p.heap;
    let mut info = Vec::new();
    if let Some((file, line)) = at.line {
        info.push(h.tuple(&[am::file.into(), h.string(&file)]));
        info.push(h.tuple(&[am::line.into(), h.integer(line as i64)]));
    }
    info.extend(more);
    let arity = args.unwrap_or(Term::int(at.arity as i32));
    Some(h.tuple(&[at.module.into(), at.function.into(), arity, h.list(&info)]))
}
