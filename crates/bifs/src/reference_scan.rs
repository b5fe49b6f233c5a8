//! Scans the memory of all processes and tables for holders of a term. Only tests, debuggers and
//! `nodes(known)` need this, so no counts are maintained.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use kvik_ets::ms::MatchProgram;
use kvik_ets::{Access, Store};
use kvik_heap::{Heap, MagicResource, OwnedTerm};
use kvik_proc::signal::{deliver, post, Signal};
use kvik_proc::timer::{self, Dest};
use kvik_proc::{Proc, Raised};
use kvik_term::word::{header_subtag, is_header, is_small, small_value, EXT, FUN};
use kvik_term::{am, Atom, FunEntry, Term};

/// What to scan for.
#[derive(Copy, Clone)]
pub enum Wanted {
    /// Funs of one entry.
    Fun(&'static FunEntry),
    /// Pids, ports and references of other nodes.
    Nodes,
}
/// A node's name (as an atom index) and creation; `None` for funs.
pub type Key = Option<(u32, u32)>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceHolder {
    Process(u32),
    /// A registered name (as an atom index) that a timer is addressed to.
    Name(u32),
    Table([u32; 3]),
    /// The address of a match specification's program, which may have many holders.
    MatchSpec(usize),
    PersistentTerms,
}
/// How a process holds the term.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldIn {
    Timer,
    Memory,
}
pub type References = BTreeMap<(Key, ReferenceHolder, HeldIn), usize>;

impl Wanted {
    /// The key of an object that begins with these words; `None` if it is not wanted.
    fn key(self, at: &[u64]) -> Option<Key> {
        let [h, a, b, ..] = *at else { return None };
        match self {
            Wanted::Fun(e) => {
                let is = is_header(h) && header_subtag(h) == FUN;
                (is && a == std::ptr::from_ref(e) as u64).then_some(None)
            }
            Wanted::Nodes => {
                if !(is_header(h) && header_subtag(h) == EXT && is_small(b)) {
                    return None;
                }
                // Only such an object has these words, apart from coincidences in bytes of a
                // binary.
                let node = Atom::from_index(u32::try_from(a >> 4).ok()?);
                let node = node.filter(|n| Term::atom(*n).word() == a)?;
                Some(Some((node.index(), u32::try_from(small_value(b)).ok()?)))
            }
        }
    }
    fn count(self, who: ReferenceHolder, held: HeldIn, words: &[u64], found: &mut References) {
        for i in 0..words.len() {
            if let Some(k) = self.key(&words[i..]) {
                *found.entry((k, who, held)).or_default() += 1;
            }
        }
    }
    fn count_owned(
        self,
        who: ReferenceHolder,
        held: HeldIn,
        t: &OwnedTerm,
        found: &mut References,
    ) {
        self.count(who, held, t.block(), found);
        t.each_resource(&mut |r| self.count_resource(r, found));
    }
    /// Counts a program once, whatever its number of holders.
    fn count_resource(self, r: &MagicResource, found: &mut References) {
        let Some(program) = r.downcast_ref::<MatchProgram>() else { return };
        let who = ReferenceHolder::MatchSpec(Arc::as_ptr(r).cast::<u8>() as usize);
        let mut within = References::new();
        self.count(who, HeldIn::Memory, program.source.block(), &mut within);
        found.extend(within);
    }
}

type Finish = Box<dyn for<'h> Fn(&'h Heap, &References) -> Term<'h> + Send + Sync>;

/// A scan in progress. Each process that has not answered holds a reference; when the last one
/// drops it, the result is sent to the asking process.
struct ReferenceScan {
    by: u32,
    reference: [u32; 3],
    found: Mutex<References>,
    finish: Finish,
}
impl Drop for ReferenceScan {
    fn drop(&mut self) {
        let found = self.found.get_mut().unwrap_or_else(|e| e.into_inner());
        post(self.by, |h| h.tuple(&[h.ref_of_numbers(self.reference), (self.finish)(h, found)]));
    }
}

/// Scans everything; `finish` builds the BIF's value.
pub fn ask_all(
    p: &Proc,
    wanted: Wanted,
    finish: impl for<'h> Fn(&'h Heap, &References) -> Term<'h> + Send + Sync + 'static,
) -> Raised {
    let reference = kvik_heap::build::next_ref();
    let mut found = References::new();
    in_tables(wanted, &mut found);
    in_timers(wanted, &mut found);
    in_persistent_terms(wanted, &mut found);
    let (found, finish) = (Mutex::new(found), Box::new(finish));
    let census = Arc::new(ReferenceScan { by: p.pid(), reference, found, finish });
    for pid in kvik_proc::process::table().numbers() {
        let census = census.clone();
        let look = move |p: Option<&Proc>| {
            let mut found = census.found.lock().unwrap_or_else(|e| e.into_inner());
            p.into_iter().for_each(|p| in_process(p, wanted, &mut found));
        };
        deliver(pid, Signal::Run(Box::new(look)));
    }
    let wait = kvik_code::export(am::erts_internal, am::await_result, 1);
    p.trap(wait, &[p.heap.ref_of_numbers(reference)])
}

fn in_process(p: &Proc, wanted: Wanted, found: &mut References) {
    let who = ReferenceHolder::Process(p.pid());
    let mut blocks = Vec::new();
    p.heap.any_block(&mut |words| {
        blocks.push(words.as_ptr_range());
        wanted.count(who, HeldIn::Memory, words, found);
        false
    });
    p.heap.each_resource(&mut |r| wanted.count_resource(r, found));
    p.each_message(|m| {
        // Some messages lie inside the heap, which was already scanned.
        let at = m.word() as *const u64;
        if !m.is_immediate() && !blocks.iter().any(|b| b.contains(&at)) {
            wanted.count_owned(who, HeldIn::Memory, &OwnedTerm::message(m), found);
        }
    });
}
fn in_timers(wanted: Wanted, found: &mut References) {
    timer::each(|_, t| {
        let who = match t.dest {
            Dest::Process(pid) => ReferenceHolder::Process(pid),
            Dest::Name(name) => ReferenceHolder::Name(name.index()),
        };
        wanted.count_owned(who, HeldIn::Timer, &t.message, found)
    });
}
fn in_persistent_terms(wanted: Wanted, found: &mut References) {
    crate::persistent_term::each_area(|a| {
        wanted.count(ReferenceHolder::PersistentTerms, HeldIn::Memory, a.block(), found);
        a.each_resource(&mut |r| wanted.count_resource(r, found));
    });
}
fn in_tables(wanted: Wanted, found: &mut References) {
    for t in kvik_ets::registry::all() {
        let Ok(state) = t.read(0, Access::Info) else { continue };
        let who = ReferenceHolder::Table(t.id);
        let mut row =
            |o: Term<'_>| wanted.count_owned(who, HeldIn::Memory, &OwnedTerm::new(o), found);
        match &state.store {
            Store::Hash(h) => {
                let rows = (0..).map_while(|i| h.bucket(i)).flatten();
                rows.for_each(|r| row(r.object()));
            }
            Store::Tree(t) => {
                t.between(Bound::Unbounded, Bound::Unbounded).for_each(|r| row(r.object()));
            }
        }
    }
}
