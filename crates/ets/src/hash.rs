//! The hash of keys. It gives OTP's values for keys made of integers, strings, binaries, floats
//! and atoms on their own, so that small tables list their objects in OTP's order. (OTP's values
//! for atoms and pids inside other terms depend on its table indexes.)

use kvik_release::KeyHash;
use kvik_term::{hash, Term};

/// The hash of a key: 31 bits.
pub fn of_key(t: Term<'_>) -> u32 {
    let h = match t.as_atom() {
        Some(a) => u64::from(a.name_hash()),
        None => hash::of_key(t),
    };
    // Tables do not use the lowest bit in releases with native records.
    let unused = u32::from(kvik_release::key_hash() == KeyHash::MurmurWithRecords);
    (h >> unused) as u32 & 0x7FFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_heap::Heap;

    #[test]
    fn equal_terms_hash_alike() {
        let h = Heap::new(64);
        let a = h.tuple(&[h.string("abcdefg"), h.binary(b"0123456789abc"), Term::int(7)]);
        let b = h.copy(a);
        assert_eq!(of_key(a), of_key(b));
        let off = h.sub_binary(h.binary(b"x0123456789abc"), 8, 104);
        assert_eq!(of_key(off.unwrap()), of_key(h.binary(b"0123456789abc")));
        assert_ne!(of_key(h.float(1.0)), of_key(Term::int(1)));
    }
}
