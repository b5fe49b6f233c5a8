//! Stack traces. An exception keeps only addresses: a tuple of its class, the first line's function
//! and arguments (or `[]`), and addresses as small integers. The list that programs see is built on
//! demand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use kvik_code::module::Finder;
use kvik_code::Location;
use kvik_heap::roots::Root;
use kvik_heap::Heap;
use kvik_proc::limits::BACKTRACE_DEPTH;
use kvik_proc::{ErrorClass, Proc};
use kvik_term::word::{catch_address, is_catch_mark};
use kvik_term::{am, Atom, Export, Term};

use crate::continuation::is_continuation;

kvik_state::vm_state! {
    /// Whether traces contain files and lines. Cleared by the flag `+L`.
    pub static LINE_NUMBERS: AtomicBool = AtomicBool::new(true);
}

/// The return addresses on a stack. Consecutive equal ones, as in a recursion, count once.
fn calls(stack: &[u64], from: u64) -> impl Iterator<Item = u64> + '_ {
    let mut before = from;
    stack.iter().copied().filter(move |w| {
        let counts = is_continuation(*w) && *w != before;
        if counts {
            before = *w;
        }
        counts
    })
}

/// The raw trace of an exception raised at `ip`.
pub fn capture(p: &Proc, ip: usize) -> Term<'_> {
    let depth = BACKTRACE_DEPTH.load(Ordering::Relaxed);
    let class = Term::int((p.heap.exc_class() % 4) as i32);
    let first = [class, p.heap.root(Root::Spare), p.heap.integer(ip as i64)];
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let calls = calls(stack, ip as u64).take(depth.saturating_sub(1));
    let mut calls = calls.map(|w| p.heap.integer(w as i64));
    // Fits inline unless `backtrace_depth` was raised.
    let mut few = [Term::NIL; 16];
    let mut n = 0;
    for place in &mut few {
        let Some(call) = calls.next() else { break };
        *place = call;
        n += 1;
    }
    match n < few.len() {
        true => p.heap.tuple_of(&[&first, &few[..n]]),
        false => p.heap.tuple_of(&[&first, &few, &calls.collect::<Vec<_>>()]),
    }
}

/// A trace supplied by the program, in a form that keeps the exception's class.
pub fn given<'h>(p: &'h Proc, trace: Term<'h>) -> Term<'h> {
    let class = Term::int((p.heap.exc_class() % 4) as i32);
    if let Some(t) = trace.as_tuple() {
        let before = t.get(0).and_then(Term::as_small).unwrap_or(0);
        if class.as_small() == Some(before & 3) {
            return trace;
        }
        // `erlang:raise/3` may change the class, and `after` raises with the trace's.
        let mut words = t.elements().to_vec();
        if let Some(first) = words.first_mut() {
            *first =
                Term::int(((p.heap.exc_class() % 4) as i64 | (before_all(before) + 1) << 2) as i32);
        }
        return p.heap.tuple(&words);
    }
    p.heap.tuple(&[class, trace])
}

/// The original class of an exception, from the first word of its raw trace: the low 2 bits are the
/// current class, the bits above are the original class plus one, or 0 if it was not changed.
fn before_all(word: i64) -> i64 {
    match word >> 2 {
        0 => word & 3,
        n => n - 1,
    }
}

/// The class of the exception that a raw trace comes from.
pub fn class_of(trace: Term<'_>) -> ErrorClass {
    match trace.as_tuple().and_then(|t| t.get(0)).and_then(Term::as_small).map(|n| n & 3) {
        Some(1) => ErrorClass::Exit,
        Some(2) => ErrorClass::Throw,
        _ => ErrorClass::Error,
    }
}

