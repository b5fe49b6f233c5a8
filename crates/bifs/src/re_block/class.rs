//! Character classes of the bytecode, as text.

use std::fmt::Write as _;

use super::parse::code_point;
use super::property;

/// A class as PCRE 8 stores it.
#[derive(Debug, PartialEq)]
pub enum Class<'a> {
    Bitmap {
        bitmap: &'a [u8; 32],
        above: bool,
    },
    /// Flags, a bitmap if flagged, and a list.
    Extended(&'a [u8]),
}

const NEGATED: u8 = 0x01;
const HAS_BITMAP: u8 = 0x02;
const HAS_PROPERTIES: u8 = 0x04;

/// What follows in the list of an extended class.
const LIST_END: u8 = 0;
const SINGLE: u8 = 1;
const RANGE: u8 = 2;
const PROPERTY: u8 = 3;
const NOT_PROPERTY: u8 = 4;

/// Inclusive ranges of code points, in order, apart from each other.
type Ranges = Vec<(u32, u32)>;

/// How a pattern's classes are written.
#[derive(Copy, Clone)]
pub struct Style {
    pub utf: bool,
    /// The pattern names CR or LF, so that a class may as well. PCRE takes note of that.
    pub may_name_newlines: bool,
}

impl Style {
    fn last(self) -> u32 {
        if self.utf {
            0x10_ffff
        } else {
            0xff
        }
    }
}

pub fn text(class: &Class<'_>, style: Style) -> Option<String> {
    match class {
        Class::Bitmap { bitmap, above } => {
            let mut all = of_bitmap(bitmap);
            if *above && style.utf {
                add(&mut all, 0x100, style.last());
            }
            Some(of_ranges(&all, style))
        }
        Class::Extended(body) => extended(body, style),
    }
}

/// Adds a range that does not begin before the last one.
fn add(all: &mut Ranges, from: u32, to: u32) {
    match all.last_mut() {
        Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
        _ => all.push((from, to)),
    }
}

fn of_bitmap(bitmap: &[u8; 32]) -> Ranges {
    let mut all = Vec::new();
    for c in 0..=255u32 {
        if bitmap[c as usize / 8] & 1 << (c % 8) != 0 {
            add(&mut all, c, c);
        }
    }
    all
}

fn complement(ranges: &Ranges, first: u32, last: u32) -> Ranges {
    let (mut all, mut from) = (Vec::new(), first);
    for (a, b) in ranges {
        if *a > from {
            all.push((from, a - 1));
        }
        from = from.max(b + 1);
    }
    if from <= last {
        all.push((from, last));
    }
    all
}

fn of_ranges(ranges: &Ranges, style: Style) -> String {
    let others = complement(ranges, 0, style.last());
    let newline = |all: &Ranges| {
        let is = |c: u32| c == 10 || c == 13;
        !style.may_name_newlines && all.iter().any(|(a, b)| is(*a) || is(*b))
    };
    let worth = |all: &Ranges| (all.is_empty(), newline(all), all.len());
    match worth(ranges) <= worth(&others) {
        true => format!("[{}]", list(ranges, style)),
        false => format!("[^{}]", list(&others, style)),
    }
}

/// Ranges without brackets. A subject has no surrogates, and a pattern may not name them.
fn list(ranges: &Ranges, style: Style) -> String {
    let mut s = String::new();
    for (from, to) in ranges {
        let (mut from, mut to) = (*from, (*to).min(style.last()));
        if style.utf && (0xd800..0xe000).contains(&from) {
            from = 0xe000;
        }
        if style.utf && (0xd800..0xe000).contains(&to) {
            to = 0xd7ff;
        }
        if from > to {
            continue;
        }
        character(&mut s, from);
        if to > from {
            s.push('-');
            character(&mut s, to);
        }
    }
    s
}

/// A character within a class or outside.
pub fn character(s: &mut String, c: u32) {
    match u8::try_from(c) {
        Ok(b) if b.is_ascii_alphanumeric() || b == b'_' => s.push(b as char),
        _ => drop(write!(s, "\\x{{{c:x}}}")),
    }
}

/// The list of an extended class.
#[derive(Default)]
struct List {
    ranges: Ranges,
    properties: String,
}

