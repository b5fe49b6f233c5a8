//! A table: its objects, owner and heir, access rights, and fixations.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kvik_heap::build::{next_ref_of, RefKind};
use kvik_heap::OwnedTerm;
use kvik_sync::{ReadBiasedLock, ReadGuard, WriteGuard};
use kvik_term::{am, Atom};

use crate::cooperative::{CooperativeOperation, TurnSteps};
use crate::kind::{IterationHold, TableKind};
use crate::linear_hash::{LinearHash, FIRST};
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

/// The access right that an operation needs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
    Info,
}

/// Why access to a table is refused: OTP's causes.
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

/// The process that inherits a table, and what it is told with it; nothing: it gets no message.
pub type Heir = (u32, Option<OwnedTerm>);

/// The part of a table that can change.
pub struct TableState {
    pub store: Store,
    pub owner: u32,
    pub name: Atom,
    pub heir: Option<Heir>,
    pub protection: Protection,
    pub alive: bool,
    /// An atomic operation that takes several time slices: it is finished before any other access
    /// to the table.
    pending: Option<CooperativeOperation>,
}

/// The processes that fixed a table, how often, and since when.
#[derive(Default)]
pub struct Fixers {
    pub holders: Vec<(u32, usize)>,
    /// In nanoseconds of Erlang's monotonic time.
    pub since: Option<i64>,
}

/// Options that `ets:new/2` sets for good.
#[derive(Copy, Clone, Debug)]
pub struct TableOptions {
    pub kind: TableKind,
    pub keypos: usize,
    pub named: bool,
    pub compressed: bool,
    pub read_concurrency: bool,
    /// `true`, `false` or `auto`.
    pub write_concurrency: Atom,
    /// Number of locks from the debug option; dependent behaviour follows it.
    pub fixed_locks: Option<usize>,
    pub decentralized_counters: bool,
}

pub struct Table {
    pub id: [u32; 3],
    pub options: TableOptions,
    state: ReadBiasedLock<TableState>,
    fixed: AtomicUsize,
    /// Whether an operation is pending.
    busy: AtomicBool,
    /// Number of BIFs that stopped in the middle of a walk.
    stopped_walks: AtomicUsize,
    fixers: Mutex<Fixers>,
}

/// Held by a BIF that stopped in the middle of a walk through a table; dropped when the BIF or its
/// process ends.
pub struct StoppedWalk(Arc<Table>);

impl StoppedWalk {
    /// The table must be locked, so that no bucket is split or joined meanwhile.
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

/// Stride of a walk in tables with fine-grained locks.
const LOCKS: usize = 64;

impl Table {
    pub fn new(options: TableOptions, name: Atom, owner: u32, protection: Protection) -> Table {
        let fine = options.write_concurrency != am::false_ && protection != Protection::Private;
        let stride = match options.fixed_locks {
            Some(n) if fine => n,
            _ if fine => LOCKS,
            _ => 1,
        };
        let store = match options.kind {
            TableKind::OrderedSet => Store::Tree(Tree::new(options.keypos)),
            k => Store::Hash(LinearHash::new(k, options.keypos, stride)),
        };
        Table {
            id: next_ref_of(RefKind::Magic),
            options,
            state: ReadBiasedLock::new(TableState {
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
    /// Call it with the table's write lock held.
    pub fn hold(&self) -> IterationHold {
        if self.is_fixed() {
            IterationHold::Objects
        } else if self.stopped_walks.load(Ordering::Acquire) > 0 {
            IterationHold::Buckets
        } else {
            IterationHold::None
        }
    }
    fn check(s: &TableState, me: u32, access: Access) -> Result<(), Refusal> {
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
    pub fn read(&self, me: u32, access: Access) -> Result<ReadGuard<'_, TableState>, Refusal> {
        loop {
            let s = self.state.read();
            if s.pending.is_none() {
                Table::check(&s, me, access)?;
                return Ok(s);
            }
            drop(s);
            self.help(&mut TurnSteps::unlimited());
        }
    }
    /// The table as it is, unless it is being written to: for crash dumps, which must not wait for
    /// a lock that the thread itself may hold.
    pub fn try_peek(&self) -> Option<ReadGuard<'_, TableState>> {
        self.state.try_read()
    }
    pub fn write(&self, me: u32, access: Access) -> Result<WriteGuard<'_, TableState>, Refusal> {
        let mut s = self.state.write();
        if s.pending.is_some() {
            self.advance(&mut s, &mut TurnSteps::unlimited());
        }
        Table::check(&s, me, access)?;
        Ok(s)
    }
    /// Whether others must call [`Table::help`] first.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }
    /// Begins an operation that later accesses to the table continue.
    pub fn begin(&self, s: &mut TableState, operation: CooperativeOperation) {
        s.pending = Some(operation);
        self.busy.store(true, Ordering::Release);
    }
    /// Continues the pending operation for so many steps. True when it is complete.
    #[cold]
    pub fn help(&self, steps: &mut TurnSteps) -> bool {
        let mut s = self.state.write();
        self.advance(&mut s, steps)
    }
    #[cold]
    fn advance(&self, s: &mut TableState, steps: &mut TurnSteps) -> bool {
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
    /// True if the process had not fixed it before.
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
    /// Releases one fixation of the process, or all. True if it has none left.
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
            let mut s = self.state.write();
            if let (Store::Hash(h), false) = (&mut s.store, self.is_fixed()) {
                h.purge();
            }
        }
        gone
    }
    /// Whether a walk of this process that saw that many objects may shrink the table after
    /// deletions. OTP fixes the table during a walk if others can write to it, and if it has
    /// fine-grained locks or the walk exceeds a time slice; then it does not shrink.
    pub fn shrinks_after_walk(&self, s: &TableState, me: u32, seen: usize) -> bool {
        const A_TURN: usize = 1000;
        let only_writer = s.owner == me && s.protection != Protection::Public;
        only_writer || (!self.is_fine(s) && seen <= A_TURN)
    }
    /// Whether OTP would give it fine-grained locks.
    fn is_fine(&self, s: &TableState) -> bool {
        self.options.write_concurrency != am::false_ && s.protection != Protection::Private
    }
    /// Words, approximately as OTP counts them.
    pub fn memory(&self, s: &TableState) -> usize {
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

/// Words of OTP's table structure, and of the segment table of one that has grown.
pub const TABLE_WORDS: usize = 49;
const SEGMENT_TABLE: usize = 262;
/// The value that OTP reports for the segment table in its tests.
pub const SEGMENT_TABLE_GIVEN: usize = 6;
/// Words of locks in a hash table, in a tree, in a tree with fine-grained locks, and of
/// per-scheduler counters.
const LOCK_WORDS: usize = 1056;
const TREE_WORDS: usize = 90;
const FINE_TREE_WORDS: usize = 50;
const COUNTER_WORDS: usize = 34;
/// Words that OTP needs for each object besides the object itself.
const HASH_ROW: usize = 4;
const TREE_ROW: usize = 5;
