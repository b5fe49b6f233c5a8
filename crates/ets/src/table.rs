//! A table: its objects, its owner and heir, who may do what, and who holds it fixed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Term};

use crate::linear::{Linear, FIRST};
use crate::remains::Remains;
use crate::tree::Tree;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Set,
    Bag,
    DuplicateBag,
    OrderedSet,
}

impl Kind {
    pub fn atom(self) -> Atom {
        match self {
            Kind::Set => am::set,
            Kind::Bag => am::bag,
            Kind::DuplicateBag => am::duplicate_bag,
            Kind::OrderedSet => am::ordered_set,
        }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Protection {
    Public,
    Protected,
    Private,
}

impl Protection {
    pub fn atom(self) -> Atom {
        match self {
            Protection::Public => am::public,
            Protection::Protected => am::protected,
            Protection::Private => am::private,
        }
    }
    pub fn of_atom(a: Atom) -> Option<Protection> {
        match a {
            am::public => Some(Protection::Public),
            am::protected => Some(Protection::Protected),
            am::private => Some(Protection::Private),
            _ => None,
        }
    }
}

/// What an operation wants of a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
    Info,
}

/// Why a table can't be had: OTP's causes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Neither an atom nor a table's reference.
    Type,
    /// No such table (any more).
    Id,
    Access,
}

impl Refusal {
    pub fn atom(self) -> Atom {
        match self {
            Refusal::Type => am::type_,
            Refusal::Id => am::id,
            Refusal::Access => am::access,
        }
    }
}

pub enum Store {
    Hash(Linear),
    Tree(Tree),
}

impl Store {
    pub fn len(&self) -> usize {
        match self {
            Store::Hash(h) => h.len(),
            Store::Tree(t) => t.len(),
        }
    }
    pub fn contains(&self, key: Term<'_>) -> bool {
        match self {
            Store::Hash(h) => h.contains(key),
            Store::Tree(t) => t.get(key).is_some(),
        }
    }
    /// The objects of a key, oldest first.
    pub fn get(&self, key: Term<'_>) -> Vec<Term<'_>> {
        match self {
            Store::Hash(h) => h.get(key).rev().map(|r| r.object()).collect(),
            Store::Tree(t) => t.get(key).into_iter().collect(),
        }
    }
    /// The one object of a key in a `set` or `ordered_set`.
    pub fn get_one(&self, key: Term<'_>) -> Option<Term<'_>> {
        match self {
            Store::Hash(h) => h.get_one(key).map(|r| r.object()),
            Store::Tree(t) => t.get_owned(key).map(|o| o.term()),
        }
    }
    /// The same, copied.
    pub fn copy_one<'h>(&self, key: Term<'_>, heap: &'h Heap) -> Option<Term<'h>> {
        match self {
            Store::Hash(h) => h.get_one(key).map(|r| r.copy(heap)),
            Store::Tree(t) => t.get_owned(key).map(|o| heap.copy_owned(o)),
        }
    }
    /// Puts an immediate in another's place in the one object of a key in a `set`; `None` where that
    /// takes more.
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        match self {
            Store::Hash(h) => h.change(key, i, f),
            Store::Tree(_) => None,
        }
    }
    pub fn put(&mut self, object: Term<'_>, only_new: bool, fixed: bool) -> bool {
        match self {
            Store::Hash(h) => h.put(object, only_new, fixed),
            Store::Tree(t) => t.put(object, only_new),
        }
    }
    pub fn erase(&mut self, key: Term<'_>, fixed: bool) {
        match self {
            Store::Hash(h) => h.erase(key, fixed),
            Store::Tree(t) => drop(t.take(key)),
        }
    }
    pub fn erase_object(&mut self, object: Term<'_>, fixed: bool) {
        match self {
            Store::Hash(h) => h.erase_object(object, fixed),
            Store::Tree(t) => t.erase_object(object),
        }
    }
    /// Empties the table. What was in it is to be freed.
    pub fn clear(&mut self, fixed: bool) -> Option<Remains> {
        let empty = match self {
            Store::Hash(h) if fixed => {
                h.bury();
                return None;
            }
            Store::Hash(h) => Store::Hash(h.emptied()),
            Store::Tree(t) => Store::Tree(t.emptied()),
        };
        Some(Remains::of(std::mem::replace(self, empty)))
    }
}

/// What may change in a table's life.
pub struct State {
    pub store: Store,
    pub owner: u32,
    pub name: Atom,
    pub heir: Option<(u32, OwnedTerm)>,
    pub protection: Protection,
    pub alive: bool,
}

/// Who holds a table fixed, how often, since when.
#[derive(Default)]
pub struct Fixers {
    pub holders: Vec<(u32, usize)>,
    pub since: Option<SystemTime>,
}

/// What `ets:new/2` decides once.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    pub kind: Kind,
    pub keypos: usize,
    pub named: bool,
    pub compressed: bool,
    pub read_concurrency: bool,
    /// `true`, `false` or `auto`.
    pub write_concurrency: Atom,
    /// Locks as the debug option fixes them; what depends on their number goes by it.
    pub fixed_locks: Option<usize>,
    pub decentralized_counters: bool,
}

