//! Cursor movement of the terminal that `$TERM` names, from compiled descriptions as in terminfo(5)
//! and term(5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use kvik_env::fs;

use super::terminfo_names::STRINGS;

/// The sequences that move the cursor by one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    pub up: Vec<u8>,
    pub down: Vec<u8>,
    pub left: Vec<u8>,
    pub right: Vec<u8>,
    /// A full row leaves the cursor in its last column until more is written.
    pub sticks: bool,
}

impl Default for Moves {
    /// The sequences of nearly all terminals.
    fn default() -> Moves {
        let bytes = |s: &[u8]| s.to_vec();
        Moves {
            up: bytes(b"\x1b[A"),
            down: bytes(b"\n"),
            left: bytes(b"\x08"),
            right: bytes(b"\x1b[C"),
            sticks: true,
        }
    }
}

/// Indexes of capabilities in a description.
const EAT_NEWLINE_GLITCH: usize = 4;
const CURSOR_DOWN: usize = 11;
const CURSOR_LEFT: usize = 14;
const CURSOR_RIGHT: usize = 17;
const CURSOR_UP: usize = 19;

const FOLDERS: &[&str] = &["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"];
/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 16;

/// A compiled description, and the positions of its parts.
pub struct Description {
    file: Vec<u8>,
    flags: std::ops::Range<usize>,
    numbers: usize,
    /// Bytes of a number: two, or four in the newer format.
    width: usize,
    number_count: usize,
    strings: usize,
    string_count: usize,
    table: std::ops::Range<usize>,
}

/// Moves of the terminal that the environment names. `None`: its description is missing, or too
/// poor for editing a line.
pub fn of_environment() -> Option<Moves> {
    let name = std::env::var_os("TERM").filter(|n| !n.is_empty())?;
    Description::of(name.as_bytes())?.moves()
}

impl Description {
    /// The description of a terminal of this name.
    pub fn of(name: &[u8]) -> Option<Description> {
        let first = *name.first()?;
        if name.contains(&b'/') || name.contains(&0) {
            return None;
        }
        let mut folders: Vec<PathBuf> =
            std::env::var_os("TERMINFO").into_iter().map(Into::into).collect();
        folders.extend(std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".terminfo")));
        if let Some(more) = std::env::var_os("TERMINFO_DIRS") {
            folders.extend(std::env::split_paths(&more).filter(|d| !d.as_os_str().is_empty()));
        }
        folders.extend(FOLDERS.iter().map(PathBuf::from));
        let letter = OsStr::from_bytes(std::slice::from_ref(&first)).to_owned();
        let read = |d: PathBuf| {
            [letter.clone(), format!("{first:x}").into()].into_iter().find_map(|sub| {
                let path = d.join(sub).join(OsStr::from_bytes(name));
                let known = fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= LONGEST);
                known.then(|| fs::read(path).ok())?
            })
        };
        Description::parse(folders.into_iter().find_map(read)?)
    }

    fn parse(file: Vec<u8>) -> Option<Description> {
        let short = |at: usize| short(&file, at);
        let width = match short(0)? {
            0o432 => 2,
            0o1036 => 4,
            _ => return None,
        };
        let count = |i: usize| Some(short(2 * i)? as usize);
        let (names, flags, number_count) = (count(1)?, count(2)?, count(3)?);
        let (string_count, size) = (count(4)?, count(5)?);
        let at_flags = 12 + names;
        let numbers = (at_flags + flags).next_multiple_of(2);
        let strings = numbers + number_count * width;
        let table = strings + 2 * string_count..strings + 2 * string_count + size;
        file.get(table.clone())?;
        let flags = at_flags..at_flags + flags;
        Some(Description {
            file,
            flags,
            numbers,
            width,
            number_count,
            strings,
            string_count,
            table,
        })
    }

    /// A flag, by its index.
    pub fn flag(&self, i: usize) -> bool {
        self.file.get(self.flags.clone()).and_then(|flags| flags.get(i)) == Some(&1)
    }

    /// A number, by its index.
    pub fn number(&self, i: usize) -> Option<i32> {
        let at = (i < self.number_count).then_some(self.numbers + self.width * i)?;
        let number = match self.width {
            2 => i32::from(short(&self.file, at)? as i16),
            _ => i32::from_le_bytes(self.file.get(at..at + 4)?.try_into().ok()?),
        };
        (number >= 0).then_some(number)
    }

    /// A string, by its index, with its delays.
    pub fn string(&self, i: usize) -> Option<&[u8]> {
        let at = (i < self.string_count).then(|| short(&self.file, self.strings + 2 * i))??;
        let text = self.file.get(self.table.clone())?.get(at as usize..)?;
        text.split(|b| *b == 0).next().filter(|t| !t.is_empty())
    }

    /// The moves, if the description has all of them.
    fn moves(&self) -> Option<Moves> {
        let string = |i: usize| self.string(i).map(without_delays);
        Some(Moves {
            up: string(CURSOR_UP)?,
            down: string(CURSOR_DOWN).unwrap_or_else(|| b"\n".to_vec()),
            left: string(CURSOR_LEFT).unwrap_or_else(|| b"\x08".to_vec()),
            right: string(CURSOR_RIGHT)?,
            sticks: self.flag(EAT_NEWLINE_GLITCH),
        })
    }
}

