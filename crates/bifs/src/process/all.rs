//! `processes/0` and `processes_next/1`.

use kvik_proc::process::table;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

use crate::table_list::{self, LISTED, MIN_REDUCTIONS, SLOTS};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "processes", 0, processes_0),
    bif!("erts_internal", "processes_next", 1, processes_next_1, since 28),
];

/// All processes at one point in time: the table is read in one go.
fn processes_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let read = || {
        let mut all = table().numbers();
        all.sort_unstable();
        all
    };
    table_list::list(p, table().limit(), read, Term::local_pid)
}

/// The pids in a part of the table and the start of the next part, or `none` at the table's end. A
/// process that exists all the time is in one of the parts.
fn processes_next_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let from = a[0].as_usize().ok_or_else(|| p.badarg())?;
    let limit = table().limit();
    if from > limit {
        return Err(p.badarg());
    }
    if from == limit {
        return Ok(am::none.into());
    }
    let most = p.steps(1);
    let end = limit.min(from + most * SLOTS);
    let (mut numbers, next) = table().numbers_in(from, end - from, most);
    numbers.sort_unstable();
    let next = if next == 0 { end } else { next };
    p.heap.bump_reductions(((next - from) / SLOTS + 1) as i64);
    let pids: Vec<Term<'h>> = numbers.into_iter().map(Term::local_pid).collect();
    Ok(p.heap.tuple(&[p.heap.integer(next as i64), p.heap.list(&pids)]))
}

/// The parameters of `processes/0`, in the record that OTP's test suites expect.
pub(crate) fn info<'h>(p: &'h Proc) -> Term<'h> {
    let int = |n: usize| p.heap.integer(n as i64);
    p.heap.tuple(&[
        am::ptab_list_bif_info.into(),
        int(MIN_REDUCTIONS),
        // One chunk, and its number of slots; none of it waits for processes that end.
        int(1),
        int(table().limit()),
        int(SLOTS),
        int(0),
        int(LISTED),
        int(0),
        int(LISTED),
        int(0),
    ])
}
