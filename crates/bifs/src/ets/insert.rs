//! Inserting one object, or a list of objects atomically.
//!
//! Its costs and turns are OTP's. A list is checked first. If so many steps are left then as it has
//! objects, they are inserted in one go, but in a bag, where each object is compared with those of its
//! key. Otherwise they are copied, so that every process can go on with the insertion; that ends its
//! turns before OTP's, which would take too long ([`TurnSteps`]).

use std::sync::Arc;

use kvik_ets::linear_hash::{key_of, FETCHED_AT_ONCE};
use kvik_ets::{
    cooperative, registry, Access, CooperativeOperation, InsertOutcome, Table, TableKind, TurnSteps,
};
use kvik_heap::{OwnedTerm, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_sync::pin;
use kvik_term::{am, Term};

use super::{help, table, write};

pub const BIFS: &[BifEntry] =
    &[bif!("ets", "insert", 2, insert_2), bif!("ets", "insert_new", 2, insert_new_2)];

/// Steps for an object of a list that is inserted at once, besides one to check it; one more if its
/// key must be new.
const INSERTED: usize = 2;

/// Whether the term is an object that the table can hold.
pub(super) fn is_object(t: Term<'_>, keypos: usize) -> bool {
    t.as_tuple().is_some_and(|t| t.len() >= keypos)
}

fn insert_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    insert(p, a, false)
}
fn insert_new_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    insert(p, a, true)
}
fn insert<'h>(p: &'h Proc, a: &[Term<'h>], only_new: bool) -> BifResult<'h> {
    let [id, what] = *a else { return Err(p.badarg()) };
    if what.is_list() {
        let resumed = p.resumed::<Inserting<'static>>();
        return resumed.unwrap_or(Inserting::Checking(what, 0)).run(p, id, what, only_new);
    }
    let pin = pin();
    let t = table(p, id, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    if !is_object(what, t.options.keypos) {
        return Err(p.badarg());
    }
    let put = s.store.put(what, only_new, t.hold());
    if put.passed > 0 {
        p.heap.bump_reductions((put.passed / cooperative::STEPS_PER_REDUCTION) as i64);
    }
    Ok(Term::bool(put.inserted))
}

/// State of inserting a list.
enum Inserting<'h> {
    /// The rest of the list, and the number of objects before it.
    Checking(Term<'h>, usize),
    /// The rest of the list, and the objects before it.
    Copying(Term<'h>, Vec<OwnedTerm>),
    /// The insertion goes on even if the table is renamed.
    Begun(Arc<Table>, InsertOutcome),
}
impl SuspendedState for Inserting<'static> {
    type In<'h> = Inserting<'h>;
}

/// A call in its present turn.
struct Call<'h> {
    p: &'h Proc,
    id: Term<'h>,
    list: Term<'h>,
    only_new: bool,
    steps: TurnSteps,
}

impl<'h> Inserting<'h> {
    fn run(self, p: &'h Proc, id: Term<'h>, list: Term<'h>, only_new: bool) -> BifResult<'h> {
        let steps = TurnSteps::new(p.steps(cooperative::STEPS_PER_REDUCTION));
        let call = Call { p, id, list, only_new, steps };
        match self {
            Inserting::Checking(rest, n) => call.check(rest, n),
            Inserting::Copying(rest, objects) => call.copy(rest, objects),
            Inserting::Begun(t, outcome) => {
                if outcome.get().is_none() {
                    help(p, &t).map_err(|_| {
                        let begun = Inserting::Begun(t.clone(), outcome.clone());
                        p.again::<Inserting<'static>>(begun, None)
                    })?;
                }
                Ok(Term::bool(outcome.get().unwrap_or(true)))
            }
        }
    }
}

impl<'h> Call<'h> {
    fn count_steps(&self) {
        self.p.steps_left(self.steps.left(), cooperative::STEPS_PER_REDUCTION);
    }
    fn stop(self, state: Inserting<'h>) -> BifResult<'h> {
        self.count_steps();
        self.p.give_up_turn();
        Err(self.p.again::<Inserting<'static>>(state, None))
    }
    /// Checks the rest of the list, behind `n` objects.
    fn check(mut self, mut rest: Term<'h>, mut n: usize) -> BifResult<'h> {
        let pin = pin();
        let t = kvik_ets::find(self.id, &pin).map_err(|r| self.p.badarg_because(r.atom()))?;
        let keypos = t.options.keypos;
        while let Some(c) = rest.as_cons().filter(|c| is_object(c.head(), keypos)) {
            if self.steps.left() == 0 {
                return self.stop(Inserting::Checking(rest, n));
            }
            self.steps.take_quick(1);
            n += 1;
            rest = c.tail();
        }
        if t.is_busy() && help(self.p, &t).is_err() {
            return Err(self.p.again::<Inserting<'static>>(Inserting::Checking(rest, n), None));
        }
        if !rest.is_nil() {
            drop(write(self.p, &t, Access::Write)?);
            return Err(self.p.badarg());
        }
        let list = self.list;
        match t.options.kind != TableKind::Bag && n <= self.steps.left() {
            true => self.insert(&t, n),
            false => self.copy(list, Vec::with_capacity(n)),
        }
    }
    /// Inserts the `n` objects of the list.
    fn insert(mut self, t: &Table, n: usize) -> BifResult<'h> {
        let mut s = write(self.p, t, Access::Write)?;
        let (keypos, hold) = (t.options.keypos, t.hold());
        if self.only_new {
            let old = self.list.list().position(|o| s.store.contains(key_of(o, keypos)));
            if let Some(at) = old {
                self.steps.take_quick(at);
                self.count_steps();
                return Ok(Term::bool(false));
            }
        }
        let mut rest = self.list.list();
        for (i, o) in self.list.list().enumerate() {
            if i % FETCHED_AT_ONCE == 0 {
                s.store.fetch(rest.by_ref().take(FETCHED_AT_ONCE), keypos);
            }
            s.store.put(o, false, hold);
        }
        self.steps.take_quick(n * (INSERTED + self.only_new as usize));
        self.count_steps();
        Ok(Term::bool(true))
    }
    /// Copies the rest of the list behind the objects, and inserts them.
    fn copy(mut self, mut rest: Term<'h>, mut objects: Vec<OwnedTerm>) -> BifResult<'h> {
        while let Some(c) = rest.as_cons() {
            if !self.steps.take(1) {
                return self.stop(Inserting::Copying(rest, objects));
            }
            objects.push(OwnedTerm::new(c.head()));
            rest = c.tail();
        }
        let pin = pin();
        let t = kvik_ets::find(self.id, &pin).map_err(|r| self.p.badarg_because(r.atom()))?;
        if t.is_busy() && help(self.p, &t).is_err() {
            let copied = Inserting::Copying(rest, objects);
            return Err(self.p.again::<Inserting<'static>>(copied, None));
        }
        // The operation takes them from the end.
        if kvik_release::current().inserts_copied_lists_in_order() {
            objects.reverse();
        }
        let mut s = write(self.p, &t, Access::Write)?;
        let (mut operation, outcome) =
            CooperativeOperation::insert(objects, t.options.keypos, self.only_new);
        if !operation.run(&mut s.store, t.hold(), &mut self.steps) {
            let shared = registry::by_id(t.id).ok_or_else(|| self.p.badarg_because(am::id))?;
            t.begin(&mut s, operation);
            drop(s);
            return self.stop(Inserting::Begun(shared, outcome));
        }
        self.count_steps();
        Ok(Term::bool(outcome.get().unwrap_or(true)))
    }
}
