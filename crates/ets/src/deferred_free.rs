//! Frees the rows of a deleted table in steps, so that no process waits long for it.

use crate::buckets::Buckets;
use crate::cooperative::STEPS_PER_REDUCTION;
use crate::linear_hash::{FIRST, SEGMENT};
use crate::tree::IntoObjects;

pub struct DeferredFree(Rest);

enum Rest {
    Buckets(Buckets),
    Objects(IntoObjects),
}

/// Buckets are freed by OTP's segments, the last first. Each costs 32 reductions, besides one for each
/// object.
const SEGMENT_COST: usize = 32;

impl DeferredFree {
    pub(crate) fn of_buckets(all: Buckets) -> DeferredFree {
        DeferredFree(Rest::Buckets(all))
    }
    pub(crate) fn of_objects(all: IntoObjects) -> DeferredFree {
        DeferredFree(Rest::Objects(all))
    }
    /// Frees objects until the steps are used up, and whole segments. True when nothing is left and
    /// there were steps enough.
    pub fn free(&mut self, steps: &mut usize) -> bool {
        while *steps > 0 {
            let reductions = match &mut self.0 {
                Rest::Buckets(all) if all.len() == 0 => return true,
                Rest::Buckets(all) => {
                    let beyond = all.len().saturating_sub(FIRST);
                    let n = if beyond == 0 { all.len() } else { (beyond - 1) % SEGMENT + 1 };
                    SEGMENT_COST + all.cut(n)
                }
                Rest::Objects(all) => match all.next() {
                    Some(_) => 1,
                    None => return true,
                },
            };
            let used = reductions * STEPS_PER_REDUCTION;
            *steps = steps.saturating_sub(used);
        }
        false
    }
}
