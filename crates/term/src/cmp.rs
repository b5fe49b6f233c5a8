//! Term order and equality.
//!
//! number < atom < reference < fun < port < pid < tuple < map < nil < list < bit string. `==` and
//! the order compare integers and floats by value; `=:=` does not, and neither do the keys of maps,
//! where an integer comes before any float. Nothing here recurses on lists or tuples.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use crate::object::{Bits, Ext};
use crate::stack::Stack;
use crate::{map, Big, Fun, Pid, Port, Ref, Term, Tuple, View};

/// How two numbers of different kinds compare.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Mode {
    /// By value.
    Arith,
    /// An integer before any float.
    Exact,
}

/// Erlang's term order (`<`, `lists:sort/1`).
pub fn compare<'a>(a: Term<'a>, b: Term<'a>) -> Ordering {
    simple(a, b).or_else(|| tuples(a, b)).unwrap_or_else(|| run(a, b, Mode::Arith))
}
/// The order of keys in a map: as `compare`, but an integer comes before any float.
pub fn compare_exact<'a>(a: Term<'a>, b: Term<'a>) -> Ordering {
    simple(a, b).or_else(|| tuples(a, b)).unwrap_or_else(|| run(a, b, Mode::Exact))
}
/// Two atoms, or two small integers.
#[inline]
fn simple(a: Term<'_>, b: Term<'_>) -> Option<Ordering> {
    if let (Some(f), Some(g)) = (a.as_atom(), b.as_atom()) {
        return Some(f.order(g));
    }
    Some(a.as_small()?.cmp(&b.as_small()?))
}
/// Two tuples of one size whose first elements that are not the same words are as above.
fn tuples(a: Term<'_>, b: Term<'_>) -> Option<Ordering> {
    let (x, y) = (a.as_tuple()?.elements(), b.as_tuple()?.elements());
    let mut differ = x.iter().zip(y).filter(|(p, q)| !p.same(**q));
    match x.len() == y.len() {
        true => differ.next().map_or(Some(Equal), |(p, q)| simple(*p, *q)),
        false => Some(x.len().cmp(&y.len())),
    }
}
/// `==`
pub fn eq<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    a.same(b) || (!(a.is_immediate() && b.is_immediate()) && same(a, b, Mode::Arith))
}
/// `=:=`
#[inline]
pub fn eq_exact<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    a.same(b) || (!a.is_immediate() && !b.is_immediate() && same_objects(a, b))
}
/// Tuples within tuples that are compared by recursion.
const NESTED: usize = 4;

/// Bit strings, of which many maps have their keys, without the walk that other terms take.
fn same_objects<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    match (a.as_bits(), b.as_bits()) {
        (Some(x), Some(y)) => same_bits(x, y),
        (None, None) => same_to(NESTED, a, b),
        _ => false,
    }
}
fn same_bits(x: Bits<'_>, y: Bits<'_>) -> bool {
    x.bit_len() == y.bit_len()
        && match (x.as_bytes(), y.as_bytes()) {
            (Some(x), Some(y)) => x == y,
            _ => bits(x, y) == Equal,
        }
}
/// `=:=` of two different words that both point to something. Tuples, such as keys of maps are, and
/// references, which servers and their clients compare, before all else.
fn same_to<'a>(depth: usize, a: Term<'a>, b: Term<'a>) -> bool {
    if let (Some(x), Some(y)) = (a.as_tuple(), b.as_tuple()) {
        return match depth {
            0 => same(a, b, Mode::Exact),
            _ => x.len() == y.len() && same_elements(depth - 1, x.elements(), y.elements()),
        };
    }
    match (a.as_local_ref(), b.as_local_ref()) {
        (Some(x), Some(y)) => x.numbers() == y.numbers(),
        _ => same(a, b, Mode::Exact),
    }
}
/// `=:=` of tuples.
#[inline]
pub fn same_tuples<'a>(x: Tuple<'a>, y: Tuple<'a>) -> bool {
    x.len() == y.len() && same_elements(NESTED, x.elements(), y.elements())
}
/// What has no parts first: most tuples that differ do so there.
fn same_elements<'a>(depth: usize, x: &[Term<'a>], y: &[Term<'a>]) -> bool {
    let mut deeper = false;
    for (p, q) in x.iter().zip(y) {
        if !p.same(*q) {
            if p.is_immediate() || q.is_immediate() {
                return false;
            }
            deeper = true;
        }
    }
    !deeper || x.iter().zip(y).all(|(p, q)| p.same(*q) || same_to(depth, *p, *q))
}

