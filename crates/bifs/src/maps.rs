//! Natives of `maps`, and what `maps` and `erts_debug` call in `erts_internal`.

use kvik_heap::map_build::MapBuilder;
use kvik_heap::map_merge::MapMerge;
use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::map::{child, MapChild, MapNode, LAST_LEVEL};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{am, map, Map, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("maps", "find", 2, find),
    bif!("maps", "from_keys", 2, from_keys),
    bif!("maps", "from_list", 1, from_list),
    bif!("maps", "get", 2, get),
    bif!("maps", "is_key", 2, is_key),
    bif!("maps", "keys", 1, keys),
    bif!("maps", "merge", 2, merge),
    bif!("maps", "put", 3, put),
    bif!("maps", "remove", 2, remove),
    bif!("maps", "take", 2, take),
    bif!("maps", "update", 3, update),
    bif!("maps", "values", 1, values),
    bif!("erts_internal", "map_next", 3, map_next),
    bif!("erts_internal", "map_to_tuple_keys", 1, map_to_tuple_keys),
    bif!("erts_internal", "map_hashmap_children", 1, map_hashmap_children),
];

/// Associations per reduction: merged, and listed, as in OTP.
const PAIRS_PER_REDUCTION: usize = 8;
const PAIRS_LISTED: usize = 15;

/// What a large map made from a list costs in OTP, where it depends on the hashes and differs from
/// start to start: in thousandths of a reduction for a pair, and for a pair each time the number of
/// pairs doubles.
const MADE: usize = 310;
const MADE_PER_DOUBLING: usize = 34;

/// Reductions for a map of `n` pairs from a list.
fn making_cost(n: usize) -> usize {
    match n {
        0..=FLAT_MAP_LIMIT => 0,
        _ => n * (MADE + MADE_PER_DOUBLING * n.ilog2() as usize) / 1000,
    }
}

fn want<'h>(p: &'h Proc, t: Term<'h>) -> Result<Map<'h>, Raised> {
    t.as_map().ok_or_else(|| p.error_pair(am::badmap, t))
}
fn bump(p: &Proc, pairs: usize) {
    p.heap.bump_reductions((pairs / PAIRS_PER_REDUCTION) as i64);
}

fn find<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match map::get(want(p, a[1])?, a[0]) {
        Some(v) => p.heap.tuple(&[am::ok.into(), v]),
        None => am::error.into(),
    })
}
fn get<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    map::get(want(p, a[1])?, a[0]).ok_or_else(|| p.error_pair(am::badkey, a[0]))
}
fn is_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(map::contains(want(p, a[1])?, a[0])))
}

/// State of building a map from a list.
struct Making<'h> {
    rest: Term<'h>,
    map: MapBuilder<'h>,
    pairs: usize,
    /// Reductions used in earlier turns.
    paid: usize,
}
impl SuspendedState for Making<'static> {
    type In<'h> = Making<'h>;
}

fn from<'h>(
    p: &'h Proc,
    list: Term<'h>,
    pair: impl Fn(Term<'h>) -> Option<(Term<'h>, Term<'h>)>,
) -> BifResult<'h> {
    let resumed = p.resumed::<Making<'static>>();
    let mut m = resumed.unwrap_or_else(|| Making {
        rest: list,
        map: MapBuilder::default(),
        pairs: 0,
        paid: 0,
    });
    // About as many as in OTP.
    let mut left = p.steps(5) / 4;
    while let (Some(c), 1..) = (m.rest.as_cons(), left) {
        let (k, v) = pair(c.head()).ok_or_else(|| p.badarg())?;
        m.map.add(k, v);
        m.rest = c.tail();
        m.pairs += 1;
        left -= 1;
    }
    if left > 0 && !m.rest.is_nil() {
        return Err(p.badarg());
    }
    let mut finishing = p.steps(PAIRS_PER_REDUCTION);
    let made = if left > 0 { m.map.finish(&p.heap, &mut finishing) } else { None };
    if let Some(made) = made {
        p.heap.bump_reductions(making_cost(m.pairs).saturating_sub(m.paid) as i64);
        return Ok(made);
    }
    m.paid += p.steps(1);
    p.use_up_turn();
    Err(p.again::<Making<'static>>(m, None))
}
fn from_keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let value = a[1];
    from(p, a[0], |k| Some((k, value)))
}
fn from_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    from(p, a[0], |t| t.as_tuple_n().map(|[k, v]| (k, v)))
}

