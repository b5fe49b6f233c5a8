//! Matching a pattern as it stands. To compile a specification costs more than to match a few objects:
//! where the key is bound, that is what a search comes to.

use kvik_proc::Proc;
use kvik_term::{am, Atom, Term, View};
use smallvec::SmallVec;

use crate::order::{self, wild, Wild};

/// What a search gives for an object that matches.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// `'$_'`
    Object,
    /// `'$$'`
    Bindings,
    Variable(u32),
    Constant(Atom),
}

/// A pattern without maps, of few parts.
pub struct Direct<'h> {
    head: Term<'h>,
    found: Found,
}

const MAX_PARTS: usize = 64;
const MAX_DEPTH: usize = 8;

type Bindings<'t> = SmallVec<[(u32, Term<'t>); 8]>;

impl<'h> Direct<'h> {
    pub fn new(head: Term<'h>, found: Found) -> Option<Direct<'h>> {
        let Found::Variable(sought) = found else {
            return measure(head, MAX_DEPTH, &mut 0, &mut |_| ()).map(|_| Direct { head, found });
        };
        let mut is_bound = false;
        measure(head, MAX_DEPTH, &mut 0, &mut |n| is_bound |= n == sought)?;
        is_bound.then_some(Direct { head, found })
    }
    /// A specification of one clause, without guards, whose body is an atom.
    pub fn of_spec(spec: Term<'h>) -> Option<Direct<'h>> {
        let one = |list: Term<'h>| list.as_cons().filter(|c| c.tail().is_nil()).map(|c| c.head());
        let [head, guards, body] = one(spec)?.as_tuple_n::<3>()?;
        if !guards.is_nil() {
            return None;
        }
        let body = one(body)?;
        let found = match body.as_atom()? {
            am::dollar_underscore => Found::Object,
            am::dollar_dollar => Found::Bindings,
            atom => order::variable(body).map_or(Found::Constant(atom), Found::Variable),
        };
        Direct::new(head, found)
    }
    /// The pattern of the key, where the head is a tuple that has one.
    pub fn key(&self, keypos: usize) -> Option<Term<'h>> {
        self.head.as_tuple()?.get(keypos - 1)
    }
    /// What is found if an object matches, on the process's heap.
    pub fn run<'p>(&self, p: &'p Proc, object: Term<'_>) -> Option<Term<'p>> {
        let mut bindings = Bindings::new();
        if !fits(self.head, object, &mut bindings) {
            return None;
        }
        Some(match self.found {
            Found::Object => p.heap.copy(object),
            Found::Bindings => {
                bindings.sort_unstable_by_key(|(n, _)| *n);
                let all: SmallVec<[Term<'p>; 8]> =
                    bindings.iter().map(|(_, t)| p.heap.copy(*t)).collect();
                p.heap.list(&all)
            }
            Found::Variable(sought) => p.heap.copy(binding(&bindings, sought)?),
            Found::Constant(atom) => atom.into(),
        })
    }
    /// Whether an object matches, and what is found is `true`.
    pub fn is_true(&self, object: Term<'_>) -> bool {
        let mut bindings = Bindings::new();
        fits(self.head, object, &mut bindings)
            && match self.found {
                Found::Constant(atom) => atom == am::true_,
                Found::Variable(n) => binding(&bindings, n).is_some_and(|t| t.is_atom(am::true_)),
                Found::Object | Found::Bindings => false,
            }
    }
}

fn binding<'t>(bindings: &Bindings<'t>, sought: u32) -> Option<Term<'t>> {
    bindings.iter().find(|(n, _)| *n == sought).map(|(_, t)| *t)
}

/// Calls `f` for each variable. `None`: there are maps, or too many parts.
fn measure(t: Term<'_>, depth: usize, parts: &mut usize, f: &mut impl FnMut(u32)) -> Option<()> {
    let mut rest = t;
    loop {
        *parts += 1;
        if *parts > MAX_PARTS || depth == 0 {
            return None;
        }
        match rest.view() {
            View::Atom(_) => order::variable(rest).into_iter().for_each(f),
            View::Tuple(u) => {
                return u.elements().iter().try_for_each(|t| measure(*t, depth - 1, parts, f))
            }
            View::Cons(c) => {
                measure(c.head(), depth - 1, parts, f)?;
                rest = c.tail();
                continue;
            }
            View::Map(_) => return None,
            _ => {}
        }
        return Some(());
    }
}

/// Whether a term matches a pattern that [`measure`] accepts.
fn fits<'t>(pattern: Term<'_>, t: Term<'t>, bindings: &mut Bindings<'t>) -> bool {
    let (mut pattern, mut t) = (pattern, t);
    loop {
        match pattern.view() {
            View::Atom(_) => {
                return match wild(pattern) {
                    None => pattern.as_atom() == t.as_atom(),
                    Some(Wild::Any) => true,
                    Some(Wild::Var(n)) => match binding(bindings, n) {
                        Some(bound) => order::same(bound, t),
                        None => {
                            bindings.push((n, t));
                            true
                        }
                    },
                }
            }
            View::Tuple(u) => {
                let Some(of) = t.as_tuple().filter(|of| of.len() == u.len()) else { return false };
                let mut pairs = u.elements().iter().zip(of.elements());
                return pairs.all(|(pattern, t)| fits(*pattern, *t, bindings));
            }
            View::Cons(c) => match t.as_cons() {
                Some(of) if fits(c.head(), of.head(), bindings) => {
                    (pattern, t) = (c.tail(), of.tail());
                }
                _ => return false,
            },
            _ => return order::same(pattern, t),
        }
    }
}
