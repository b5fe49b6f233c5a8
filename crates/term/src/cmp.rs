//! Term order and equality.
//!
//! number < atom < reference < fun < port < pid < tuple < record < map < nil < list < bit string. `==` and
//! the order compare integers and floats by value; `=:=` does not, and neither do the keys of maps,
//! where an integer comes before any float. Nothing recurses without bound: terms still to be
//! compared are on a [`Stack`], and so are the sorts of large maps whose keys are compound terms
//! ([`KeySorts`]).

mod exact;

use std::cmp::Ordering::{self, Equal, Greater, Less};

pub use self::exact::{eq_exact, same_tuples};
use crate::merge_sort::MergeSort;
use crate::object::{Bits, Ext};
use crate::stack::Stack;
use crate::word::FLAT_MAP_LIMIT;
use crate::zero::exact_bits;
use crate::{atom, map_node, Big, Fun, Map, PidTerm, PortTerm, Ref, Term, View};

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
    simple(a, b).or_else(|| objects(a, b)).unwrap_or_else(|| run(a, b, Mode::Arith))
}
/// The order of keys in a map: as `compare`, but an integer comes before any float.
pub fn compare_exact<'a>(a: Term<'a>, b: Term<'a>) -> Ordering {
    simple(a, b).or_else(|| objects(a, b)).unwrap_or_else(|| run(a, b, Mode::Exact))
}
/// The order in which small maps keep their keys: as `compare_exact`, but atoms by
/// [`Atom::key_order`](crate::Atom::key_order).
pub fn key_order<'a>(a: Term<'a>, b: Term<'a>) -> Ordering {
    match (a.as_atom(), b.as_atom()) {
        (Some(f), Some(g)) => f.key_order(g),
        _ => compare_exact(a, b),
    }
}
/// Compares two atoms, or two small integers.
#[inline]
fn simple(a: Term<'_>, b: Term<'_>) -> Option<Ordering> {
    if let (Some(f), Some(g)) = (a.as_atom(), b.as_atom()) {
        return Some(f.order(g));
    }
    Some(a.as_small()?.cmp(&b.as_small()?))
}
/// Compares one object with itself, two tuples, if that is simple, two bit strings, two bignums, or two
/// references.
#[inline]
fn objects(a: Term<'_>, b: Term<'_>) -> Option<Ordering> {
    let one = a.same(b).then_some(Equal);
    one.or_else(|| tuples(a, b))
        .or_else(|| Some(bits(a.as_bits()?, b.as_bits()?)))
        .or_else(|| Some(bigs(a.as_big()?, b.as_big()?)))
        .or_else(|| Some(refs(a.as_ref()?, b.as_ref()?)))
}
/// Compares two tuples of one size, if their first elements that are different words are as above.
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
fn rank(v: &View<'_>) -> u8 {
    match v {
        View::Small(_) | View::Big(_) | View::Float(_) => 0,
        View::Atom(_) => 1,
        View::Ref(_) => 2,
        View::Fun(_) => 3,
        View::Port(_) => 4,
        View::Pid(_) => 5,
        View::Tuple(_) => 6,
        View::Record(_) => 7,
        View::Map(_) => 8,
        View::Nil => 9,
        View::Cons(_) => 10,
        View::Bits(_) => 11,
    }
}

/// Pairs of terms still to be compared, the first difference first. `None`: the entries above are
/// one comparison of the innermost sort, which continues with its result.
type Todo<'a> = Stack<Option<(Term<'a>, Term<'a>, Mode)>>;

/// The keys of two large maps being sorted.
struct KeySorts<'a> {
    x: MergeSort<'a>,
    y: MergeSort<'a>,
    /// How to compare the values.
    mode: Mode,
}

