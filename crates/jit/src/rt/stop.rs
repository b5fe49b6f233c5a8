//! Safepoints: collecting, and leaving native code.

use std::ptr::NonNull;

use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_proc::process::flag;
use kvik_proc::sched::microstate_timing::collecting;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::{am, CodeAddress, Term};

use super::Operands;

use crate::checked::check_roots;

/// The address in a word whose upper bits templates use for something else.
fn address(extra: u64) -> CodeAddress {
    // SAFETY: templates and stubs give the address of a place at which they continue.
    unsafe { CodeAddress::new((extra & ((1 << 48) - 1)) as usize) }
}

/// Makes room: words needed above bit 16, live x registers below.
pub extern "C" fn collect(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    let (need, live) = ((extra >> 16) as usize, (extra & 0xFFFF) as usize);
    check_roots(p, regs, live);
    // SAFETY: a safepoint: the live x registers, the stack and the roots hold all terms.
    match unsafe { collect_now(p, regs.x_ptr(), live, need) } {
        true => 0,
        false => NONE,
    }
}

/// False when the process must end because its heap is too large.
///
/// # Safety
/// As for `Heap::collect`.
pub(super) unsafe fn collect_now(p: &Proc, x: *mut u64, live: usize, need: usize) -> bool {
    // SAFETY: as the caller says.
    let stats = unsafe {
        let full = p.take_full_gc();
        let heard = p.gc_begins(full, need);
        let stats = collecting(p.heap.sizes().block, || p.heap.collect(x, live, need, full));
        p.gc_ended(heard, &stats);
        p.note_collection();
        kvik_proc::sched::note_collection(p);
        stats
    };
    p.check_heap(&stats).is_ok()
}

/// Hibernates: drops the stack. When a message arrives, the function in `Root::Trap` is called.
pub(super) fn hibernate(p: &Proc) {
    // SAFETY: the function that is called on wake-up begins without a stack.
    unsafe { p.heap.cut_stack(0) };
    if !p.heap.has_room(3) {
        // SAFETY: nothing is live but what the roots hold.
        let stats = unsafe { p.heap.collect(NonNull::dangling().as_ptr(), 0, 3, false) };
        p.gc_ended(None, &stats);
    }
    let Some(call) = p.heap.root(Root::Trap).as_tuple() else { return };
    p.heap.save_args(call.elements());
    p.heap.set_ip(crate::start_ip());
    for r in [Root::Trap, Root::Spare, Root::ExcValue] {
        p.heap.set_root(r, Term::NIL);
    }
    p.wait_in_hibernation();
}

/// Ends the time slice. `extra`: number of live x registers from bit 48 on, the address at which to
/// continue below.
pub extern "C" fn yield_(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    let live = (extra >> 48) as usize;
    check_roots(p, regs, live);
    // SAFETY: a safepoint, as above; the registers are terms.
    unsafe {
        let due = p.heap.gc_due() && !p.heap.is_suspended();
        let wait = (due || p.heap.is_nearly_full()) && p.collect_after_turn();
        // The collection that it waits for needs no room behind the saved registers.
        let room = if wait { p.heap.has_words(live) } else { p.heap.has_room(live) };
        if due && !wait || !room {
            collect_now(p, regs.x_ptr(), live, live);
        }
        p.heap.save_x(regs.x_ptr(), live);
    }
    p.heap.set_ip(address(extra));
    0
}

/// `erlang:hibernate/0`: hibernates with its stack, to continue at an address where x0 is live. The
/// operands are those of `yield_`.
pub extern "C" fn hibernate_keeping_stack(
    p: &Proc,
    regs: &Regs,
    args: Operands,
    extra: u64,
) -> u64 {
    regs.set_x(0, am::ok.word());
    yield_(p, regs, args, extra);
    p.wait_in_hibernation();
    0
}

/// The process to continue and its address; null if there is none.
#[repr(C)]
pub struct NextProcess {
    p: *const Proc,
    ip: usize,
}
pub type WaitFn = unsafe extern "C" fn(*const Proc, &Regs, u64) -> NextProcess;

/// Makes the process wait, to continue at an address where no x register is live. The scheduler may
/// switch to another process at once.
///
/// # Safety
/// `p` is the running process.
pub unsafe extern "C" fn wait(p: *const Proc, regs: &Regs, extra: u64) -> NextProcess {
    // SAFETY: it runs here until `to_next`, after which it is not touched.
    let p = unsafe { &*p };
    // Bit 48 is set if `wait_timeout` has registered the wait already.
    if extra >> 48 == 0 {
        p.wait();
    }
    if p.flag(flag::LARGE_HEAP) && p.heap.is_nearly_full() {
        p.collect_after_turn();
    }
    p.heap.set_ip(address(extra));
    match kvik_proc::sched::to_next() {
        Some(next) => NextProcess {
            p: next.as_ptr(),
            // SAFETY: it is this thread's now, and stopped as native code left it.
            ip: unsafe { goes_on(next.as_ref(), regs) },
        },
        None => NextProcess { p: std::ptr::null(), ip: 0 },
    }
}

/// Loads the registers of a stopped process; returns the address at which it continues.
///
/// # Safety
/// This thread owns the process, and its saved registers and address come from native code.
pub(crate) unsafe fn goes_on(p: &Proc, regs: &Regs) -> usize {
    // SAFETY: as the caller says: they fit.
    unsafe { p.heap.load_x(regs.x_ptr()) };
    let ip = p.heap.ip();
    // A running process has no saved address.
    p.heap.set_ip(CodeAddress::NONE);
    ip
}
