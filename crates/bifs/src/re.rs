//! Module `re`: compiling and matching. Global matches (`global`) and conversion from and to
//! Unicode lists are Erlang code in OTP's `re`, to which these natives trap.
//!
//! Before OTP 28 a compiled pattern's tuple has a binary, which holds source and options, so that it
//! can be sent, stored and loaded as a literal; the machine code is looked up in a cache. A binary
//! that OTP's own PCRE made is decompiled to a source (`re_block`). Since OTP 28 the tuple has a
//! reference to the compiled pattern ([`Regex`]), and `re_export` is what other nodes get.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use kvik_heap::{Heap, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::pcre::{opt, CompileError, Pattern, PcreDialect};
use kvik_sys::pcre_match::{Group, MatchError, MatchSubject, Matching};
use kvik_term::{am, Atom, Term, View};

use crate::iolist::{bytes_in_turns, bytes_of};
use crate::re_options::{How, Options};
use crate::{re_export, re_source};

pub const BIFS: &[BifEntry] = &[
    bif!("re", "version", 0, version_0),
    bif!("re", "compile", 1, compile_2),
    bif!("re", "compile", 2, compile_2),
    bif!("re", "run", 2, run_3),
    bif!("re", "run", 3, run_3),
    bif!("re", "internal_run", 4, internal_run_4),
    bif!("re", "inspect", 2, inspect_2),
    bif!("re", "import", 1, re_export::import_1, since 28),
];

/// The PCRE whose patterns the release takes.
pub fn dialect() -> PcreDialect {
    match kvik_release::current().has_pcre2() {
        true => PcreDialect::Pcre2,
        false => PcreDialect::Pcre8,
    }
}

/// The PCRE release of OTP before 28, whose behaviour is reproduced here.
const VERSION: &str = "8.44";

/// Error texts that newer PCRE releases changed, by error number.
const OLD_TEXTS: &[(i32, &str)] = &[
    (109, "nothing to repeat"),
    (114, "missing )"),
    (118, "missing ) after comment"),
    (119, "regular expression is too complicated"),
    (122, "unmatched parentheses"),
    (124, "unrecognized character after (?<"),
    (112, "unrecognized character after (? or (?-"),
    (115, "reference to non-existent subpattern"),
    (120, "regular expression is too large"),
    (125, "lookbehind assertion is not fixed length"),
    (126, "malformed number or name after (?("),
    (127, "conditional group contains more than two branches"),
    (134, "character value in \\x{} or \\o{} is too large"),
    (142, "syntax error in subpattern name (missing terminator)"),
    (143, "two named subpatterns have the same name"),
    (146, "malformed \\P or \\p sequence"),
    (147, "unknown property name after \\P or \\p"),
    (138, "number after (?C is > 255"),
    (144, "group name must start with a non-digit"),
    (162, "subpattern name expected"),
    (168, "\\c must be followed by an ASCII character"),
];

const CACHE: usize = 512;

/// The compiled form of a pattern's binary, from the cache or newly compiled.
pub fn compiled(binary: &[u8]) -> Result<Arc<Pattern>, Option<CompileError>> {
    kvik_state::vm_state! {
        static PATTERNS: OnceLock<Mutex<HashMap<Vec<u8>, Arc<Pattern>>>> = OnceLock::new();
    }
    let lock = || {
        let m = PATTERNS.get_or_init(Mutex::default);
        m.lock().unwrap_or_else(|e| e.into_inner())
    };
    if let Some(p) = lock().get(binary) {
        return Ok(p.clone());
    }
    let (how, source) = How::of_binary(binary).ok_or(None)?;
    let made = match how.pcre2_syntax {
        true => {
            let options = how.options | opt::DOTALL;
            Pattern::compile(&source, options, how.newline, how.bsr, PcreDialect::Pcre8Rewritten)
        }
        false => re_source::compile(&source, how.options, how.newline, how.bsr, dialect()),
    };
    let p = Arc::new(made.map_err(Some)?);
    let mut all = lock();
    if all.len() >= CACHE {
        all.clear();
    }
    all.insert(binary.to_vec(), p.clone());
    Ok(p)
}

fn in_erlang<'h>(p: &'h Proc, f: Atom, a: &[Term<'h>]) -> Raised {
    match (kvik_etf::hooks().export)(am::re, f, a.len() as u8) {
        Some(e) => p.trap_in_next_turn(e, a),
        None => p.error(am::undef),
    }
}

/// Of PCRE 8 the date is PCRE2's and so differs from OTP's. Users that store compiled patterns, such
/// as Elixir in its modules, compare versions and recompile patterns of another machine.
fn version_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let pcre2 = kvik_sys::pcre::version();
    let text = match dialect() {
        PcreDialect::Pcre2 => pcre2,
        _ => format!("{VERSION} {}", pcre2.split(' ').nth(1).unwrap_or_default()),
    };
    Ok(p.heap.binary(text.as_bytes()))
}

