//! `math`: floats in, floats out; what has no finite result is `badarith`.

use kvik_heap::arith::float_value;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::Term;

macro_rules! functions {
    ($($name:ident = $f:expr;)*) => {
        $(fn $name<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
            unary(p, a[0], $f)
        })*
    };
}

pub const BIFS: &[BifEntry] = &[
    bif!("math", "acos", 1, acos),
    bif!("math", "acosh", 1, acosh),
    bif!("math", "asin", 1, asin),
    bif!("math", "asinh", 1, asinh),
    bif!("math", "atan", 1, atan),
    bif!("math", "atanh", 1, atanh),
    bif!("math", "ceil", 1, ceil),
    bif!("math", "cos", 1, cos),
    bif!("math", "cosh", 1, cosh),
    bif!("math", "erf", 1, erf),
    bif!("math", "erfc", 1, erfc),
    bif!("math", "exp", 1, exp),
    bif!("math", "floor", 1, floor),
    bif!("math", "log", 1, log),
    bif!("math", "log10", 1, log10),
    bif!("math", "log2", 1, log2),
    bif!("math", "sin", 1, sin),
    bif!("math", "sinh", 1, sinh),
    bif!("math", "sqrt", 1, sqrt),
    bif!("math", "tan", 1, tan),
    bif!("math", "tanh", 1, tanh),
    bif!("math", "atan2", 2, atan2),
    bif!("math", "fmod", 2, fmod),
    bif!("math", "pow", 2, pow),
];

functions! {
    acos = libm::acos;
    acosh = libm::acosh;
    asin = libm::asin;
    asinh = libm::asinh;
    atan = libm::atan;
    atanh = libm::atanh;
    ceil = f64::ceil;
    cos = libm::cos;
    cosh = libm::cosh;
    erf = libm::erf;
    erfc = libm::erfc;
    exp = libm::exp;
    floor = f64::floor;
    log = libm::log;
    log10 = libm::log10;
    log2 = libm::log2;
    sin = libm::sin;
    sinh = libm::sinh;
    sqrt = f64::sqrt;
    tan = libm::tan;
    tanh = libm::tanh;
}

fn finite<'h>(p: &'h Proc, f: f64) -> BifResult<'h> {
    if f.is_finite() {
        Ok(p.heap.float(f))
    } else {
        Err(p.badarith())
    }
}
fn unary<'h>(p: &'h Proc, t: Term<'h>, f: fn(f64) -> f64) -> BifResult<'h> {
    match float_value(t) {
        Some(x) => finite(p, f(x)),
        None => Err(p.badarith()),
    }
}
fn binary<'h>(p: &'h Proc, a: &[Term<'h>], f: fn(f64, f64) -> f64) -> BifResult<'h> {
    match float_value(a[0]).zip(float_value(a[1])) {
        Some((x, y)) => finite(p, f(x, y)),
        None => Err(p.badarith()),
    }
}
fn atan2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    binary(p, a, libm::atan2)
}
fn fmod<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    binary(p, a, |x, y| x % y)
}
fn pow<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    binary(p, a, libm::pow)
}
