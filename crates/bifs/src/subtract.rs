//! `--`: each element of the second list removes the first that equals it exactly from the first
//! list.
//!
//! What it costs depends on the lengths, as in OTP: two short ways compare each element of one list
//! with all that is left of the other, which has few; the long way counts the elements of the second
//! list in a table.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use kvik_heap::SuspendedState;
use kvik_proc::{BifResult, Proc};
use kvik_term::{cmp, Term};

/// A list of so many elements is short.
const FEW: usize = 16;

/// Steps per reduction: elements counted, comparisons with a short list, elements put into the table
/// and looked up there.
const COUNTED: usize = 32;
const COMPARED: usize = 16;
const ENTERED: usize = 16;
const LOOKED_UP: usize = 8;

/// A term to remove, in the exact order of terms. Not its hash: that would read all of a large term,
/// and of one that shares parts with itself each part again and again, where a comparison ends at the
/// first difference and at parts that are the same.
struct Exact<'h>(Term<'h>);
impl Ord for Exact<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        cmp::compare_exact(self.0, other.0)
    }
}
impl PartialOrd for Exact<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Exact<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Exact<'_> {}

/// How often each term is still to be removed.
#[derive(Default)]
struct Counts<'h> {
    /// Immediates by their words.
    simple: HashMap<u64, usize>,
    others: BTreeMap<Exact<'h>, usize>,
}
impl<'h> Counts<'h> {
    fn enter(&mut self, t: Term<'h>) {
        *match t.is_immediate() {
            true => self.simple.entry(t.word()).or_default(),
            false => self.others.entry(Exact(t)).or_default(),
        } += 1;
    }
    /// Removes a term once; false if it is not there.
    fn take(&mut self, t: Term<'h>) -> bool {
        let count = match t.is_immediate() {
            true => self.simple.get_mut(&t.word()),
            false => self.others.get_mut(&Exact(t)),
        };
        match count {
            Some(n @ 1..) => *n -= 1,
            _ => return false,
        }
        true
    }
}

/// What is done at present.
enum Stage<'h> {
    CountFrom,
    CountWhat,
    /// The first list is short: its elements that are left.
    FewFrom(Vec<Term<'h>>),
    /// The second list is short: its elements that still remove something.
    FewWhat(Vec<Term<'h>>),
    Enter,
    LookUp,
}

/// State of `--`.
struct Subtract<'h> {
    stage: Stage<'h>,
    /// The rest of the list that the stage reads, and how many elements it has read.
    at: Term<'h>,
    read: usize,
    counts: Counts<'h>,
    /// The sum of the counts.
    to_remove: usize,
    /// The elements of the first list that stay, before its rest in `at`.
    kept: Vec<Term<'h>>,
}
impl SuspendedState for Subtract<'static> {
    type In<'h> = Subtract<'h>;
}

/// A list is improper.
struct Improper;

pub(crate) fn subtract<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut s = p.resumed::<Subtract<'static>>().unwrap_or_else(|| Subtract {
        stage: Stage::CountFrom,
        at: a[0],
        read: 0,
        counts: Counts::default(),
        to_remove: 0,
        kept: Vec::new(),
    });
    loop {
        let rate = s.rate();
        let mut left = p.steps(rate) as isize;
        let ended = s.run(&mut left);
        p.steps_left(left.max(0) as usize, rate);
        match ended {
            Err(Improper) => return Err(p.badarg()),
            Ok(false) => return Err(p.again::<Subtract<'static>>(s, None)),
            Ok(true) => {}
        }
        match s.next(a[0], a[1]) {
            Some(next) => (s.stage, s.read) = (next, 0),
            None => return Ok(p.heap.list_with_tail(&s.kept, s.at)),
        }
    }
}

impl<'h> Subtract<'h> {
    fn rate(&self) -> usize {
        match self.stage {
            Stage::CountFrom | Stage::CountWhat => COUNTED,
            Stage::FewFrom(_) | Stage::FewWhat(_) => COMPARED,
            Stage::Enter => ENTERED,
            Stage::LookUp => LOOKED_UP,
        }
    }
    /// Continues the stage for `left` steps and deducts those used. True at its end.
    fn run(&mut self, left: &mut isize) -> Result<bool, Improper> {
        while let Some(c) = self.at.as_cons() {
            if *left <= 0 {
                return Ok(false);
            }
            let t = c.head();
            self.at = c.tail();
            let cost = match &mut self.stage {
                Stage::CountFrom | Stage::CountWhat => 1,
                Stage::FewFrom(some) => {
                    if let Some(at) = position(some, t) {
                        some.remove(at);
                    }
                    some.len().max(1)
                }
                Stage::FewWhat(some) => {
                    match position(some, t) {
                        Some(at) => drop(some.swap_remove(at)),
                        None => self.kept.push(t),
                    }
                    if some.is_empty() {
                        return Ok(true);
                    }
                    some.len()
                }
                Stage::Enter => {
                    self.counts.enter(t);
                    1
                }
                Stage::LookUp => {
                    match self.counts.take(t) {
                        true => self.to_remove -= 1,
                        false => self.kept.push(t),
                    }
                    if self.to_remove == 0 {
                        return Ok(true);
                    }
                    1
                }
            };
            self.read += 1;
            *left -= cost as isize;
        }
        if self.at.is_nil() {
            Ok(true)
        } else {
            Err(Improper)
        }
    }
    /// The stage after the present one has ended, with its list in `at`; `None` when all is done.
    fn next(&mut self, from: Term<'h>, what: Term<'h>) -> Option<Stage<'h>> {
        let (stage, at) = match &mut self.stage {
            Stage::CountFrom if self.read <= FEW => (Stage::FewFrom(elements(from)), what),
            Stage::CountFrom => (Stage::CountWhat, what),
            Stage::CountWhat if self.read == 0 => {
                self.at = from;
                return None;
            }
            Stage::CountWhat if self.read <= FEW => (Stage::FewWhat(elements(what)), from),
            Stage::CountWhat => {
                self.to_remove = self.read;
                (Stage::Enter, what)
            }
            Stage::Enter => (Stage::LookUp, from),
            Stage::FewFrom(some) => {
                self.kept = std::mem::take(some);
                return None;
            }
            Stage::FewWhat(_) | Stage::LookUp => return None,
        };
        self.at = at;
        Some(stage)
    }
}

fn position(some: &[Term], t: Term) -> Option<usize> {
    if t.is_immediate() {
        return some.iter().position(|x| x.same(t));
    }
    match t.as_tuple() {
        Some(tuple) => some
            .iter()
            .position(|x| x.same(t) || x.as_tuple().is_some_and(|x| cmp::same_tuples(x, tuple))),
        None => some.iter().position(|x| cmp::eq_exact(*x, t)),
    }
}

fn elements<'h>(list: Term<'h>) -> Vec<Term<'h>> {
    let mut all = Vec::new();
    let mut at = list;
    while let Some(c) = at.as_cons() {
        all.push(c.head());
        at = c.tail();
    }
    all
}