/// What the reference of a compiled pattern stands for.
struct Regex(Arc<Pattern>);

/// `{re_pattern, Captures, Unicode, UseCrlf, Binary}`, or with a reference.
pub fn pattern_term<'h>(p: &'h Proc, c: &Arc<Pattern>, how: How, binary: &[u8]) -> Term<'h> {
    let crlf = [opt::NEWLINE_ANY, opt::NEWLINE_CRLF, opt::NEWLINE_ANYCRLF].contains(&c.newline());
    p.heap.tuple(&[
        am::re_pattern.into(),
        Term::int(c.captures() as i32),
        Term::int((how.options & opt::UTF != 0) as i32),
        Term::int(crlf as i32),
        match dialect() {
            PcreDialect::Pcre2 => p.heap.magic_ref(Arc::new(Regex(c.clone()))),
            _ => p.heap.binary(binary),
        },
    ])
}
/// `{error, {Text, Offset}}`, or for `run` `{error, {compile, {Text, Offset}}}`.
fn error_term<'h>(p: &'h Proc, e: &CompileError, in_run: bool) -> Term<'h> {
    let h = &p.heap;
    let (mut text, mut offset) = (e.text.as_str(), e.offset);
    if dialect() == PcreDialect::Pcre8 {
        text = OLD_TEXTS.iter().find(|(c, _)| *c == e.code).map_or(text, |(_, t)| t);
        // The old PCRE reported these two one byte earlier.
        offset -= (matches!(e.code, 143 | 147) && e.offset > 0) as usize;
    }
    let mut what = h.tuple(&[h.string(text), h.unsigned(offset as u64)]);
    if in_run {
        what = h.tuple(&[am::compile.into(), what]);
    }
    h.tuple(&[am::error.into(), what])
}

fn compile_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let opts = a.get(1).copied().unwrap_or(Term::NIL);
    let o = Options::parse(opts, dialect()).filter(|o| !o.only_run);
    let o = o.ok_or_else(|| p.badarg_because(am::badopt))?;
    if o.how.options & opt::UTF != 0 && a[0].as_bits().is_none() {
        return Err(in_erlang(p, am::ucompile, &[a[0], opts]));
    }
    let source = bytes_of(a[0]).map_err(|_| p.badarg())?;
    let binary = o.how.binary(&source);
    match compiled(&binary) {
        Ok(c) if o.export => re_export::export(p, &c, o.how, a[0], &source, opts),
        Ok(c) => Ok(p.heap.tuple(&[am::ok.into(), pattern_term(p, &c, o.how, &binary)])),
        Err(Some(e)) => Ok(error_term(p, &e, false)),
        Err(None) => Err(p.badarg()),
    }
}

/// What the tuple of a compiled pattern refers to.
enum Stored {
    Binary(Vec<u8>),
    Regex(Arc<Pattern>),
}

impl Stored {
    /// The compiled pattern, with the options of `run` that change it.
    fn pattern(self, run: How) -> Option<Arc<Pattern>> {
        match self {
            // OTP's PCRE2 has no such options for a match, and takes those that change nothing.
            Stored::Regex(c) => {
                let same = |asked: u32, has: u32| asked == 0 || asked == has;
                (same(run.newline, c.newline()) && same(run.bsr, c.bsr())).then_some(c)
            }
            Stored::Binary(b) if run.newline | run.bsr == 0 => compiled(&b).ok(),
            Stored::Binary(b) => {
                let (mut how, source) = How::of_binary(&b)?;
                how.newline = if run.newline != 0 { run.newline } else { how.newline };
                how.bsr = if run.bsr != 0 { run.bsr } else { how.bsr };
                compiled(&how.binary(&source)).ok()
            }
        }
    }
}

/// The Unicode flag of a compiled pattern's tuple, and what the tuple refers to.
fn parts(t: Term<'_>) -> Option<(bool, Stored)> {
    let [tag, captures, unicode, crlf, stored] = t.as_tuple_n::<5>()?;
    let smalls = captures.is_small() && unicode.is_small() && crlf.is_small();
    if tag != am::re_pattern || !smalls {
        return None;
    }
    let stored = match dialect() {
        PcreDialect::Pcre2 => {
            Stored::Regex(Heap::resource_ref(stored)?.downcast_ref::<Regex>()?.0.clone())
        }
        _ => {
            let b = stored.as_bits().filter(|b| b.is_binary())?;
            Stored::Binary(b.to_bytes().into_owned())
        }
    };
    Some((unicode.as_small() != Some(0), stored))
}

fn run_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    run(p, a[0], a[1], a.get(2).copied().unwrap_or(Term::NIL))
}
fn internal_run_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[3].as_bool().is_none() {
        return Err(p.badarg());
    }
    run(p, a[0], a[1], a[2])
}

