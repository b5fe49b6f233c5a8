//! The line being edited, and the output for each change of it.

use kvik_sys::locale;

use super::terminfo::Moves;

/// A cell of the line.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Cell {
    Char(char),
    /// A tab, shown as this many blanks.
    Tab(u8),
    Escape,
    /// Shown as `^` and a letter.
    Control(u8),
    /// A character that the terminal cannot show.
    Escaped(char),
}

/// Such a character as digits: three octal ones, or hexadecimal ones in braces.
fn escaped(c: char) -> String {
    match c as u32 {
        n @ 0..=0o777 => format!("\\{n:03o}"),
        n => format!("\\x{{{n:X}}}"),
    }
}

/// A line that has grown beyond this many cells is started anew.
const LONGEST: usize = 1 << 16;

/// The line being edited, and the output for each change of it.
pub struct EditLine {
    cells: Vec<Cell>,
    at: usize,
    pub columns: usize,
    pub utf8: bool,
    moves: Moves,
    pub out: Vec<u8>,
}

impl EditLine {
    pub fn new(utf8: bool) -> EditLine {
        let (cells, out) = (Vec::new(), Vec::new());
        EditLine { cells, at: 0, columns: 80, utf8, moves: Moves::default(), out }
    }
    pub fn set_moves(&mut self, m: Moves) {
        self.moves = m;
    }

    /// The column of a position in the line, counted on over line ends.
    fn column(&self, at: usize) -> usize {
        let mut col = 0;
        let mut i = 0;
        while i < at.min(self.cells.len()) {
            if self.cells[i] == Cell::Escape {
                i += self.escape_length(i);
                continue;
            }
            col += match self.cells[i] {
                Cell::Char(c) => locale::width(c).unwrap_or(0),
                Cell::Tab(n) => n as usize,
                Cell::Control(_) => 2,
                Cell::Escaped(c) => escaped(c).len(),
                Cell::Escape => 0,
            };
            i += 1;
        }
        col + at.saturating_sub(self.cells.len())
    }
    /// Cells of an escape sequence that sets colours: it takes no columns.
    fn escape_length(&self, i: usize) -> usize {
        let rest = &self.cells[i..];
        match rest.get(1) {
            None => 1,
            Some(Cell::Char('[')) => {
                let digits = rest[2..]
                    .iter()
                    .take_while(|c| matches!(c, Cell::Char('0'..='9' | ';')))
                    .count();
                (2 + digits + 1).min(rest.len())
            }
            Some(_) => 2,
        }
    }

    fn cell_of(&self, c: char, at: usize) -> Cell {
        match c {
            '\t' => Cell::Tab((8 - self.column_after(at) % 8) as u8),
            '\x1b' => Cell::Escape,
            '\0'..='\x1f' | '\x7f' => Cell::Control(c as u8),
            c if self.utf8 || u8::try_from(c).is_ok_and(locale::is_printed) => Cell::Char(c),
            c => Cell::Escaped(c),
        }
    }
    fn column_after(&self, at: usize) -> usize {
        self.column(at.min(self.cells.len()))
    }

