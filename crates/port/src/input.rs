//! Splits the bytes a program writes into messages: as they come, by lines, or by packets.

/// Decoder state.
pub enum Input {
    Stream,
    /// The longest part of a line to deliver, and the undelivered part so far.
    Line(usize, Vec<u8>),
    /// Size of the length field in bytes, and the part of a packet so far, with its length.
    Packet(u8, Vec<u8>),
}

/// One message's worth.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum InputPiece<'a> {
    Data(&'a [u8]),
    /// A whole line, or the last part of one.
    Eol(&'a [u8]),
    /// Part of a line.
    NoEol(&'a [u8]),
}

impl Input {
    pub fn new(line: Option<usize>, packet: u8) -> Input {
        match (line, packet) {
            (Some(n), _) => Input::Line(n.max(1), Vec::new()),
            (None, 0) => Input::Stream,
            (None, n) => Input::Packet(n, Vec::new()),
        }
    }

    /// Takes new bytes and emits the pieces they complete.
    pub fn feed(&mut self, bytes: &[u8], mut out: impl FnMut(InputPiece<'_>)) {
        match self {
            Input::Stream => out(InputPiece::Data(bytes)),
            Input::Line(max, part) => lines(*max, part, bytes, &mut out),
            Input::Packet(head, part) => packets(*head as usize, part, bytes, &mut out),
        }
    }

    /// The input has ended: emits the rest of a line.
    pub fn end(&mut self, mut out: impl FnMut(InputPiece<'_>)) {
        if let Input::Line(max, part) = self {
            // A CR kept back may make it one longer than the longest piece.
            for piece in part.chunks(*max) {
                out(InputPiece::NoEol(piece));
            }
            part.clear();
        }
    }
}

/// A line's end is LF or CR LF. The part kept is at most one byte (a CR that may belong to the end)
/// longer than what is delivered.
fn lines(max: usize, part: &mut Vec<u8>, mut bytes: &[u8], out: &mut impl FnMut(InputPiece<'_>)) {
    while !bytes.is_empty() {
        let have = part.len();
        let seen = &bytes[..bytes.len().min(max + 2 - have)];
        if let Some(i) = seen.iter().position(|b| *b == b'\n') {
            let before = if i > 0 { bytes.get(i - 1) } else { part.last() };
            let n = have + i - (before == Some(&b'\r')) as usize;
            if n <= max {
                if have == 0 {
                    out(InputPiece::Eol(&bytes[..n]));
                } else {
                    part.extend_from_slice(&bytes[..i]);
                    out(InputPiece::Eol(&part[..n]));
                    part.clear();
                }
                bytes = &bytes[i + 1..];
                continue;
            }
        }
        let total = have + bytes.len();
        if total <= max || total == max + 1 && bytes.last() == Some(&b'\r') {
            part.extend_from_slice(bytes);
            return;
        }
        if have > max {
            out(InputPiece::NoEol(&part[..max]));
            part.drain(..max);
        } else {
            part.extend_from_slice(&bytes[..max - have]);
            out(InputPiece::NoEol(part));
            part.clear();
            bytes = &bytes[max - have..];
        }
    }
}

fn packet_length(head: &[u8]) -> usize {
    head.iter().fold(0, |n, b| n << 8 | *b as usize)
}

fn packets(
    head: usize,
    part: &mut Vec<u8>,
    mut bytes: &[u8],
    out: &mut impl FnMut(InputPiece<'_>),
) {
    while !bytes.is_empty() {
        if part.is_empty() && bytes.len() >= head {
            // The common case: whole packets, emitted without a copy.
            let n = head + packet_length(&bytes[..head]);
            if bytes.len() >= n {
                out(InputPiece::Data(&bytes[head..n]));
                bytes = &bytes[n..];
                continue;
            }
        }
        let want = if part.len() < head {
            head - part.len()
        } else {
            head + packet_length(&part[..head]) - part.len()
        };
        let k = want.min(bytes.len());
        part.extend_from_slice(&bytes[..k]);
        bytes = &bytes[k..];
        if part.len() >= head && part.len() == head + packet_length(&part[..head]) {
            out(InputPiece::Data(&part[head..]));
            part.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(input: &mut Input, chunks: &[&[u8]]) -> Vec<String> {
        let mut got = Vec::new();
        for c in chunks {
            input.feed(c, |p| {
                let s = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
                got.push(match p {
                    InputPiece::Data(b) => s(b),
                    InputPiece::Eol(b) => s(b) + "$",
                    InputPiece::NoEol(b) => s(b) + "-",
                })
            });
        }
        got
    }

    #[test]
    fn line_by_line() {
        let mut i = Input::new(Some(4), 0);
        assert_eq!(feed(&mut i, &[b"ab\ncd"]), ["ab$"]);
        assert_eq!(feed(&mut i, &[b"e", b"f\n\n"]), ["cdef$", "$"]);
        assert_eq!(feed(&mut i, &[b"123456789\nx"]), ["1234-", "5678-", "9$"]);
        assert_eq!(feed(&mut i, &[b"yzw"]), Vec::<String>::new());
        assert_eq!(feed(&mut i, &[b"q\n"]), ["xyzw-", "q$"]);
        feed(&mut i, &[b"end"]);
        assert_eq!(feed(&mut i, &[b"\ra\r\nb"]), ["end\ra"[..4].to_string() + "-", "a$".into()]);
        assert_eq!(feed(&mut i, &[b"cde\r", b"\n", b"1234\r", b"x\n"]), ["bcde$", "1234-", "\rx$"]);
        feed(&mut i, &[b"end"]);
        let mut last = Vec::new();
        i.end(|p| last.push(format!("{p:?}")));
        assert_eq!(last.len(), 1);
    }

    #[test]
    fn packet_by_packet() {
        for head in [1usize, 2, 4] {
            let mut all = Vec::new();
            for n in [3usize, 0, 200] {
                all.extend_from_slice(&(n as u32).to_be_bytes()[4 - head..]);
                all.extend(std::iter::repeat_n(b'x', n));
            }
            for chunk in [1, 2, 5, 1000] {
                let mut i = Input::new(None, head as u8);
                let chunks: Vec<_> = all.chunks(chunk).collect();
                let sizes: Vec<_> = feed(&mut i, &chunks).iter().map(|s| s.len()).collect();
                assert_eq!(sizes, [3, 0, 200]);
            }
        }
    }
}