fn run<'h>(p: &'h Proc, subject: Term<'h>, re: Term<'h>, opts: Term<'h>) -> BifResult<'h> {
    if let Some(r) = p.resumed::<Running<'static>>() {
        return r.go_on(p, subject);
    }
    let o = Options::parse(opts, dialect()).filter(|o| !o.export);
    let o = o.ok_or_else(|| p.badarg_because(am::badopt))?;
    let list = o.capture.is_some_and(|(_, kind)| kind == am::list) && !o.global;
    let in_unicode = |re_is_binary: bool| !re_is_binary || subject.as_bits().is_none() || list;
    let pattern = if re.as_tuple().is_some() {
        if o.only_compile {
            return Err(p.badarg());
        }
        let (unicode, stored) = parts(re).ok_or_else(|| p.badarg())?;
        if unicode && in_unicode(true) {
            return Err(in_erlang(p, am::urun, &[subject, re, opts]));
        }
        if o.global {
            let rest = p.heap.tuple(&[opts, am::false_.into()]);
            return Err(in_erlang(p, am::grun, &[subject, re, rest]));
        }
        stored.pattern(o.how).ok_or_else(|| p.badarg())?
    } else {
        if !re.is_list() && re.as_bits().is_none() {
            return Err(p.badarg());
        }
        if o.how.options & opt::UTF != 0 && in_unicode(re.as_bits().is_some()) {
            return Err(in_erlang(p, am::urun, &[subject, re, opts]));
        }
        let source = bytes_of(re).map_err(|_| p.badarg())?;
        let binary = o.how.binary(&source);
        match compiled(&binary) {
            Ok(c) if o.global => {
                let made = pattern_term(p, &c, o.how, &binary);
                let rest = p.heap.tuple(&[opts, Term::bool(o.only_compile), re]);
                return Err(in_erlang(p, am::grun, &[subject, made, rest]));
            }
            Ok(c) => c,
            Err(Some(e)) if o.report_errors => return Ok(error_term(p, &e, true)),
            Err(_) => return Err(p.badarg()),
        }
    };
    exec(p, subject, &pattern, &o)
}

fn exec<'h>(p: &'h Proc, subject: Term<'h>, c: &Arc<Pattern>, o: &Options<'h>) -> BifResult<'h> {
    let wanted = match o.capture {
        Some((values, kind)) => Wanted::parse(c, values, kind).ok_or_else(|| p.badarg())?,
        None => Wanted { which: Which::From(0), kind: Kind::Index },
    };
    let of = match (p.heap.known_text(subject), subject.as_bits().filter(|b| b.is_binary())) {
        (Some(text), _) => MatchSubject::Text(text),
        (None, Some(b)) => MatchSubject::Bytes(b.to_bytes()),
        (None, None) => MatchSubject::Bytes(bytes_in_turns(p, subject)?.into()),
    };
    let matching = Matching::new(c.clone(), of, o.offset, o.exec);
    // With the old PCRE, OTP ends the process here by an error that nothing catches; `nomatch`.
    if dialect() == PcreDialect::Pcre2 && o.offset > matching.subject().len() {
        return Err(p.badarg());
    }
    Running { matching, wanted, report_errors: o.report_errors }.go_on(p, subject)
}

/// Match steps per reduction.
const STEPS_PER_REDUCTION: usize = 8;

/// State of a match.
struct Running<'h> {
    matching: Matching<'h>,
    wanted: Wanted,
    report_errors: bool,
}
impl SuspendedState for Running<'static> {
    type In<'h> = Running<'h>;
}

impl<'h> Running<'h> {
    fn go_on(mut self, p: &'h Proc, subject: Term<'h>) -> BifResult<'h> {
        let mut left = p.steps(STEPS_PER_REDUCTION);
        let found = self.matching.run(&mut left);
        p.steps_left(left, STEPS_PER_REDUCTION);
        let reported = |what: Atom| match self.report_errors {
            true => Ok(p.heap.tuple(&[am::error.into(), what.into()])),
            false => Ok(am::nomatch.into()),
        };
        if let (Some(_), Some(text)) = (&found, self.matching.text()) {
            p.heap.know_text(subject, text);
        }
        match found {
            None => {
                p.steps_left(0, STEPS_PER_REDUCTION);
                let shown = kvik_code::export(am::erlang, am::re_run_trap, 3);
                Err(p.again::<Running<'static>>(self, Some(shown)))
            }
            Some(Ok(Some(groups))) => {
                Ok(self.wanted.answer(p, subject, self.matching.subject(), &groups))
            }
            Some(Ok(None) | Err(MatchError::Other)) => Ok(am::nomatch.into()),
            Some(Err(MatchError::BadUtf)) => Err(p.badarg()),
            Some(Err(MatchError::MatchLimit)) => reported(am::match_limit),
            Some(Err(MatchError::DepthLimit)) => reported(am::match_limit_recursion),
        }
    }
}

