//! Flattens iodata (byte lists, binaries and nestings of them) to bytes.

use std::borrow::Cow;

use kvik_term::{Term, View};

/// Room that the bytes of a list have at first.
const FIRST_BYTES: usize = 512;

/// The bytes of an iodata term, borrowed if it is a binary. `None` if it is not iodata.
pub fn bytes<'h>(t: Term<'h>) -> Option<Cow<'h, [u8]>> {
    match t.view() {
        View::Bits(b) if b.is_binary() => Some(b.to_bytes()),
        View::Nil => Some(Cow::Borrowed(&[])),
        View::Cons(c) if c.tail().is_nil() && c.head().as_bits().is_some() => bytes(c.head()),
        View::Cons(_) => {
            let mut out = Vec::with_capacity(FIRST_BYTES);
            append(t, &mut out)?;
            Some(Cow::Owned(out))
        }
        _ => None,
    }
}

fn append(list: Term<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (mut at, mut later) = (list, Vec::new());
    loop {
        while let Some(c) = at.as_cons() {
            let head = c.head();
            at = c.tail();
            if let Some(byte) = head.as_small() {
                out.push(u8::try_from(byte).ok()?);
            } else if head.as_cons().is_some() {
                if !at.is_nil() {
                    later.push(at);
                }
                at = head;
            } else if !head.is_nil() {
                push_binary(head, out)?;
            }
        }
        if !at.is_nil() {
            push_binary(at, out)?;
        }
        match later.pop() {
            Some(rest) => at = rest,
            None => return Some(()),
        }
    }
}

#[inline(always)]
fn push_binary(t: Term<'_>, out: &mut Vec<u8>) -> Option<()> {
    let bits = t.as_bits().filter(|bits| bits.is_binary())?;
    match bits.as_bytes() {
        Some(bytes) => out.extend_from_slice(bytes),
        None => out.extend_from_slice(&bits.to_bytes()),
    }
    Some(())
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
}
