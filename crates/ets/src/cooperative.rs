//! Cooperative operations: atomic and isolated operations on a whole table that take several time
//! slices: the insertion of a long list, and emptying a fixed table.
//!
//! The process that begins one stores it in the table. Every process that accesses the table,
//! including that one, spends its time slices on it until it is done ([`crate::Table::help`]). So
//! no process sees an intermediate state, and the operation completes even if its initiator is
//! killed.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

use kvik_heap::OwnedTerm;

use crate::kind::IterationHold;
use crate::linear_hash::{key_of, FETCHED_AT_ONCE};
use crate::store::Store;

/// Steps per reduction.
pub const STEPS_PER_REDUCTION: usize = 8;
/// Steps for objects that an insertion takes in a turn: half of what OTP takes in a time slice, so that
/// a turn takes one to two milliseconds.
const STEPS_PER_TURN: usize = 16_000;

/// Steps of a turn, which ends before the time slice where an operation takes so many. What is left of
/// the time slice then is given up and does not count.
pub struct TurnSteps {
    /// Left in the time slice.
    left: usize,
    /// The turn ends when no more than these are left.
    given_up: usize,
}

impl TurnSteps {
    pub fn new(time_slice: usize) -> TurnSteps {
        TurnSteps { left: time_slice, given_up: time_slice.saturating_sub(STEPS_PER_TURN) }
    }
    pub fn unlimited() -> TurnSteps {
        TurnSteps { left: usize::MAX, given_up: 0 }
    }
    /// Left in the time slice.
    pub fn left(&self) -> usize {
        self.left
    }
    /// Takes the steps for one object; false if none are left in the turn.
    pub fn take(&mut self, needed: usize) -> bool {
        let any = self.left > self.given_up;
        self.left = self.left.saturating_sub(needed);
        any
    }
    /// Takes steps for what is so quick that it does not shorten the turn, as comparing objects.
    pub fn take_quick(&mut self, n: usize) {
        self.left = self.left.saturating_sub(n);
        self.given_up = self.given_up.saturating_sub(n);
    }
}

/// Steps for an object of a list that is inserted, as in OTP: to look for its key, and to insert it.
const CHECK: usize = 1;
const INSERT: usize = 2;

/// Result of an insertion; `None` while it is under way.
#[derive(Clone, Default)]
pub struct InsertOutcome(Arc<AtomicU8>);

const INSERTED: u8 = 1;
const REFUSED: u8 = 2;

impl InsertOutcome {
    fn set(&self, inserted: bool) {
        self.0.store(if inserted { INSERTED } else { REFUSED }, Ordering::Release);
    }
    /// False if `only_new` was set and a key existed.
    pub fn get(&self) -> Option<bool> {
        match self.0.load(Ordering::Acquire) {
            INSERTED => Some(true),
            REFUSED => Some(false),
            _ => None,
        }
    }
}

pub struct CooperativeOperation(Operation);

enum Operation {
    Insert(Insertion),
    /// All objects from this bucket on must be marked dead.
    Bury(usize),
}

struct Insertion {
    /// Inserted from the back.
    objects: Vec<OwnedTerm>,
    keypos: usize,
    /// Objects whose keys must still be checked for existence (`only_new`).
    unchecked: usize,
    /// A key existed: the objects are only freed.
    refused: bool,
    outcome: InsertOutcome,
}

impl CooperativeOperation {
    /// Inserts objects from last to first, or none if `only_new` is set and one of their keys
    /// exists.
    pub fn insert(
        objects: Vec<OwnedTerm>,
        keypos: usize,
        only_new: bool,
    ) -> (CooperativeOperation, InsertOutcome) {
        let unchecked = if only_new { objects.len() } else { 0 };
        let outcome = InsertOutcome::default();
        let insertion =
            Insertion { objects, keypos, unchecked, refused: false, outcome: outcome.clone() };
        (CooperativeOperation(Operation::Insert(insertion)), outcome)
    }
    /// Marks all objects of a fixed table dead.
    pub fn bury() -> CooperativeOperation {
        CooperativeOperation(Operation::Bury(0))
    }
    /// Continues for so many steps. True when done.
    pub fn run(&mut self, store: &mut Store, hold: IterationHold, steps: &mut TurnSteps) -> bool {
        match &mut self.0 {
            Operation::Insert(i) => i.run(store, hold, steps),
            Operation::Bury(from) => match store {
                Store::Hash(h) => {
                    let done = h.bury(from, &mut steps.left);
                    if done && hold != IterationHold::Objects {
                        // Fixation ended meanwhile: no later release would purge them.
                        h.purge();
                    }
                    done
                }
                Store::Tree(_) => true,
            },
        }
    }
}

impl Insertion {
    fn run(&mut self, store: &mut Store, hold: IterationHold, steps: &mut TurnSteps) -> bool {
        let mut fetched = self.unchecked;
        while self.unchecked > 0 && !self.refused {
            if !steps.take(CHECK) {
                return false;
            }
            self.fetch(store, self.unchecked, &mut fetched);
            self.unchecked -= 1;
            let object = self.objects[self.unchecked].term();
            self.refused = store.contains(key_of(object, self.keypos));
        }
        let mut fetched = self.objects.len();
        while !self.objects.is_empty() {
            if !steps.take(INSERT) {
                return false;
            }
            if !self.refused {
                self.fetch(store, self.objects.len(), &mut fetched);
            }
            let object = self.objects.pop();
            if let Some(object) = object.filter(|_| !self.refused) {
                let passed = store.put_owned(object, hold);
                steps.take_quick(passed);
            }
        }
        self.outcome.set(!self.refused);
        true
    }
    /// Fetches the buckets of the last of `n` objects when those before, which ended at `fetched`,
    /// are done.
    fn fetch(&self, store: &Store, n: usize, fetched: &mut usize) {
        if n == *fetched {
            *fetched = n.saturating_sub(FETCHED_AT_ONCE);
            store.fetch(self.objects[*fetched..n].iter().map(|o| o.term()), self.keypos);
        }
    }
}
