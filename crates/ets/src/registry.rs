//! All tables: by name, by reference, by owner, and by the processes that fixed them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::Signal;
use kvik_sync::{pin, EpochCell, Guard};
use kvik_term::{am, Atom, Ref, Term};

use crate::cooperative::STEPS_PER_REDUCTION;
use crate::deferred_free::DeferredFree;
use crate::store::Store;
use crate::table::{Access, Heir, Refusal, Table, TableState};

/// Whether that process exists.
pub fn is_alive(pid: u32) -> bool {
    kvik_proc::process::table().get(pid, &kvik_sync::pin()).is_some()
}

kvik_state::vm_state! {
    /// Whether a process with this number modulo `MARKS` ever owned or fixed a table. Most
    /// processes skip the locks when they end because of this.
    static MARKED: [AtomicBool; MARKS] = [const { AtomicBool::new(false) }; MARKS];
}

const MARKS: usize = 4096;
fn mark(pid: u32) -> &'static AtomicBool {
    &MARKED[pid as usize % MARKS]
}

/// Named tables, a few in each shard: each change copies one shard.
type NameShard = EpochCell<Vec<(Atom, Arc<Table>)>>;
struct NameShards(Box<[NameShard]>);

const SHARDS: usize = 256;

impl Default for NameShards {
    fn default() -> Self {
        NameShards((0..SHARDS).map(|_| NameShard::default()).collect())
    }
}

/// Tables in insertion order, searchable by reference.
#[derive(Default)]
struct Tables {
    in_order: BTreeMap<u64, Arc<Table>>,
    places: HashMap<[u32; 3], u64>,
    /// Number of insertions so far.
    added: u64,
}
impl Tables {
    fn push(&mut self, t: Arc<Table>) {
        self.added += 1;
        if let Some(before) = self.places.insert(t.id, self.added) {
            self.in_order.remove(&before);
        }
        self.in_order.insert(self.added, t);
    }
    fn remove(&mut self, id: [u32; 3]) {
        if let Some(place) = self.places.remove(&id) {
            self.in_order.remove(&place);
        }
    }
    /// The oldest entry: an ending process's tables are deleted in that order.
    fn pop(&mut self) -> Option<Arc<Table>> {
        let (_, t) = self.in_order.pop_first()?;
        self.places.remove(&t.id);
        Some(t)
    }
    fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }
}

type ByPid = Mutex<HashMap<u32, Tables>>;

#[derive(Default)]
struct Registry {
    names: NameShards,
    /// Held while a name is added or removed.
    naming: Mutex<()>,
    /// In order of creation, which `ets:all/0` reports.
    all: RwLock<BTreeMap<[u32; 3], Arc<Table>>>,
    owned: ByPid,
    fixed: ByPid,
    /// Tables by their heirs.
    inherited: ByPid,
    /// Rows that ending processes still have to free in their next time slices.
    leaving: Mutex<HashMap<u32, DeferredFree>>,
}

fn registry() -> &'static Registry {
    kvik_state::vm_state! {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
    }
    REGISTRY.get_or_init(|| {
        kvik_proc::hooks::before_exit(leave);
        Registry::default()
    })
}
fn names(name: Atom) -> &'static NameShard {
    &registry().names.0[name.index() as usize % SHARDS]
}
/// False if the name is taken.
fn add_name(name: Atom, t: Arc<Table>) -> bool {
    let _naming = registry().naming.lock().unwrap_or_else(|e| e.into_inner());
    if by_name(name, &pin()).is_some() {
        return false;
    }
    names(name).change(|all| all.into_iter().flatten().cloned().chain([(name, t)]).collect());
    true
}
fn forget_name(name: Atom) {
    let _naming = registry().naming.lock().unwrap_or_else(|e| e.into_inner());
    let others =
        |all: &Vec<(Atom, Arc<Table>)>| all.iter().filter(|n| n.0 != name).cloned().collect();
    names(name).change(|all| all.map_or(Vec::new(), others));
}
/// Whether two names are in the same shard of the registry.
pub fn share_lock(a: Atom, b: Atom) -> bool {
    a.index() as usize % SHARDS == b.index() as usize % SHARDS
}
fn lock(m: &'static ByPid) -> MutexGuard<'static, HashMap<u32, Tables>> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
fn add(m: &'static ByPid, pid: u32, t: Arc<Table>) {
    mark(pid).store(true, Ordering::Release);
    lock(m).entry(pid).or_default().push(t);
}
fn remove(m: &'static ByPid, pid: u32, id: [u32; 3]) {
    let mut m = lock(m);
    if let Some(v) = m.get_mut(&pid) {
        v.remove(id);
        if v.is_empty() {
            m.remove(&pid);
        }
    }
}

/// A table looked up by a term, held for the length of one operation.
pub enum TableRef<'h> {
    Borrowed(&'h Table),
    Shared(Arc<Table>),
}
impl Deref for TableRef<'_> {
    type Target = Table;
    fn deref(&self) -> &Table {
        match self {
            TableRef::Borrowed(t) => t,
            TableRef::Shared(t) => t,
        }
    }
}

