//! Bytes that are no terms: nothing may panic, and nothing may be asked for that is not there.

use kvik_etf::{decode, encode, DecodeOpts, EncodeOpts, Encoding};
use kvik_heap::Heap;
use kvik_term::Term;

fn random(n: &mut u64) -> u64 {
    *n ^= *n << 13;
    *n ^= *n >> 7;
    *n ^= *n << 17;
    *n
}

fn seeds() -> Vec<Vec<u8>> {
    let h = Heap::new(64);
    let f = h.float(1.5);
    let b = h.binary(&[7; 100]);
    let big = h.big(true, &[1, 2, 3]);
    let bits = h.bitstring(&[1, 2], 11);
    let all: Vec<_> = (0..40).map(|i| (Term::int(i), f)).collect();
    let list = h.list(&[f, b, big, bits, h.make_ref(), Term::local_pid(9), h.map(&all)]);
    let t = h.tuple(&[list, h.cons(h.string("abc"), f), h.map(&all[..9])]);
    let e = |o, l| encode(t, o, l);
    let text = EncodeOpts { text_floats: true, utf8_atoms: true, ..Default::default() };
    vec![e(EncodeOpts::default(), 0), e(text, 0), e(EncodeOpts::default(), 6)]
}

#[test]
fn damaged_terms() {
    let mut n = 88_172_645_463_325_252;
    for seed in seeds() {
        for _ in 0..30_000 {
            let mut b = seed.clone();
            for _ in 0..1 + random(&mut n) % 4 {
                let i = (random(&mut n) % b.len() as u64) as usize;
                b[i] = random(&mut n) as u8;
            }
            b.truncate(b.len() - (random(&mut n) % 3) as usize);
            let h = Heap::new(64);
            if let Ok((t, used)) = decode(&b, &h, DecodeOpts::default()) {
                assert!(used <= b.len());
                let again = encode(t, EncodeOpts::default(), 0);
                let (t, _) = decode(&again, &h, DecodeOpts::default()).expect("what we wrote");
                assert_eq!(encode(t, EncodeOpts::default(), 0), again);
            }
        }
    }
}

/// A term that shares its parts again and again is counted without its bytes being kept.
#[test]
fn shared_terms() {
    let h = Heap::new(64);
    let t = (0..20).fold(Term::NIL, |t, _| h.cons(t, t));
    let mut e = Encoding::counting(t, EncodeOpts::default());
    while !e.run(&mut 1000) {}
    assert_eq!(e.len(), encode(t, EncodeOpts::default(), 0).len());
    assert!(e.held() < 1 << 18);
}

#[test]
fn deep_terms() {
    let h = Heap::new(64);
    let mut b = vec![131];
    for _ in 0..200_000 {
        b.extend_from_slice(&[108, 0, 0, 0, 1]);
    }
    b.push(106);
    b.extend(std::iter::repeat_n(106, 200_000));
    let (t, _) = decode(&b, &h, DecodeOpts::default()).unwrap();
    assert_eq!(encode(t, EncodeOpts::default(), 0), b);
}

/// What claims more parts than there are bytes for, nested so that each claim alone could be true.
#[test]
fn claims_without_bytes() {
    for open in [&[108, 0, 1, 0, 0][..], &[105, 0, 1, 0, 0], &[116, 0, 0, 0x80, 0], &[104, 255]] {
        let h = Heap::new(64);
        let mut b = vec![131];
        for _ in 0..20_000 {
            b.extend_from_slice(open);
        }
        assert_eq!(
            decode(&b, &h, DecodeOpts::default()).err(),
            Some(kvik_etf::EtfError::Malformed)
        );
        assert!(h.sizes().used + h.sizes().fragments < 2 * b.len() + 100, "{open:?}");
    }
}

/// Maps that follow each other share their keys where these are the same; the others do not.
#[test]
fn maps_in_a_row() {
    let h = Heap::new(64);
    let map = |keys: &[i32]| {
        h.map(&keys.iter().map(|k| (Term::int(*k), Term::int(k * 2))).collect::<Vec<_>>())
    };
    let all = h.list(&[map(&[1, 2]), map(&[1, 2]), map(&[1, 3]), map(&[]), map(&[1, 2, 3])]);
    let bytes = encode(all, EncodeOpts::default(), 0);
    let (t, _) = decode(&bytes, &h, DecodeOpts::default()).unwrap();
    assert!(kvik_term::cmp::eq_exact(t, all));
    // The same key twice, and keys in another order than theirs.
    let pairs = |a: u8, b: u8| vec![131, 116, 0, 0, 0, 2, 97, a, 97, 5, 97, b, 97, 6];
    assert!(decode(&pairs(1, 1), &h, DecodeOpts::default()).is_err());
    let (t, _) = decode(&pairs(2, 1), &h, DecodeOpts::default()).unwrap();
    let want = h.map(&[(Term::int(2), Term::int(5)), (Term::int(1), Term::int(6))]);
    assert!(kvik_term::cmp::eq_exact(t, want));
}
