//! Module `binary`: searching and taking apart.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Bits, Term, View};
use memchr::memmem;

use crate::iolist::{binary_of, byte_range, charge, part};

pub const BIFS: &[BifEntry] = &[
    bif!("binary", "compile_pattern", 1, compile_pattern_1),
    bif!("binary", "match", 2, match_2),
    bif!("binary", "match", 3, match_3),
    bif!("binary", "matches", 2, matches_2),
    bif!("binary", "matches", 3, matches_3),
    bif!("binary", "split", 2, split_2),
    bif!("binary", "split", 3, split_3),
    bif!("binary", "longest_common_prefix", 1, longest_common_prefix_1),
    bif!("binary", "longest_common_suffix", 1, longest_common_suffix_1),
    bif!("binary", "first", 1, first_1),
    bif!("binary", "last", 1, last_1),
    bif!("binary", "at", 2, at_2),
    bif!("binary", "part", 2, part_2),
    bif!("binary", "part", 3, part_3),
    bif!("binary", "list_to_bin", 1, list_to_bin_1),
    bif!("binary", "copy", 1, copy_1),
    bif!("binary", "copy", 2, copy_2),
    bif!("binary", "referenced_byte_size", 1, referenced_byte_size_1),
    bif!("binary", "encode_unsigned", 1, encode_unsigned_1),
    bif!("binary", "encode_unsigned", 2, encode_unsigned_2),
    bif!("binary", "decode_unsigned", 1, decode_unsigned_1),
    bif!("binary", "decode_unsigned", 2, decode_unsigned_2),
];

/// What to look for: one binary, or the longest of several.
enum Pattern {
    One(Box<memmem::Finder<'static>>),
    Any(AhoCorasick),
}

impl Pattern {
    fn of_binaries(t: Term<'_>) -> Option<Pattern> {
        let bytes = |t: Term<'_>| {
            let b = t.as_bits().filter(|b| b.is_binary() && b.bit_len() > 0)?;
            Some(b.to_bytes().into_owned())
        };
        if let Some(b) = bytes(t) {
            return Some(Pattern::one(&b));
        }
        let all: Vec<Vec<u8>> = t.list_to_vec()?.into_iter().map(bytes).collect::<Option<_>>()?;
        match all.as_slice() {
            [] => None,
            [b] => Some(Pattern::one(b)),
            _ => AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&all)
                .ok()
                .map(Pattern::Any),
        }
    }
    fn one(b: &[u8]) -> Pattern {
        Pattern::One(Box::new(memmem::Finder::new(b).into_owned()))
    }
    fn tag(&self) -> kvik_term::Atom {
        match self {
            Pattern::One(_) => am::bm,
            Pattern::Any(_) => am::ac,
        }
    }
    /// The first match at or after `from`: where and how long.
    fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let rest = text.get(from..)?;
        match self {
            Pattern::One(f) => f.find(rest).map(|i| (from + i, f.needle().len())),
            Pattern::Any(a) => a.find(rest).map(|m| (from + m.start(), m.len())),
        }
    }
}

/// A pattern from binaries, or one compiled before.
fn pattern<'h>(p: &'h Proc, t: Term<'h>) -> Result<Arc<Pattern>, Raised> {
    if let Some([tag, r]) = t.as_tuple_n::<2>() {
        let compiled = p
            .heap
            .resource_of(r)
            .and_then(|r| (r as Arc<dyn Any + Send + Sync>).downcast::<Pattern>().ok())
            .filter(|c| tag == c.tag());
        return compiled.ok_or_else(|| p.badarg());
    }
    Pattern::of_binaries(t).map(Arc::new).ok_or_else(|| p.badarg())
}

fn compile_pattern_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let c = Pattern::of_binaries(a[0]).ok_or_else(|| p.badarg())?;
    let tag = c.tag();
    let r = p.heap.magic_ref(Arc::new(c));
    Ok(p.heap.tuple(&[tag.into(), r]))
}

fn whole<'h>(p: &'h Proc, t: Term<'h>) -> Result<Bits<'h>, Raised> {
    t.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())
}

#[derive(Default)]
struct Options {
    scope: Option<(usize, usize)>,
    global: bool,
    trim: bool,
    trim_all: bool,
}

