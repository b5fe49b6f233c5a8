//! The `tty_sl` driver: the terminal of an interactive shell. `user_drv` sends editing commands
//! (a byte and its arguments); keys come back as they are typed.
//!
//! The driver keeps the line that is being edited, so that it knows where the cursor is.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;

use kvik_sys::poll::Interest;
use kvik_sys::tty::{self, Settings};
use kvik_sys::{fd, file, Errno};
use kvik_term::{am, Atom};

use crate::driver::{Driver, Exit, Flow, Ready, Reply};
use crate::poll::{self, Source};
use crate::port::Core;
use crate::queue::OutQueue;

const CONTROL: u32 = 0x018b_0900;
/// Output beyond this makes a synchronous writer wait.
const WAIT: usize = 1024;

pub fn install() {
    crate::add_driver("tty_sl", |command| Box::new(Terminal::new(command)));
}

/// How the terminal was before we changed it.
static BEFORE: Mutex<Option<Settings>> = Mutex::new(None);

/// Puts the terminal back as it was: before the VM ends, whatever the way.
pub fn restore() {
    let before = BEFORE.lock().unwrap_or_else(|e| e.into_inner()).take();
    if let Some(s) = before {
        let _ = tty::restore(0, &s);
    }
}

/// What stands in a cell of the line.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Cell {
    Char(char),
    /// So many blanks.
    Tab(u8),
    Escape,
    /// Shown as `^` and a letter.
    Control(u8),
    /// A byte that is not valid, shown as an escape of octal digits.
    Byte(u8),
}

/// Columns that a character takes.
fn width(c: char) -> usize {
    const NONE: &[(u32, u32)] = &[
        (0x300, 0x36F),
        (0x1AB0, 0x1AFF),
        (0x1DC0, 0x1DFF),
        (0x200B, 0x200F),
        (0x20D0, 0x20FF),
        (0xFE00, 0xFE0F),
        (0xFE20, 0xFE2F),
    ];
    const TWO: &[(u32, u32)] = &[
        (0x1100, 0x115F),
        (0x2E80, 0x303E),
        (0x3041, 0xA4CF),
        (0xAC00, 0xD7A3),
        (0xF900, 0xFAFF),
        (0xFE30, 0xFE6F),
        (0xFF00, 0xFF60),
        (0xFFE0, 0xFFE6),
        (0x1F300, 0x1F64F),
        (0x1F900, 0x1F9FF),
        (0x20000, 0x3FFFD),
    ];
    let within = |t: &[(u32, u32)]| t.iter().any(|(a, b)| (*a..=*b).contains(&(c as u32)));
    if (c as u32) < 0x300 {
        1
    } else if within(NONE) {
        0
    } else if within(TWO) {
        2
    } else {
        1
    }
}

/// The line being edited, and what is to be written for what happens to it.
struct Line {
    cells: Vec<Cell>,
    at: usize,
    columns: usize,
    utf8: bool,
    out: Vec<u8>,
}

impl Line {
    fn new(utf8: bool) -> Line {
        Line { cells: Vec::new(), at: 0, columns: 80, utf8, out: Vec::new() }
    }

