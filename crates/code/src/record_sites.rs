//! How native code finds records of other modules quickly: an entry for each record that code
//! makes, and an inline cache for each field that code reads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};

use kvik_term::{Atom, RecordDef, Term};

use crate::{LoadedModule, RecordInfo};

/// A native record that code names. It is never freed.
#[repr(C)]
pub struct ForeignRecord {
    pub module: Atom,
    pub name: Atom,
    /// The word of the literal that describes it in the current version of its module, or 0.
    literal: AtomicU64,
    /// The word of its prototype there, if it is exported, or 0.
    prototype: AtomicU64,
}

impl ForeignRecord {
    /// Offset of the prototype's word.
    pub const PROTOTYPE: usize = std::mem::offset_of!(ForeignRecord, prototype);

    /// The word of the literal that describes it (see `RecordLiteral`) in the current version of its
    /// module, if there is one.
    pub fn literal(&self) -> Option<u64> {
        Some(self.literal.load(Ordering::Acquire)).filter(|w| *w != 0)
    }
    fn set(&self, current: Option<&LoadedModule>) {
        let literal = current.and_then(|i| literal(i, self.name));
        let info = literal.and_then(RecordInfo::of);
        let exported =
            |i: &RecordInfo<'_>| RecordDef::of(i.definition).is_some_and(|d| d.is_exported());
        let prototype = info.filter(exported).map_or(0, |i| i.prototype.word());
        self.literal.store(literal.map_or(0, Term::word), Ordering::Release);
        self.prototype.store(prototype, Ordering::Release);
    }
}

fn literal(i: &LoadedModule, name: Atom) -> Option<Term<'_>> {
    i.literals.get(i.records.iter().find(|r| r.name == name)?.literal)
}

type Entries = HashMap<Atom, Vec<&'static ForeignRecord>>;
fn entries() -> &'static RwLock<Entries> {
    kvik_state::vm_state! {
        static ENTRIES: OnceLock<RwLock<Entries>> = OnceLock::new();
    }
    ENTRIES.get_or_init(RwLock::default)
}

/// The entry of a record, which is made if there is none.
pub fn record_entry(module: Atom, name: Atom) -> &'static ForeignRecord {
    let known = |all: &Entries| all.get(&module)?.iter().find(|e| e.name == name).copied();
    if let Some(e) = known(&entries().read().unwrap_or_else(|e| e.into_inner())) {
        return e;
    }
    crate::module::with_current(module, |current| {
        let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
        known(&all).unwrap_or_else(|| {
            let (literal, prototype) = (AtomicU64::new(0), AtomicU64::new(0));
            let e = Box::leak(Box::new(ForeignRecord { module, name, literal, prototype }));
            e.set(current);
            all.entry(module).or_default().push(e);
            e
        })
    })
}
/// A module has another current version, or none. The caller holds the lock on modules.
pub(crate) fn current_changed(module: Atom, current: Option<&LoadedModule>) {
    let all = entries().read().unwrap_or_else(|e| e.into_inner());
    all.get(&module).into_iter().flatten().for_each(|e| e.set(current));
}

/// Which records an instruction may read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RecordName {
    Any,
    /// By a name, in the record's own module.
    Own(Atom),
    /// One of another module, which must be exported.
    Of(Atom, Atom),
}

impl RecordName {
    pub fn admits(self, d: RecordDef<'_>) -> bool {
        match self {
            RecordName::Any => true,
            RecordName::Own(name) => name == d.name(),
            RecordName::Of(module, name) => {
                module == d.module() && name == d.name() && d.is_exported()
            }
        }
    }
}

/// An inline cache: where native code has last found a field.
#[repr(C)]
pub struct RecordSite {
    /// The word of a definition that the name admits, above the index of the key in it. Only
    /// definitions that are literals of a module's current version are kept here, and none of a
    /// version that is freed.
    cell: AtomicU64,
    misses: AtomicU32,
    pub name: RecordName,
    pub key: Atom,
}

impl RecordSite {
    /// Offset of the cell.
    pub const CELL: usize = std::mem::offset_of!(RecordSite, cell);
    /// Offset of the number of misses, and how many there may be: a site that meets so many
    /// different definitions is no longer changed.
    pub const MISSES: usize = std::mem::offset_of!(RecordSite, misses);
    pub const MOST_MISSES: u32 = 64;
    /// Bits of the index.
    pub const INDEX_BITS: u32 = 16;

    pub fn new(name: RecordName, key: Atom) -> Arc<RecordSite> {
        let site = RecordSite { cell: AtomicU64::new(0), misses: AtomicU32::new(0), name, key };
        let site = Arc::new(site);
        sites().push(Arc::downgrade(&site));
        site
    }
    /// Notes where the key is in records of this definition, if that may be kept.
    pub fn note(&self, definition: Term<'_>, index: usize) {
        if self.misses.load(Ordering::Relaxed) >= RecordSite::MOST_MISSES {
            return;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let Some(d) = RecordDef::of(definition) else { return };
        let w = definition.word();
        let fits = w >> (u64::BITS - RecordSite::INDEX_BITS) == 0;
        if !fits || index >> RecordSite::INDEX_BITS != 0 {
            return;
        }
        // Under the lock on modules, so that the version is not freed meanwhile.
        crate::module::with_current(d.module(), |current| {
            let is_own = |i: &LoadedModule| {
                let own = RecordInfo::of(literal(i, d.name())?)?;
                own.definition.same(definition).then_some(())
            };
            if current.and_then(is_own).is_some() {
                self.cell.store(w << RecordSite::INDEX_BITS | index as u64, Ordering::Relaxed);
            }
        });
    }
}

fn sites() -> MutexGuard<'static, Vec<Weak<RecordSite>>> {
    kvik_state::vm_state! {
        static SITES: Mutex<Vec<Weak<RecordSite>>> = Mutex::new(Vec::new());
    }
    SITES.lock().unwrap_or_else(|e| e.into_inner())
}
/// A version of a module with records is freed: no site keeps its definitions any longer.
pub(crate) fn forget_definitions() {
    sites().retain(|site| {
        let site = site.upgrade();
        if let Some(s) = &site {
            s.cell.store(0, Ordering::Relaxed);
            s.misses.store(0, Ordering::Relaxed);
        }
        site.is_some()
    });
}
