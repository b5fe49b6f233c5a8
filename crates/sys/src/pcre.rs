//! A safe interface to PCRE2: compile a pattern, query its names (`pcre_match` matches it).
//!
//! In the dialect of PCRE 8, bytes that are not UTF-8 are taken as Latin-1, as OTP's tables do.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use pcre2_sys as sys;

use crate::pcre8;

/// Options of compiling and matching, by PCRE2's names.
pub mod opt {
    pub use pcre2_sys::{
        PCRE2_ANCHORED as ANCHORED, PCRE2_CASELESS as CASELESS,
        PCRE2_DOLLAR_ENDONLY as DOLLAR_ENDONLY, PCRE2_DOTALL as DOTALL, PCRE2_DUPNAMES as DUPNAMES,
        PCRE2_EXTENDED as EXTENDED, PCRE2_FIRSTLINE as FIRSTLINE, PCRE2_MULTILINE as MULTILINE,
        PCRE2_NEVER_UTF as NEVER_UTF, PCRE2_NOTBOL as NOTBOL, PCRE2_NOTEMPTY as NOTEMPTY,
        PCRE2_NOTEMPTY_ATSTART as NOTEMPTY_ATSTART, PCRE2_NOTEOL as NOTEOL,
        PCRE2_NO_AUTO_CAPTURE as NO_AUTO_CAPTURE, PCRE2_NO_START_OPTIMIZE as NO_START_OPTIMIZE,
        PCRE2_UCP as UCP, PCRE2_UNGREEDY as UNGREEDY, PCRE2_UTF as UTF,
    };
    pub use pcre2_sys::{
        PCRE2_BSR_ANYCRLF as BSR_ANYCRLF, PCRE2_BSR_UNICODE as BSR_UNICODE,
        PCRE2_NEWLINE_ANY as NEWLINE_ANY, PCRE2_NEWLINE_ANYCRLF as NEWLINE_ANYCRLF,
        PCRE2_NEWLINE_CR as NEWLINE_CR, PCRE2_NEWLINE_CRLF as NEWLINE_CRLF,
        PCRE2_NEWLINE_LF as NEWLINE_LF, PCRE2_NEWLINE_NUL as NEWLINE_NUL,
    };
}

/// Which PCRE's patterns are compiled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PcreDialect {
    /// PCRE 8, which OTP had before 28.
    Pcre8,
    /// What PCRE 8 matches, in PCRE2's syntax.
    Pcre8Rewritten,
    Pcre2,
}

