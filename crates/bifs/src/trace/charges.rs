//! What a watched function is charged with: calls, and time or memory, by process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use kvik_heap::Heap;
use kvik_term::Term;

/// Calls, and nanoseconds or words, by process.
#[derive(Default)]
pub struct Charges(Mutex<BTreeMap<u32, (u64, u64)>>);

impl Charges {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, (u64, u64)>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn clear(&self) {
        self.lock().clear();
    }
    pub fn add(&self, pid: u32, calls: u64, amount: u64) {
        let mut all = self.lock();
        let t = all.entry(pid).or_default();
        *t = (t.0 + calls, t.1 + amount);
    }
    fn listed<'h>(&self, h: &'h Heap, amount: impl Fn(u64) -> Vec<u64>) -> Term<'h> {
        let all = self.lock();
        let lines: Vec<Term<'h>> = all
            .iter()
            .map(|(pid, (calls, n))| {
                let numbers = std::iter::once(*calls).chain(amount(*n));
                let numbers = numbers.map(|n| h.unsigned(n));
                let line: Vec<Term<'h>> =
                    std::iter::once(Term::local_pid(*pid)).chain(numbers).collect();
                h.tuple(&line)
            })
            .collect();
        h.list(&lines)
    }
    /// `[{Pid, Calls, Seconds, Microseconds}]`
    pub fn times<'h>(&self, h: &'h Heap) -> Term<'h> {
        self.listed(h, |ns| vec![ns / 1_000_000_000, ns / 1000 % 1_000_000])
    }
    /// `[{Pid, Calls, Words}]`
    pub fn words<'h>(&self, h: &'h Heap) -> Term<'h> {
        self.listed(h, |words| vec![words])
    }
}
