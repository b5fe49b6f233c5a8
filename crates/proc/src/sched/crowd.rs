//! Where most processes are in no cache, whoever is woken is fetched beforehand, and so are those that
//! will probably be woken after it: docs/internals/scheduling.md.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::process::table;

/// Processes from which on those that wait are mostly in no cache but the slowest.
const CROWD: usize = 8_192;
/// Wake-ups that lie between the fetching of a process and its own, where those before it came as
/// they were foreseen: the slowest memory takes longer than a turn.
const AHEAD: u32 = 5;

kvik_state::vm_state! {
    /// For each place in the table, whom the process there woke last. An entry is a hint: it may be of one
    /// that is gone, or 0.
    static WOKEN_BY: OnceLock<Box<[AtomicU32]>> = OnceLock::new();
    /// There is something in it.
    static USED: AtomicBool = AtomicBool::new(false);
}

/// Are there so many? While there are it is noted who wakes whom.
pub(super) fn is_there() -> bool {
    let count = table().count();
    if count >= CROWD {
        WOKEN_BY.get_or_init(|| kvik_sys::alloc::zeroes(table().size()));
        USED.store(true, Relaxed);
    } else if count < CROWD / 2 && USED.load(Relaxed) && USED.swap(false, Relaxed) {
        WOKEN_BY.get().into_iter().for_each(|words| kvik_sys::alloc::clear(words));
    }
    count >= CROWD
}

/// What a scheduler foresees.
#[derive(Copy, Clone, Default)]
pub(super) struct Foreseen {
    /// Who should be woken next.
    next: u32,
    /// The last that was fetched, and how many wake-ups later it should be woken.
    last: u32,
    ahead: u32,
    /// From the number of who was woken last to that of whom it woke in turn. Processes are often made
    /// in the order in which they will talk, and so those that have not woken anybody yet are taken
    /// to do as their neighbour did.
    step: u32,
    woken: u32,
}

impl Foreseen {
    /// Whom that one will wake.
    #[inline]
    fn after(&self, after: &[AtomicU32], pid: u32) -> u32 {
        match place(after, pid).load(Relaxed) {
            0 => pid.wrapping_add(self.step),
            known => known,
        }
    }
    /// A process is woken, in a crowd, by the one that runs.
    #[inline(always)]
    pub fn fetch_ahead(&mut self, waker: Option<u32>, woken: u32) {
        let Some(after) = WOKEN_BY.get() else { return };
        if let Some(waker) = waker {
            place(after, waker).store(woken, Relaxed);
            if waker == self.woken {
                self.step = woken.wrapping_sub(waker);
            }
        }
        self.woken = woken;
        // Each that comes as it should lets one look further ahead, one that does not begins anew.
        let most = match self.next == woken && self.ahead > 0 {
            true => {
                self.ahead -= 1;
                AHEAD.min(self.ahead + 2)
            }
            false => {
                table().fetch(woken);
                (self.last, self.ahead) = (woken, 0);
                1
            }
        };
        while self.ahead < most {
            self.last = self.after(after, self.last);
            self.ahead += 1;
            table().fetch(self.last);
        }
        self.next = self.after(after, woken);
    }
}

#[inline]
fn place(after: &[AtomicU32], pid: u32) -> &AtomicU32 {
    &after[pid as usize & (after.len() - 1)]
}
