//! Native code: every function of a module becomes machine code when the module is loaded, from
//! one template per instruction. See `docs/internals/code.md`.

pub mod breaks;
mod checked;
mod checkpoints;
mod compiler;
mod continuation;
mod entry_breakpoints;
mod function;
mod load;
pub mod mem;
mod room;
mod rt;
mod stubs;
mod target;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use kvik_heap::Regs;
use kvik_proc::{Proc, Stage};
use kvik_term::{am, Atom, CodeAddress, CodeCell, Export, NativeCell, Term};

pub use load::{name_atoms, prepare, LoadError};
pub use room::forget_rooms;
pub use rt::trace::{
    capture, goes_on, of_process, returns, slots, stacktrace, uses_code, uses_old_code, Slot,
    DEPTH as BACKTRACE_DEPTH, LINE_NUMBERS,
};

/// Why a process stopped running.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Its turn is over; it is runnable.
    Yield,
    /// It waits for a message (or a time-out).
    Wait,
    /// An exception nobody caught: class in `heap.exc_class()`, reason in `Root::ExcValue`.
    Failed,
    /// Its first function has returned.
    Returned,
}

/// Makes the stubs that all native code shares; `false` where there is no executable memory.
pub fn init() -> bool {
    stubs::get().is_some()
}

/// Runs the process on a scheduler's stage until it stops, or another that took its place there.
/// Registers are taken from the heap and put back there.
pub fn run_on(stage: &Stage, regs: &Regs) -> Outcome {
    match stage.address() {
        // SAFETY: what is on the stage is this thread's.
        Some(p) => unsafe { enter(p.as_ptr(), regs) },
        None => Outcome::Failed,
    }
}
/// Runs a process until it stops.
pub fn run(p: &Proc, regs: &Regs) -> Outcome {
    // SAFETY: who has it may run it.
    unsafe { enter(p, regs) }
}

/// # Safety
/// The process is this thread's alone until another is put in its place.
unsafe fn enter(p: *const Proc, regs: &Regs) -> Outcome {
    let Some(s) = stubs::get() else { return Outcome::Failed };
    // SAFETY: the saved registers fit; the stub is code of ours with this signature.
    let code = unsafe {
        let ip = rt::stop::goes_on(&*p, regs);
        let enter: extern "C" fn(*const Proc, &Regs, usize) -> u64 =
            std::mem::transmute(s.enter.get());
        enter(p, regs, ip)
    };
    match code {
        stubs::YIELD => Outcome::Yield,
        stubs::WAIT => Outcome::Wait,
        stubs::RETURNED => Outcome::Returned,
        _ => Outcome::Failed,
    }
}

/// Makes a new process call `M:F(Args…)` when it first runs.
pub fn start<'h>(p: &'h Proc, module: Term<'h>, function: Term<'h>, args: Term<'h>) {
    p.heap.save_args(&[module, function, args]);
    p.heap.set_ip(start_ip());
}

/// What `extra` holds in the exports of `erlang:apply/2,3`.
pub(crate) const APPLY: usize = 1;

/// Where a new process begins, with module, function and list of arguments in its first three
/// registers.
pub fn start_ip() -> CodeAddress {
    stubs::get().map_or(CodeAddress::NONE, |s| s.begin)
}

/// Gives `erlang:apply/2,3`, which are no functions like others, their code.
pub fn bind_apply() {
    let Some(s) = stubs::get() else { return };
    let bind = |arity, address| {
        let e = kvik_code::export(am::erlang, am::apply, arity);
        // Not a BIF's address, but enough to keep a module's own version out.
        // SAFETY: the code is put there next, and takes it for nothing.
        unsafe { e.extra.set(APPLY) };
        e.code.set(address);
    };
    bind(2, s.apply_fun);
    bind(3, s.apply);
}

/// Where an export without code of its own leads: a BIF's stub, or the error handler.
pub fn bind_bif(e: &'static Export, f: kvik_proc::Bif) {
    let Some(s) = stubs::get() else { return };
    // SAFETY: `bif` calls a function of this type.
    unsafe { e.extra.set(f as usize) };
    e.code.set(s.bif);
}
/// The same of a BIF that makes large binaries: before it, what nobody uses any more of what was made
/// since it was called last goes, and its memory is at hand for the next.
pub fn bind_shedding_bif(e: &'static Export, f: kvik_proc::Bif) {
    bind_bif(e, f);
    let Some(s) = stubs::get() else { return };
    e.code.set(s.shedding_bif);
}

pub use rt::call::Nif;

/// The entry for a function that a NIF library has: `f` is called with it and the arguments. It may
/// be the first field of something larger.
pub fn nif_entry(module: Atom, function: Atom, arity: u32, f: Nif) -> Option<Export> {
    let code = CodeCell::new(stubs::get()?.nif);
    // SAFETY: `nif` calls a function of this type.
    let extra = unsafe { NativeCell::new(f as usize) };
    Some(Export { code, extra, module, function, arity, index: 0 })
}

/// Where the entries of funs without code lead.
pub fn no_fun() -> CodeAddress {
    stubs::get().map_or(CodeAddress::NONE, |s| s.no_fun)
}
