//! Patterns that OTP's own PCRE compiled. Before OTP 28 a compiled pattern is a binary that holds
//! PCRE 8.44's block: a header, a table of group names, and bytecode. Modules keep such blocks as
//! literals. They are decompiled to a pattern in PCRE2's syntax, which is then compiled as any other.
//!
//! The block is not trusted: every read is checked, and no function recurses.

mod class;
mod fold;
mod opcodes;
mod parse;
mod property;
mod write;

use kvik_sys::pcre::opt;

use crate::re_options::How;

/// "ERCP" in memory: PCRE's magic number in little endian.
const MAGIC: u32 = 0x5043_5245;
/// Offset of the name table, which is the header's size, with pointers of 64 and of 32 bits.
const HEADER_SIZES: [usize; 2] = [64, 56];
/// Most bytecode that links of two bytes allow.
const MAX_CODE_BYTES: usize = 1 << 16;

/// Header flags.
const MODE_8_BIT: u32 = 0x1;
const HAS_CR_OR_LF: u32 = 0x0800;
const MATCH_LIMIT_SET: u32 = 0x2000;
const DEPTH_LIMIT_SET: u32 = 0x4000;

/// Header option bits, and the options of PCRE2 they are.
const OPTIONS: &[(u32, u32)] = &[
    (0x0000_0001, opt::CASELESS),
    (0x0000_0002, opt::MULTILINE),
    (0x0000_0010, opt::ANCHORED),
    (0x0000_0020, opt::DOLLAR_ENDONLY),
    (0x0000_0800, opt::UTF),
    (0x0004_0000, opt::FIRSTLINE),
    (0x0008_0000, opt::DUPNAMES),
    (0x0400_0000, opt::NO_START_OPTIMIZE),
    (0x2000_0000, opt::UCP),
];
const NEWLINE_MASK: u32 = 0x0070_0000;
const NEWLINES: &[(u32, u32)] = &[
    (0x0010_0000, opt::NEWLINE_CR),
    (0x0020_0000, opt::NEWLINE_LF),
    (0x0030_0000, opt::NEWLINE_CRLF),
    (0x0040_0000, opt::NEWLINE_ANY),
    (0x0050_0000, opt::NEWLINE_ANYCRLF),
];
const BSR_MASK: u32 = 0x0180_0000;
const BSRS: &[(u32, u32)] = &[(0x0080_0000, opt::BSR_ANYCRLF), (0x0100_0000, opt::BSR_UNICODE)];

/// The fields of the header that matter for a match.
struct Header {
    options: u32,
    flags: u32,
    match_limit: u32,
    depth_limit: u32,
    groups: u16,
}

/// A group's name and number.
struct Name<'a> {
    group: u16,
    text: &'a [u8],
}

pub fn is_block(binary: &[u8]) -> bool {
    binary.starts_with(&MAGIC.to_le_bytes())
}

/// The options and the pattern of a block; `None` if it is none that PCRE 8.44 makes.
pub fn decompile(block: &[u8]) -> Option<(How, Vec<u8>)> {
    let (header, names, code) = split(block)?;
    let find = |table: &[(u32, u32)], bits: u32| match bits {
        0 => Some(0),
        _ => table.iter().find(|(b, _)| *b == bits).map(|(_, o)| *o),
    };
    let chosen = OPTIONS.iter().filter(|(bit, _)| header.options & bit != 0);
    let options = chosen.fold(0, |all, (_, o)| all | o);
    let how = How {
        options,
        newline: find(NEWLINES, header.options & NEWLINE_MASK)?,
        bsr: find(BSRS, header.options & BSR_MASK)?,
        pcre2_syntax: true,
    };
    let mut program = parse::parse(code, options & opt::UTF != 0)?;
    let pattern = write::pattern(&mut program, &header, &names, options)?;
    Some((how, pattern))
}

fn u16_le(block: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(block.get(at..at + 2)?.try_into().ok()?))
}
fn u32_le(block: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(block.get(at..at + 4)?.try_into().ok()?))
}

