//! [`Proc`]: a process's private part; [`Shared`]: the part that other threads may read.

pub mod flag;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU8, Ordering};
use std::sync::Arc;

use kvik_heap::literal::Leaving;
use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::SlotTable;
use kvik_term::{am, Atom, Export, Term};

use crate::exit_progress::ExitProgress;
use crate::links_monitors::{Link, LinkState, MonitoredBy, Monitoring, Target};
use crate::message_queue::Places;
use crate::priority_items::PriorityItems;
use crate::relation_tree::RelationTree;
use crate::remote_types::RemotePid;
use crate::saved_calls::SavedCalls;
use crate::seq_trace_types::SeqTraceCounters;
use crate::signal_types::{ByAge, RefId, Signal};
use crate::small_map::SmallMap;
use crate::system_tasks::SysTasks;

/// The part of a process that any thread may read.
pub struct Shared {
    pub pid: u32,
    priority: AtomicU8,
    /// [`ENDING`], [`SYSTEM`], [`SENSITIVE`].
    marks: AtomicU8,
    /// The scheduler that ran it last.
    home: AtomicU16,
    /// Trace flags: `trace::bit`.
    trace: AtomicU32,
}

/// The process is ending and still releases what it owns: lookups hide it, and signals to it wait
/// until it has ended.
const ENDING: u8 = 1;
/// One of the system's own processes.
const SYSTEM: u8 = 2;
/// Not traced or inspected: `process_flag(sensitive, true)`.
const SENSITIVE: u8 = 4;

/// Words of the inline heap, the first block for heap and stack. With them a process fills one
/// block of the slabs.
const INLINE_HEAP_WORDS: usize = 23;

pub type Task = kvik_sync::Task<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
pub type RunToken = kvik_sync::RunToken<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
pub type SelfHandle = kvik_sync::SelfHandle<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
/// A run token in a queue.
pub type QueuedToken = kvik_sync::QueuedToken<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
pub type Pushed = kvik_sync::task::Pushed<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
/// Holds the process that waited last.
pub type UnparkedSlot = kvik_sync::UnparkedSlot<Shared, Proc, Signal, INLINE_HEAP_WORDS>;
/// The task that a scheduler runs.
pub type CurrentTask = kvik_sync::CurrentTask<Shared, Proc, Signal, INLINE_HEAP_WORDS>;

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
    /// Whether it is one of the system's own processes.
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

/// The private part of a process, for the holder of its run token. Native code holds its address
/// and expects the heap first.
#[repr(C)]
pub struct Proc {
    pub heap: Heap,
    /// Where a BIF that trapped continues; while a BIF is suspended, the function the process is
    /// in.
    pub trap_to: Cell<Option<&'static Export>>,
    /// Why a BIF's argument was bad, if the reason does not say so: `cause` of `error_info`.
    pub cause: Cell<Option<Atom>>,
    /// The messages it has not taken: see `Proc::messages`.
    pub(crate) places: Places,
    pub(crate) extra: RefCell<ColdState>,
    /// When its `receive` ends, as a word of [`crate::timer::At`]; 0 for never.
    pub(crate) deadline: Cell<u64>,
    /// When the timer set for such deadlines fires; 0 for no timer.
    pub(crate) armed: Cell<u64>,
    pub(crate) reductions: Cell<u64>,
    pub(crate) flags: Cell<u32>,
    pid: u32,
    /// The last process it sent a message to, and the last whose message ended its wait.
    pub(crate) last_to: Cell<u32>,
    pub(crate) last_from: Cell<u32>,
    pub(crate) parent: Cell<u32>,
    initial_function: Cell<(Atom, Atom)>,
    initial_arity: Cell<u8>,
    /// It has sent itself something, and may not have handled that yet.
    pub(crate) sent_to_self: Cell<bool>,
    pub(crate) name: Cell<Option<Atom>>,
}

/// Fields that not every process needs: links, monitors, and [`RareState`].
#[derive(Default)]
pub struct ColdState(Option<Box<ColdFields>>);

#[derive(Default)]
pub struct ColdFields {
    /// By [`Link::key`].
    pub links: RelationTree<u64, Link>,
    pub monitoring: RelationTree<RefId, Monitoring>,
    pub monitored_by: SmallMap<ByAge, MonitoredBy>,
    /// Aliases in use, with whether the first reply ends them.
    pub aliases: SmallMap<RefId, bool>,
    pub exit_reason: Option<OwnedTerm>,
    /// A monitor ended by a reply to its alias; its target is told in the next time slice.
    pub ended: Option<(RefId, Target)>,
    pub rare: Option<Box<RareState>>,
}

