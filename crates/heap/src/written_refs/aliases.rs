//! The processes of aliases that have been written out. An alias that ends leaves the table. OTP 25 has
//! every alias in such a table; here a call of a server, which makes one, does not write to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Number of entries at which the table is first swept: an alias that is written out after its end is
/// not removed by it.
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
    static SWEEP: OnceLock<Sweep> = OnceLock::new();
}

/// Has a process, by its number, [`forget_ended`] those of these aliases that it has not; all, if there
/// is no such process.
pub type Sweep = fn(u32, Vec<[u32; 3]>);

pub fn set_sweep(sweep: Sweep) {
    let _ = SWEEP.set(sweep);
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
    if table.all.insert(numbers, pid).is_some() {
        return;
    }
    count(numbers).fetch_add(1, Relaxed);
    if table.all.len() < table.sweep_at {
        return;
    }
    // Until the processes have answered.
    table.sweep_at *= 2;
    let mut of: HashMap<u32, Vec<[u32; 3]>> = HashMap::new();
    table.all.iter().for_each(|(numbers, pid)| of.entry(*pid).or_default().push(*numbers));
    drop(table);
    if let Some(sweep) = SWEEP.get() {
        of.into_iter().for_each(|(pid, numbers)| sweep(pid, numbers));
    }
}
/// To be called for aliases that a sweep finds ended.
pub fn forget_ended(all: impl Iterator<Item = [u32; 3]>) {
    let mut table = table();
    for numbers in all {
        if table.all.remove(&numbers).is_some() {
            count(numbers).fetch_sub(1, Relaxed);
        }
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
    fn an_alias_leaves_the_table_with_its_end_or_a_sweep() {
        kvik_state::Vm::new().enter(|| {
            // Process 7 has all of its aliases, process 6 none any more.
            set_sweep(|pid, numbers| forget_ended(numbers.into_iter().filter(|_| pid != 7)));
            let n = |i: usize| [i as u32, 1, 2];
            (0..FIRST_SWEEP - 1).for_each(|i| remember(n(i), 6 + (i % 2) as u32));
            assert_eq!([find(n(0)), find(n(1)), find(n(FIRST_SWEEP))], [Some(6), Some(7), None]);
            forget(n(1));
            forget(n(1));
            assert_eq!(find(n(1)), None);
            (0..2).for_each(|_| remember(n(1), 7));
            remember(n(FIRST_SWEEP), 6);
            assert_eq!([find(n(0)), find(n(1)), find(n(FIRST_SWEEP))], [None, Some(7), None]);
            (0..100 * FIRST_SWEEP).for_each(|i| remember([i as u32, 2, 2], 6));
            assert!(table().all.len() < 2 * FIRST_SWEEP && table().sweep_at < 2 * FIRST_SWEEP);
            (0..FIRST_SWEEP).for_each(|i| forget(n(i)));
            forget_ended((0..100 * FIRST_SWEEP).map(|i| [i as u32, 2, 2]));
            assert!(table().all.is_empty() && COUNTS.iter().all(|c| c.load(Relaxed) == 0));
        });
    }
}
