//! The `LineEntry` chunk: source locations, which `line` instructions name by index.

use crate::compact::{self, Number, TAG_A, TAG_I};
use crate::reader::Reader;

/// One location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineEntry {
    /// Index in [`Lines::files`]; 0 is the module's own file.
    pub file: u32,
    /// Line number; 0 if not known.
    pub line: u32,
}

/// The whole chunk. Empty if the file has none.
#[derive(Default)]
pub struct Lines<'f> {
    /// Locations; number 0 is "not known".
    pub items: Vec<LineEntry>,
    /// File names; the first, for the module's name and `.erl`, is empty.
    pub files: Vec<&'f str>,
    /// Bits of `EXECUTABLE_LINES` and `FORCE_COUNTERS`.
    flags: u32,
    /// How many `line` instructions the code has, according to the chunk.
    pub instructions: u32,
}

/// The code has `executable_line` instructions.
const EXECUTABLE_LINES: u32 = 1;
/// They are to count, whatever the coverage mode is.
const FORCE_COUNTERS: u32 = 2;

impl<'f> Lines<'f> {
    /// Whether the code has `executable_line` instructions.
    pub fn has_executable(&self) -> bool {
        self.flags & EXECUTABLE_LINES != 0
    }
    /// Whether these are to count, whatever the coverage mode is.
    pub fn forces_counters(&self) -> bool {
        self.flags & FORCE_COUNTERS != 0
    }

    /// The location at an index.
    pub fn get(&self, index: u32) -> Option<LineEntry> {
        self.items.get(usize::try_from(index).ok()?).copied()
    }

    /// A chunk of another version reads as no chunk, as in OTP.
    pub(crate) fn parse(chunk: &'f [u8]) -> Option<Lines<'f>> {
        let mut r = Reader::new(chunk);
        if r.u32()? != 0 {
            return Some(Lines::default());
        }
        let flags = r.u32()?;
        let instructions = r.u32()?;
        let items = usize::try_from(r.u32()?).ok()?;
        let names = r.u32()?;
        if items > r.len() {
            return None;
        }
        let items = parse_items(&mut r, items, names)?;
        let mut files = vec![""];
        for _ in 0..names {
            let length = usize::from(r.u16()?);
            files.push(std::str::from_utf8(r.bytes(length)?).ok()?);
        }
        Some(Lines { items, files, flags, instructions })
    }
}

/// Items are line numbers; an atom tag between them changes the file for those after it.
fn parse_items(r: &mut Reader, count: usize, names: u32) -> Option<Vec<LineEntry>> {
    let mut items = Vec::with_capacity(count + 1);
    items.push(LineEntry { file: 0, line: 0 });
    let mut file = 0;
    while items.len() <= count {
        match compact::read(r)? {
            (TAG_A, Number::Word(n)) => file = u32::try_from(n).ok().filter(|n| *n <= names)?,
            (TAG_I, Number::Word(n)) => {
                let line = u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32)?;
                items.push(LineEntry { file, line });
            }
            _ => return None,
        }
    }
    Some(items)
}