/// `size`: of the subject. Only `split` has options beside the scope.
fn options(t: Term<'_>, size: usize, split: bool) -> Option<Options> {
    let mut o = Options::default();
    for e in t.list_to_vec()? {
        match (e.as_atom(), e.as_tuple_n::<2>()) {
            (Some(am::global), _) if split => o.global = true,
            (Some(am::trim), _) if split => o.trim = true,
            (Some(am::trim_all), _) if split => o.trim_all = true,
            (_, Some([k, v])) if k == am::scope => {
                let [pos, len] = v.as_tuple_n()?;
                o.scope = Some(byte_range(pos, len, size)?);
            }
            _ => return None,
        }
    }
    Some(o)
}

/// The matches in the subject's scope: the first only, or all.
fn search(
    c: &Pattern,
    text: &[u8],
    scope: Option<(usize, usize)>,
    all: bool,
) -> Vec<(usize, usize)> {
    let (from, len) = scope.unwrap_or((0, text.len()));
    let text = text.get(..from + len).unwrap_or(text);
    let mut found = Vec::new();
    let mut at = from;
    while let Some((i, n)) = c.find(text, at) {
        found.push((i, n));
        at = i + n;
        if !all {
            break;
        }
    }
    found
}

fn run<'h>(p: &'h Proc, a: &[Term<'h>], all: bool) -> Result<Vec<Term<'h>>, Raised> {
    let b = whole(p, a[0])?;
    let opts = a.get(2).copied().unwrap_or(Term::NIL);
    let o = options(opts, b.byte_size(), false).ok_or_else(|| p.badarg())?;
    // In nothing nothing is found, not even nonsense.
    if o.scope.map_or(b.bit_len(), |s| s.0 + s.1) == 0 {
        return Ok(Vec::new());
    }
    let c = pattern(p, a[1])?;
    let text: Cow<'_, [u8]> = b.to_bytes();
    charge(p, text.len());
    let pair = |(i, n): (usize, usize)| {
        let h = &p.heap;
        h.tuple(&[h.unsigned(i as u64), h.unsigned(n as u64)])
    };
    Ok(search(&c, &text, o.scope, all).into_iter().map(pair).collect())
}
fn match_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(run(p, a, false)?.first().copied().unwrap_or(am::nomatch.into()))
}
fn match_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match_2(p, a)
}
fn matches_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.list(&run(p, a, true)?))
}
fn matches_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    matches_2(p, a)
}

fn split_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = whole(p, a[0])?;
    let opts = a.get(2).copied().unwrap_or(Term::NIL);
    let o = options(opts, b.byte_size(), true).ok_or_else(|| p.badarg())?;
    let text = b.to_bytes();
    charge(p, text.len());
    let found = match o.scope.map_or(text.len(), |s| s.0 + s.1) == 0 {
        true => Vec::new(),
        false => search(&*pattern(p, a[1])?, &text, o.scope, o.global),
    };
    let mut parts = Vec::new();
    let mut at = 0;
    for (i, n) in found {
        parts.push((at, i - at));
        at = i + n;
    }
    parts.push((at, text.len() - at));
    if o.trim_all {
        parts.retain(|(_, n)| *n > 0);
    } else if o.trim {
        while matches!(parts.last(), Some((_, 0))) {
            parts.pop();
        }
    }
    let parts: Option<Vec<_>> =
        parts.into_iter().map(|(i, n)| p.heap.sub_binary(a[0], i * 8, n * 8)).collect();
    parts.map(|v| p.heap.list(&v)).ok_or_else(|| p.badarg())
}
fn split_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    split_2(p, a)
}

