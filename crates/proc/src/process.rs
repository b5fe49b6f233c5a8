//! [`Proc`]: what a process is to itself.

pub mod flag;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU8, Ordering};
use std::sync::Arc;

use kvik_heap::literal::Leaving;
use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::Table;
use kvik_term::{am, Atom, Export, Term};

use crate::farewell::Farewell;
use crate::few::Few;
use crate::message_queue::Places;
use crate::relation::{Link, LinkState, MonitoredBy, Monitoring, Target};
use crate::relation_tree::RelationTree;
use crate::remote_types::RemotePid;
use crate::saved_calls::SavedCalls;
use crate::seq_types::Counters;
use crate::signal_types::{RefId, Signal};
use crate::tasks::SysTasks;

/// What anybody may read of a process.
pub struct Shared {
    pub pid: u32,
    priority: AtomicU8,
    /// [`ENDING`], [`SYSTEM`], [`SENSITIVE`].
    marks: AtomicU8,
    /// The scheduler that ran it last.
    home: AtomicU16,
    /// What it is traced for: `trace::bit`.
    trace: AtomicU32,
}

/// It gives back what it owns, and then ends: signals wait for that.
const ENDING: u8 = 1;
/// One of the system's own processes.
const SYSTEM: u8 = 2;
/// Nobody hears from it: `process_flag(sensitive, true)`.
const SENSITIVE: u8 = 4;

/// Words beside a process, for its first block: heap and stack together. With them a process is a
/// block of the slabs.
const ROOM: usize = 23;

pub type Task = kvik_sync::Task<Shared, Proc, Signal, ROOM>;
pub type Ticket = kvik_sync::Ticket<Shared, Proc, Signal, ROOM>;
pub type Me = kvik_sync::Me<Shared, Proc, Signal, ROOM>;
/// A ticket in a queue.
pub type Rest = kvik_sync::Rest<Shared, Proc, Signal, ROOM>;
pub type Pushed = kvik_sync::task::Pushed<Shared, Proc, Signal, ROOM>;
/// Where the one that waited last stays.
pub type Seat = kvik_sync::Seat<Shared, Proc, Signal, ROOM>;
/// What a scheduler runs.
pub type Stage = kvik_sync::Stage<Shared, Proc, Signal, ROOM>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Priority {
    Max = 0,
    High = 1,
    Normal = 2,
    Low = 3,
}

impl Priority {
    pub const ALL: [Priority; 4] = [Priority::Max, Priority::High, Priority::Normal, Priority::Low];
    pub fn atom(self) -> Atom {
        [am::max, am::high, am::normal, am::low][self as usize]
    }
    pub fn of(t: Term<'_>) -> Option<Priority> {
        Priority::ALL.into_iter().find(|p| t.is_atom(p.atom()))
    }
}

impl kvik_sync::Numbered for Shared {
    fn number(&self) -> u32 {
        self.pid
    }
    #[inline]
    fn is_shown(&self) -> bool {
        !self.is_marked(ENDING)
    }
}

impl Shared {
    pub fn new(pid: u32, priority: Priority) -> Shared {
        Shared {
            pid,
            priority: AtomicU8::new(priority as u8),
            marks: AtomicU8::new(0),
            home: AtomicU16::new(0),
            trace: AtomicU32::new(0),
        }
    }
    #[inline]
    pub fn trace(&self) -> u32 {
        self.trace.load(Ordering::Relaxed)
    }
    pub fn set_trace(&self, flags: u32) {
        self.trace.store(flags, Ordering::Relaxed)
    }
    #[inline]
    pub fn home(&self) -> u16 {
        self.home.load(Ordering::Relaxed)
    }
    #[inline]
    pub fn set_home(&self, scheduler: u16) {
        if self.home() != scheduler {
            self.home.store(scheduler, Ordering::Relaxed)
        }
    }
    #[inline]
    pub fn priority(&self) -> Priority {
        Priority::ALL[(self.priority.load(Ordering::Relaxed) & 3) as usize]
    }
    #[inline]
    fn is_marked(&self, mark: u8) -> bool {
        self.marks.load(Ordering::Relaxed) & mark != 0
    }
    /// One of the system's own processes?
    pub fn is_system(&self) -> bool {
        self.is_marked(SYSTEM)
    }
    pub fn set_system(&self) {
        self.marks.fetch_or(SYSTEM, Ordering::Relaxed);
    }
    pub fn is_sensitive(&self) -> bool {
        self.is_marked(SENSITIVE)
    }
    pub(crate) fn set_sensitive(&self, on: bool) {
        match on {
            true => self.marks.fetch_or(SENSITIVE, Ordering::Relaxed),
            false => self.marks.fetch_and(!SENSITIVE, Ordering::Relaxed),
        };
    }
    pub(crate) fn set_ending(&self) {
        self.marks.fetch_or(ENDING, Ordering::Relaxed);
    }
    pub fn set_priority(&self, p: Priority) {
        self.priority.store(p as u8, Ordering::Relaxed)
    }
}

