//! Breakpoints: functions whose calls are traced.
//!
//! The first instruction of a function counts down the reductions. In front of it stands a call of
//! a stub, which normal control flow never reaches. Setting a breakpoint overwrites the first two
//! bytes of that instruction, in one atomic store, with a short jump back to the call. The stub
//! calls the runtime, executes the replaced instruction and jumps behind it. Untraced code pays
//! nothing, and a thread already past the instruction finds the code behind it unchanged. Functions
//! without such an entry (BIFs), and calls that are traced through exports only, are caught by
//! redirecting the export's address.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, RwLock};

use kvik_code::Location;
use kvik_proc::Proc;
use kvik_term::{Atom, CodeAddress, Export, Term};

use crate::continuation::is_continuation;
pub use crate::entry_breakpoints::EntryAction;
use crate::entry_breakpoints::{self, entry, ACTIVE};
use crate::stubs;
use crate::target::breakpoint;

/// How many candidate positions are searched for the entry.
const LOOKED_AT: usize = 16;

/// A traced call's function.
#[derive(Copy, Clone, Debug)]
pub struct Called {
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// The call was caught at the export, not at the function's entry.
    pub through_export: bool,
}

/// Callbacks for traced calls.
pub struct BreakpointHooks {
    /// On a call. Returns a term that is passed to `returned` or `raised` when the call ends.
    pub call: for<'h> fn(&'h Proc, Called, &[Term<'h>]) -> Option<Term<'h>>,
    /// The call returns `value` to the location `to`.
    pub returned: fn(&Proc, frame: Term<'_>, value: Term<'_>, to: Option<Location>),
    /// The call ends with an exception. Returns whether `returned_to` is to be called when the
    /// exception is caught in the function that the call would have returned to.
    pub raised: fn(&Proc, frame: Term<'_>, class: Atom, value: Term<'_>) -> bool,
    /// The exception of calls with these frames was caught at the location `to`.
    pub returned_to: fn(&Proc, frames: &[Term<'_>], to: Option<Location>),
}
kvik_state::vm_state! {
    static HOOKS: OnceLock<BreakpointHooks> = OnceLock::new();
}

pub fn set_hooks(h: BreakpointHooks) -> bool {
    HOOKS.set(h).is_ok()
}
pub(crate) fn hooks() -> Option<&'static BreakpointHooks> {
    HOOKS.get()
}

/// An export redirected to the breakpoint stub.
struct Noticed {
    /// Its original target.
    before: CodeAddress,
    /// Whether its calls are traced, not only recorded for processes that save their calls.
    watched: bool,
}
type Exports = HashMap<usize, Noticed>;
fn exports() -> &'static RwLock<Exports> {
    kvik_state::vm_state! {
        static EXPORTS: OnceLock<RwLock<Exports>> = OnceLock::new();
    }
    EXPORTS.get_or_init(RwLock::default)
}

/// The address of a function's entry, if a breakpoint can be set there.
pub fn entry_of(i: &kvik_code::LoadedModule, f: &kvik_code::FuncRange, end: u32) -> Option<usize> {
    // The entry follows the code that raises `function_clause`.
    let from = (f.start as usize).next_multiple_of(breakpoint::ENTRY_ALIGNMENT);
    let at = (from..end as usize).step_by(breakpoint::ENTRY_ALIGNMENT).map(|o| i.start + o);
    at.take(LOOKED_AT)
        .find(|at| breakpoint::is_free(*at) || breakpoint::is_set(*at) && entry(*at).is_some())
}

/// Sets a breakpoint at the entry `at`.
pub fn set_entry(at: usize, action: EntryAction) -> bool {
    ACTIVE.store(true, Ordering::Release);
    entry_breakpoints::change(|all| {
        if let Some(old) = all.get_mut(&at) {
            *old = action;
            return true;
        }
        if !breakpoint::is_free(at) {
            return false;
        }
        all.insert(at, action);
        breakpoint::set(at)
    })
}
pub fn clear_entry(at: usize) {
    entry_breakpoints::change(|all| {
        if all.remove(&at).is_some() {
            breakpoint::clear(at);
        }
    })
}
/// Traces the calls that go through an export.
pub fn set_export(e: &'static Export) -> bool {
    let Some(s) = stubs::get() else { return false };
    ACTIVE.store(true, Ordering::Release);
    let mut all = exports().write().unwrap_or_else(|e| e.into_inner());
    notice(&mut all, s.break_export, e, true);
    true
}
fn notice(all: &mut Exports, stub: CodeAddress, e: &'static Export, watched: bool) {
    let before = e.code.swap(stub);
    let key = e as *const Export as usize;
    let old = all.get(&key);
    let watched = watched || old.is_some_and(|n| n.watched);
    let before = if before == stub { old.map_or(stub, |n| n.before) } else { before };
    all.insert(key, Noticed { before, watched });
}
pub fn clear_export(e: &'static Export) {
    let Some(s) = stubs::get() else { return };
    let mut all = exports().write().unwrap_or_else(|e| e.into_inner());
    let Some(n) = all.get_mut(&(e as *const Export as usize)) else { return };
    n.watched = false;
    if !ALL_EXPORTS.load(Ordering::Acquire) {
        restore(&mut all, s.break_export, e);
    }
}
fn restore(all: &mut Exports, stub: CodeAddress, e: &'static Export) {
    if let Some(n) = all.remove(&(e as *const Export as usize)) {
        e.code.redirect(stub, n.before);
    }
}

kvik_state::vm_state! {
    /// Whether all exports are redirected, for processes that save their calls.
    static ALL_EXPORTS: AtomicBool = AtomicBool::new(false);
}

/// Redirects all exports, until no process saves its calls any more.
pub fn notice_all_exports() {
    notice_exports(kvik_code::export::all());
}
/// Redirects the exports of a newly loaded module while all exports are redirected.
pub fn notice_exports_of(module: Atom) {
    if ALL_EXPORTS.load(Ordering::Acquire) {
        let all = kvik_code::export::all().into_iter();
        notice_exports(all.filter(|e| e.module == module).collect());
    }
}
fn notice_exports(exported: Vec<&'static Export>) {
    let Some(s) = stubs::get() else { return };
    ACTIVE.store(true, Ordering::Release);
    let mut all = exports().write().unwrap_or_else(|e| e.into_inner());
    ALL_EXPORTS.store(true, Ordering::Release);
    for e in exported.into_iter().filter(|e| kvik_code::is_defined(e)) {
        notice(&mut all, s.break_export, e, false);
    }
}
/// Restores the exports once no process saves its calls any more.
pub(crate) fn notice_fewer_exports() {
    let Some(s) = stubs::get().filter(|_| ALL_EXPORTS.load(Ordering::Acquire)) else { return };
    let mut all = exports().write().unwrap_or_else(|e| e.into_inner());
    if kvik_proc::saved_calls::on() {
        return;
    }
    ALL_EXPORTS.store(false, Ordering::Release);
    for e in kvik_code::export::all() {
        if all.get(&(e as *const Export as usize)).is_some_and(|n| !n.watched) {
            restore(&mut all, s.break_export, e);
        }
    }
}
/// The original target of a redirected export.
pub(crate) fn behind(e: &Export) -> Option<CodeAddress> {
    let all = exports().read().unwrap_or_else(|e| e.into_inner());
    all.get(&(e as *const Export as usize)).map(|n| n.before)
}
/// The return location of the innermost call on the stack.
pub fn caller(p: &Proc) -> Option<Location> {
    let to = caller_address(p)?;
    kvik_code::at(to)?.location(to)
}
pub fn caller_address(p: &Proc) -> Option<usize> {
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let to = stack.iter().copied().find(|w| is_continuation(*w) && !is_return(*w))?;
    Some(to as usize)
}
/// The frames of the traced calls that ended in the current call, as their tail call.
pub fn last_act_of(p: &Proc) -> impl Iterator<Item = Term<'_>> {
    // SAFETY: native code waits for our answer.
    let frames = unsafe { p.heap.stack() }.chunks_exact(2).take_while(|f| is_return(f[0]));
    // SAFETY: below that address lies a term.
    frames.map(|f| unsafe { Term::from_word(f[1]) })
}
/// Whether `w` is the return address that marks the frame of a traced call.
pub(crate) fn is_return(w: u64) -> bool {
    stubs::get().is_some_and(|s| s.returned.get() as u64 == w)
}

