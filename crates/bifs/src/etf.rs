//! `erlang`: terms to and from the external format.

use kvik_etf::{encode, DecodeOpts, EncodeOpts, Error};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

use crate::iolist::charge;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "term_to_binary", 1, term_to_binary_1),
    bif!("erlang", "term_to_binary", 2, term_to_binary_2),
    bif!("erlang", "term_to_iovec", 1, term_to_iovec_1),
    bif!("erlang", "term_to_iovec", 2, term_to_iovec_2),
    bif!("erlang", "external_size", 1, external_size_1),
    bif!("erlang", "external_size", 2, external_size_2),
    bif!("erlang", "binary_to_term", 1, binary_to_term_1),
    bif!("erlang", "binary_to_term", 2, binary_to_term_2),
];

/// zlib's own default.
const DEFAULT_LEVEL: u32 = 6;

fn options(t: Term<'_>) -> Option<(EncodeOpts<'static>, u32)> {
    let (mut o, mut level) = (EncodeOpts::default(), 0);
    let mut deterministic = false;
    for e in t.list_to_vec()? {
        match (e.as_atom(), e.as_tuple_n::<2>()) {
            (Some(am::compressed), _) => level = DEFAULT_LEVEL,
            (Some(am::deterministic), _) => deterministic = true,
            (_, Some([k, v])) if k == am::minor_version => {
                o = EncodeOpts::default();
                match v.as_small()? {
                    0 => o.text_floats = true,
                    1 => {}
                    2 => o.utf8_atoms = true,
                    _ => return None,
                }
            }
            (_, Some([k, v])) if k == am::compressed => {
                level = u32::try_from(v.as_small()?).ok().filter(|l| *l < 10)?;
            }
            _ => return None,
        }
    }
    o.deterministic = deterministic;
    Some((o, level))
}

fn bytes<'h>(
    p: &'h Proc,
    t: Term<'h>,
    opts: Option<Term<'h>>,
) -> Result<Vec<u8>, kvik_proc::Raised> {
    let (o, level) = options(opts.unwrap_or(Term::NIL)).ok_or_else(|| p.badarg())?;
    let b = encode(t, o, level);
    charge(p, b.len() * if level > 0 { 32 } else { 4 });
    Ok(b)
}

fn term_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.binary(&bytes(p, a[0], None)?))
}
fn term_to_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.binary(&bytes(p, a[0], Some(a[1]))?))
}
fn term_to_iovec_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.list(&[term_to_binary_1(p, a)?]))
}
fn term_to_iovec_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.list(&[term_to_binary_2(p, a)?]))
}
fn external_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = bytes(p, a[0], None)?.len();
    Ok(p.heap.unsigned(n as u64))
}
fn external_size_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = bytes(p, a[0], Some(a[1]))?.len();
    Ok(p.heap.unsigned(n as u64))
}

fn decode<'h>(
    p: &'h Proc,
    bin: Term<'h>,
    safe: bool,
) -> Result<(Term<'h>, usize), kvik_proc::Raised> {
    let b = bin.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?;
    let opts = DecodeOpts { safe, atoms: &[] };
    let r = kvik_etf::decode(&b.to_bytes(), &p.heap, opts);
    charge(p, b.byte_size() * 4);
    r.map_err(|e| match e {
        Error::SystemLimit => p.system_limit(),
        _ => p.badarg(),
    })
}

fn binary_to_term_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(decode(p, a[0], false)?.0)
}
fn binary_to_term_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (mut safe, mut used) = (false, false);
    for o in a[1].list_to_vec().ok_or_else(|| p.badarg_because(am::badopt))? {
        match o.as_atom() {
            Some(am::safe) => safe = true,
            Some(am::used) => used = true,
            _ => return Err(p.badarg_because(am::badopt)),
        }
    }
    let (t, n) = decode(p, a[0], safe)?;
    Ok(if used { p.heap.tuple(&[t, p.heap.unsigned(n as u64)]) } else { t })
}
