//! The port table. A port's slot is its number modulo the limit; numbers are not soon reused.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use kvik_term::Term;

use crate::port::Port;

/// OTP's default for the most ports at once.
const USUAL: usize = 65_536;
/// The most that the flag `+Q` may ask for here.
pub const MAX_PORTS: usize = 1 << 24;
kvik_state::vm_state! {
    /// The most ports that may be open at once: a power of two.
    static LIMIT: AtomicUsize = AtomicUsize::new(USUAL);
}

pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}
/// Called before the first port is opened.
pub fn set_limit(n: usize) {
    LIMIT.store(n.clamp(CHUNK, MAX_PORTS), Ordering::Relaxed);
}
/// The place of a port in the table.
pub fn slot_of(id: u32) -> usize {
    id as usize % limit()
}
const NUMBERS: u32 = 1 << 28;

kvik_state::vm_state! {
    /// The numbers of the open ports, so that `erlang:ports/0` returns those of one moment.
    static OPEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
}

fn open() -> MutexGuard<'static, BTreeSet<u32>> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner())
}
pub fn open_ids() -> Vec<u32> {
    open().iter().copied().collect()
}
/// Whether a port is open. May be called with its lock held.
pub fn is_open(id: u32) -> bool {
    open().contains(&id)
}
/// The port is closed, but may still exist.
pub fn closed(id: u32) {
    open().remove(&id);
}

type Slot = RwLock<Option<Arc<Port>>>;
const CHUNK: usize = 256;
type Chunk = OnceLock<Box<[Slot]>>;
kvik_state::vm_state! {
    static CHUNKS: OnceLock<Box<[Chunk]>> = OnceLock::new();
}

fn chunks() -> &'static [Chunk] {
    CHUNKS.get_or_init(|| (0..limit().div_ceil(CHUNK)).map(|_| OnceLock::new()).collect())
}
kvik_state::vm_state! {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static COUNT: AtomicUsize = AtomicUsize::new(0);
}

fn slot(id: u32) -> &'static Slot {
    let i = slot_of(id);
    let chunk = &chunks()[i / CHUNK];
    &chunk.get_or_init(|| (0..CHUNK).map(|_| RwLock::new(None)).collect())[i % CHUNK]
}

/// Inserts the port that `make` returns for its number. `None`: there are too many.
pub fn insert(make: impl FnOnce(u32) -> Arc<Port>) -> Option<Arc<Port>> {
    for _ in 0..limit() {
        // A full table must not use up numbers.
        if COUNT.load(Ordering::Relaxed) >= limit() {
            return None;
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed) % NUMBERS;
        if id == 0 && COUNT.load(Ordering::Relaxed) > 0 {
            continue;
        }
        let mut s = slot(id).write().unwrap_or_else(|e| e.into_inner());
        if s.is_none() {
            let port = make(id);
            *s = Some(port.clone());
            COUNT.fetch_add(1, Ordering::Relaxed);
            open().insert(id);
            return Some(port);
        }
    }
    None
}

/// A port that is open or closing.
pub fn get(id: u32) -> Option<Arc<Port>> {
    let s = slot(id).read().unwrap_or_else(|e| e.into_inner());
    s.as_ref().filter(|p| p.id == id).cloned()
}

pub fn remove(id: u32) {
    let mut s = slot(id).write().unwrap_or_else(|e| e.into_inner());
    if s.as_ref().is_some_and(|p| p.id == id) {
        *s = None;
        COUNT.fetch_sub(1, Ordering::Relaxed);
        closed(id);
    }
}

/// The number to try next, and a way to set it: for tests.
pub fn next_number() -> u32 {
    NEXT.load(Ordering::Relaxed) % NUMBERS
}
pub fn set_next_number(n: u32) -> u32 {
    NEXT.store(n % NUMBERS, Ordering::Relaxed);
    next_number()
}

pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// All ports, by slot.
pub fn all() -> Vec<Arc<Port>> {
    let mut v = Vec::with_capacity(count());
    for chunk in chunks().iter().filter_map(|c| c.get()) {
        for s in chunk.iter() {
            v.extend(s.read().unwrap_or_else(|e| e.into_inner()).clone());
        }
    }
    v
}

/// The port that a term names, if it is open or closing.
pub fn find(t: Term<'_>) -> Option<Arc<Port>> {
    get(t.as_local_port()?)
}
