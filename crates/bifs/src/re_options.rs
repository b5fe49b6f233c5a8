//! Options of `re:compile/2` and `re:run/3`.

use std::borrow::Cow;

use kvik_sys::pcre::{opt, PcreDialect};
use kvik_sys::pcre_match::MatchOpts;
use kvik_term::{am, Atom, Term};

use crate::re_block;

/// Compile options, as stored in a pattern's binary.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
pub struct How {
    pub options: u32,
    pub newline: u32,
    pub bsr: u32,
    /// The pattern is in PCRE2's syntax and not in that of the release, with `.` for any character.
    pub pcre2_syntax: bool,
}

const MAGIC: &[u8; 4] = b"kvre";
const MAGIC_PCRE2: &[u8; 4] = b"kvr2";
/// Size of the header: magic, options, newline, bsr.
const HEAD: usize = 4 + 4 + 1 + 1;

impl How {
    pub fn binary(self, source: &[u8]) -> Vec<u8> {
        let magic = if self.pcre2_syntax { MAGIC_PCRE2 } else { MAGIC };
        let mut b = magic.to_vec();
        b.extend_from_slice(&self.options.to_be_bytes());
        b.extend_from_slice(&[self.newline as u8, self.bsr as u8]);
        b.extend_from_slice(source);
        b
    }
    /// The options and the source of a pattern that kvik or OTP compiled.
    pub fn of_binary(b: &[u8]) -> Option<(How, Cow<'_, [u8]>)> {
        if re_block::is_block(b) {
            return re_block::decompile(b).map(|(how, source)| (how, Cow::Owned(source)));
        }
        let (head, source) = b.split_at_checked(HEAD)?;
        let (magic, options) = head.split_first_chunk::<4>()?;
        let pcre2_syntax = magic == MAGIC_PCRE2;
        if !pcre2_syntax && magic != MAGIC {
            return None;
        }
        let options = u32::from_be_bytes(options.get(..4)?.try_into().ok()?);
        let how = How { options, newline: head[8] as u32, bsr: head[9] as u32, pcre2_syntax };
        Some((how, Cow::Borrowed(source)))
    }
}

/// Options of `compile` and `run`.
#[derive(Default)]
pub struct Options<'h> {
    pub how: How,
    pub exec: MatchOpts,
    pub offset: usize,
    pub capture: Option<(Term<'h>, Term<'h>)>,
    pub global: bool,
    pub report_errors: bool,
    /// Whether an option is only valid for `run`, or only for `compile`.
    pub only_run: bool,
    pub only_compile: bool,
    /// The pattern is wanted in a form for other nodes.
    pub export: bool,
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
    pub fn parse(t: Term<'h>, dialect: PcreDialect) -> Option<Options<'h>> {
        let mut o = Options::default();
        for e in t.list_to_vec()? {
            match e.as_atom() {
                Some(am::export) if dialect == PcreDialect::Pcre2 => {
                    (o.export, o.only_compile) = (true, true);
                }
                Some(a) => o.flag(a)?,
                None => o.pair(e, dialect)?,
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
    fn pair(&mut self, t: Term<'h>, dialect: PcreDialect) -> Option<()> {
        let int =
            |t: Term<'_>| t.as_small().and_then(|i| i32::try_from(i).ok()).filter(|i| *i >= 0);
        let (key, value, kind) = match *t.as_tuple()?.elements() {
            [k, v] => (k.as_atom()?, v, am::index.into()),
            [k, v, kind] if k == am::capture => (am::capture, v, kind),
            _ => return None,
        };
        if key == am::newline {
            self.how.newline = match value.as_atom()? {
                am::nul if dialect == PcreDialect::Pcre2 => opt::NEWLINE_NUL,
                convention => find(NEWLINES, convention)?,
            };
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
