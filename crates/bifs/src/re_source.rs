//! Differences between the PCRE release of OTP 25 and the current one that depend on the pattern's
//! text: case-insensitive class names, and the offset of lookbehind errors.

use std::borrow::Cow;

use kvik_sys::pcre::{opt, CompileError, Pattern, PcreDialect};

/// Lookbehind errors: not of fixed length, and branch too long.
const LOOKBEHIND: i32 = 125;
const LOOKBEHIND_BRANCH: i32 = 200;

pub fn compile(
    source: &[u8],
    options: u32,
    newline: u32,
    bsr: u32,
    dialect: PcreDialect,
) -> Result<Pattern, CompileError> {
    if dialect == PcreDialect::Pcre2 {
        return Pattern::compile(source, options, newline, bsr, dialect);
    }
    let text = classes_as_before(source, options);
    Pattern::compile(&text, options, newline, bsr, dialect).map_err(|e| match e.code {
        LOOKBEHIND | LOOKBEHIND_BRANCH => {
            let compiles = |alone: &[u8]| Pattern::compile(alone, options, newline, bsr, dialect);
            let offset = lookbehind_end(&text, e.offset, options, compiles);
            CompileError { code: LOOKBEHIND, offset, ..e }
        }
        _ => e,
    })
}

/// Kinds of pattern elements that matter here.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Open,
    Close,
    Bar,
    Class,
    Other,
}

/// The next element of a pattern: its kind and its length.
fn piece(s: &[u8], extended: bool) -> (Kind, usize) {
    let until = |from: usize, end: &[u8]| {
        let rest = s.get(from..).unwrap_or_default();
        let at = rest.windows(end.len()).position(|w| w == end);
        at.map_or(s.len(), |i| from + i + end.len())
    };
    match s {
        [b'\\', b'Q', ..] => (Kind::Other, until(2, b"\\E")),
        [b'\\', b'c', _, _, ..] => (Kind::Other, 3),
        [b'\\', _, ..] => (Kind::Other, 2),
        [b'(', b'?', b'#', ..] => (Kind::Other, until(3, b")")),
        [b'(', ..] => (Kind::Open, 1),
        [b')', ..] => (Kind::Close, 1),
        [b'|', ..] => (Kind::Bar, 1),
        [b'[', ..] => (Kind::Class, class_len(s)),
        [b'#', ..] if extended => (Kind::Other, until(1, b"\n")),
        _ => (Kind::Other, 1),
    }
}

/// Length of a character class, from its opening bracket to the closing one.
fn class_len(s: &[u8]) -> usize {
    let mut at = if s.get(1) == Some(&b'^') { 2 } else { 1 };
    if s.get(at) == Some(&b']') {
        at += 1;
    }
    while let Some(rest) = s.get(at..).filter(|r| !r.is_empty()) {
        at += match rest {
            [b']', ..] => return at + 1,
            [b'\\', _, ..] => 2,
            [b'[', b':', ..] => name_len(rest).unwrap_or(1),
            _ => 1,
        };
    }
    s.len()
}

/// Length of `[:name:]` at the beginning of the text, if it is there.
fn name_len(s: &[u8]) -> Option<usize> {
    let name = s.get(2..)?;
    let n = name.iter().take_while(|c| c.is_ascii_alphabetic() || **c == b'^').count();
    name.get(n..)?.starts_with(b":]").then_some(n + 4)
}

/// Case-insensitive `[:upper:]` and `[:lower:]` match all letters; in the old PCRE also with
/// Unicode properties. The length of the text is kept.
fn classes_as_before(source: &[u8], options: u32) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(source);
    if options & opt::UCP == 0 {
        return text;
    }
    let mut caseless = vec![options & opt::CASELESS != 0];
    let mut at = 0;
    while at < source.len() {
        let (kind, len) = piece(&source[at..], options & opt::EXTENDED != 0);
        let now = caseless.last().copied().unwrap_or_default();
        match kind {
            Kind::Open => open(&mut caseless, now, &source[at + len..]),
            Kind::Close if caseless.len() > 1 => drop(caseless.pop()),
            Kind::Class if now => name_letters(text.to_mut(), at, at + len),
            _ => {}
        }
        at += len;
    }
    text
}

/// Handles the start of a group that may set options for itself, `(?i:`, or for the enclosing
/// group, `(?i)`.
fn open(caseless: &mut Vec<bool>, now: bool, rest: &[u8]) {
    let mut inner = now;
    if let Some(flags) = rest.strip_prefix(b"?") {
        let n = flags.iter().take_while(|c| c.is_ascii_alphabetic() || **c == b'-').count();
        let mut on = true;
        for c in flags.iter().take(n) {
            match c {
                b'-' => on = false,
                b'i' => inner = on,
                _ => {}
            }
        }
        match flags.get(n) {
            // `(?i)` closes at once and sets the options of the enclosing group.
            Some(b')') => caseless.last_mut().into_iter().for_each(|c| *c = inner),
            Some(b':') => {}
            _ => inner = now,
        }
    }
    caseless.push(inner);
}

fn name_letters(text: &mut [u8], from: usize, to: usize) {
    for at in from..to {
        for name in [&b"[:upper:]"[..], b"[:lower:]", b"[:^upper:]", b"[:^lower:]"] {
            let here = text.get(at..to).is_some_and(|t| t.starts_with(name));
            if let Some(word) =
                text.get_mut(at + name.len() - 7..at + name.len() - 2).filter(|_| here)
            {
                word.copy_from_slice(b"alpha");
            }
        }
    }
}

/// The offset at which the old PCRE reported a lookbehind starting at `from`: the end of the first
/// alternative without a fixed length.
fn lookbehind_end(
    source: &[u8],
    from: usize,
    options: u32,
    compile: impl Fn(&[u8]) -> Result<Pattern, CompileError>,
) -> usize {
    const OPENING: usize = "(?<=".len();
    let (mut at, mut depth) = (from + OPENING, 1);
    let mut alternative = at;
    while at < source.len() {
        let (kind, len) = piece(&source[at..], options & opt::EXTENDED != 0);
        match kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 1 => return at,
            Kind::Close => depth -= 1,
            Kind::Bar if depth == 1 => {
                let alone = [b"(?<=", &source[alternative..at], b")"].concat();
                let fails = |e: CompileError| [LOOKBEHIND, LOOKBEHIND_BRANCH].contains(&e.code);
                if compile(&alone).is_err_and(fails) {
                    return at;
                }
                alternative = at + len;
            }
            _ => {}
        }
        at += len;
    }
    from
}
