//! Order and equality of terms in tables.

use std::cmp::Ordering;

use kvik_heap::Heap;
use kvik_term::{cmp, map, Map, Term, View};
use smallvec::{smallvec, SmallVec};

/// `=:=`
#[inline]
pub fn same(a: Term<'_>, b: Term<'_>) -> bool {
    cmp::eq_exact(a, b)
}

/// The standard order, in which `1 == 1.0`.
pub fn order(a: Term<'_>, b: Term<'_>) -> Ordering {
    cmp::compare(a, b)
}

pub fn map_pairs(m: Map<'_>) -> Vec<(Term<'_>, Term<'_>)> {
    map::iter(m).collect()
}
pub fn map_get<'h>(m: Map<'h>, key: Term<'h>) -> Option<Term<'h>> {
    map::get(m, key)
}
pub fn make_map<'h>(heap: &'h Heap, pairs: &[(Term<'h>, Term<'h>)]) -> Term<'h> {
    heap.map(pairs)
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
    let (b'$', digits) = a.name().as_bytes().split_first()? else { return None };
    let is_number = match digits {
        [] | [b'0', _, ..] => false,
        _ => digits.iter().all(|b| b.is_ascii_digit()),
    };
    // Numbers are taken as OTP's 32 bits hold them; what is negative there is none.
    let next = |n: i32, b: &u8| n.wrapping_mul(10).wrapping_add(i32::from(b - b'0'));
    let n = is_number.then(|| digits.iter().fold(0, next))?;
    u32::try_from(n).ok().map(Wild::Var)
}

pub fn variable(t: Term<'_>) -> Option<u32> {
    match wild(t) {
        Some(Wild::Var(n)) => Some(n),
        _ => None,
    }
}

/// Whether the term contains a variable or `'_'`, or else may match several keys.
pub fn has_wild(t: Term<'_>) -> bool {
    let mut todo: SmallVec<[Term<'_>; 16]> = smallvec![t];
    while let Some(mut t) = todo.pop() {
        while let Some(c) = t.as_cons() {
            todo.push(c.head());
            t = c.tail();
        }
        match t.view() {
            View::Atom(_) if wild(t).is_some() => return true,
            View::Tuple(u) => todo.extend_from_slice(u.elements()),
            // It matches larger maps, too.
            View::Map(_) if kvik_release::current().keys_with_maps_match_others() => return true,
            View::Map(m) => todo.extend(map_pairs(m).into_iter().flat_map(|(k, v)| [k, v])),
            _ => {}
        }
    }
    false
}

/// Compares a pattern with a key up to the pattern's first variable, from which on everything is
/// equal.
pub fn partial(pattern: Term<'_>, key: Term<'_>) -> Ordering {
    // Keys are mostly flat tuples of simple terms, for which this stays empty.
    let mut later = Vec::new();
    let mut now = Some((pattern, key));
    while let Some((a, b)) = now.take().or_else(|| later.pop()) {
        match (a.view(), b.view()) {
            _ if wild(a).is_some() => break,
            (View::Map(_), _) if kvik_release::current().keys_with_maps_match_others() => break,
            (View::Cons(x), View::Cons(y)) => {
                later.push((x.tail(), y.tail()));
                now = Some((x.head(), y.head()));
            }
            (View::Tuple(x), View::Tuple(y)) if x.len() == y.len() => {
                let mut pairs = x.elements().iter().copied().zip(y.elements().iter().copied());
                for (a, b) in pairs.by_ref() {
                    if !a.is_immediate() {
                        now = Some((a, b));
                        break;
                    }
                    if wild(a).is_some() {
                        return Ordering::Equal;
                    }
                    match order(a, b) {
                        Ordering::Equal => {}
                        o => return o,
                    }
                }
                if now.is_some() {
                    later.extend(pairs.rev());
                }
            }
            (View::Map(_), View::Map(_)) if has_wild(a) => break,
            _ => match order(a, b) {
                Ordering::Equal => {}
                o => return o,
            },
        }
    }
    Ordering::Equal
}

/// Compares two patterns up to the first variable of either. A variable counts as `wild` says: less
/// or greater than what is no variable.
pub fn patterns(a: Term<'_>, b: Term<'_>, wild: Ordering) -> Ordering {
    // As `partial` takes maps.
    let open = |t: Term<'_>, other: Term<'_>| match (t.view(), other.view()) {
        (View::Map(_), _) if kvik_release::current().keys_with_maps_match_others() => true,
        (View::Map(_), View::Map(_)) => has_wild(t),
        _ => self::wild(t).is_some(),
    };
    let mut todo = vec![(a, b)];
    while let Some((a, b)) = todo.pop() {
        match (open(a, b), open(b, a)) {
            (false, false) => {}
            (true, true) => break,
            (true, false) => return wild,
            (false, true) => return wild.reverse(),
        }
        match (a.view(), b.view()) {
            (View::Cons(x), View::Cons(y)) => {
                todo.extend([(x.tail(), y.tail()), (x.head(), y.head())]);
            }
            (View::Tuple(x), View::Tuple(y)) if x.len() == y.len() => {
                let pairs = x.elements().iter().copied().zip(y.elements().iter().copied());
                todo.extend(pairs.rev());
            }
            _ => match order(a, b) {
                Ordering::Equal => {}
                o => return o,
            },
        }
    }
    Ordering::Equal
}
