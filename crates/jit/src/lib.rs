//! Native code: every function of a module becomes machine code when the module is loaded, from
//! one template per instruction. See `docs/internals/code.md`.

pub mod breakpoints;
mod checked;
mod checkpoints;
mod code_cache;
mod compiler;
mod continuation;
mod coverage;
mod debug_items;
mod entry_breakpoints;
pub mod frames;
mod function;
pub mod line_breakpoints;
mod load;
mod load_buffers;
pub mod mem;
mod rt;
mod stubs;
mod target;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use kvik_heap::Regs;
use kvik_proc::{CurrentTask, Proc};
use kvik_term::{am, Atom, CodeAddress, CodeCell, Export, NativeCell, StagedIndex, Term};

pub use code_cache::{
    code_key, keep_up_code_cache, save_code_cache, set_code_cache, CodeCache, Key as CodeKey,
};
pub use load::{name_atoms, prepare, LoadError};
pub use load_buffers::free_buffers;
pub use rt::trace::{
    capture, goes_on, of_process, returns, slots, stacktrace, uses_code, uses_old_code, StackSlot,
    LINE_NUMBERS,
};

/// Why a process stopped running.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Its time slice is over; it is runnable.
    Yield,
    /// It waits for a message (or a time-out).
    Wait,
    /// An uncaught exception: class in `heap.exc_class()`, reason in `Root::ExcValue`.
    Failed,
    /// Its first function has returned.
    Returned,
}

/// Makes the stubs that all native code shares; `false` if there is no executable memory.
pub fn init() -> bool {
    stubs::get().is_some()
}

/// Runs a scheduler's current task, or the one that replaced it, until it stops. Registers are
/// loaded from the heap and saved there.
pub fn run_on(current_task: &CurrentTask, regs: &Regs) -> RunOutcome {
    match current_task.address() {
        // SAFETY: the current task is this thread's.
        Some(p) => unsafe { enter(p.as_ptr(), regs) },
        None => RunOutcome::Failed,
    }
}
/// Runs a process until it stops.
pub fn run(p: &Proc, regs: &Regs) -> RunOutcome {
    // SAFETY: the caller owns the process, so it may run it.
    unsafe { enter(p, regs) }
}

/// # Safety
/// This thread alone owns the process until another replaces it.
unsafe fn enter(p: *const Proc, regs: &Regs) -> RunOutcome {
    let Some(s) = stubs::get() else { return RunOutcome::Failed };
    // SAFETY: the saved registers fit; the stub is code of ours with this signature.
    let code = unsafe {
        let ip = rt::stop::goes_on(&*p, regs);
        let enter: extern "C" fn(*const Proc, &Regs, usize) -> u64 =
            std::mem::transmute(s.enter.get());
        enter(p, regs, ip)
    };
    match code {
        stubs::YIELD => RunOutcome::Yield,
        stubs::WAIT => RunOutcome::Wait,
        stubs::RETURNED => RunOutcome::Returned,
        _ => RunOutcome::Failed,
    }
}

/// Makes a new process call `M:F(Args…)` when it first runs.
pub fn start<'h>(p: &'h Proc, module: Term<'h>, function: Term<'h>, args: Term<'h>) {
    p.heap.save_args(&[module, function, args]);
    p.heap.set_ip(start_ip());
}

/// The value of `extra` in the exports of `erlang:apply/2,3`.
pub(crate) const APPLY: usize = 1;

/// The address at which a new process begins, with module, function and argument list in its first
/// three registers.
pub fn start_ip() -> CodeAddress {
    stubs::get().map_or(CodeAddress::NONE, |s| s.begin)
}

/// Binds `erlang:apply/2,3`, which are neither BIFs nor compiled functions, to their stubs.
pub fn bind_apply() {
    let Some(s) = stubs::get() else { return };
    let bind = |arity, address| {
        let e = kvik_code::export(am::erlang, am::apply, arity);
        // Not a BIF's address, but it keeps a module's own version from being bound.
        // SAFETY: the code is put there next, and takes it for nothing.
        unsafe { e.extra.set(APPLY) };
        e.code.set(address);
    };
    bind(2, s.apply_fun);
    bind(3, s.apply);
}

/// Points an export without code of its own at a BIF's stub, or at the error handler.
pub fn bind_bif(e: &'static Export, f: kvik_proc::Bif) {
    let Some(s) = stubs::get() else { return };
    // SAFETY: `bif` calls a function of this type.
    unsafe { e.extra.set(f as usize) };
    e.code.set(s.bif);
}
/// The same for a BIF whose calls cost no reduction.
pub fn bind_uncounted_bif(e: &'static Export, f: kvik_proc::Bif) {
    bind_bif(e, f);
    let Some(s) = stubs::get() else { return };
    e.code.set(s.uncounted_bif);
}
/// The same for a BIF that makes large binaries: before each call, the garbage made since its last
/// call is freed, so that its memory is available for the next binary.
pub fn bind_shedding_bif(e: &'static Export, f: kvik_proc::Bif) {
    bind_bif(e, f);
    let Some(s) = stubs::get() else { return };
    e.code.set(s.shedding_bif);
}

pub use rt::call::Nif;

/// The export entry for a NIF: `f` is called with that entry and the arguments. The entry may be
/// the first field of a larger structure.
pub fn nif_entry(module: Atom, function: Atom, arity: u32, f: Nif) -> Option<Export> {
    let code = CodeCell::new(stubs::get()?.nif);
    // SAFETY: `nif` calls a function of this type.
    let extra = unsafe { NativeCell::new(f as usize) };
    Some(Export { code, extra, module, function, arity, index: StagedIndex::new(0) })
}

/// The target of fun entries without code.
pub fn no_fun() -> CodeAddress {
    stubs::get().map_or(CodeAddress::NONE, |s| s.no_fun)
}
