//! Module `re`: compiling and matching. Global matches (`global`) and conversion from and to
//! Unicode lists are Erlang code in OTP's `re`, to which these natives trap.
//!
//! The binary of a compiled pattern holds its source and options, so it can be sent, stored and
//! loaded as a literal; the machine code is looked up in a cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use kvik_heap::SuspendedState;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::pcre::{opt, CompileError, Pattern};
use kvik_sys::pcre_match::{Group, MatchError, MatchOpts, MatchSubject, Matching};
use kvik_term::{am, Atom, Term, View};

use crate::iolist::{bytes_in_turns, bytes_of, charge};
use crate::re_source;

pub const BIFS: &[BifEntry] = &[
    bif!("re", "version", 0, version_0),
    bif!("re", "compile", 1, compile_2),
    bif!("re", "compile", 2, compile_2),
    bif!("re", "run", 2, run_3),
    bif!("re", "run", 3, run_3),
    bif!("re", "internal_run", 4, internal_run_4),
    bif!("re", "inspect", 2, inspect_2),
];

/// The PCRE release of OTP 25, whose behaviour is reproduced here.
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

/// Compile options, as stored in a pattern's binary.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
struct How {
    options: u32,
    newline: u32,
    bsr: u32,
}

const MAGIC: &[u8; 4] = b"kvre";
/// Size of the header: magic, options, newline, bsr.
const HEAD: usize = 4 + 4 + 1 + 1;

impl How {
    fn binary(self, source: &[u8]) -> Vec<u8> {
        let mut b = MAGIC.to_vec();
        b.extend_from_slice(&self.options.to_be_bytes());
        b.extend_from_slice(&[self.newline as u8, self.bsr as u8]);
        b.extend_from_slice(source);
        b
    }
    fn of_binary(b: &[u8]) -> Option<(How, &[u8])> {
        let (head, source) = b.split_at_checked(HEAD)?;
        let options = head.strip_prefix(MAGIC)?;
        let options = u32::from_be_bytes(options.get(..4)?.try_into().ok()?);
        let how = How { options, newline: head[8] as u32, bsr: head[9] as u32 };
        Some((how, source))
    }
}

const CACHE: usize = 512;

/// The compiled form of a pattern's binary, from the cache or newly compiled.
fn compiled(binary: &[u8]) -> Result<Arc<Pattern>, Option<CompileError>> {
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
    let p = Arc::new(re_source::compile(source, how.options, how.newline, how.bsr).map_err(Some)?);
    let mut all = lock();
    if all.len() >= CACHE {
        all.clear();
    }
    all.insert(binary.to_vec(), p.clone());
    Ok(p)
}

/// Options of `compile` and `run`.
#[derive(Default)]
struct Options<'h> {
    how: How,
    exec: MatchOpts,
    offset: usize,
    capture: Option<(Term<'h>, Term<'h>)>,
    global: bool,
    report_errors: bool,
    /// Whether an option is only valid for `run`, or only for `compile`.
    only_run: bool,
    only_compile: bool,
}

/// Options that map to flags of PCRE's compiler.
const COMPILE_FLAGS: &[(Atom, u32)] = &[
    (am::unicode, opt::UTF),
    (am::caseless, opt::CASELESS),
    (am::dollar_endonly, opt::DOLLAR_ENDONLY),
    (am::dotall, opt::DOTALL),
    (am::extended, opt::EXTENDED),
    (am::firstline, opt::FIRSTLINE),
    (am::multiline, opt::MULTILINE),
    (am::no_auto_capture, opt::NO_AUTO_CAPTURE),
    (am::dupnames, opt::DUPNAMES),
    (am::ungreedy, opt::UNGREEDY),
    (am::ucp, opt::UCP),
    (am::never_utf, opt::NEVER_UTF),
    (am::no_start_optimize, opt::NO_START_OPTIMIZE),
];
const RUN_FLAGS: &[(Atom, u32)] = &[
    (am::notempty, opt::NOTEMPTY),
    (am::notempty_atstart, opt::NOTEMPTY_ATSTART),
    (am::notbol, opt::NOTBOL),
    (am::noteol, opt::NOTEOL),
];
const NEWLINES: &[(Atom, u32)] = &[
    (am::cr, opt::NEWLINE_CR),
    (am::lf, opt::NEWLINE_LF),
    (am::crlf, opt::NEWLINE_CRLF),
    (am::any, opt::NEWLINE_ANY),
    (am::anycrlf, opt::NEWLINE_ANYCRLF),
];

