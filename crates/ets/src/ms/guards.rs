//! Functions that match specifications call, as far as they need no arithmetic.

use kvik_proc::Proc;
use kvik_term::{am, Term, View};

use super::Native;
use crate::order;

type Args<'a, 'h> = &'a [Term<'h>];

/// Name, arity, function.
const TABLE: &[(&str, usize, Native)] = &[
    ("is_atom", 1, |_, a| test(a, |t| t.as_atom().is_some())),
    ("is_float", 1, |_, a| test(a, |t| t.as_float().is_some())),
    ("is_integer", 1, |_, a| test(a, Term::is_integer)),
    ("is_list", 1, |_, a| test(a, Term::is_list)),
    ("is_number", 1, |_, a| test(a, is_number)),
    ("is_pid", 1, |_, a| test(a, |t| t.as_pid().is_some())),
    ("is_port", 1, |_, a| test(a, |t| matches!(t.view(), View::Port(_)))),
    ("is_reference", 1, |_, a| test(a, |t| matches!(t.view(), View::Ref(_)))),
    ("is_tuple", 1, |_, a| test(a, |t| t.as_tuple().is_some())),
    ("is_map", 1, |_, a| test(a, |t| t.as_map().is_some())),
    ("is_binary", 1, |_, a| test(a, |t| t.as_bits().is_some_and(|b| b.is_binary()))),
    ("is_function", 1, |_, a| test(a, |t| t.as_fun().is_some())),
    ("is_record", 3, |_, a| is_record(a)),
    ("element", 2, |_, a| element(a)),
    ("hd", 1, |_, a| Some(a.first()?.as_cons()?.head())),
    ("tl", 1, |_, a| Some(a.first()?.as_cons()?.tail())),
    ("length", 1, |_, a| {
        let mut it = a.first()?.list();
        let n = it.by_ref().count();
        it.rest.is_nil().then(|| small(n))?
    }),
    ("size", 1, |_, a| match a.first()?.view() {
        View::Tuple(t) => small(t.len()),
        View::Bits(b) => small(b.bit_len() / 8),
        _ => None,
    }),
    ("map_size", 1, |_, a| small(a.first()?.as_map()?.len())),
    ("map_get", 2, |_, a| order::map_get(a.get(1)?.as_map()?, *a.first()?)),
    ("is_map_key", 2, |_, a| {
        Some(Term::bool(order::map_get(a.get(1)?.as_map()?, *a.first()?).is_some()))
    }),
    ("node", 0, |_, _| Some(am::nonode_nohost.into())),
    ("node", 1, |_, a| node(a)),
    (">", 2, |_, a| compare(a, |o| o.is_gt())),
    (">=", 2, |_, a| compare(a, |o| o.is_ge())),
    ("<", 2, |_, a| compare(a, |o| o.is_lt())),
    ("=<", 2, |_, a| compare(a, |o| o.is_le())),
    ("==", 2, |_, a| compare(a, |o| o.is_eq())),
    ("/=", 2, |_, a| compare(a, |o| o.is_ne())),
    ("=:=", 2, |_, a| Some(Term::bool(order::same(*a.first()?, *a.get(1)?)))),
    ("=/=", 2, |_, a| Some(Term::bool(!order::same(*a.first()?, *a.get(1)?)))),
    ("not", 1, |_, a| Some(Term::bool(!a.first()?.as_bool()?))),
    ("xor", 2, |_, a| Some(Term::bool(a.first()?.as_bool()? ^ a.get(1)?.as_bool()?))),
];

pub(super) fn native(name: &str, arity: usize) -> Option<Native> {
    TABLE.iter().find(|(n, a, _)| *n == name && *a == arity).map(|(_, _, f)| *f)
}

fn small(n: usize) -> Option<Term<'static>> {
    i64::try_from(n).ok().and_then(Term::small)
}
fn test<'h>(a: Args<'_, 'h>, f: impl Fn(Term<'h>) -> bool) -> Option<Term<'h>> {
    a.first().map(|t| Term::bool(f(*t)))
}
fn is_number(t: Term<'_>) -> bool {
    t.is_integer() || t.as_float().is_some()
}
fn compare<'h>(a: Args<'_, 'h>, f: impl Fn(std::cmp::Ordering) -> bool) -> Option<Term<'h>> {
    Some(Term::bool(f(order::order(*a.first()?, *a.get(1)?))))
}
fn element<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    let i = a.first()?.as_usize()?.checked_sub(1)?;
    a.get(1)?.as_tuple()?.get(i)
}
fn is_record<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    let (t, tag) = (a.first()?, a.get(1)?.as_atom()?);
    let size = a.get(2)?.as_small()?;
    Some(Term::bool(
        t.as_tuple()
            .is_some_and(|t| t.len() as i64 == size && t.get(0).is_some_and(|e| e.is_atom(tag))),
    ))
}
fn node<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    use kvik_term::{Pid, Port, Ref};
    let external = match a.first()?.view() {
        View::Pid(Pid::External(e))
        | View::Port(Port::External(e))
        | View::Ref(Ref::External(e)) => e,
        View::Pid(_) | View::Port(_) | View::Ref(_) => return Some(am::nonode_nohost.into()),
        _ => return None,
    };
    Some(external.node().into())
}

/// Arithmetic on small integers, where nobody gave us the real functions (tests of this crate).
pub(super) fn small_arith(name: &str, arity: usize) -> Option<Native> {
    macro_rules! two {
        ($op:expr) => {
            |p: &Proc, a: &[Term<'_>]| {
                let f: fn(i64, i64) -> Option<i64> = $op;
                let r = f(a.first()?.as_small()?, a.get(1)?.as_small()?)?;
                let _ = p;
                Term::small(r)
            }
        };
    }
    let none: Native = |_, _| None;
    let f: Native = match (name, arity) {
        ("+", 2) => two!(i64::checked_add),
        ("-", 2) => two!(i64::checked_sub),
        ("*", 2) => two!(i64::checked_mul),
        ("div", 2) => two!(i64::checked_div),
        ("rem", 2) => two!(i64::checked_rem),
        ("band", 2) => two!(|a, b| Some(a & b)),
        ("bor", 2) => two!(|a, b| Some(a | b)),
        ("bxor", 2) => two!(|a, b| Some(a ^ b)),
        _ => none,
    };
    Some(f)
}
