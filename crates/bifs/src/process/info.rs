//! `process_info/1,2` and `is_process_alive/1`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

use kvik_heap::literal::Sharing;
use kvik_heap::{copy, OwnedTerm, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use super::info_items::{item, status_in_turn, value_of_key, Item, ITEMS_1};
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
    One(Item),
    /// A list, with `{registered_name, []}` for a missing name.
    List(Vec<Item>),
    /// The items of `process_info/1`, without a missing name.
    Usual,
}

/// Items that the process reports itself, in its time slice, even if another could read them.
const BY_ITSELF: [Atom; 15] = [
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
    am::label,
];

/// Items for which messages are counted.
const COUNTS_MESSAGES: [Atom; 3] = [am::message_queue_len, am::memory, am::total_heap_size];

impl Wanted {
    /// Whether the caller may read the items directly, as in OTP. This takes no time slice of the
    /// other process, and so affects which process runs next.
    fn at_once(&self) -> bool {
        match self {
            Wanted::Usual => false,
            _ => !self.has(&BY_ITSELF),
        }
    }
    fn has(&self, items: &[Atom]) -> bool {
        match self {
            Wanted::One(a) => items.contains(&a.name()),
            Wanted::List(all) => all.iter().any(|a| items.contains(&a.name())),
            Wanted::Usual => ITEMS_1.iter().any(|a| items.contains(a)),
        }
    }
    /// The reductions that it costs the caller to read the items.
    fn reductions(&self) -> i64 {
        let items = match self {
            Wanted::One(_) => 1,
            Wanted::List(all) => all.len(),
            Wanted::Usual => ITEMS_1.len(),
        };
        items as i64
    }
    /// Whether a process that asks about itself handles its signals first. As in OTP: if it may
    /// have sent itself something, or if pending signals may become messages that it counts; in
    /// newer releases also if messages are asked for and nothing else has arrived.
    fn flushes(&self, p: &Proc) -> bool {
        let (counts, shows) = (self.has(&COUNTS_MESSAGES), self.has(&[am::messages]));
        let fetches = kvik_release::current().fetches_for_own_info() && (counts || shows);
        let fetches = fetches && !p.has_other_signals();
        p.has_sent_to_self() || counts && !shows && p.has_pending() || fetches
    }
    /// Estimated number of words of the potentially large items in an answer.
    fn words(&self, of: &Proc) -> usize {
        let words =
            |items: &[Item]| items.iter().map(|a| SMALL_ITEM + large_item_words(of, a)).sum();
        match self {
            Wanted::One(a) => words(std::slice::from_ref(a)),
            Wanted::List(all) => words(all),
            Wanted::Usual => {
                let all = ITEMS_1.iter().map(|a| Item::Named(*a));
                all.map(|a| SMALL_ITEM + large_item_words(of, &a)).sum()
            }
        }
    }
}

/// Words of an item that is not large.
const SMALL_ITEM: usize = 8;

fn large_item_words(of: &Proc, a: &Item) -> usize {
    const CELL: usize = 2;
    const PAIR: usize = 3;
    let sharing = Sharing::now();
    let name = match a {
        Item::Named(am::label) => {
            return copy::size(of.dict_get(am::dollar_process_label.into()), &sharing)
        }
        _ if of.flag(flag::SENSITIVE) => return 0,
        Item::Key(key) => {
            return PAIR + key.words() + copy::size(value_of_key(of, key.term()), &sharing)
        }
        Item::Named(name) => *name,
    };
    let mut words = 0;
    match name {
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
    let value = |a: &Item| match (by, a) {
        (By::Turn, Item::Named(am::status)) => Some(status_in_turn(of).into()),
        (_, Item::Named(name)) => item(of, by == By::Own, h, *name),
        (_, Item::Key(key)) => Some(h.copy(value_of_key(of, key.term()))),
    };
    let pair = |a: &Item| value(a).map(|v| h.tuple(&[a.term(h), v]));
    match w {
        Wanted::One(Item::Named(am::registered_name)) if of.name().is_none() => Some(Term::NIL),
        Wanted::One(a) => pair(a),
        Wanted::List(all) => {
            // As in OTP, the length agrees with the messages if both are asked for.
            let hidden = of.flag(flag::SENSITIVE) && w.has(&[am::messages]);
            let value = |a: &Item| match a {
                Item::Named(am::message_queue_len) if hidden => {
                    Some(h.tuple(&[am::message_queue_len.into(), Term::int(0)]))
                }
                a => pair(a),
            };
            let v: Option<Vec<Term<'h>>> = all.iter().map(value).collect();
            Some(h.list(&v?))
        }
        Wanted::Usual => {
            let there = |a: &&Atom| **a != am::registered_name || of.name().is_some();
            let v: Option<Vec<Term<'h>>> = {
                let named = ITEMS_1.iter().filter(there).map(|a| Item::Named(*a));
                named.map(|a| pair(&a)).collect()
            };
            Some(h.list(&v?))
        }
    }
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

/// What the elements of long items cost, in reductions: a quarter each. `t` is the answer, one item
/// or a list of them.
fn listed(t: Term<'_>) -> i64 {
    const LONG: [Atom; 5] =
        [am::messages, am::dictionary, am::links, am::monitors, am::monitored_by];
    let elements = |item: Term<'_>| match item.as_tuple_n::<2>() {
        Some([k, v]) if k.as_atom().is_some_and(|k| LONG.contains(&k)) => v.list().count(),
        _ => 0,
    };
    let all = elements(t) + t.list().map(elements).sum::<usize>();
    (all / 4) as i64
}

fn wanted<'h>(p: &'h Proc, pid: Term<'h>, w: Wanted) -> BifResult<'h> {
    let n = super::local(pid).ok_or_else(|| p.badarg())?;
    if n == p.pid() {
        let flush = p.resumed::<Flush>();
        if flush.is_some() || w.flushes(p) {
            handle_own(p, flush)?;
        }
        let own = answer(p, By::Own, &p.heap, &w).ok_or_else(|| p.badarg())?;
        p.heap.bump_reductions(w.reductions() + listed(own));
        return Ok(own);
    }
    if let Some(answer) = super::answer_found(p) {
        return Ok(answer);
    }
    if kvik_proc::process::table().get(n, &kvik_sync::pin()).is_none() {
        return Ok(am::undefined.into());
    }
    if w.at_once() {
        let look =
            |of: &Proc| of.is_undisturbed().then(|| answer(of, By::Other, &p.heap, &w)).flatten();
        if let Some(t) = kvik_proc::signal::inspect(n, look).flatten() {
            p.heap.bump_reductions(w.reductions() + listed(t));
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
    if let Some(one) = Item::of(a[1]) {
        return wanted(p, a[0], Wanted::One(one));
    }
    let all = a[1].list_to_vec().and_then(|v| v.into_iter().map(Item::of).collect());
    let all: Vec<Item> = all.ok_or_else(|| p.badarg())?;
    wanted(p, a[0], Wanted::List(all))
}

fn is_process_alive_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = super::local(a[0]).ok_or_else(|| p.badarg())?;
    if n == p.pid() {
        return Ok(true.into());
    }
    if let Some(answer) = super::answer_found(p) {
        return Ok(answer);
    }
    if kvik_proc::process::table().get(n, &kvik_sync::pin()).is_none() {
        return super::found(p, false.into());
    }
    if kvik_proc::signal::inspect(n, Proc::is_open) == Some(true) {
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
