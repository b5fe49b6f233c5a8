//! `process_info/1,2` and `is_process_alive/1`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

use kvik_heap::literal::Sharing;
use kvik_heap::{copy, OwnedTerm, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use super::info_items::{item, status_in_turn, ITEMS_1};
use kvik_proc::process::flag;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "process_info", 1, process_info_1),
    bif!("erlang", "process_info", 2, process_info_2),
    bif!("erlang", "is_process_alive", 1, is_process_alive_1),
    bif!("erts_internal", "is_process_alive", 2, is_process_alive_2),
];

/// The items asked for, and the form of the answer.
#[derive(Clone)]
enum Wanted {
    /// One: `{Item, Value}`, and `[]` for a missing name.
    One(Atom),
    /// A list, with `{registered_name, []}` for a missing name.
    List(Vec<Atom>),
    /// The items of `process_info/1`, without a missing name.
    Usual,
    /// `{dictionary, Key}`: `{{dictionary, Key}, Value}`.
    Key(OwnedTerm),
    /// A list with such keys among the items.
    Mixed(Vec<Wanted>),
}

/// Items that the process reports itself, in its time slice, even if another could read them.
const BY_ITSELF: [Atom; 14] = [
    am::current_function,
    am::messages,
    am::links,
    am::monitors,
    am::monitored_by,
    am::dictionary,
    am::memory,
    am::binary,
    am::backtrace,
    am::total_heap_size,
    am::suspending,
    am::current_location,
    am::current_stacktrace,
    am::magic_ref,
];

/// Items for which messages are counted.
const COUNTS_MESSAGES: [Atom; 3] = [am::message_queue_len, am::memory, am::total_heap_size];

impl Wanted {
    /// Whether the caller may read the items directly, as in OTP. This takes no time slice of the
    /// other process, and so affects which process runs next.
    fn at_once(&self) -> bool {
        match self {
            Wanted::One(a) => !BY_ITSELF.contains(a),
            Wanted::List(all) => !all.iter().any(|a| BY_ITSELF.contains(a)),
            Wanted::Usual | Wanted::Key(_) | Wanted::Mixed(_) => false,
        }
    }
    fn has(&self, items: &[Atom]) -> bool {
        match self {
            Wanted::One(a) => items.contains(a),
            Wanted::List(all) => all.iter().any(|a| items.contains(a)),
            Wanted::Usual => ITEMS_1.iter().any(|a| items.contains(a)),
            Wanted::Key(_) => false,
            Wanted::Mixed(all) => all.iter().any(|w| w.has(items)),
        }
    }
    /// Whether a process that asks about itself handles its signals first. As in OTP: if it may
    /// have sent itself something, or if pending signals may become messages that it counts.
    fn flushes(&self, p: &Proc) -> bool {
        let counts = self.has(&COUNTS_MESSAGES) && !self.has(&[am::messages]);
        p.has_sent_to_self() || counts && p.has_pending()
    }
    /// Estimated number of words of the potentially large items in an answer.
    fn words(&self, of: &Proc) -> usize {
        let items = match self {
            Wanted::One(a) => std::slice::from_ref(a),
            Wanted::List(all) => all,
            Wanted::Usual => ITEMS_1,
            Wanted::Key(_) => return large_item_words(of, am::dictionary),
            Wanted::Mixed(all) => return all.iter().map(|w| w.words(of)).sum(),
        };
        let small = 8 * items.len();
        items.iter().map(|a| large_item_words(of, *a)).sum::<usize>() + small
    }
}

