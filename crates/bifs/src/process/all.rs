//! `processes/0`.

use kvik_heap::SuspendedState;
use kvik_proc::process::table;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "processes", 0, processes_0),
    bif!("erts_internal", "processes_next", 1, processes_next_1, since 28),
];

/// Slots of the process table scanned per reduction, and pids listed per reduction.
const SLOTS_PER_REDUCTION: usize = 1000;
const PIDS: usize = 50;
/// With fewer reductions left the BIF starts in the process's next time slice.
const MIN_REDUCTIONS: i64 = 10;

/// The process numbers, from which a further time slice makes the list; `None`: not read yet.
struct Listing;
impl SuspendedState for Listing {
    type In<'h> = Option<Vec<u32>>;
}

/// All processes at one point in time: the table is read in one go.
fn processes_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let shown = || Some(kvik_code::export(am::erlang, am::ptab_list_continue, 2));
    let begun = p.resumed::<Listing>();
    if begun.is_none() && p.heap.reductions_left() < MIN_REDUCTIONS {
        return Err(p.again::<Listing>(None, shown()));
    }
    let numbers = match begun.flatten() {
        Some(all) => all,
        None => {
            let mut all = table().numbers();
            all.sort_unstable();
            p.heap
                .bump_reductions((table().limit() / SLOTS_PER_REDUCTION + all.len() / PIDS) as i64);
            if p.out_of_reductions() {
                return Err(p.again::<Listing>(Some(all), shown()));
            }
            all
        }
    };
    let pids: Vec<Term<'h>> = numbers.into_iter().map(Term::local_pid).collect();
    Ok(p.heap.list(&pids))
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
    let (mut numbers, next) = table().numbers_in(from, SLOTS_PER_REDUCTION);
    numbers.sort_unstable();
    p.heap.bump_reductions((1 + numbers.len() / PIDS) as i64);
    let next = if next == 0 { limit } else { next };
    let pids: Vec<Term<'h>> = numbers.into_iter().map(Term::local_pid).collect();
    Ok(p.heap.tuple(&[p.heap.integer(next as i64), p.heap.list(&pids)]))
}

/// The parameters of `processes/0`, in the record that OTP's test suites expect.
pub(crate) fn info<'h>(p: &'h Proc) -> Term<'h> {
    let int = |n: usize| p.heap.integer(n as i64);
    p.heap.tuple(&[
        am::ptab_list_bif_info.into(),
        int(MIN_REDUCTIONS as usize),
        // One chunk, and its number of slots; none of it waits for processes that end.
        int(1),
        int(table().limit()),
        int(SLOTS_PER_REDUCTION),
        int(0),
        int(PIDS),
        int(0),
        int(PIDS),
        int(0),
    ])
}
