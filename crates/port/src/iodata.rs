//! Flattens iodata (byte lists, binaries and nestings of them) to bytes.

use std::borrow::Cow;

use kvik_term::{Term, View};

/// The bytes of an iodata term, borrowed if it is a binary. `None` if it is not iodata.
pub fn bytes<'h>(t: Term<'h>) -> Option<Cow<'h, [u8]>> {
    match t.view() {
        View::Bits(b) if b.is_binary() => Some(b.to_bytes()),
        View::Nil => Some(Cow::Borrowed(&[])),
        View::Cons(c) if c.tail().is_nil() && c.head().as_bits().is_some() => bytes(c.head()),
        View::Cons(_) => {
            let mut out = Vec::new();
            append(t, &mut out)?;
            Some(Cow::Owned(out))
        }
        _ => None,
    }
}

fn append(list: Term<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut rests = vec![list];
    while let Some(mut t) = rests.pop() {
        loop {
            match t.view() {
                View::Cons(c) => {
                    t = c.tail();
                    match c.head().view() {
                        View::Small(n) => out.push(u8::try_from(n).ok()?),
                        View::Bits(b) if b.is_binary() => out.extend_from_slice(&b.to_bytes()),
                        View::Nil => {}
                        View::Cons(_) => {
                            rests.push(t);
                            t = c.head();
                        }
                        _ => return None,
                    }
                }
                View::Nil => break,
                View::Bits(b) if b.is_binary() => {
                    out.extend_from_slice(&b.to_bytes());
                    break;
                }
                _ => return None,
            }
        }
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
