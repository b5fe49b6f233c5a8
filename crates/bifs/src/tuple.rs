//! Tuples.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::Term;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "setelement", 3, setelement),
    bif!("erlang", "tuple_to_list", 1, tuple_to_list),
    bif!("erlang", "list_to_tuple", 1, list_to_tuple),
    bif!("erlang", "make_tuple", 2, make_tuple),
    bif!("erlang", "make_tuple", 3, make_tuple_with),
    bif!("erlang", "append_element", 2, append_element),
    bif!("erlang", "insert_element", 3, insert_element),
    bif!("erlang", "delete_element", 2, delete_element),
];

/// Maximum tuple size (OTP's limit).
const MAX: usize = (1 << 24) - 1;

/// Converts a 1-based index, at most `bound`, to a 0-based one.
fn index(t: Term<'_>, bound: usize) -> Option<usize> {
    t.as_usize().and_then(|n| n.checked_sub(1)).filter(|i| *i < bound)
}

fn setelement<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(t) = a[1].as_tuple() else { return Err(p.badarg()) };
    let Some(i) = index(a[0], t.len()) else { return Err(p.badarg()) };
    let (before, after) = t.elements().split_at(i);
    Ok(p.heap.tuple_of(&[before, &[a[2]], &after[1..]]))
}
fn tuple_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_tuple().map(|t| p.heap.list(t.elements())).ok_or_else(|| p.badarg())
}
fn list_to_tuple<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.heap.tuple_of_list(a[0], MAX).ok_or_else(|| p.badarg())
}
fn make_tuple<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_usize().filter(|n| *n <= MAX);
    n.map(|n| p.heap.tuple_filled(n, a[1])).ok_or_else(|| p.badarg())
}
/// `make_tuple(Size, Default, [{Position, Value}])`: the last value for a position wins.
fn make_tuple_with<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(n), Some(list)) = (a[0].as_usize().filter(|n| *n <= MAX), a[2].list_to_vec()) else {
        return Err(p.badarg());
    };
    let mut elements = vec![a[1]; n];
    for item in list {
        let Some([at, value]) = item.as_tuple_n::<2>() else { return Err(p.badarg()) };
        let Some(i) = index(at, n) else { return Err(p.badarg()) };
        elements[i] = value;
    }
    Ok(p.heap.tuple(&elements))
}
fn append_element<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(t) = a[0].as_tuple().filter(|t| t.len() < MAX) else { return Err(p.badarg()) };
    Ok(p.heap.tuple_of(&[t.elements(), &[a[1]]]))
}
fn insert_element<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(t) = a[1].as_tuple().filter(|t| t.len() < MAX) else { return Err(p.badarg()) };
    let Some(i) = index(a[0], t.len() + 1) else { return Err(p.badarg()) };
    let (before, after) = t.elements().split_at(i);
    Ok(p.heap.tuple_of(&[before, &[a[2]], after]))
}
fn delete_element<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(t) = a[1].as_tuple() else { return Err(p.badarg()) };
    let Some(i) = index(a[0], t.len()) else { return Err(p.badarg()) };
    let (before, after) = t.elements().split_at(i);
    Ok(p.heap.tuple_of(&[before, &after[1..]]))
}
