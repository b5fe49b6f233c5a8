//! Operators and numeric guard BIFs of `erlang`.

use std::cmp::Ordering;

use kvik_heap::arith::{float_value, ArithError, ArithOp, BitOp, Number};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{cmp, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "+", 1, plus_1),
    bif!("erlang", "-", 1, minus_1),
    bif!("erlang", "+", 2, plus),
    bif!("erlang", "-", 2, minus),
    bif!("erlang", "*", 2, times),
    bif!("erlang", "/", 2, divide),
    bif!("erlang", "div", 2, div),
    bif!("erlang", "rem", 2, rem),
    bif!("erlang", "band", 2, band),
    bif!("erlang", "bor", 2, bor),
    bif!("erlang", "bxor", 2, bxor),
    bif!("erlang", "bnot", 1, bnot),
    bif!("erlang", "bsl", 2, bsl),
    bif!("erlang", "bsr", 2, bsr),
    bif!("erlang", "==", 2, eq),
    bif!("erlang", "/=", 2, ne),
    bif!("erlang", "=:=", 2, exact_eq),
    bif!("erlang", "=/=", 2, exact_ne),
    bif!("erlang", "<", 2, lt),
    bif!("erlang", "=<", 2, le),
    bif!("erlang", ">", 2, gt),
    bif!("erlang", ">=", 2, ge),
    bif!("erlang", "min", 2, min),
    bif!("erlang", "max", 2, max),
    bif!("erlang", "not", 1, not),
    bif!("erlang", "and", 2, and),
    bif!("erlang", "or", 2, or),
    bif!("erlang", "xor", 2, xor),
    bif!("erlang", "abs", 1, abs),
    bif!("erlang", "float", 1, float),
    bif!("erlang", "round", 1, round),
    bif!("erlang", "trunc", 1, trunc),
    bif!("erlang", "floor", 1, floor),
    bif!("erlang", "ceil", 1, ceil),
    bif!("erts_internal", "cmp_term", 2, cmp_term),
];

fn done<'h>(p: &'h Proc, n: Number<'h>) -> BifResult<'h> {
    n.map_err(|f| match f {
        ArithError::BadArith => p.badarith(),
        ArithError::SystemLimit => p.system_limit(),
    })
}

fn plus_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].view() {
        View::Small(_) | View::Big(_) | View::Float(_) => Ok(a[0]),
        _ => Err(p.badarith()),
    }
}
fn minus_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.negate(a[0]))
}
fn plus<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.arith(ArithOp::Add, a[0], a[1]))
}
fn minus<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.arith(ArithOp::Sub, a[0], a[1]))
}
fn times<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.arith(ArithOp::Mul, a[0], a[1]))
}
fn divide<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.divide(a[0], a[1]))
}
fn div<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.int_divide(a[0], a[1], false))
}
fn rem<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.int_divide(a[0], a[1], true))
}
fn band<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.bitwise(BitOp::And, a[0], a[1]))
}
fn bor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.bitwise(BitOp::Or, a[0], a[1]))
}
fn bxor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.bitwise(BitOp::Xor, a[0], a[1]))
}
fn bnot<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.complement(a[0]))
}
fn bsl<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.shift_left(a[0], a[1]))
}
fn bsr<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    done(p, p.heap.shift_right(a[0], a[1]))
}

fn eq<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::eq(a[0], a[1])))
}
fn ne<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(!cmp::eq(a[0], a[1])))
}
fn exact_eq<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::eq_exact(a[0], a[1])))
}
fn exact_ne<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(!cmp::eq_exact(a[0], a[1])))
}
fn lt<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::compare(a[0], a[1]).is_lt()))
}
fn le<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::compare(a[0], a[1]).is_le()))
}
fn gt<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::compare(a[0], a[1]).is_gt()))
}
fn ge<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(cmp::compare(a[0], a[1]).is_ge()))
}
fn min<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(if cmp::compare(a[0], a[1]).is_gt() { a[1] } else { a[0] })
}
fn max<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(if cmp::compare(a[0], a[1]).is_lt() { a[1] } else { a[0] })
}
/// The order of keys in maps: -1, 0 or 1.
fn cmp_term<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::int(match cmp::compare_exact(a[0], a[1]) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}

fn logic<'h>(p: &'h Proc, a: &[Term<'h>], f: fn(bool, bool) -> bool) -> BifResult<'h> {
    match a[0].as_bool().zip(a[1].as_bool()) {
        Some((x, y)) => Ok(Term::bool(f(x, y))),
        None => Err(p.badarg()),
    }
}
fn not<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_bool().map(|b| Term::bool(!b)).ok_or_else(|| p.badarg())
}
fn and<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    logic(p, a, |x, y| x & y)
}
fn or<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    logic(p, a, |x, y| x | y)
}
fn xor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    logic(p, a, |x, y| x ^ y)
}

fn abs<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].view() {
        View::Small(i) => Ok(p.heap.integer(i.abs())),
        View::Big(b) if b.is_negative() => Ok(p.heap.big(false, b.digits())),
        View::Big(_) => Ok(a[0]),
        View::Float(f) if f < 0.0 => Ok(p.heap.float(-f)),
        // Before OTP 27 -0.0, which is not below zero, stays.
        View::Float(f) if f == 0.0 && kvik_release::current().distinguishes_zeros() => {
            Ok(p.heap.float(0.0))
        }
        View::Float(_) => Ok(a[0]),
        _ => Err(p.badarg()),
    }
}
fn float<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_float().is_some() {
        return Ok(a[0]);
    }
    float_value(a[0]).map(|f| p.heap.float(f)).ok_or_else(|| p.badarg())
}
fn to_integer<'h>(p: &'h Proc, t: Term<'h>, f: fn(f64) -> f64) -> BifResult<'h> {
    match t.view() {
        View::Small(_) | View::Big(_) => Ok(t),
        View::Float(x) => Ok(p.heap.integer_of_float(f(x))),
        _ => Err(p.badarg()),
    }
}
fn round<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    to_integer(p, a[0], f64::round)
}
fn trunc<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    to_integer(p, a[0], f64::trunc)
}
fn floor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    to_integer(p, a[0], f64::floor)
}
fn ceil<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    to_integer(p, a[0], f64::ceil)
}
