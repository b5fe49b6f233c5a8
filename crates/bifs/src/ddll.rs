//! Module `erl_ddll`: linked-in drivers. None can be loaded; that is said as OTP says that a file is
//! no library.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erl_ddll", "try_load", 3, try_load_3),
    bif!("erl_ddll", "format_error_int", 1, format_error_int_1),
];

fn open_error() -> Term<'static> {
    Atom::intern("open_error").map_or(am::error.into(), Term::atom)
}

fn try_load_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let named = |t: Term<'h>| t.as_atom().is_some() || t.is_list();
    if crate::filename::native(a[0]).is_none() || !named(a[1]) || !a[2].is_proper_list() {
        return Err(p.badarg());
    }
    let why = p.heap.tuple(&[open_error(), Term::int(-1)]);
    Ok(p.heap.tuple(&[am::error.into(), why]))
}

fn format_error_int_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_tuple_n() {
        Some([tag, code]) if tag.same(open_error()) && code.is_small() => {
            Ok(p.heap.string("linked-in drivers cannot be loaded"))
        }
        _ => Err(p.badarg()),
    }
}
