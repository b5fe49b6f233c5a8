//! Functions that match specifications may call.

use kvik_heap::arith::{float_value, ArithOp, BitOp, Number};
use kvik_proc::{node as this_node, Proc};
use kvik_release::{current, Span};
use kvik_term::{Term, View};

use super::Native;
use crate::order;

type Args<'a, 'h> = &'a [Term<'h>];

/// Name, arity, function.
const TABLE: &[(&str, usize, Native)] = &[
    ("+", 1, |_, a| number(a)),
    ("-", 1, |p, a| p.heap.negate(number(a)?).ok()),
    ("+", 2, |p, a| two(a, |x, y| p.heap.arith(ArithOp::Add, x, y))),
    ("-", 2, |p, a| two(a, |x, y| p.heap.arith(ArithOp::Sub, x, y))),
    ("*", 2, |p, a| two(a, |x, y| p.heap.arith(ArithOp::Mul, x, y))),
    ("/", 2, |p, a| two(a, |x, y| p.heap.divide(x, y))),
    ("div", 2, |p, a| two(a, |x, y| p.heap.int_divide(x, y, false))),
    ("rem", 2, |p, a| two(a, |x, y| p.heap.int_divide(x, y, true))),
    ("band", 2, |p, a| two(a, |x, y| p.heap.bitwise(BitOp::And, x, y))),
    ("bor", 2, |p, a| two(a, |x, y| p.heap.bitwise(BitOp::Or, x, y))),
    ("bxor", 2, |p, a| two(a, |x, y| p.heap.bitwise(BitOp::Xor, x, y))),
    ("bsl", 2, |p, a| two(a, |x, y| p.heap.shift_left(x, y))),
    ("bsr", 2, |p, a| two(a, |x, y| p.heap.shift_right(x, y))),
    ("bnot", 1, |p, a| p.heap.complement(*a.first()?).ok()),
    ("abs", 1, |p, a| abs(p, a)),
    ("round", 1, |p, a| whole(p, a, f64::round)),
    ("trunc", 1, |p, a| whole(p, a, f64::trunc)),
    ("float", 1, |p, a| float(p, a)),
    ("bit_size", 1, |_, a| small(a.first()?.as_bits()?.bit_len())),
    ("byte_size", 1, |_, a| small(a.first()?.as_bits()?.byte_size())),
    ("binary_part", 2, |p, a| {
        let [from, n] = a.get(1)?.as_tuple_n()?;
        binary_part(p, *a.first()?, from, n)
    }),
    ("binary_part", 3, |p, a| binary_part(p, *a.first()?, *a.get(1)?, *a.get(2)?)),
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
    ("node", 0, |_, _| Some(this_node::name().into())),
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

/// Those that came with a release.
const LATER: &[(&str, usize, Span, Native)] = &[
    ("ceil", 1, Span::since(26), |p, a| whole(p, a, f64::ceil)),
    ("floor", 1, Span::since(26), |p, a| whole(p, a, f64::floor)),
    ("is_bitstring", 1, Span::since(26), |_, a| test(a, |t| t.as_bits().is_some())),
    ("is_boolean", 1, Span::since(26), |_, a| test(a, |t| t.as_bool().is_some())),
    ("is_function", 2, Span::since(26), |_, a| is_function(a)),
    ("max", 2, Span::since(26), |_, a| {
        let less = order::order(*a.first()?, *a.get(1)?).is_lt();
        a.get(less as usize).copied()
    }),
    ("min", 2, Span::since(26), |_, a| {
        let greater = order::order(*a.first()?, *a.get(1)?).is_gt();
        a.get(greater as usize).copied()
    }),
    ("tuple_size", 1, Span::since(26), |_, a| small(a.first()?.as_tuple()?.len())),
    ("is_integer", 3, Span::since(29), |_, a| is_integer_between(a)),
];

pub(super) fn native(name: &str, arity: usize) -> Option<Native> {
    let early = TABLE.iter().find(|(n, a, _)| *n == name && *a == arity).map(|(_, _, f)| *f);
    early.or_else(|| {
        let mut later = LATER.iter().filter(|(.., span, _)| span.has(kvik_release::current()));
        later.find(|(n, a, ..)| *n == name && *a == arity).map(|(.., f)| *f)
    })
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
    if let Some(name) = a.get(2)?.as_atom().filter(|_| current().has_native_records()) {
        let d = t.as_record().map(|r| r.definition());
        return Some(Term::bool(d.is_some_and(|d| (d.module(), d.name()) == (tag, name))));
    }
    let size = a.get(2)?.as_small()?;
    Some(Term::bool(
        t.as_tuple()
            .is_some_and(|t| t.len() as i64 == size && t.get(0).is_some_and(|e| e.is_atom(tag))),
    ))
}
fn is_function<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    let (t, arity) = (a.first()?, a.get(1)?);
    let natural = arity.is_integer() && order::order(*arity, Term::int(0)).is_ge();
    let fits = || t.as_fun().is_some_and(|f| Some(f.arity()) == arity.as_usize());
    natural.then(|| Term::bool(fits()))
}
fn is_integer_between<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    let (t, low, high) = (*a.first()?, *a.get(1)?, *a.get(2)?);
    let within = || order::order(low, t).is_le() && order::order(t, high).is_le();
    (low.is_integer() && high.is_integer()).then(|| Term::bool(t.is_integer() && within()))
}
fn node<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    use kvik_term::{PidTerm, PortTerm, Ref};
    let external = match a.first()?.view() {
        View::Pid(PidTerm::External(e))
        | View::Port(PortTerm::External(e))
        | View::Ref(Ref::External(e)) => e,
        View::Pid(_) | View::Port(_) | View::Ref(_) => return Some(this_node::name().into()),
        _ => return None,
    };
    Some(external.node().into())
}