/// The list of `{Module, Function, ArityOrArgs, Info}`.
pub fn stacktrace<'h>(p: &'h Proc, raw: Term<'h>) -> Term<'h> {
    let Some(t) = raw.as_tuple() else { return raw };
    let [class, first, addresses @ ..] = t.elements() else { return Term::NIL };
    if first.as_cons().is_some() {
        return *first;
    }
    let mut lines: Vec<Term<'h>> = Vec::with_capacity(addresses.len() + 2);
    let mut shared = Lines::default();
    let mut rest = addresses;
    if let Some([m, f, args, kind]) = first.as_tuple_n::<4>() {
        if kind == am::function_clause {
            if let Some((here, more)) = rest.split_first() {
                lines.extend(line(p, &mut shared, *here, Some(args), None));
                rest = more;
            }
        } else if kind == am::error_info {
            // The location itself fails, and `args` is its error info.
            if let Some((here, more)) = rest.split_first() {
                let info = p.heap.tuple(&[am::error_info.into(), args]);
                let args = m.is_list().then_some(m);
                lines.extend(line(p, &mut shared, *here, args, Some(info)));
                rest = more;
            }
        } else {
            let called = kind == am::apply;
            let kind = if called { am::error.into() } else { kind };
            let began = class.as_small().map_or(0, before_all);
            let is_error = began == ErrorClass::Error as i64 && kind != am::undef;
            let info = if is_error { error_info(p, m, kind) } else { Term::NIL };
            lines.push(p.heap.tuple(&[m, f, args, info]));
            if called {
                // The function itself has a line too, as its name was computed at run time.
                lines.push(p.heap.tuple(&[m, f, Term::int(2), Term::NIL]));
            }
        }
    }
    lines.extend(rest.iter().filter_map(|a| line(p, &mut shared, *a, None, None)));
    lines.truncate(BACKTRACE_DEPTH.load(Ordering::Relaxed).max(1));
    p.heap.list(&lines)
}

/// The module that formats the errors of a module's BIFs.
fn explainer(module: Atom) -> Option<Atom> {
    match module {
        am::atomics | am::counters | am::erlang | am::erts_internal | am::persistent_term => {
            Some(am::erl_erts_errors)
        }
        am::code | am::os => Some(am::erl_kernel_errors),
        am::binary | am::ets | am::lists | am::maps | am::math | am::re | am::unicode => {
            Some(am::erl_stdlib_errors)
        }
        _ => None,
    }
}

/// `[{error_info, #{module => M, cause => C}}]` for errors of BIFs, with the cause if one was
/// given.
fn error_info<'h>(p: &'h Proc, module: Term<'h>, cause: Term<'h>) -> Term<'h> {
    let Some(explains) = module.as_atom().and_then(explainer) else {
        return Term::NIL;
    };
    let mut pairs = vec![(am::module.into(), explains.into())];
    if !cause.is_atom(am::error) {
        pairs.push((am::cause.into(), cause));
    }
    let map = p.heap.map(&pairs);
    p.heap.list(&[p.heap.tuple(&[am::error_info.into(), map])])
}

/// What the lines of one trace share.
#[derive(Default)]
struct Lines<'h> {
    modules: Finder,
    /// `{file, Name}` terms of the files seen: a trace has few.
    files: Vec<(Arc<str>, Term<'h>)>,
}

fn line<'h>(
    p: &'h Proc,
    shared: &mut Lines<'h>,
    address: Term<'h>,
    args: Option<Term<'h>>,
    more: Option<Term<'h>>,
) -> Option<Term<'h>> {
    let address = usize::try_from(address.as_i64()?).ok()?;
    let at = shared.modules.at(address)?.location(address)?;
    Some(text(&p.heap, shared, at, args, more))
}

/// The stack trace of a process, built on the heap `h`. The process does not run, or (`own`) is the
/// caller.
pub fn of_process<'h>(p: &Proc, h: &'h Heap, own: bool, depth: usize) -> Term<'h> {
    let mut lines = Vec::new();
    let ip = if own { 0 } else { p.heap.ip() };
    match waits_to_call(p).filter(|_| !own) {
        Some(e) if is_put_off(p, e) => {}
        Some(e) => {
            let (module, function, arity) = (e.module, e.function, e.arity);
            lines.push(Location { module, function, arity, line: None });
        }
        None if own || super::call::handed_off(p).is_some() => {}
        None => lines.extend(kvik_code::at(ip).and_then(|i| i.location_near(ip))),
    }
    // SAFETY: native code waits for our answer, or the process does not run.
    let stack = unsafe { p.heap.stack() };
    let calls = calls(stack, ip as u64).map(|w| w as usize);
    lines.extend(calls.filter_map(|w| kvik_code::at(w)?.location(w)).take(depth));
    let mut shared = Lines::default();
    let lines = lines.into_iter().take(depth);
    let lines: Vec<_> = lines.map(|at| text(h, &mut shared, at, None, None)).collect();
    h.list(&lines)
}

/// Maximum number of locations that [`returns`] reports.
const MOST_RETURNS: usize = 100_000;

