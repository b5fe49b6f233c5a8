//! The two zeros of floats. They are equal to `==`; since OTP 27 they differ to `=:=`, to matching
//! and as keys.

/// The bits by which a float is compared exactly and hashed as a key. Only for -0.0 do they depend
/// on the release.
#[inline]
pub fn exact_bits(f: f64) -> u64 {
    const NEGATIVE_ZERO: u64 = 1 << 63;
    match f.to_bits() {
        NEGATIVE_ZERO if !kvik_release::current().distinguishes_zeros() => 0,
        bits => bits,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use kvik_release::{by_name, select, RELEASES};
    use kvik_state::Vm;

    use crate::hash::internal;
    use crate::word::{header, FLOAT, TAG_BOXED};
    use crate::{cmp, Term};

    /// `=:=`, the order of keys, whether the hashes are equal, and `==` of 0.0 and -0.0.
    fn zeros_under(release: &'static str) -> (bool, Ordering, bool, bool) {
        Vm::new().enter(move || {
            let release = by_name(release).unwrap_or(&RELEASES[0]);
            select(release, release.erts_version);
            let floats = [0.0f64, -0.0].map(|f| [header(FLOAT, 1), f.to_bits()]);
            // SAFETY: both point to the header of a float that lives as long.
            let [plus, minus] = floats
                .each_ref()
                .map(|f| unsafe { Term::from_word(f.as_ptr() as u64 | TAG_BOXED) });
            let hashes = internal(plus, 0) == internal(minus, 0);
            (
                cmp::eq_exact(plus, minus),
                cmp::compare_exact(plus, minus),
                hashes,
                cmp::eq(plus, minus),
            )
        })
    }

    #[test]
    fn zeros_differ_exactly_since_27() {
        assert_eq!(zeros_under("25"), (true, Ordering::Equal, true, true));
        assert_eq!(zeros_under("27"), (false, Ordering::Greater, false, true));
    }
}