/// Arithmetic; an error makes the call fail.
fn two<'h>(a: Args<'_, 'h>, f: impl FnOnce(Term<'h>, Term<'h>) -> Number<'h>) -> Option<Term<'h>> {
    f(*a.first()?, *a.get(1)?).ok()
}
fn number<'h>(a: Args<'_, 'h>) -> Option<Term<'h>> {
    a.first().copied().filter(|t| is_number(*t))
}
fn abs<'h>(p: &'h Proc, a: Args<'_, 'h>) -> Option<Term<'h>> {
    let t = number(a)?;
    match t.as_float() {
        Some(f) if f == 0.0 && !kvik_release::current().distinguishes_zeros() => Some(t),
        Some(f) => Some(p.heap.float(f.abs())),
        None if order::order(t, Term::int(0)).is_lt() => p.heap.negate(t).ok(),
        None => Some(t),
    }
}
fn whole<'h>(p: &'h Proc, a: Args<'_, 'h>, f: fn(f64) -> f64) -> Option<Term<'h>> {
    let t = number(a)?;
    Some(t.as_float().map_or(t, |x| p.heap.integer_of_float(f(x))))
}
fn float<'h>(p: &'h Proc, a: Args<'_, 'h>) -> Option<Term<'h>> {
    let t = number(a)?;
    match t.as_float() {
        Some(_) => Some(t),
        None => float_value(t).map(|f| p.heap.float(f)),
    }
}
/// `binary_part/2,3`; a negative length counts backwards.
fn binary_part<'h>(p: &'h Proc, of: Term<'h>, from: Term<'h>, n: Term<'h>) -> Option<Term<'h>> {
    let bits = of.as_bits().filter(|b| b.is_binary())?;
    let (mut from, mut n) = (from.as_small()?, n.as_small()?);
    if n < 0 {
        from = from.checked_add(n)?;
        n = n.checked_neg()?;
    }
    let (from, n) = (usize::try_from(from).ok()?, usize::try_from(n).ok()?);
    if from.checked_add(n)? > bits.byte_size() {
        return None;
    }
    p.heap.sub_binary(of, from * 8, n * 8)
}
