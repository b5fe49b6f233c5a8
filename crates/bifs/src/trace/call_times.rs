//! The calls and the time of a watched function, by process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use kvik_heap::Heap;
use kvik_term::Term;

/// Calls and nanoseconds, by process.
#[derive(Default)]
pub struct Times(Mutex<BTreeMap<u32, (u64, u64)>>);

impl Times {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, (u64, u64)>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn clear(&self) {
        self.lock().clear();
    }
    pub fn add(&self, pid: u32, calls: u64, ns: u64) {
        let mut all = self.lock();
        let t = all.entry(pid).or_default();
        *t = (t.0 + calls, t.1 + ns);
    }
    /// `[{Pid, Calls, Seconds, Microseconds}]`
    pub fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        let all = self.lock();
        let lines: Vec<Term<'h>> = all
            .iter()
            .map(|(pid, (calls, ns))| {
                let us = ns / 1000;
                let n = |n: u64| h.integer(n as i64);
                h.tuple(&[Term::local_pid(*pid), n(*calls), n(us / 1_000_000), n(us % 1_000_000)])
            })
            .collect();
        h.list(&lines)
    }
}
