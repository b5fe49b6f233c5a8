//! Searching for binaries in a binary: `binary:match`, `matches`, `split`.
//!
//! A search yields at the end of its time slice: it scans a number of bytes, plus those that a
//! match starting in them may need.

use std::any::Any;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};
use memchr::memmem;

use crate::binary::whole;
use crate::iolist::byte_range;

pub const BIFS: &[BifEntry] = &[
    bif!("binary", "compile_pattern", 1, compile_pattern_1),
    bif!("binary", "match", 2, match_2),
    bif!("binary", "match", 3, match_2),
    bif!("binary", "matches", 2, matches_2),
    bif!("binary", "matches", 3, matches_2),
    bif!("binary", "split", 2, split_2),
    bif!("binary", "split", 3, split_2),
];

/// The pattern: one binary, or the longest match of several.
enum Pattern {
    One(Box<memmem::Finder<'static>>),
    Few(Box<Few>),
    Any(Box<Automaton>),
}

/// Some short binaries for a single search: building an automaton would take longer than most
/// searches.
struct Few {
    /// Whether some binary begins with this byte.
    begins: [bool; 256],
    /// Sorted by length, longest first.
    all: Vec<Vec<u8>>,
}

/// Maximum number and total bytes of the binaries in [`Few`].
const INLINE_PATTERNS: usize = 8;
const INLINE_PATTERN_BYTES: usize = 64;

impl Few {
    fn of(mut all: Vec<Vec<u8>>) -> Result<Few, Vec<Vec<u8>>> {
        if all.len() > INLINE_PATTERNS
            || all.iter().map(Vec::len).sum::<usize>() > INLINE_PATTERN_BYTES
        {
            return Err(all);
        }
        let mut begins = [false; 256];
        all.iter().for_each(|b| begins[b[0] as usize] = true);
        all.sort_by_key(|b| std::cmp::Reverse(b.len()));
        Ok(Few { begins, all })
    }
    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let at = from + text[from..].iter().position(|b| self.begins[*b as usize])?;
            if let Some(b) = self.all.iter().find(|b| text[at..].starts_with(b)) {
                return Some((at, b.len()));
            }
            from = at + 1;
        }
    }
}

/// An automaton for several binaries.
///
/// A DFA scans up to eight times faster than an NFA and takes three to six times longer to build.
/// Most patterns scan a short text only, so the DFA is built when the NFA has scanned enough to
/// show that it pays.
struct Automaton {
    first: AhoCorasick,
    dfa: OnceLock<AhoCorasick>,
    /// What the DFA is built from; empty if `first` is final.
    binaries: Vec<Vec<u8>>,
    /// Bytes that `first` has scanned.
    scanned: AtomicUsize,
    /// `scanned` at which the DFA is built.
    dfa_after: usize,
}

/// Total bytes of binaries up to which a DFA is built as fast as an NFA.
const SMALL_DFA_BYTES: usize = 64;
/// Number of binaries up to which a DFA is built at all: it takes up to a kilobyte for each byte
/// of them.
const DFA_PATTERNS: usize = 100;
/// Bytes to scan, for each byte of the binaries, before a DFA pays.
const SCAN_PER_PATTERN_BYTE: usize = 64;

impl Automaton {
    fn of(binaries: Vec<Vec<u8>>) -> Option<Automaton> {
        let bytes: usize = binaries.iter().map(Vec::len).sum();
        let build = |kind| {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).kind(kind).build(&binaries).ok()
        };
        let (scanned, dfa) = (AtomicUsize::new(0), OnceLock::new());
        if bytes <= SMALL_DFA_BYTES || binaries.len() > DFA_PATTERNS {
            let (first, binaries) = (build(None)?, Vec::new());
            return Some(Automaton { first, dfa, binaries, scanned, dfa_after: usize::MAX });
        }
        // A contiguous NFA is limited in size.
        let first = build(Some(AhoCorasickKind::ContiguousNFA)).or_else(|| build(None))?;
        let dfa_after = bytes.saturating_mul(SCAN_PER_PATTERN_BYTE);
        Some(Automaton { first, dfa, binaries, scanned, dfa_after })
    }
    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        if let Some(dfa) = self.dfa.get() {
            return dfa.find(text).map(|m| (m.start(), m.len()));
        }
        let found = self.first.find(text);
        self.count(found.map_or(text.len(), |m| m.end()));
        found.map(|m| (m.start(), m.len()))
    }
    /// Counts bytes scanned. The search that passes the limit builds the DFA; searches of other
    /// processes go on with the NFA meanwhile, they do not wait.
    fn count(&self, n: usize) {
        let before = self.scanned.fetch_add(n, Ordering::Relaxed);
        if before < self.dfa_after && before.saturating_add(n) >= self.dfa_after {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::DFA));
            if let Ok(dfa) = builder.build(&self.binaries) {
                self.dfa.get_or_init(|| dfa);
            }
        }
    }
}

