//! The items of `process_info` and their values.

use std::sync::atomic::Ordering::Relaxed;

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::hooks::hooks;
use kvik_proc::limits::MaxHeap;
use kvik_proc::links_monitors::{LinkState, MonitoredBy, Target};
use kvik_proc::process::flag;
use kvik_proc::signal::ByAge;
use kvik_proc::signal::{LIBRARY, WATCHERS};
use kvik_proc::{Proc, ABROAD};
use kvik_release::Span;
use kvik_term::{am, Atom, Term};

use super::flags::queue_data_atom;

/// The items of `process_info/1`, in order.
pub(super) const ITEMS_1: &[Atom] = &[
    am::registered_name,
    am::current_function,
    am::initial_call,
    am::status,
    am::message_queue_len,
    am::links,
    am::dictionary,
    am::trap_exit,
    am::error_handler,
    am::priority,
    am::group_leader,
    am::total_heap_size,
    am::heap_size,
    am::stack_size,
    am::reductions,
    am::garbage_collection,
    am::suspending,
];
const OTHERS: &[Atom] = &[
    am::messages,
    am::monitors,
    am::monitored_by,
    am::memory,
    am::trace,
    am::sequential_trace_token,
    am::backtrace,
    am::last_calls,
    am::min_heap_size,
    am::min_bin_vheap_size,
    am::max_heap_size,
    am::current_location,
    am::current_stacktrace,
    am::message_queue_data,
    am::garbage_collection_info,
    am::fullsweep_after,
    am::parent,
    am::catchlevel,
    am::binary,
];
/// Items that came with a release.
const LATER: &[(Atom, Span)] = &[
    (am::async_dist, Span::since(26)),
    (am::label, Span::since(27)),
    (am::priority_messages, Span::since(28)),
];
/// `{dictionary, Key}` may be asked for.
const KEYS: Span = Span::since(27);

/// An item that was asked for.
#[derive(Clone)]
pub(super) enum Item {
    Named(Atom),
    /// `{dictionary, Key}`
    Key(OwnedTerm),
}

impl Item {
    pub fn of(t: Term<'_>) -> Option<Item> {
        if let Some(name) = t.as_atom() {
            return items().any(|i| i == name).then_some(Item::Named(name));
        }
        let [kind, key] = t.as_tuple_n()?;
        let known = kind == am::dictionary && KEYS.has(kvik_release::current());
        known.then(|| Item::Key(OwnedTerm::new(key)))
    }
    /// The item that it is, or is a part of.
    pub fn name(&self) -> Atom {
        match self {
            Item::Named(name) => *name,
            Item::Key(_) => am::dictionary,
        }
    }
    /// The item as it stands in the answer.
    pub fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        match self {
            Item::Named(name) => (*name).into(),
            Item::Key(key) => h.tuple(&[am::dictionary.into(), h.copy(key.term())]),
        }
    }
}

/// All items that may be asked for by name.
pub(crate) fn items() -> impl Iterator<Item = Atom> {
    let later = LATER.iter().filter(|(_, span)| span.has(kvik_release::current()));
    ITEMS_1.iter().chain(OTHERS).copied().chain(later.map(|(name, _)| *name))
}

/// The value of a key of its dictionary.
pub(super) fn value_of_key<'p>(p: &'p Proc, key: Term<'p>) -> Term<'p> {
    match p.flag(flag::SENSITIVE) {
        true => am::undefined.into(),
        false => p.dict_get(key),
    }
}