fn short(file: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?))
}

/// Indexes of capabilities by termcap's names, of which two letters count.
static CODES: &[(&[u8; 2], CapabilityKind, usize)] = &[
    (b"bc", CapabilityKind::String, 397),
    (b"bs", CapabilityKind::Flag, 37),
    (b"cd", CapabilityKind::String, 7),
    (b"cl", CapabilityKind::String, 5),
    (b"co", CapabilityKind::Number, 0),
    (b"DC", CapabilityKind::String, 105),
    (b"do", CapabilityKind::String, CURSOR_DOWN),
    (b"IC", CapabilityKind::String, 108),
    (b"le", CapabilityKind::String, CURSOR_LEFT),
    (b"li", CapabilityKind::Number, 2),
    (b"nd", CapabilityKind::String, CURSOR_RIGHT),
    (b"ta", CapabilityKind::String, 134),
    (b"u6", CapabilityKind::String, 293),
    (b"u7", CapabilityKind::String, 294),
    (b"up", CapabilityKind::String, CURSOR_UP),
    (b"xn", CapabilityKind::Flag, EAT_NEWLINE_GLITCH),
];

/// The index of a string capability by terminfo's own name: `cuu1`.
pub fn string_place(name: &[u8]) -> Option<usize> {
    STRINGS.iter().position(|n| n.as_bytes() == name)
}

/// The type of a capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapabilityKind {
    Flag,
    Number,
    String,
}

/// The index of a capability of this type, by termcap's name.
pub fn place(name: &[u8], kind: CapabilityKind) -> Option<usize> {
    let code = name.get(..2)?;
    CODES.iter().find(|(c, k, _)| *c == code && *k == kind).map(|(_, _, place)| *place)
}

/// Removes delays (`$<5>`), which old terminals needed.
pub fn without_delays(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((b, after)) = rest.split_first() {
        rest = after;
        let end = after.iter().position(|b| *b == b'>');
        match (b, after.first(), end) {
            (b'$', Some(b'<'), Some(end)) => rest = &after[end + 1..],
            _ => out.push(*b),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description with these strings, by their indexes.
    fn description(strings: &[(usize, &[u8])], glitch: u8) -> Vec<u8> {
        let mut offsets = [u16::MAX; 20];
        let mut table = Vec::new();
        for (i, s) in strings {
            offsets[*i] = table.len() as u16;
            table.extend_from_slice(s);
            table.push(0);
        }
        let header = [0o432, 2, 5, 1, 20, table.len() as u16];
        let mut file: Vec<u8> = header.iter().flat_map(|n| n.to_le_bytes()).collect();
        file.extend_from_slice(b"x\0");
        file.extend_from_slice(&[0, 0, 0, 0, glitch, 0]);
        file.extend_from_slice(&80u16.to_le_bytes());
        file.extend(offsets.iter().flat_map(|n| n.to_le_bytes()));
        file.extend(table);
        file
    }

    fn read_moves(file: &[u8]) -> Option<Moves> {
        Description::parse(file.to_vec())?.moves()
    }

    #[test]
    fn capabilities_by_termcap_name() {
        let d = Description::parse(description(&[(17, b"r"), (19, b"u")], 1)).unwrap();
        let string = |name: &[u8]| place(name, CapabilityKind::String).and_then(|i| d.string(i));
        assert_eq!(
            (string(b"up"), string(b"nd"), string(b"do")),
            (Some(&b"u"[..]), Some(&b"r"[..]), None)
        );
        assert_eq!(place(b"co", CapabilityKind::Number).and_then(|i| d.number(i)), Some(80));
        assert!(place(b"xn", CapabilityKind::Flag).is_some_and(|i| d.flag(i)));
        assert_eq!(
            (place(b"xn", CapabilityKind::String), place(b"x", CapabilityKind::Flag)),
            (None, None)
        );
    }

    #[test]
    fn descriptions() {
        let all: &[(usize, &[u8])] =
            &[(11, b"\n"), (14, b"\x08"), (17, b"\x1bC$<5>"), (19, b"\x1bA")];
        let m = read_moves(&description(all, 1)).unwrap();
        assert_eq!((m.up, m.right, m.sticks), (b"\x1bA".to_vec(), b"\x1bC".to_vec(), true));
        assert!(!read_moves(&description(all, 0)).unwrap().sticks);
        // A terminal that cannot move up.
        assert_eq!(read_moves(&description(&all[..3], 1)), None);
    }

    #[test]
    fn damaged_ones_are_none() {
        let whole = description(&[(17, b"r"), (19, b"u")], 1);
        for n in 0..whole.len() {
            assert_eq!(read_moves(&whole[..n]), None, "{n}");
        }
        for i in 0..whole.len() {
            let mut bad = whole.clone();
            bad[i] ^= 0xFF;
            let _ = read_moves(&bad);
        }
    }
}
