//! References that have been written out, as bytes or as text.
//!
//! Such a reference is only numbers. Reading it again finds by them what it stood for: the resource
//! of a magic reference, and up to OTP 25 the process of an alias, whose number is not among them.
//! References that are never written out are in no table.

mod aliases;
mod magic;

use kvik_term::{LocalRef, Term};

use crate::build::is_alias;
use crate::Heap;

pub use aliases::{forget as forget_alias, forget_ended, set_sweep};

/// Called when a reference is written out.
pub fn remember(r: LocalRef<'_>) {
    match r.alias_pid() {
        Some(_) if kvik_release::current().writes_alias_pids() => {}
        Some(pid) => aliases::remember(r.numbers(), pid),
        None => magic::remember(r),
    }
}

impl Heap {
    /// A reference of this node, read from bytes or text. Only an alias has more than three
    /// numbers; those of others are ignored. `None`: an alias of what is no process.
    pub fn ref_read(&self, numbers: &[u32]) -> Option<Term<'_>> {
        let number = |i: usize| numbers.get(i).copied().unwrap_or(0);
        let first = [number(0), number(1), number(2)];
        match (numbers, is_alias(first)) {
            ([_, _, _, _, ..], _) if !kvik_release::current().writes_alias_pids() => return None,
            ([_, _, _, pid, high], true) => {
                let pid = (*pid < 1 << 28 && *high == 0).then_some(*pid)?;
                return Some(self.alias_ref_of_numbers(first, pid));
            }
            _ => {}
        }
        Some(self.ref_read_3(first))
    }
    fn ref_read_3(&self, numbers: [u32; 3]) -> Term<'_> {
        if let Some(pid) = aliases::find(numbers) {
            return self.alias_ref_of_numbers(numbers, pid);
        }
        match magic::find(numbers) {
            Some(resource) => self.magic_ref_of_numbers(numbers, resource),
            None => self.ref_of_numbers(numbers),
        }
    }
}