/// Reports the traced calls that an exception leaves: first `passed`, the frames that lay above
/// `ip`, where it was raised, then those above the last `left` words of the stack (`left` is 0 if
/// nothing catches the exception).
pub(crate) fn unwound<'h>(
    p: &'h Proc,
    (passed, ip): (&[Term<'h>], u64),
    left: Option<usize>,
    class: Atom,
    value: Term<'h>,
) {
    let Some(h) = hooks() else { return };
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let gone = stack.len().saturating_sub(left.unwrap_or(0));
    let passed = passed.iter().map(|f| (true, *f, 0));
    let ip = std::iter::once((false, Term::NIL, ip));
    let words = stack[..gone].iter().enumerate().filter(|(_, w)| is_continuation(**w));
    let rest = words.map(|(i, w)| match stack.get(i + 1).filter(|_| is_return(*w)) {
        // SAFETY: below that address lies a term.
        Some(frame) => (true, unsafe { Term::from_word(*frame) }, 0),
        None => (false, Term::NIL, *w),
    });
    // The frames that are to be reported: those right above the last return location, or, with trace
    // sessions, all.
    let (mut frames, mut to): (Vec<Term<'h>>, _) = (Vec::new(), None);
    let (mut above, all) = (false, kvik_release::current().has_trace_sessions());
    for (is_frame, frame, w) in passed.chain(ip).chain(rest) {
        if is_frame && (h.raised)(p, frame, class, value) {
            if !all && !above {
                frames.clear();
            }
            (above, to) = (true, None);
            frames.push(frame);
        } else if !is_frame {
            if !all && !std::mem::take(&mut above) {
                frames.clear();
            }
            to = Some(w as usize);
        }
    }
    if let (Some(at), Some(_), false) = (to, left, frames.is_empty()) {
        (h.returned_to)(p, &frames, kvik_code::at(at).and_then(|i| i.location(at)));
    }
}
