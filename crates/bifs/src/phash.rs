//! `erlang:phash/2` and `erlang:phash2/1,2`.

use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::phash::{self, Phash2};
use kvik_term::Term;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "phash", 2, phash_2),
    bif!("erlang", "phash2", 1, phash2_1),
    bif!("erlang", "phash2", 2, phash2_2),
];

/// Parses a range: 1 to 2^32.
fn range(p: &Proc, t: Term<'_>) -> Result<u64, Raised> {
    t.as_u64().filter(|n| (1..=1 << 32).contains(n)).ok_or_else(|| p.badarg())
}

fn phash_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let range = range(p, a[1])?;
    Ok(p.heap.unsigned(1 + phash::phash(a[0]) as u64 % range))
}

struct Hashing;
impl SuspendedState for Hashing {
    type In<'h> = Phash2<'h>;
}
/// As in OTP.
const STEPS_PER_REDUCTION: usize = 64;

fn phash2<'h>(p: &'h Proc, t: Term<'h>) -> Result<u64, Raised> {
    if let Some(hash) = phash::phash2_of_small(t) {
        return Ok(hash.into());
    }
    let mut h = p.resumed::<Hashing>().unwrap_or_else(|| Phash2::new(t));
    let mut left = p.steps(STEPS_PER_REDUCTION);
    let hash = h.run(&mut left);
    p.steps_left(left, STEPS_PER_REDUCTION);
    match hash {
        Some(hash) => Ok(hash as u64),
        None => Err(p.again::<Hashing>(h, None)),
    }
}
fn phash2_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.unsigned(phash2(p, a[0])? & ((1 << 27) - 1)))
}
fn phash2_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let range = range(p, a[1])?;
    Ok(p.heap.unsigned(phash2(p, a[0])? % range))
}