/// The return addresses on the stack of a process that does not run or is the caller: pairs of the
/// stack slot's address and the return address, innermost first.
pub fn returns(p: &Proc) -> Vec<(usize, usize)> {
    // SAFETY: native code waits for our answer, or the process does not run.
    let stack = unsafe { p.heap.stack() };
    let calls = stack.iter().filter(|w| is_continuation(**w));
    let calls = calls.map(|w| (std::ptr::from_ref(w) as usize, *w as usize));
    calls.filter(|c| kvik_code::at(c.1).is_some()).take(MOST_RETURNS).collect()
}

/// A word of a stack.
pub enum StackSlot<'h> {
    /// A return address.
    Return(usize),
    /// The address of an exception handler.
    Catch(usize),
    Term(Term<'h>),
}
/// The stack of a process that does not run or is the caller: each word with its address, innermost
/// first.
pub fn slots(p: &Proc) -> impl Iterator<Item = (usize, StackSlot<'_>)> {
    // SAFETY: native code waits for our answer, or the process does not run.
    let stack = unsafe { p.heap.stack() };
    stack.iter().map(|w| {
        let slot = match *w {
            w if is_continuation(w) => StackSlot::Return(w as usize),
            w if is_catch_mark(w) => StackSlot::Catch(catch_address(w) as usize),
            // SAFETY: at a call, and where a process waits, all other words of a stack are terms:
            // the collector relies on that.
            w => StackSlot::Term(unsafe { Term::from_word(w) }),
        };
        (std::ptr::from_ref(w) as usize, slot)
    })
}
/// The address at which a stopped process continues, and the function that it is in or waits to
/// call.
pub fn goes_on(p: &Proc) -> (usize, Option<&'static Export>) {
    (p.heap.ip(), waits_to_call(p).or_else(|| super::call::handed_off(p)))
}
/// The function that the process waits to call. `erlang:yield/0` does not count: it is an
/// instruction in OTP.
fn waits_to_call(p: &Proc) -> Option<&'static Export> {
    let yields = |e: &Export| (e.module, e.function) == (am::erlang, am::yield_);
    p.trap_to.get().filter(|e| !yields(e))
}

/// Whether the process waits to begin that BIF. In OTP it is then at the call in its own code, where
/// its stack trace begins; a NIF is entered before its process stops. No export is a NIF's entry.
fn is_put_off(p: &Proc, e: &Export) -> bool {
    let export = || kvik_code::find_export(e.module, e.function, e.arity);
    !p.heap.is_suspended() && export().is_some_and(|own| std::ptr::eq(own, e))
}

/// Whether the process will return to the old code of a module.
pub fn uses_old_code(p: &Proc, module: Atom) -> bool {
    kvik_code::module::old(module).is_some_and(|old| uses_code(p, old.start, old.size))
}
/// Whether the process will return to code in this range.
pub fn uses_code(p: &Proc, start: usize, size: usize) -> bool {
    let inside = |at: usize| at.wrapping_sub(start) < size;
    // SAFETY: native code waits for our answer, or the process does not run.
    let stack = unsafe { p.heap.stack() };
    let mut calls = stack.iter().copied().filter(|w| is_continuation(*w));
    inside(p.heap.ip()) || calls.any(|w| inside(w as usize))
}

/// OTP stores line numbers in 24 bits and drops larger ones.
const MAX_LINE: u64 = (1 << 24) - 1;

fn text<'h>(
    h: &'h Heap,
    shared: &mut Lines<'h>,
    at: Location,
    args: Option<Term<'h>>,
    more: Option<Term<'h>>,
) -> Term<'h> {
    let mut info = [Term::NIL; 3];
    let mut n = 0;
    let mut add = |t| {
        info[n] = t;
        n += 1;
    };
    let shown =
        |l: &(Arc<str>, u32)| u64::from(l.1) < MAX_LINE && LINE_NUMBERS.load(Ordering::Relaxed);
    if let Some((file, line)) = at.line.filter(shown) {
        let known = shared.files.iter().find(|f| Arc::ptr_eq(&f.0, &file)).map(|f| f.1);
        add(known.unwrap_or_else(|| {
            let t = h.tuple(&[am::file.into(), h.string(&file)]);
            shared.files.push((file, t));
            t
        }));
        add(h.tuple(&[am::line.into(), h.integer(line as i64)]));
    }
    more.into_iter().for_each(&mut add);
    let arity = args.unwrap_or(Term::int(at.arity as i32));
    h.tuple(&[at.module.into(), at.function.into(), arity, h.list(&info[..n])])
}