/// The value of an item, on the heap `h`. `own`: the process asks about itself.
pub fn item<'h>(p: &Proc, own: bool, h: &'h Heap, name: Atom) -> Option<Term<'h>> {
    let number = |n: usize| h.integer(n as i64);
    let sizes = p.heap.sizes();
    Some(match name {
        am::registered_name => p.name().map_or(Term::NIL, Into::into),
        am::current_function => {
            let here = place(p, own, h).and_then(|t| t.as_tuple_n::<4>());
            here.map_or(am::undefined.into(), |[m, f, a, _]| h.tuple(&[m, f, a]))
        }
        am::current_location => place(p, own, h).unwrap_or(am::undefined.into()),
        am::current_stacktrace if in_hibernate_3(p) => Term::NIL,
        am::current_stacktrace => {
            let depth = kvik_proc::limits::BACKTRACE_DEPTH.load(Relaxed);
            (hooks().stacktrace)(p, h, own, depth)
        }
        am::initial_call => {
            let (m, f, a) = p.initial_call();
            mfa(h, Some((m, f, a as u32)))
        }
        am::status => status(p, own).into(),
        am::message_queue_len if own => number(p.fetched_count()),
        am::message_queue_len => number(p.message_count()),
        am::messages => messages(p, h, if own { p.fetched_count() } else { usize::MAX }),
        am::links => links(p, h),
        am::monitors => monitors(p, h),
        am::monitored_by => watchers(p, h),
        am::dictionary => {
            let copy = |pair: [Term<'_>; 2]| h.tuple(&pair.map(|t| h.copy(t)));
            let all: Vec<Term<'h>> = if p.flag(flag::SENSITIVE) {
                Vec::new()
            } else {
                p.dict_pairs().into_iter().map(copy).collect()
            };
            h.list(&all)
        }
        am::trap_exit => p.flag(flag::TRAP_EXIT).into(),
        am::error_handler => p.rare(|x| x.error_handler).unwrap_or(am::error_handler).into(),
        am::priority => p.priority().atom().into(),
        am::group_leader => h.copy(p.heap.root(Root::GroupLeader)),
        am::total_heap_size => number(heap_words(p)),
        am::heap_size => number(sizes.block),
        am::stack_size => number(sizes.stack),
        am::memory => number(heap_words(p) * 8 + std::mem::size_of::<Proc>()),
        am::reductions => h.integer(p.reductions_now(own) as i64),
        am::garbage_collection => gc_settings(p, h),
        am::garbage_collection_info => p.gc_info(h),
        am::suspending => suspending(p, h),
        am::trace => Term::int(0),
        am::sequential_trace_token => h.copy(p.heap.root(Root::SeqToken)),
        am::last_calls => p.last_calls(h),
        am::min_heap_size => number(p.rare(|x| x.min_heap_size).unwrap_or(233)),
        am::min_bin_vheap_size => number(p.rare(|x| x.min_bin_vheap_size).unwrap_or(46_422)),
        am::fullsweep_after => number(p.rare(|x| x.fullsweep_after).unwrap_or(65_535)),
        am::max_heap_size => MaxHeap::of(p).map(h),
        am::message_queue_data => queue_data_atom(p.flag(flag::OFF_HEAP_QUEUE)).into(),
        am::parent if p.remote_parent().is_some() => {
            p.remote_parent().map_or(Term::NIL, |r| r.term(h))
        }
        am::parent => p.parent_pid().unwrap_or(Term::atom(am::undefined)),
        am::catchlevel => Term::int(0),
        am::async_dist => p.rare(|x| x.async_dist).unwrap_or(false).into(),
        am::priority_messages => p.accepts_priority_messages().into(),
        am::label => h.copy(p.dict_get(am::dollar_process_label.into())),
        am::binary => binaries(p, h),
        am::backtrace if p.flag(flag::SENSITIVE) => h.binary(&[]),
        am::backtrace => {
            h.binary(&super::backtrace::text(p, own.then_some((am::erlang, "process_info"))))
        }
        _ => return None,
    })
}

