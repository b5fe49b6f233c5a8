//! Changing elements of an object in place: `update_counter/3,4` and `update_element/3`.

use kvik_ets::{order, Access, Table, TableKind, TableState};
use kvik_heap::arith;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_release::current;
use kvik_sync::pin;
use kvik_term::{am, Term};

use super::{table, write};

pub const BIFS: &[BifEntry] = &[
    bif!("ets", "update_counter", 3, update_counter_3),
    bif!("ets", "update_counter", 4, update_counter_4),
    bif!("ets", "update_element", 3, update_element_3),
    bif!("ets", "update_element", 4, update_element_4, since 27),
];

fn needs_one_object(p: &Proc, t: &Table) -> Result<(), Raised> {
    match t.options.kind {
        TableKind::Set | TableKind::OrderedSet => Ok(()),
        _ => Err(p.badarg_because(am::table_type)),
    }
}

fn update_element_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, spec] = *a else { return Err(p.badarg()) };
    update_element(p, t, key, spec, None)
}

/// For a key without an object, the changes are made to the default, which is inserted.
fn update_element_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, spec, default] = *a else { return Err(p.badarg()) };
    update_element(p, t, key, spec, Some(default))
}
/// A default is a tuple; where its length is judged first, it has an element for the key, even if
/// the table has an object with that key.
fn judge_default(p: &Proc, t: &Table, default: Option<Term<'_>>) -> Result<(), Raised> {
    let Some(default) = default else { return Ok(()) };
    let (len, first) = (default.as_tuple().map(|d| d.len()), current().judges_defaults_first());
    match len {
        Some(len) if !first || len >= t.options.keypos => Ok(()),
        _ if first => Err(p.badarg_because(am::default)),
        _ => Err(p.badarg()),
    }
}

fn update_element<'h>(
    p: &'h Proc,
    t: Term<'h>,
    key: Term<'h>,
    spec: Term<'h>,
    default: Option<Term<'h>>,
) -> BifResult<'h> {
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    judge_default(p, &t, default)?;
    // OTP reports no cause here.
    needs_one_object(p, &t).inspect_err(|_| p.cause.set(None))?;
    if let Some([pos, value]) = spec.as_tuple_n::<2>().filter(|[_, value]| value.is_immediate()) {
        let place = element_beside_key(&t, pos);
        if place.and_then(|i| s.store.change(key, i, |_| Some(value))).is_some() {
            return Ok(Term::bool(true));
        }
    }
    let keypos = t.options.keypos;
    let here = s.store.replace(key, |object| {
        let elements = object.as_tuple().map_or(&[][..], |t| t.elements());
        with_elements(p, keypos, elements.to_vec(), spec)
    });
    if let Some(done) = here {
        return done.map(|()| Term::bool(true));
    }
    let Some(default) = default.and_then(|d| d.as_tuple()) else { return Ok(Term::bool(false)) };
    let mut new = default.elements().to_vec();
    let place = keypos.checked_sub(1).and_then(|i| new.get_mut(i));
    *place.ok_or_else(|| p.badarg())? = key;
    let new = with_elements(p, keypos, new, spec)?;
    s.store.put_owned(new, t.hold());
    Ok(Term::bool(true))
}

/// An object with these elements, of which some have other values.
fn with_elements<'a>(
    p: &Proc,
    keypos: usize,
    mut elements: Vec<Term<'a>>,
    spec: Term<'a>,
) -> Result<OwnedTerm, Raised> {
    let specs = match spec.as_tuple() {
        Some(_) => vec![spec],
        None => spec.list_to_vec().ok_or_else(|| p.badarg())?,
    };
    for spec in specs {
        let [pos, value] = spec.as_tuple_n::<2>().ok_or_else(|| p.badarg())?;
        let pos = pos.as_small().ok_or_else(|| p.badarg())?;
        if pos == keypos as i64 {
            return Err(p.badarg_because(am::keypos));
        }
        let i = usize::try_from(pos).ok().and_then(|pos| pos.checked_sub(1));
        let element = i.and_then(|i| elements.get_mut(i));
        *element.ok_or_else(|| no_position(p))? = value;
    }
    Ok(object_of(&elements))
}

/// The object has no element at that position.
fn no_position(p: &Proc) -> Raised {
    match current().names_bad_positions() {
        true => p.badarg_because(am::position),
        false => p.badarg(),
    }
}

/// The index that a position names, unless it is the key's.
fn element_beside_key(t: &Table, pos: Term<'_>) -> Option<usize> {
    pos.as_usize().filter(|pos| *pos != t.options.keypos)?.checked_sub(1)
}

/// Fast path: updates in place one counter that is a small integer before and after. `None`: all
/// other cases, and errors.
fn small_counter(
    t: &Table,
    s: &mut TableState,
    key: Term<'_>,
    what: Term<'_>,
) -> Option<Term<'static>> {
    let (place, incr) = match what.as_tuple_n::<2>() {
        Some([pos, incr]) => (element_beside_key(t, pos)?, incr),
        None => (t.options.keypos, what),
    };
    let incr = incr.as_small()?;
    s.store.change(key, place, |old| Term::small(old.as_small()? + incr))
}

