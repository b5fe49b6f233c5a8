//! `erlang`: conversion of terms to and from the external format.

use kvik_etf::{quick_size, DecodeOpts, Decoding, Deflation, EncodeOpts, Encoding, EtfError};
use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Export, Term};

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

/// The encoding without options.
pub fn default_options() -> EncodeOpts {
    let utf8_atoms = kvik_release::current().encodes_atoms_as_utf8();
    EncodeOpts { utf8_atoms, ..EncodeOpts::default() }
}

fn options(t: Term<'_>) -> Option<(EncodeOpts, u32)> {
    let (mut o, mut level) = (default_options(), 0);
    let (mut deterministic, mut local) = (false, false);
    for e in t.list_to_vec()? {
        match (e.as_atom(), e.as_tuple_n::<2>()) {
            (Some(am::compressed), _) => level = DEFAULT_LEVEL,
            (Some(am::deterministic), _) => deterministic = true,
            (Some(am::local), _) if kvik_release::current().has_local_format() => local = true,
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
    if deterministic && local {
        return None;
    }
    (o.deterministic, o.local) = (deterministic, local);
    Some((o, level))
}

/// Steps per reduction. OTP encodes in two passes of 32.
const ENCODED: usize = 16;
const DECODED: usize = 128;

/// Steps taken in a turn to count bytes, which costs nothing if it ends before that.
const COUNTED: usize = 250_000;

/// A term of so many bytes costs one reduction.
const SHORT: usize = 64;

/// State of an encoding, and how to compress it.
struct Writing<'h> {
    encoding: Encoding<'h>,
    level: u32,
    /// For `term_to_iovec`.
    in_parts: bool,
}
impl SuspendedState for Writing<'static> {
    type In<'h> = Writing<'h>;
}

/// The function that OTP reports for a process while such a BIF is suspended.
fn shown(name: Atom) -> Option<&'static Export> {
    Some(kvik_code::export(am::erts_internal, name, 1))
}

/// Runs or resumes an encoding until it is complete.
fn write<'h>(
    p: &'h Proc,
    begin: impl FnOnce() -> Option<Writing<'h>>,
) -> Result<Writing<'h>, Raised> {
    let w = match p.resumed::<Writing<'static>>() {
        Some(w) => w,
        None => begin().ok_or_else(|| p.badarg())?,
    };
    write_on(p, w)
}
fn write_on<'h>(p: &'h Proc, mut w: Writing<'h>) -> Result<Writing<'h>, Raised> {
    let mut left = match w.encoding.is_counting() {
        true => COUNTED,
        false => p.steps(ENCODED),
    };
    let first = w.encoding.len() <= 1;
    let done = w.encoding.run(&mut left);
    if w.encoding.is_counting() {
        if !done {
            p.use_up_turn();
        }
    } else if first && done && w.encoding.len() <= SHORT && !w.in_parts {
        p.heap.bump_reductions(1);
    } else {
        p.steps_left(left, ENCODED);
    }
    if !done && !kvik_heap::limit::fits(w.encoding.held()) {
        return Err(p.system_limit());
    }
    if !done {
        return Err(p.again::<Writing<'static>>(w, shown(am::term_to_binary_trap)));
    }
    Ok(w)
}

/// Bytes of compressed output for 4,000 reductions, as in OTP.
const DEFLATED: usize = 1 << 18;
const DEFLATED_REDUCTIONS: usize = 4000;
/// Bytes compressed in a turn, far less than in OTP.
const DEFLATED_AT_ONCE: usize = 1 << 16;

struct Deflating;
impl SuspendedState for Deflating {
    type In<'h> = Deflation;
}

fn written<'h>(p: &'h Proc, t: Term<'h>, opts: Term<'h>, in_parts: bool) -> BifResult<'h> {
    if let Some(d) = p.resumed::<Deflating>() {
        return deflate(p, d);
    }
    let w = write(p, || {
        let (o, level) = options(opts)?;
        let encoding = match in_parts && level == 0 {
            true => Encoding::in_pieces(t, o),
            false => Encoding::new(t, o),
        };
        Some(Writing { encoding, level, in_parts })
    })?;
    if w.level == 0 {
        return Ok(match in_parts {
            true => w.encoding.finish_pieces(&p.heap),
            false => w.encoding.finish(&p.heap),
        });
    }
    match w.encoding.deflation(w.level) {
        Ok(d) => deflate(p, d),
        Err(plain) => Ok(plain.finish(&p.heap)),
    }
}
/// Charges what it writes; the rest of a turn that is not its last is given up.
fn deflate(p: &Proc, mut d: Deflation) -> BifResult<'_> {
    let before = d.written();
    // No more than can be paid for if it does not get shorter.
    let mut most = p.steps(DEFLATED / DEFLATED_REDUCTIONS).min(DEFLATED_AT_ONCE);
    let done = d.run(&mut most);
    let charge = |bytes: usize| bytes * DEFLATED_REDUCTIONS / DEFLATED;
    p.heap.bump_reductions((charge(d.written()) - charge(before)) as i64);
    if done {
        return Ok(d.finish(&p.heap));
    }
    p.give_up_turn();
    Err(p.again::<Deflating>(d, shown(am::term_to_binary_trap)))
}