fn rank(v: &View<'_>) -> u8 {
    match v {
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

type Todo<'a, 'b> = Stack<(Term<'a>, Term<'b>, Mode)>;

/// The order of terms that are different words and of which one has no parts.
#[inline(always)]
fn leaf_order(a: Term<'_>, b: Term<'_>, mode: Mode) -> Ordering {
    match (a.as_small(), b.as_small()) {
        (Some(i), Some(j)) => i.cmp(&j),
        _ => leaves(a.view(), b.view(), mode),
    }
}

fn run<'a, 'b>(a: Term<'a>, b: Term<'b>, mode: Mode) -> Ordering {
    let mut todo: Todo<'a, 'b> = Stack::new();
    let (mut a, mut b, mut mode) = (a, b, mode);
    loop {
        let o = if a.same(b) { Equal } else { step(&mut a, &mut b, mode, &mut todo) };
        if o != Equal {
            return o;
        }
        match todo.pop() {
            Some(next) => (a, b, mode) = next,
            None => return Equal,
        }
    }
}

/// Compares what two terms show by themselves and notes their parts. Walks lists at once.
fn step<'a, 'b>(
    a: &mut Term<'a>,
    b: &mut Term<'b>,
    mode: Mode,
    todo: &mut Todo<'a, 'b>,
) -> Ordering {
    loop {
        let (x, y) = (a.view(), b.view());
        return match (x, y) {
            (View::Cons(x), View::Cons(y)) => {
                let (h, k) = (x.head(), y.head());
                if !h.same(k) {
                    if !is_leaf(h) && !is_leaf(k) {
                        todo.push((x.tail(), y.tail(), mode));
                        todo.push((h, k, mode));
                        return Equal;
                    }
                    let o = leaf_order(h, k, mode);
                    if o != Equal {
                        return o;
                    }
                }
                (*a, *b) = (x.tail(), y.tail());
                if a.same(*b) {
                    return Equal;
                }
                continue;
            }
            (View::Tuple(x), View::Tuple(y)) => {
                let o = x.len().cmp(&y.len());
                if o != Equal {
                    return o;
                }
                // Up to the first parts that have parts themselves nothing need be noted.
                let mut parts = x.elements().iter().zip(y.elements()).filter(|(p, q)| !p.same(**q));
                let next = parts.find_map(|(p, q)| match is_leaf(*p) || is_leaf(*q) {
                    false => Some(Ok((*p, *q))),
                    true => Some(leaf_order(*p, *q, mode)).filter(|o| *o != Equal).map(Err),
                });
                match next {
                    None => Equal,
                    Some(Err(o)) => o,
                    Some(Ok(inner)) => {
                        todo.extend(parts.rev().map(|(p, q)| (*p, *q, mode)));
                        (*a, *b) = inner;
                        continue;
                    }
                }
            }
            (View::Map(x), View::Map(y)) => {
                let o = x.len().cmp(&y.len());
                if o == Equal {
                    maps(x, y, mode, todo);
                }
                o
            }
            (View::Fun(x), View::Fun(y)) => funs(x, y, mode, todo),
            (x, y) => leaves(x, y, mode),
        };
    }
}

#[inline]
fn is_leaf(t: Term<'_>) -> bool {
    t.is_immediate()
        || !matches!(t.view(), View::Cons(_) | View::Tuple(_) | View::Map(_) | View::Fun(_))
}

fn push_all<'a, 'b>(x: &[Term<'a>], y: &[Term<'b>], mode: Mode, todo: &mut Todo<'a, 'b>) {
    todo.extend(x.iter().zip(y).rev().map(|(a, b)| (*a, *b, mode)));
}

/// Maps of one size: all keys in order first, then the values in the order of the keys.
fn maps<'a, 'b>(x: crate::Map<'a>, y: crate::Map<'b>, mode: Mode, todo: &mut Todo<'a, 'b>) {
    let (x, y) = (map::sorted_pairs(x), map::sorted_pairs(y));
    todo.extend(x.iter().zip(&y).rev().map(|(a, b)| (a.1, b.1, mode)));
    todo.extend(x.iter().zip(&y).rev().map(|(a, b)| (a.0, b.0, Mode::Exact)));
}

fn funs<'a, 'b>(x: Fun<'a>, y: Fun<'b>, mode: Mode, todo: &mut Todo<'a, 'b>) -> Ordering {
    match (x.entry(), y.entry(), x.export(), y.export()) {
        (Some(f), Some(g), ..) => {
            let o = (f.module.name().cmp(g.module.name()))
                .then(f.old_index.cmp(&g.old_index))
                .then(f.old_uniq.cmp(&g.old_uniq))
                .then(x.env().len().cmp(&y.env().len()));
            if o == Equal {
                push_all(x.env(), y.env(), mode, todo);
            }
            o
        }
        (Some(_), None, ..) => Less,
        (None, Some(_), ..) => Greater,
        (_, _, Some(f), Some(g)) => (f.module.name().cmp(g.module.name()))
            .then(f.function.name().cmp(g.function.name()))
            .then(f.arity.cmp(&g.arity)),
        _ => Equal,
    }
}

fn leaves(x: View<'_>, y: View<'_>, mode: Mode) -> Ordering {
    match (x, y) {
        (View::Small(i), View::Small(j)) => i.cmp(&j),
        (View::Atom(f), View::Atom(g)) => f.order(g),
        (View::Float(f), View::Float(g)) => f.partial_cmp(&g).unwrap_or(Equal),
        (View::Float(f), _) if rank(&y) == 0 => match mode {
            Mode::Exact => Greater,
            Mode::Arith => int_float(&y, f).reverse(),
        },
        (_, View::Float(f)) if rank(&x) == 0 => match mode {
            Mode::Exact => Less,
            Mode::Arith => int_float(&x, f),
        },
        (View::Big(i), View::Big(j)) => bigs(i, j),
        (View::Big(i), View::Small(_)) => sign(i),
        (View::Small(_), View::Big(j)) => sign(j).reverse(),
        (View::Bits(f), View::Bits(g)) => bits(f, g),
        (View::Ref(f), View::Ref(g)) => refs(f, g),
        (View::Pid(f), View::Pid(g)) => pids(f, g),
        (View::Port(f), View::Port(g)) => ports(f, g),
        _ => rank(&x).cmp(&rank(&y)),
    }
}

fn sign(b: Big<'_>) -> Ordering {
    if b.is_negative() {
        Less
    } else {
        Greater
    }
}

fn bigs(x: Big<'_>, y: Big<'_>) -> Ordering {
    let o = y.is_negative().cmp(&x.is_negative());
    let magnitude = || {
        let (x, y) = (x.digits(), y.digits());
        x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
    };
    o.then_with(|| if x.is_negative() { magnitude().reverse() } else { magnitude() })
}

/// An integer against a float, exactly.
fn int_float(i: &View<'_>, f: f64) -> Ordering {
    match i {
        View::Small(i) => i128_float(*i as i128, f),
        View::Big(b) => match b.as_i64() {
            Some(i) => i128_float(i as i128, f),
            None => {
                let o = sign(*b);
                if (f < 0.0) != (o == Less) {
                    return o;
                }
                let m = big_magnitude(b.digits(), f.abs());
                if o == Less {
                    m.reverse()
                } else {
                    m
                }
            }
        },
        _ => Equal,
    }
}

fn i128_float(i: i128, f: f64) -> Ordering {
    if f >= 1e30 {
        return Less;
    }
    if f <= -1e30 {
        return Greater;
    }
    let whole = f.trunc() as i128;
    i.cmp(&whole).then_with(|| 0.0f64.partial_cmp(&(f - f.trunc())).unwrap_or(Equal))
}

/// Digits against a positive float.
fn big_magnitude(digits: &[u64], f: f64) -> Ordering {
    let bits = digits.len() * 64 - digits.last().map_or(0, |d| d.leading_zeros() as usize);
    let raw = f.to_bits();
    let exponent = (raw >> 52) as i64 - 1075;
    let mantissa = (raw & ((1 << 52) - 1)) | 1 << 52;
    let float_bits = 53 + exponent;
    match (bits as i64).cmp(&float_bits) {
        Equal if exponent >= 0 => {
            let (word, shift) = (exponent as usize / 64, exponent as usize % 64);
            let wide = (mantissa as u128) << shift;
            let digit = |i: usize| match i.checked_sub(word) {
                Some(0) => wide as u64,
                Some(1) => (wide >> 64) as u64,
                _ => 0,
            };
            (0..digits.len())
                .rev()
                .map(|i| digits[i].cmp(&digit(i)))
                .find(|o| *o != Equal)
                .unwrap_or(Equal)
        }
        o => o,
    }
}

fn bits(x: Bits<'_>, y: Bits<'_>) -> Ordering {
    if let (Some(f), Some(g)) = (x.as_bytes(), y.as_bytes()) {
        return f.cmp(g);
    }
    let whole = x.bit_len().min(y.bit_len()) / 8;
    for i in 0..whole {
        let o = x.byte(i).cmp(&y.byte(i));
        if o != Equal {
            return o;
        }
    }
    let rest = x.bit_len().min(y.bit_len()) % 8;
    let cut = |b: Bits<'_>| if rest == 0 { 0 } else { b.byte(whole) >> (8 - rest) };
    cut(x).cmp(&cut(y)).then(x.bit_len().cmp(&y.bit_len()))
}

fn nodes(x: Option<Ext<'_>>, y: Option<Ext<'_>>) -> Ordering {
    let name = |e: Option<Ext<'_>>| e.map_or_else(crate::node::name, |e| e.node()).name();
    let creation = |e: Option<Ext<'_>>| e.map_or_else(crate::node::creation, |e| e.creation());
    name(x).cmp(name(y)).then(creation(x).cmp(&creation(y)))
}

fn pids(x: Pid<'_>, y: Pid<'_>) -> Ordering {
    fn split(p: Pid<'_>) -> ((u32, u32), Option<Ext<'_>>) {
        match p {
            Pid::Local(n) => ((n & 0x7FFF, n >> 15), None),
            Pid::External(e) => ((e.data() as u32, (e.data() >> 32) as u32), Some(e)),
        }
    }
    let ((n, s), e) = split(x);
    let ((m, t), f) = split(y);
    // The serial is the high part of the number.
    s.cmp(&t).then(n.cmp(&m)).then_with(|| nodes(e, f))
}

fn ports(x: Port<'_>, y: Port<'_>) -> Ordering {
    fn split(p: Port<'_>) -> (u64, Option<Ext<'_>>) {
        match p {
            Port::Local(n) => (n as u64, None),
            Port::External(e) => (e.data(), Some(e)),
        }
    }
    let ((n, e), (m, f)) = (split(x), split(y));
    nodes(e, f).then_with(|| n.cmp(&m))
}

fn refs(x: Ref<'_>, y: Ref<'_>) -> Ordering {
    if let (Ref::Local(x), Ref::Local(y)) = (x, y) {
        let ([a, b, c], [k, l, m]) = (x.numbers(), y.numbers());
        return (c, b, a).cmp(&(m, l, k));
    }
    fn numbers(r: Ref<'_>) -> (Vec<u32>, Option<Ext<'_>>) {
        match r {
            Ref::Local(l) => (l.numbers().to_vec(), None),
            Ref::External(e) => (e.ref_numbers(), Some(e)),
        }
    }
    let ((mut n, e), (mut m, f)) = (numbers(x), numbers(y));
    // Numbers that one lacks are zero; the last one counts most.
    let len = n.len().max(m.len());
    n.resize(len, 0);
    m.resize(len, 0);
    nodes(e, f).then_with(|| n.iter().rev().cmp(m.iter().rev()))
}

/// Equality, without the order of things.
fn same<'a>(a: Term<'a>, b: Term<'a>, mode: Mode) -> bool {
    let mut todo = Stack::new();
    let (mut a, mut b) = (a, b);
    loop {
        if !a.same(b) {
            match (a.view(), b.view()) {
                (View::Cons(x), View::Cons(y)) => {
                    let (h, k) = (x.head(), y.head());
                    (a, b) = (x.tail(), y.tail());
                    if !h.same(k) {
                        if is_leaf(h) || is_leaf(k) {
                            if !same_leaves(h.view(), k.view(), mode) {
                                return false;
                            }
                        } else {
                            todo.push((a, b));
                            (a, b) = (h, k);
                        }
                    }
                    continue;
                }
                (View::Tuple(x), View::Tuple(y)) => {
                    if x.len() != y.len() {
                        return false;
                    }
                    // What has no parts first: most tuples that differ do so there.
                    let mut inner = None;
                    for (p, q) in
                        x.elements().iter().zip(y.elements()).filter(|(p, q)| !p.same(**q))
                    {
                        if is_leaf(*p) || is_leaf(*q) {
                            if !same_leaves(p.view(), q.view(), mode) {
                                return false;
                            }
                        } else if let Some(before) = inner.replace((*p, *q)) {
                            todo.push(before);
                        }
                    }
                    if let Some(next) = inner {
                        (a, b) = next;
                        continue;
                    }
                }
                (View::Map(x), View::Map(y)) => {
                    if x.len() != y.len() || !same_pairs(x, y, &mut todo) {
                        return false;
                    }
                }
                (View::Fun(x), View::Fun(y)) => {
                    let mut parts = Stack::new();
                    if funs(x, y, mode, &mut parts) != Equal {
                        return false;
                    }
                    todo.extend(std::iter::from_fn(|| parts.pop()).map(|p| (p.0, p.1)));
                }
                (x, y) => {
                    if !same_leaves(x, y, mode) {
                        return false;
                    }
                }
            }
        }
        match todo.pop() {
            Some(next) => (a, b) = next,
            None => return true,
        }
    }
}

/// Equality of two terms that are not the same word and of which one has no parts.
fn same_leaves(x: View<'_>, y: View<'_>, mode: Mode) -> bool {
    match (x, y) {
        (View::Small(i), View::Small(j)) => i == j,
        // Two atoms, or an atom and something else, that are not the same word.
        (View::Atom(_), _) | (_, View::Atom(_)) => false,
        (View::Float(_), View::Float(_)) => leaves(x, y, mode) == Equal,
        (View::Float(_), _) | (_, View::Float(_)) if mode == Mode::Exact => false,
        _ => leaves(x, y, mode) == Equal,
    }
}

/// Maps of one size with the same keys; notes the values.
fn same_pairs<'a>(
    x: crate::Map<'a>,
    y: crate::Map<'a>,
    todo: &mut Stack<(Term<'a>, Term<'a>)>,
) -> bool {
    for (k, v) in map::iter(x) {
        match map::get(y, k) {
            Some(w) if v.same(w) => {}
            Some(w) => todo.push((v, w)),
            None => return false,
        }
    }
    true
}
