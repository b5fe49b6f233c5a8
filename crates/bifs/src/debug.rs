//! Module `erts_debug`: sizes of terms and what else needs no debug build.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use kvik_heap::copy::size_where;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_debug", "flat_size", 1, flat_size_1),
    bif!("erts_debug", "size_shared", 1, size_shared_1),
    bif!("erts_debug", "same", 2, same_2),
    bif!("erts_debug", "copy_shared", 2, copy_shared_2),
    bif!("erts_debug", "get_internal_state", 1, get_internal_state_1),
    bif!("erts_debug", "set_internal_state", 2, set_internal_state_2),
    bif!("erts_debug", "disassemble", 1, disassemble_1),
    bif!("erts_debug", "interpreter_size", 0, interpreter_size_0),
];

fn flat_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    Ok(p.heap.integer(size_where(t, |_| false) as i64))
}
/// Each object counts once.
fn size_shared_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let seen = RefCell::new(HashSet::new());
    let n = size_where(t, |at| !seen.borrow_mut().insert(at));
    Ok(p.heap.integer(n as i64))
}
fn same_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [x, y] = *a else { return Err(p.badarg()) };
    Ok(Term::bool(x.same(y)))
}
fn copy_shared_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, _] = *a else { return Err(p.badarg()) };
    Ok(p.heap.copy(t))
}

/// Whether internal state may be asked for at all.
static AVAILABLE: AtomicBool = AtomicBool::new(false);

fn get_internal_state_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what] = *a else { return Err(p.badarg()) };
    let name = what.as_atom().map(|a| a.name());
    let on = AVAILABLE.load(Ordering::Relaxed);
    match name {
        Some("available_internal_state") => Ok(Term::bool(on)),
        Some("reds_left") if on => Ok(p.heap.integer(p.heap.reductions_left())),
        Some("process_count") if on => {
            Ok(p.heap.integer(kvik_proc::process::table().count() as i64))
        }
        _ if on => Err(p.badarg()),
        _ => Err(p.error(am::undef)),
    }
}
fn set_internal_state_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, value] = *a else { return Err(p.badarg()) };
    if what.as_atom().is_some_and(|a| a.name() == "available_internal_state") {
        let on = value.as_bool().ok_or_else(|| p.badarg())?;
        return Ok(Term::bool(AVAILABLE.swap(on, Ordering::Relaxed)));
    }
    if AVAILABLE.load(Ordering::Relaxed) {
        Err(p.badarg())
    } else {
        Err(p.error(am::undef))
    }
}
/// There are no instructions left to show: all code is native.
fn disassemble_1<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(false))
}
fn interpreter_size_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::int(0))
}
