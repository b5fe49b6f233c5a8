//! Reading and building bit strings, compared with a bit-by-bit model.

use kvik_heap::bits::*;
use kvik_heap::bits_build::*;
use kvik_heap::Heap;
use kvik_term::word::*;
use kvik_term::{am, Term};

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|b| (0..8).map(move |i| b >> (7 - i) & 1 == 1)).collect()
}
fn bits_of_term(t: Term<'_>) -> Vec<bool> {
    let b = t.as_bits().unwrap();
    let mut v = bits_of(&b.to_bytes());
    v.truncate(b.bit_len());
    v
}
fn word<'h>(_: &'h Heap, w: u64) -> Term<'h> {
    // SAFETY: a word of that heap.
    unsafe { Term::from_word(w) }
}

/// The value of the bits, decoded by the flags; at most 120 bits.
fn value(bits: &[bool], flags: u32) -> i128 {
    let n = bits.len();
    let mut v: i128 = 0;
    if flags & LITTLE != 0 {
        for (i, c) in bits.chunks(8).enumerate() {
            let b = c.iter().fold(0i128, |b, x| b << 1 | *x as i128);
            v |= b << (8 * i);
        }
    } else {
        v = bits.iter().fold(0, |v, b| v << 1 | *b as i128);
    }
    if flags & SIGNED != 0 && n > 0 && v >> (n - 1) & 1 == 1 {
        v -= 1 << n;
    }
    v
}
fn integer_value(t: Term<'_>) -> i128 {
    match t.view() {
        kvik_term::View::Small(i) => i as i128,
        kvik_term::View::Big(b) => {
            let d = b.digits();
            let m = d[0] as i128 | (d.get(1).copied().unwrap_or(0) as i128) << 64;
            if b.is_negative() {
                -m
            } else {
                m
            }
        }
        _ => panic!(),
    }
}

#[test]
fn integers_and_parts() {
    let mut r = Rng(0x1234_5678_9abc);
    for _ in 0..3000 {
        let h = Heap::new(64);
        let bytes: Vec<u8> = (0..20 + r.below(80)).map(|_| r.next() as u8).collect();
        let all = bits_of(&bytes);
        let (off, cut) = (r.below(20), r.below(9));
        let t = h.sub_binary(h.binary(&bytes), off, all.len() - off - cut).unwrap();
        let all = &all[off..all.len() - cut];
        // SAFETY: the words are of this heap.
        unsafe {
            let c = h.bs_start_match(t.word());
            let mut at = 0;
            for _ in 0..6 {
                let n = r.below(120);
                let flags = (r.next() as u32) & (LITTLE | SIGNED);
                let w = h.bs_get_integer(c, n, flags);
                if n > all.len() - at {
                    assert_eq!(w, NONE);
                    break;
                }
                let want = value(&all[at..at + n], flags);
                assert_eq!(integer_value(word(&h, w)), want, "{n} bits, flags {flags}");
                assert!(h.integer(0).same(Term::int(0)));
                at += n;
                if r.below(3) == 0 {
                    let k = r.below(all.len() - at + 1);
                    let b = h.bs_get_binary(c, k);
                    assert_eq!(bits_of_term(word(&h, b)), all[at..at + k]);
                    at += k;
                }
            }
            let tail = h.bs_get_tail(c);
            assert_eq!(bits_of_term(word(&h, tail)), all[at..]);
        }
    }
}

#[test]
fn construction() {
    let mut r = Rng(99);
    for _ in 0..3000 {
        let h = Heap::new(64);
        let (mut segs, mut args, mut want) = (vec![], vec![], vec![]);
        for i in 0..1 + r.below(6) {
            let n = r.below(118);
            let mut seg = Seg {
                kind: SegKind::Integer,
                number: i as u32 + 1,
                unit: 1,
                flags: r.next() as u32 & LITTLE,
                string: std::ptr::null(),
            };
            if r.below(3) == 0 {
                let bytes: Vec<u8> = (0..20).map(|_| r.next() as u8).collect();
                let off = r.below(9);
                let b = h.sub_binary(h.binary(&bytes), off, n).unwrap();
                seg.kind = SegKind::Binary;
                want.extend_from_slice(&bits_of(&bytes)[off..off + n]);
                let size = if r.below(2) == 0 { am::all.word() } else { small(n as i64) };
                args.push([b.word(), size]);
            } else {
                let bits: Vec<bool> = (0..n).map(|_| r.next() & 4096 != 0).collect();
                let signed = value(&bits, seg.flags | SIGNED);
                let v = if r.below(2) == 0 { signed } else { value(&bits, seg.flags) };
                let m = v.unsigned_abs();
                let t = h.big(v < 0, &[m as u64, (m >> 64) as u64]);
                want.extend_from_slice(&bits);
                args.push([t.word(), small(n as i64)]);
            }
            segs.push(seg);
        }
        // SAFETY: the words are of this heap.
        let got = unsafe { h.bs_create_bin(&segs, &args).unwrap() };
        assert_eq!(bits_of_term(word(&h, got)), want);
    }
}

