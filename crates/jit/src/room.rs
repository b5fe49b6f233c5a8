//! Memory for preparing modules that is used again while the machine starts.
//!
//! To prepare a module takes some ten times its code's bytes for a moment. A start prepares some
//! seventy, and if each got that memory anew, and it went back to the system soon after, a third of
//! all page faults of a start would come from there.

use std::sync::{Mutex, MutexGuard};

use crate::compiler::Scratch;
use crate::target::Asm;

/// More than so many are never in use at once while the machine starts.
const MOST: usize = 4;
/// Bytes of code that most modules have less of. What is not used of a room is never touched.
const CODE: usize = 96 << 10;
/// One that was used for more bytes is not kept.
const LARGEST: usize = 3 << 20;

#[derive(Default)]
pub(crate) struct Room {
    pub reading: kvik_beam::Room,
    pub compiling: Scratch,
}

kvik_state::vm_state! {
    /// What is not in use; `None` when the start is over.
    static KEPT: Mutex<Option<Vec<Room>>> = Mutex::new(Some(Vec::new()));
}

fn kept() -> MutexGuard<'static, Option<Vec<Room>>> {
    KEPT.lock().unwrap_or_else(|e| e.into_inner())
}

impl Room {
    pub fn take() -> Room {
        match kept().as_mut() {
            Some(all) => all.pop().unwrap_or_else(Room::new),
            None => Room::default(),
        }
    }
    fn new() -> Room {
        let a = Asm::with_room(8 * CODE);
        let compiling = Scratch { a, places: Vec::with_capacity(CODE / 8) };
        Room { reading: kvik_beam::Room::new(CODE), compiling }
    }
    pub fn give_back(self) {
        let used = self.reading.bytes() + self.compiling.a.buf.len();
        if let Some(all) = kept().as_mut().filter(|all| all.len() < MOST && used <= LARGEST) {
            all.push(self);
        }
    }
}

/// The start is over: from now on each module gets memory of its own.
pub fn forget_rooms() {
    let all = kept().take();
    drop(all);
    crate::mem::settle();
}