fn find(table: &[(Atom, u32)], a: Atom) -> Option<u32> {
    table.iter().find(|(x, _)| *x == a).map(|(_, v)| *v)
}

impl<'h> Options<'h> {
    fn parse(t: Term<'h>) -> Option<Options<'h>> {
        let mut o = Options::default();
        for e in t.list_to_vec()? {
            match e.as_atom() {
                Some(a) => o.flag(a)?,
                None => o.pair(e)?,
            }
        }
        Some(o)
    }
    fn flag(&mut self, a: Atom) -> Option<()> {
        if let Some(f) = find(COMPILE_FLAGS, a) {
            self.how.options |= f;
            self.only_compile = true;
        } else if let Some(f) = find(RUN_FLAGS, a) {
            self.exec.options |= f;
            self.only_run = true;
        } else {
            match a {
                am::anchored => {
                    self.how.options |= opt::ANCHORED;
                    self.exec.options |= opt::ANCHORED;
                }
                am::bsr_anycrlf => self.how.bsr = opt::BSR_ANYCRLF,
                am::bsr_unicode => self.how.bsr = opt::BSR_UNICODE,
                am::report_errors => (self.report_errors, self.only_run) = (true, true),
                am::global => (self.global, self.only_run) = (true, true),
                _ => return None,
            }
        }
        Some(())
    }
    fn pair(&mut self, t: Term<'h>) -> Option<()> {
        let int =
            |t: Term<'_>| t.as_small().and_then(|i| i32::try_from(i).ok()).filter(|i| *i >= 0);
        let (key, value, kind) = match *t.as_tuple()?.elements() {
            [k, v] => (k.as_atom()?, v, am::index.into()),
            [k, v, kind] if k == am::capture => (am::capture, v, kind),
            _ => return None,
        };
        if key == am::newline {
            self.how.newline = find(NEWLINES, value.as_atom()?)?;
            return Some(());
        }
        self.only_run = true;
        match key {
            am::capture => self.capture = Some((value, kind)),
            am::offset => self.offset = int(value)? as usize,
            am::match_limit => self.exec.match_limit = Some(int(value)? as u32),
            am::match_limit_recursion => self.exec.depth_limit = Some(int(value)? as u32),
            _ => return None,
        }
        Some(())
    }
}

fn in_erlang<'h>(p: &'h Proc, f: Atom, a: &[Term<'h>]) -> Raised {
    match (kvik_etf::hooks().export)(am::re, f, a.len() as u8) {
        Some(e) => p.trap(e, a),
        None => p.error(am::undef),
    }
}

/// The date is PCRE2's and so differs from OTP's. Users that store compiled patterns, such as
/// Elixir in its modules, compare versions and recompile patterns of another machine.
fn version_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.binary(format!("{VERSION} {}", kvik_sys::pcre::released()).as_bytes()))
}

/// `{re_pattern, Captures, Unicode, UseCrlf, Binary}`.
fn pattern_term<'h>(p: &'h Proc, c: &Pattern, how: How, binary: &[u8]) -> Term<'h> {
    let crlf = [opt::NEWLINE_ANY, opt::NEWLINE_CRLF, opt::NEWLINE_ANYCRLF].contains(&c.newline());
    p.heap.tuple(&[
        am::re_pattern.into(),
        Term::int(c.captures() as i32),
        Term::int((how.options & opt::UTF != 0) as i32),
        Term::int(crlf as i32),
        p.heap.binary(binary),
    ])
}
/// `{error, {Text, Offset}}`, or for `run` `{error, {compile, {Text, Offset}}}`.
fn error_term<'h>(p: &'h Proc, e: &CompileError, in_run: bool) -> Term<'h> {
    let h = &p.heap;
    let text = OLD_TEXTS.iter().find(|(c, _)| *c == e.code).map_or(e.text.as_str(), |(_, t)| t);
    // The old PCRE reported these two one byte earlier.
    let offset = e.offset - (matches!(e.code, 143 | 147) && e.offset > 0) as usize;
    let mut what = h.tuple(&[h.string(text), h.unsigned(offset as u64)]);
    if in_run {
        what = h.tuple(&[am::compile.into(), what]);
    }
    h.tuple(&[am::error.into(), what])
}