fn term_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    written(p, a[0], Term::NIL, false)
}
fn term_to_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    written(p, a[0], a[1], false)
}
fn term_to_iovec_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    written(p, a[0], Term::NIL, true)
}
fn term_to_iovec_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    written(p, a[0], a[1], true)
}
fn external_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    size(p, a[0], || Some(default_options()))
}
fn external_size_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    size(p, a[0], || match kvik_release::current().sizes_with_all_options() {
        true => Some(options(a[1])?.0),
        false => minor_version(a[1]),
    })
}
/// The only option of old releases. Version 0 stays, whatever follows it.
fn minor_version(opts: Term<'_>) -> Option<EncodeOpts> {
    let mut o = default_options();
    for e in opts.list_to_vec()? {
        match e.as_tuple_n::<2>().map(|[k, v]| (k.as_atom(), v.as_small())) {
            Some((Some(am::minor_version), Some(0))) => o.text_floats = true,
            Some((Some(am::minor_version), Some(1))) => {}
            _ => return None,
        }
    }
    Some(o)
}
fn size<'h>(
    p: &'h Proc,
    t: Term<'h>,
    options: impl FnOnce() -> Option<EncodeOpts>,
) -> BifResult<'h> {
    let w = match p.resumed::<Writing<'static>>() {
        Some(w) => w,
        None => {
            let o = options().ok_or_else(|| p.badarg())?;
            if let Some(n) = quick_size(t, o) {
                return Ok(p.heap.unsigned(n as u64));
            }
            Writing { encoding: Encoding::counting(t, o), level: 0, in_parts: false }
        }
    };
    Ok(p.heap.unsigned(write_on(p, w)?.encoding.len() as u64))
}

struct Reading;
impl SuspendedState for Reading {
    type In<'h> = Decoding<'static, 'h>;
}

fn decode<'h>(p: &'h Proc, bin: Term<'h>, safe: bool) -> Result<(Term<'h>, usize), Raised> {
    let b = bin.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?;
    let bytes = b.to_bytes();
    let failed = |e| match e {
        EtfError::SystemLimit => p.system_limit(),
        _ => p.badarg(),
    };
    let mut d = match p.resumed::<Reading>() {
        Some(d) => d,
        None => {
            let opts = DecodeOpts { safe, definitions: true, ..DecodeOpts::default() };
            Decoding::new(&bytes, opts).map_err(failed)?
        }
    };
    let mut left = p.steps(DECODED);
    let done = d.run(&bytes, &p.heap, &mut left);
    p.steps_left(left, DECODED);
    match done.map_err(failed)? {
        Some(done) => Ok(done),
        None => Err(p.again::<Reading>(d, shown(am::binary_to_term_trap))),
    }
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
