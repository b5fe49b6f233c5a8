//! Magic references that have been written out, as bytes or as text.
//!
//! Such a reference is only numbers. Reading it again finds the same resource by them, as long as
//! some term keeps that alive. References that are never written out are not in the table.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, Weak};

use kvik_term::{LocalRef, Term};

use crate::{Heap, MagicResource};

/// Number of entries at which those whose resources are gone are first removed.
const FIRST_SWEEP: usize = 256;

struct Table {
    all: HashMap<[u32; 3], Weak<dyn Any + Send + Sync>>,
    /// At that many entries it is swept.
    sweep_at: usize,
}

fn table() -> MutexGuard<'static, Table> {
    kvik_state::vm_state! {
        static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    }
    let empty = || Mutex::new(Table { all: HashMap::new(), sweep_at: FIRST_SWEEP });
    TABLE.get_or_init(empty).lock().unwrap_or_else(|e| e.into_inner())
}

/// Called when a reference is written out; enters it in the table if it stands for a resource.
pub fn remember(r: LocalRef<'_>) {
    let Some(resource) = Heap::resource_of_ref(r) else { return };
    let mut table = table();
    let weak = std::sync::Arc::downgrade(resource);
    if table.all.insert(r.numbers(), weak).is_none() && table.all.len() >= table.sweep_at {
        table.all.retain(|_, r| r.strong_count() > 0);
        table.sweep_at = FIRST_SWEEP.max(2 * table.all.len());
    }
}

/// The resource of a reference with these numbers.
pub fn find(numbers: [u32; 3]) -> Option<MagicResource> {
    table().all.get(&numbers)?.upgrade()
}

impl Heap {
    /// A reference of this node, read from bytes or text.
    pub fn ref_read(&self, numbers: [u32; 3]) -> Term<'_> {
        match find(numbers) {
            Some(resource) => self.magic_ref_of_numbers(numbers, resource),
            None => self.ref_of_numbers(numbers),
        }
    }
}
