//! `erlang:trace_info/2`, `trace:info/3` and `trace:session_info/1`.

use std::sync::atomic::Ordering::Relaxed;

use kvik_heap::Heap;
use kvik_proc::trace::{self, session, SessionRef, Tracee, Tracer};
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use crate::process::{in_next_turn, Found};

use super::watched::{self, CounterSwitch, Spec};
use super::{messages, on_load, pattern, session_arg};

pub fn trace_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    of_session(p, session::default(), a)
}
/// `trace_info(Session, What, Item)`; with `any` the sessions that trace something.
pub fn trace_info_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].is_atom(am::any) {
        true => sessions(p, a[1], a[2]),
        false => of_session(p, &session_arg(p, a[0])?, &a[1..]),
    }
}

fn mfa(p: &Proc, t: Term<'_>) -> Option<Result<watched::Mfa, Raised>> {
    let [m, f, n] = t.as_tuple_n::<3>()?;
    let (Some(m), Some(f), Some(n)) = (m.as_atom(), f.as_atom(), n.as_small()) else {
        return Some(Err(p.badarg()));
    };
    Some(Ok((m, f, u32::try_from(n).unwrap_or(u32::MAX))))
}

/// `{session, [Weak]}`, the oldest session first.
fn sessions<'h>(p: &'h Proc, what: Term<'h>, item: Term<'h>) -> BifResult<'h> {
    let named = item.as_atom().is_some_and(|a| a.name() == "session");
    let answer = |value: Term<'h>| match named {
        true => Ok(p.heap.tuple(&[item, value])),
        false => Err(p.badarg()),
    };
    let list = |all: Vec<SessionRef>| {
        let all: Vec<Term<'h>> = all.iter().map(|s| s.weak_ref(&p.heap)).collect();
        p.heap.list(&all)
    };
    if let Some(mfa) = mfa(p, what) {
        let mfa = mfa?;
        if !pattern::exists(mfa) {
            return answer(am::undefined.into());
        }
        let function = watched::find(mfa);
        let traced = function.iter().flat_map(|f| f.watches().iter().rev());
        let traced = traced.filter(|w| w.session.is_alive() && w.now().is_traced());
        return answer(list(traced.map(|w| w.session.clone()).collect()));
    }
    if let Some(who) = Tracee::of(what) {
        return match trace::sessions_of(who) {
            Some(all) => answer(list(all)),
            None => Ok(am::undefined.into()),
        };
    }
    let bad = || p.badarg_because(am::badopt);
    let affects: fn(&SessionRef) -> bool = match what.as_atom().ok_or_else(bad)?.name() {
        "any" => |_| true,
        "on_load" => |s| on_load::get(s).is_some(),
        "send" => |s| messages::get(s, true).is_some(),
        "receive" => |s| messages::get(s, false).is_some(),
        "new" | "new_processes" => |s| trace::of_new(false, s).0 != 0,
        "new_ports" => |s| trace::of_new(true, s).0 != 0,
        _ if named => return Err(bad()),
        _ => return Err(p.badarg()),
    };
    answer(list(session::all().into_iter().rev().filter(affects).collect()))
}

fn of_session<'h>(p: &'h Proc, s: &SessionRef, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(answer) = p.resumed::<Found>() {
        return Ok(answer);
    }
    let answer = item_of_session(p, s, a)?;
    match a[0].as_pid() {
        // In OTP the process is asked by a signal.
        Some(_) if !answer.is_atom(am::undefined) => in_next_turn(p, answer),
        _ => Ok(answer),
    }
}
fn item_of_session<'h>(p: &'h Proc, s: &SessionRef, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, item] = *a else { return Err(p.badarg()) };
    // If nothing is traced any key is answered, even one that is not an atom.
    let name = item.as_atom().map_or("", Atom::name);
    let pair = |v: Term<'h>| Ok(p.heap.tuple(&[item, v]));
    if let Some(mfa) = mfa(p, what) {
        return pair(function(p, s, mfa?, name).ok_or_else(|| p.badarg())?);
    }
    let kind = what.as_atom().map(Atom::name);
    match kind {
        Some("on_load") => return pair(of_new_modules(p, s, name).ok_or_else(|| p.badarg())?),
        Some("system") if name == "all" && kvik_release::current().has_system_monitors() => {
            return Ok(p.heap.tuple(&[what, crate::system::monitor_options(p, s)]))
        }
        Some("send" | "receive") if name == "match_spec" => {
            return pair(match messages::get(s, kind == Some("send")) {
                Some(Spec::All) => Term::bool(true),
                Some(s) => source(&p.heap, &s),
                None => Term::bool(false),
            })
        }
        _ => {}
    }
    let (flags, tracer) = match (Tracee::of(what), kind) {
        (Some(Tracee::Process(_)), _) if name != "flags" && name != "tracer" => {
            return Err(p.badarg())
        }
        (Some(who), _) if !who.is_there() => return Ok(am::undefined.into()),
        (Some(who), _) => match trace::of(who, s) {
            Some(s) => s,
            None => return Ok(am::undefined.into()),
        },
        (_, Some("new" | "new_processes")) => trace::of_new(false, s),
        (_, Some("new_ports")) => trace::of_new(true, s),
        // Functions and messages have no keys but their own.
        (_, Some("send" | "receive")) => return Err(p.badarg()),
        _ if what.as_tuple().is_some() => return Err(p.badarg()),
        _ => return Err(p.badarg_because(am::badopt)),
    };
    match name {
        "flags" => {
            let set = trace::FLAGS.iter().filter(|f| flags & f.1 != 0);
            let names: Vec<Term<'h>> = set.map(|f| atom(f.0)).collect();
            pair(p.heap.list(&names))
        }
        "tracer" => pair(tracer.filter(|_| flags != 0).map_or(Term::NIL, |t| t.term(&p.heap))),
        _ => Err(p.badarg()),
    }
}

