//! Type tests and access to parts of terms: the guard BIFs other than arithmetic.

use kvik_heap::arith::integer_value;
use kvik_heap::bits::context_bits;
use kvik_heap::suspended_bif::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, map, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "is_atom", 1, is_atom),
    bif!("erlang", "is_binary", 1, is_binary),
    bif!("erlang", "is_bitstring", 1, is_bitstring),
    bif!("erlang", "is_boolean", 1, is_boolean),
    bif!("erlang", "is_float", 1, is_float),
    bif!("erlang", "is_function", 1, is_function),
    bif!("erlang", "is_function", 2, is_function_2),
    bif!("erlang", "is_integer", 1, is_integer),
    bif!("erlang", "is_integer", 3, is_integer_between, since 29),
    bif!("erlang", "is_record", 1, is_native_record, since 29),
    bif!("erlang", "is_list", 1, is_list),
    bif!("erlang", "is_map", 1, is_map),
    bif!("erlang", "is_number", 1, is_number),
    bif!("erlang", "is_pid", 1, is_pid),
    bif!("erlang", "is_port", 1, is_port),
    bif!("erlang", "is_record", 2, is_record_2),
    bif!("erlang", "is_record", 3, is_record_3, until 29),
    bif!("erlang", "is_record", 3, is_any_record_3, since 29),
    bif!("erlang", "is_reference", 1, is_reference),
    bif!("erlang", "is_tuple", 1, is_tuple),
    bif!("erlang", "is_map_key", 2, is_map_key),
    bif!("erlang", "map_get", 2, map_get),
    bif!("erlang", "map_size", 1, map_size),
    bif!("erlang", "hd", 1, hd),
    bif!("erlang", "tl", 1, tl),
    bif!("erlang", "length", 1, length),
    bif!("erlang", "size", 1, size),
    bif!("erlang", "tuple_size", 1, tuple_size),
    bif!("erlang", "byte_size", 1, byte_size),
    bif!("erlang", "bit_size", 1, bit_size),
    bif!("erlang", "element", 2, element),
    bif!("erlang", "self", 0, self_0),
];

type R<'h> = BifResult<'h>;

fn is_atom<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_atom().is_some()))
}
fn is_binary<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_bits().is_some_and(|b| b.is_binary())))
}
fn is_bitstring<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_bits().is_some()))
}
fn is_boolean<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_bool().is_some()))
}
fn is_float<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_float().is_some()))
}
fn is_function<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_fun().is_some()))
}
fn is_function_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[1].view() {
        View::Small(n) if n >= 0 => {
            Ok(Term::bool(a[0].as_fun().is_some_and(|f| f.arity() as i64 == n)))
        }
        View::Big(b) if !b.is_negative() => Ok(Term::bool(false)),
        _ => Err(p.badarg()),
    }
}
fn is_integer<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].is_integer()))
}
/// Whether an integer lies between two others, inclusive.
fn is_integer_between<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    let bounds = [a[1], a[2]].map(integer_value);
    let [Some(low), Some(high)] = bounds else { return Err(p.badarg()) };
    Ok(Term::bool(integer_value(a[0]).is_some_and(|n| low <= n && n <= high)))
}
fn is_native_record<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_record().is_some()))
}
fn is_list<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].is_list()))
}
fn is_map<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_map().is_some()))
}
fn is_number<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].is_integer() || a[0].as_float().is_some()))
}
fn is_pid<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_pid().is_some()))
}
fn is_port<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(matches!(a[0].view(), View::Port(_))))
}
fn is_reference<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_ref().is_some()))
}
fn is_tuple<'h>(_: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    Ok(Term::bool(a[0].as_tuple().is_some()))
}
fn has_tag(t: Term<'_>, tag: Term<'_>) -> bool {
    t.as_tuple().and_then(|t| t.get(0)).is_some_and(|t| t.same(tag))
}
fn is_record_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[1].as_atom() {
        Some(name) => {
            let native = a[0].as_record().is_some_and(|r| r.definition().name() == name);
            Ok(Term::bool(native || has_tag(a[0], a[1])))
        }
        None => Err(p.badarg()),
    }
}
/// With a module and a name: whether it is that native record.
fn is_any_record_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[1].as_atom().zip(a[2].as_atom()) {
        Some((module, name)) => {
            let d = a[0].as_record().map(|r| r.definition());
            Ok(Term::bool(d.is_some_and(|d| (d.module(), d.name()) == (module, name))))
        }
        None => is_record_3(p, a),
    }
}
fn is_record_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match (a[1].as_atom(), a[2].as_small()) {
        (Some(_), Some(n)) => {
            let size = a[0].as_tuple().map(|t| t.len() as i64);
            Ok(Term::bool(size == Some(n) && has_tag(a[0], a[1])))
        }
        _ => Err(p.badarg()),
    }
}
fn is_map_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[1].as_map() {
        Some(m) => Ok(Term::bool(map::contains(m, a[0]))),
        None => Err(p.error_pair(am::badmap, a[1])),
    }
}
fn map_get<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    let Some(m) = a[1].as_map() else { return Err(p.error_pair(am::badmap, a[1])) };
    map::get(m, a[0]).ok_or_else(|| p.error_pair(am::badkey, a[0]))
}
fn map_size<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[0].as_map() {
        Some(m) => Ok(p.heap.integer(m.len() as i64)),
        None => Err(p.error_pair(am::badmap, a[0])),
    }
}
fn hd<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    a[0].as_cons().map(|c| c.head()).ok_or_else(|| p.badarg())
}
fn tl<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    a[0].as_cons().map(|c| c.tail()).ok_or_else(|| p.badarg())
}
/// State of `length/1`: the rest of the list, and the length before it.
struct Length<'h>(Term<'h>, usize);
impl SuspendedState for Length<'static> {
    type In<'h> = Length<'h>;
}