impl<'a> KeySorts<'a> {
    /// Continues with the result of the comparison requested before. Returns the next two keys to
    /// compare.
    fn run(&mut self, result: Option<Ordering>) -> Option<(Term<'a>, Term<'a>)> {
        let result = &mut { result };
        self.x.run(result, leaf_key_order).or_else(|| self.y.run(result, leaf_key_order))
    }
    /// Compares all keys in order first, then the values in the order of the keys.
    fn finish(self, todo: &mut Todo<'a>) {
        let both = || self.x.pairs().iter().zip(self.y.pairs()).rev();
        todo.extend(both().map(|(p, q)| Some((p.1, q.1, self.mode))));
        todo.extend(both().map(|(p, q)| Some((p.0, q.0, Mode::Exact))));
    }
}
/// Compares two keys of which at least one has no parts.
fn leaf_key_order(a: Term<'_>, b: Term<'_>) -> Option<Ordering> {
    match a.same(b) {
        true => Some(Equal),
        false => (is_leaf(a) || is_leaf(b)).then(|| leaf_order(a, b, Mode::Exact)),
    }
}

/// Compares terms that are different words and of which at least one has no parts.
#[inline(always)]
fn leaf_order(a: Term<'_>, b: Term<'_>, mode: Mode) -> Ordering {
    match (a.as_small(), b.as_small()) {
        (Some(i), Some(j)) => i.cmp(&j),
        _ => leaves(a.view(), b.view(), mode),
    }
}

fn run<'a>(a: Term<'a>, b: Term<'a>, mode: Mode) -> Ordering {
    let (mut todo, mut sorts): (Todo<'a>, Vec<KeySorts<'a>>) = (Stack::new(), Vec::new());
    let (mut a, mut b, mut mode) = (a, b, mode);
    loop {
        let mut o = Equal;
        if !a.same(b) {
            o = step(&mut a, &mut b, mode, &mut todo, &mut sorts);
        }
        (a, b, mode) = loop {
            if o == Equal {
                match todo.pop() {
                    Some(Some(next)) => break next,
                    Some(None) => {}
                    None => return Equal,
                }
            } else {
                if sorts.is_empty() {
                    return o;
                }
                // The rest of this comparison of the sort is not needed.
                while todo.pop().flatten().is_some() {}
            }
            let Some(mut sort) = sorts.pop() else { return o };
            match sort.run(Some(o)) {
                Some((p, q)) => {
                    sorts.push(sort);
                    todo.push(None);
                    break (p, q, Mode::Exact);
                }
                None => sort.finish(&mut todo),
            }
            o = Equal;
        };
    }
}

