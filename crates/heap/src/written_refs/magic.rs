//! The resources of magic references that have been written out, as long as some term keeps them
//! alive.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, Weak};

use kvik_term::LocalRef;

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
pub(super) fn remember(r: LocalRef<'_>) {
    let Some(resource) = Heap::resource_of_ref(r) else { return };
    let mut table = table();
    let weak = std::sync::Arc::downgrade(resource);
    if table.all.insert(r.numbers(), weak).is_none() && table.all.len() >= table.sweep_at {
        table.all.retain(|_, r| r.strong_count() > 0);
        table.sweep_at = FIRST_SWEEP.max(2 * table.all.len());
    }
}

/// The resource of a reference with these numbers.
pub(super) fn find(numbers: [u32; 3]) -> Option<MagicResource> {
    table().all.get(&numbers)?.upgrade()
}
