//! The module table: the current and the old version of each module, and the ranges of their code.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, RwLock};

use kvik_term::{Atom, CodeAddress};

use crate::export::{activate_staged, undef_stub};
use crate::LoadedModule;

#[derive(Default)]
struct Versions {
    current: Option<Arc<LoadedModule>>,
    old: Option<Arc<LoadedModule>>,
    /// Its `on_load` function has failed; it is to be purged next.
    failed: Option<Arc<LoadedModule>>,
    /// The old version, while one that failed is purged in its place.
    aside: Option<Arc<LoadedModule>>,
}

#[derive(Default)]
struct Table {
    modules: HashMap<Atom, Versions>,
    ranges: BTreeMap<usize, Arc<LoadedModule>>,
}

fn table() -> &'static RwLock<Table> {
    kvik_state::vm_state! {
        static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
    }
    TABLE.get_or_init(Default::default)
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CommitError {
    /// The module has old code that was not purged.
    NotPurged(Atom),
}

/// Commits new versions, all at once. If one of the modules has old code, nothing is changed.
pub fn commit(instances: Vec<LoadedModule>) -> Result<(), CommitError> {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    for i in &instances {
        if let Some(v) = t.modules.get(&i.name) {
            if v.old.is_some() && v.current.is_some() {
                return Err(CommitError::NotPurged(i.name));
            }
        }
    }
    for mut i in instances {
        crate::perf::note(&i);
        activate(&mut i);
        let i = Arc::new(i);
        t.ranges.insert(i.start, i.clone());
        let v = t.modules.entry(i.name).or_default();
        if let Some(previous) = v.current.take() {
            // While an `on_load` function runs, the previous version can be called.
            if i.on_load.is_none() {
                unlink(&previous, &i);
            }
            i.replaces.store(true, Ordering::Release);
            v.old = Some(previous);
        }
        for (e, address) in &i.funs {
            e.code.set(*address);
        }
        if i.on_load.is_none() {
            link(&i);
        }
        crate::record_sites::current_changed(i.name, Some(&i));
        v.current = Some(i);
    }
    activate_staged();
    Ok(())
}

/// Makes what it exports and imports active.
fn activate(i: &mut LoadedModule) {
    let exports = i.exports.iter().map(|(e, _)| e).chain(&i.natives);
    exports.chain(&std::mem::take(&mut i.imports)).for_each(|e| e.index.activate());
}

fn link(i: &LoadedModule) {
    for (e, address) in &i.exports {
        e.code.set(*address);
    }
}

/// Undefines exports of the previous version that the next one doesn't have.
fn unlink(previous: &LoadedModule, next: &LoadedModule) {
    for (e, _) in &previous.exports {
        if !next.exports.iter().any(|(n, _)| std::ptr::eq(*n, *e)) {
            e.code.set(undef_stub());
        }
    }
}

/// A module's `on_load` function has succeeded: its exports can be called.
pub fn enable(module: Atom) {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    let Some(v) = t.modules.get(&module) else { return };
    let Some(i) = &v.current else { return };
    if let Some(previous) = v.old.as_ref().filter(|_| i.replaces.load(Ordering::Acquire)) {
        unlink(previous, i);
    }
    link(i);
    i.enabled.store(true, Ordering::Release);
    activate_staged();
}

/// Makes the current version, if any, the old one. `None` if there never was any, `false` if there
/// is old code already.
pub fn delete(module: Atom) -> Option<bool> {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    let v = t.modules.get_mut(&module)?;
    if v.old.is_some() {
        return Some(false);
    }
    v.old = v.current.take();
    crate::record_sites::current_changed(module, None);
    for (e, _) in v.old.iter().flat_map(|i| &i.exports) {
        e.code.set(undef_stub());
    }
    activate_staged();
    Some(true)
}

/// Removes the old version. The caller has made sure that no process uses it. Fun entries that
/// still lead there get `no_fun`, the stub for funs without code.
pub fn purge(module: Atom, no_fun: CodeAddress) -> Option<Arc<LoadedModule>> {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    let old = t.modules.get_mut(&module)?.old.take()?;
    for (e, address) in &old.funs {
        e.code.redirect(*address, no_fun);
    }
    // Its `on_load` function has an export of its own.
    for e in crate::export::all().iter().filter(|e| old.contains(e.address())) {
        e.code.set(undef_stub());
    }
    t.ranges.remove(&old.start);
    // The table entry stays, even if empty: deleting a module that once existed is not a failure.
    if let Some(v) = t.modules.get_mut(&module) {
        v.old = v.aside.take();
    }
    Some(old)
}

/// The `on_load` function of the current version has failed: restores the previous version;
/// [`stage_failed`] comes next.
pub fn fail(module: Atom) {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    let Some(v) = t.modules.get_mut(&module) else { return };
    let Some(failed) = v.current.take() else { return };
    if failed.replaces.load(Ordering::Acquire) {
        v.current = v.old.take();
    }
    crate::record_sites::current_changed(module, v.current.as_deref());
    for (e, address) in v.current.iter().flat_map(|i| &i.funs) {
        e.code.set(*address);
    }
    v.failed = Some(failed);
}

/// Puts the failed version in place of the old one, to be purged; `false` if there is none.
pub fn stage_failed(module: Atom) -> bool {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    let Some(v) = t.modules.get_mut(&module) else { return false };
    let Some(failed) = v.failed.take() else { return false };
    v.aside = v.old.replace(failed);
    true
}

/// Calls `f` with the current version, under the lock.
pub(crate) fn with_current<A>(module: Atom, f: impl FnOnce(Option<&LoadedModule>) -> A) -> A {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    f(t.modules.get(&module).and_then(|v| v.current.as_deref()))
}
pub fn current(module: Atom) -> Option<Arc<LoadedModule>> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.modules.get(&module)?.current.clone()
}
pub fn old(module: Atom) -> Option<Arc<LoadedModule>> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.modules.get(&module)?.old.clone()
}

/// The modules that have code, current or old.
pub fn loaded() -> Vec<Atom> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    let it = t.modules.iter().filter(|(_, v)| v.current.is_some() || v.old.is_some());
    it.map(|(m, _)| *m).collect()
}
/// All versions that have code, current or old.
pub fn all_versions() -> Vec<Arc<LoadedModule>> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.ranges.values().cloned().collect()
}

/// The version whose code an address lies in.
pub fn at(address: usize) -> Option<Arc<LoadedModule>> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    let (_, i) = t.ranges.range(..=address).next_back()?;
    i.contains(address).then(|| i.clone())
}

/// Finds the versions of one address after the other. Neighbours in a stack trace are often in the
/// same one, which is then found without the table.
#[derive(Default)]
pub struct Finder {
    last: Option<Arc<LoadedModule>>,
}

impl Finder {
    pub fn at(&mut self, address: usize) -> Option<&LoadedModule> {
        if !self.last.as_ref().is_some_and(|i| i.contains(address)) {
            self.last = at(address);
        }
        self.last.as_deref()
    }
}
