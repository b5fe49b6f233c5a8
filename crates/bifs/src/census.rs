//! Who holds what: looks into the memory of every process and every table, for the few questions
//! whose answers are not counted all the time, as only tests and debuggers ask them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use kvik_ets::{Access, Store};
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::{deliver, post, Signal};
use kvik_proc::timer::{self, Dest};
use kvik_proc::{Proc, Raised};
use kvik_term::word::{header_subtag, is_header, is_small, small_value, EXT, FUN, TAG_ATOM};
use kvik_term::{am, Atom, FunEntry, Term};

/// What to look for.
#[derive(Copy, Clone)]
pub enum Wanted {
    /// Funs of one entry.
    Fun(&'static FunEntry),
    /// Pids, ports and references of other nodes.
    Nodes,
}
/// A node's name, as an atom's index, and its creation; funs go without.
pub type Key = Option<(u32, u32)>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    Process(u32),
    Table([u32; 3]),
    /// A timer for a process.
    Timer(u32),
    /// One for whoever has that name, as an atom's index.
    NamedTimer(u32),
}
pub type Found = BTreeMap<(Key, Holder), usize>;

impl Wanted {
    /// What an object that begins with these words is, if it is what is looked for.
    fn key(self, at: &[u64]) -> Option<Key> {
        let [h, a, b, ..] = *at else { return None };
        match self {
            Wanted::Fun(e) => {
                let is = is_header(h) && header_subtag(h) == FUN;
                (is && a == std::ptr::from_ref(e) as u64).then_some(None)
            }
            Wanted::Nodes => {
                let is =
                    is_header(h) && header_subtag(h) == EXT && a & 15 == TAG_ATOM && is_small(b);
                let node = Atom::from_index((a >> 4) as u32).filter(|_| is)?;
                Some(Some((node.index(), small_value(b) as u32)))
            }
        }
    }
    fn count(self, who: Holder, words: &[u64], found: &mut Found) {
        for i in 0..words.len() {
            if let Some(k) = self.key(&words[i..]) {
                *found.entry((k, who)).or_default() += 1;
            }
        }
    }
}

type Finish = Box<dyn for<'h> Fn(&'h Heap, &Found) -> Term<'h> + Send + Sync>;

/// A question under way. Each process that has not answered holds it; the last one sends what was
/// found to who asked.
struct Census {
    by: u32,
    reference: [u32; 3],
    found: Mutex<Found>,
    finish: Finish,
}
impl Drop for Census {
    fn drop(&mut self) {
        let found = self.found.get_mut().unwrap_or_else(|e| e.into_inner());
        post(self.by, |h| h.tuple(&[h.ref_of_numbers(self.reference), (self.finish)(h, found)]));
    }
}

/// Asks all; the BIF's value is what `finish` makes of it.
pub fn ask_all(
    p: &Proc,
    wanted: Wanted,
    finish: impl for<'h> Fn(&'h Heap, &Found) -> Term<'h> + Send + Sync + 'static,
) -> Raised {
    let reference = kvik_heap::build::next_ref();
    let mut found = Found::new();
    in_tables(wanted, &mut found);
    in_timers(wanted, &mut found);
    let (found, finish) = (Mutex::new(found), Box::new(finish));
    let census = Arc::new(Census { by: p.pid(), reference, found, finish });
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

fn in_process(p: &Proc, wanted: Wanted, found: &mut Found) {
    let who = Holder::Process(p.pid());
    p.heap.any_block(&mut |words| {
        wanted.count(who, words, found);
        false
    });
    p.each_message(|m| wanted.count(who, OwnedTerm::new(m).block(), found));
}
fn in_timers(wanted: Wanted, found: &mut Found) {
    timer::each(|_, t| {
        let who = match t.dest {
            Dest::Process(pid) => Holder::Timer(pid),
            Dest::Name(name) => Holder::NamedTimer(name.index()),
        };
        wanted.count(who, t.message.block(), found)
    });
}
fn in_tables(wanted: Wanted, found: &mut Found) {
    for t in kvik_ets::registry::all() {
        let Ok(state) = t.read(0, Access::Info) else { continue };
        let mut row =
            |o: Term<'_>| wanted.count(Holder::Table(t.id), OwnedTerm::new(o).block(), found);
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
