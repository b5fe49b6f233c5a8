//! Module `counters` with `write_concurrency`: each scheduler thread adds to its own cells; a
//! reader sums them up.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};

use crate::atomics::{array_size, increment, Atomics};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "counters_new", 1, new_1),
    bif!("erts_internal", "counters_get", 2, get_2),
    bif!("erts_internal", "counters_add", 3, add_3),
    bif!("erts_internal", "counters_put", 3, put_3),
    bif!("erts_internal", "counters_info", 1, info_1),
];

/// Integers per cache line.
const LINE: usize = 8;
const HEAD_BYTES: usize = 32;

struct Counters {
    size: usize,
    /// One row of `width` cells per scheduler.
    cells: Atomics,
    width: usize,
    rows: usize,
}

/// This thread's row.
fn row(rows: usize) -> usize {
    kvik_state::vm_state! {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
    }
    thread_local!(static MINE: Cell<usize> = Cell::new(NEXT.fetch_add(1, Relaxed)));
    MINE.with(Cell::get) % rows.max(1)
}

fn counters<'h>(p: &Proc, r: Term<'h>) -> Result<&'h Counters, Raised> {
    let found = Heap::resource_ref(r).and_then(|r| r.downcast_ref());
    found.ok_or_else(|| p.badarg())
}

impl Counters {
    fn cell(&self, row: usize, i: usize) -> Option<&AtomicU64> {
        self.cells.cells.get(row * self.width + i)
    }
    fn index(&self, p: &Proc, i: Term<'_>) -> Result<usize, Raised> {
        let i = i.as_usize().and_then(|i| i.checked_sub(1));
        i.filter(|i| *i < self.size).ok_or_else(|| p.badarg())
    }
}

fn new_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [n] = *a else { return Err(p.badarg()) };
    let size = usize::try_from(array_size(p, n)?).unwrap_or(usize::MAX);
    let rows = crate::system::schedulers().max(1) + 1;
    let width = size.checked_next_multiple_of(LINE).ok_or_else(|| p.system_limit())?;
    let cells = width.checked_mul(rows).and_then(|n| Atomics::new(n as u64, true));
    match cells {
        Some(cells) => Ok(p.heap.magic_ref(Arc::new(Counters { size, cells, width, rows }))),
        None => Err(p.system_limit()),
    }
}
fn get_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i] = *a else { return Err(p.badarg()) };
    let c = counters(p, r)?;
    let i = c.index(p, i)?;
    let sum = (0..c.rows)
        .filter_map(|row| c.cell(row, i))
        .fold(0u64, |n, c| n.wrapping_add(c.load(Relaxed)));
    Ok(p.heap.integer(sum as i64))
}
fn add_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, n] = *a else { return Err(p.badarg()) };
    let c = counters(p, r)?;
    let i = c.index(p, i)?;
    let n = increment(n).ok_or_else(|| p.badarg())?;
    if let Some(cell) = c.cell(row(c.rows), i) {
        cell.fetch_add(n, Relaxed);
    }
    Ok(am::ok.into())
}
fn put_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r, i, v] = *a else { return Err(p.badarg()) };
    let c = counters(p, r)?;
    let i = c.index(p, i)?;
    let v = v.as_i64().ok_or_else(|| p.badarg())? as u64;
    for row in 0..c.rows {
        if let Some(cell) = c.cell(row, i) {
            cell.store(if row == 0 { v } else { 0 }, Relaxed);
        }
    }
    Ok(am::ok.into())
}
fn info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [r] = *a else { return Err(p.badarg()) };
    let c = counters(p, r)?;
    let memory = p.heap.integer((HEAD_BYTES + 8 * c.cells.cells.len()) as i64);
    let size = p.heap.integer(c.size as i64);
    Ok(p.heap.map_of_atoms(&[(am::memory, memory), (am::size, size)]))
}
