//! Schedulers that keep programs, each on a processor of its own.
//!
//! Who is woken by a program is put where that ran. So two schedulers that talk to programs come to
//! run on one processor, with all of their programs, and another is idle until the kernel spreads
//! them, which takes it a second or more. A scheduler that finds another one where it is goes where
//! none keeps programs; after that it may run anywhere, as before.

use std::sync::Mutex;

use kvik_env::place::Processors;

kvik_state::vm_state! {
    /// Which schedulers keep programs, and where.
    static PLACES: Mutex<Vec<(usize, Processors)>> = Mutex::new(Vec::new());
}

/// Where a scheduler, which is this thread, is to keep a program that may run on `all`: on the
/// processor it runs on, or has just gone to. None if it is on none of those.
pub(crate) fn settle(scheduler: usize, all: &Processors) -> Option<Processors> {
    let here = Processors::here().filter(|here| all.has(here))?;
    let mut places = PLACES.lock().unwrap_or_else(|e| e.into_inner());
    let own = places.iter().find(|p| p.0 == scheduler).map(|p| p.1);
    if own == Some(here) {
        return own;
    }
    places.retain(|p| p.0 != scheduler);
    let is_free = |at: &Processors| places.iter().all(|p| p.1 != *at);
    let to = if is_free(&here) { None } else { go(|at| all.has(at) && is_free(at), own) };
    let at = to.unwrap_or(here);
    places.push((scheduler, at));
    Some(at)
}

/// Has this thread go to a processor on which it may run and which is `free`, by choice to `own`.
fn go(free: impl Fn(&Processors) -> bool, own: Option<Processors>) -> Option<Processors> {
    let mine = Processors::of(0).ok()?;
    let is_free = |at: &Processors| mine.has(at) && free(at);
    let to = own.filter(is_free).or_else(|| mine.each().find(is_free))?;
    to.keep(0).ok()?;
    // It stays there until the kernel has a reason to move it.
    mine.keep(0).ok()?;
    Some(to)
}

/// The scheduler keeps no program any more.
pub(crate) fn leave(scheduler: usize) {
    PLACES.lock().unwrap_or_else(|e| e.into_inner()).retain(|p| p.0 != scheduler);
}

#[cfg(test)]
mod tests {
    use kvik_state::Vm;

    use super::*;

    /// The number of a scheduler, as are those after it.
    const FIRST: usize = 1000;

    #[test]
    fn each_has_one_of_its_own() {
        Vm::new().enter(|| {
            let mine = Processors::of(0).unwrap();
            let mut places = vec![];
            for n in 0..mine.count() as usize {
                let at = settle(FIRST + n, &mine).unwrap();
                assert!(at.count() == 1 && mine.has(&at) && !places.contains(&at));
                // It may run anywhere as before.
                assert_eq!(Processors::of(0), Ok(mine));
                places.push(at);
            }
            // One more stays where it is.
            let more = FIRST + places.len();
            assert!(settle(more, &mine).is_some_and(|at| places.contains(&at)));
            // Who leaves makes room.
            leave(FIRST);
            leave(more);
            assert_eq!(settle(more, &mine), Some(places[0]));
            (FIRST..=more).for_each(leave);
            assert!(PLACES.lock().unwrap().is_empty());
        })
    }

    #[test]
    fn who_may_not_go_stays() {
        Vm::new().enter(|| {
            let mine = Processors::of(0).unwrap();
            let here = Processors::here().unwrap();
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
