//! Lists: `++`, `--`, and the natives of `lists`.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, cmp, hash, Term};

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

/// Elements per reduction, by kind of work. `++` and `reverse` cost what they do in OTP; a `++` of
/// more than one time slice handles each element twice.
const APPENDED: usize = 60;
const COPIED: usize = 80;
const COUNTED: usize = 8;
const CONSED: usize = 60;
const COMPARED: usize = 16;

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

/// A term to remove, compared exactly (`=:=`).
struct Exact<'h>(Term<'h>);
impl PartialEq for Exact<'_> {
    fn eq(&self, other: &Self) -> bool {
        cmp::eq_exact(self.0, other.0)
    }
}
impl Eq for Exact<'_> {}
impl Hash for Exact<'_> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        match self.0.is_immediate() {
            true => h.write_u64(self.0.word()),
            false => h.write_u32(hash::internal(self.0, 0)),
        }
    }
}

/// State of `--`: check the first list, count the second, then read the first again.
struct Subtract<'h> {
    /// How often each term is still to be removed.
    counts: HashMap<Exact<'h>, usize>,
    /// Sum of the counts. At 0 the rest of the first list is shared.
    to_leave_out: usize,
    what: Term<'h>,
    /// Whether the first list is known to be proper.
    proper: bool,
    from: Term<'h>,
    kept: Vec<Term<'h>>,
}
impl SuspendedState for Subtract<'static> {
    type In<'h> = Subtract<'h>;
}

/// Each element of the second list removes its first exact match from the first list.
fn subtract<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut s = p.resumed::<Subtract<'static>>().unwrap_or_else(|| Subtract {
        counts: HashMap::new(),
        to_leave_out: 0,
        what: a[1],
        proper: false,
        from: a[0],
        kept: Vec::new(),
    });
    let mut left = p.steps(COUNTED);
    while let (Some(c), 1.., false) = (s.from.as_cons(), left, s.proper) {
        s.from = c.tail();
        left -= 1;
    }
    if left > 0 && !s.proper {
        if !s.from.is_nil() {
            return Err(p.badarg());
        }
        (s.proper, s.from) = (true, a[0]);
    }
    while let (Some(c), 1..) = (s.what.as_cons(), left) {
        *s.counts.entry(Exact(c.head())).or_default() += 1;
        s.to_leave_out += 1;
        s.what = c.tail();
        left -= 1;
    }
    if left > 0 && !s.what.is_nil() {
        return Err(p.badarg());
    }
    while let (Some(c), 1.., 1..) = (s.from.as_cons(), left, s.to_leave_out) {
        match s.counts.get_mut(&Exact(c.head())) {
            Some(n) if *n > 0 => {
                *n -= 1;
                s.to_leave_out -= 1;
            }
            _ => s.kept.push(c.head()),
        }
        s.from = c.tail();
        left -= 1;
    }
    p.steps_left(left, COUNTED);
    let done = s.proper && s.what.is_nil() && (s.to_leave_out == 0 || s.from.is_nil());
    if left == 0 && !done {
        return Err(p.again::<Subtract<'static>>(s, None));
    }
    Ok(p.heap.list_with_tail(&s.kept, s.from))
}

/// State of a list traversal: the rest of the list, and the result so far.
struct Walk<'h> {
    rest: Term<'h>,
    made: Term<'h>,
}
impl SuspendedState for Walk<'static> {
    type In<'h> = Walk<'h>;
}

/// Traverses a list until `done` returns true. Returns false at the end of the list.
fn walk<'h>(
    p: &'h Proc,
    list: Term<'h>,
    made: Term<'h>,
    a_reduction: usize,
    mut done: impl FnMut(Term<'h>, &mut Term<'h>) -> bool,
) -> Result<(bool, Term<'h>), Raised> {
    let mut s = p.resumed::<Walk<'static>>().unwrap_or(Walk { rest: list, made });
    let mut left = p.steps(a_reduction);
    while let Some(c) = s.rest.as_cons() {
        if left == 0 {
            p.steps_left(0, a_reduction);
            return Err(p.again::<Walk<'static>>(s, None));
        }
        left -= 1;
        if done(c.head(), &mut s.made) {
            p.steps_left(left, a_reduction);
            return Ok((true, s.made));
        }
        s.rest = c.tail();
    }
    p.steps_left(left, a_reduction);
    if s.rest.is_nil() {
        Ok((false, s.made))
    } else {
        Err(p.badarg())
    }
}

fn reverse<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let made = walk(p, a[0], a[1], CONSED, |t, made| {
        *made = p.heap.cons(t, *made);
        false
    })?;
    Ok(made.1)
}

fn member<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let what = a[0];
    let found = match what.is_immediate() {
        true => walk(p, a[1], Term::NIL, COMPARED, |t, _| t.same(what)),
        false => walk(p, a[1], Term::NIL, COMPARED, |t, _| cmp::eq_exact(t, what)),
    };
    Ok(Term::bool(found?.0))
}

/// The first tuple whose element is equal (`==`) to the key.
fn find_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> Result<Option<Term<'h>>, Raised> {
    let Some(at) = a[1].as_usize().and_then(|n| n.checked_sub(1)) else { return Err(p.badarg()) };
    let key = a[0];
    let element = |t: Term<'h>| t.as_tuple().and_then(|t| t.get(at));
    // A number may be equal to a number of another type.
    let (found, t) = match key.as_atom().is_some() {
        true => walk(p, a[2], Term::NIL, COUNTED, |t, found| {
            *found = t;
            element(t).is_some_and(|k| k.same(key))
        }),
        false => walk(p, a[2], Term::NIL, COUNTED, |t, found| {
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
