//! The `ram_file_drv` driver: a file in memory, for `file:open(Data, [ram])`.
//!
//! Each command is a byte and its arguments (32-bit numbers, bytes); each is answered by a message,
//! whose data are a byte for the kind of answer and its contents.

use kvik_env::Errno;
use kvik_heap::Heap;
use kvik_term::{am, Term};

use crate::driver::{Driver, Flow, Ready};
use crate::port::state::Core;

const READ: u8 = 1;
const WRITE: u8 = 2;
/// The longest file: sizes are signed 32-bit numbers.
const MAX: usize = i32::MAX as usize;

#[derive(Default)]
struct RamFile {
    mode: u8,
    bytes: Vec<u8>,
    at: usize,
}

enum Answer {
    Ok,
    Number(usize),
    Data(Vec<u8>),
}
type Result = std::result::Result<Answer, Errno>;

pub fn install() {
    crate::add_driver("ram_file_drv", |_| Box::<RamFile>::default());
}

fn number(b: &[u8], at: usize) -> std::result::Result<i64, Errno> {
    let b = b.get(at..at + 4).ok_or(Errno::INVAL)?;
    Ok(i32::from_be_bytes([b[0], b[1], b[2], b[3]]) as i64)
}
fn size(b: &[u8], at: usize) -> std::result::Result<usize, Errno> {
    usize::try_from(number(b, at)?).map_err(|_| Errno::INVAL)
}

impl RamFile {
    fn open(&self) -> std::result::Result<(), Errno> {
        if self.mode == 0 {
            Err(Errno::BADF)
        } else {
            Ok(())
        }
    }
    fn write(&mut self, at: usize, data: &[u8]) -> std::result::Result<usize, Errno> {
        if self.mode & WRITE == 0 {
            return Err(Errno::BADF);
        }
        let end = at.checked_add(data.len()).filter(|n| *n <= MAX);
        let end = end.ok_or(Errno::INVAL)?;
        if !data.is_empty() {
            if end > self.bytes.len() {
                self.bytes.resize(end, 0);
            }
            self.bytes[at..end].copy_from_slice(data);
        } else if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        Ok(end)
    }
    fn read(&self, at: usize, n: usize) -> std::result::Result<Vec<u8>, Errno> {
        if self.mode & READ == 0 {
            return Err(Errno::BADF);
        }
        let at = at.min(self.bytes.len());
        let n = n.min(self.bytes.len() - at);
        Ok(self.bytes[at..at + n].to_vec())
    }
    fn seek(&mut self, offset: i64, whence: i64) -> Result {
        self.open()?;
        let from = match whence {
            0 => 0,
            1 => self.at as i64,
            2 => self.bytes.len() as i64,
            _ => return Err(Errno::INVAL),
        };
        self.at = usize::try_from(from + offset).map_err(|_| Errno::INVAL)?;
        Ok(Answer::Number(self.at))
    }

    /// `None`: no such command; the caller waits for ever, as with OTP.
    fn command(&mut self, op: u8, b: &[u8]) -> Option<Result> {
        Some(match op {
            1 => number(b, 0).map(|mode| {
                self.mode = mode as u8;
                self.bytes = b[4..].to_vec();
                self.at = 0;
                Answer::Number(0)
            }),
            2 => size(b, 0).and_then(|n| {
                let data = self.read(self.at, n)?;
                self.at += data.len();
                Ok(Answer::Data(data))
            }),
            3 => number(b, 0).and_then(|offset| self.seek(offset, number(b, 4)?)),
            4 => self.write(self.at, b).map(|end| {
                self.at = end;
                Answer::Number(b.len())
            }),
            9 | 19 | 38 | 39 => self.open().map(|()| Answer::Ok),
            14 if self.mode & WRITE == 0 => Err(Errno::ACCES),
            14 => {
                self.bytes.resize(self.at.min(MAX), 0);
                Ok(Answer::Ok)
            }
            17 => size(b, 0).and_then(|at| Ok(Answer::Data(self.read(at, size(b, 4)?)?))),
            18 => size(b, 0).and_then(|at| {
                self.write(at, &b[4..])?;
                Ok(Answer::Number(b.len() - 4))
            }),
            30 => Ok(Answer::Data(self.bytes.clone())),
            37 => Ok(Answer::Number(self.bytes.len())),
            _ => return None,
        })
    }
}

/// Bytes as a list, the tail a binary where the port wants binaries.
fn data<'h>(h: &'h Heap, binary: bool, head: &[u8], rest: &[u8]) -> Term<'h> {
    let head: Vec<_> = head.iter().map(|b| Term::int(*b as i32)).collect();
    let rest = match (binary, rest.is_empty()) {
        (true, false) => h.binary(rest),
        (true, true) if head.len() == 5 => h.binary(rest),
        _ => h.byte_list(rest),
    };
    h.list_with_tail(&head, rest)
}

impl Driver for RamFile {
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let Some((op, args)) = bytes.split_first() else {
            return Ok(());
        };
        let Some(r) = self.command(*op, args) else {
            return Ok(());
        };
        let binary = core.binary;
        let (head, rest) = match r {
            Ok(Answer::Ok) => (vec![0], Vec::new()),
            Err(e) => {
                let head = [&[1], e.name().as_bytes()].concat();
                (head, Vec::new())
            }
            Ok(Answer::Number(n)) => {
                let mut head = vec![3];
                head.extend((n as u32).to_be_bytes());
                (head, Vec::new())
            }
            Ok(Answer::Data(d)) => {
                let mut head = vec![2];
                head.extend((d.len() as u32).to_be_bytes());
                (head, d)
            }
        };
        let is_data = head[0] == 2;
        core.count_input(head.len() + rest.len());
        core.tell_owner(2 * (head.len() + rest.len()) + 16, |h| {
            let d = data(h, binary && is_data, &head, &rest);
            h.tuple(&[am::data.into(), d])
        });
        Ok(())
    }
    fn ready(&mut self, _: &mut Core, _: Ready, _: &mut [u8]) -> Flow {
        Ok(())
    }
    fn stop(&mut self, _: &mut Core) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_a_file() {
        let mut f = RamFile::default();
        assert!(f.command(4, b"x").unwrap().is_err());
        f.command(1, b"\0\0\0\x03hello").unwrap().unwrap();
        f.command(3, &[0, 0, 0, 1, 0, 0, 0, 0]).unwrap().unwrap();
        f.command(4, b"EE").unwrap().unwrap();
        let Some(Ok(Answer::Data(d))) = f.command(2, &[0, 0, 0, 9]) else { panic!() };
        assert_eq!(d, b"lo");
        f.command(18, b"\0\0\0\x07!").unwrap().unwrap();
        assert_eq!(f.bytes, b"hEElo\0\0!");
        f.command(3, &[255, 255, 255, 254, 0, 0, 0, 2]).unwrap().unwrap();
        f.command(14, b"").unwrap().unwrap();
        assert_eq!(f.bytes, b"hEElo\0");
        assert!(f.command(3, &[255; 8]).unwrap().is_err());
        assert!(f.command(99, b"").is_none());
    }
}
