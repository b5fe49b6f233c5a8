//! The export table: one entry for each `{M, F, A}` that anything names, never freed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock};

use kvik_term::{Atom, Export};

type Key = (Atom, Atom, u32);
type Map = HashMap<Key, (&'static Export, u32)>;

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
    if let Some((e, _)) = t.get(&key) {
        return e;
    }
    let e: &'static Export = Box::leak(Box::new(Export {
        code: AtomicUsize::new(undef_stub()),
        extra: AtomicUsize::new(0),
        module,
        function,
        arity,
    }));
    let i = t.len();
    // Entries beyond the numbers are found in the table only.
    let mut n = 0;
    if let Some(chunk) = BY_NUMBER.get(i / CHUNK) {
        let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
        if chunk[i % CHUNK].set(e).is_ok() {
            n = i as u32 + 1;
        }
    }
    t.insert(key, (e, n));
    e
}

/// Entries in the order they were made, so that a number stands for one.
const CHUNK: usize = 1024;
const CHUNKS: usize = 4096;
type Chunk = Box<[OnceLock<&'static Export>]>;
static BY_NUMBER: [OnceLock<Chunk>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];

/// What `apply` asks for again and again, by hash: the number of an entry, plus one. Read without a
/// lock; a slot that holds another entry's number is only slower.
const CACHE: usize = 8192;
static RECENT: [AtomicU32; CACHE] = [const { AtomicU32::new(0) }; CACHE];

fn slot((m, f, a): &Key) -> &'static AtomicU32 {
    let h = (m.index() as u64) << 32 ^ (f.index() as u64) << 8 ^ *a as u64;
    let h = h.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    &RECENT[h as usize % CACHE]
}
fn by_number(n: u32) -> Option<&'static Export> {
    let i = (n as usize).checked_sub(1)?;
    BY_NUMBER.get(i / CHUNK)?.get()?[i % CHUNK].get().copied()
}

fn find(key: &Key) -> Option<&'static Export> {
    let slot = slot(key);
    if let Some(e) = by_number(slot.load(Ordering::Acquire)) {
        if (e.module, e.function, e.arity) == *key {
            return Some(e);
        }
    }
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    let (e, n) = t.get(key).copied()?;
    slot.store(n, Ordering::Release);
    Some(e)
}

/// The entry where anybody has named the function, whether it is there or not.
pub fn known_export(module: Atom, function: Atom, arity: u32) -> Option<&'static Export> {
    find(&(module, function, arity))
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
    t.values().map(|(e, _)| *e).collect()
}

/// The entry whose code is at an address (a linear search, for stack traces and debugging).
pub fn find_export_by_code(address: usize) -> Option<&'static Export> {
    all().into_iter().find(|e| e.address() == address)
}
