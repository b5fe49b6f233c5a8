//! Breakpoints at lines: see `line_breakpoints.rs`.

use kvik_heap::regs::X_REGS;
use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::{am, Export, Term};

use super::Operands;
use crate::continuation::is_continuation;
use crate::stubs;

/// Arguments of `erts_internal:breakpoint/4`: module, function, arity, line.
const ARGS: usize = 4;

/// A process has come to a breakpoint behind which it goes on at `resume`. Returns the address to
/// go to: that of `erts_internal:breakpoint/4`, or `resume` itself if that function is not there or
/// has the breakpoint. In the first scratch word: the function's export.
pub extern "C" fn hit(p: &Proc, regs: &Regs, _: Operands, resume: u64) -> u64 {
    regs.set_scratch(0, 0);
    stop_at(p, regs, resume).map_or(resume, |e| {
        regs.set_scratch(0, e as *const Export as u64);
        e.address() as u64
    })
}

fn stop_at(p: &Proc, regs: &Regs, resume: u64) -> Option<&'static Export> {
    let to = kvik_code::find_export(am::erts_internal, am::breakpoint, ARGS as u32)?;
    let i = kvik_code::at(resume as usize)?;
    let point = *i.debug.point_before((resume as usize).checked_sub(i.start)?)?;
    let f = i.functions.get(point.function)?;
    if (i.name, f.function, f.arity) == (to.module, to.function, to.arity) {
        return None;
    }
    if !save_registers(p, regs, point.live.into(), resume) {
        return None;
    }
    let args = [
        i.name.into(),
        f.function.into(),
        Term::int(f.arity as i32),
        Term::int(i32::try_from(point.line).unwrap_or(0)),
    ];
    args.into_iter().enumerate().for_each(|(n, t): (usize, Term<'_>)| regs.set_x(n, t.word()));
    Some(to)
}

/// Puts the address at which the process goes on, the live x registers and the return address of
/// the called function on the stack. False if there is no room, and the process must end.
fn save_registers(p: &Proc, regs: &Regs, live: usize, resume: u64) -> bool {
    let (live, Some(s)) = (live.min(X_REGS), stubs::get()) else { return false };
    let words = live + 2;
    if !p.heap.has_room(words) {
        // SAFETY: a safepoint: the verifier has proved that the live x registers and all y
        // registers hold terms.
        unsafe { super::stop::collect_now(p, regs.x_ptr(), live, words) };
    }
    if !p.heap.has_room(words) {
        return false;
    }
    // SAFETY: there is room; code addresses, and registers that hold terms.
    unsafe {
        p.heap.push_stack(resume);
        for n in (0..live).rev() {
            p.heap.push_stack(*regs.x_ptr().add(n));
        }
        p.heap.push_stack(s.line_resume.get() as u64);
    }
    true
}

/// The debugger has let the process go on: restores the x registers. The address at which it goes
/// on is then on top of the stack.
pub extern "C" fn resumed(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    // SAFETY: native code waits for our answer.
    let stack = unsafe { p.heap.stack() };
    let saved = stack.iter().take_while(|w| !is_continuation(**w));
    let mut live = 0;
    for w in saved {
        regs.set_x(live, *w);
        live += 1;
    }
    // SAFETY: what remains begins with the continuation behind the registers.
    unsafe { p.heap.cut_stack(stack.len() - live) };
    NONE
}