fn mfa(h: &Heap, f: Option<(Atom, Atom, u32)>) -> Term<'_> {
    match f {
        Some((m, f, a)) => h.tuple(&[m.into(), f.into(), Term::int(a as i32)]),
        None => am::undefined.into(),
    }
}
/// Whether the process hibernates without a stack.
fn in_hibernate_3(p: &Proc) -> bool {
    p.is_hibernating() && p.heap.ip() == kvik_jit::start_ip().get()
}
/// The innermost entry of the process's stack trace.
fn place<'h>(p: &Proc, own: bool, h: &'h Heap) -> Option<Term<'h>> {
    if in_hibernate_3(p) {
        let call = [am::erlang.into(), am::hibernate.into(), Term::int(3), Term::NIL];
        return Some(h.tuple(&call));
    }
    if !own && p.heap.ip() == kvik_jit::start_ip().get() {
        // The process has not run yet.
        let (m, f, a) = p.initial_call();
        return Some(h.tuple(&[m.into(), f.into(), Term::int(a as i32), Term::NIL]));
    }
    if let Some(e) = kvik_jit::goes_on(p).1.filter(|_| !own) {
        let arity = Term::int(e.arity as i32);
        return Some(h.tuple(&[e.module.into(), e.function.into(), arity, Term::NIL]));
    }
    Some((hooks().stacktrace)(p, h, own, 1).as_cons()?.head())
}
/// Words of the process's heap, and of messages that are part of it.
fn heap_words(p: &Proc) -> usize {
    let s = p.heap.sizes();
    let queue = if p.flag(flag::OFF_HEAP_QUEUE) { 0 } else { p.message_words() };
    s.block + s.old_block + s.fragments + queue
}
/// The status of another process.
pub fn status_of(p: &Proc) -> Atom {
    status(p, false)
}
/// The status that a process reports in answer to a signal, in its own time slice: running, unless
/// that signal alone woke it.
pub(super) fn status_in_turn(p: &Proc) -> Atom {
    match status(p, false) {
        am::runnable => am::running,
        am::waiting if p.flag(flag::MORE | flag::TASKS) || p.can_go_on() => am::running,
        other => other,
    }
}
fn status(p: &Proc, own: bool) -> Atom {
    match () {
        _ if own => am::running,
        _ if p.is_exiting() => am::exiting,
        _ if p.flag(flag::SUSPENDED) => am::suspended,
        _ if p.flag(flag::HANDED_OFF) => am::running,
        _ if p.flag(flag::WAITING) => am::waiting,
        _ => am::runnable,
    }
}
/// The first messages, at most `most`.
fn messages<'h>(p: &Proc, h: &'h Heap, most: usize) -> Term<'h> {
    if p.flag(flag::SENSITIVE) {
        return Term::NIL;
    }
    let mut all = Vec::new();
    p.each_message(|m| {
        if all.len() < most {
            all.push(h.copy(m))
        }
    });
    h.list(&all)
}
fn links<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let all = p.cold(|x| {
        let linked = x.links.values().rev().filter(|l| l.state == LinkState::Linked);
        linked.map(|l| l.peer).collect::<Vec<_>>()
    });
    let mut all: Vec<Term<'h>> = all.unwrap_or_default();
    all.extend(p.remote_links().into_iter().map(|r| r.term(h)));
    h.list(&all)
}
fn monitors<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let one = |t: &Target| match t {
        Target::Process(n) => h.tuple(&[am::process.into(), Term::local_pid(*n)]),
        Target::Port(n) => h.tuple(&[am::port.into(), Term::local_port(*n)]),
        Target::Named { port, name, node, .. } => {
            let kind = if *port { am::port } else { am::process };
            h.tuple(&[kind.into(), h.tuple(&[(*name).into(), (*node).into()])])
        }
        Target::TimeOffset => h.tuple(&[am::time_offset.into(), am::clock_service.into()]),
        Target::Remote(t) => h.tuple(&[am::process.into(), h.copy(t.term())]),
    };
    let all: Vec<Term<'h>> = p
        .cold(|x| x.monitoring.values().rev().map(|m| one(&m.target)).collect())
        .unwrap_or_default();
    h.list(&all)
}
fn watchers<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let mut all: Vec<Term<'h>> = p
        .cold(|x| {
            let watcher = |(ByAge(id), m): (&ByAge, &MonitoredBy)| match m.pid {
                LIBRARY => WATCHERS.get().and_then(|w| (w.resource)(h, *id)),
                ABROAD => (hooks().node.watcher)(h, *id),
                pid => Some(Term::local_pid(pid)),
            };
            x.monitored_by.iter().filter_map(watcher).collect()
        })
        .unwrap_or_default();
    // Latest first.
    all.reverse();
    h.list(&all)
}
fn suspending<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let one = |(pid, n): (&u32, &u32)| {
        h.tuple(&[Term::local_pid(*pid), Term::int(*n as i32), Term::int(0)])
    };
    let all: Vec<Term<'h>> =
        p.rare(|x| x.suspending.iter().rev().map(one).collect()).unwrap_or_default();
    h.list(&all)
}
/// `{Address, Bytes, Holders}` of each binary outside the heap.
fn binaries<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let one = |(at, bytes, count): (usize, usize, usize)| {
        h.tuple(&[h.unsigned(at as u64), h.integer(bytes as i64), h.integer(count as i64)])
    };
    let all: Vec<Term<'h>> = p.heap.off_heap_binaries().into_iter().map(one).collect();
    h.list(&all)
}
fn gc_settings<'h>(p: &Proc, h: &'h Heap) -> Term<'h> {
    let names = [am::max_heap_size, am::min_bin_vheap_size, am::min_heap_size, am::fullsweep_after];
    let mut all: Vec<Term<'h>> = names
        .into_iter()
        .filter_map(|a| Some(h.tuple(&[a.into(), item(p, false, h, a)?])))
        .collect();
    let minor = h.integer(p.heap.minor_collections() as i64);
    all.push(h.tuple(&[am::minor_gcs.into(), minor]));
    h.list(&all)
}
