//! A table: its objects, its owner and heir, who may do what, and who holds it fixed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom};

use crate::kind::{Hold, Kind};
use crate::linear::{Linear, FIRST};
use crate::pending::Pending;
use crate::store::Store;
use crate::tree::Tree;

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

/// What may change in a table's life.
pub struct State {
    pub store: Store,
    pub owner: u32,
    pub name: Atom,
    pub heir: Option<(u32, OwnedTerm)>,
    pub protection: Protection,
    pub alive: bool,
    /// An operation that takes several turns and is to be seen whole or not at all: it is finished
    /// before anything else is done with the table.
    pending: Option<Pending>,
}

/// Who holds a table fixed, how often, since when.
#[derive(Default)]
pub struct Fixers {
    pub holders: Vec<(u32, usize)>,
    /// In nanoseconds of Erlang's monotonic time.
    pub since: Option<i64>,
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
    /// Is an operation pending?
    busy: AtomicBool,
    /// BIFs that stopped in the middle of a walk.
    stopped_walks: AtomicUsize,
    fixers: Mutex<Fixers>,
}

/// A BIF has stopped in the middle of a walk through a table. Its end, or its process's, ends this.
pub struct StoppedWalk(Arc<Table>);

impl StoppedWalk {
    /// The table must be locked, so that nobody splits or joins buckets.
    pub fn new(t: Arc<Table>) -> StoppedWalk {
        t.stopped_walks.fetch_add(1, Ordering::AcqRel);
        StoppedWalk(t)
    }
}
impl Drop for StoppedWalk {
    fn drop(&mut self) {
        self.0.stopped_walks.fetch_sub(1, Ordering::AcqRel);
    }
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
            state: RwLock::new(State {
                store,
                owner,
                name,
                heir: None,
                protection,
                alive: true,
                pending: None,
            }),
            fixed: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            stopped_walks: AtomicUsize::new(0),
            fixers: Mutex::new(Fixers::default()),
        }
    }
    pub fn is_fixed(&self) -> bool {
        self.fixed.load(Ordering::Acquire) > 0
    }
    /// To be asked under the table's lock for writing.
    pub fn hold(&self) -> Hold {
        if self.is_fixed() {
            Hold::Objects
        } else if self.stopped_walks.load(Ordering::Acquire) > 0 {
            Hold::Buckets
        } else {
            Hold::None
        }
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
        loop {
            let s = self.state.read().unwrap_or_else(|e| e.into_inner());
            if s.pending.is_none() {
                Table::check(&s, me, access)?;
                return Ok(s);
            }
            drop(s);
            self.help(&mut usize::MAX.clone());
        }
    }
    /// The table as it is, if nobody writes to it: for a dump, which must not wait for a lock that the
    /// thread may hold itself.
    pub fn try_peek(&self) -> Option<RwLockReadGuard<'_, State>> {
        self.state.try_read().ok()
    }
    pub fn write(&self, me: u32, access: Access) -> Result<RwLockWriteGuard<'_, State>, Refusal> {
        let mut s = self.state.write().unwrap_or_else(|e| e.into_inner());
        if s.pending.is_some() {
            self.advance(&mut s, &mut usize::MAX.clone());
        }
        Table::check(&s, me, access)?;
        Ok(s)
    }
    /// Must others [`Table::help`] first?
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }
    /// Begins an operation that whoever comes to the table next goes on with.
    pub fn begin(&self, s: &mut State, operation: Pending) {
        s.pending = Some(operation);
        self.busy.store(true, Ordering::Release);
    }
    /// Goes on with what is pending, for so many steps. True: there is nothing left of it.
    #[cold]
    pub fn help(&self, steps: &mut usize) -> bool {
        let mut s = self.state.write().unwrap_or_else(|e| e.into_inner());
        self.advance(&mut s, steps)
    }
    #[cold]
    fn advance(&self, s: &mut State, steps: &mut usize) -> bool {
        let Some(mut operation) = s.pending.take() else { return true };
        if !operation.run(&mut s.store, self.hold(), steps) {
            s.pending = Some(operation);
            return false;
        }
        self.busy.store(false, Ordering::Release);
        true
    }
    pub fn fixers(&self) -> std::sync::MutexGuard<'_, Fixers> {
        self.fixers.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// True where the process did not hold it before.
    pub fn fix(&self, me: u32) -> bool {
        let mut f = self.fixers();
        self.fixed.fetch_add(1, Ordering::AcqRel);
        if f.holders.is_empty() {
            f.since = Some(kvik_proc::clock::monotonic());
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
    /// May a process's walk that has deleted so many or fewer of the objects it saw shrink the table?
    /// In OTP it has the table fixed if others can write to it, where that has locks for its parts or
    /// the walk takes more than a turn.
    pub fn shrinks_after_walk(&self, s: &State, me: u32, seen: usize) -> bool {
        const A_TURN: usize = 1000;
        let only_writer = s.owner == me && s.protection != Protection::Public;
        only_writer || (!self.is_fine(s) && seen <= A_TURN)
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
