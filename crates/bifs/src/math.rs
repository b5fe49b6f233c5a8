//! The natives of `math`.

use kvik_heap::arith::float_value;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::Term;

pub const BIFS: &[BifEntry] = &[
    bif!("math", "acos", 1, acos),
    bif!("math", "acosh", 1, acosh),
    bif!("math", "asin", 1, asin),
    bif!("math", "asinh", 1, asinh),
    bif!("math", "atan", 1, atan),
    bif!("math", "atan2", 2, atan2),
    bif!("math", "atanh", 1, atanh),
    bif!("math", "ceil", 1, ceil),
    bif!("math", "cos", 1, cos),
    bif!("math", "cosh", 1, cosh),
    bif!("math", "erf", 1, erf),
    bif!("math", "erfc", 1, erfc),
    bif!("math", "exp", 1, exp),
    bif!("math", "floor", 1, floor),
    bif!("math", "fmod", 2, fmod),
    bif!("math", "log", 1, log),
    bif!("math", "log10", 1, log10),
    bif!("math", "log2", 1, log2),
    bif!("math", "pow", 2, pow),
    bif!("math", "sin", 1, sin),
    bif!("math", "sinh", 1, sinh),
    bif!("math", "sqrt", 1, sqrt),
    bif!("math", "tan", 1, tan),
    bif!("math", "tanh", 1, tanh),
];

/// An argument as a float: `badarg` for other terms, `badarith` for an integer beyond the range.
fn value(p: &Proc, t: Term<'_>) -> Result<f64, Raised> {
    float_value(t).ok_or_else(|| if t.is_integer() { p.badarith() } else { p.badarg() })
}

/// A float result; `badarith` if it is not finite.
fn answer<'h>(p: &'h Proc, f: f64) -> BifResult<'h> {
    if f.is_finite() {
        Ok(p.heap.float(f))
    } else {
        Err(p.badarith())
    }
}

macro_rules! of_one {
    ($($name:ident = $f:expr;)*) => {$(
        fn $name<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
            let x = value(p, a[0])?;
            let f: fn(f64) -> f64 = $f;
            answer(p, f(x))
        }
    )*};
}
macro_rules! of_two {
    ($($name:ident = $f:expr;)*) => {$(
        fn $name<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
            let (x, y) = (value(p, a[0])?, value(p, a[1])?);
            let f: fn(f64, f64) -> f64 = $f;
            answer(p, f(x, y))
        }
    )*};
}

of_one! {
    acos = f64::acos;
    acosh = kvik_sys::math::acosh;
    asin = f64::asin;
    asinh = kvik_sys::math::asinh;
    atan = f64::atan;
    atanh = kvik_sys::math::atanh;
    ceil = f64::ceil;
    cos = f64::cos;
    cosh = f64::cosh;
    erf = kvik_sys::math::erf;
    erfc = kvik_sys::math::erfc;
    exp = f64::exp;
    floor = f64::floor;
    log = f64::ln;
    log10 = f64::log10;
    log2 = f64::log2;
    sin = f64::sin;
    sinh = f64::sinh;
    sqrt = f64::sqrt;
    tan = f64::tan;
    tanh = f64::tanh;
}
of_two! {
    atan2 = f64::atan2;
    fmod = |x, y| x % y;
    pow = f64::powf;
}
