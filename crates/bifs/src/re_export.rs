//! Compiled patterns for other nodes: `re:compile/2` with `export`, and `re:import/1`, since OTP 28.
//!
//! The exported tuple has the pattern's source and options beside PCRE2's serialized code. OTP reads
//! that code where it is of its own PCRE2 and machine, else compiles the source. Here the source is
//! compiled, always: PCRE2 follows offsets of serialized code unchecked, and a checksum does not
//! make those of another node safe. The cache of compiled patterns makes it cheap.

use std::sync::Arc;

use kvik_proc::{BifResult, Proc};
use kvik_sys::pcre::{opt, Pattern};
use kvik_term::{am, Term};

use crate::re::{compiled, dialect, pattern_term};
use crate::re_options::{How, Options};

/// What the header begins with. Checksum, version and Unicode flag follow.
const TITLE: &[u8; 8] = b"re-PCRE2";
/// The version whose serialized code has a checksum in the header.
const VERSION: u8 = 1;
const CHECKSUM_AT: usize = TITLE.len();
const VERSION_AT: usize = CHECKSUM_AT + 4;
const HEADER_BYTES: usize = VERSION_AT + 2;

/// `{ok, {re_exported_pattern, Header, Source, Options, Code}}`. The source is `re` if that is a
/// binary.
pub fn export<'h>(
    p: &'h Proc,
    c: &Arc<Pattern>,
    how: How,
    re: Term<'h>,
    source: &[u8],
    options: Term<'h>,
) -> BifResult<'h> {
    let code = c.serialized().ok_or_else(|| p.system_limit())?;
    let mut header = TITLE.to_vec();
    header.extend_from_slice(&crc32fast::hash(&code).to_be_bytes());
    header.extend_from_slice(&[VERSION, (how.options & opt::UTF != 0) as u8]);
    let h = &p.heap;
    let source = match re.as_bits() {
        Some(b) if b.is_binary() => re,
        _ => h.binary(source),
    };
    let parts =
        [am::re_exported_pattern.into(), h.binary(&header), source, options, h.binary(&code)];
    Ok(h.tuple(&[am::ok.into(), h.tuple(&parts)]))
}

pub fn import_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    import(p, a[0]).ok_or_else(|| p.badarg())
}

fn import<'h>(p: &'h Proc, exported: Term<'h>) -> Option<Term<'h>> {
    let [tag, header, source, options, code] = exported.as_tuple_n::<5>()?;
    if tag != am::re_exported_pattern {
        return None;
    }
    let bytes = |t: Term<'h>| Some(t.as_bits().filter(|b| b.is_binary())?.to_bytes());
    let header = bytes(header)?;
    if header.len() < HEADER_BYTES || !header.starts_with(TITLE) {
        return None;
    }
    if header[VERSION_AT] == VERSION {
        let sum = header.get(CHECKSUM_AT..VERSION_AT)?;
        if crc32fast::hash(&bytes(code)?).to_be_bytes() != sum {
            return None;
        }
    }
    let source = bytes(source)?;
    let how = Options::parse(options, dialect()).filter(|o| !o.only_run)?.how;
    let binary = how.binary(&source);
    let c = compiled(&binary).ok()?;
    Some(pattern_term(p, &c, how, &binary))
}
