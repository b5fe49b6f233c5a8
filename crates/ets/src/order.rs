//! Order and equality of terms, as tables use them.

use std::cmp::Ordering;

use kvik_heap::Heap;
use kvik_term::{Map, Term, View};

/// `=:=`
pub fn same(a: Term<'_>, b: Term<'_>) -> bool {
    a.same(b) || (!a.is_immediate() && !b.is_immediate() && compare(a, b, true).is_eq())
}

/// The standard order, in which `1 == 1.0`.
pub fn order(a: Term<'_>, b: Term<'_>) -> Ordering {
    compare(a, b, false)
}

/// Numbers, atoms, references, funs, ports, pids, tuples, maps, `[]`, lists, bit strings.
fn rank(t: Term<'_>) -> u8 {
    match t.view() {
        View::Small(_) | View::Big(_) | View::Float(_) => 0,
        View::Atom(_) => 1,
        View::Ref(_) => 2,
        View::Fun(_) => 3,
        View::Port(_) => 4,
        View::Pid(_) => 5,
        View::Tuple(_) => 6,
        View::Map(_) => 7,
        View::Nil => 8,
        View::Cons(_) => 9,
        View::Bits(_) => 10,
    }
}
fn number(t: Term<'_>) -> f64 {
    match t.view() {
        View::Small(i) => i as f64,
        View::Float(f) => f,
        View::Big(b) => {
            let m = b.digits().iter().rev().fold(0.0, |f, d| f * 1.8446744073709552e19 + *d as f64);
            if b.is_negative() {
                -m
            } else {
                m
            }
        }
        _ => 0.0,
    }
}
fn numbers(a: Term<'_>, b: Term<'_>, exact: bool) -> Ordering {
    match (a.view(), b.view()) {
        (View::Small(x), View::Small(y)) => x.cmp(&y),
        (View::Big(x), View::Big(y)) => {
            let o = x
                .digits()
                .len()
                .cmp(&y.digits().len())
                .then_with(|| x.digits().iter().rev().cmp(y.digits().iter().rev()));
            match (x.is_negative(), y.is_negative()) {
                (false, false) => o,
                (true, true) => o.reverse(),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
            }
        }
        (View::Float(_), View::Float(_)) => {
            number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal)
        }
        _ if exact => a.as_float().is_some().cmp(&b.as_float().is_some()).then(Ordering::Less),
        _ => number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal),
    }
}
fn compare(mut a: Term<'_>, mut b: Term<'_>, exact: bool) -> Ordering {
    loop {
        if a.same(b) {
            return Ordering::Equal;
        }
        let o = rank(a).cmp(&rank(b));
        if o.is_ne() {
            return o;
        }
        return match (a.view(), b.view()) {
            (View::Atom(x), View::Atom(y)) => x.name().cmp(y.name()),
            (View::Cons(x), View::Cons(y)) => {
                let o = compare(x.head(), y.head(), exact);
                if o.is_eq() {
                    (a, b) = (x.tail(), y.tail());
                    continue;
                }
                o
            }
            (View::Tuple(x), View::Tuple(y)) => x.len().cmp(&y.len()).then_with(|| {
                x.elements()
                    .iter()
                    .zip(y.elements())
                    .map(|(a, b)| compare(*a, *b, exact))
                    .find(|o| o.is_ne())
                    .unwrap_or(Ordering::Equal)
            }),
            (View::Bits(x), View::Bits(y)) => {
                x.to_bytes().cmp(&y.to_bytes()).then(x.bit_len().cmp(&y.bit_len()))
            }
            (View::Ref(kvik_term::Ref::Local(x)), View::Ref(kvik_term::Ref::Local(y))) => {
                x.numbers().iter().rev().cmp(y.numbers().iter().rev())
            }
            _ if rank(a) == 0 => numbers(a, b, exact),
            _ => a.word().cmp(&b.word()),
        };
    }
}

pub fn map_pairs<'h>(_: Map<'h>) -> Vec<(Term<'h>, Term<'h>)> {
    Vec::new()
}
pub fn map_get<'h>(_: Map<'h>, _: Term<'_>) -> Option<Term<'h>> {
    None
}
pub fn make_map<'h>(heap: &'h Heap, _: &[(Term<'h>, Term<'h>)]) -> Term<'h> {
    heap.flat_map_sorted(heap.tuple(&[]), &[])
}

/// `'_'`, or the number in `'$1'` and its kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wild {
    Any,
    Var(u32),
}

pub fn wild(t: Term<'_>) -> Option<Wild> {
    let a = t.as_atom()?;
    if a == kvik_term::am::underscore {
        return Some(Wild::Any);
    }
    let digits = a.name().strip_prefix('$')?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().map(Wild::Var)
}

pub fn variable(t: Term<'_>) -> Option<u32> {
    match wild(t) {
        Some(Wild::Var(n)) => Some(n),
        _ => None,
    }
}

/// Is there a variable or `'_'` anywhere in it?
pub fn has_wild(t: Term<'_>) -> bool {
    let mut todo = vec![t];
    while let Some(mut t) = todo.pop() {
        while let Some(c) = t.as_cons() {
            todo.push(c.head());
            t = c.tail();
        }
        match t.view() {
            View::Atom(_) if wild(t).is_some() => return true,
            View::Tuple(u) => todo.extend_from_slice(u.elements()),
            View::Map(m) => todo.extend(map_pairs(m).into_iter().flat_map(|(k, v)| [k, v])),
            _ => {}
        }
    }
    false
}

/// Compares a pattern with a key as far as the pattern is bound: from the first variable on
/// everything is equal.
pub fn partial(pattern: Term<'_>, key: Term<'_>) -> Ordering {
    go(pattern, key).unwrap_or(Ordering::Equal)
}

/// `None` where a variable was met.
fn go(mut a: Term<'_>, mut b: Term<'_>) -> Option<Ordering> {
    loop {
        if wild(a).is_some() {
            return None;
        }
        match (a.view(), b.view()) {
            (View::Cons(x), View::Cons(y)) => match go(x.head(), y.head())? {
                Ordering::Equal => (a, b) = (x.tail(), y.tail()),
                o => return Some(o),
            },
            (View::Tuple(x), View::Tuple(y)) if x.len() == y.len() => {
                for (p, k) in x.elements().iter().zip(y.elements()) {
                    match go(*p, *k)? {
                        Ordering::Equal => {}
                        o => return Some(o),
                    }
                }
                return Some(Ordering::Equal);
            }
            (View::Map(_), View::Map(_)) if has_wild(a) => return None,
            _ => return Some(order(a, b)),
        }
    }
}
