//! Where most processes are in no cache, whoever is woken is fetched beforehand, and so are those that
//! will probably be woken after it: docs/internals/scheduling.md.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use super::local::Local;
use crate::process::table;

/// Processes from which on those that wait are mostly in no cache but the slowest.
const CROWD: usize = 8_192;
/// Wake-ups that lie between the fetching of a process and its own, where those before it came as
/// they were foreseen: the slowest memory takes longer than a turn.
const AHEAD: u32 = 5;

/// For each place in the table, whom the process there woke last. An entry is a hint: it may be of one
/// that is gone, or 0.
static WOKEN_BY: OnceLock<Box<[AtomicU32]>> = OnceLock::new();
/// There is something in it.
static USED: AtomicBool = AtomicBool::new(false);

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
}

impl Local {
    /// A process is woken, in a crowd, by the one that runs here.
    pub(super) fn fetch_ahead(&self, woken: u32) {
        let Some(after) = WOKEN_BY.get() else { return };
        let place = |pid: u32| &after[pid as usize & (after.len() - 1)];
        if let Some(waker) = self.stage.with(|p| p.pid()) {
            place(waker).store(woken, Relaxed);
        }
        let mut f = self.foreseen.get();
        // Each that comes as it should lets one look further ahead, one that does not begins anew.
        let most = match f.next == woken && f.ahead > 0 {
            true => {
                f.ahead -= 1;
                AHEAD.min(f.ahead + 2)
            }
            false => {
                table().fetch(woken);
                f = Foreseen { last: woken, ..Foreseen::default() };
                1
            }
        };
        while f.ahead < most {
            f.last = place(f.last).load(Relaxed);
            f.ahead += 1;
            table().fetch(f.last);
        }
        f.next = place(woken).load(Relaxed);
        self.foreseen.set(f);
    }
}