/// The part of a process that belongs to whoever runs it. Native code holds its address; the heap
/// has to come first.
#[repr(C)]
pub struct Proc {
    pub heap: Heap,
    /// Where a BIF that trapped goes on; while one is stopped, the function the process is in.
    pub trap_to: Cell<Option<&'static Export>>,
    /// Why a BIF's argument was bad, where the reason does not say so: `cause` of `error_info`.
    pub cause: Cell<Option<Atom>>,
    /// The messages it has not taken: see `Proc::messages`.
    pub(crate) places: Places,
    pub(crate) extra: RefCell<Extra>,
    /// When its `receive` ends, as a word of [`crate::timer::At`]; 0 for never.
    pub(crate) deadline: Cell<u64>,
    /// When the timer set for such deadlines rings; 0 for no timer.
    pub(crate) armed: Cell<u64>,
    pub(crate) reductions: Cell<u64>,
    pub(crate) flags: Cell<u32>,
    pid: u32,
    /// Whom it sent a message to last, and who last ended its wait with one.
    pub(crate) last_to: Cell<u32>,
    pub(crate) last_from: Cell<u32>,
    pub(crate) parent: Cell<u32>,
    initial_function: Cell<(Atom, Atom)>,
    initial_arity: Cell<u8>,
    /// It has sent itself something, and may not have handled that yet.
    pub(crate) sent_to_self: Cell<bool>,
    pub(crate) name: Cell<Option<Atom>>,
}

/// What not every process has: relations to others, and [`Rare`].
#[derive(Default)]
pub struct Extra(Option<Box<ExtraFields>>);

#[derive(Default)]
pub struct ExtraFields {
    /// By [`Link::key`].
    pub links: RelationTree<u64, Link>,
    pub monitoring: RelationTree<RefId, Monitoring>,
    pub monitored_by: Few<RefId, MonitoredBy>,
    /// Aliases in use, with whether the first reply ends them.
    pub aliases: Few<RefId, bool>,
    pub exit_reason: Option<OwnedTerm>,
    /// A monitor that ended with a reply to its alias; the other is told in the next turn.
    pub ended: Option<(RefId, Target)>,
    pub rare: Option<Box<Rare>>,
}

/// What few processes have.
pub struct Rare {
    /// Who suspended it, how often.
    pub suspended_by: BTreeMap<u32, u32>,
    /// Whom it suspended, how often.
    pub suspending: RelationTree<u32, u32>,
    pub error_handler: Atom,
    pub async_dist: bool,
    pub saved_calls: Option<Box<SavedCalls>>,
    pub max_heap_size: Option<crate::limits::MaxHeap>,
    pub min_heap_size: usize,
    pub min_bin_vheap_size: usize,
    pub fullsweep_after: usize,
    pub literals: Option<LeavingLiterals>,
    /// The scheduler it is to run on, counted from 1; 0 for any.
    pub bound: usize,
    pub tasks: Option<Box<SysTasks>>,
    /// It has ended, and this is left to do.
    pub(crate) farewell: Option<Box<Farewell>>,
    pub seq: Counters,
    /// Links to processes of other nodes.
    pub remote_links: BTreeMap<RemotePid, LinkState>,
    /// Processes it asked other nodes for, that it has no answer about.
    pub spawning: BTreeSet<RefId>,
    /// The process of another node that asked for it.
    pub remote_parent: Option<RemotePid>,
}

/// To be called when literals were copied.
pub type Copied = Box<dyn FnOnce(Option<&Proc>) + Send>;

/// Literals that will be freed, and who waits for the process to have
/// copied what it holds of them.
pub struct LeavingLiterals {
    pub which: Arc<Leaving>,
    pub done: Copied,
}

impl Default for Rare {
    fn default() -> Self {
        Rare {
            suspended_by: BTreeMap::new(),
            suspending: RelationTree::default(),
            error_handler: am::error_handler,
            async_dist: false,
            saved_calls: None,
            max_heap_size: None,
            min_heap_size: 233,
            min_bin_vheap_size: 46_422,
            fullsweep_after: 65_535,
            literals: None,
            bound: 0,
            tasks: None,
            farewell: None,
            seq: Counters::default(),
            remote_links: BTreeMap::new(),
            spawning: BTreeSet::new(),
            remote_parent: None,
        }
    }
}

