//! The export table: one entry for each `{M, F, A}` that anything names, never freed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock};

use kvik_term::{Atom, Export};

type Key = (Atom, Atom, u32);
type Map = HashMap<Key, &'static Export>;

fn table() -> &'static RwLock<Map> {
    static TABLE: OnceLock<RwLock<Map>> = OnceLock::new();
    TABLE.get_or_init(|| RwLock::new(HashMap::with_capacity(8192)))
}

static UNDEF: AtomicUsize = AtomicUsize::new(0);

/// Where an entry without a function points: code that calls the error handler.
pub fn set_undef_stub(address: usize) {
    UNDEF.store(address, Ordering::Release);
    for e in all() {
        let _ = e.code.compare_exchange(0, address, Ordering::AcqRel, Ordering::Relaxed);
    }
}
pub fn undef_stub() -> usize {
    UNDEF.load(Ordering::Acquire)
}

/// The entry of a function, made when there is none yet.
pub fn export(module: Atom, function: Atom, arity: u32) -> &'static Export {
    let key = (module, function, arity);
    if let Some(e) = find(&key) {
        return e;
    }
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    t.entry(key).or_insert_with(|| {
        Box::leak(Box::new(Export {
            code: AtomicUsize::new(undef_stub()),
            extra: AtomicUsize::new(0),
            module,
            function,
            arity,
        }))
    })
}

fn find(key: &Key) -> Option<&'static Export> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.get(key).copied()
}

/// The entry of a function that can be called now.
pub fn find_export(module: Atom, function: Atom, arity: u32) -> Option<&'static Export> {
    find(&(module, function, arity)).filter(|e| is_defined(e))
}

pub fn is_defined(e: &Export) -> bool {
    !matches!(e.address(), 0) && e.address() != undef_stub()
}

/// All entries, defined or not.
pub fn all() -> Vec<&'static Export> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.values().copied().collect()
}

/// The entry whose code is at an address (a linear search, for stack traces and debugging).
pub fn find_export_by_code(address: usize) -> Option<&'static Export> {
    all().into_iter().find(|e| e.address() == address)
}
