//! The list of all entries of a table: `processes/0` and `ports/0`.
//!
//! OTP reads its table in chunks and pays for every slot, used or not: `processes/0` takes two time
//! slices more of OTP 25's 262,144 slots, and ten of the 1,048,576 that there are since OTP 26. kvik
//! reads the table in one go and takes as many time slices, for others run in between.

use kvik_heap::SuspendedState;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

/// Slots of the table per reduction.
pub const SLOTS: usize = 25;
/// Slots read before the process looks at the reductions it has left.
const CHUNK: usize = 1000;
/// Identifiers listed per reduction.
pub const LISTED: usize = 75;
/// With fewer reductions left the BIF starts in the process's next time slice.
pub const MIN_REDUCTIONS: usize = CHUNK / SLOTS;

/// What was read, and how much of it the process has not paid for.
struct Progress {
    ids: Vec<u32>,
    slots: usize,
    unlisted: usize,
}

/// `None`: the table is not read yet.
struct Listing;
impl SuspendedState for Listing {
    type In<'h> = Option<Progress>;
}

impl Progress {
    /// Pays with the reductions of this time slice. True once all is paid.
    fn pay(&mut self, p: &Proc) -> bool {
        let left = || p.heap.reductions_left().max(0) as usize;
        while self.slots > 0 {
            let n = self.slots.min(CHUNK);
            self.slots -= n;
            p.heap.bump_reductions((n / SLOTS) as i64);
            if left() == 0 || left() < self.slots.min(CHUNK) / SLOTS {
                return false;
            }
        }
        let n = self.unlisted.min(left() * LISTED);
        self.unlisted -= n;
        p.heap.bump_reductions((n / LISTED) as i64);
        self.unlisted == 0
    }
}

/// The list of the entries that `read` finds in a table with `slots` slots.
pub fn list<'h>(
    p: &'h Proc,
    slots: usize,
    read: impl FnOnce() -> Vec<u32>,
    identifier: fn(u32) -> Term<'static>,
) -> BifResult<'h> {
    let shown = || Some(kvik_code::export(am::erlang, am::ptab_list_continue, 2));
    let begun = p.resumed::<Listing>();
    if begun.is_none() && p.heap.reductions_left() < MIN_REDUCTIONS as i64 {
        p.give_up_turn();
        return Err(p.again::<Listing>(None, shown()));
    }
    let mut progress = begun.flatten().unwrap_or_else(|| {
        let ids = read();
        Progress { slots, unlisted: ids.len(), ids }
    });
    if !progress.pay(p) {
        p.give_up_turn();
        return Err(p.again::<Listing>(Some(progress), shown()));
    }
    let all: Vec<Term<'h>> = progress.ids.into_iter().map(identifier).collect();
    Ok(p.heap.list(&all))
}
