//! `erlang:phash/2` and `erlang:phash2/1,2`.

use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{phash, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "phash", 2, phash_2),
    bif!("erlang", "phash2", 1, phash2_1),
    bif!("erlang", "phash2", 2, phash2_2),
];

/// A range from 1 to 2^32.
fn range(p: &Proc, t: Term<'_>) -> Result<u64, Raised> {
    t.as_u64().filter(|n| (1..=1 << 32).contains(n)).ok_or_else(|| p.badarg())
}

fn phash_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let range = range(p, a[1])?;
    Ok(p.heap.unsigned(1 + phash::phash(a[0]) as u64 % range))
}
fn phash2_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.unsigned((phash::phash2(a[0]) & ((1 << 27) - 1)) as u64))
}
fn phash2_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let range = range(p, a[1])?;
    Ok(p.heap.unsigned(phash::phash2(a[0]) as u64 % range))
}
