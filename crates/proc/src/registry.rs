//! Registered names: from an atom to a process or port, read without locks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};

use kvik_term::atom::USUAL_ATOMS;
use kvik_term::{Atom, Term};

const CHUNK: usize = 4096;
type Chunk = Box<[AtomicU64]>;

kvik_state::vm_state! {
    /// By atom: 0 for none, else the number plus one, with the high bit set for a port.
    static NAMES: [OnceLock<Chunk>; USUAL_ATOMS / CHUNK] =
        [const { OnceLock::new() }; USUAL_ATOMS / CHUNK];
    /// The same for atoms beyond the usual number (the flag `+t`), if any are in use.
    static FAR_NAMES: RwLock<BTreeMap<u32, u64>> = RwLock::new(BTreeMap::new());
    /// The names in use; all changes are made under this lock.
    static USED: Mutex<BTreeMap<u32, ()>> = Mutex::new(BTreeMap::new());
}

const PORT: u64 = 1 << 63;

fn set(name: Atom, value: u64) {
    let i = name.index() as usize;
    let Some(chunk) = NAMES.get(i / CHUNK) else {
        let mut far = FAR_NAMES.write().unwrap_or_else(|e| e.into_inner());
        match value {
            0 => far.remove(&name.index()),
            _ => far.insert(name.index(), value),
        };
        return;
    };
    let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
    chunk[i % CHUNK].store(value, Ordering::Release);
}
#[cold]
fn far(name: Atom) -> u64 {
    let all = FAR_NAMES.read().unwrap_or_else(|e| e.into_inner());
    all.get(&name.index()).copied().unwrap_or(0)
}

/// The process or port of that name.
#[inline]
pub fn whereis(name: Atom) -> Option<Term<'static>> {
    let i = name.index() as usize;
    let value = match NAMES.get(i / CHUNK) {
        Some(chunk) => chunk.get()?[i % CHUNK].load(Ordering::Acquire),
        None => far(name),
    };
    match value {
        0 => None,
        n if n & PORT != 0 => Some(Term::local_port((n & !PORT) as u32 - 1)),
        n => Some(Term::local_pid(n as u32 - 1)),
    }
}
/// The number of the process of that name.
pub fn whereis_process(name: Atom) -> Option<u32> {
    whereis(name)?.as_local_pid()
}
/// Gives a process or port a name. False when the name is taken.
pub fn register(name: Atom, to: Term<'static>) -> bool {
    let value = match (to.as_local_pid(), to.as_local_port()) {
        (Some(n), _) => n as u64 + 1,
        (_, Some(n)) => (n as u64 + 1) | PORT,
        _ => return false,
    };
    let mut used = USED.lock().unwrap_or_else(|e| e.into_inner());
    if used.insert(name.index(), ()).is_some() {
        return false;
    }
    set(name, value);
    true
}
/// Unregisters a name; returns what had it.
pub fn unregister(name: Atom) -> Option<Term<'static>> {
    let mut used = USED.lock().unwrap_or_else(|e| e.into_inner());
    used.remove(&name.index())?;
    let old = whereis(name);
    set(name, 0);
    old
}
pub fn registered() -> Vec<Atom> {
    let used = USED.lock().unwrap_or_else(|e| e.into_inner());
    used.keys().filter_map(|i| Atom::from_index(*i)).collect()
}
/// The name of a process or port (a search: for those that do not store it).
pub fn name_of(t: Term<'_>) -> Option<Atom> {
    registered().into_iter().find(|n| whereis(*n).is_some_and(|x| x.same(t)))
}
