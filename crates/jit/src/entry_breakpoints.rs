//! The functions that have a breakpoint at their entry (see `breakpoints.rs`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

kvik_state::vm_state! {
    pub(crate) static ACTIVE: AtomicBool = AtomicBool::new(false);
}

/// What a breakpoint at an entry is for.
#[derive(Clone)]
pub enum EntryAction {
    /// Each call is reported.
    Report,
    /// The same, and then goes to the error handler.
    Divert,
    /// Only calls of processes that are traced for calls are reported. Those of others are counted,
    /// if there is a counter.
    ReportTraced(Option<Arc<AtomicI64>>),
}

/// Whether a breakpoint was ever set.
pub(crate) fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

type Entries = HashMap<usize, EntryAction>;
/// The entries with a breakpoint.
fn entries() -> &'static RwLock<Entries> {
    kvik_state::vm_state! {
        static ENTRIES: OnceLock<RwLock<Entries>> = OnceLock::new();
    }
    ENTRIES.get_or_init(RwLock::default)
}
/// Changes the table; what threads remember of it is out of date after that.
pub(crate) fn change<R>(f: impl FnOnce(&mut Entries) -> R) -> R {
    let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
    let r = f(&mut all);
    CHANGES.fetch_add(1, Ordering::Release);
    r
}
fn action(at: usize) -> Option<EntryAction> {
    entries().read().unwrap_or_else(|e| e.into_inner()).get(&at).cloned()
}
/// Removes the breakpoints of code that is about to be freed.
pub(crate) fn forget(code: std::ops::Range<usize>) {
    if active() {
        change(|all| all.retain(|at, _| !code.contains(at)));
    }
}
/// The breakpoint at this address, if any: whether its calls go to the error handler.
pub(crate) fn entry(at: usize) -> Option<bool> {
    action(at).map(|a| matches!(a, EntryAction::Divert))
}

kvik_state::vm_state! {
    /// The number of changes to the table.
    static CHANGES: AtomicU64 = AtomicU64::new(1);
}

/// What a thread found out last of the breakpoint at an entry.
struct Remembered {
    at: usize,
    changes: u64,
    /// Whether calls of processes that are not traced are reported.
    reports: bool,
    counter: Option<Arc<AtomicI64>>,
}
const NOTHING: Remembered = Remembered { at: 0, changes: 0, reports: true, counter: None };
/// How many a thread remembers.
const REMEMBERED: usize = 256;
thread_local! {
    static COUNTERS: RefCell<[Remembered; REMEMBERED]> =
        const { RefCell::new([const { NOTHING }; REMEMBERED]) };
}

/// A call at this entry by a process that is not traced for calls: counts it, if the breakpoint asks
/// for that. False: the call is to be reported.
#[inline]
pub(crate) fn passes(at: usize) -> bool {
    let changes = CHANGES.load(Ordering::Acquire);
    COUNTERS.with_borrow_mut(|all| {
        let r = &mut all[at / 16 % REMEMBERED];
        if r.at != at || r.changes != changes {
            let (reports, counter) = match action(at) {
                Some(EntryAction::ReportTraced(counter)) => (false, counter),
                _ => (true, None),
            };
            *r = Remembered { at, changes, reports, counter };
        }
        if let Some(n) = &r.counter {
            n.fetch_add(1, Ordering::Relaxed);
        }
        !r.reports
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_pass_where_no_report_is_asked_for() {
        kvik_state::Vm::new().enter(|| {
            ACTIVE.store(true, Ordering::Relaxed);
            let (n, m) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
            let set = |at, a: EntryAction| change(|all| drop(all.insert(at, a)));
            let read = |n: &AtomicI64| n.load(Ordering::Relaxed);
            assert!(!passes(64));
            set(64, EntryAction::ReportTraced(Some(n.clone())));
            set(64 + 16 * REMEMBERED, EntryAction::ReportTraced(Some(m.clone())));
            for _ in 0..3 {
                assert!(passes(64) && passes(64 + 16 * REMEMBERED) && passes(64) && !passes(80));
            }
            assert_eq!((read(&n), read(&m), entry(64)), (6, 3, Some(false)));
            set(80, EntryAction::ReportTraced(None));
            assert!(passes(80));
            set(64, EntryAction::Divert);
            assert_eq!((passes(64), read(&n), entry(64)), (false, 6, Some(true)));
            forget(0..65);
            assert!(!passes(64) && entry(64).is_none() && Arc::strong_count(&n) == 1);
        });
    }
}