fn compile_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let opts = a.get(1).copied().unwrap_or(Term::NIL);
    let o =
        Options::parse(opts).filter(|o| !o.only_run).ok_or_else(|| p.badarg_because(am::badopt))?;
    if o.how.options & opt::UTF != 0 && a[0].as_bits().is_none() {
        return Err(in_erlang(p, am::ucompile, &[a[0], opts]));
    }
    let source = bytes_of(a[0]).map_err(|_| p.badarg())?;
    charge(p, source.len() * 16);
    let binary = o.how.binary(&source);
    match compiled(&binary) {
        Ok(c) => Ok(p.heap.tuple(&[am::ok.into(), pattern_term(p, &c, o.how, &binary)])),
        Err(Some(e)) => Ok(error_term(p, &e, false)),
        Err(None) => Err(p.badarg()),
    }
}

/// The Unicode flag and the binary of a compiled pattern's tuple.
fn parts<'h>(t: Term<'h>) -> Option<(bool, Vec<u8>)> {
    let [tag, captures, unicode, crlf, b] = t.as_tuple_n::<5>()?;
    let smalls = captures.is_small() && unicode.is_small() && crlf.is_small();
    let b = b.as_bits().filter(|b| b.is_binary())?;
    (tag == am::re_pattern && smalls)
        .then(|| (unicode.as_small() != Some(0), b.to_bytes().into_owned()))
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
    let o = Options::parse(opts).ok_or_else(|| p.badarg_because(am::badopt))?;
    let list = o.capture.is_some_and(|(_, kind)| kind == am::list) && !o.global;
    let in_unicode = |re_is_binary: bool| !re_is_binary || subject.as_bits().is_none() || list;
    let pattern = if re.as_tuple().is_some() {
        if o.only_compile {
            return Err(p.badarg());
        }
        let (unicode, mut binary) = parts(re).ok_or_else(|| p.badarg())?;
        if unicode && in_unicode(true) {
            return Err(in_erlang(p, am::urun, &[subject, re, opts]));
        }
        if o.global {
            let rest = p.heap.tuple(&[opts, am::false_.into()]);
            return Err(in_erlang(p, am::grun, &[subject, re, rest]));
        }
        if o.how.newline | o.how.bsr != 0 {
            let (mut how, source) = How::of_binary(&binary).ok_or_else(|| p.badarg())?;
            how.newline = if o.how.newline != 0 { o.how.newline } else { how.newline };
            how.bsr = if o.how.bsr != 0 { o.how.bsr } else { how.bsr };
            binary = how.binary(source);
        }
        compiled(&binary).map_err(|_| p.badarg())?
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

/// The names of groups in order, each with its group numbers.
fn all_names(c: &Pattern) -> Vec<(Vec<u8>, Vec<usize>)> {
    let mut all: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
    for (name, group) in c.names() {
        match all.last_mut() {
            Some((last, groups)) if *last == name => groups.push(group as usize),
            _ => all.push((name, vec![group as usize])),
        }
    }
    all
}

fn inspect_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (_, binary) = parts(a[0]).filter(|_| a[1] == am::namelist).ok_or_else(|| p.badarg())?;
    let c = compiled(&binary).map_err(|_| p.badarg())?;
    let names: Vec<Term<'h>> = all_names(&c).iter().map(|(n, _)| p.heap.binary(n)).collect();
    Ok(p.heap.tuple(&[am::namelist.into(), p.heap.list(&names)]))
}