fn read_list(mut at: &[u8], utf: bool) -> Option<List> {
    let mut l = List::default();
    loop {
        let (kind, rest) = at.split_first()?;
        at = match *kind {
            LIST_END => break,
            SINGLE => {
                let (c, n) = code_point(rest)?;
                l.ranges.push((c, c));
                &rest[n..]
            }
            RANGE => {
                let (from, n) = code_point(rest)?;
                let (to, m) = code_point(&rest[n..])?;
                l.ranges.push((from, to));
                &rest[n + m..]
            }
            PROPERTY | NOT_PROPERTY => {
                let (p, rest) = rest.split_first_chunk::<2>()?;
                l.properties += &property::in_class(*kind == NOT_PROPERTY, p[0], p[1], utf)?;
                rest
            }
            _ => return None,
        };
    }
    Some(l)
}

/// Without properties, the bitmap alone decides for code points below 256, and it is already
/// inverted if the class is negated. With properties, all are alternatives, which are negated.
fn extended(body: &[u8], style: Style) -> Option<String> {
    let (&flags, mut rest) = body.split_first()?;
    let negated = flags & NEGATED != 0;
    let mut bitmap = None;
    if flags & HAS_BITMAP != 0 {
        let (bits, after) = rest.split_first_chunk::<32>()?;
        (bitmap, rest) = (Some(of_bitmap(bits)), after);
    }
    let l = read_list(rest, style.utf)?;
    if flags & HAS_PROPERTIES != 0 {
        let low = list(&bitmap.unwrap_or_default(), style);
        let not = if negated { "^" } else { "" };
        return Some(format!("[{not}{low}{}{}]", list(&l.ranges, style), l.properties));
    }
    let mut high = l.ranges.into_iter().map(|(a, b)| (a.max(0x100), b)).collect::<Ranges>();
    high.retain(|(a, b)| a <= b);
    high.sort_unstable();
    let mut all = match bitmap {
        Some(b) => b,
        None if negated => vec![(0, 0xff)],
        None => Vec::new(),
    };
    if negated {
        high = complement(&high, 0x100, style.last());
    }
    high.into_iter().for_each(|(a, b)| add(&mut all, a, b));
    Some(of_ranges(&all, style))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: Style = Style { utf: true, may_name_newlines: false };
    const BYTES: Style = Style { utf: false, may_name_newlines: false };

    fn bitmap(set: impl Fn(u8) -> bool) -> [u8; 32] {
        let mut b = [0; 32];
        (0..=255u8).filter(|c| set(*c)).for_each(|c| b[c as usize / 8] |= 1 << (c % 8));
        b
    }

    #[test]
    fn bitmap_is_written_as_ranges() {
        let of =
            |b: &[u8; 32], above, style| text(&Class::Bitmap { bitmap: b, above }, style).unwrap();
        let letters = bitmap(|c| c.is_ascii_lowercase());
        assert_eq!(of(&letters, false, BYTES), "[a-z]");
        assert_eq!(of(&bitmap(|c| c != b'a'), true, UTF), "[^a]");
        assert_eq!(of(&bitmap(|c| c != b'a'), false, BYTES), "[^a]");
        assert_eq!(of(&bitmap(|_| false), false, BYTES), r"[^\x{0}-\x{ff}]");
        assert_eq!(of(&bitmap(|_| true), true, UTF), r"[\x{0}-\x{10ffff}]");
        let space = bitmap(|c| c == b' ' || (9..=13).contains(&c));
        assert_eq!(of(&space, false, BYTES), r"[^\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{ff}]");
    }

    #[test]
    fn extended_class_has_ranges_and_properties() {
        let of = |b: &[u8]| text(&Class::Extended(b), UTF);
        assert_eq!(of(b"\0\x02\xc4\x80\xc4\x82\0").unwrap(), r"[\x{100}-\x{102}]");
        assert_eq!(of(b"\x01\x01\xc4\x80\0").unwrap(), r"[^\x{100}]");
        assert_eq!(of(b"\x05\x03\x03\x09\x04\x04\x13\0").unwrap(), r"[^\p{Lu}\P{sc:Greek}]");
        for cut in [&b""[..], b"\0", b"\0\x01", b"\0\x01\xc4", b"\x02\0", b"\0\x03\x03", b"\0\x09"]
        {
            assert_eq!(of(cut), None);
        }
    }
}
