//! Safepoints: collecting, and leaving native code.

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::am;
use kvik_term::word::NONE;

const ADDRESS: u64 = (1 << 48) - 1;

/// Makes room: words needed above bit 16, live x registers below.
pub extern "sysv64" fn collect(p: &Proc, regs: &Regs, _: *const u64, extra: u64) -> u64 {
    let (need, live) = ((extra >> 16) as usize, (extra & 0xFFFF) as usize);
    // SAFETY: a safepoint: the live x registers, the stack and the roots hold all terms.
    let stats = unsafe { p.heap.collect(regs.x_ptr(), live, need, false) };
    if stats.too_large {
        p.exit(am::killed);
        return NONE;
    }
    0
}

/// The turn is over: live x registers above bit 48, the address to go on at below.
pub extern "sysv64" fn yield_(p: &Proc, regs: &Regs, _: *const u64, extra: u64) -> u64 {
    let live = (extra >> 48) as usize;
    // SAFETY: a safepoint, as above; the registers are terms.
    unsafe {
        if p.heap.gc_due() {
            p.heap.collect(regs.x_ptr(), live, 0, false);
        }
        p.heap.save_x(regs.x_ptr(), live);
    }
    p.heap.set_ip((extra & ADDRESS) as usize);
    0
}

/// The process waits, and goes on at an address where nothing is live in x registers.
pub extern "sysv64" fn wait(p: &Proc, _: &Regs, _: *const u64, extra: u64) -> u64 {
    // `wait_timeout` has noted the wait already: bit 48 tells.
    if extra >> 48 == 0 {
        (crate::ops::get().wait)(p);
    }
    let address = extra & ADDRESS;
    p.heap.save_args(&[]);
    p.heap.set_ip(address as usize);
    0
}
