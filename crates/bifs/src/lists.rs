//! Lists: `++`, `--`, and the natives of `lists`.

use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, cmp, Term};

use crate::subtract::subtract;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "++", 2, append),
    bif!("erlang", "append", 2, append),
    bif!("erlang", "--", 2, subtract),
    bif!("erlang", "subtract", 2, subtract),
    bif!("lists", "reverse", 2, reverse),
    bif!("lists", "member", 2, member),
    bif!("lists", "keyfind", 3, keyfind),
    bif!("lists", "keymember", 3, keymember),
    bif!("lists", "keysearch", 3, keysearch),
];

/// Elements per reduction, by kind of work, as in OTP; a `++` of more than one time slice handles
/// each element twice.
const APPENDED: usize = 60;
const COPIED: usize = 80;
const CONSED: usize = 60;
const COMPARED: usize = 16;
/// Elements that a search by key looks at in a turn, which costs nothing if it ends before that.
const SEARCHED: usize = 40_000;

/// State of `++`: elements still to be read, and elements read that are not yet in front of `tail`.
struct Append<'h> {
    rest: Term<'h>,
    items: Vec<Term<'h>>,
    tail: Term<'h>,
}
impl SuspendedState for Append<'static> {
    type In<'h> = Append<'h>;
}

fn append<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut s = match p.resumed::<Append<'static>>() {
        Some(started) => started,
        None => match append_at_once(p, a[0], a[1]) {
            Some(t) => return Ok(t),
            None => Append { rest: a[0], items: Vec::new(), tail: a[1] },
        },
    };
    let mut left = p.steps(COPIED);
    while let (Some(c), 1..) = (s.rest.as_cons(), left) {
        s.items.push(c.head());
        s.rest = c.tail();
        left -= 1;
    }
    if left > 0 && !s.rest.is_nil() {
        return Err(p.badarg());
    }
    let keep = s.items.len().saturating_sub(left);
    left -= s.items.len() - keep;
    p.steps_left(left, COPIED);
    s.tail = p.heap.list_with_tail(&s.items[keep..], s.tail);
    s.items.truncate(keep);
    if left == 0 && !(s.rest.is_nil() && s.items.is_empty()) {
        return Err(p.again::<Append<'static>>(s, None));
    }
    Ok(s.tail)
}

/// Appends at once if time slice and heap allow it.
fn append_at_once<'h>(p: &'h Proc, list: Term<'h>, tail: Term<'h>) -> Option<Term<'h>> {
    let steps = p.steps(APPENDED);
    let (made, n) = p.heap.list_again(list, steps, tail)?;
    p.steps_left(steps - n, APPENDED);
    Some(made)
}

/// State of a list traversal: the rest of the list, and the result so far.
struct Walk<'h> {
    rest: Term<'h>,
    made: Term<'h>,
}
impl SuspendedState for Walk<'static> {
    type In<'h> = Walk<'h>;
}

/// Continues a traversal until `done` returns true or `left` steps are taken. False at the end of
/// the list, an exception where it is improper.
fn walk<'h>(
    p: &'h Proc,
    mut s: Walk<'h>,
    left: &mut usize,
    mut done: impl FnMut(Term<'h>, &mut Term<'h>) -> bool,
) -> Result<(bool, Term<'h>), Raised> {
    while let Some(c) = s.rest.as_cons() {
        if *left == 0 {
            p.use_up_turn();
            return Err(p.again::<Walk<'static>>(s, None));
        }
        *left -= 1;
        if done(c.head(), &mut s.made) {
            return Ok((true, s.made));
        }
        s.rest = c.tail();
    }
    if s.rest.is_nil() {
        Ok((false, s.made))
    } else {
        Err(p.badarg())
    }
}
fn start<'h>(p: &'h Proc, rest: Term<'h>, made: Term<'h>) -> Walk<'h> {
    p.resumed::<Walk<'static>>().unwrap_or(Walk { rest, made })
}

fn reverse<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut left = p.steps(CONSED);
    let made = walk(p, start(p, a[0], a[1]), &mut left, |t, made| {
        *made = p.heap.cons(t, *made);
        false
    })?;
    p.steps_left(left, CONSED);
    Ok(made.1)
}

fn member<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (what, s) = (a[0], start(p, a[1], Term::NIL));
    let mut left = p.steps(COMPARED);
    let found = match what.is_immediate() {
        true => walk(p, s, &mut left, |t, _| t.same(what)),
        false => walk(p, s, &mut left, |t, _| cmp::eq_exact(t, what)),
    }?;
    // A part of a reduction counts as one here.
    p.heap.set_reductions((left / COMPARED) as i64);
    Ok(Term::bool(found.0))
}

/// The first tuple whose element is equal (`==`) to the key.
fn find_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> Result<Option<Term<'h>>, Raised> {
    let Some(at) = a[1].as_usize().and_then(|n| n.checked_sub(1)) else { return Err(p.badarg()) };
    let key = a[0];
    let element = |t: Term<'h>| t.as_tuple().and_then(|t| t.get(at));
    let s = start(p, a[2], Term::NIL);
    let mut left = SEARCHED;
    // A number may be equal to a number of another type.
    let (found, t) = match key.as_atom().is_some() {
        true => walk(p, s, &mut left, |t, found| {
            *found = t;
            element(t).is_some_and(|k| k.same(key))
        }),
        false => walk(p, s, &mut left, |t, found| {
            *found = t;
            element(t).is_some_and(|k| cmp::eq(k, key))
        }),
    }?;
    Ok(found.then_some(t))
}
fn keyfind<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(find_key(p, a)?.unwrap_or(am::false_.into()))
}
fn keymember<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(find_key(p, a)?.is_some()))
}
fn keysearch<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match find_key(p, a)? {
        Some(t) => p.heap.tuple(&[am::value.into(), t]),
        None => am::false_.into(),
    })
}
