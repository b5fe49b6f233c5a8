//! Where PCRE 8, whose patterns OTP 25 takes, differs from PCRE2.

/// A pattern rewritten for PCRE2, and where bytes were inserted or removed.
pub(crate) struct Adapted {
    pub pattern: Vec<u8>,
    pub places: Places,
}
impl Adapted {
    pub fn unchanged(pattern: &[u8]) -> Adapted {
        Adapted { pattern: pattern.to_vec(), places: Places::default() }
    }
}
#[derive(Default)]
pub(crate) struct Places {
    inserted: Vec<usize>,
    left_out: Vec<usize>,
}

impl Places {
    /// The offset in the original pattern.
    pub fn of(&self, offset: usize) -> usize {
        let before = |all: &[usize]| all.iter().filter(|at| **at < offset).count();
        (offset + before(&self.left_out)).saturating_sub(before(&self.inserted))
    }
}

/// A hyphen behind a type or class of characters, as in `[\d-z]`, stands for itself; PCRE2 wants it
/// escaped. A letter without a meaning behind a backslash also stands for itself, and so do 8 and 9
/// if there are not that many groups. `\c` takes any ASCII character but NUL, and `\x` needs no
/// digits.
pub(crate) fn adapt(pattern: &[u8]) -> Adapted {
    let room = Vec::with_capacity(pattern.len());
    let mut a = Adapted { pattern: room, places: Places::default() };
    let mut s = Scan { rest: pattern, in_class: false };
    let (mut after_type, mut groups) = (false, 0);
    while let Some(t) = s.token() {
        if after_type && t.bytes == b"-" && s.rest.first().is_some_and(|c| *c != b']') {
            a.places.inserted.push(a.pattern.len());
            a.pattern.push(b'\\');
        }
        groups += (t.bytes == b"(" && !s.in_class && captures(s.rest)) as usize;
        let plain = match *t.bytes {
            [b'\\', c @ (b'8' | b'9')] => {
                let more = s.rest.iter().take_while(|c| c.is_ascii_digit());
                let n = more.fold((c - b'0') as usize, |n, c| {
                    n.saturating_mul(10).saturating_add((c - b'0') as usize)
                });
                s.in_class || n > groups
            }
            [b'\\', c] => UNKNOWN.contains(&c) || s.in_class && IN_CLASS.contains(&c),
            _ => false,
        };
        if let ([_, c @ (b'8' | b'9')], true) = (t.bytes, plain) {
            // As a number that a following digit does not extend.
            a.places.inserted.extend([a.pattern.len(); 2]);
            a.pattern.extend_from_slice(&[b'\\', b'x', b'3', *c]);
            after_type = false;
            continue;
        }
        if let [b'\\', b'c', c @ (1..=31 | 127)] = *t.bytes {
            let number = format!("\\x{:02x}", c ^ 0x40);
            a.places.inserted.push(a.pattern.len());
            a.pattern.extend_from_slice(number.as_bytes());
            after_type = false;
            continue;
        }
        if t.bytes == br"\x" && !s.rest.first().is_some_and(|c| c.is_ascii_hexdigit() || *c == b'{')
        {
            a.pattern.extend_from_slice(br"\x");
            a.places.inserted.extend([a.pattern.len(); 2]);
            a.pattern.extend_from_slice(b"00");
            after_type = false;
            continue;
        }
        if plain {
            a.places.left_out.push(a.pattern.len());
            a.pattern.extend_from_slice(&t.bytes[1..]);
            after_type = false;
            continue;
        }
        a.pattern.extend_from_slice(t.bytes);
        after_type = t.is_type || after_type && t.bytes == br"\E";
    }
    a
}

/// Letters without a meaning behind a backslash, and those without one within a class.
const UNKNOWN: &[u8] = b"FIJMOTYijmqy";
const IN_CLASS: &[u8] = b"ABCGKRXZgkz";

/// Whether a parenthesis followed by `rest` captures.
fn captures(rest: &[u8]) -> bool {
    match rest {
        [b'*', ..] => false,
        [b'?', b'P', b'<', ..] | [b'?', b'\'', ..] => true,
        [b'?', b'<', c, ..] => !b"=!".contains(c),
        [b'?', ..] => false,
        _ => true,
    }
}