#[test]
fn appending_shares_and_copies() {
    let h = Heap::new(64);
    let seg = |kind| Seg { kind, number: 1, unit: 1, flags: 0, string: std::ptr::null() };
    let segs = [seg(SegKind::Append), seg(SegKind::Integer)];
    let push = |bin: u64, v: i64, n: i64| {
        let args = [[bin, am::all.word()], [small(v), small(n)]];
        // SAFETY: the words are of this heap.
        unsafe { h.bs_create_bin(&segs, &args).unwrap() }
    };
    let mut acc = h.binary(b"").word();
    let mut storage = vec![];
    for i in 0..5000 {
        acc = push(acc, i & 255, 8);
        let at = word(&h, acc).as_bytes().unwrap().as_ptr();
        if storage.last() != Some(&at) {
            storage.push(at);
        }
    }
    assert!(storage.len() < 12, "storage moved {} times", storage.len());
    let bytes = word(&h, acc).as_bytes().unwrap().to_vec();
    assert!(bytes.iter().enumerate().all(|(i, b)| *b == i as u8));
    // Two appends to the same binary must not see each other.
    let a = push(acc, 1, 8);
    let b = push(acc, 2, 4);
    assert_eq!(word(&h, a).as_bytes().unwrap()[5000], 1);
    assert_eq!(word(&h, b).as_bits().unwrap().byte(5000), 0x20);
    assert_eq!(word(&h, acc).as_bytes().unwrap(), bytes);
    // A context pins the storage.
    // SAFETY: the words are of this heap.
    unsafe {
        let c = h.bs_start_match(a);
        let before = word(&h, a).as_bytes().unwrap().as_ptr();
        let d = push(a, 9, 8);
        assert_eq!(word(&h, a).as_bytes().unwrap().as_ptr(), before);
        assert_ne!(word(&h, d).as_bytes().unwrap().as_ptr(), before);
        assert_eq!(h.bs_get_integer(c, 16, 0), small(1));
        // In place, and invisible to other references.
        let w = h.bs_init_writable(small(16));
        let (w, mut b) = h.bs_private_append(w, 12, 1).unwrap();
        assert!(b.put_integer(small(0xABC), 12, 0));
        let (w, mut b) = h.bs_private_append(w, 4, 1).unwrap();
        assert!(b.put_integer(small(0xD), 4, 0));
        assert_eq!(word(&h, w).as_bytes().unwrap(), [0xAB, 0xCD]);
    }
}

#[test]
fn failures_say_why() {
    let h = Heap::new(64);
    let seg = |kind, unit| Seg { kind, number: 3, unit, flags: 0, string: std::ptr::null() };
    let fail = |kind, unit, value: Term<'_>, size: Term<'_>| {
        // SAFETY: the words are of this heap.
        let f = unsafe { h.bs_create_bin(&[seg(kind, unit)], &[[value.word(), size.word()]]) };
        let f = f.unwrap_err();
        (f.system_limit, f.op, f.info)
    };
    use SegKind::*;
    let (one, a, all) = (Term::int(1), Term::atom(am::ok), Term::atom(am::all));
    let huge = h.big(false, &[0, 1]);
    assert_eq!(fail(Integer, 1, a, one), (false, am::integer, am::type_));
    assert_eq!(fail(Integer, 1, one, Term::int(-1)), (false, am::integer, am::size));
    assert_eq!(fail(Integer, 8, one, huge), (true, am::integer, am::size));
    let too_long = Term::small(1 << 42).unwrap();
    assert_eq!(fail(Integer, 1, one, too_long), (true, am::integer, am::size));
    assert_eq!(fail(Float, 1, one, Term::int(63)), (false, am::float, am::invalid));
    assert_eq!(fail(Binary, 8, a, all), (false, am::binary, am::type_));
    assert_eq!(fail(Binary, 8, h.bitstring(&[1], 3), all), (false, am::binary, am::unit));
    assert_eq!(fail(Binary, 8, h.binary(b"a"), Term::int(2)), (false, am::binary, am::short));
    assert_eq!(fail(Append, 8, a, all), (false, am::binary, am::type_));
    assert_eq!(fail(Utf8, 0, Term::int(0xD800), one), (false, am::utf8, am::type_));
    assert_eq!(fail(Utf32, 0, Term::int(0x110000), one), (false, am::utf32, am::type_));
}

#[test]
fn characters_and_floats() {
    let h = Heap::new(64);
    let text = "aé€😀";
    // SAFETY: the words are of this heap.
    unsafe {
        let mut segs = vec![];
        let mut args = vec![];
        for kind in [SegKind::Utf8, SegKind::Utf16, SegKind::Utf32] {
            for c in text.chars() {
                segs.push(Seg {
                    kind,
                    number: 1,
                    unit: 0,
                    flags: LITTLE,
                    string: std::ptr::null(),
                });
                args.push([small(c as i64), NIL]);
            }
        }
        let b = h.bs_create_bin(&segs, &args).unwrap();
        let c = h.bs_start_match(b);
        for x in text.chars() {
            assert_eq!(bs_get_utf8(c), small(x as i64));
        }
        for x in text.chars() {
            assert_eq!(bs_get_utf16(c, LITTLE), small(x as i64));
        }
        for x in text.chars() {
            assert_eq!(bs_get_utf32(c, LITTLE), small(x as i64));
        }
        assert!(bs_test_tail(c, 0));
        for bad in [&b"\xC0\x80"[..], b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE2\x82", b"\xFF"] {
            let c = h.bs_start_match(h.binary(bad).word());
            assert_eq!(bs_get_utf8(c), NONE);
        }
        for (f, n) in [(1.5, 16), (65504.0, 16), (6.0e-8, 16), (-0.1, 32), (1e300, 64)] {
            let s = Seg {
                kind: SegKind::Float,
                number: 1,
                unit: 1,
                flags: 0,
                string: std::ptr::null(),
            };
            let b = h.bs_create_bin(&[s], &[[h.float(f).word(), small(n)]]).unwrap();
            let c = h.bs_start_match(b);
            let g = word(&h, h.bs_get_float(c, n as usize, 0)).as_float().unwrap();
            assert!((g - f).abs() <= f.abs() / 1000.0 + 1e-7, "{f} {g}");
        }
    }
}
