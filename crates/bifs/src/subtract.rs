//! `--`: each element of the second list removes the first that equals it exactly from the first
//! list.
//!
//! What it costs depends on the lengths, as in OTP: two short ways compare each element of one list
//! with all that is left of the other, which has few; the long way counts the elements of the second
//! list in a table.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use kvik_heap::SuspendedState;
use kvik_proc::{BifResult, Proc};
use kvik_term::{cmp, hash, Term};

/// A list of so many elements is short.
const FEW: usize = 16;

/// Steps per reduction: elements counted, comparisons with a short list, elements put into the table
/// and looked up there.
const COUNTED: usize = 32;
const COMPARED: usize = 16;
const ENTERED: usize = 16;
const LOOKED_UP: usize = 8;

/// A term to remove, compared exactly (`=:=`).
struct Exact<'h>(Term<'h>);
impl PartialEq for Exact<'_> {
    fn eq(&self, other: &Self) -> bool {
        cmp::eq_exact(self.0, other.0)
    }
}
impl Eq for Exact<'_> {}
impl Hash for Exact<'_> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        match self.0.is_immediate() {
            true => h.write_u64(self.0.word()),
            false => h.write_u32(hash::internal(self.0, 0)),
        }
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
    /// How often each term is still to be removed, and the sum of it.
    counts: HashMap<Exact<'h>, usize>,
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
        counts: HashMap::new(),
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
                    *self.counts.entry(Exact(t)).or_default() += 1;
                    1
                }
                Stage::LookUp => {
                    match self.counts.get_mut(&Exact(t)) {
                        Some(n) if *n > 0 => (*n, self.to_remove) = (*n - 1, self.to_remove - 1),
                        _ => self.kept.push(t),
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
    some.iter().position(|x| cmp::eq_exact(*x, t))
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