impl Extra {
    pub fn get(&self) -> Option<&ExtraFields> {
        self.0.as_deref()
    }
    pub fn get_mut(&mut self) -> Option<&mut ExtraFields> {
        self.0.as_deref_mut()
    }
    pub fn make(&mut self) -> &mut ExtraFields {
        self.0.get_or_insert_with(Box::default)
    }
}

impl Proc {
    /// Where native code finds its fields.
    pub const PID: usize = offset_of!(Proc, pid);
    pub const FLAGS: usize = offset_of!(Proc, flags);
    pub const DEADLINE: usize = offset_of!(Proc, deadline);

    /// A process that is in no table: for tests, and for building terms.
    pub fn new(pid: u32, heap_words: usize) -> Proc {
        Proc::with(pid, Heap::new(heap_words), None)
    }
    #[inline(always)]
    pub(crate) fn with(pid: u32, heap: Heap, me: Option<Me>) -> Proc {
        Proc {
            heap,
            trap_to: Cell::new(None),
            cause: Cell::new(None),
            places: Places::new(me),
            extra: RefCell::default(),
            deadline: Cell::new(0),
            armed: Cell::new(0),
            reductions: Cell::new(0),
            flags: Cell::new(0),
            pid,
            last_to: Cell::new(0),
            last_from: Cell::new(0),
            parent: Cell::new(0),
            initial_function: Cell::new((am::erlang, am::apply)),
            initial_arity: Cell::new(2),
            sent_to_self: Cell::new(false),
            name: Cell::new(None),
        }
    }
    /// Its pid as a term.
    pub fn self_pid(&self) -> Term<'static> {
        Term::local_pid(self.pid)
    }
    pub fn pid(&self) -> u32 {
        self.pid
    }
    /// What anybody may read of it; none where it is in no table.
    #[inline]
    pub fn me(&self) -> Option<&Shared> {
        self.places.me().map(|me| &**me)
    }
    #[inline]
    pub fn flag(&self, f: u32) -> bool {
        self.flags.get() & f != 0
    }
    pub fn set_flag(&self, f: u32, on: bool) -> bool {
        let old = self.flags.get();
        self.flags.set(if on { old | f } else { old & !f });
        old & f != 0
    }
    /// Hides what it does and holds, or shows it again. What it was before.
    pub fn set_sensitive(&self, on: bool) -> bool {
        if let Some(me) = self.me() {
            me.set_sensitive(on);
        }
        self.set_flag(flag::SENSITIVE, on)
    }
    pub fn priority(&self) -> Priority {
        self.me().map_or(Priority::Normal, |m| m.priority())
    }
    /// Adds work that no turn of its code was charged for.
    pub fn count_reductions(&self, n: u64) {
        self.reductions.set(self.reductions.get() + n)
    }
    /// Reductions it has used, without those of this turn.
    pub fn reductions(&self) -> u64 {
        self.reductions.get()
    }
    pub fn name(&self) -> Option<Atom> {
        self.name.get()
    }
    pub fn set_name(&self, name: Option<Atom>) {
        self.name.set(name)
    }
    pub fn initial_call(&self) -> (Atom, Atom, u8) {
        let (module, function) = self.initial_function.get();
        (module, function, self.initial_arity.get())
    }
    pub(crate) fn set_initial_call(&self, (module, function, arity): (Atom, Atom, u8)) {
        self.initial_function.set((module, function));
        self.initial_arity.set(arity);
    }
    /// Gives the messages that came last their slots, which the next receive that skips some would
    /// have to.
    pub(crate) fn settle_messages(&self) {
        self.messages().settle();
    }
    /// Messages it was sent and has not taken.
    pub fn message_count(&self) -> usize {
        self.messages().len()
    }
    /// Words of the messages in its mailbox.
    pub fn message_words(&self) -> usize {
        self.messages().words()
    }
    /// About so many, from the first messages alone where there are more than `most`.
    pub fn message_words_about(&self, most: usize) -> usize {
        self.messages().words_about(most)
    }
    pub fn each_message(&self, f: impl FnMut(Term<'_>)) {
        self.messages().each(f);
    }
    /// The process of another node that asked for it.
    pub fn remote_parent(&self) -> Option<RemotePid> {
        self.rare(|x| x.remote_parent).flatten()
    }
    /// Who spawned it; the first process has no parent.
    pub fn parent_pid(&self) -> Option<Term<'static>> {
        (self.pid != 0).then(|| Term::local_pid(self.parent.get()))
    }
    /// Was a full collection asked for? Asked once, by who collects.
    pub fn take_full_gc(&self) -> bool {
        self.set_flag(flag::FULL_GC, false)
    }
    /// Copies what it holds of these literals before it is run again, then calls `done` with itself,
    /// or without when it has ended instead.
    pub fn ask_to_copy_literals(&self, which: Arc<Leaving>, done: Copied) {
        self.with_rare(|x| x.literals = Some(LeavingLiterals { which, done }));
        self.set_flag(flag::LITERALS, true);
    }
    pub(crate) fn take_leaving_literals(&self) -> Option<LeavingLiterals> {
        if !self.flag(flag::LITERALS | flag::LITERALS_LATER) {
            return None;
        }
        self.set_flag(flag::LITERALS | flag::LITERALS_LATER, false);
        self.with_rare(|x| x.literals.take())
    }
    /// Have others asked something of it that it can do now?
    #[inline]
    pub(crate) fn has_chores(&self) -> bool {
        if self.flag(flag::LITERALS_LATER | flag::TASKS_LATER) {
            self.take_up_chores();
        }
        self.flag(flag::CHORES)
    }
    #[cold]
    fn take_up_chores(&self) {
        if self.flag(flag::LITERALS_LATER) && !self.heap.is_pinned() {
            self.set_flag(flag::LITERALS_LATER, false);
            self.set_flag(flag::LITERALS, true);
        }
        self.take_up_tasks();
    }
    /// Does what `ask_to_copy_literals` asked for; nobody runs the process. What was collected for
    /// it, if anything was.
    pub(crate) fn copy_literals(&mut self) -> Option<kvik_heap::GcStats> {
        if self.heap.is_pinned() {
            let asked = self.set_flag(flag::LITERALS, false);
            self.set_flag(flag::LITERALS_LATER, asked || self.flag(flag::LITERALS_LATER));
            return None;
        }
        let l = self.take_leaving_literals()?;
        self.messages().copy_literals(&l.which);
        let stats = self.heap.copy_literals(&l.which);
        (l.done)(Some(self));
        stats
    }
    /// From its next turn on it runs on that scheduler, counted from 1, or on any if that is 0.
    /// Which it was before.
    pub fn bind(&self, scheduler: usize) -> usize {
        self.set_flag(flag::BOUND, scheduler != 0);
        self.with_rare(|x| std::mem::replace(&mut x.bound, scheduler))
    }
    /// What not every process has; it is made where it is not there.
    pub fn with_extra<R>(&self, f: impl FnOnce(&mut ExtraFields) -> R) -> R {
        f(self.extra.borrow_mut().make())
    }
    /// The same without making it.
    pub fn extra<R>(&self, f: impl FnOnce(&ExtraFields) -> R) -> Option<R> {
        self.extra.borrow().get().map(f)
    }
    /// What few processes have; it is made where it is not there.
    pub fn with_rare<R>(&self, f: impl FnOnce(&mut Rare) -> R) -> R {
        self.with_extra(|x| f(x.rare.get_or_insert_default()))
    }
    /// The same without making it.
    pub fn rare<R>(&self, f: impl FnOnce(&Rare) -> R) -> Option<R> {
        self.extra(|x| x.rare.as_deref().map(f)).flatten()
    }
}

kvik_state::vm_state! {
    static TABLE: std::sync::OnceLock<Table<Task>> = std::sync::OnceLock::new();
}

/// The most processes (erl's `+P` default).
pub const DEFAULT_LIMIT: usize = 262_144;
/// Bits of a local pid's number.
pub const PID_BITS: u32 = 28;

/// Makes the process table. The first call counts.
pub fn init_table(limit: usize) {
    let _ = TABLE.set(Table::new(limit.max(1024), PID_BITS));
}
#[inline]
pub fn table() -> &'static Table<Task> {
    TABLE.get_or_init(|| Table::new(DEFAULT_LIMIT, PID_BITS))
}
/// Is that process there?
pub fn is_alive(pid: u32) -> bool {
    table().get(pid, &kvik_sync::pin()).is_some()
}

const _: () = assert!(
    size_of::<Task>() + 2 * size_of::<usize>() == kvik_sys::slab::BLOCK,
    "a process has its size, see `ROOM`"
);