/// The elements of a key's object.
fn elements<'t>(s: &'t TableState, key: Term<'t>) -> Option<Vec<Term<'t>>> {
    Some(s.store.get_one(key)?.as_tuple()?.elements().to_vec())
}
/// An object with copies of these elements.
fn object_of(elements: &[Term<'_>]) -> OwnedTerm {
    let heap = Heap::detached();
    OwnedTerm::new(heap.tuple(elements))
}

fn update_counter_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, ops] = *a else { return Err(p.badarg()) };
    update_counter(p, t, key, ops, None)
}
fn update_counter_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, ops, default] = *a else { return Err(p.badarg()) };
    update_counter(p, t, key, ops, Some(default))
}

/// One step: the element, the increment, and the bound with the value to wrap to.
struct Op<'h> {
    pos: usize,
    incr: Term<'h>,
    wrap: Option<(Term<'h>, Term<'h>)>,
}

fn update_counter<'h>(
    p: &'h Proc,
    t: Term<'h>,
    key: Term<'h>,
    what: Term<'h>,
    default: Option<Term<'h>>,
) -> BifResult<'h> {
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    judge_default(p, &t, default)?;
    needs_one_object(p, &t)?;
    if let Some(new) = small_counter(&t, &mut s, key, what) {
        return Ok(new);
    }
    let keypos = t.options.keypos;
    let mut object = match (elements(&s, key), default.and_then(|d| d.as_tuple())) {
        (Some(e), _) => e,
        (None, Some(d)) if d.len() >= keypos => {
            let mut e = d.elements().to_vec();
            e[keypos - 1] = key;
            e
        }
        (None, Some(_)) => return Err(p.badarg()),
        (None, None) => return Err(p.badarg_because(am::badkey)),
    };
    let is_list = what.is_list();
    let ops = parse(p, what, keypos, &object)?;
    let mut results = Vec::with_capacity(ops.len());
    for op in ops {
        let old = p.heap.copy(object[op.pos - 1]);
        let mut new = add(p, old, op.incr)?;
        if let Some((bound, to)) = op.wrap {
            let down = order::order(op.incr, Term::int(0)).is_lt();
            let o = order::order(new, bound);
            if if down { o.is_lt() } else { o.is_gt() } {
                new = to;
            }
        }
        object[op.pos - 1] = new;
        results.push(new);
    }
    let new = object_of(&object);
    s.store.put_owned(new, t.hold());
    match results.first() {
        Some(one) if !is_list => Ok(*one),
        _ => Ok(p.heap.list(&results)),
    }
}

/// Parses and checks all steps before the first is taken.
fn parse<'h>(
    p: &'h Proc,
    what: Term<'h>,
    keypos: usize,
    object: &[Term<'_>],
) -> Result<Vec<Op<'h>>, Raised> {
    if what.is_integer() {
        let op = p.heap.tuple(&[p.heap.integer(keypos as i64 + 1), what]);
        return Ok(vec![one(p, op, keypos, object)?]);
    }
    if what.as_tuple().is_some() {
        return Ok(vec![one(p, what, keypos, object)?]);
    }
    let ops: Result<_, _> = what.list().map(|op| one(p, op, keypos, object)).collect();
    match what.is_proper_list() {
        true => ops,
        false => Err(ops.err().unwrap_or_else(|| p.badarg())),
    }
}
fn one<'h>(
    p: &'h Proc,
    op: Term<'h>,
    keypos: usize,
    object: &[Term<'_>],
) -> Result<Op<'h>, Raised> {
    let (pos, incr, wrap) = match op.as_tuple().map(|t| t.elements()) {
        Some(&[pos, incr]) => (pos, incr, None),
        Some(&[pos, incr, bound, to]) if bound.is_integer() && to.is_integer() => {
            (pos, incr, Some((bound, to)))
        }
        _ => return Err(p.badarg()),
    };
    let pos = pos.as_small().filter(|_| incr.is_integer()).ok_or_else(|| p.badarg())?;
    if pos == keypos as i64 {
        return Err(p.badarg_because(am::keypos));
    }
    let pos = usize::try_from(pos).unwrap_or(0);
    match pos.checked_sub(1).and_then(|i| object.get(i)) {
        None => Err(p.badarg_because(am::position)),
        Some(old) if !old.is_integer() => Err(p.badarg()),
        Some(_) => Ok(Op { pos, incr, wrap }),
    }
}
fn add<'h>(p: &'h Proc, a: Term<'h>, b: Term<'h>) -> BifResult<'h> {
    p.heap.arith(arith::ArithOp::Add, a, b).map_err(|_| p.system_limit())
}
