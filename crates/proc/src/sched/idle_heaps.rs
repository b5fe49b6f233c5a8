//! Shrinks the heaps of processes that have gone idle.
//!
//! A process that was busy leaves a block several times as large as its live data, and an old
//! generation with much garbage. While the process runs, that room pays; a connection that waits
//! for its client's next request may hold it for hours. So a scheduler lists each process whose
//! heap has much room after a collection, or that has taken a large message, which it holds until
//! the next collection. Every few seconds it goes through its list: a process
//! that has hardly run since the last round is collected, gets a block that fits, and leaves the
//! list. With an empty list, nothing wakes an idle node any more.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::process::flag;
use crate::{signal, Proc};

/// Nanoseconds between two visits to a listed process.
const PERIOD_NS: u64 = 5_000_000_000;
/// Processes visited between two time slices.
const BATCH: usize = 32;
/// A heap with less room than this, in words, is left as it is.
const WORTH_WORDS: usize = 192;
/// A heap with more used words than this is not collected: other processes would wait.
const MOST_WORDS: usize = 128 << 10;
/// Words moved after which a batch ends.
const MOVED_WORDS: usize = 32 << 10;
/// A process that used fewer reductions since the last visit counts as idle, for example a
/// connection that sends statistics every few seconds.
const FEW_REDUCTIONS: u64 = 4000;

/// A listed process, and its reductions at the last visit.
struct Listed {
    pid: u32,
    reductions: Option<u64>,
}

#[derive(Default)]
pub(super) struct IdleHeaps {
    listed: RefCell<VecDeque<Listed>>,
    /// Listed processes that this round has yet to visit.
    left: Cell<usize>,
    /// When the next round begins; 0 while none is listed.
    next_round: Cell<u64>,
}

enum Seen {
    Shrunk,
    Ran(u64),
}

impl IdleHeaps {
    pub fn list(&self, pid: u32) {
        self.listed.borrow_mut().push_back(Listed { pid, reductions: None });
    }
    /// When the next visit is due, if a process is listed.
    pub fn next(&self, now: u64) -> Option<u64> {
        if self.listed.borrow().is_empty() {
            self.next_round.set(0);
            return None;
        }
        if self.next_round.get() == 0 {
            self.next_round.set(now + PERIOD_NS);
        }
        Some(self.next_round.get())
    }
    /// Visits some listed processes if it is time. True if others are left.
    #[inline]
    pub fn look(&self, now: u64) -> bool {
        match self.next(now) {
            Some(at) if at <= now => self.look_at_some(now),
            _ => false,
        }
    }
    #[cold]
    fn look_at_some(&self, now: u64) -> bool {
        if self.left.get() == 0 {
            self.left.set(self.listed.borrow().len());
        }
        let (most, mut seen, mut moved) = (self.left.get().min(BATCH), 0, 0);
        while seen < most && moved < MOVED_WORDS {
            let Some(l) = self.listed.borrow_mut().pop_front() else { break };
            if let Some(reductions) = l.goes_on(&mut moved) {
                self.listed.borrow_mut().push_back(Listed { pid: l.pid, reductions });
            }
            seen += 1;
        }
        self.left.set(self.left.get() - seen);
        if self.left.get() == 0 {
            self.next_round.set(now + PERIOD_NS);
            let mut listed = self.listed.borrow_mut();
            if listed.len() < listed.capacity() / 4 {
                listed.shrink_to_fit();
            }
        }
        self.left.get() > 0
    }
}

impl Listed {
    /// `None`: the process leaves the list. Otherwise its reductions, if known.
    fn goes_on(&self, moved: &mut usize) -> Option<Option<u64>> {
        match signal::with_waiting(self.pid, |p| self.see(p, moved)) {
            Err(signal::NoProcess) => None,
            // The process runs, or is about to.
            Ok(None) => Some(None),
            Ok(Some(Seen::Shrunk)) => None,
            Ok(Some(Seen::Ran(reductions))) => Some(Some(reductions)),
        }
    }
    fn see(&self, p: &mut Proc, moved: &mut usize) -> Seen {
        let reductions = p.reductions.get();
        let idle = |before| reductions.wrapping_sub(before) < FEW_REDUCTIONS;
        if !self.reductions.is_some_and(idle) {
            return Seen::Ran(reductions);
        }
        p.set_flag(flag::IDLE_LISTED, false);
        let s = p.heap.sizes();
        let held = s.used + s.old_used + s.stack + s.fragments;
        if !p.flag(flag::HANDED_OFF) && has_room(p) && held <= MOST_WORDS {
            p.collect_idle();
            *moved += held;
        }
        Seen::Shrunk
    }
}

pub(super) fn has_room(p: &Proc) -> bool {
    let s = p.heap.sizes();
    let room = (s.block + s.old_block).saturating_sub(s.used + s.stack + s.old_used);
    // Old-generation terms and taken messages may be dead by now; only a collection can tell.
    room + s.old_used + s.fragments >= WORTH_WORDS
}
