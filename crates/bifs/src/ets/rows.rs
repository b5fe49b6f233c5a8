//! Objects by key: look up, delete, and walks from key to key.

use kvik_ets::{order, Access, CooperativeOperation, Store, Table, TableKind, TableState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sync::pin;
use kvik_term::{am, Term, View};

use super::insert::is_object;
use super::{free, help, read, table, write, Freeing};

pub const BIFS: &[BifEntry] = &[
    bif!("ets", "lookup", 2, lookup_2),
    bif!("ets", "lookup_element", 3, lookup_element_3),
    bif!("ets", "lookup_element", 4, lookup_element_4, since 26),
    bif!("ets", "first_lookup", 1, first_lookup_1, since 27),
    bif!("ets", "last_lookup", 1, last_lookup_1, since 27),
    bif!("ets", "next_lookup", 2, next_lookup_2, since 27),
    bif!("ets", "prev_lookup", 2, prev_lookup_2, since 27),
    bif!("ets", "member", 2, member_2),
    bif!("ets", "take", 2, take_2),
    bif!("ets", "delete", 2, delete_2),
    bif!("ets", "delete_object", 2, delete_object_2),
    bif!("ets", "internal_delete_all", 2, delete_all_2),
    bif!("ets", "first", 1, first_1),
    bif!("ets", "last", 1, last_1),
    bif!("ets", "next", 2, next_2),
    bif!("ets", "prev", 2, prev_2),
    bif!("ets", "slot", 2, slot_2),
    bif!("erts_internal", "ets_raw_first", 1, raw_first_1),
    bif!("erts_internal", "ets_raw_next", 2, raw_next_2),
    bif!("erts_internal", "ets_lookup_binary_info", 2, binary_info_2),
];

/// Copies of objects, as a list.
fn copies<'h>(p: &'h Proc, objects: &[Term<'_>]) -> Term<'h> {
    match objects {
        [] => Term::NIL,
        [one] => p.heap.cons(p.heap.copy(*one), Term::NIL),
        _ => {
            let ts: Vec<_> = objects.iter().map(|t| p.heap.copy(*t)).collect();
            p.heap.list(&ts)
        }
    }
}

/// Copies a term; a small one in a single pass that does not measure it first.
fn copy<'h>(p: &'h Proc, o: Term<'_>) -> Term<'h> {
    const MOST: usize = 256;
    p.heap.copy_small(o, MOST).unwrap_or_else(|| p.heap.copy(o))
}

fn lookup_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    Ok(found(p, &t, &s, key))
}
/// Copies of a key's objects, as a list.
fn found<'h>(p: &'h Proc, t: &Table, s: &TableState, key: Term<'h>) -> Term<'h> {
    match t.options.kind {
        TableKind::Set | TableKind::OrderedSet => match s.store.copy_one(key, &p.heap) {
            Some(o) => p.heap.cons(o, Term::NIL),
            None => Term::NIL,
        },
        _ => s.store.copy_all(key, &p.heap),
    }
}

fn lookup_element_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, pos] = *a else { return Err(p.badarg()) };
    lookup_element(p, t, key, pos, None)
}
fn lookup_element_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key, pos, default] = *a else { return Err(p.badarg()) };
    lookup_element(p, t, key, pos, Some(default))
}
fn lookup_element<'h>(
    p: &'h Proc,
    t: Term<'h>,
    key: Term<'h>,
    pos: Term<'h>,
    default: Option<Term<'h>>,
) -> BifResult<'h> {
    let none = || default.ok_or_else(|| p.badarg_because(am::badkey));
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    let pos = pos.as_usize().filter(|n| *n > 0).ok_or_else(|| p.badarg())?;
    let element = |o: Term<'_>| -> Result<Term<'h>, Raised> {
        let e = o.as_tuple().and_then(|t| t.get(pos - 1));
        e.map(|e| copy(p, e)).ok_or_else(|| p.badarg())
    };
    if matches!(t.options.kind, TableKind::Set | TableKind::OrderedSet) {
        return match s.store.get_one(key) {
            Some(o) => element(o),
            None => none(),
        };
    }
    let objects = s.store.get(key);
    if objects.is_empty() {
        return none();
    }
    let es: Result<Vec<_>, _> = objects.into_iter().map(element).collect();
    Ok(p.heap.list(&es?))
}

fn member_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    Ok(Term::bool(s.store.contains(key)))
}

fn take_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    Ok(p.heap.list(&s.store.take(key, &p.heap, t.hold())))
}

fn delete_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    write(p, &t, Access::Write)?.store.erase(key, t.hold());
    Ok(Term::bool(true))
}

fn delete_object_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, object] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    if !is_object(object, t.options.keypos) {
        return Err(p.badarg());
    }
    s.store.erase_object(object, t.hold());
    Ok(Term::bool(true))
}

/// Deletes all objects, and returns how many there were.
fn delete_all_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, _] = *a else { return Err(p.badarg()) };
    let (remains, n) = match p.resumed::<Freeing>() {
        Some((None, n)) => {
            // The table may be gone.
            if let Ok(t) = kvik_ets::find(t, &pin()) {
                help(p, &t).map_err(|_| p.again::<Freeing>((None, n), None))?;
            }
            (None, n)
        }
        Some(begun) => begun,
        None => {
            let pin = pin();
            let t = table(p, t, &pin)?;
            let mut s = write(p, &t, Access::Write)?;
            let n = s.store.len();
            let remains = s.store.clear(t.hold());
            if remains.is_none() {
                t.begin(&mut s, CooperativeOperation::bury());
                drop(s);
                help(p, &t).map_err(|_| p.again::<Freeing>((None, n), None))?;
            }
            (remains, n)
        }
    };
    free(p, remains, n)?;
    Ok(p.heap.integer(n as i64))
}

