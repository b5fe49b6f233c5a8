//! Compiled match specifications as terms, and `erlang:match_spec_test/3`.

use std::sync::Arc;

use kvik_ets::ms::{compile, lint, Dialect, MatchProgram, MatchSpecError};
use kvik_ets::order;
use kvik_heap::{Heap, SuspendedState};
use kvik_proc::sched::REDUCTIONS;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("ets", "is_compiled_ms", 1, is_compiled_ms_1),
    bif!("ets", "match_spec_compile", 1, match_spec_compile_1),
    bif!("ets", "match_spec_run_r", 3, match_spec_run_r_3),
    bif!("erlang", "match_spec_test", 3, match_spec_test_3),
];

/// The program behind a magic reference.
pub(crate) fn program_of(t: Term<'_>) -> Option<Arc<MatchProgram>> {
    Heap::resource_ref(t)?.clone().downcast().ok()
}

fn is_compiled_ms_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    Ok(Term::bool(program_of(t).is_some()))
}

fn match_spec_compile_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [spec] = *a else { return Err(p.badarg()) };
    match compile(spec, Dialect::Table) {
        Ok(prog) => Ok(p.heap.magic_ref(Arc::new(prog))),
        Err(MatchSpecError::TooDeep) => Err(p.system_limit()),
        Err(MatchSpecError::Bad(_)) => Err(p.badarg()),
    }
}

/// State of matching a list: the rest of the list, and the results so far, last first.
struct Matching<'h>(Term<'h>, Term<'h>);
impl SuspendedState for Matching<'static> {
    type In<'h> = Matching<'h>;
}

/// Prepends the results, last first, to a list of earlier results.
fn match_spec_run_r_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [list, prog, done] = *a else { return Err(p.badarg()) };
    let (Some(prog), true) = (program_of(prog), list.is_list()) else {
        return Err(p.badarg());
    };
    let resumed = p.resumed::<Matching<'static>>();
    let Matching(rest, mut done) = resumed.unwrap_or(Matching(list, done));
    let mut it = rest.list();
    let mut n = 0;
    // As in OTP: as many as fit a whole time slice, whatever is left of this one.
    for t in it.by_ref().take(REDUCTIONS as usize) {
        n += 1;
        if let Some(v) = prog.run(p, t) {
            done = p.heap.cons(v, done);
        }
    }
    if it.rest.as_cons().is_some() {
        p.heap.set_reductions(0);
        return Err(p.again::<Matching<'static>>(Matching(it.rest, done), None));
    }
    p.heap.bump_reductions(n);
    match it.rest.is_nil() {
        true => Ok(done),
        false => Err(p.badarg()),
    }
}

fn match_spec_test_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [against, spec, kind] = *a else { return Err(p.badarg()) };
    let dialect = match kind.as_atom() {
        Some(am::table) => Dialect::Table,
        Some(am::trace) => Dialect::Trace,
        _ => return Err(p.badarg()),
    };
    if dialect == Dialect::Trace && !against.is_list() {
        return Err(p.badarg());
    }
    let messages: Vec<_> = lint(spec, dialect)
        .iter()
        .map(|m| p.heap.tuple(&[am::error.into(), p.heap.string(m)]))
        .collect();
    let messages = p.heap.list(&messages);
    let Ok(prog) = compile(spec, dialect) else {
        return Ok(p.heap.tuple(&[am::error.into(), messages]));
    };
    let value = match dialect {
        Dialect::Table => prog.run(p, against),
        _ => {
            let args: Vec<_> = against.list().collect();
            prog.run_trace(p, &args, &kvik_ets::ms::TestEffects)
        }
    };
    let flags = if dialect == Dialect::Trace && value.is_some() {
        let flags: Vec<Term<'_>> = prog.trace_flags().iter().map(|f| (*f).into()).collect();
        p.heap.list(&flags)
    } else {
        Term::NIL
    };
    let value = value.unwrap_or(Term::bool(false));
    Ok(p.heap.tuple(&[am::ok.into(), value, flags, messages]))
}

/// Whether each clause returns an object with the key of the object it matched, as `select_replace`
/// requires. Decided by the form of the clause alone.
pub(crate) fn keeps_key(spec: Term<'_>, keypos: usize) -> bool {
    spec.list().all(|c| {
        c.as_tuple_n::<3>()
            .is_some_and(|[head, _, body]| clause_keeps_key(head, body, keypos).unwrap_or(false))
    })
}
fn clause_keeps_key(head: Term<'_>, body: Term<'_>, keypos: usize) -> Option<bool> {
    let body = body.as_cons().filter(|c| c.tail().is_nil())?.head();
    if body.is_atom(am::dollar_underscore) {
        return Some(true);
    }
    let key = |t: Term<'_>| t.as_tuple()?.get(keypos - 1).map(|k| k.word());
    key(head)?;
    let head_key = head.as_tuple()?.get(keypos - 1)?;
    let (object, constant) = match *body.as_tuple()?.elements() {
        [c, t] if c.is_atom(am::const_) => (t, true),
        [t] => (t, false),
        _ => return None,
    };
    let new_key = object.as_tuple()?.get(keypos - 1)?;
    if makes_same(head_key, new_key, constant) {
        return Some(true);
    }
    if constant {
        return Some(false);
    }
    let [f, pos, whole] = new_key.as_tuple_n::<3>()?;
    Some(
        f.is_atom(am::element)
            && whole.is_atom(am::dollar_underscore)
            && pos.as_usize() == Some(keypos),
    )
}

/// Whether an expression always builds the same term that the pattern matched.
fn makes_same(pattern: Term<'_>, made: Term<'_>, constant: bool) -> bool {
    let special = [am::underscore, am::dollar_dollar, am::dollar_underscore];
    let mut todo = vec![(pattern, made, constant)];
    while let Some((a, b, constant)) = todo.pop() {
        if let Some(y) = b.as_cons() {
            let Some(x) = a.as_cons() else { return false };
            todo.extend([(x.tail(), y.tail(), constant), (x.head(), y.head(), constant)]);
        } else if let Some(mut t) = b.as_tuple() {
            if !constant {
                match *t.elements() {
                    [c, inner] if c.is_atom(am::const_) => {
                        todo.push((a, inner, true));
                        continue;
                    }
                    [inner] => match inner.as_tuple() {
                        Some(u) => t = u,
                        None => return false,
                    },
                    _ => return false,
                }
            }
            let Some(x) = a.as_tuple().filter(|x| x.len() == t.len()) else { return false };
            todo.extend(x.elements().iter().zip(t.elements()).map(|(a, b)| (*a, *b, constant)));
        } else if b.as_map().is_some()
            || !order::same(a, b)
            || special.iter().any(|s| a.is_atom(*s))
            || (constant && order::variable(a).is_some())
        {
            return false;
        }
    }
    true
}
