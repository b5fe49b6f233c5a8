//! Flattens iodata (byte lists, binaries and nestings of them) to bytes.

use std::borrow::Cow;

use kvik_term::{Term, View};

/// Room that the bytes of a list have at first.
const FIRST_BYTES: usize = 512;
/// Binaries of at least this size in a list are passed on by reference: a copy takes longer than the
/// system takes for one more slice.
const BY_REFERENCE_BYTES: usize = 2048;
/// At most so many of them; more would exceed what one system call takes.
const MOST_BY_REFERENCE: usize = 64;

/// The bytes of an iodata term, borrowed if it is a binary. `None` if it is not iodata.
pub fn bytes<'h>(t: Term<'h>) -> Option<Cow<'h, [u8]>> {
    let pieces = flatten(t, 0, drops_bits())?;
    Some(pieces.joined)
}

/// The same for `port_control/3`, which before OTP 27 takes any bit string for its whole bytes.
pub fn control_bytes<'h>(t: Term<'h>) -> Option<Cow<'h, [u8]>> {
    match t.as_bits() {
        Some(b) if !b.is_binary() && !kvik_release::current().rejects_bitstrings() => {
            let mut bytes = b.to_bytes().into_owned();
            bytes.truncate(b.bit_len() / 8);
            Some(Cow::Owned(bytes))
        }
        _ => bytes(t),
    }
}

/// The bytes of an iodata term, of which large binaries are borrowed. `None` if it is not iodata.
pub fn pieces<'h>(t: Term<'h>) -> Option<IodataPieces<'h>> {
    flatten(t, MOST_BY_REFERENCE, false)
}

/// The same for a driver that takes its output in one piece: before OTP 27 a bit string of less
/// than a byte may be in it, and nothing is written of that.
pub fn pieces_of_bits<'h>(t: Term<'h>) -> Option<IodataPieces<'h>> {
    drops_bits().then(|| flatten(t, MOST_BY_REFERENCE, true)).flatten()
}
fn drops_bits() -> bool {
    !kvik_release::current().rejects_bitstrings()
}

/// Flattened iodata.
pub struct IodataPieces<'h> {
    /// All bytes but those of `large`.
    joined: Cow<'h, [u8]>,
    /// Binaries, and how many bytes of `joined` come before each.
    large: Vec<(usize, &'h [u8])>,
}

impl IodataPieces<'_> {
    pub fn len(&self) -> usize {
        self.joined.len() + self.large.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The slices in their order; always at least one.
    pub fn slices(&self) -> Vec<&[u8]> {
        let mut all = Vec::with_capacity(2 * self.large.len() + 1);
        let mut from = 0;
        for (at, bytes) in &self.large {
            if *at > from {
                all.push(&self.joined[from..*at]);
            }
            all.push(*bytes);
            from = *at;
        }
        if from < self.joined.len() || all.is_empty() {
            all.push(&self.joined[from..]);
        }
        all
    }
}

fn flatten<'h>(t: Term<'h>, most_large: usize, drops_bits: bool) -> Option<IodataPieces<'h>> {
    match t.view() {
        View::Bits(b) if b.is_binary() => {
            Some(IodataPieces { joined: b.to_bytes(), large: Vec::new() })
        }
        View::Bits(b) if drops_bits && b.bit_len() < 8 => {
            Some(IodataPieces { joined: Cow::Borrowed(&[]), large: Vec::new() })
        }
        View::Nil => Some(IodataPieces { joined: Cow::Borrowed(&[]), large: Vec::new() }),
        View::Cons(c) if c.tail().is_nil() && c.head().as_bits().is_some() => {
            flatten(c.head(), most_large, drops_bits)
        }
        View::Cons(_) => {
            let bytes = Vec::with_capacity(FIRST_BYTES);
            let mut out = Out { bytes, large: Vec::new(), most_large, drops_bits };
            out.append(t)?;
            Some(IodataPieces { joined: Cow::Owned(out.bytes), large: out.large })
        }
        _ => None,
    }
}

struct Out<'h> {
    bytes: Vec<u8>,
    large: Vec<(usize, &'h [u8])>,
    most_large: usize,
    drops_bits: bool,
}

impl<'h> Out<'h> {
    fn append(&mut self, list: Term<'h>) -> Option<()> {
        let (mut at, mut later) = (list, Vec::new());
        loop {
            while let Some(c) = at.as_cons() {
                let head = c.head();
                at = c.tail();
                if let Some(byte) = head.as_small() {
                    self.bytes.push(u8::try_from(byte).ok()?);
                } else if head.as_cons().is_some() {
                    if !at.is_nil() {
                        later.push(at);
                    }
                    at = head;
                } else if !head.is_nil() {
                    self.push_binary(head)?;
                }
            }
            if !at.is_nil() {
                self.push_binary(at)?;
            }
            match later.pop() {
                Some(rest) => at = rest,
                None => return Some(()),
            }
        }
    }
    #[inline(always)]
    fn push_binary(&mut self, t: Term<'h>) -> Option<()> {
        let bits = t.as_bits()?;
        if !bits.is_binary() {
            return (self.drops_bits && bits.bit_len() < 8).then_some(());
        }
        match bits.as_bytes() {
            Some(bytes)
                if bytes.len() >= BY_REFERENCE_BYTES && self.large.len() < self.most_large =>
            {
                self.large.push((self.bytes.len(), bytes));
            }
            Some(bytes) => self.bytes.extend_from_slice(bytes),
            None => self.bytes.extend_from_slice(&bits.to_bytes()),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_heap::Heap;
    use kvik_term::am;

    #[test]
    fn nested() {
        let h = Heap::detached();
        let inner = h.list(&[h.binary(b"bc"), Term::int(100)]);
        let t = h.cons(Term::int(97), h.cons(inner, h.binary(b"ef")));
        assert_eq!(&*bytes(t).unwrap(), b"abcdef");
        assert!(bytes(h.list(&[Term::int(256)])).is_none());
        assert!(bytes(h.list(&[am::ok.into()])).is_none());
        assert!(bytes(am::ok.into()).is_none());
        assert_eq!(&*bytes(Term::NIL).unwrap(), b"");
    }

    #[test]
    fn large_binaries_are_borrowed() {
        let h = Heap::detached();
        let large = h.binary(&[7; BY_REFERENCE_BYTES]);
        let at = large.as_bytes().unwrap().as_ptr();
        let of = |t| pieces(t).map(|p| (p.len(), p.slices().concat(), p.slices().len()));
        for (t, slices) in [
            (h.list(&[h.binary(b"head"), large, Term::int(1), large]), 4),
            (h.list(&[large, large]), 2),
            (h.cons(Term::int(1), large), 2),
            (h.list(&[large]), 1),
            (large, 1),
            (h.binary(b"head"), 1),
            (h.list(&[h.binary(b"a"), h.binary(b"b")]), 1),
            (h.list(&[large; 2 * MOST_BY_REFERENCE]), MOST_BY_REFERENCE + 1),
            (Term::NIL, 1),
        ] {
            let all = bytes(t).unwrap();
            assert_eq!(of(t), Some((all.len(), all.to_vec(), slices)));
        }
        let t = h.list(&[h.binary(b"head"), large]);
        assert_eq!(pieces(t).unwrap().slices()[1].as_ptr(), at);
        assert!(of(h.list(&[large, Term::int(256)])).is_none());
        assert!(of(h.cons(large, am::ok.into())).is_none());
    }
}
