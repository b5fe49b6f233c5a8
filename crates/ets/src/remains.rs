//! What is left of a table that has ended: given back in steps, so that nobody waits for it long.

use std::collections::btree_set;
use std::vec;

use crate::linear::Bucket;
use crate::table::Store;
use crate::tree::TreeRow;

pub struct Remains(Rest);

enum Rest {
    Buckets(vec::IntoIter<Bucket>),
    Rows(btree_set::IntoIter<TreeRow>),
}

impl Remains {
    pub fn of(store: Store) -> Remains {
        Remains(match store {
            Store::Hash(h) => Rest::Buckets(h.into_buckets()),
            Store::Tree(t) => Rest::Rows(t.into_rows()),
        })
    }
    /// Frees objects, a step for each and for each bucket. True: there is nothing left.
    pub fn free(&mut self, steps: &mut usize) -> bool {
        while *steps > 0 {
            let used = match &mut self.0 {
                Rest::Buckets(all) => all.next().map(|b| 1 + b.len()),
                Rest::Rows(all) => all.next().map(|_| 2),
            };
            let Some(used) = used else { return true };
            *steps = steps.saturating_sub(used);
        }
        false
    }
}