    fn write_cells(&mut self, from: usize, to: usize, newline_follows: bool) {
        for i in from..to.min(self.cells.len()) {
            match self.cells[i] {
                Cell::Char(c) if self.utf8 => {
                    self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())
                }
                Cell::Char(c) => self.out.push(c as u32 as u8),
                Cell::Tab(n) => self.out.extend(std::iter::repeat_n(b' ', n as usize)),
                Cell::Escape => self.out.push(0x1b),
                Cell::Control(0x7f) => self.out.extend_from_slice(b"^?"),
                Cell::Control(c) => self.out.extend_from_slice(&[b'^', c | 0x40]),
                Cell::Escaped(c) => self.out.extend_from_slice(escaped(c).as_bytes()),
            }
        }
        // A full line leaves the cursor after its last column: force the wrap.
        let at = self.column(to.min(self.cells.len()));
        if self.moves.sticks
            && !newline_follows
            && to > from
            && at > 0
            && at.is_multiple_of(self.columns)
        {
            self.out.extend_from_slice(b" \x08");
        }
    }

    /// Moves the cursor between two columns.
    fn move_columns(&mut self, from: usize, to: usize) {
        let (row, new_row) = (from / self.columns, to / self.columns);
        let (col, new_col) = (from % self.columns, to % self.columns);
        let m = &self.moves;
        for (n, how) in [
            (new_row.saturating_sub(row), &m.down),
            (row.saturating_sub(new_row), &m.up),
            (new_col.saturating_sub(col), &m.right),
            (col.saturating_sub(new_col), &m.left),
        ] {
            (0..n).for_each(|_| self.out.extend_from_slice(how));
        }
    }
    fn move_to(&mut self, at: usize) {
        let (from, to) = (self.column(self.at), self.column(at));
        self.move_columns(from, to);
        self.at = at;
    }
    fn step(&self, n: i16) -> usize {
        let to = self.at as i64 + n as i64;
        to.clamp(0, self.cells.len() as i64) as usize
    }

    /// Decodes bytes to characters; invalid ones are passed on one by one.
    fn decode(bytes: &[u8], mut each: impl FnMut(Result<char, u8>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(s) => return s.chars().for_each(|c| each(Ok(c))),
                Err(e) => {
                    let (good, bad) = rest.split_at(e.valid_up_to());
                    if let Ok(s) = std::str::from_utf8(good) {
                        s.chars().for_each(|c| each(Ok(c)));
                    }
                    each(Err(bad[0]));
                    rest = &bad[1..];
                }
            }
        }
    }

    /// Overwrites from the cursor on.
    fn put(&mut self, bytes: &[u8]) {
        let mut start = self.at;
        EditLine::decode(bytes, |c| match c {
            Ok(c @ ('\n' | '\r')) => {
                self.write_cells(start, self.at, true);
                self.out.push(b'\r');
                if c == '\n' {
                    self.out.push(b'\n');
                }
                self.cells.drain(..self.at);
                (self.at, start) = (0, 0);
            }
            c => {
                let cell = match c {
                    Ok(c) => self.cell_of(c, self.at),
                    Err(b) => self.cell_of(b as char, self.at),
                };
                match self.cells.get_mut(self.at) {
                    Some(old) => *old = cell,
                    None => self.cells.push(cell),
                }
                self.at += 1;
            }
        });
        self.write_cells(start, self.at, false);
    }
    /// Inserts at the cursor.
    fn insert(&mut self, bytes: &[u8]) {
        if self.at == self.cells.len() || bytes.contains(&b'\n') || bytes.contains(&b'\r') {
            let tail = self.cells.split_off(self.at);
            self.put(bytes);
            let at = self.at;
            self.cells.truncate(at);
            self.cells.extend(tail);
            self.write_cells(at, self.cells.len(), false);
            return self.back_to(at);
        }
        let mut new = Vec::new();
        EditLine::decode(bytes, |c| {
            new.push(self.cell_of(c.unwrap_or_else(|b| b as char), self.at))
        });
        let (from, n) = (self.at, new.len());
        self.cells.splice(from..from, new);
        self.write_cells(from, self.cells.len(), false);
        self.back_to(from + n);
    }
    /// Moves the cursor back from the end of the line, where writing has left it.
    fn back_to(&mut self, at: usize) {
        let (from, to) = (self.column(self.cells.len()), self.column(at));
        self.move_columns(from, to);
        self.at = at;
    }
    /// Deletes `n` characters after the cursor, or before it if `n` is negative.
    fn delete(&mut self, n: i16) {
        let other = self.step(n);
        let (from, to) = (self.at.min(other), self.at.max(other));
        let gone = self.column(to) - self.column(from);
        self.move_to(from);
        self.cells.drain(from..to);
        self.write_cells(from, self.cells.len(), false);
        self.out.extend(std::iter::repeat_n(b' ', gone));
        let end = self.column(self.cells.len()) + gone;
        if self.moves.sticks && gone > 0 && end.is_multiple_of(self.columns) {
            self.out.extend_from_slice(b" \x08");
        }
        let to = self.column(from);
        self.move_columns(end, to);
    }

    /// Runs one of `user_drv`'s commands.
    pub fn command(&mut self, op: u8, data: &[u8]) {
        if self.at > LONGEST {
            self.put(b"\n");
        }
        let number = || match data {
            [a, b, ..] => i16::from_be_bytes([*a, *b]),
            _ => 0,
        };
        match op {
            0 | 5 => self.put(data),
            1 => self.move_to(self.step(number())),
            2 => self.insert(data),
            3 => self.delete(number()),
            4 => self.out.push(7),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(l: &mut EditLine, op: u8, data: &[u8]) -> String {
        l.command(op, data);
        String::from_utf8(std::mem::take(&mut l.out)).unwrap()
    }

    #[test]
    fn editing_a_line() {
        let mut l = EditLine::new(true);
        l.columns = 10;
        assert_eq!(out(&mut l, 0, b"1> "), "1> ");
        assert_eq!(out(&mut l, 2, b"acd"), "acd");
        assert_eq!(out(&mut l, 1, &(-2i16).to_be_bytes()), "\x08\x08");
        assert_eq!(out(&mut l, 2, b"b"), "bcd\x08\x08");
        assert_eq!(out(&mut l, 3, &(-1i16).to_be_bytes()), "\x08cd \x08\x08\x08");
        assert_eq!(out(&mut l, 3, &1i16.to_be_bytes()), "d \x08\x08");
        assert_eq!(out(&mut l, 0, b"\r\n"), "\r\r\n");
        assert_eq!((l.at, l.cells.len()), (0, 1));
    }

    #[test]
    fn unprintable_characters() {
        let mut l = EditLine::new(false);
        assert_eq!(out(&mut l, 0, "a€\u{81}".as_bytes()), "a\\x{20AC}\\201");
        assert_eq!((l.column(2), l.column(3)), (9, 13));
        let left = (-1i16).to_be_bytes();
        assert_eq!(out(&mut l, 3, &left), "\x08\x08\x08\x08    \x08\x08\x08\x08");
    }

    #[test]
    fn wide_and_wrapping() {
        let mut l = EditLine::new(true);
        l.columns = 4;
        assert_eq!(out(&mut l, 0, "日本".as_bytes()), "日本 \x08");
        assert_eq!(out(&mut l, 0, b"x"), "x");
        assert_eq!(out(&mut l, 1, &(-2i16).to_be_bytes()), "\x1b[A\x1b[C");
        assert_eq!(out(&mut l, 4, b""), "\x07");
        let mut l = EditLine::new(true);
        assert_eq!(out(&mut l, 0, b"a\tb\x01"), "a       b^A");
        assert_eq!(l.column(4), 11);
    }
}