/// The table that a term refers to.
pub fn find<'t>(t: Term<'t>, pin: &'t Guard) -> Result<TableRef<'t>, Refusal> {
    if let Some(name) = t.as_atom() {
        return by_name(name, pin).map(|t| TableRef::Borrowed(t)).ok_or(Refusal::Id);
    }
    if let Some(r) = Heap::resource_ref(t) {
        return match r.downcast_ref::<Table>() {
            Some(t) => Ok(TableRef::Borrowed(t)),
            None => Err(Refusal::Type),
        };
    }
    match t.as_ref() {
        Some(Ref::Local(r)) => by_id(r.numbers()).map(TableRef::Shared).ok_or(Refusal::Type),
        _ => Err(Refusal::Type),
    }
}
#[inline]
pub fn by_name(name: Atom, pin: &Guard) -> Option<&Arc<Table>> {
    names(name).get(pin)?.iter().find(|(n, _)| *n == name).map(|(_, t)| t)
}
/// A table's reference with its words reversed, so that later ones compare greater.
fn made([low, mid, high]: [u32; 3]) -> [u32; 3] {
    [high, mid, low]
}
pub fn by_id(id: [u32; 3]) -> Option<Arc<Table>> {
    let all = registry().all.read().unwrap_or_else(|e| e.into_inner());
    all.get(&made(id)).cloned()
}
pub fn all() -> Vec<Arc<Table>> {
    let all = registry().all.read().unwrap_or_else(|e| e.into_inner());
    all.values().cloned().collect()
}
pub fn count() -> usize {
    let all = registry().all.read().unwrap_or_else(|e| e.into_inner());
    all.len()
}

/// A table's reference, built on a heap.
pub fn reference<'h>(heap: &'h Heap, t: &Table) -> Term<'h> {
    match by_id(t.id) {
        Some(shared) => heap.magic_ref_of_numbers(t.id, shared),
        None => heap.ref_of_numbers(t.id),
    }
}
/// The term that users see: the table's name, or its reference.
pub fn handle<'h>(heap: &'h Heap, t: &Table, name: Atom) -> Term<'h> {
    if t.options.named {
        name.into()
    } else {
        reference(heap, t)
    }
}

/// The same from an `Arc`. `None` if the table has ended; an unnamed one is not checked.
pub fn handle_of<'h>(heap: &'h Heap, t: Arc<Table>) -> Option<Term<'h>> {
    if t.options.named {
        return t.read(0, Access::Info).ok().map(|s| s.name.into());
    }
    Some(heap.magic_ref_of_numbers(t.id, t))
}

/// Sets the process that inherits the table when its owner ends. An heir that ends first is
/// removed.
pub fn set_heir(t: &Table, s: &mut TableState, heir: Option<Heir>) {
    if let Some((old, _)) = s.heir.take() {
        remove(&registry().inherited, old, t.id);
    }
    if let (Some((pid, _)), Some(shared)) = (&heir, by_id(t.id)) {
        add(&registry().inherited, *pid, shared);
    }
    s.heir = heir;
}
fn forget_heir(pid: u32) {
    let all = lock(&registry().inherited).remove(&pid).unwrap_or_default();
    for t in all.in_order.into_values() {
        if let Ok(mut s) = t.write(pid, Access::Info) {
            s.heir.take_if(|h| h.0 == pid);
        }
    }
}

/// `None` if the name is taken.
pub fn register(t: Table, name: Atom, owner: u32) -> Option<Arc<Table>> {
    let t = Arc::new(t);
    if t.options.named && !add_name(name, t.clone()) {
        return None;
    }
    let mut all = registry().all.write().unwrap_or_else(|e| e.into_inner());
    all.insert(made(t.id), t.clone());
    drop(all);
    add(&registry().owned, owner, t.clone());
    Some(t)
}

