//! Breakpoints: functions whose calls somebody wants to hear of.
//!
//! The first instruction of a function counts down its reductions, and in front of it stands a call of
//! a stub that nothing comes to. A breakpoint puts a short jump to that call over the instruction's first
//! two bytes, at once. The stub asks the runtime, does what the instruction did, and jumps behind it. So
//! code that nobody traces has nothing to do for it, and who has done the instruction already finds
//! behind it what was there. A function without an entry of that kind (a BIF), and calls through
//! exports only, are caught by another address in the export.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, RwLock};

use kvik_code::Location;
use kvik_proc::Proc;
use kvik_term::{Atom, CodeAddress, Export, Term};

use crate::continuation::is_continuation;
use crate::entry_breakpoints::{entries, ACTIVE};
use crate::stubs;
use crate::target::breakpoint;

/// Places at which the entry is looked for.
const LOOKED_AT: usize = 16;

/// A function that is called.
#[derive(Copy, Clone, Debug)]
pub struct Called {
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// It was noticed at the export, not where the code begins.
    pub through_export: bool,
}

/// What is to happen at calls that are watched.
pub struct Hooks {
    /// A term to be given to the other two when the call ends.
    pub call: for<'h> fn(&'h Proc, Called, &[Term<'h>]) -> Option<Term<'h>>,
    /// The call returns a value, to a function.
    pub returned: fn(&Proc, frame: Term<'_>, value: Term<'_>, to: Option<Location>),
    /// It ends with an exception. Is it told of where it is caught, if that is where the call would
    /// have returned to?
    pub raised: fn(&Proc, frame: Term<'_>, class: Atom, value: Term<'_>) -> bool,
    /// The exception of such a call was caught in a function.
    pub returned_to: fn(&Proc, to: Option<Location>),
}
kvik_state::vm_state! {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
}

pub fn set_hooks(h: Hooks) -> bool {
    HOOKS.set(h).is_ok()
}
pub(crate) fn hooks() -> Option<&'static Hooks> {
    HOOKS.get()
}

/// An export that leads to us.
struct Noticed {
    /// Where it led before.
    before: CodeAddress,
    /// It is watched, not only noticed for who saves calls.
    watched: bool,
}
type Exports = HashMap<usize, Noticed>;
fn exports() -> &'static RwLock<Exports> {
    kvik_state::vm_state! {
        static EXPORTS: OnceLock<RwLock<Exports>> = OnceLock::new();
    }
    EXPORTS.get_or_init(RwLock::default)
}

/// The addresses at which the functions of a module begin, where they can be watched.
pub fn entry_of(i: &kvik_code::Instance, f: &kvik_code::FuncRange, end: u32) -> Option<usize> {
    // The entry is behind what raises `function_clause`.
    let from = (f.start as usize).next_multiple_of(breakpoint::ENTRY_ALIGNMENT);
    let at = (from..end as usize).step_by(breakpoint::ENTRY_ALIGNMENT).map(|o| i.start + o);
    at.take(LOOKED_AT).find(|at| {
        let ours = || entries().read().is_ok_and(|e| e.contains_key(at));
        breakpoint::is_free(*at) || breakpoint::is_set(*at) && ours()
    })
}

/// Watches the function that begins at an address.
pub fn set_entry(at: usize, divert: bool) -> bool {
    ACTIVE.store(true, Ordering::Release);
    let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
    if let Some(d) = all.get_mut(&at) {
        *d = divert;
        return true;
    }
    if !breakpoint::is_free(at) {
        return false;
    }
    all.insert(at, divert);
    breakpoint::set(at)
}
pub fn clear_entry(at: usize) {
    let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
    if all.remove(&at).is_some() {
        breakpoint::clear(at);
    }
}
/// Watches the calls that go through an export.
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
    /// Are all exports noticed, for processes that save their calls?
    static ALL_EXPORTS: AtomicBool = AtomicBool::new(false);
}

/// Has the calls through all exports noticed, until no process saves calls any more.
pub fn notice_all_exports() {
    notice_exports(kvik_code::export::all());
}
/// The same of those of a module that was loaded, where all are noticed.
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
/// Ends that where nobody saves calls any more.
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
/// Where an export leads that is noticed.
pub(crate) fn behind(e: &Export) -> Option<CodeAddress> {
    let all = exports().read().unwrap_or_else(|e| e.into_inner());
    all.get(&(e as *const Export as usize)).map(|n| n.before)
}
/// Where the innermost call on the stack comes back to.
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
/// The frames of the watched calls that the one under way is the last act of.
pub fn last_act_of(p: &Proc) -> impl Iterator<Item = Term<'_>> {
    // SAFETY: native code waits for our answer.
    let frames = unsafe { p.heap.stack() }.chunks_exact(2).take_while(|f| is_return(f[0]));
    // SAFETY: below that address lies a term.
    frames.map(|f| unsafe { Term::from_word(f[1]) })
}
/// The frame of a watched call has this address on top.
pub(crate) fn is_return(w: u64) -> bool {
    stubs::get().is_some_and(|s| s.returned.get() as u64 == w)
}

/// Tells of the watched calls that an exception leaves: those above the last `left` words of the
/// stack, none of which are left where nobody catches it, and before them `passed`, the frames that
/// lay above the place `ip` where it was raised.
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
    // Where the call returns to whose frame was last, if it is to be told.
    let (mut wanted, mut to) = (false, None);
    for (is_frame, frame, w) in passed.chain(ip).chain(rest) {
        if is_frame {
            let more = (h.raised)(p, frame, class, value);
            wanted |= more;
            to = to.filter(|_| !more);
        } else {
            to = std::mem::take(&mut wanted).then_some(w as usize);
        }
    }
    if let (Some(at), Some(_)) = (to, left) {
        (h.returned_to)(p, kvik_code::at(at).and_then(|i| i.location(at)));
    }
}
