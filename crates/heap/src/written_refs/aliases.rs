//! The processes of aliases that have been written out. An alias that ends leaves the table. OTP 25 has
//! every alias in such a table; here a call of a server, which makes one, does not write to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Number of entries at which those of ended processes are first removed: an alias that is written
/// out after its end is not removed by it.
const FIRST_SWEEP: usize = 1024;
/// Number of counters by which the end of an alias mostly sees that it is not in the table.
const COUNTERS: usize = 4096;

struct Table {
    all: HashMap<[u32; 3], u32>,
    /// At that many entries it is swept.
    sweep_at: usize,
}

kvik_state::vm_state! {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    /// How many entries there are with numbers that select the counter.
    static COUNTS: [AtomicU32; COUNTERS] = [const { AtomicU32::new(0) }; COUNTERS];
    static IS_ALIVE: OnceLock<fn(u32) -> bool> = OnceLock::new();
}

/// Sets the function that tells whether there is a process of that number.
pub fn set_liveness(is_alive: fn(u32) -> bool) {
    let _ = IS_ALIVE.set(is_alive);
}

fn table() -> MutexGuard<'static, Table> {
    let empty = || Mutex::new(Table { all: HashMap::new(), sweep_at: FIRST_SWEEP });
    TABLE.get_or_init(empty).lock().unwrap_or_else(|e| e.into_inner())
}
#[inline]
fn count(numbers: [u32; 3]) -> &'static AtomicU32 {
    &COUNTS[numbers[0] as usize % COUNTERS]
}

pub(super) fn remember(numbers: [u32; 3], pid: u32) {
    let mut table = table();
    if table.all.insert(numbers, pid).is_none() {
        count(numbers).fetch_add(1, Relaxed);
        if table.all.len() >= table.sweep_at {
            sweep(&mut table);
        }
    }
}
#[cold]
fn sweep(table: &mut Table) {
    if let Some(is_alive) = IS_ALIVE.get() {
        table.all.retain(|numbers, pid| {
            let alive = is_alive(*pid);
            count(*numbers).fetch_sub(!alive as u32, Relaxed);
            alive
        });
    }
    table.sweep_at = FIRST_SWEEP.max(2 * table.all.len());
}
/// The process of the alias with these numbers.
pub(super) fn find(numbers: [u32; 3]) -> Option<u32> {
    match count(numbers).load(Relaxed) {
        0 => None,
        _ => table().all.get(&numbers).copied(),
    }
}
/// To be called when an alias ends.
#[inline]
pub fn forget(numbers: [u32; 3]) {
    if count(numbers).load(Relaxed) > 0 {
        forget_written(numbers);
    }
}
#[cold]
fn forget_written(numbers: [u32; 3]) {
    if table().all.remove(&numbers).is_some() {
        count(numbers).fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_leaves_the_table_with_its_end_or_that_of_its_process() {
        kvik_state::Vm::new().enter(|| {
            set_liveness(|pid| pid == 7);
            let n = |i: usize| [i as u32, 1, 2];
            (0..FIRST_SWEEP - 1).for_each(|i| remember(n(i), 6 + (i % 2) as u32));
            assert_eq!([find(n(0)), find(n(1)), find(n(FIRST_SWEEP))], [Some(6), Some(7), None]);
            forget(n(1));
            forget(n(1));
            assert_eq!(find(n(1)), None);
            (0..2).for_each(|_| remember(n(1), 7));
            remember(n(FIRST_SWEEP), 6);
            assert_eq!([find(n(0)), find(n(1)), find(n(FIRST_SWEEP))], [None, Some(7), None]);
            (0..FIRST_SWEEP).for_each(|i| forget(n(i)));
            assert!(table().all.is_empty() && COUNTS.iter().all(|c| c.load(Relaxed) == 0));
        });
    }
}
