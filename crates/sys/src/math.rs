//! Functions of the C library's mathematics that Rust's floats lack, or compute another way.

macro_rules! of_one {
    ($($name:ident)*) => {
        mod c {
            extern "C" {
                $(pub fn $name(x: f64) -> f64;)*
            }
        }
        $(
            pub fn $name(x: f64) -> f64 {
                // SAFETY: takes and gives a double, nothing else.
                unsafe { c::$name(x) }
            }
        )*
    };
}

of_one! { acosh asinh atanh erf erfc }