    /// The column (counted on over line ends) of a place in the line.
    fn column(&self, at: usize) -> usize {
        let mut col = 0;
        let mut i = 0;
        while i < at.min(self.cells.len()) {
            if self.cells[i] == Cell::Escape {
                i += self.escape_length(i);
                continue;
            }
            col += match self.cells[i] {
                Cell::Char(c) => width(c),
                Cell::Tab(n) => n as usize,
                Cell::Control(_) => 2,
                Cell::Byte(_) => 4,
                Cell::Escape => 0,
            };
            i += 1;
        }
        col + at.saturating_sub(self.cells.len())
    }
    /// Cells of a sequence that sets colours: it takes no columns.
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
            c if !self.utf8 && c as u32 > 0xFF => Cell::Byte(b'?'),
            '\u{80}'..='\u{9f}' => Cell::Byte(c as u8),
            c => Cell::Char(c),
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
                Cell::Byte(b) => self.out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            }
        }
        // A full line leaves the cursor behind its last column: make it wrap.
        let at = self.column(to.min(self.cells.len()));
        if !newline_follows && to > from && at > 0 && at.is_multiple_of(self.columns) {
            self.out.extend_from_slice(b" \x08");
        }
    }

    /// Moves the cursor between two columns.
    fn move_columns(&mut self, from: usize, to: usize) {
        let (row, new_row) = (from / self.columns, to / self.columns);
        let (col, new_col) = (from % self.columns, to % self.columns);
        for _ in row..new_row {
            self.out.push(b'\n');
        }
        for _ in new_row..row {
            self.out.extend_from_slice(b"\x1b[A");
        }
        for _ in col..new_col {
            self.out.extend_from_slice(b"\x1b[C");
        }
        for _ in new_col..col {
            self.out.push(8);
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

    /// The characters of bytes; those that are not valid one by one.
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

    /// Writes over what stands there.
    fn put(&mut self, bytes: &[u8]) {
        let mut start = self.at;
        Line::decode(bytes, |c| match c {
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
                    Err(b) => Cell::Byte(b),
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
    /// Writes before what stands there.
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
        Line::decode(bytes, |c| {
            new.push(match c {
                Ok(c) => self.cell_of(c, self.at),
                Err(b) => Cell::Byte(b),
            })
        });
        let (from, n) = (self.at, new.len());
        self.cells.splice(from..from, new);
        self.write_cells(from, self.cells.len(), false);
        self.back_to(from + n);
    }
    /// From the end of the line, where writing has left the cursor.
    fn back_to(&mut self, at: usize) {
        let (from, to) = (self.column(self.cells.len()), self.column(at));
        self.move_columns(from, to);
        self.at = at;
    }
    /// Deletes characters after (or, where negative, before) the cursor.
    fn delete(&mut self, n: i16) {
        let other = self.step(n);
        let (from, to) = (self.at.min(other), self.at.max(other));
        let gone = self.column(to) - self.column(from);
        self.move_to(from);
        self.cells.drain(from..to);
        self.write_cells(from, self.cells.len(), false);
        self.out.extend(std::iter::repeat_n(b' ', gone));
        let end = self.column(self.cells.len()) + gone;
        if gone > 0 && end.is_multiple_of(self.columns) {
            self.out.extend_from_slice(b" \x08");
        }
        let to = self.column(from);
        self.move_columns(end, to);
    }

    fn command(&mut self, op: u8, data: &[u8]) {
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

struct Terminal {
    command: Vec<u8>,
    file: Option<OwnedFd>,
    line: Line,
    queue: OutQueue,
    /// A synchronous writer waits for the queue.
    owes_ok: bool,
    /// The start of a character that has not come whole.
    partial: Vec<u8>,
}

impl Terminal {
    fn new(command: &[u8]) -> Terminal {
        let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .filter_map(|v| std::env::var(v).ok())
            .find(|v| !v.is_empty())
            .is_some_and(|v| v.to_ascii_lowercase().replace('-', "").contains("utf8"));
        Terminal {
            command: command.to_vec(),
            file: None,
            line: Line::new(utf8),
            queue: OutQueue::default(),
            owes_ok: false,
            partial: Vec::new(),
        }
    }

    fn open(&mut self, core: &Core) -> Result<(), Errno> {
        let kind = std::env::var("TERM").unwrap_or_default();
        let smart = !kind.is_empty() && kind != "dumb";
        if !tty::is_terminal(0) || !tty::is_terminal(1) || !smart {
            return Err(Errno::INVAL);
        }
        let path = CString::new("/proc/self/fd/0").map_err(|_| Errno::INVAL)?;
        let mode =
            file::Mode { read: true, write: true, nonblocking: true, ..file::Mode::default() };
        let f = file::open(&path, mode)?;
        let before = tty::settings(0)?;
        if self.command.windows(2).any(|w| w == b"-c") {
            tty::restore(0, &before.edited())?;
            *BEFORE.lock().unwrap_or_else(|e| e.into_inner()) = Some(before);
        }
        let i = Interest { read: true, write: true, edge: true };
        poll::add(core.home, f.as_raw_fd(), Source::Both, core.id, i)?;
        self.file = Some(f);
        Ok(())
    }

    fn write(&mut self, core: &mut Core) -> Flow {
        let Some(f) = &self.file else { return Ok(()) };
        while !self.queue.is_empty() {
            match self.queue.slices(|s| fd::writev(f.as_raw_fd(), s)) {
                Ok(n) => self.queue.advance(n),
                Err(Errno::AGAIN) => break,
                Err(e) => return Err(Exit::Posix(e)),
            }
        }
        if self.owes_ok && self.queue.len() <= WAIT {
            self.owes_ok = false;
            core.tell_owner(0, |_| am::ok.into());
        }
        Ok(())
    }

    fn read(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        let Some(f) = &self.file else { return Ok(()) };
        loop {
            let n = match fd::read_bytes(f.as_raw_fd(), buffer) {
                Ok(0) => return core.end_of_input(),
                Ok(n) => n,
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return core.end_of_input(),
            };
            let mut bytes = std::mem::take(&mut self.partial);
            bytes.extend_from_slice(&buffer[..n]);
            if self.line.utf8 {
                if let Err(e) = std::str::from_utf8(&bytes) {
                    match e.error_len() {
                        // The rest of the last character is yet to come.
                        None => self.partial = bytes.split_off(e.valid_up_to()),
                        Some(_) => self.line.utf8 = false,
                    }
                }
            }
            if !self.line.utf8 {
                let text: String = bytes.iter().map(|b| *b as char).collect();
                bytes = text.into_bytes();
            }
            if !bytes.is_empty() {
                core.deliver(crate::input::Piece::Data(&bytes));
            }
        }
    }
}

impl Driver for Terminal {
    fn start(&mut self, core: &mut Core) -> Flow {
        self.open(core).map_err(|_| Exit::Reason(Atom::intern("einval").unwrap_or(am::error)))
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let Some((op, data)) = bytes.split_first() else {
            return Ok(());
        };
        if let Some((columns, _)) = tty::window_size(0) {
            self.line.columns = (columns as usize).max(1);
        }
        self.line.command(*op, data);
        let out = std::mem::take(&mut self.line.out);
        self.queue.push(&out);
        self.owes_ok |= *op == 5;
        self.write(core)
    }
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        match why {
            Ready::Input { .. } => self.read(core, buffer),
            Ready::Output => self.write(core),
            _ => Ok(()),
        }
    }
    fn control(&mut self, _: &mut Core, op: u32, data: &[u8]) -> Option<Reply> {
        match op.checked_sub(CONTROL)? {
            100 => {
                let (columns, rows) = tty::window_size(0).unwrap_or((80, 24));
                let size = [columns.to_ne_bytes(), rows.to_ne_bytes()];
                Some(Reply::List(size.concat()))
            }
            101 => Some(Reply::List(vec![self.line.utf8 as u8])),
            102 => {
                let was = self.line.utf8;
                self.line.utf8 = *data.first()? != 0;
                Some(Reply::List(vec![was as u8]))
            }
            _ => None,
        }
    }
    fn queued(&self) -> usize {
        self.queue.len()
    }
    fn flush(&mut self) {
        if let Some(f) = &self.file {
            while !self.queue.is_empty() && fd::wait_ready(f.as_raw_fd(), true, 1000) == Ok(true) {
                match self.queue.slices(|s| fd::writev(f.as_raw_fd(), s)) {
                    Ok(n) => self.queue.advance(n),
                    Err(_) => self.queue.clear(),
                }
            }
        }
        restore();
    }
    fn stop(&mut self, core: &mut Core) {
        if let Some(f) = self.file.take() {
            poll::remove(core.home, f.as_raw_fd());
            restore();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(l: &mut Line, op: u8, data: &[u8]) -> String {
        l.command(op, data);
        String::from_utf8(std::mem::take(&mut l.out)).unwrap()
    }

    #[test]
    fn editing_a_line() {
        let mut l = Line::new(true);
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
    fn wide_and_wrapping() {
        let mut l = Line::new(true);
        l.columns = 4;
        assert_eq!(out(&mut l, 0, "日本".as_bytes()), "日本 \x08");
        assert_eq!(out(&mut l, 0, b"x"), "x");
        assert_eq!(out(&mut l, 1, &(-2i16).to_be_bytes()), "\x1b[A\x1b[C");
        assert_eq!(out(&mut l, 4, b""), "\x07");
        let mut l = Line::new(true);
        assert_eq!(out(&mut l, 0, b"a\tb\x01"), "a       b^A");
        assert_eq!(l.column(4), 11);
    }
}