fn large_item_words(of: &Proc, a: Atom) -> usize {
    const CELL: usize = 2;
    const PAIR: usize = 3;
    if of.flag(flag::SENSITIVE) {
        return 0;
    }
    let sharing = Sharing::now();
    let mut words = 0;
    match a {
        am::messages => of.each_message(|m| words += CELL + copy::size(m, &sharing)),
        am::dictionary => {
            let sizes = |pair: [Term<'_>; 2]| pair.map(|t| copy::size(t, &sharing));
            let pairs = of.dict_pairs().into_iter().map(sizes);
            words = pairs.map(|[k, v]| CELL + PAIR + k + v).sum();
        }
        _ => {}
    }
    words
}

/// Which process reads the items.
#[derive(Copy, Clone, PartialEq, Eq)]
enum By {
    /// The process itself, about itself.
    Own,
    /// The process itself, in its time slice, for another that asked by a signal.
    Turn,
    /// The process that asks, by inspecting the other one.
    Other,
}

fn answer<'h>(of: &Proc, by: By, h: &'h kvik_heap::Heap, w: &Wanted) -> Option<Term<'h>> {
    let value = |a: Atom| match (by, a) {
        (By::Turn, am::status) => Some(status_in_turn(of).into()),
        _ => item(of, by == By::Own, h, a),
    };
    let pair = |a: Atom| value(a).map(|v| h.tuple(&[a.into(), v]));
    match w {
        Wanted::One(am::registered_name) if of.name().is_none() => Some(Term::NIL),
        Wanted::One(a) => pair(*a),
        Wanted::List(all) => {
            // As in OTP, the length agrees with the messages if both are asked for.
            let hidden = of.flag(flag::SENSITIVE) && all.contains(&am::messages);
            let value = |a: &Atom| match *a {
                am::message_queue_len if hidden => Some(h.tuple(&[(*a).into(), Term::int(0)])),
                a => pair(a),
            };
            let v: Option<Vec<Term<'h>>> = all.iter().map(value).collect();
            Some(h.list(&v?))
        }
        Wanted::Usual => {
            let there = |a: &&Atom| **a != am::registered_name || of.name().is_some();
            let v: Option<Vec<Term<'h>>> = ITEMS_1.iter().filter(there).map(|a| pair(*a)).collect();
            Some(h.list(&v?))
        }
        Wanted::Key(key) => Some(dictionary_value(of, h, key.term())),
        Wanted::Mixed(all) => {
            let one = |w: &Wanted| match w {
                Wanted::One(a) => pair(*a),
                w => answer(of, by, h, w),
            };
            let v: Option<Vec<Term<'h>>> = all.iter().map(one).collect();
            Some(h.list(&v?))
        }
    }
}

/// `{{dictionary, Key}, Value}`; `undefined` for a missing key, or where all is hidden.
fn dictionary_value<'h>(of: &Proc, h: &'h kvik_heap::Heap, key: Term<'_>) -> Term<'h> {
    let hidden = of.flag(flag::SENSITIVE);
    let mut pairs = of.dict_pairs().into_iter().filter(|_| !hidden);
    let value = pairs.find(|[k, _]| kvik_term::cmp::eq_exact(*k, key)).map(|[_, v]| h.copy(v));
    let item = h.tuple(&[am::dictionary.into(), h.copy(key)]);
    h.tuple(&[item, value.unwrap_or(am::undefined.into())])
}

/// State of a process that asks about itself and has more signals pending than it can handle in
/// one time slice. Becomes true once those from before the call are handled; it does not wait for
/// later ones, which may arrive faster than they are handled.
struct Flush;
impl SuspendedState for Flush {
    type In<'h> = Arc<AtomicBool>;
}
impl Flush {
    /// Sends the process a signal, as a marker behind all that have arrived.
    fn begin(p: &Proc) -> Arc<AtomicBool> {
        let done = Arc::new(AtomicBool::new(false));
        let handled = done.clone();
        kvik_proc::signal::ask(p.pid(), Box::new(move |_| handled.store(true, Relaxed)));
        done
    }
}

