//! Module `atomics`: arrays of 64-bit integers behind magic references.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::Arc;

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "atomics_new", 2, new_2),
    bif!("atomics", "put", 3, put_3),
    bif!("atomics", "get", 2, get_2),
    bif!("atomics", "add", 3, add_3),
    bif!("atomics", "add_get", 3, add_get_3),
    bif!("atomics", "exchange", 3, exchange_3),
    bif!("atomics", "compare_exchange", 4, compare_exchange_4),
    bif!("atomics", "info", 1, info_1),
];

/// Words that OTP allocates in addition to the integers.
const HEAD_BYTES: usize = 40;
/// Maximum array size: 2^32 integers. Bounds what one call can allocate.
const MAX: u64 = 1 << 32;

pub(crate) struct Atomics {
    pub(crate) cells: Box<[AtomicU64]>,
    signed: bool,
}

impl Atomics {
    pub(crate) fn new(n: u64, signed: bool) -> Option<Atomics> {
        if n == 0 || n > MAX {
            return None;
        }
        let mut cells = Vec::new();
        kvik_sys::alloc::may_fail(|| cells.try_reserve_exact(n as usize)).ok()?;
        cells.resize_with(n as usize, AtomicU64::default);
        Some(Atomics { cells: cells.into(), signed })
    }
    fn value(&self, t: Term<'_>) -> Option<u64> {
        if self.signed {
            t.as_i64().map(|i| i as u64)
        } else {
            t.as_u64()
        }
    }
    fn term<'h>(&self, p: &'h Proc, v: u64) -> Term<'h> {
        if self.signed {
            p.heap.integer(v as i64)
        } else {
            p.heap.unsigned(v)
        }
    }
}

/// An increment as 64 bits: signed and unsigned arguments are both accepted, addition wraps.
pub(crate) fn increment(t: Term<'_>) -> Option<u64> {
    t.as_i64().map(|i| i as u64).or(t.as_u64())
}

/// The cell that an array reference and a 1-based index name.
fn cell<'h>(p: &Proc, r: Term<'h>, i: Term<'h>) -> Result<(&'h Atomics, &'h AtomicU64), Raised> {
    let found = || {
        let a: &Atomics = Heap::resource_ref(r)?.downcast_ref()?;
        Some((a, a.cells.get(i.as_usize()?.checked_sub(1)?)?))
    };
    found().ok_or_else(|| p.badarg())
}

/// Parses an array size: a positive integer; a bignum is too large.
pub(crate) fn array_size(p: &Proc, n: Term<'_>) -> Result<u64, Raised> {
    match n.as_u64() {
        Some(0) => Err(p.badarg()),
        Some(n) => Ok(n),
        None if n.is_integer() && kvik_ets::order::order(n, Term::int(0)).is_gt() => {
            Err(p.system_limit())
        }
        None => Err(p.badarg()),
    }
}

fn new_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [n, opts] = *a else { return Err(p.badarg()) };
    let n = array_size(p, n)?;
    let signed = opts.as_small().ok_or_else(|| p.badarg())? & 1 == 1;
    match Atomics::new(n, signed) {
        Some(a) => Ok(p.heap.magic_ref(Arc::new(a))),
        None => Err(p.system_limit()),
    }
}
fn put_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, v] = *a else { return Err(p.badarg()) };
    let (a, c) = cell(p, r, i)?;
    c.store(a.value(v).ok_or_else(|| p.badarg())?, SeqCst);
    Ok(am::ok.into())
}
fn get_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i] = *a else { return Err(p.badarg()) };
    let (a, c) = cell(p, r, i)?;
    Ok(a.term(p, c.load(SeqCst)))
}
fn add_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, v] = *a else { return Err(p.badarg()) };
    let (_, c) = cell(p, r, i)?;
    c.fetch_add(increment(v).ok_or_else(|| p.badarg())?, SeqCst);
    Ok(am::ok.into())
}
fn add_get_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, v] = *a else { return Err(p.badarg()) };
    let (a, c) = cell(p, r, i)?;
    let n = increment(v).ok_or_else(|| p.badarg())?;
    Ok(a.term(p, c.fetch_add(n, SeqCst).wrapping_add(n)))
}
fn exchange_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, v] = *a else { return Err(p.badarg()) };
    let (a, c) = cell(p, r, i)?;
    let v = a.value(v).ok_or_else(|| p.badarg())?;
    Ok(a.term(p, c.swap(v, SeqCst)))
}
fn compare_exchange_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, expected, v] = *a else { return Err(p.badarg()) };
    let (a, c) = cell(p, r, i)?;
    let (Some(expected), Some(v)) = (a.value(expected), a.value(v)) else {
        return Err(p.badarg());
    };
    Ok(match c.compare_exchange(expected, v, SeqCst, SeqCst) {
        Ok(_) => am::ok.into(),
        Err(was) => a.term(p, was),
    })
}
fn info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r] = *a else { return Err(p.badarg()) };
    let found = Heap::resource_ref(r).and_then(|r| r.downcast_ref::<Atomics>());
    let a = found.ok_or_else(|| p.badarg())?;
    let (max, min) = if a.signed {
        (p.heap.integer(i64::MAX), p.heap.integer(i64::MIN))
    } else {
        (p.heap.unsigned(u64::MAX), Term::int(0))
    };
    let memory = p.heap.integer((HEAD_BYTES + 8 * a.cells.len()) as i64);
    let size = p.heap.integer(a.cells.len() as i64);
    let pairs = [(am::max, max), (am::memory, memory), (am::min, min), (am::size, size)];
    Ok(p.heap.map_of_atoms(&pairs))
}