/// State of building a list from a map, from its end.
struct Listing<'h> {
    pairs: map::Iter<'h>,
    list: Term<'h>,
}
impl SuspendedState for Listing<'static> {
    type In<'h> = Listing<'h>;
}

/// A list in OTP's order: that of a large map is its own, or the reverse.
fn list_of<'h>(
    p: &'h Proc,
    m: Map<'h>,
    part: fn((Term<'h>, Term<'h>)) -> Term<'h>,
) -> BifResult<'h> {
    if m.is_flat() {
        return Ok(p.heap.list(&map::iter(m).map(part).collect::<Vec<_>>()));
    }
    let resumed = p.resumed::<Listing<'static>>();
    let mut l = resumed.unwrap_or_else(|| {
        let pairs = match kvik_release::current().lists_large_maps_in_order() {
            true => map::iter_reversed(m),
            false => map::iter(m),
        };
        Listing { pairs, list: Term::NIL }
    });
    let mut left = p.steps(PAIRS_LISTED);
    while left > 0 {
        let Some(pair) = l.pairs.next() else {
            p.steps_left(left, PAIRS_LISTED);
            return Ok(l.list);
        };
        l.list = p.heap.cons(part(pair), l.list);
        left -= 1;
    }
    p.steps_left(0, PAIRS_LISTED);
    Err(p.again::<Listing<'static>>(l, None))
}
fn keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    list_of(p, want(p, a[0])?, |(k, _)| k)
}
fn values<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    list_of(p, want(p, a[0])?, |(_, v)| v)
}

/// State of merging two maps.
enum Merging<'h> {
    Large(MapMerge<'h>),
    /// Adds a small map's associations to a large one: all, or only missing ones.
    Few {
        from: map::Iter<'h>,
        into: Term<'h>,
        missing: bool,
    },
}
impl SuspendedState for Merging<'static> {
    type In<'h> = Merging<'h>;
}
/// Steps for each insertion into a large map.
const PUT: usize = 4;

fn merge<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut m = match p.resumed::<Merging<'static>>() {
        Some(m) => m,
        None => {
            let (x, y) = (want(p, a[0])?, want(p, a[1])?);
            match (MapMerge::new(x, y), x.len(), y.len()) {
                (_, _, 0) => return Ok(a[0]),
                (_, 0, _) => return Ok(a[1]),
                _ if a[0].same(a[1]) => return Ok(a[0]),
                (Some(large), ..) => Merging::Large(large),
                (_, n, few) if few * 8 < n => {
                    Merging::Few { from: map::iter(y), into: a[0], missing: false }
                }
                (_, few, n) if few * 8 < n => {
                    Merging::Few { from: map::iter(x), into: a[1], missing: true }
                }
                (_, n, o) => {
                    if let Some(t) = merge_flat(p, x, y) {
                        return Ok(t);
                    }
                    // Two small maps cost nothing.
                    if !(x.is_flat() && y.is_flat()) {
                        bump(p, n + o);
                    }
                    let pairs = map::iter(x).filter(|(k, _)| !map::contains(y, *k));
                    return Ok(p.heap.map_of_unique(pairs.chain(map::iter(y)).collect()));
                }
            }
        }
    };
    let mut left = p.steps(PAIRS_PER_REDUCTION);
    let merged = m.run(p, &mut left)?;
    match &mut m {
        // A turn of so many children as OTP merges would be too long.
        Merging::Large(large) => {
            p.heap.bump_reductions(large.take_reductions(PAIRS_PER_REDUCTION) as i64);
            if merged.is_none() {
                p.give_up_turn();
            }
        }
        Merging::Few { .. } => p.steps_left(left, PAIRS_PER_REDUCTION),
    }
    merged.ok_or_else(|| p.again::<Merging<'static>>(m, None))
}
/// Two flat maps that make a flat one. If the keys of one are all those of the result, it shares
/// the tuple of them, as the common merge of options into defaults; the second map with all keys
/// is the result itself.
fn merge_flat<'h>(p: &'h Proc, x: Map<'h>, y: Map<'h>) -> Option<Term<'h>> {
    let ((x_keys, _), (y_keys, values)) = (x.flat()?, y.flat()?);
    let in_y = |k: &Term<'h>| map::place_of(y_keys, *k).is_some();
    if x_keys.len() <= y_keys.len() && x_keys.iter().all(in_y) {
        return Some(y.term());
    }
    let mut pairs: Vec<_> = y_keys.iter().copied().zip(values.iter().copied()).collect();
    let updated = p.heap.flat_update(x, &pairs);
    updated.or_else(|| p.heap.flat_put_all(x, &mut pairs))
}
impl<'h> Merging<'h> {
    /// Continues for `left` steps. Returns the map when it is complete.
    fn run(&mut self, p: &'h Proc, left: &mut usize) -> Result<Option<Term<'h>>, Raised> {
        match self {
            Merging::Large(merge) => return Ok(merge.run(&p.heap, left)),
            Merging::Few { from, into, missing } => {
                while *left > 0 {
                    let Some((k, v)) = from.next() else { return Ok(Some(*into)) };
                    let m = want(p, *into)?;
                    if !*missing || !map::contains(m, k) {
                        *into = p.heap.map_put(m, k, v);
                    }
                    *left = left.saturating_sub(PUT);
                }
            }
        }
        Ok(None)
    }
}

fn put<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.map_put(want(p, a[2])?, a[0], a[1]))
}
fn update<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = want(p, a[2])?;
    if !map::contains(m, a[0]) {
        return Err(p.error_pair(am::badkey, a[0]));
    }
    Ok(p.heap.map_put(m, a[0], a[1]))
}
fn remove<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.map_remove(want(p, a[1])?, a[0]))
}
fn take<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = want(p, a[1])?;
    Ok(match map::get(m, a[0]) {
        Some(v) => p.heap.tuple(&[v, p.heap.map_remove(m, a[0])]),
        None => am::error.into(),
    })
}

