//! Raising exceptions: `erlang:error/1,2,3`, `exit/1`, `throw/1`, `raise/3`, `nif_error/1,2`.
//!
//! But for `nif_error` they add no entry of their own to the stack trace: the arguments and
//! `error_info` are those of the calling function, passed in `Root::Spare`.

use kvik_heap::roots::Root;
use kvik_proc::{bif, BifEntry, BifResult, ErrorClass, Proc, Raised};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "error", 1, error_1),
    bif!("erlang", "error", 2, error_2),
    bif!("erlang", "error", 3, error_3),
    bif!("erlang", "exit", 1, exit_1),
    bif!("erlang", "throw", 1, throw_1),
    bif!("erlang", "raise", 3, raise_3),
    bif!("erlang", "nif_error", 1, nif_error),
    bif!("erlang", "nif_error", 2, nif_error),
];

fn error_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [reason] = *a else { return Err(p.badarg()) };
    Err(p.error(reason))
}
/// Its entry in the stack trace is its own, whatever arguments the second one lists.
fn nif_error<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Err(p.error(*a.first().ok_or_else(|| p.badarg())?))
}
fn exit_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [reason] = *a else { return Err(p.badarg()) };
    Err(p.exit(reason))
}
fn throw_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [value] = *a else { return Err(p.badarg()) };
    Err(p.throw(value))
}

/// An error of the calling function, with its arguments if they are a list, and its `error_info`.
fn error_with<'h>(p: &'h Proc, reason: Term<'h>, args: Term<'h>, info: Option<Term<'h>>) -> Raised {
    let r = p.error(reason);
    let args = if args.is_list() { args } else { am::undefined.into() };
    let (last, kind) = match info {
        Some(map) => (map, am::error_info),
        None => (args, am::function_clause),
    };
    if info.is_some() || args.is_list() {
        let first = [args, am::undefined.into(), last, kind.into()];
        p.heap.set_root(Root::Spare, p.heap.tuple(&first));
    }
    r
}
fn error_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [reason, args] = *a else { return Err(p.badarg()) };
    Err(error_with(p, reason, args, None))
}
/// Invalid options are ignored.
fn error_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [reason, args, options] = *a else { return Err(p.badarg()) };
    let options = options.list_to_vec().unwrap_or_default();
    let infos: Option<Vec<_>> = options
        .iter()
        .map(|o| match o.as_tuple_n::<2>() {
            Some([k, map]) if k.is_atom(am::error_info) && map.as_map().is_some() => Some(map),
            _ => None,
        })
        .collect();
    let info = infos.and_then(|v| v.last().copied());
    Err(error_with(p, reason, args, info))
}

/// An invalid class or stack trace is not an exception: the function returns `badarg`.
fn raise_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [class, reason, trace] = *a else { return Err(p.badarg()) };
    let class = match class.as_atom() {
        Some(am::error) => ErrorClass::Error,
        Some(am::exit) => ErrorClass::Exit,
        Some(am::throw) => ErrorClass::Throw,
        _ => return Ok(am::badarg.into()),
    };
    let Some(items) = trace.list_to_vec() else {
        return Ok(am::badarg.into());
    };
    let items: Option<Vec<_>> = items.into_iter().map(|t| trace_item(p, t)).collect();
    let Some(mut items) = items else {
        return Ok(am::badarg.into());
    };
    items.truncate(crate::system::backtrace_depth().max(1));
    Err(p.raise_with_trace(class, reason, p.heap.list(&items)))
}
/// A stack trace item as `try … catch` returns it, or one without a location.
fn trace_item<'h>(p: &'h Proc, t: Term<'h>) -> Option<Term<'h>> {
    let is_atom = |t: Term<'_>| t.as_atom().is_some();
    match *t.as_tuple()?.elements() {
        [f, args] if f.as_fun().is_some() => Some(p.heap.tuple(&[f, args, Term::NIL])),
        [f, _, at] if f.as_fun().is_some() => at.is_list().then_some(t),
        [m, f, a] if is_atom(m) && is_atom(f) => Some(p.heap.tuple(&[m, f, a, Term::NIL])),
        [m, f, _, at] if is_atom(m) && is_atom(f) => at.is_list().then_some(t),
        _ => None,
    }
}