impl ColdFields {
    /// Ends an alias. Returns whether the first reply would have, or `None` if there is none.
    pub fn end_alias(&mut self, id: &RefId) -> Option<bool> {
        let ended = self.aliases.remove(id);
        if ended.is_some() {
            kvik_heap::written_refs::forget_alias(id.0);
        }
        ended
    }
}

/// Fields that few processes need.
pub struct RareState {
    /// Which processes suspended it, and how often.
    pub suspended_by: BTreeMap<u32, u32>,
    /// Those of them for which its timers stand still.
    pub(crate) pausing: BTreeSet<u32>,
    /// Nanoseconds that were left of its `receive`'s timeout when it was suspended.
    pub(crate) timeout_left: Option<u64>,
    /// Which processes it suspended, and how often.
    pub suspending: RelationTree<u32, u32>,
    pub error_handler: Atom,
    pub async_dist: bool,
    pub saved_calls: Option<Box<SavedCalls>>,
    pub max_heap_size: Option<crate::limits::MaxHeap>,
    /// A minor collection will do where [`flag::COLLECT`] is set.
    pub(crate) minor_collection: bool,
    pub min_heap_size: usize,
    pub min_bin_vheap_size: usize,
    pub fullsweep_after: usize,
    pub literals: Option<LeavingLiterals>,
    /// The scheduler it is to run on, counted from 1; 0 for any.
    pub bound: usize,
    pub tasks: Option<Box<SysTasks>>,
    /// The rest of its exit, once it has ended.
    pub(crate) exit_progress: Option<Box<ExitProgress>>,
    pub seq: SeqTraceCounters,
    /// Links to processes of other nodes.
    pub remote_links: BTreeMap<RemotePid, LinkState>,
    /// Spawn requests to other nodes that have no answer yet.
    pub spawning: BTreeSet<RefId>,
    /// The process of another node that spawned it.
    pub remote_parent: Option<RemotePid>,
    pub priority: Option<Box<PriorityItems>>,
}

/// Called when the literals were copied.
pub type Copied = Box<dyn FnOnce(Option<&Proc>) + Send>;

/// Literals about to be freed, and the callback for when the process has copied what it uses of
/// them.
pub struct LeavingLiterals {
    pub which: Arc<Leaving>,
    pub done: Copied,
}

impl Default for RareState {
    fn default() -> Self {
        RareState {
            suspended_by: BTreeMap::new(),
            pausing: BTreeSet::new(),
            timeout_left: None,
            suspending: RelationTree::default(),
            error_handler: am::error_handler,
            async_dist: false,
            saved_calls: None,
            max_heap_size: None,
            minor_collection: false,
            min_heap_size: 233,
            min_bin_vheap_size: 46_422,
            fullsweep_after: 65_535,
            literals: None,
            bound: 0,
            tasks: None,
            exit_progress: None,
            seq: SeqTraceCounters::default(),
            remote_links: BTreeMap::new(),
            spawning: BTreeSet::new(),
            remote_parent: None,
            priority: None,
        }
    }
}

impl ColdState {
    pub fn get(&self) -> Option<&ColdFields> {
        self.0.as_deref()
    }
    pub fn get_mut(&mut self) -> Option<&mut ColdFields> {
        self.0.as_deref_mut()
    }
    pub fn make(&mut self) -> &mut ColdFields {
        self.0.get_or_insert_with(Box::default)
    }
}

impl Proc {
    /// Offsets at which native code finds its fields.
    pub const PID: usize = offset_of!(Proc, pid);
    pub const FLAGS: usize = offset_of!(Proc, flags);
    pub const DEADLINE: usize = offset_of!(Proc, deadline);