/// Compares two terms without their parts, and pushes the parts. Lists are walked at once.
fn step<'a>(
    a: &mut Term<'a>,
    b: &mut Term<'a>,
    mode: Mode,
    todo: &mut Todo<'a>,
    sorts: &mut Vec<KeySorts<'a>>,
) -> Ordering {
    loop {
        let (x, y) = (a.view(), b.view());
        return match (x, y) {
            (View::Cons(x), View::Cons(y)) => {
                let (h, k) = (x.head(), y.head());
                if !h.same(k) && !same_words(h, k) {
                    if !is_leaf(h) && !is_leaf(k) {
                        todo.push(Some((x.tail(), y.tail(), mode)));
                        (*a, *b) = (h, k);
                        continue;
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
                // Nothing need be pushed before the first parts that are compound themselves.
                let mut parts = x.elements().iter().zip(y.elements()).filter(|(p, q)| !p.same(**q));
                let next = parts.find_map(|(p, q)| match is_leaf(*p) || is_leaf(*q) {
                    false => Some(Ok((*p, *q))),
                    true => Some(leaf_order(*p, *q, mode)).filter(|o| *o != Equal).map(Err),
                });
                match next {
                    None => Equal,
                    Some(Err(o)) => o,
                    Some(Ok(inner)) => {
                        todo.extend(parts.rev().map(|(p, q)| Some((*p, *q, mode))));
                        (*a, *b) = inner;
                        continue;
                    }
                }
            }
            (View::Map(x), View::Map(y)) => {
                let o = x.len().cmp(&y.len());
                if o == Equal {
                    maps(x, y, mode, todo, sorts);
                }
                o
            }
            (View::Record(x), View::Record(y)) => {
                let (d, e) = (x.definition(), y.definition());
                let o = if d.same(e) { Equal } else { d.compare(e) };
                if o == Equal {
                    let both = x.fields().zip(y.fields()).map(|((_, p), (_, q))| (p, q));
                    let differ: Vec<_> = both.filter(|(p, q)| !p.same(*q)).collect();
                    todo.extend(differ.into_iter().rev().map(|(p, q)| Some((p, q, mode))));
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
        || !matches!(
            t.view(),
            View::Cons(_) | View::Tuple(_) | View::Record(_) | View::Map(_) | View::Fun(_)
        )
}

/// Compares two small tuples word by word, as elements of long lists are often equal. They need not
/// be pushed.
#[inline]
fn same_words(a: Term<'_>, b: Term<'_>) -> bool {
    const MOST: usize = 8;
    let (Some(x), Some(y)) = (a.as_tuple(), b.as_tuple()) else { return false };
    x.len() == y.len()
        && x.len() <= MOST
        && x.elements().iter().zip(y.elements()).all(|(p, q)| p.same(*q))
}

fn push_all<'a>(x: &[Term<'a>], y: &[Term<'a>], mode: Mode, todo: &mut Todo<'a>) {
    todo.extend(x.iter().zip(y).rev().map(|(a, b)| Some((*a, *b, mode))));
}

/// Compares maps of one size: all keys in order first, then the values in the order of the keys.
fn maps<'a>(
    x: Map<'a>,
    y: Map<'a>,
    mode: Mode,
    todo: &mut Todo<'a>,
    sorts: &mut Vec<KeySorts<'a>>,
) {
    if let (Some((keys, values)), Some((others, theirs))) = (x.flat(), y.flat()) {
        if atom::keys_are_by_rank() {
            return flat_maps((keys, values), (others, theirs), mode, todo);
        }
        push_all(values, theirs, mode, todo);
        return push_all(keys, others, Mode::Exact, todo);
    }
    let by_key = |m| MergeSort::new(map_node::iter(m).collect());
    let mut sort = KeySorts { x: by_key(x), y: by_key(y), mode };
    match sort.run(None) {
        None => sort.finish(todo),
        Some((p, q)) => {
            sorts.push(sort);
            todo.push(None);
            todo.push(Some((p, q, Mode::Exact)));
        }
    }
}

type KeysAndValues<'a> = (&'a [Term<'a>], &'a [Term<'a>]);

/// Compares small maps of one size whose atom keys are not ordered by name.
fn flat_maps<'a>(x: KeysAndValues<'a>, y: KeysAndValues<'a>, mode: Mode, todo: &mut Todo<'a>) {
    let (by_name, others) = (by_term_order(x.0), by_term_order(y.0));
    let both = || by_name.iter().zip(&others).take(x.0.len()).rev();
    todo.extend(both().map(|(i, j)| Some((x.1[*i as usize], y.1[*j as usize], mode))));
    todo.extend(both().map(|(i, j)| Some((x.0[*i as usize], y.0[*j as usize], Mode::Exact))));
}

/// Indices of a small map's keys in term order. Only atoms, which are adjacent, may be out of it.
fn by_term_order(keys: &[Term<'_>]) -> [u8; FLAT_MAP_LIMIT] {
    let mut places: [u8; FLAT_MAP_LIMIT] = std::array::from_fn(|i| i as u8);
    let first = keys.iter().position(|k| k.as_atom().is_some()).unwrap_or(keys.len());
    let atoms = keys[first..].iter().take_while(|k| k.as_atom().is_some()).count();
    let key = |i: &u8| keys[*i as usize];
    places[first..first + atoms].sort_unstable_by(|i, j| compare_exact(key(i), key(j)));
    places
}

fn funs<'a>(x: Fun<'a>, y: Fun<'a>, mode: Mode, todo: &mut Todo<'a>) -> Ordering {
    match (x.entry(), y.entry(), x.export(), y.export()) {
        (Some(f), Some(g), ..) => {
            let o = (f.module.name().cmp(g.module.name()))
                .then(f.index.cmp(&g.index))
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
        (View::Float(f), View::Float(g)) => match f.partial_cmp(&g) {
            // The sign of -0.0 is the highest bit.
            Some(Equal) if mode == Mode::Exact => exact_bits(g).cmp(&exact_bits(f)),
            o => o.unwrap_or(Equal),
        },
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
        x.len().cmp(&y.len()).then_with(|| {
            // Equal digits are passed by many at once.
            let blocks = x.rchunks_exact(16).zip(y.rchunks_exact(16));
            let n = x.len() - 16 * blocks.take_while(|(x, y)| x == y).count();
            x[..n].iter().rev().cmp(y[..n].iter().rev())
        })
    };
    o.then_with(|| if x.is_negative() { magnitude().reverse() } else { magnitude() })
}

/// Compares an integer with a float, exactly.
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

/// Compares digits with a positive float.
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

fn pids(x: PidTerm<'_>, y: PidTerm<'_>) -> Ordering {
    let node = |p| match p {
        PidTerm::Local(_) => None,
        PidTerm::External(e) => Some(e),
    };
    let ((n, s), e) = (x.numbers(), node(x));
    let ((m, t), f) = (y.numbers(), node(y));
    // The serial is the high part of the number.
    s.cmp(&t).then(n.cmp(&m)).then_with(|| nodes(e, f))
}

fn ports(x: PortTerm<'_>, y: PortTerm<'_>) -> Ordering {
    fn split(p: PortTerm<'_>) -> (u64, Option<Ext<'_>>) {
        match p {
            PortTerm::Local(n) => (n, None),
            PortTerm::External(e) => (e.data(), Some(e)),
        }
    }
    let ((n, e), (m, f)) = (split(x), split(y));
    nodes(e, f).then_with(|| n.cmp(&m))
}

fn refs(x: Ref<'_>, y: Ref<'_>) -> Ordering {
    if let (Ref::Local(x), Ref::Local(y)) = (x, y) {
        if !(x.is_longer() || y.is_longer()) {
            let ([a, b, c], [k, l, m]) = (x.numbers(), y.numbers());
            return (c, b, a).cmp(&(m, l, k));
        }
    }
    fn numbers(r: Ref<'_>) -> (Vec<u32>, Option<Ext<'_>>) {
        match r {
            Ref::Local(l) => (l.written_numbers(), None),
            Ref::External(e) => (e.ref_numbers(), Some(e)),
        }
    }
    let ((mut n, e), (mut m, f)) = (numbers(x), numbers(y));
    // Missing numbers count as zero; the last one is most significant.
    let len = n.len().max(m.len());
    n.resize(len, 0);
    m.resize(len, 0);
    nodes(e, f).then_with(|| n.iter().rev().cmp(m.iter().rev()))
}

/// Equality only, without an order.
fn same<'a>(a: Term<'a>, b: Term<'a>, mode: Mode) -> bool {
    let mut todo = Stack::new();
    let (mut a, mut b, mut mode) = (a, b, mode);
    loop {
        if !a.same(b) {
            match (a.view(), b.view()) {
                (View::Cons(x), View::Cons(y)) => {
                    let (h, k) = (x.head(), y.head());
                    (a, b) = (x.tail(), y.tail());
                    if !h.same(k) && !same_words(h, k) {
                        if is_leaf(h) || is_leaf(k) {
                            if !same_leaves(h.view(), k.view(), mode) {
                                return false;
                            }
                        } else {
                            todo.push((a, b, mode));
                            (a, b) = (h, k);
                        }
                    }
                    continue;
                }
                (View::Tuple(x), View::Tuple(y)) => {
                    if x.len() != y.len() {
                        return false;
                    }
                    // Elements without parts first: most tuples that differ do so there.
                    let mut inner = None;
                    for (p, q) in
                        x.elements().iter().zip(y.elements()).filter(|(p, q)| !p.same(**q))
                    {
                        if is_leaf(*p) || is_leaf(*q) {
                            if !same_leaves(p.view(), q.view(), mode) {
                                return false;
                            }
                        } else if let Some(before) = inner.replace((*p, *q)) {
                            todo.push((before.0, before.1, mode));
                        }
                    }
                    if let Some(next) = inner {
                        (a, b) = next;
                        continue;
                    }
                }
                (View::Map(x), View::Map(y)) => {
                    if !same_maps(x, y, mode, &mut todo) {
                        return false;
                    }
                }
                (View::Record(x), View::Record(y)) => {
                    if !x.definition().same(y.definition()) {
                        return false;
                    }
                    let pairs = x.values().iter().zip(y.values());
                    todo.extend(pairs.filter(|(p, q)| !p.same(**q)).map(|(p, q)| (*p, *q, mode)));
                }
                (View::Fun(x), View::Fun(y)) => {
                    let mut parts = Stack::new();
                    if funs(x, y, mode, &mut parts) != Equal {
                        return false;
                    }
                    todo.extend(std::iter::from_fn(|| parts.pop()).flatten());
                }
                (x, y) => {
                    if !same_leaves(x, y, mode) {
                        return false;
                    }
                }
            }
        }
        match todo.pop() {
            Some(next) => (a, b, mode) = next,
            None => return true,
        }
    }
}

/// Equality of two terms that are different words and of which at least one has no parts.
fn same_leaves(x: View<'_>, y: View<'_>, mode: Mode) -> bool {
    match (x, y) {
        (View::Small(i), View::Small(j)) => i == j,
        // Two different atoms, or an atom and another term.
        (View::Atom(_), _) | (_, View::Atom(_)) => false,
        (View::Float(_), View::Float(_)) => leaves(x, y, mode) == Equal,
        (View::Float(_), _) | (_, View::Float(_)) if mode == Mode::Exact => false,
        _ => leaves(x, y, mode) == Equal,
    }
}

type Unequal<'a> = Stack<(Term<'a>, Term<'a>, Mode)>;

/// Equality of two terms as far as it can be decided at once; pushes those that have parts.
#[inline]
fn same_part<'a>(a: Term<'a>, b: Term<'a>, mode: Mode, todo: &mut Unequal<'a>) -> bool {
    if a.same(b) {
        return true;
    }
    if is_leaf(a) || is_leaf(b) {
        return same_leaves(a.view(), b.view(), mode);
    }
    todo.push((a, b, mode));
    true
}

/// Compares maps, or nodes within large maps. Equal keys form equal trees, so no key is looked up.
fn same_maps<'a>(x: Map<'a>, y: Map<'a>, mode: Mode, todo: &mut Unequal<'a>) -> bool {
    let (Some(n), Some(m)) = (x.node(), y.node()) else { return same_flat(x, y, mode, todo) };
    // The first word after a node's header is a root's size, or a child.
    n.bitmap == m.bitmap
        && n.children.len() == m.children.len()
        && x.is_node() == y.is_node()
        && n.children.iter().zip(m.children).filter(|(c, d)| !c.same(**d)).all(|(c, d)| {
            match (c.as_cons(), d.as_cons()) {
                (Some(c), Some(d)) => {
                    same_part(c.head(), d.head(), Mode::Exact, todo)
                        && same_part(c.tail(), d.tail(), mode, todo)
                }
                (None, None) => {
                    todo.push((*c, *d, mode));
                    true
                }
                _ => false,
            }
        })
}
fn same_flat<'a>(x: Map<'a>, y: Map<'a>, mode: Mode, todo: &mut Unequal<'a>) -> bool {
    let (Some((keys, values)), Some((others, theirs))) = (x.flat(), y.flat()) else { return false };
    let mut same = |a: &[Term<'a>], b: &[Term<'a>], mode| {
        a.iter().zip(b).all(|(p, q)| same_part(*p, *q, mode, todo))
    };
    keys.len() == others.len()
        && (std::ptr::eq(keys, others) || same(keys, others, Mode::Exact))
        && same(values, theirs, mode)
}
