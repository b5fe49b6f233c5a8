//! Looking into suspended processes: their stack, its slots, and x registers.

use kvik_code::Location;
use kvik_heap::copy::flat_size;
use kvik_heap::Heap;
use kvik_jit::frames::{frames, handler, saved_registers, FrameFunction, StackFrame};
use kvik_jit::StackSlot;
use kvik_proc::signal::inspect;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Term};

use super::{ensure_enabled, small};

/// A number that is not negative.
fn number(p: &Proc, t: Term<'_>) -> Result<usize, kvik_proc::Raised> {
    usize::try_from(small(p, t)?).map_err(|_| p.badarg())
}
/// Another local process.
fn other(p: &Proc, t: Term<'_>) -> Result<u32, kvik_proc::Raised> {
    super::local_pid(p, t).and_then(|pid| if pid == p.pid() { Err(p.badarg()) } else { Ok(pid) })
}

/// Builds an answer about a suspended process, or `running` if it isn't suspended. It is looked at
/// here if nothing else has it, else by a signal.
fn of_suspended<'h>(
    p: &'h Proc,
    pid: u32,
    f: impl for<'a> Fn(&Proc, &'a Heap) -> Term<'a> + Send + 'static,
) -> BifResult<'h> {
    match inspect(pid, |of| of.is_undisturbed().then(|| answer(Some(of), &p.heap, &f))) {
        Some(Some(answer)) => Ok(answer),
        _ => Err(crate::process::ask(p, pid, move |of, h| answer(of, h, &f))),
    }
}
fn answer<'a>(of: Option<&Proc>, h: &'a Heap, f: impl Fn(&Proc, &'a Heap) -> Term<'a>) -> Term<'a> {
    let suspended = |of: &&Proc| of.rare(|x| !x.suspended_by.is_empty()) == Some(true);
    of.filter(suspended).map_or(am::running.into(), |of| f(of, h))
}

pub fn stack_frames_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (pid, most) = (other(p, a[0])?, number(p, a[1])?);
    of_suspended(p, pid, move |of, h| {
        let frames = frames(of);
        let numbers = (0..frames.len()).rev();
        let terms = numbers.zip(&frames).map(|(n, f)| frame(h, n, f, most));
        h.list(&terms.collect::<Vec<_>>())
    })
}
pub fn peek_stack_frame_slot_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (pid, n) = (other(p, a[0])?, number(p, a[1])?);
    let (at, most) = (number(p, a[2])?, number(p, a[3])?);
    of_suspended(p, pid, move |of, h| {
        let frames = frames(of);
        let frame = frames.len().checked_sub(n + 1).and_then(|i| frames.get(i));
        let found = frame.and_then(|f| f.slots.get(at));
        found.map_or(am::undefined.into(), |s| slot(h, s, most))
    })
}
pub fn xregs_count_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let pid = other(p, a[0])?;
    of_suspended(p, pid, |of, h| h.integer(saved_registers(of).len() as i64))
}
pub fn peek_xreg_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (pid, n, most) = (other(p, a[0])?, number(p, a[1])?, number(p, a[2])?);
    of_suspended(p, pid, move |of, h| match saved_registers(of).get(n) {
        Some(t) => value(h, *t, most),
        None => am::undefined.into(),
    })
}

/// `{Number, Function, #{code => Address, slots => Slots}}`; frames are counted from the outermost.
fn frame<'h>(h: &'h Heap, n: usize, f: &StackFrame<'_>, most: usize) -> Term<'h> {
    let slots: Vec<_> = f.slots.iter().map(|s| slot(h, s, most)).collect();
    let info = h
        .map(&[(am::code.into(), h.integer(f.address as i64)), (am::slots.into(), h.list(&slots))]);
    h.tuple(&[h.integer(n as i64), function(h, &f.function), info])
}
/// `#{function => MFA, line => Line}`, or the name of code of the VM.
fn function<'h>(h: &'h Heap, f: &FrameFunction) -> Term<'h> {
    let Location { module, function, arity, line } = match f {
        FrameFunction::Code(at) => at,
        FrameFunction::Own(name) => return Atom::intern(name).unwrap_or(am::undefined).into(),
    };
    let mfa = h.tuple(&[(*module).into(), (*function).into(), h.integer((*arity).into())]);
    let line = line.as_ref().map_or(am::undefined.into(), |(_, n)| h.integer((*n).into()));
    h.map(&[(am::function.into(), mfa), (am::line.into(), line)])
}
fn slot<'h>(h: &'h Heap, s: &StackSlot<'_>, most: usize) -> Term<'h> {
    match s {
        StackSlot::Term(t) => value(h, *t, most),
        StackSlot::Catch(to) => h.tuple(&[am::catch_.into(), function(h, &handler(*to))]),
        // A return address begins a frame.
        StackSlot::Return(_) => am::undefined.into(),
    }
}
/// `{value, Term}`, or `{too_large, Words}`.
fn value<'h>(h: &'h Heap, t: Term<'_>, most: usize) -> Term<'h> {
    match flat_size(t) {
        size if size > most => h.tuple(&[am::too_large.into(), h.integer(size as i64)]),
        _ => h.tuple(&[am::value.into(), h.copy(t)]),
    }
}
