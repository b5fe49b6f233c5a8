//! Lists: `++`, `--`, and what `lists` does natively.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, cmp, Term};

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

fn append<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].is_nil() {
        return Ok(a[1]);
    }
    let Some(items) = a[0].list_to_vec() else { return Err(p.badarg()) };
    p.heap.bump_reductions(items.len() as i64 / 16);
    Ok(p.heap.list_with_tail(&items, a[1]))
}

/// Each element of the second list takes its first equal one out of the first list.
fn subtract<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(from), Some(what)) = (a[0].list_to_vec(), a[1].list_to_vec()) else {
        return Err(p.badarg());
    };
    p.heap.bump_reductions((from.len() + what.len()) as i64 / 8);
    if what.is_empty() {
        return Ok(a[0]);
    }
    let kept = if what.iter().all(|t| t.is_immediate()) {
        subtract_words(&from, &what)
    } else {
        subtract_sorted(&from, &what)
    };
    Ok(p.heap.list(&kept))
}

fn subtract_words<'h>(from: &[Term<'h>], what: &[Term<'h>]) -> Vec<Term<'h>> {
    let mut counts = std::collections::HashMap::new();
    for t in what {
        *counts.entry(t.word()).or_insert(0usize) += 1;
    }
    let stays = |t: &&Term<'h>| match counts.get_mut(&t.word()) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    };
    from.iter().filter(stays).copied().collect()
}

fn subtract_sorted<'h>(from: &[Term<'h>], what: &[Term<'h>]) -> Vec<Term<'h>> {
    let mut sorted = what.to_vec();
    sorted.sort_by(|a, b| cmp::compare_exact(*a, *b));
    let mut used = vec![false; sorted.len()];
    let mut kept = Vec::new();
    for t in from {
        let at = sorted.partition_point(|s| cmp::compare_exact(*s, *t).is_lt());
        let free =
            (at..sorted.len()).take_while(|i| cmp::eq_exact(sorted[*i], *t)).find(|i| !used[*i]);
        match free {
            Some(i) => used[i] = true,
            None => kept.push(*t),
        }
    }
    kept
}

fn reverse<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut it = a[0].list();
    let mut n = 0;
    let reversed = it.by_ref().fold(a[1], |tail, head| {
        n += 1;
        p.heap.cons(head, tail)
    });
    p.heap.bump_reductions(n / 32);
    if it.rest.is_nil() {
        Ok(reversed)
    } else {
        Err(p.badarg())
    }
}

fn member<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut it = a[1].list();
    let mut n = 0;
    let found = it.by_ref().any(|t| {
        n += 1;
        cmp::eq_exact(t, a[0])
    });
    p.heap.bump_reductions(n / 16);
    if found || it.rest.is_nil() {
        Ok(Term::bool(found))
    } else {
        Err(p.badarg())
    }
}

/// The first tuple whose element is equal (`==`) to the key.
fn find_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> Result<Option<Term<'h>>, kvik_proc::Raised> {
    let Some(at) = a[1].as_usize().and_then(|n| n.checked_sub(1)) else { return Err(p.badarg()) };
    let mut it = a[2].list();
    let mut n = 0;
    let found = it.by_ref().find(|t| {
        n += 1;
        t.as_tuple().and_then(|t| t.get(at)).is_some_and(|k| cmp::eq(k, a[0]))
    });
    p.heap.bump_reductions(n / 8);
    if found.is_none() && !it.rest.is_nil() {
        return Err(p.badarg());
    }
    Ok(found)
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
