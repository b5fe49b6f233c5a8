//! The export table: one entry for each `{M, F, A}` that is referenced anywhere, never freed.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, OnceLock, RwLock};

use kvik_term::mixed::{Mixed, MIX};
use kvik_term::{Atom, CodeAddress, CodeCell, Export, ExportSlot, NativeCell, StagedIndex};

type Key = (Atom, Atom, u32);
type Map = HashMap<Key, &'static Export, BuildHasherDefault<Mixed>>;

fn table() -> &'static RwLock<Map> {
    kvik_state::vm_state! {
        static TABLE: OnceLock<RwLock<Map>> = OnceLock::new();
    }
    let new = || HashMap::with_capacity_and_hasher(7168, Default::default());
    TABLE.get_or_init(|| RwLock::new(new()))
}

kvik_state::vm_state! {
    static UNDEF: CodeCell = CodeCell::new(CodeAddress::NONE);
}

/// Sets the target of entries without a function: code that calls the error handler.
pub fn set_undef_stub(address: CodeAddress) {
    UNDEF.set(address);
    for e in all() {
        e.code.redirect(CodeAddress::NONE, address);
    }
}
pub fn undef_stub() -> CodeAddress {
    UNDEF.get()
}

/// The entry of a function, created if missing.
pub fn export(module: Atom, function: Atom, arity: u32) -> &'static Export {
    let key = (module, function, arity);
    if let Some(e) = find(&key) {
        return e;
    }
    add(&mut table().write().unwrap_or_else(|e| e.into_inner()), key)
}

/// The entries of many functions, with few lock operations.
pub fn exports_of(keys: &[(Atom, Atom, u32)]) -> Vec<&'static Export> {
    let known: Vec<_> = keys.iter().map(find).collect();
    let mut t = None;
    let write = || table().write().unwrap_or_else(|e| e.into_inner());
    let one = |(known, key): (Option<_>, &Key)| match known {
        Some(e) => e,
        None => add(t.get_or_insert_with(write), *key),
    };
    known.into_iter().zip(keys).map(one).collect()
}

fn add(t: &mut Map, key: Key) -> &'static Export {
    let (module, function, arity) = key;
    let index = t.len() as u32;
    t.entry(key).or_insert_with(|| {
        Box::leak(Box::new(Export {
            code: CodeCell::new(undef_stub()),
            extra: NativeCell::empty(),
            module,
            function,
            arity,
            index: StagedIndex::new(index),
        }))
    })
}

kvik_state::vm_state! {
    /// The entries that the next change of code makes active.
    static STAGED: Mutex<Vec<&'static Export>> = Mutex::new(Vec::new());
}

fn staged() -> MutexGuard<'static, Vec<&'static Export>> {
    STAGED.lock().unwrap_or_else(|e| e.into_inner())
}

/// Notes that a program refers to a function: `binary_to_term/2` with `safe` accepts an external fun
/// of it from the next change of code on. OTP adds such an entry to the table of exports that becomes
/// active then.
#[inline]
pub fn stage(e: &'static Export) {
    if e.index.stage() {
        staged().push(e);
    }
}
/// The entry of a function to which a program refers, created if missing.
pub fn staged_export(module: Atom, function: Atom, arity: u32) -> &'static Export {
    let e = export(module, function, arity);
    stage(e);
    e
}
/// To be called with each change of code: makes what was staged active.
pub(crate) fn activate_staged() {
    let all = std::mem::take(&mut *staged());
    all.iter().for_each(|e| e.index.activate());
}
/// Whether `binary_to_term/2` with `safe` accepts an external fun of that function: it is a BIF, or
/// a module exported it, imported it or had it in a literal when code was last changed.
pub fn is_active(module: Atom, function: Atom, arity: u32) -> bool {
    find(&(module, function, arity)).is_some_and(|e| e.index.is_active())
}

/// A direct-mapped cache of recent look-ups, as by `apply`; a collision only costs time.
const CACHE: usize = 8192;
kvik_state::vm_state! {
    static RECENT: [ExportSlot; CACHE] = [const { ExportSlot::new() }; CACHE];
}

fn slot((m, f, a): &Key) -> &'static ExportSlot {
    let h = (m.index() as u64) << 32 ^ (f.index() as u64) << 8 ^ *a as u64;
    let h = h.wrapping_mul(MIX) >> 40;
    &RECENT[h as usize % CACHE]
}

fn find(key: &Key) -> Option<&'static Export> {
    let slot = slot(key);
    if let Some(e) = slot.get() {
        if (e.module, e.function, e.arity) == *key {
            return Some(e);
        }
    }
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    let e = t.get(key).copied()?;
    slot.set(e);
    Some(e)
}

/// The entry of a function, defined or not, if there is one.
pub fn known_export(module: Atom, function: Atom, arity: u32) -> Option<&'static Export> {
    find(&(module, function, arity))
}
/// The entry of a function that can be called now.
pub fn find_export(module: Atom, function: Atom, arity: u32) -> Option<&'static Export> {
    find(&(module, function, arity)).filter(|e| is_defined(e))
}

pub fn is_defined(e: &Export) -> bool {
    ![CodeAddress::NONE, undef_stub()].contains(&e.code.get())
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

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_state::Vm;
    use kvik_term::am;

    #[test]
    fn staged_exports_become_active_with_the_next_change_of_code() {
        Vm::new().enter(|| {
            let known = || [0, 1, 2].map(|arity| is_active(am::ok, am::ok, arity));
            export(am::ok, am::ok, 0);
            assert!(std::ptr::eq(staged_export(am::ok, am::ok, 1), export(am::ok, am::ok, 1)));
            assert_eq!(known(), [false; 3]);
            activate_staged();
            stage(export(am::ok, am::ok, 1));
            assert_eq!(known(), [false, true, false]);
            assert!(staged().is_empty());
        });
    }
}