/// A traversal of a large map: the nodes from the root down, each with the number of its next child
/// to visit, counted from the first or from the last.
struct Walk<'h> {
    stack: Vec<(MapNode<'h>, usize)>,
    from_end: bool,
}

impl<'h> Walk<'h> {
    /// Starts at a path: four bits per level, lowest first; 64 bits for a collision node.
    fn start(m: Map<'h>, path: &[u64], from_end: bool) -> Option<Walk<'h>> {
        let (mut node, mut walk) = (m.root()?, Walk { stack: Vec::new(), from_end });
        let levels = (LAST_LEVEL - map::first_level()) as usize;
        for level in 0.. {
            let digit = path.get(level / 16).copied().unwrap_or(0);
            let at = match level == levels {
                true => digit as usize,
                false => (digit >> (4 * (level % 16)) & 15) as usize,
            };
            match child(walk.child(node, at)?) {
                MapChild::Leaf(..) => {
                    walk.stack.push((node, at));
                    break;
                }
                MapChild::Node(n) => {
                    walk.stack.push((node, at + 1));
                    node = n;
                }
            }
        }
        Some(walk)
    }
    fn child(&self, node: MapNode<'h>, at: usize) -> Option<Term<'h>> {
        let children = node.children;
        let at = if self.from_end { children.len().checked_sub(at + 1)? } else { at };
        children.get(at).copied()
    }
    fn next(&mut self) -> Option<(Term<'h>, Term<'h>)> {
        loop {
            let (node, at) = *self.stack.last()?;
            let Some(c) = self.child(node, at) else {
                self.stack.pop();
                continue;
            };
            self.stack.last_mut()?.1 += 1;
            match child(c) {
                MapChild::Leaf(k, v) => return Some((k, v)),
                MapChild::Node(n) => self.stack.push((n, 0)),
            }
        }
    }
    /// The path of the pair that `next` would return.
    fn path(&mut self) -> Option<Vec<u64>> {
        while let Some((node, at)) = self.stack.last() {
            if *at < node.children.len() {
                break;
            }
            self.stack.pop();
        }
        let depth = self.stack.len();
        let mut digits = vec![0; depth.div_ceil(16)];
        for (level, (_, at)) in self.stack.iter().enumerate() {
            // Above the last level `at` is already past the child being visited.
            let at = if level + 1 == depth { *at } else { at.saturating_sub(1) };
            digits[level / 16] |= (at as u64) << (4 * (level % 16));
        }
        (depth > 0).then_some(digits)
    }
}

/// Reductions per step of an ordered iterator.
const REDUCTIONS_AN_ORDERED_PAIR: i64 = 32;

/// The next pairs of an iterator that follows a list of keys.
fn ordered_next<'h>(p: &'h Proc, m: Map<'h>, keys: Term<'h>) -> BifResult<'h> {
    let left = p.heap.reductions_left();
    let most = (left / REDUCTIONS_AN_ORDERED_PAIR).max(1) as usize;
    let mut rest = keys;
    let mut pairs = Vec::new();
    while let Some(cell) = rest.as_cons().filter(|_| pairs.len() < most) {
        let value = map::get(m, cell.head()).ok_or_else(|| p.badarg())?;
        pairs.push((cell.head(), value));
        rest = cell.tail();
    }
    let end = match rest.as_cons() {
        Some(_) => {
            p.heap.bump_reductions(left);
            p.heap.cons(rest, m.term())
        }
        None if rest.is_nil() => {
            p.heap.bump_reductions(REDUCTIONS_AN_ORDERED_PAIR * pairs.len() as i64);
            am::none.into()
        }
        None => return Err(p.badarg()),
    };
    Ok(pairs.iter().rev().fold(end, |rest, (k, v)| p.heap.tuple(&[*k, *v, rest])))
}