pub struct Table {
    pub id: [u32; 3],
    pub options: Options,
    state: RwLock<State>,
    fixed: AtomicUsize,
    fixers: Mutex<Fixers>,
}

/// Buckets between the steps of a walk in tables with fine locks.
const LOCKS: usize = 64;

impl Table {
    pub fn new(options: Options, name: Atom, owner: u32, protection: Protection) -> Table {
        let fine = options.write_concurrency != am::false_ && protection != Protection::Private;
        let stride = match options.fixed_locks {
            Some(n) if fine => n,
            _ if fine => LOCKS,
            _ => 1,
        };
        let store = match options.kind {
            Kind::OrderedSet => Store::Tree(Tree::new(options.keypos)),
            k => Store::Hash(Linear::new(k, options.keypos, stride)),
        };
        Table {
            id: kvik_heap::build::next_ref(),
            options,
            state: RwLock::new(State { store, owner, name, heir: None, protection, alive: true }),
            fixed: AtomicUsize::new(0),
            fixers: Mutex::new(Fixers::default()),
        }
    }
    pub fn is_fixed(&self) -> bool {
        self.fixed.load(Ordering::Acquire) > 0
    }
    fn check(s: &State, me: u32, access: Access) -> Result<(), Refusal> {
        if !s.alive {
            return Err(Refusal::Id);
        }
        let allowed = match access {
            Access::Info => true,
            Access::Read => s.protection != Protection::Private,
            Access::Write => s.protection == Protection::Public,
        };
        if allowed || s.owner == me {
            Ok(())
        } else {
            Err(Refusal::Access)
        }
    }
    pub fn read(&self, me: u32, access: Access) -> Result<RwLockReadGuard<'_, State>, Refusal> {
        let s = self.state.read().unwrap_or_else(|e| e.into_inner());
        Table::check(&s, me, access)?;
        Ok(s)
    }
    pub fn write(&self, me: u32, access: Access) -> Result<RwLockWriteGuard<'_, State>, Refusal> {
        let s = self.state.write().unwrap_or_else(|e| e.into_inner());
        Table::check(&s, me, access)?;
        Ok(s)
    }
    pub fn fixers(&self) -> std::sync::MutexGuard<'_, Fixers> {
        self.fixers.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// True where the process did not hold it before.
    pub fn fix(&self, me: u32) -> bool {
        let mut f = self.fixers();
        self.fixed.fetch_add(1, Ordering::AcqRel);
        if f.holders.is_empty() {
            f.since = Some(SystemTime::now());
        }
        match f.holders.iter_mut().find(|(p, _)| *p == me) {
            Some((_, n)) => {
                *n += 1;
                false
            }
            None => {
                f.holders.push((me, 1));
                true
            }
        }
    }
    /// Gives up one hold of the process, or all. True where it holds it no more.
    pub fn unfix(&self, me: u32, all: bool) -> bool {
        let mut f = self.fixers();
        let Some(i) = f.holders.iter().position(|(p, _)| *p == me) else {
            return false;
        };
        let n = if all { f.holders[i].1 } else { 1 };
        f.holders[i].1 -= n;
        let gone = f.holders[i].1 == 0;
        if gone {
            f.holders.remove(i);
        }
        self.fixed.fetch_sub(n, Ordering::AcqRel);
        let free = f.holders.is_empty();
        drop(f);
        if free {
            let mut s = self.state.write().unwrap_or_else(|e| e.into_inner());
            if let (Store::Hash(h), false) = (&mut s.store, self.is_fixed()) {
                h.purge();
            }
        }
        gone
    }
    /// Has it locks for its parts, as OTP would have it?
    fn is_fine(&self, s: &State) -> bool {
        self.options.write_concurrency != am::false_ && s.protection != Protection::Private
    }
    /// Words, about as OTP counts them.
    pub fn memory(&self, s: &State) -> usize {
        match &s.store {
            Store::Hash(h) => {
                let more = if h.slots() > FIRST { SEGMENT_TABLE } else { 0 };
                let locks = if self.is_fine(s) { LOCK_WORDS } else { 0 };
                TABLE_WORDS + h.slots() + more + locks + h.len() * HASH_ROW + h.words()
            }
            Store::Tree(t) => {
                let beside = match (self.is_fine(s), self.options.decentralized_counters) {
                    (false, _) => TREE_WORDS,
                    (true, false) => FINE_TREE_WORDS,
                    (true, true) => FINE_TREE_WORDS + COUNTER_WORDS,
                };
                TABLE_WORDS + beside + t.len() * TREE_ROW + t.words()
            }
        }
    }
}

/// Words of OTP's table, and of the table of segments of one that has grown.
pub const TABLE_WORDS: usize = 49;
const SEGMENT_TABLE: usize = 262;
/// What OTP says of that table where its tests ask.
pub const SEGMENT_TABLE_GIVEN: usize = 6;
/// Words of its locks for the parts of a hash table, of a tree, of one that has locks for its parts,
/// and of counters that schedulers have for themselves.
const LOCK_WORDS: usize = 1056;
const TREE_WORDS: usize = 90;
const FINE_TREE_WORDS: usize = 50;
const COUNTER_WORDS: usize = 34;
/// Words beside the object itself that OTP has for each.
const HASH_ROW: usize = 4;
const TREE_ROW: usize = 5;
