//! The registers of a scheduler: what compiled code has beside the process it runs.

use std::cell::UnsafeCell;

/// X registers beyond the highest one an instruction may name (1022) are for the VM itself: three,
/// for what an instruction keeps that goes on later.
pub const X_REGS: usize = 1026;
pub const F_REGS: usize = 1024;

/// One for each scheduler. Native code holds its address in a machine register.
#[repr(C)]
pub struct Regs {
    pub(crate) x: UnsafeCell<[u64; X_REGS]>,
    pub(crate) f: UnsafeCell<[f64; F_REGS]>,
    /// Words that native code and its helpers pass each other.
    pub(crate) scratch: UnsafeCell<[u64; 32]>,
}

impl Regs {
    pub const X: usize = std::mem::offset_of!(Regs, x);
    pub const F: usize = std::mem::offset_of!(Regs, f);
    pub const SCRATCH: usize = std::mem::offset_of!(Regs, scratch);

    pub fn new() -> Box<Regs> {
        Box::new(Regs {
            x: UnsafeCell::new([kvik_term::word::NIL; X_REGS]),
            f: UnsafeCell::new([0.0; F_REGS]),
            scratch: UnsafeCell::new([0; 32]),
        })
    }
    /// The x registers, for native code's helpers.
    pub fn x_ptr(&self) -> *mut u64 {
        self.x.get().cast()
    }
    pub fn f_ptr(&self) -> *mut f64 {
        self.f.get().cast()
    }
    pub fn scratch_ptr(&self) -> *mut u64 {
        self.scratch.get().cast()
    }
}