/// `length/1` when called by `apply`; guards use native code
/// (`jit/src/x86_64/templates/guards.rs`).
fn length<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    /// List cells per reduction, as in OTP.
    const CELLS: usize = 16;
    let Length(rest, before) = p.resumed::<Length<'static>>().unwrap_or(Length(a[0], 0));
    let steps = p.steps(CELLS);
    let mut it = rest.list();
    let n = it.by_ref().take(steps).count();
    if it.rest.as_cons().is_some() {
        return Err(p.again::<Length<'static>>(Length(it.rest, before + n), None));
    }
    p.steps_left(steps - n, CELLS);
    match it.rest.is_nil() {
        true => Ok(p.heap.integer((before + n) as i64)),
        false => Err(p.badarg()),
    }
}
fn size<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[0].view() {
        View::Tuple(t) => Ok(p.heap.integer(t.len() as i64)),
        View::Bits(b) => Ok(p.heap.integer(b.bit_len() as i64 / 8)),
        _ => Err(p.badarg()),
    }
}
fn tuple_size<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    a[0].as_tuple().map(|t| p.heap.integer(t.len() as i64)).ok_or_else(|| p.badarg())
}
fn byte_size<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    match a[0].as_bits() {
        Some(b) => Ok(p.heap.integer(b.byte_size() as i64)),
        // Compilers since OTP 26 ask for the size of the rest of a match context.
        None => match context_bits(a[0]) {
            Some(bits) => Ok(p.heap.integer(bits.div_ceil(8) as i64)),
            None => Err(p.badarg()),
        },
    }
}
fn bit_size<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    let bits = a[0].as_bits().map(|b| b.bit_len()).or_else(|| context_bits(a[0]));
    bits.map(|n| p.heap.integer(n as i64)).ok_or_else(|| p.badarg())
}
fn element<'h>(p: &'h Proc, a: &[Term<'h>]) -> R<'h> {
    let e = a[1].as_tuple().zip(a[0].as_usize()).and_then(|(t, i)| t.get(i.checked_sub(1)?));
    e.ok_or_else(|| p.badarg())
}
fn self_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> R<'h> {
    Ok(p.self_pid())
}