fn atom(name: &str) -> Term<'static> {
    Atom::intern(name).map_or(Term::NIL, Term::from)
}
fn source<'h>(h: &'h Heap, s: &Spec) -> Term<'h> {
    match s {
        Spec::All => Term::NIL,
        Spec::Some(program) => h.copy(program.source.term()),
    }
}

/// What is told of a function; the last but two since functions are traced for their memory.
const ITEMS: [&str; 7] =
    ["traced", "match_spec", "meta", "meta_match_spec", "call_memory", "call_time", "call_count"];

fn items() -> Vec<&'static str> {
    let has_memory = kvik_release::current().has_call_memory();
    ITEMS.into_iter().filter(|i| has_memory || *i != "call_memory").collect()
}

/// The value of `item`, or for `all` a list of the items `all`.
fn answer<'h>(p: &'h Proc, item: &str, all: &[&str], value: impl Fn(&str) -> Term<'h>) -> Term<'h> {
    if item != "all" {
        return value(item);
    }
    let items: Vec<Term<'h>> = all.iter().map(|i| p.heap.tuple(&[atom(i), value(i)])).collect();
    p.heap.list(&items)
}

fn function<'h>(p: &'h Proc, s: &SessionRef, mfa: watched::Mfa, item: &str) -> Option<Term<'h>> {
    let items = items();
    let known = item == "all" || items.contains(&item);
    let strict = kvik_release::current().has_strict_trace_items();
    if !known && strict {
        return None;
    }
    if !pattern::exists(mfa) {
        return Some(am::undefined.into());
    }
    let no = Term::bool(false);
    let Some(watch) = watched::find(mfa).and_then(|f| f.watch_of(s.key())) else {
        return Some(no);
    };
    let (w, h) = (watch.now(), &p.heap);
    if !w.is_traced() {
        return Some(no);
    }
    if !known {
        return None;
    }
    Some(answer(p, item, &items, |i| match i {
        "traced" if w.call.is_none() => no,
        "traced" => atom(if w.global { "global" } else { "local" }),
        "match_spec" => w.call.as_ref().map_or(no, |s| source(h, s)),
        // As in OTP, a missing meta tracer may be `[]` if this is the only item.
        "meta" => match &w.meta {
            Some((tracer, _)) => tracer.as_ref().map_or(Term::NIL, |t| t.term(h)),
            None if strict || item == "all" => no,
            None => Term::NIL,
        },
        "meta_match_spec" => w.meta.as_ref().map_or(no, |m| source(h, &m.1)),
        "call_count" if w.counts != CounterSwitch::Off => h.integer(watch.count.load(Relaxed)),
        "call_time" if w.times != CounterSwitch::Off => watch.times.times(h),
        "call_memory" if w.memory != CounterSwitch::Off => watch.memory.words(h),
        _ => no,
    }))
}

/// The same for modules that will be loaded (`on_load`).
fn of_new_modules<'h>(p: &'h Proc, s: &SessionRef, item: &str) -> Option<Term<'h>> {
    let no = Term::bool(false);
    let Some((o, meta)) = on_load::get(s) else { return Some(no) };
    if item != "all" && !items().contains(&item) {
        return None;
    }
    let all = ["traced", "match_spec", "meta", "meta_match_spec", "call_count"];
    Some(answer(p, item, &all, |i| match i {
        "traced" if o.is_global() => atom("global"),
        "traced" if o.local => atom("local"),
        "match_spec" if o.is_global() || o.local => source(&p.heap, &o.spec),
        "meta" => o.meta.as_ref().map_or(no, |t: &Tracer| t.term(&p.heap)),
        "meta_match_spec" if o.meta.is_some() => source(&p.heap, &meta),
        "call_count" => Term::bool(o.counts),
        "call_time" => Term::bool(o.times),
        "call_memory" => Term::bool(o.memory),
        _ => no,
    }))
}
