//! Places schedulers with pinned programs on different CPUs.
//!
//! The kernel wakes a thread on the CPU of the program that woke it. So two schedulers that talk to
//! programs can end up on one CPU, with all of their programs, and another CPU is idle until the
//! kernel spreads them, which takes a second or more. A scheduler that finds another one on its CPU
//! migrates to a CPU without pinned programs; after that it may run anywhere, as before.

use std::sync::Mutex;

use kvik_env::cpu_affinity::CpuSet;

kvik_state::vm_state! {
    /// Which schedulers have pinned programs, and on which CPU.
    static OCCUPIED_CPUS: Mutex<Vec<(usize, CpuSet)>> = Mutex::new(Vec::new());
}

/// The CPU on which a scheduler, this thread, is to pin a program that may run on `all`: the
/// thread's current CPU, perhaps after a migration. None if that is not in `all`.
pub(crate) fn settle(scheduler: usize, all: &CpuSet) -> Option<CpuSet> {
    let here = CpuSet::here().filter(|here| all.has(here))?;
    let mut places = OCCUPIED_CPUS.lock().unwrap_or_else(|e| e.into_inner());
    let own = places.iter().find(|p| p.0 == scheduler).map(|p| p.1);
    if own == Some(here) {
        return own;
    }
    places.retain(|p| p.0 != scheduler);
    let is_free = |at: &CpuSet| places.iter().all(|p| p.1 != *at);
    let to = if is_free(&here) { None } else { go(|at| all.has(at) && is_free(at), own) };
    let at = to.unwrap_or(here);
    places.push((scheduler, at));
    Some(at)
}

/// Migrates this thread to an allowed CPU that is `free`, preferably to `own`.
fn go(free: impl Fn(&CpuSet) -> bool, own: Option<CpuSet>) -> Option<CpuSet> {
    let mine = CpuSet::of(0).ok()?;
    let is_free = |at: &CpuSet| mine.has(at) && free(at);
    let to = own.filter(is_free).or_else(|| mine.each().find(is_free))?;
    to.keep(0).ok()?;
    // It stays there until the kernel has a reason to move it.
    mine.keep(0).ok()?;
    Some(to)
}

/// The scheduler has no pinned program any more.
pub(crate) fn leave(scheduler: usize) {
    OCCUPIED_CPUS.lock().unwrap_or_else(|e| e.into_inner()).retain(|p| p.0 != scheduler);
}

#[cfg(test)]
mod tests {
    use kvik_state::Vm;

    use super::*;

    /// The first of the scheduler numbers used here.
    const FIRST: usize = 1000;

    #[test]
    fn each_scheduler_gets_its_own_cpu() {
        Vm::new().enter(|| {
            let mine = CpuSet::of(0).unwrap();
            let mut places = vec![];
            for n in 0..mine.count() as usize {
                let at = settle(FIRST + n, &mine).unwrap();
                assert!(at.count() == 1 && mine.has(&at) && !places.contains(&at));
                // It may run anywhere as before.
                assert_eq!(CpuSet::of(0), Ok(mine));
                places.push(at);
            }
            // One more stays where it is.
            let more = FIRST + places.len();
            assert!(settle(more, &mine).is_some_and(|at| places.contains(&at)));
            // A CPU is free again when its scheduler leaves.
            leave(FIRST);
            leave(more);
            assert_eq!(settle(more, &mine), Some(places[0]));
            (FIRST..=more).for_each(leave);
            assert!(OCCUPIED_CPUS.lock().unwrap().is_empty());
        })
    }

    #[test]
    fn scheduler_without_an_allowed_free_cpu_stays() {
        Vm::new().enter(|| {
            let mine = CpuSet::of(0).unwrap();
            let here = CpuSet::here().unwrap();
            here.keep(0).unwrap();
            assert_eq!(settle(FIRST, &mine), Some(here));
            assert_eq!(settle(FIRST, &mine), Some(here));
            assert_eq!(settle(FIRST + 1, &mine), Some(here));
            // The program may not run here.
            if let Some(other) = mine.each().find(|p| *p != here) {
                assert_eq!(settle(FIRST + 2, &other), None);
            }
            mine.keep(0).unwrap();
            (FIRST..FIRST + 3).for_each(leave);
        })
    }
}
