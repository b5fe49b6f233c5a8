//! The external term format. A term that comes out is written again in every form there is, read
//! back, copied, collected, hashed, compared and printed.

use kvik_etf::{decode, encode, DecodeOpts, Decoding, EncodeOpts, Encoding, EtfError};
use kvik_heap::roots::Root;
use kvik_heap::{Heap, LiteralArea, OwnedTerm};
use kvik_term::{am, cmp, hash, phash, print, Atom, Term};

/// What a distribution message's atom references stand for.
const CACHE: [Atom; 3] = [am::ok, am::error, am::undefined];

pub fn run(data: &[u8]) {
    crate::install();
    let Some((how, bytes)) = data.split_first() else { return };
    let safe = how & 1 != 0;
    let atoms: &[Atom] = if how & 2 != 0 { &CACHE } else { &[] };
    let opts = DecodeOpts { safe, atoms, ..DecodeOpts::default() };
    let heap = Heap::new(64);
    let at_once = decode(bytes, &heap, opts);
    let by_steps = in_steps(bytes, &heap, opts, 1 + (how >> 2) as usize);
    match (at_once, by_steps) {
        (Ok((a, n)), Ok((b, m))) => {
            assert_eq!(n, m);
            assert!(n <= bytes.len());
            assert_eq!(text(a), text(b));
            term(a);
        }
        (Err(a), Err(b)) => assert_eq!(a, b),
        _ => panic!("at once and in steps differ"),
    }
}

fn in_steps<'h>(
    bytes: &[u8],
    heap: &'h Heap,
    opts: DecodeOpts<'_>,
    steps: usize,
) -> Result<(Term<'h>, usize), EtfError> {
    let mut d = Decoding::new(bytes, opts)?;
    loop {
        if let Some(done) = d.run(bytes, heap, &mut { steps })? {
            return Ok(done);
        }
    }
}

fn text(t: Term<'_>) -> Vec<u8> {
    encode(t, EncodeOpts::default(), 0)
}

fn term(t: Term<'_>) {
    let plain = text(t);
    let same = |other: Term<'_>, how: &str| {
        assert!(cmp::eq_exact(t, other), "{how} made another term");
        assert_eq!(phash::phash2(t), phash::phash2(other), "{how}");
        assert_eq!(hash::internal(t, 1), hash::internal(other, 1), "{how}");
    };
    for flags in 0..8 {
        let opts = EncodeOpts {
            utf8_atoms: flags & 1 != 0,
            text_floats: flags & 2 != 0,
            deterministic: flags & 4 != 0,
            ..EncodeOpts::default()
        };
        let written = encode(t, opts, 0);
        let heap = Heap::new(64);
        let (back, used) = decode(&written, &heap, DecodeOpts::default()).expect("what we wrote");
        assert_eq!(used, written.len());
        same(back, "writing and reading");
        assert!(encode(t, opts, 1 + flags).len() <= written.len());
        let mut counting = Encoding::counting(t, opts);
        while !counting.run(&mut 10) {}
        assert_eq!(counting.len(), written.len());
    }
    let packed = encode(t, EncodeOpts::default(), 6);
    let heap = Heap::new(64);
    let (back, used) = decode(&packed, &heap, DecodeOpts::default()).expect("what we packed");
    assert_eq!(used, packed.len());
    same(back, "packing");
    assert!(cmp::compare(t, back).is_eq());
    let owned = OwnedTerm::new(t);
    same(owned.term(), "a message");
    let mut heap = Heap::new(64);
    heap.set_root(Root::ExcValue, heap.copy(t));
    for full in [false, false, true] {
        heap.collect_parked(full);
        same(heap.root(Root::ExcValue), "a collection");
    }
    let area = LiteralArea::new(&[t]).expect("room for literals");
    same(area.get(0).expect("a literal"), "literals");
    assert_eq!(plain, text(heap.root(Root::ExcValue)));
    phash::phash(t);
    print::display(t);
}