/// The version of PCRE2 and the day of its release: `10.46 2025-08-27`.
pub fn version() -> String {
    let mut text = [0u8; 64];
    // SAFETY: PCRE2 writes its version, which it promises to be shorter than that, and a 0.
    unsafe { sys::pcre2_config_8(sys::PCRE2_CONFIG_VERSION, text.as_mut_ptr().cast::<c_void>()) };
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

/// A compiled pattern. It never changes, so any thread may match it.
pub struct Pattern {
    code: Code,
    /// The same with callouts, compiled for the first match that takes long.
    stopping: OnceLock<Option<Code>>,
    source: Source,
    utf: bool,
}

struct Code(NonNull<sys::pcre2_code_8>);

// SAFETY: compiled code is only read after it was made.
unsafe impl Send for Code {}
// SAFETY: as above; each match has its own match data.
unsafe impl Sync for Code {}

/// The arguments of a compilation.
struct Source {
    pattern: Vec<u8>,
    options: u32,
    newline: u32,
    bsr: u32,
    dialect: PcreDialect,
}

impl Source {
    /// `Err`: PCRE2's error number, and its offset.
    fn compile(&self, more: u32) -> Result<Code, (i32, usize)> {
        let (mut code, mut offset) = (0, 0);
        // SAFETY: the pattern's bytes and length belong together; the context is freed after its
        // one use; the tables are never freed.
        let made = unsafe {
            let ctx = sys::pcre2_compile_context_create_8(ptr::null_mut());
            if !ctx.is_null() {
                if self.dialect != PcreDialect::Pcre2 {
                    sys::pcre2_set_character_tables_8(ctx, latin1_tables().as_ptr());
                    // Lookbehinds must be of fixed length, and a lookaround may move a match.
                    sys::pcre2_set_max_varlookbehind_8(ctx, 0);
                    let extra = sys::PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK;
                    sys::pcre2_set_compile_extra_options_8(ctx, extra);
                    sys::pcre2_set_parens_nest_limit_8(ctx, PCRE8_MAX_NESTING);
                } else {
                    sys::pcre2_set_parens_nest_limit_8(ctx, MAX_NESTING);
                    let guard: Guard = Some(nests_too_deep);
                    sys::pcre2_set_compile_recursion_guard_8(ctx, guard, ptr::null_mut());
                }
                if self.newline != 0 {
                    sys::pcre2_set_newline_8(ctx, self.newline);
                }
                if self.bsr != 0 {
                    sys::pcre2_set_bsr_8(ctx, self.bsr);
                }
            }
            let p = sys::pcre2_compile_8(
                self.pattern.as_ptr(),
                self.pattern.len(),
                self.options | more,
                &mut code,
                &mut offset,
                ctx,
            );
            sys::pcre2_compile_context_free_8(ctx);
            p
        };
        NonNull::new(made).map(Code).ok_or((code, offset))
    }
}

/// Most groups nested within each other; PCRE 8 refused more as too complicated.
const PCRE8_MAX_NESTING: u32 = 798;
/// The same for PCRE2, as OTP has it.
const MAX_NESTING: u32 = 10_000;
/// Nested groups for which the compiler's recursion has room on a scheduler's stack.
const MAX_RECURSION: u32 = 2000;

type Guard = Option<unsafe extern "C" fn(u32, *mut c_void) -> i32>;
extern "C" fn nests_too_deep(depth: u32, _: *mut c_void) -> i32 {
    (depth > MAX_RECURSION) as i32
}

/// Why a pattern did not compile: PCRE2's error number, its message, and the offset.
#[derive(Debug)]
pub struct CompileError {
    pub code: i32,
    pub text: String,
    pub offset: usize,
}

/// PCRE2 errors whose offset was that of the character that is wrong, and is the one behind it since
/// the release that OTP 29 contains (10.47).
const MOVED: [i32; 12] = [108, 109, 111, 122, 128, 141, 144, 164, 167, 168, 182, 194];

/// The offset of an error as PCRE2 10.47 tells it, from that of earlier releases.
fn behind_fault(pattern: &[u8], code: i32, offset: usize, utf: bool) -> usize {
    let rest = pattern.get(offset..).unwrap_or_default();
    let character = match utf {
        true => 1 + rest.iter().skip(1).take_while(|b| **b & 0xC0 == 0x80).count(),
        false => 1,
    };
    let through =
        |end: &[u8]| rest.windows(end.len()).position(|w| w == end).map(|i| i + end.len());
    let more = match (code, rest.first()) {
        (_, None) => 0,
        // A POSIX class outside of brackets, and a character by its number: behind the whole.
        (112, _) => through(b":]").unwrap_or(0),
        (193, _) => through(b"}").unwrap_or(0),
        // A back reference, but not one of the forms in parentheses.
        (115, Some(b'0'..=b'9')) if pattern[..offset].ends_with(b"\\") => 1,
        (115, Some(b'}')) if pattern[..offset].ends_with(b"{") => 0,
        (115, Some(b'}')) => 1,
        // A character by its name.
        (137, Some(b'{')) => 1,
        _ if MOVED.contains(&code) => character,
        _ => 0,
    };
    offset + more
}

impl Pattern {
    /// `newline` and `bsr` of zero stand for the defaults.
    pub fn compile(
        pattern: &[u8],
        options: u32,
        newline: u32,
        bsr: u32,
        dialect: PcreDialect,
    ) -> Result<Pattern, CompileError> {
        let utf = options & opt::UTF != 0;
        if dialect == PcreDialect::Pcre2 {
            let source = Source { pattern: pattern.to_vec(), options, newline, bsr, dialect };
            return match source.compile(0) {
                Ok(code) => Ok(Pattern { code, stopping: OnceLock::new(), source, utf }),
                Err((code, offset)) => {
                    let offset = behind_fault(pattern, code, offset, utf);
                    Err(CompileError { code, text: error_text(code), offset })
                }
            };
        }
        let adapted = match dialect {
            PcreDialect::Pcre8 => pcre8::adapt(pattern),
            _ => pcre8::Adapted::unchanged(pattern),
        };
        // With a table that has word characters beyond ASCII, PCRE2's analysis of how a match
        // begins would be wrong.
        let misled = utf && options & opt::UCP == 0 && pcre8::has_word_type(&adapted.pattern);
        let options = if misled { options | opt::NO_START_OPTIMIZE } else { options };
        let source = Source { pattern: adapted.pattern, options, newline, bsr, dialect };
        let (code, offset) = match source.compile(0) {
            Ok(code) => return Ok(Pattern { code, stopping: OnceLock::new(), source, utf }),
            Err(e) => e,
        };
        let offset = adapted.places.of(offset);
        Err(CompileError { code, text: error_text(code), offset })
    }
    /// The pattern's code; with `stopping`, code that calls out before each item of the pattern, if
    /// there can be such.
    pub(crate) fn code(&self, stopping: bool) -> *const sys::pcre2_code_8 {
        let made = || self.source.compile(sys::PCRE2_AUTO_CALLOUT).ok();
        let other = stopping.then(|| self.stopping.get_or_init(made).as_ref()).flatten();
        other.unwrap_or(&self.code).0.as_ptr()
    }
    /// Whether subjects must be UTF-8.
    pub(crate) fn is_utf(&self) -> bool {
        self.utf
    }

    fn info<T: Default>(&self, what: u32) -> T {
        let mut v = T::default();
        // SAFETY: each caller's T is the type PCRE2 gives for `what`.
        unsafe {
            sys::pcre2_pattern_info_8(
                self.code.0.as_ptr(),
                what,
                (&mut v as *mut T).cast::<c_void>(),
            )
        };
        v
    }
    /// The options given for compiling.
    pub fn options(&self) -> u32 {
        self.source.options
    }
    /// How many groups capture.
    pub fn captures(&self) -> u32 {
        self.info(sys::PCRE2_INFO_CAPTURECOUNT)
    }
    /// The newline convention, options within the pattern included.
    pub fn newline(&self) -> u32 {
        self.info(sys::PCRE2_INFO_NEWLINE)
    }
    /// What `\R` matches, options within the pattern included.
    pub fn bsr(&self) -> u32 {
        self.info(sys::PCRE2_INFO_BSR)
    }
    /// The code in PCRE2's serialized form. It cannot be read back safely from an unknown source.
    pub fn serialized(&self) -> Option<Vec<u8>> {
        let (mut bytes, mut size) = (ptr::null_mut(), 0);
        let mut code: *const sys::pcre2_code_8 = self.code.0.as_ptr();
        // SAFETY: one code that is alive; the bytes are freed after they were copied.
        unsafe {
            let general = ptr::null_mut();
            let n = sys::pcre2_serialize_encode_8(&mut code, 1, &mut bytes, &mut size, general);
            if n != 1 || bytes.is_null() {
                return None;
            }
            let copy = std::slice::from_raw_parts(bytes, size).to_vec();
            sys::pcre2_serialize_free_8(bytes);
            Some(copy)
        }
    }
    /// Names and numbers of groups, by name; a name may come more than once.
    pub fn names(&self) -> Vec<(Vec<u8>, u32)> {
        let count: u32 = self.info(sys::PCRE2_INFO_NAMECOUNT);
        let size: u32 = self.info(sys::PCRE2_INFO_NAMEENTRYSIZE);
        let mut table: *const u8 = ptr::null();
        // SAFETY: NAMETABLE gives a pointer.
        unsafe {
            let to = (&mut table as *mut *const u8).cast::<c_void>();
            sys::pcre2_pattern_info_8(self.code.0.as_ptr(), sys::PCRE2_INFO_NAMETABLE, to);
        }
        if table.is_null() || size < 3 {
            return Vec::new();
        }
        // SAFETY: the table has `count` entries of `size` bytes and lives as long as the code.
        let bytes = unsafe { std::slice::from_raw_parts(table, (count * size) as usize) };
        bytes
            .chunks_exact(size as usize)
            .map(|e| {
                let name: Vec<u8> = e[2..].iter().copied().take_while(|b| *b != 0).collect();
                (name, (e[0] as u32) << 8 | e[1] as u32)
            })
            .collect()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the code is ours alone.
        unsafe { sys::pcre2_code_free_8(self.0.as_ptr()) }
    }
}

fn error_text(code: i32) -> String {
    let mut buf = [0u8; 256];
    // SAFETY: the buffer's address and length belong together.
    let n = unsafe { sys::pcre2_get_error_message_8(code, buf.as_mut_ptr(), buf.len()) };
    let n = usize::try_from(n).unwrap_or(0).min(buf.len());
    String::from_utf8_lossy(&buf[..n]).into_owned()
}

const CASES: usize = 256;
const CLASSES: usize = 512;
const TYPES: usize = CLASSES + 320;

type Ranges = &'static [(u8, u8)];
const UPPER: Ranges = &[(65, 90), (192, 214), (216, 222)];
const LOWER: Ranges = &[(97, 122), (170, 170), (181, 181), (186, 186), (223, 246), (248, 255)];
const DIGIT: Ranges = &[(48, 57)];
/// Offset of each class's bitmap of 32 bytes, and the characters in the class.
const CLASS_BITS: [(usize, &[Ranges]); 10] = [
    (0, &[&[(9, 13), (32, 32)]]),
    (32, &[DIGIT, &[(65, 70), (97, 102)]]),
    (64, &[DIGIT]),
    (96, &[UPPER]),
    (128, &[LOWER]),
    (160, &[DIGIT, UPPER, LOWER, &[(95, 95)]]),
    (192, &[&[(33, 126), (160, 255)]]),
    (224, &[&[(32, 126), (160, 255)]]),
    (
        256,
        &[&[
            (33, 47),
            (58, 64),
            (91, 96),
            (123, 126),
            (160, 169),
            (171, 180),
            (182, 185),
            (187, 191),
            (215, 215),
            (247, 247),
        ]],
    ),
    (288, &[&[(0, 31), (127, 159)]]),
];
/// A type's bit, and the classes it stands for.
const TYPE_BITS: [(u8, &[Ranges]); 5] = [
    (0x01, &[&[(9, 13), (32, 32)]]),
    (0x02, &[UPPER, LOWER]),
    (0x04, &[LOWER]),
    (0x08, &[DIGIT]),
    (0x10, &[DIGIT, UPPER, LOWER, &[(95, 95)]]),
];

/// PCRE2's character tables for Latin-1: lower case, other case, classes, types.
fn latin1_tables() -> &'static [u8] {
    static TABLES: OnceLock<Vec<u8>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut t = vec![0u8; TYPES + 256];
        for c in 0..=255u8 {
            let (lower, other) = match c {
                b'A'..=b'Z' | 192..=214 | 216..=222 => (c + 32, c + 32),
                b'a'..=b'z' | 224..=246 | 248..=254 => (c, c - 32),
                _ => (c, c),
            };
            t[c as usize] = lower;
            t[CASES + c as usize] = other;
        }
        let each = |ranges: &[Ranges], f: &mut dyn FnMut(usize)| {
            for (from, to) in ranges.iter().flat_map(|r| r.iter()) {
                (*from..=*to).for_each(|c| f(c as usize));
            }
        };
        for (at, ranges) in CLASS_BITS {
            each(ranges, &mut |c| t[CLASSES + at + c / 8] |= 1 << (c % 8));
        }
        for (bit, ranges) in TYPE_BITS {
            each(ranges, &mut |c| t[TYPES + c] |= bit);
        }
        t
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_names_and_errors() {
        for dialect in [PcreDialect::Pcre8, PcreDialect::Pcre2] {
            let p = Pattern::compile(b"(?<x>a+)(b)?(c)", 0, 0, 0, dialect).unwrap();
            assert_eq!(p.captures(), 3);
            assert_eq!(p.names(), [(b"x".to_vec(), 1)]);
            let e = Pattern::compile(b"a(b", 0, 0, 0, dialect).err().unwrap();
            assert_eq!((e.code, e.offset), (114, 3));
        }
    }

    #[test]
    fn deep_nesting_is_refused_in_each_dialect() {
        for (dialect, most) in [(PcreDialect::Pcre8, 798), (PcreDialect::Pcre2, 798)] {
            let nested = |n: usize| ["(".repeat(n), ")".repeat(n)].concat();
            let compile = |n| Pattern::compile(nested(n).as_bytes(), 0, 0, 0, dialect);
            assert!(compile(most).is_ok(), "{dialect:?}");
            assert!(compile(9999).is_err() && compile(100_000).is_err(), "{dialect:?}");
        }
    }

    #[test]
    fn serialized_code_begins_as_pcre2_has_it() {
        let p = Pattern::compile(b"a(b)", 0, 0, 0, PcreDialect::Pcre2).unwrap();
        let bytes = p.serialized().unwrap();
        assert_eq!(bytes[..4], 0x50523253_u32.to_ne_bytes());
    }
}