fn all_bytes<'h>(p: &'h Proc, t: Term<'h>) -> Result<Vec<Cow<'h, [u8]>>, Raised> {
    let items = t.list_to_vec().filter(|v| !v.is_empty()).ok_or_else(|| p.badarg())?;
    items.into_iter().map(|t| Ok(whole(p, t)?.to_bytes())).collect()
}
/// The length of what all have in common, by byte `i` of each.
fn common(all: &[Cow<'_, [u8]>], at: impl Fn(&[u8], usize) -> Option<u8>) -> usize {
    let Some((first, rest)) = all.split_first() else {
        return 0;
    };
    (0..first.len())
        .take_while(|i| {
            let b = at(first, *i);
            rest.iter().all(|x| at(x, *i) == b)
        })
        .count()
}
fn longest_common_prefix_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = common(&all_bytes(p, a[0])?, |b, i| b.get(i).copied());
    charge(p, n);
    Ok(p.heap.unsigned(n as u64))
}
fn longest_common_suffix_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = common(&all_bytes(p, a[0])?, |b, i| {
        b.len().checked_sub(i + 1).and_then(|i| b.get(i).copied())
    });
    charge(p, n);
    Ok(p.heap.unsigned(n as u64))
}

fn byte_at<'h>(p: &'h Proc, t: Term<'h>, i: impl Fn(usize) -> Option<usize>) -> BifResult<'h> {
    let b = whole(p, t)?;
    i(b.byte_size())
        .filter(|i| *i < b.byte_size())
        .map(|i| Term::int(b.byte(i) as i32))
        .ok_or_else(|| p.badarg())
}
fn first_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |_| Some(0))
}
fn last_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |n| n.checked_sub(1))
}
fn at_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |_| a[1].as_usize())
}

fn part_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_tuple_n::<2>()
        .and_then(|[pos, len]| part(&p.heap, a[0], pos, len))
        .ok_or_else(|| p.badarg())
}
fn part_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    part(&p.heap, a[0], a[1], a[2]).ok_or_else(|| p.badarg())
}

fn list_to_bin_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    binary_of(p, a[0])
}

fn copies<'h>(p: &'h Proc, t: Term<'h>, n: usize) -> BifResult<'h> {
    if n == 0 && t.as_bits().is_some() {
        // Not looked at any further, in OTP either.
        return Ok(p.heap.binary(b""));
    }
    let bytes = whole(p, t)?.to_bytes();
    let len = bytes
        .len()
        .checked_mul(n)
        .filter(|n| kvik_heap::limit::fits(*n))
        .ok_or_else(|| p.system_limit())?;
    charge(p, len);
    // Copies of nothing take no time, however many.
    let n = if len == 0 { 0 } else { n };
    Ok(p.heap.gathered(len, |out| (0..n).for_each(|_| out.push(&bytes))))
}
fn copy_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    copies(p, a[0], 1)
}
fn copy_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[1].as_usize().ok_or_else(|| p.badarg())?;
    copies(p, a[0], n)
}

fn referenced_byte_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().ok_or_else(|| p.badarg())?;
    let n = p.heap.referenced_bytes(a[0]).unwrap_or(b.byte_size());
    Ok(p.heap.unsigned(n as u64))
}

fn little(p: &Proc, t: Term<'_>) -> Result<bool, Raised> {
    match t.as_atom() {
        Some(am::little) => Ok(true),
        Some(am::big) => Ok(false),
        _ => Err(p.badarg()),
    }
}
fn encode<'h>(p: &'h Proc, t: Term<'h>, little: bool) -> BifResult<'h> {
    let digits = match t.view() {
        View::Small(i) => vec![u64::try_from(i).map_err(|_| p.badarg())?],
        View::Big(b) if !b.is_negative() => b.digits().to_vec(),
        _ => return Err(p.badarg()),
    };
    let mut bytes: Vec<u8> = digits.iter().flat_map(|d| d.to_le_bytes()).collect();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    if !little {
        bytes.reverse();
    }
    Ok(p.heap.binary(&bytes))
}
fn encode_unsigned_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    encode(p, a[0], false)
}
fn encode_unsigned_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    encode(p, a[0], little(p, a[1])?)
}
fn decode<'h>(p: &'h Proc, t: Term<'h>, little: bool) -> BifResult<'h> {
    let mut bytes = whole(p, t)?.to_bytes().into_owned();
    if !little {
        bytes.reverse();
    }
    let digits: Vec<u64> =
        bytes.chunks(8).map(|c| c.iter().rev().fold(0, |d, b| d << 8 | *b as u64)).collect();
    Ok(p.heap.big(false, &digits))
}
fn decode_unsigned_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    decode(p, a[0], false)
}
fn decode_unsigned_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    decode(p, a[0], little(p, a[1])?)
}
