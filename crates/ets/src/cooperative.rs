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
use crate::linear_hash::key_of;
use crate::store::Store;

/// Steps per reduction.
pub const STEPS_PER_REDUCTION: usize = 8;

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
    pub fn run(&mut self, store: &mut Store, hold: IterationHold, steps: &mut usize) -> bool {
        match &mut self.0 {
            Operation::Insert(i) => i.run(store, hold, steps),
            Operation::Bury(from) => match store {
                Store::Hash(h) => {
                    let done = h.bury(from, steps);
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
    fn run(&mut self, store: &mut Store, hold: IterationHold, steps: &mut usize) -> bool {
        while self.unchecked > 0 && !self.refused {
            if !take(steps, CHECK) {
                return false;
            }
            self.unchecked -= 1;
            let object = self.objects[self.unchecked].term();
            self.refused = store.contains(key_of(object, self.keypos));
        }
        while !self.objects.is_empty() {
            if !take(steps, INSERT) {
                return false;
            }
            let object = self.objects.pop();
            if let Some(object) = object.filter(|_| !self.refused) {
                let passed = store.put_owned(object, hold);
                *steps = steps.saturating_sub(passed);
            }
        }
        self.outcome.set(!self.refused);
        true
    }
}

/// Takes the steps for one object; false if none are left.
fn take(steps: &mut usize, needed: usize) -> bool {
    let any = *steps > 0;
    *steps = steps.saturating_sub(needed);
    any
}
