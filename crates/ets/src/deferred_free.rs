//! Frees the rows of a deleted table in steps, so that no process waits long for it.

use std::collections::btree_set;
use std::vec;

use crate::linear_hash::Bucket;
use crate::tree::TreeRow;

pub struct DeferredFree(Rest);

enum Rest {
    Buckets(vec::IntoIter<Bucket>),
    Rows(btree_set::IntoIter<TreeRow>),
}

impl DeferredFree {
    pub(crate) fn of_buckets(all: vec::IntoIter<Bucket>) -> DeferredFree {
        DeferredFree(Rest::Buckets(all))
    }
    pub(crate) fn of_rows(all: btree_set::IntoIter<TreeRow>) -> DeferredFree {
        DeferredFree(Rest::Rows(all))
    }
    /// Frees objects, counting one step for each and for each bucket. True when nothing is left.
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