/// Reads the header and the name table; what remains is the bytecode.
fn split(block: &[u8]) -> Option<(Header, Vec<Name<'_>>, &[u8])> {
    let size = u32_le(block, 4)? as usize;
    let table_at = u16_le(block, 34)? as usize;
    let header = Header {
        options: u32_le(block, 8)?,
        flags: u32_le(block, 12)?,
        match_limit: u32_le(block, 16)?,
        depth_limit: u32_le(block, 20)?,
        groups: u16_le(block, 30)?,
    };
    let known = u32_le(block, 0)? == MAGIC
        && size == block.len()
        && header.flags & MODE_8_BIT != 0
        && HEADER_SIZES.contains(&table_at);
    if !known {
        return None;
    }
    let (entry, count) = (u16_le(block, 36)? as usize, u16_le(block, 38)? as usize);
    let (table, code) = block.get(table_at..)?.split_at_checked(entry.checked_mul(count)?)?;
    if code.len() > MAX_CODE_BYTES {
        return None;
    }
    let names = table.chunks_exact(entry.max(1)).map(read_name);
    Some((header, names.collect::<Option<_>>()?, code))
}

/// An entry of the name table: the number in big endian, and the name up to a zero.
fn read_name(entry: &[u8]) -> Option<Name<'_>> {
    let (number, text) = entry.split_first_chunk::<2>()?;
    let text = text.split(|b| *b == 0).next()?;
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii();
    let valid = !text.is_empty() && text.iter().all(word);
    valid.then_some(Name { group: u16::from_be_bytes(*number), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: u32 = 0x0800;
    const CASELESS: u32 = 0x1;

    /// A block with the bytecode of a pattern within the group around all.
    fn block(options: u32, names: &[(u8, &str)], groups: u16, code: &[u8]) -> Vec<u8> {
        let width = names.iter().map(|(_, n)| n.len() + 3).max().unwrap_or(0);
        let mut b = vec![0; 64];
        b[8..12].copy_from_slice(&options.to_le_bytes());
        b[12] = MODE_8_BIT as u8;
        b[30..32].copy_from_slice(&groups.to_le_bytes());
        (b[34], b[36], b[38]) = (64, width as u8, names.len() as u8);
        for (number, name) in names {
            let mut entry = vec![0, *number];
            entry.extend_from_slice(name.as_bytes());
            entry.resize(width, 0);
            b.extend_from_slice(&entry);
        }
        b.extend_from_slice(&[131, 0, 0]);
        b.extend_from_slice(code);
        b.extend_from_slice(&[120, 0, 0, 0]);
        let size = b.len() as u32;
        b[..4].copy_from_slice(&MAGIC.to_le_bytes());
        b[4..8].copy_from_slice(&size.to_le_bytes());
        b
    }
    fn pattern_of(b: &[u8]) -> Option<String> {
        decompile(b).map(|(_, p)| String::from_utf8(p).unwrap())
    }
    fn pattern(groups: u16, code: &[u8]) -> Option<String> {
        pattern_of(&block(0, &[], groups, code))
    }

    #[test]
    fn items_and_their_repeats_are_written() {
        let text = |code: &[u8]| pattern(0, code).unwrap();
        assert_eq!(text(&[29, b'a', 30, b'b', 29, b'c', 29, b'.']), r"a(?i)b(?-i)c\x{2e}");
        assert_eq!(text(&[41, 0, 3, b'a', 40, 0, 2, b'a', 42, b'b', 37, b'c']), "a{3}a{0,2}?b*+c?");
        assert_eq!(text(&[31, b'x', 59, b'y']), "[^x][^y]*");
        assert_eq!(text(&[87, 7, 93, 0, 4, 16, 3, 9, 12, 13]), r"\d+\p{Lu}{4}\N.");
        assert_eq!(text(&[27, 28, 26, 25]), "^(?m)^$(?-m)$");
        assert_eq!(text(&[149, 1, b'm', 0, 156, 157]), "(*MARK:m)(*COMMIT)(*FAIL)");
    }

    #[test]
    fn copies_of_group_become_one_with_repeat() {
        let copy = [133, 0, 0, 0, 1, 29, b'a', 120, 0, 0];
        let code = |parts: &[&[u8]]| pattern(1, &parts.concat());
        assert_eq!(code(&[&copy, &copy]).unwrap(), "(a){2}");
        let wrapped = [&[146, 131, 0, 0][..], &copy, &[146], &copy, &[120, 0, 0]].concat();
        assert_eq!(code(&[&wrapped]).unwrap(), "(a){0,2}");
        assert_eq!(code(&[&copy, &wrapped]).unwrap(), "(a){1,3}");
        let mut last = copy;
        last[7] = 123;
        assert_eq!(code(&[&copy, &last]).unwrap(), "(a){2,}+");
        assert_eq!(code(&[&[161], &copy]).unwrap(), "(a){0}");
        // Another number in between: no pattern has that.
        assert_eq!(code(&[&copy, &[29, b'b'], &copy]), None);
    }

    #[test]
    fn repeat_is_possessive_only_if_it_is_so_in_each_copy() {
        let copy = |op: u8| [133, 0, 0, 0, 1, op, b'a', 120, 0, 0];
        let both = |a: u8, b: u8| pattern(1, &[copy(a), copy(b)].concat()).unwrap();
        assert_eq!(both(33, 42), "(a*){2}");
        assert_eq!(both(42, 33), "(a*){2}");
        assert_eq!(both(42, 42), "(a*+){2}");
    }

    #[test]
    fn groups_of_alternatives_may_have_same_numbers() {
        let group = |n: u8, c: u8| [133, 0, 0, 0, n, 29, c, 120, 0, 0];
        let alternatives = |second: u8| {
            let parts: [&[u8]; 5] =
                [&[131, 0, 0], &group(1, b'a'), &[119, 0, 0], &group(second, b'b'), &[120, 0, 0]];
            parts.concat()
        };
        assert_eq!(pattern(1, &alternatives(1)).unwrap(), "(?|(a)|(b))");
        assert_eq!(pattern(2, &alternatives(2)).unwrap(), "(?:(a)|(b))");
        assert_eq!(pattern(3, &alternatives(2)), None);
    }

    #[test]
    fn names_conditions_and_recursions_are_written() {
        let names = [(1, "one"), (2, "one")];
        let code = [
            &[133, 0, 0, 0, 1, 29, b'a', 120, 0, 0][..],
            &[133, 0, 0, 0, 2, 29, b'b', 120, 0, 0],
            &[115, 0, 0, 0, 2, 98, 135, 0, 0, 142, 0, 0, 0, 2, 114, 0, 1, 119, 0, 0, 120, 0, 0],
            &[117, 0, 0, 117, 0, 3],
        ];
        let b = block(0, &names, 2, &code.concat());
        let text = r"(?J)(?<one>a)(?<one>b)\k{one}*(?(<one>)(?i)\g{1}|)(?>(?0))(?>(?1))";
        assert_eq!(pattern_of(&b).unwrap(), text);
    }

    #[test]
    fn options_and_code_points_are_read() {
        let b = block(UTF | CASELESS | 0x0050_0000, &[], 0, &[30, 0xc3, 0xa9, 16, 9, 71]);
        let (how, text) = decompile(&b).unwrap();
        assert_eq!(how.options, opt::UTF | opt::CASELESS);
        assert_eq!((how.newline, how.bsr), (opt::NEWLINE_ANYCRLF, 0));
        assert_eq!(text, br"\x{e9}K");
    }

    #[test]
    fn damaged_block_is_refused_or_read_as_another() {
        let code = [
            &[110][..],
            &[0x55; 32],
            &[104, 0, 1, 0, 2, 112, 0, 8, 4, 3, 3, 9, 0, 99],
            &[146, 131, 0, 0, 133, 0, 0, 0, 1, 41, 0, 2, b'a', 120, 0, 0],
            &[146, 133, 0, 0, 0, 1, 41, 0, 2, b'a', 120, 0, 0, 120, 0, 0, 153, 1, b'x', 0],
        ];
        let whole = block(0, &[(1, "name")], 1, &code.concat());
        assert!(decompile(&whole).is_some());
        for n in 0..whole.len() {
            let mut cut = whole[..n].to_vec();
            assert!(decompile(&cut).is_none());
            if n >= 8 {
                cut[4..8].copy_from_slice(&(n as u32).to_le_bytes());
                assert!(decompile(&cut).is_none());
            }
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[n] = byte;
                decompile(&changed);
            }
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let nested = |n: usize| [[131, 0, 0].repeat(n), [120, 0, 0].repeat(n)].concat();
        assert!(pattern(0, &nested(900)).is_some());
        assert!(pattern(0, &nested(10_000)).is_none());
    }
}