fn or_end<'h>(p: &'h Proc, key: Option<Term<'_>>) -> BifResult<'h> {
    Ok(match key {
        Some(k) => p.heap.copy(k),
        None => am::dollar_end_of_table.into(),
    })
}
fn first<'h>(p: &'h Proc, a: &[Term<'h>], dead: bool) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => or_end(p, h.first(dead)),
        Store::Tree(t) => or_end(p, t.first()),
    }
}
fn first_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    first(p, a, false)
}
/// Also sees objects that the table keeps only because it is fixed.
fn raw_first_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    first(p, a, true)
}
fn last_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => or_end(p, h.first(false)),
        Store::Tree(t) => or_end(p, t.last()),
    }
}
fn step<'h>(p: &'h Proc, a: &[Term<'h>], back: bool, dead: bool) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => match h.next(key, dead) {
            Some(k) => or_end(p, k),
            None => Err(p.badarg()),
        },
        Store::Tree(_) if key.is_atom(am::dollar_end_of_table) => Err(p.badarg()),
        Store::Tree(t) => or_end(p, if back { t.prev(key) } else { t.next(key) }),
    }
}
fn next_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    step(p, a, false, false)
}
fn raw_next_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    step(p, a, false, true)
}
fn prev_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    step(p, a, true, false)
}

/// `{Key, Objects}`, or the end of the table.
fn with_objects<'h>(p: &'h Proc, s: &TableState, key: Option<Term<'_>>) -> BifResult<'h> {
    let Some(key) = key else { return Ok(am::dollar_end_of_table.into()) };
    let objects = s.store.copy_all(key, &p.heap);
    Ok(p.heap.tuple(&[p.heap.copy(key), objects]))
}
fn first_lookup_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => with_objects(p, &s, h.first(false)),
        Store::Tree(t) => with_objects(p, &s, t.first()),
    }
}
fn last_lookup_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => with_objects(p, &s, h.first(false)),
        Store::Tree(t) => with_objects(p, &s, t.last()),
    }
}
fn step_lookup<'h>(p: &'h Proc, a: &[Term<'h>], back: bool) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    match &s.store {
        Store::Hash(h) => match h.next(key, false) {
            Some(k) => with_objects(p, &s, k),
            None => Err(p.badarg()),
        },
        Store::Tree(_) if key.is_atom(am::dollar_end_of_table) => Err(p.badarg()),
        Store::Tree(t) => with_objects(p, &s, if back { t.prev(key) } else { t.next(key) }),
    }
}
fn next_lookup_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    step_lookup(p, a, false)
}
fn prev_lookup_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    step_lookup(p, a, true)
}

fn slot_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, slot] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    let i = slot.as_usize().ok_or_else(|| p.badarg())?;
    let (objects, end) = match &s.store {
        Store::Hash(h) => {
            let rows = h.bucket(i).map(|rows| rows.map(|r| r.object()).collect::<Vec<_>>());
            (rows.map(|rows| rows.into_iter().rev().collect()), h.active())
        }
        Store::Tree(t) => (t.nth(i).map(|o| vec![o]), t.len()),
    };
    match objects {
        Some(o) => Ok(copies(p, &o)),
        None if i == end => Ok(am::dollar_end_of_table.into()),
        None => Err(p.badarg()),
    }
}

/// The off-heap binaries in a key's objects, deleted ones too: address, size and reference count.
fn binary_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, key] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    // The newest is the last, and comes first.
    let mut todo: Vec<Term<'_>> = match &s.store {
        Store::Hash(h) => h.get_stored(key).map(|r| r.object()).collect(),
        Store::Tree(t) => t.get(key).into_iter().collect(),
    };
    todo.reverse();
    if todo.is_empty() {
        // A tree removes an object at once, even while the table is fixed.
        if matches!(s.store, Store::Tree(_)) {
            return Ok(Term::NIL);
        }
        return Err(p.badarg());
    }
    let mut found: Vec<Term<'h>> = Vec::new();
    while let Some(mut t) = todo.pop() {
        while let Some(c) = t.as_cons() {
            todo.push(c.head());
            t = c.tail();
        }
        match t.view() {
            View::Tuple(u) => todo.extend_from_slice(u.elements()),
            View::Map(m) => todo.extend(order::map_pairs(m).into_iter().flat_map(|(k, v)| [k, v])),
            View::Record(r) => todo.extend_from_slice(r.words()),
            View::Fun(f) => todo.extend_from_slice(f.env()),
            View::Bits(_) => {
                if let Some((b, _, _)) = p.heap.off_heap_of(t) {
                    let int = |n: usize| p.heap.unsigned(n as u64);
                    // Without the reference that this function holds.
                    let refs = b.refs().saturating_sub(1);
                    found.push(p.heap.tuple(&[
                        int(b.data() as usize),
                        int(b.bytes().len()),
                        int(refs),
                    ]));
                }
            }
            _ => {}
        }
    }
    Ok(p.heap.list(&found))
}
