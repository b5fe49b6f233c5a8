//! Processes: signals, links, monitors, flags, names, dictionary, and process information.

mod all;
mod backtrace;
mod basic;
mod flags;
mod info;
mod info_items;
mod relations;
mod request;
mod send;
pub mod spawn;
mod timer;

pub(crate) use all::info as processes_info;
pub(crate) use info_items::items;
pub use info_items::{item, status_of as status};

use kvik_heap::{Heap, OwnedTerm, SuspendedState};
use kvik_proc::signal::{deliver, deliver_from, message, Signal};
use kvik_proc::{sched, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};

pub const BIFS: &[&[BifEntry]] = &[
    all::BIFS,
    basic::BIFS,
    flags::BIFS,
    info::BIFS,
    relations::BIFS,
    request::BIFS,
    send::BIFS,
    spawn::BIFS,
    timer::BIFS,
];

/// The stack of the process that runs here, as text.
pub(crate) fn backtrace(p: &Proc) -> Vec<u8> {
    backtrace::text(p, None)
}

/// Sends `{Ref, Answer}` from one process to another.
fn reply(to: u32, from: u32, r: &OwnedTerm, answer: &OwnedTerm) {
    let m = message(|h| h.tuple(&[h.copy(r.term()), h.copy(answer.term())]));
    deliver_from(to, Term::local_pid(from), m);
}

/// Returns an answer found by direct access to another process, without a signal. Signals already
/// in this process's queue, perhaps from that process, must take effect first: if there are any,
/// the BIF returns in the next time slice, where it finds [`Answer`].
fn found<'h>(p: &'h Proc, answer: Term<'h>) -> BifResult<'h> {
    if p.has_other_signals() || fetches(p) {
        p.give_up_turn();
        return Err(p.again::<Answer>(answer, None));
    }
    Ok(answer)
}
/// Whether the process has messages to fetch first.
fn fetches(p: &Proc) -> bool {
    let fetches = || kvik_release::current().fetches_before_answers();
    p.has_unfetched_messages() && fetches()
}
/// The answer of a BIF that waited for signals to take effect. The messages among them count as
/// fetched.
fn answer_found(p: &Proc) -> Option<Term<'_>> {
    let answer = p.resumed::<Answer>()?;
    p.fetch_messages();
    Some(answer)
}
struct Answer;
impl SuspendedState for Answer {
    type In<'h> = Term<'h>;
}
/// Returns an answer in the next time slice: the BIF is called again, and finds [`Found`].
pub(crate) fn in_next_turn<'h>(p: &'h Proc, answer: Term<'h>) -> BifResult<'h> {
    p.give_up_turn();
    Err(p.again::<Found>(answer, None))
}
/// Returns the answer of `f` in the next time slice, as a BIF does that OTP runs on another thread,
/// or that traps there whatever it finds.
pub fn ends_turn<'h>(p: &'h Proc, f: impl FnOnce() -> BifResult<'h>) -> BifResult<'h> {
    match p.resumed::<Found>() {
        Some(answer) => Ok(answer),
        None => in_next_turn(p, f()?),
    }
}
/// Returns the answer of `f`, which may have sent this process signals: see [`found`].
pub(crate) fn after_signals<'h>(p: &'h Proc, f: impl FnOnce() -> BifResult<'h>) -> BifResult<'h> {
    match answer_found(p) {
        Some(answer) => Ok(answer),
        None => found(p, f()?),
    }
}
/// Makes a BIF of one that may send its caller signals.
macro_rules! signalling {
    ($f:ident) => {{
        fn bif<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
            crate::process::after_signals(p, || $f(p, a))
        }
        bif
    }};
}
pub(crate) use signalling;

/// State of a BIF that returns its answer in the next time slice.
pub(crate) struct Found;
impl SuspendedState for Found {
    type In<'h> = Term<'h>;
}

/// Suspends the process until all current time slices have ended; its BIF then goes on with `state`.
pub(crate) fn after_slices<'h, K: SuspendedState>(p: &'h Proc, state: K::In<'h>) -> Raised {
    let pid = p.pid();
    p.suspend_for(pid);
    crate::blocking_pool::run(Box::new(move || {
        kvik_sync::table::wait_for_all();
        kvik_proc::signal_handlers::resume(pid, pid);
    }));
    p.again::<K>(state, None)
}

/// Size of most replies in words, including the message around the answer.
const ANSWER_WORDS: usize = 64;

/// Asks another process and waits for its reply: traps to a receive.
pub(crate) fn ask(
    p: &Proc,
    pid: u32,
    f: impl for<'h> FnOnce(Option<&Proc>, &'h Heap) -> Term<'h> + Send + 'static,
) -> Raised {
    ask_for_large(p, pid, |_| 0, f)
}
/// Like [`ask`], for replies that may be large. `words`: estimated size; a larger reply costs an
/// extra copy.
fn ask_for_large(
    p: &Proc,
    pid: u32,
    words: impl FnOnce(&Proc) -> usize + Send + 'static,
    f: impl for<'h> FnOnce(Option<&Proc>, &'h Heap) -> Term<'h> + Send + 'static,
) -> Raised {
    let r = p.heap.make_ref();
    let (own, id) = (p.pid(), OwnedTerm::new(r));
    let run = move |of: Option<&Proc>| {
        // As in OTP, the answering process is charged. Only its total is counted, since it may
        // answer in a time slice in which none of its code runs.
        of.into_iter().for_each(|of| of.count_reductions(1));
        let words = ANSWER_WORDS + of.map_or(0, words);
        let m = OwnedTerm::build(words, |h| h.tuple(&[h.copy(id.term()), f(of, h)]));
        deliver_from(own, Term::local_pid(pid), m);
    };
    p.fetch_messages();
    deliver(pid, Signal::Run(Box::new(run)));
    sched::raise(pid, p.priority());
    p.trap_in_next_turn(kvik_code::export(am::erts_internal, am::await_result, 1), &[r])
}

/// The number of a local pid; `None` for pids of other nodes, too.
fn local(t: Term<'_>) -> Option<u32> {
    t.as_local_pid()
}
