//! `erlang:trace_info/2`.

use std::sync::atomic::Ordering::Relaxed;

use kvik_heap::Heap;
use kvik_proc::trace::{self, Tracee, Tracer};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Term};

use super::messages;
use super::pattern;
use super::watched::{self, CounterSwitch, Spec};

pub fn trace_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, item] = *a else { return Err(p.badarg()) };
    // If nothing is traced any key is answered, even one that is not an atom.
    let name = item.as_atom().map_or("", Atom::name);
    let pair = |v: Term<'h>| Ok(p.heap.tuple(&[item, v]));
    if let Some([m, f, n]) = what.as_tuple_n::<3>() {
        let (Some(m), Some(f), Some(n)) = (m.as_atom(), f.as_atom(), n.as_small()) else {
            return Err(p.badarg());
        };
        let arity = u32::try_from(n).unwrap_or(u32::MAX);
        let value = function(p, (m, f, arity), name).ok_or_else(|| p.badarg())?;
        return pair(value);
    }
    let kind = what.as_atom().map(Atom::name);
    match kind {
        Some("on_load") => return pair(on_load(p, name).ok_or_else(|| p.badarg())?),
        Some("send" | "receive") if name == "match_spec" => {
            return pair(match messages::get(kind == Some("send")) {
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
        (Some(who), _) => match trace::of(who) {
            Some(s) => s,
            None => return Ok(am::undefined.into()),
        },
        (_, Some("new" | "new_processes")) => trace::of_new(false),
        (_, Some("new_ports")) => trace::of_new(true),
        _ => return Err(p.badarg_because(am::badopt)),
    };
    match name {
        "flags" => {
            let set = trace::FLAGS.iter().filter(|f| flags & f.1 != 0);
            let names: Vec<Term<'h>> = set.map(|f| atom(f.0)).collect();
            pair(p.heap.list(&names))
        }
        "tracer" => pair(tracer.filter(|_| flags != 0).map_or(Term::NIL, Tracer::term)),
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

const ITEMS: [&str; 6] =
    ["traced", "match_spec", "meta", "meta_match_spec", "call_time", "call_count"];

/// The value of `item`, or for `all` a list of the items `all`.
fn answer<'h>(p: &'h Proc, item: &str, all: &[&str], value: impl Fn(&str) -> Term<'h>) -> Term<'h> {
    if item != "all" {
        return value(item);
    }
    let items: Vec<Term<'h>> = all.iter().map(|i| p.heap.tuple(&[atom(i), value(i)])).collect();
    p.heap.list(&items)
}

fn function<'h>(p: &'h Proc, mfa: watched::Mfa, item: &str) -> Option<Term<'h>> {
    if !pattern::exists(mfa) {
        return Some(am::undefined.into());
    }
    let no = Term::bool(false);
    let Some(watch) = watched::find(mfa) else { return Some(no) };
    let (w, h) = (watch.now(), &p.heap);
    let is_traced = w.call.is_some()
        || w.meta.is_some()
        || w.counts != CounterSwitch::Off
        || w.times != CounterSwitch::Off;
    if !is_traced {
        return Some(no);
    }
    if item != "all" && !ITEMS.contains(&item) {
        return None;
    }
    Some(answer(p, item, &ITEMS, |i| match i {
        "traced" if w.call.is_none() => no,
        "traced" => atom(if w.global { "global" } else { "local" }),
        "match_spec" => w.call.as_ref().map_or(no, |s| source(h, s)),
        // As in OTP, a missing meta tracer is `[]` if this is the only item.
        "meta" => match &w.meta {
            Some((tracer, _)) => tracer.map_or(Term::NIL, Tracer::term),
            None if item == "all" => no,
            None => Term::NIL,
        },
        "meta_match_spec" => w.meta.as_ref().map_or(no, |m| source(h, &m.1)),
        "call_count" if w.counts != CounterSwitch::Off => h.integer(watch.count.load(Relaxed)),
        "call_time" if w.times != CounterSwitch::Off => watch.times.term(h),
        _ => no,
    }))
}

/// The same for modules that will be loaded (`on_load`).
fn on_load<'h>(p: &'h Proc, item: &str) -> Option<Term<'h>> {
    let no = Term::bool(false);
    let Some((o, meta)) = pattern::default() else { return Some(no) };
    if item != "all" && !ITEMS.contains(&item) {
        return None;
    }
    let all = ["traced", "match_spec", "meta", "meta_match_spec", "call_count"];
    Some(answer(p, item, &all, |i| match i {
        "traced" if o.is_global() => atom("global"),
        "traced" if o.local => atom("local"),
        "match_spec" if o.is_global() || o.local => source(&p.heap, &o.spec),
        "meta" => o.meta.map_or(no, Tracer::term),
        "meta_match_spec" if o.meta.is_some() => source(&p.heap, &meta),
        "call_count" => Term::bool(o.counts),
        "call_time" => Term::bool(o.times),
        _ => no,
    }))
}