struct Scan<'a> {
    rest: &'a [u8],
    in_class: bool,
}
struct Token<'a> {
    bytes: &'a [u8],
    /// Within a class, it stands for several characters.
    is_type: bool,
}

impl<'a> Scan<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        bytes
    }
    fn token(&mut self) -> Option<Token<'a>> {
        let (&first, more) = self.rest.split_first()?;
        let mut is_type = false;
        let n = match first {
            b'\\' if more.first() == Some(&b'Q') => end_of(self.rest, br"\E"),
            b'\\' => {
                is_type =
                    self.in_class && more.first().is_some_and(|c| b"dDwWsShHvVpP".contains(c));
                let braces = more.starts_with(b"p{") || more.starts_with(b"P{");
                match braces {
                    true => end_of(self.rest, b"}"),
                    false if more.first() == Some(&b'c') => 3,
                    false if more.first().is_some_and(|c| b"pP".contains(c)) => 3,
                    false => 2,
                }
            }
            b'[' if !self.in_class => {
                self.in_class = true;
                // A bracket that comes first closes nothing.
                let not = more.starts_with(b"^") as usize;
                1 + not + (more.get(not) == Some(&b']')) as usize
            }
            b'[' if more.starts_with(b":") => match posix_class(more) {
                Some(n) => {
                    is_type = true;
                    n + 1
                }
                None => 1,
            },
            b']' => {
                self.in_class = false;
                1
            }
            _ => 1,
        };
        Some(Token { bytes: self.take(n), is_type })
    }
}
/// Bytes up to behind the next `end`, or all.
fn end_of(s: &[u8], end: &[u8]) -> usize {
    s.windows(end.len()).position(|w| w == end).map_or(s.len(), |at| at + end.len())
}
/// The length of `:name:]`.
fn posix_class(s: &[u8]) -> Option<usize> {
    let letters = s.iter().skip(1).take_while(|c| c.is_ascii_lowercase() || **c == b'^').count();
    s.get(1 + letters..)?.starts_with(b":]").then_some(letters + 3)
}

/// Whether the pattern may test for a word character where a match begins.
pub(crate) fn has_word_type(pattern: &[u8]) -> bool {
    pattern.windows(2).any(|w| w == br"\w")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(s: &str) -> String {
        String::from_utf8(adapt(s.as_bytes()).pattern).unwrap()
    }

    #[test]
    fn hyphens_behind_types_are_escaped() {
        let same = [r"\d-z", r"[a-z\d]", r"[\d-]", r"[-\d]", r"[\Q\d\E-z]", r"[a-\d]", r"[", r"\"];
        same.iter().for_each(|s| assert_eq!(adapted(s), *s));
        let changed = [
            (r"[\d-z]", r"[\d\-z]"),
            (r"x[]\d-z]-[^]\w-\d]", r"x[]\d\-z]-[^]\w\-\d]"),
            (r"[[:alpha:]-z]", r"[[:alpha:]\-z]"),
            (r"[\p{L}-z\pL-z]", r"[\p{L}\-z\pL\-z]"),
            (r"[\d-a-z]", r"[\d\-a-z]"),
            (r"[\d\E-z]", r"[\d\E\-z]"),
            (r"\[[\s-x]", r"\[[\s\-x]"),
        ];
        changed.iter().for_each(|(a, b)| assert_eq!(adapted(a), *b));
        let plain = [
            (r"ab\idef\q[\R\d]", r"abidefq[R\d]"),
            (r"^A\8B\9C$", r"^A\x38B\x39C$"),
            (r"((((((((a))))))))\8\9", r"((((((((a))))))))\8\x39"),
            (r"(?:a)(?<n>b)\81[\8]", r"(?:a)(?<n>b)\x381[\x38]"),
            ("^\\c\x7f\\c\x01+[\\c\n]", r"^\x3f\x41+[\x4a]"),
            (r"\xZ\x4\x{5}[\x-\x]\x", r"\x00Z\x4\x{5}[\x00-\x00]\x00"),
            (r"\c\i\c[\i]", r"\c\i\c[i]"),
        ];
        plain.iter().for_each(|(a, b)| assert_eq!(adapted(a), *b));
        let a = adapt(br"\i(");
        assert_eq!(a.places.of(2), 3);
        let a = adapt(br"[\d-z(");
        assert_eq!((a.places.of(7), a.places.of(3)), (6, 3));
    }
}