#[derive(Copy, Clone)]
enum Kind {
    Index,
    List,
    Binary,
}
enum Which {
    None,
    /// All groups that took part in the match, from that one on.
    From(usize),
    /// The listed groups; among several with the same name, the first that took part.
    These(Vec<Vec<usize>>),
}
/// Which parts of a match to return, and in which form.
struct Wanted {
    which: Which,
    kind: Kind,
}

impl Wanted {
    fn parse(c: &Pattern, values: Term<'_>, kind: Term<'_>) -> Option<Wanted> {
        let kind = match kind.as_atom()? {
            am::index => Kind::Index,
            am::list => Kind::List,
            am::binary => Kind::Binary,
            _ => return None,
        };
        let which = match values.view() {
            View::Nil | View::Atom(am::none) => Which::None,
            View::Atom(am::all) => Which::From(0),
            View::Atom(am::all_but_first) => Which::From(1),
            View::Atom(am::first) => Which::These(vec![vec![0]]),
            View::Atom(am::all_names) => match all_names(c) {
                names if names.is_empty() => Which::None,
                names => Which::These(names.into_iter().map(|(_, g)| g).collect()),
            },
            View::Cons(_) => {
                let names = all_names(c);
                let one = |t: Term<'_>| Wanted::one(&names, t);
                Which::These(values.list_to_vec()?.into_iter().map(one).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Wanted { which, kind })
    }
    /// The groups of a number or name.
    fn one(names: &[(Vec<u8>, Vec<usize>)], t: Term<'_>) -> Option<Vec<usize>> {
        let name = match t.view() {
            View::Small(i) => {
                return Some(vec![i32::try_from(i).ok()?.try_into().ok()?]);
            }
            View::Atom(a) => a.name().as_bytes().to_vec(),
            View::Bits(_) | View::Cons(_) | View::Nil => bytes_of(t).ok()?,
            _ => return None,
        };
        Some(names.iter().find(|(n, _)| *n == name).map_or(Vec::new(), |(_, g)| g.clone()))
    }

    fn answer<'h>(&self, p: &'h Proc, t: Term<'h>, bytes: &[u8], groups: &[Group]) -> Term<'h> {
        let value = |g: Group| self.value(p, t, bytes, g);
        let values: Vec<Term<'h>> = match &self.which {
            Which::None => return am::match_.into(),
            Which::From(n) => groups.iter().skip(*n).map(|g| value(*g)).collect(),
            Which::These(which) => {
                let group = |i: &usize| groups.get(*i).copied().flatten();
                which.iter().map(|all| value(all.iter().find_map(group))).collect()
            }
        };
        p.heap.tuple(&[am::match_.into(), p.heap.list(&values)])
    }
    fn value<'h>(&self, p: &'h Proc, t: Term<'h>, bytes: &[u8], g: Group) -> Term<'h> {
        let h = &p.heap;
        let (from, to) = g.unwrap_or((0, 0));
        let part = bytes.get(from..to).unwrap_or(&[]);
        let int = |i: usize| h.integer(i as i64);
        match self.kind {
            Kind::Index => match g {
                Some(_) => h.tuple(&[int(from), int(to.wrapping_sub(from))]),
                None => h.tuple(&[Term::int(-1), Term::int(0)]),
            },
            Kind::List => {
                h.charlist(part.iter().map(|b| *b as u32).collect::<Vec<_>>().into_iter())
            }
            Kind::Binary if part.len() > kvik_term::word::HEAP_BIN_LIMIT => {
                h.sub_binary(t, from * 8, part.len() * 8).unwrap_or_else(|| h.binary(part))
            }
            Kind::Binary => h.binary(part),
        }
    }
}

/// The names of groups in order, each with its group numbers. In OTP a name that several groups have
/// is one only by the option `dupnames`, not by `(?J)`.
fn all_names(c: &Pattern) -> Vec<(Vec<u8>, Vec<usize>)> {
    let together = c.options() & opt::DUPNAMES != 0;
    let mut all: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
    for (name, group) in c.names() {
        match all.last_mut() {
            Some((last, groups)) if *last == name && together => groups.push(group as usize),
            _ => all.push((name, vec![group as usize])),
        }
    }
    all
}

fn inspect_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (_, stored) = parts(a[0]).filter(|_| a[1] == am::namelist).ok_or_else(|| p.badarg())?;
    let c = stored.pattern(How::default()).ok_or_else(|| p.badarg())?;
    let names: Vec<Term<'h>> = all_names(&c).iter().map(|(n, _)| p.heap.binary(n)).collect();
    Ok(p.heap.tuple(&[am::namelist.into(), p.heap.list(&names)]))
}