impl Pattern {
    /// `once`: the pattern is used for a single search.
    fn of_binaries(t: Term<'_>, once: bool) -> Option<Pattern> {
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
            _ if once => match Few::of(all) {
                Ok(few) => Some(Pattern::Few(Box::new(few))),
                Err(all) => Pattern::automaton(all),
            },
            _ => Pattern::automaton(all),
        }
    }
    fn automaton(all: Vec<Vec<u8>>) -> Option<Pattern> {
        Some(Pattern::Any(Box::new(Automaton::of(all)?)))
    }
    fn one(b: &[u8]) -> Pattern {
        Pattern::One(Box::new(memmem::Finder::new(b).into_owned()))
    }
    fn tag(&self) -> kvik_term::Atom {
        match self {
            Pattern::One(_) => am::bm,
            Pattern::Few(_) | Pattern::Any(_) => am::ac,
        }
    }
    /// Length of the longest possible match.
    fn longest(&self) -> usize {
        match self {
            Pattern::One(f) => f.needle().len(),
            Pattern::Few(f) => f.all.first().map_or(0, Vec::len),
            Pattern::Any(a) => a.first.max_pattern_len(),
        }
    }
    /// Position and length of the first match.
    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        match self {
            Pattern::One(f) => f.find(text).map(|i| (i, f.needle().len())),
            Pattern::Few(f) => f.find(text),
            Pattern::Any(a) => a.find(text),
        }
    }
    /// Bytes scanned in one step.
    fn bytes_a_step(&self) -> usize {
        match self {
            Pattern::One(_) => 8,
            Pattern::Few(_) | Pattern::Any(_) => 1,
        }
    }
    /// Steps for a match that is returned, as in OTP.
    fn steps_a_match(&self, answer: Answer) -> usize {
        let listed = match answer {
            Answer::First => return 0,
            Answer::All => 2,
            Answer::Parts => 1,
        };
        match self {
            Pattern::One(_) => listed + kvik_release::current().steps_after_match(),
            Pattern::Few(_) | Pattern::Any(_) => listed,
        }
    }
}

/// Builds a pattern from binaries, or returns a compiled one.
fn pattern<'h>(p: &'h Proc, t: Term<'h>) -> Result<Arc<Pattern>, Raised> {
    if let Some([tag, r]) = t.as_tuple_n::<2>() {
        let compiled = p
            .heap
            .resource_of(r)
            .and_then(|r| (r as Arc<dyn Any + Send + Sync>).downcast::<Pattern>().ok())
            .filter(|c| tag == c.tag());
        return compiled.ok_or_else(|| p.badarg());
    }
    Pattern::of_binaries(t, true).map(Arc::new).ok_or_else(|| p.badarg())
}

fn compile_pattern_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let c = Pattern::of_binaries(a[0], false).ok_or_else(|| p.badarg())?;
    let tag = c.tag();
    let r = p.heap.magic_ref(Arc::new(c));
    Ok(p.heap.tuple(&[tag.into(), r]))
}

#[derive(Default)]
struct Options {
    scope: Option<(usize, usize)>,
    global: bool,
    trim: bool,
    trim_all: bool,
}

/// `size`: of the subject. Only `split` has options besides the scope.
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

/// Steps per reduction, as in OTP.
const STEPS_PER_REDUCTION: usize = 10;

/// Elements of the result that are put into the list for each step left. They cost nothing if that is
/// enough for all of them.
const LISTED_A_STEP: usize = 8;

/// How to return the matches.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Answer {
    First,
    All,
    Parts,
}

/// State of a search.
struct Search<'h> {
    c: Option<Arc<Pattern>>,
    of: Term<'h>,
    text: Cow<'h, [u8]>,
    o: Options,
    answer: Answer,
    /// The next byte to scan, and the end; the start of the current part without a match.
    at: usize,
    end: usize,
    part: usize,
    /// Results that are not in the list yet.
    items: Vec<Term<'h>>,
    list: Term<'h>,
}
impl SuspendedState for Search<'static> {
    type In<'h> = Search<'h>;
}