/// Renames a table. False if the name is taken.
pub fn rename(t: &Table, old: Atom, new: Atom) -> bool {
    if !t.options.named {
        return true;
    }
    let Some(shared) = by_id(t.id) else {
        return false;
    };
    let renamed = add_name(new, shared);
    if renamed {
        forget_name(old);
    }
    renamed
}

/// Deletes a table that the caller may write to. The caller frees the returned contents.
pub fn delete(t: &Table) -> Option<DeferredFree> {
    let mut s = t.write(0, Access::Info).ok()?;
    s.alive = false;
    let (owner, name) = (s.owner, s.name);
    let empty = Store::Tree(crate::tree::Tree::new(t.options.keypos));
    let old = std::mem::replace(&mut s.store, empty);
    set_heir(t, &mut s, None);
    drop(s);
    if t.options.named {
        forget_name(name);
    }
    for (pid, _) in t.fixers().holders.drain(..) {
        remove(&registry().fixed, pid, t.id);
    }
    remove(&registry().owned, owner, t.id);
    let mut all = registry().all.write().unwrap_or_else(|e| e.into_inner());
    all.remove(&made(t.id));
    Some(old.into_remains())
}

/// Gives a table to another process and sends it a message.
pub fn transfer(t: &Table, from: u32, to: u32, gift: Option<Term<'_>>) {
    let Ok(mut s) = t.write(from, Access::Info) else {
        return;
    };
    s.owner = to;
    let name = s.name;
    drop(s);
    remove(&registry().owned, from, t.id);
    if let Some(shared) = by_id(t.id) {
        add(&registry().owned, to, shared);
    }
    let Some(gift) = gift else { return };
    let heap = Heap::detached();
    let message =
        heap.tuple(&[am::ETS_TRANSFER.into(), handle(&heap, t, name), Term::local_pid(from), gift]);
    kvik_proc::deliver(to, Signal::Message(OwnedTerm::new(message)));
}

pub fn fix(t: &Table, me: u32) {
    if t.fix(me) {
        if let Some(shared) = by_id(t.id) {
            add(&registry().fixed, me, shared);
        }
    }
}
pub fn unfix(t: &Table, me: u32) {
    if t.unfix(me, false) {
        remove(&registry().fixed, me, t.id);
    }
}

/// Steps that deleting a table costs an ending process, besides those for its rows.
const A_TABLE: usize = 400;

/// Exit hook. False: the process must continue in its next time slice.
fn leave(p: &kvik_proc::Proc) -> bool {
    if !mark(p.pid()).load(Ordering::Acquire) {
        return true;
    }
    let mut steps = p.steps(STEPS_PER_REDUCTION);
    let done = process_exits(p.pid(), &mut steps);
    p.steps_left(steps, STEPS_PER_REDUCTION);
    done
}

/// Cleans up after an ending process: its tables go to their heirs or are deleted, and its
/// fixations end. False if the steps did not suffice.
pub fn process_exits(pid: u32, steps: &mut usize) -> bool {
    let leaving = || registry().leaving.lock().unwrap_or_else(|e| e.into_inner());
    let mut remains = leaving().remove(&pid);
    forget_heir(pid);
    loop {
        if let Some(mut r) = remains.take() {
            if !r.free(steps) {
                leaving().insert(pid, r);
                return false;
            }
        }
        let next = lock(&registry().owned).get_mut(&pid).and_then(Tables::pop);
        let Some(t) = next else { break };
        remains = inherit_or_delete(&t, pid);
        *steps = steps.saturating_sub(A_TABLE);
    }
    lock(&registry().owned).remove(&pid);
    let fixed = lock(&registry().fixed).remove(&pid).unwrap_or_default();
    for t in fixed.in_order.into_values() {
        t.unfix(pid, true);
    }
    true
}
fn inherit_or_delete(t: &Table, pid: u32) -> Option<DeferredFree> {
    let heir = match t.write(pid, Access::Info) {
        Ok(s) if s.owner == pid => s.heir.clone(),
        _ => return None,
    };
    match heir {
        Some((to, gift)) if to != pid && is_alive(to) => {
            transfer(t, pid, to, gift.as_ref().map(OwnedTerm::term));
            None
        }
        _ => delete(t),
    }
}
