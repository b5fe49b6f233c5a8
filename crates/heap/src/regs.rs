//! The registers of a scheduler: the state of compiled code beside the process that it runs.

use std::cell::UnsafeCell;

/// The x registers beyond the highest one that an instruction may name (1022) are for the VM
/// itself: three, for the state of an instruction that is resumed later.
pub const X_REGS: usize = 1026;
pub const F_REGS: usize = 1024;
const SCRATCH_WORDS: usize = 32;

/// One for each scheduler. Native code holds its address in a machine register.
#[repr(C)]
pub struct Regs {
    pub(crate) x: UnsafeCell<[u64; X_REGS]>,
    pub(crate) f: UnsafeCell<[f64; F_REGS]>,
    /// Words for passing values between native code and its helpers.
    pub(crate) scratch: UnsafeCell<[u64; SCRATCH_WORDS]>,
}

impl Regs {
    pub const X: usize = std::mem::offset_of!(Regs, x);
    pub const F: usize = std::mem::offset_of!(Regs, f);
    pub const SCRATCH: usize = std::mem::offset_of!(Regs, scratch);

    pub fn new() -> Box<Regs> {
        Box::new(Regs {
            x: UnsafeCell::new([kvik_term::word::NIL; X_REGS]),
            f: UnsafeCell::new([0.0; F_REGS]),
            scratch: UnsafeCell::new([0; SCRATCH_WORDS]),
        })
    }
    /// The x registers, for native code's helpers.
    pub fn x_ptr(&self) -> *mut u64 {
        self.x.get().cast()
    }
    /// Sets an x register; without effect if there is no such register.
    pub fn set_x(&self, n: usize, w: u64) {
        if n < X_REGS {
            // SAFETY: there are so many, and only this thread has them.
            unsafe { *self.x_ptr().add(n) = w }
        }
    }
    /// The same for a scratch word.
    pub fn set_scratch(&self, n: usize, w: u64) {
        if n < SCRATCH_WORDS {
            // SAFETY: as for x registers.
            unsafe { *self.scratch_ptr().add(n) = w }
        }
    }
    pub fn f_ptr(&self) -> *mut f64 {
        self.f.get().cast()
    }
    pub fn scratch_ptr(&self) -> *mut u64 {
        self.scratch.get().cast()
    }
}