fn search<'h>(p: &'h Proc, a: &[Term<'h>], answer: Answer) -> BifResult<'h> {
    let mut s = match p.resumed::<Search<'static>>() {
        Some(s) => s,
        None => Search::begin(p, a, answer)?,
    };
    let mut left = p.steps(STEPS_PER_REDUCTION);
    let done = s.run(p, &mut left);
    p.steps_left(left, STEPS_PER_REDUCTION);
    done.unwrap_or_else(|| Err(p.again::<Search<'static>>(s, None)))
}

impl<'h> Search<'h> {
    fn begin(p: &'h Proc, a: &[Term<'h>], answer: Answer) -> Result<Search<'h>, Raised> {
        let b = whole(p, a[0])?;
        let opts = a.get(2).copied().unwrap_or(Term::NIL);
        let parts = answer == Answer::Parts;
        let mut o = options(opts, b.byte_size(), parts).ok_or_else(|| p.badarg())?;
        o.global |= answer == Answer::All;
        let (from, len) = o.scope.unwrap_or((0, b.byte_size()));
        let end = (from + len).min(b.byte_size());
        // An empty range has no matches; before 27 the pattern is not even checked.
        let checked = end > 0 || kvik_release::current().rejects_bitstrings();
        let c = if checked { Some(pattern(p, a[1])?).filter(|_| end > 0) } else { None };
        let (text, items, list) = (b.to_bytes(), Vec::new(), Term::NIL);
        Ok(Search { c, of: a[0], text, o, answer, at: from, end, part: 0, items, list })
    }

    /// Continues for `left` steps; `None`: there is more to do.
    fn run(&mut self, p: &'h Proc, left: &mut usize) -> Option<BifResult<'h>> {
        let pattern = self.c.clone();
        while let (Some(c), true) = (&pattern, self.c.is_some()) {
            if *left == 0 {
                return None;
            }
            let bytes = c.bytes_a_step();
            let stop = self.end.min(self.at.saturating_add(left.saturating_mul(bytes)));
            let beyond = self.end.min(stop.saturating_add(c.longest().saturating_sub(1)));
            let found = self.text.get(self.at..beyond).and_then(|t| c.find(t));
            match found.map(|(i, n)| (self.at + i, n)).filter(|(i, _)| *i < stop) {
                Some((i, n)) => {
                    let scanned = (i - self.at) / bytes + if bytes == 1 { n } else { 0 };
                    *left = left.saturating_sub(scanned + c.steps_a_match(self.answer));
                    self.at = i + n;
                    self.found(p, i, n);
                }
                None => {
                    let scanned = stop.saturating_sub(self.at);
                    self.at = stop;
                    if stop >= self.end {
                        *left = left.saturating_sub(scanned / bytes);
                        self.over(p);
                    } else {
                        *left = 0;
                    }
                }
            }
        }
        if self.part <= self.text.len() && self.answer == Answer::Parts {
            self.over(p);
        }
        self.listed(p, left)
    }
    fn found(&mut self, p: &'h Proc, i: usize, n: usize) {
        let h = &p.heap;
        match self.answer {
            Answer::Parts => self.push_part(p, i),
            _ => self.items.push(h.tuple(&[h.unsigned(i as u64), h.unsigned(n as u64)])),
        }
        self.part = i + n;
        if !self.o.global {
            self.over(p);
        }
    }
    fn push_part(&mut self, p: &'h Proc, to: usize) {
        let n = to - self.part;
        if n > 0 || !self.o.trim_all {
            self.items.extend(p.heap.sub_binary(self.of, self.part * 8, n * 8));
        }
    }
    /// Ends the search.
    fn over(&mut self, p: &'h Proc) {
        self.c = None;
        if self.answer == Answer::Parts && self.part <= self.text.len() {
            self.push_part(p, self.text.len());
            self.part = usize::MAX;
            if self.o.trim {
                let empty = |t: &Term<'_>| t.as_bits().is_some_and(|b| b.bit_len() == 0);
                while self.items.last().is_some_and(empty) {
                    self.items.pop();
                }
            }
        }
    }
    fn listed(&mut self, p: &'h Proc, left: &mut usize) -> Option<BifResult<'h>> {
        if self.answer == Answer::First {
            return Some(Ok(self.items.first().copied().unwrap_or(am::nomatch.into())));
        }
        let keep = self.items.len().saturating_sub((*left).max(1) * LISTED_A_STEP);
        if keep > 0 {
            *left = 0;
        }
        self.list = p.heap.list_with_tail(&self.items[keep..], self.list);
        self.items.truncate(keep);
        (keep == 0).then_some(Ok(self.list))
    }
}

fn match_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    search(p, a, Answer::First)
}
fn matches_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    search(p, a, Answer::All)
}
fn split_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    search(p, a, Answer::Parts)
}
