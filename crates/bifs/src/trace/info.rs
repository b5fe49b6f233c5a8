//! `erlang:trace_info/2`.

use kvik_heap::Heap;
use kvik_proc::{trace, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use super::pattern::{self, Spec};

pub fn trace_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, item] = *a else { return Err(p.badarg()) };
    let name = item.as_atom().ok_or_else(|| p.badarg())?.name();
    let pair = |v: Term<'h>| Ok(p.heap.tuple(&[item, v]));
    if let Some([m, f, n]) = what.as_tuple_n::<3>() {
        let (Some(m), Some(f), Some(n)) = (m.as_atom(), f.as_atom(), n.as_usize()) else {
            return Err(p.badarg());
        };
        let value = function(p, (m, f, n as u32), name).ok_or_else(|| p.badarg())?;
        return pair(value);
    }
    let (flags, tracer) = match (what.as_local_pid(), what.as_atom().map(Atom::name)) {
        (Some(pid), _) => match trace::of(pid) {
            Some(s) => s,
            None => return Ok(am::undefined.into()),
        },
        (_, Some("new" | "new_processes")) => trace::of_new(),
        (_, Some("new_ports")) => (0, None),
        _ => return Err(p.badarg()),
    };
    match name {
        "flags" => {
            let set = trace::FLAGS.iter().filter(|f| flags & f.1 != 0);
            let names: Option<Vec<Term<'h>>> =
                set.map(|f| Atom::intern(f.0).ok().map(Term::from)).collect();
            pair(p.heap.list(&names.unwrap_or_default()))
        }
        "tracer" => pair(tracer.filter(|_| flags != 0).map_or(Term::NIL, Term::local_pid)),
        _ => Err(p.badarg()),
    }
}

fn source<'h>(h: &'h Heap, s: &Spec) -> Term<'h> {
    match s {
        Spec::All => Term::NIL,
        Spec::Some(program) => h.copy(program.source.term()),
    }
}

fn function<'h>(p: &'h Proc, mfa: pattern::Mfa, item: &str) -> Option<Term<'h>> {
    const ITEMS: [&str; 6] =
        ["traced", "match_spec", "meta", "meta_match_spec", "call_time", "call_count"];
    let all = item == "all";
    if !all && !ITEMS.contains(&item) {
        return None;
    }
    if !pattern::exists(mfa) {
        return Some(am::undefined.into());
    }
    let no = Term::bool(false);
    let Some(w) = pattern::find(mfa).map(|w| w.now()) else { return Some(no) };
    let h = &p.heap;
    let atom = |n: &str| Atom::intern(n).map_or(Term::NIL, Term::from);
    let value = |item: &str| match item {
        "traced" if w.call.is_none() => no,
        "traced" => atom(if w.global { "global" } else { "local" }),
        "match_spec" => w.call.as_ref().map_or(no, |s| source(h, s)),
        // So it is in OTP: asked for alone, no meta tracer is `[]`.
        "meta" => {
            w.meta.as_ref().map_or(if all { no } else { Term::NIL }, |m| Term::local_pid(m.0))
        }
        "meta_match_spec" => w.meta.as_ref().map_or(no, |m| source(h, &m.1)),
        "call_count" => w.count.map_or(no, |n| h.integer(n)),
        _ => no,
    };
    if !all {
        return Some(value(item));
    }
    let items: Vec<Term<'h>> = ITEMS.iter().map(|i| h.tuple(&[atom(i), value(i)])).collect();
    Some(h.list(&items))
}
