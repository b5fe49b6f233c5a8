//! What is known of the terminal, by `$TERM`: how its cursor moves. Compiled descriptions as
//! terminfo(5) and term(5) have them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What moves the cursor one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    pub up: Vec<u8>,
    pub down: Vec<u8>,
    pub left: Vec<u8>,
    pub right: Vec<u8>,
    /// A full row leaves the cursor in its last column, until something more is written.
    pub sticks: bool,
}

impl Default for Moves {
    /// Those of nearly all of them.
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

/// Places in a description.
const EAT_NEWLINE_GLITCH: usize = 4;
const CURSOR_DOWN: usize = 11;
const CURSOR_LEFT: usize = 14;
const CURSOR_RIGHT: usize = 17;
const CURSOR_UP: usize = 19;

const FOLDERS: &[&str] = &["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"];
/// The longest file that is read.
const LONGEST: u64 = 1 << 16;

/// Of the terminal that the environment names. `None`: nothing is known of it, or too little to edit
/// a line on it.
pub fn of_environment() -> Option<Moves> {
    let name = std::env::var_os("TERM").filter(|n| !n.is_empty())?;
    let first = *name.as_bytes().first()?;
    if name.as_bytes().contains(&b'/') {
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
            let path = d.join(sub).join(&name);
            let known = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= LONGEST);
            known.then(|| std::fs::read(path).ok())?
        })
    };
    read_moves(&folders.into_iter().find_map(read)?)
}

/// The moves in a compiled description, where all are there.
fn read_moves(file: &[u8]) -> Option<Moves> {
    let short = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
    // Numbers take two bytes, in the newer form four.
    let number = match short(0)? {
        0o432 => 2,
        0o1036 => 4,
        _ => return None,
    };
    let count = |i: usize| Some(short(2 * i)? as usize);
    let (names, flags, numbers) = (count(1)?, count(2)?, count(3)?);
    let (strings, size) = (count(4)?, count(5)?);
    let at_flags = 12 + names;
    let at_numbers = (at_flags + flags).next_multiple_of(2);
    let at_strings = at_numbers + numbers * number;
    let table = file.get(at_strings + 2 * strings..at_strings + 2 * strings + size)?;
    let string = |i: usize| {
        let at = (i < strings).then(|| short(at_strings + 2 * i))??;
        let text = table.get(at as usize..)?;
        let text = text.split(|b| *b == 0).next().filter(|t| !t.is_empty())?;
        Some(without_delays(text))
    };
    Some(Moves {
        up: string(CURSOR_UP)?,
        down: string(CURSOR_DOWN).unwrap_or_else(|| b"\n".to_vec()),
        left: string(CURSOR_LEFT).unwrap_or_else(|| b"\x08".to_vec()),
        right: string(CURSOR_RIGHT)?,
        sticks: EAT_NEWLINE_GLITCH < flags && file.get(at_flags + EAT_NEWLINE_GLITCH) == Some(&1),
    })
}

/// Without `$<5>`, for which old terminals needed time.
fn without_delays(text: &[u8]) -> Vec<u8> {
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

    /// A description with those strings, by their places.
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

    #[test]
    fn descriptions() {
        let all: &[(usize, &[u8])] =
            &[(11, b"\n"), (14, b"\x08"), (17, b"\x1bC$<5>"), (19, b"\x1bA")];
        let m = read_moves(&description(all, 1)).unwrap();
        assert_eq!((m.up, m.right, m.sticks), (b"\x1bA".to_vec(), b"\x1bC".to_vec(), true));
        assert!(!read_moves(&description(all, 0)).unwrap().sticks);
        // One that cannot go up.
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
