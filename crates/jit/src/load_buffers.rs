//! Buffers that one module's loading leaves to the next while the VM boots.
//!
//! Preparing a module temporarily takes about ten times its code's size. A boot prepares about
//! seventy modules; allocating and freeing that memory for each would cause a third of all page
//! faults of the boot.

use std::sync::{Mutex, MutexGuard};

use crate::compiler::Scratch;
use crate::target::Asm;

/// Most buffers in use at once while the VM boots.
const MAX_BUFFERS: usize = 4;
/// Initial capacity for code, in bytes; most modules need less. Unused pages are never touched.
const CODE: usize = 96 << 10;
/// Larger buffers are freed instead of kept.
const MAX_KEPT_BYTES: usize = 3 << 20;

#[derive(Default)]
pub(crate) struct LoadBuffers {
    pub reading: kvik_beam::ReadBuffers,
    pub compiling: Scratch,
    /// What is read from the code cache.
    pub entry: Vec<u8>,
}

kvik_state::vm_state! {
    /// Unused buffers; `None` once the VM has booted.
    static FREE_BUFFERS: Mutex<Option<Vec<LoadBuffers>>> = Mutex::new(Some(Vec::new()));
}

fn kept() -> MutexGuard<'static, Option<Vec<LoadBuffers>>> {
    FREE_BUFFERS.lock().unwrap_or_else(|e| e.into_inner())
}

impl LoadBuffers {
    pub fn take() -> LoadBuffers {
        match kept().as_mut() {
            Some(all) => all.pop().unwrap_or_else(LoadBuffers::new),
            None => LoadBuffers::default(),
        }
    }
    fn new() -> LoadBuffers {
        let a = Asm::with_room(8 * CODE);
        let compiling = Scratch { a, places: Vec::with_capacity(CODE / 8) };
        let entry = Vec::with_capacity(4 * CODE);
        LoadBuffers { reading: kvik_beam::ReadBuffers::new(CODE), compiling, entry }
    }
    pub fn give_back(self) {
        let used = self.reading.bytes() + self.compiling.a.buf.len() + self.entry.len();
        if let Some(all) =
            kept().as_mut().filter(|all| all.len() < MAX_BUFFERS && used <= MAX_KEPT_BYTES)
        {
            all.push(self);
        }
    }
}

/// Ends buffer reuse after the boot: from now on each module allocates its own memory.
pub fn free_buffers() {
    let all = kept().take();
    drop(all);
    crate::mem::settle();
}