    /// A process that is in no table: for tests, and for building terms.
    pub fn new(pid: u32, heap_words: usize) -> Proc {
        Proc::with(pid, Heap::new(heap_words), None)
    }
    #[inline(always)]
    pub(crate) fn with(pid: u32, heap: Heap, me: Option<SelfHandle>) -> Proc {
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
    /// Its shared part; none if it is in no table.
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
    /// Sets whether it is sensitive; returns the old setting.
    pub fn set_sensitive(&self, on: bool) -> bool {
        if let Some(me) = self.me() {
            me.set_sensitive(on);
        }
        self.set_flag(flag::SENSITIVE, on)
    }
    pub fn priority(&self) -> Priority {
        self.me().map_or(Priority::Normal, |m| m.priority())
    }
    /// Adds reductions for work outside its time slices.
    pub fn count_reductions(&self, n: u64) {
        self.reductions.set(self.reductions.get() + n)
    }
    /// Reductions it has used, without those of this time slice.
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
    /// Gives the newest messages their slots, so that the next receive that skips some need not.
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
    /// An estimate of [`Proc::message_words`], from the first `most` messages if there are more.
    pub fn message_words_about(&self, most: usize) -> usize {
        self.messages().words_about(most)
    }
    pub fn each_message(&self, f: impl FnMut(Term<'_>)) {
        self.messages().each(f);
    }
    /// The process of another node that spawned it.
    pub fn remote_parent(&self) -> Option<RemotePid> {
        self.rare(|x| x.remote_parent).flatten()
    }
    /// The process that spawned it; the first process has no parent.
    pub fn parent_pid(&self) -> Option<Term<'static>> {
        (self.pid != 0).then(|| Term::local_pid(self.parent.get()))
    }
    /// Has the process copy what it uses of these literals before it runs again, then call `done`
    /// with itself, or with `None` if it has ended.
    pub fn ask_to_copy_literals(&self, which: Arc<Leaving>, done: Copied) {
        self.with_rare(|x| x.literals = Some(LeavingLiterals { which, done }));
        self.set_flag(flag::LITERALS, true);
    }
    pub(crate) fn take_leaving_literals(&self) -> Option<LeavingLiterals> {
        if !self.flag(flag::LITERALS | flag::CHORES_LATER) {
            return None;
        }
        self.set_flag(flag::LITERALS, false);
        self.with_rare(|x| x.literals.take())
    }
    /// Whether there are requests of others that it can handle now.
    #[inline]
    pub(crate) fn has_chores(&self) -> bool {
        if self.flag(flag::CHORES_LATER) {
            self.take_up_chores();
        }
        self.flag(flag::CHORES)
    }
    #[cold]
    fn take_up_chores(&self) {
        let copies = self.rare(|x| x.literals.is_some()) == Some(true);
        let can_copy = !self.heap.is_suspended();
        if copies && can_copy {
            self.set_flag(flag::LITERALS, true);
        }
        let tasks_left = self.take_up_tasks();
        self.set_flag(flag::CHORES_LATER, tasks_left || copies && !can_copy);
    }
    /// Does what `ask_to_copy_literals` requested, while the process is not running. Returns the
    /// statistics of the collection, if there was one.
    pub(crate) fn copy_literals(&mut self) -> Option<kvik_heap::GcStats> {
        if self.heap.is_suspended() {
            if self.set_flag(flag::LITERALS, false) {
                self.set_flag(flag::CHORES_LATER, true);
            }
            return None;
        }
        let l = self.take_leaving_literals()?;
        self.messages().copy_literals(&l.which);
        let stats = self.heap.copy_literals(&l.which);
        (l.done)(Some(self));
        stats
    }
    /// Binds it to that scheduler, counted from 1, from its next time slice on; 0 for any. Returns
    /// the old binding.
    pub fn bind(&self, scheduler: usize) -> usize {
        self.set_flag(flag::BOUND, scheduler != 0);
        self.with_rare(|x| std::mem::replace(&mut x.bound, scheduler))
    }
    /// Accesses the cold fields, which are allocated if missing.
    pub fn with_cold<R>(&self, f: impl FnOnce(&mut ColdFields) -> R) -> R {
        f(self.extra.borrow_mut().make())
    }
    /// The same without making it.
    pub fn cold<R>(&self, f: impl FnOnce(&ColdFields) -> R) -> Option<R> {
        self.extra.borrow().get().map(f)
    }
    /// Accesses the rare fields, which are allocated if missing.
    pub fn with_rare<R>(&self, f: impl FnOnce(&mut RareState) -> R) -> R {
        self.with_cold(|x| f(x.rare.get_or_insert_default()))
    }
    /// The same without making it.
    pub fn rare<R>(&self, f: impl FnOnce(&RareState) -> R) -> Option<R> {
        self.cold(|x| x.rare.as_deref().map(f)).flatten()
    }
}

kvik_state::vm_state! {
    static TABLE: std::sync::OnceLock<SlotTable<Task>> = std::sync::OnceLock::new();
}

/// The most processes where nothing has made the table, as in tests.
pub const DEFAULT_LIMIT: usize = 262_144;
/// Bits of a local pid's number.
pub const PID_BITS: u32 = 28;

/// Makes the process table. Later calls do nothing. A program that asks for more processes than
/// its release has without the flag will have them, and should not wait for the table's memory when
/// they are made.
pub fn init_table(limit: usize) {
    let mut table = SlotTable::new(limit.max(1024), PID_BITS);
    if limit > kvik_release::current().processes {
        table.make_present();
    }
    let _ = TABLE.set(table);
}
#[inline]
pub fn table() -> &'static SlotTable<Task> {
    TABLE.get_or_init(|| SlotTable::new(DEFAULT_LIMIT, PID_BITS))
}
/// Whether that process exists.
pub fn is_alive(pid: u32) -> bool {
    table().get(pid, &kvik_sync::pin()).is_some()
}

const _: () = assert!(
    size_of::<Task>() + 2 * size_of::<usize>() == kvik_sys::slab::BLOCK,
    "a process has its size, see `ROOM`"
);