/// Handles the signals of a process that asks about itself, over several time slices if there are
/// many.
fn handle_own(p: &Proc, flush: Option<Arc<AtomicBool>>) -> Result<(), Raised> {
    p.fetch_signals();
    p.check_exit()?;
    if p.has_pending() {
        let flush = flush.unwrap_or_else(|| Flush::begin(p));
        if !flush.load(Relaxed) {
            return Err(p.again::<Flush>(flush, None));
        }
    }
    p.forget_sent_to_self();
    Ok(())
}

fn wanted<'h>(p: &'h Proc, pid: Term<'h>, w: Wanted) -> BifResult<'h> {
    let n = super::local(pid).ok_or_else(|| p.badarg())?;
    if n == p.pid() {
        let flush = p.resumed::<Flush>();
        if flush.is_some() || w.flushes(p) {
            handle_own(p, flush)?;
        }
        return answer(p, By::Own, &p.heap, &w).ok_or_else(|| p.badarg());
    }
    if let Some(answer) = p.resumed::<super::Found>() {
        return Ok(answer);
    }
    if kvik_proc::process::table().get(n, &kvik_sync::pin()).is_none() {
        return Ok(am::undefined.into());
    }
    if w.at_once() {
        let look =
            |of: &Proc| of.is_undisturbed().then(|| answer(of, By::Other, &p.heap, &w)).flatten();
        if let Some(t) = kvik_proc::signal::inspect(n, look).flatten() {
            return super::found(p, t);
        }
    }
    let all = w.clone();
    Err(super::ask_for_large(
        p,
        n,
        move |of| all.words(of),
        move |of, h| of.and_then(|of| answer(of, By::Turn, h, &w)).unwrap_or(am::undefined.into()),
    ))
}
fn process_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    wanted(p, a[0], Wanted::Usual)
}
fn process_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let known = |t: Term<'h>| t.as_atom().filter(|a| super::info_items::is_known(*a));
    let keyed = |t: Term<'h>| {
        let [_, key] = t.as_tuple_n::<2>().filter(|t| t[0].is_atom(am::dictionary))?;
        kvik_release::current().has_dictionary_keys().then(|| Wanted::Key(OwnedTerm::new(key)))
    };
    let one = |t: Term<'h>| known(t).map(Wanted::One).or_else(|| keyed(t));
    if let Some(one) = one(a[1]) {
        return wanted(p, a[0], one);
    }
    let all = a[1].list_to_vec().ok_or_else(|| p.badarg())?;
    if let Some(items) = all.iter().map(|t| known(*t)).collect::<Option<Vec<Atom>>>() {
        return wanted(p, a[0], Wanted::List(items));
    }
    let all: Option<Vec<Wanted>> = all.into_iter().map(one).collect();
    wanted(p, a[0], Wanted::Mixed(all.ok_or_else(|| p.badarg())?))
}

fn is_process_alive_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = super::local(a[0]).ok_or_else(|| p.badarg())?;
    if n == p.pid() {
        return Ok(true.into());
    }
    if let Some(answer) = p.resumed::<super::Found>() {
        return Ok(answer);
    }
    if kvik_proc::process::table().get(n, &kvik_sync::pin()).is_none() {
        return super::found(p, false.into());
    }
    if kvik_proc::signal::inspect(n, Proc::is_settled) == Some(true) {
        return super::found(p, true.into());
    }
    // Ask through its inbox, so that exit signals sent before take effect first.
    let ask = kvik_code::export(am::erts_internal, am::is_process_alive, 1);
    Err(p.trap_in_next_turn(ask, a))
}
fn is_process_alive_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = super::local(a[0]).ok_or_else(|| p.badarg())?;
    a[1].as_ref().ok_or_else(|| p.badarg())?;
    let (own, id) = (p.pid(), OwnedTerm::new(a[1]));
    let run = move |of: Option<&Proc>| {
        super::reply(own, n, &id, &OwnedTerm::immediate(Term::bool(of.is_some())))
    };
    kvik_proc::deliver(n, kvik_proc::Signal::Run(Box::new(run)));
    kvik_proc::sched::raise(n, p.priority());
    Ok(am::ok.into())
}