/// `{K, V, Next}` if the third argument is `iterator`, else `[{K, V} | Acc]`.
fn map_next<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let iterator = a[2].is_atom(am::iterator);
    let m = a[1].as_map().filter(|_| iterator || a[2].is_list()).ok_or_else(|| p.badarg())?;
    if iterator && a[0].is_list() && kvik_release::current().has_ordered_iterators() {
        return ordered_next(p, m, a[0]);
    }
    if let Some((keys, values)) = m.flat() {
        if a[0].as_usize().is_none_or(|n| n > keys.len()) {
            return Err(p.badarg());
        }
        let pairs = keys.iter().zip(values).rev();
        return Ok(if iterator {
            pairs.fold(am::none.into(), |rest, (k, v)| p.heap.tuple(&[*k, *v, rest]))
        } else {
            pairs.fold(a[2], |rest, (k, v)| p.heap.cons(p.heap.tuple(&[*k, *v]), rest))
        });
    }
    let path = match a[0].view() {
        View::Small(n) if n >= 0 => vec![n as u64],
        View::Big(b) if !b.is_negative() => b.digits().to_vec(),
        _ => return Err(p.badarg()),
    };
    let from_end = !iterator && kvik_release::current().lists_large_maps_in_order();
    let mut walk = Walk::start(m, &path, from_end).ok_or_else(|| p.badarg())?;
    let turn = (p.heap.reductions_left() / 4).max(1) as usize;
    let limit = if path == [0] { turn.min(FLAT_MAP_LIMIT) } else { turn };
    let pairs: Vec<_> = std::iter::from_fn(|| walk.next()).take(limit).collect();
    p.heap.bump_reductions(4 * pairs.len() as i64);
    let next = walk.path().map(|digits| p.heap.big(false, &digits));
    Ok(if iterator {
        let rest = next.map_or(am::none.into(), |path| p.heap.cons(path, a[1]));
        pairs.iter().rev().fold(rest, |rest, (k, v)| p.heap.tuple(&[*k, *v, rest]))
    } else {
        let list =
            pairs.iter().fold(a[2], |rest, (k, v)| p.heap.cons(p.heap.tuple(&[*k, *v]), rest));
        next.map_or(list, |path| p.heap.list_with_tail(&[path, a[1]], list))
    })
}

/// The cells and nodes below a large map's root, or below a node. Only `erts_debug:size/1` uses
/// them as terms.
fn map_hashmap_children<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let node = want(p, a[0])?.root().ok_or_else(|| p.badarg())?;
    Ok(p.heap.list(node.children))
}
fn map_to_tuple_keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    want(p, a[0])?.flat_keys_term().ok_or_else(|| p.badarg())
}
