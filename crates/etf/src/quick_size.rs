//! The encoded size of a small term, without encoding it.

use kvik_term::{Atom, Bits, PidTerm, Ref, Term, View};

use crate::encode::{EncodeOpts, MAX_STRING};
use crate::local::this_node;

/// Terms looked at before the size is left to [`crate::Encoding::counting`].
const MAX_TERMS: usize = 200;

/// The size of an encoded term with its version byte. `None`: it is large, or of a kind that is
/// left to the encoder.
pub fn quick_size(t: Term<'_>, opts: EncodeOpts) -> Option<usize> {
    let head = if opts.local { 6 } else { 1 };
    Some(head + Sizer { opts, left: MAX_TERMS }.size(t)?)
}

struct Sizer {
    opts: EncodeOpts,
    /// Also limits the recursion.
    left: usize,
}

impl Sizer {
    #[inline(always)]
    fn size(&mut self, t: Term<'_>) -> Option<usize> {
        if let Some(i) = t.as_small() {
            return small_integer(i);
        }
        if let Some(a) = t.as_atom() {
            return Some(self.atom(a));
        }
        if t.is_nil() {
            return Some(1);
        }
        self.compound(t)
    }
    fn compound(&mut self, t: Term<'_>) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        if t.is_list() {
            return self.list(t);
        }
        match t.view() {
            View::Tuple(tuple) => {
                let head = if tuple.len() < 256 { 2 } else { 5 };
                self.sum(head, tuple.elements())
            }
            View::Map(m) => {
                let (keys, values) = m.flat()?;
                let size = self.sum(5, keys)?;
                self.sum(size, values)
            }
            View::Float(_) => Some(if self.opts.text_floats { 32 } else { 9 }),
            View::Bits(b) => Some(bits(b)),
            View::Pid(PidTerm::Local(_)) => Some(13 + self.this_node()),
            View::Ref(Ref::Local(r)) if !r.is_longer() => Some(19 + self.this_node()),
            _ => None,
        }
    }
    #[inline(always)]
    fn sum(&mut self, first: usize, all: &[Term<'_>]) -> Option<usize> {
        self.left = self.left.checked_sub(all.len())?;
        all.iter().try_fold(first, |sum, t| Some(sum + self.size(*t)?))
    }
    #[inline(always)]
    fn list(&mut self, t: Term<'_>) -> Option<usize> {
        let (mut rest, mut size, mut n, mut is_string) = (t, 5, 0, true);
        while let Some(c) = rest.as_cons() {
            is_string &= c.head().as_small().is_some_and(|i| (0..256).contains(&i));
            size += self.size(c.head())?;
            (rest, n) = (c.tail(), n + 1);
            self.left = self.left.checked_sub(1)?;
        }
        const { assert!(MAX_TERMS < MAX_STRING) };
        match is_string && rest.is_nil() {
            true => Some(3 + n),
            false => Some(size + self.size(rest)?),
        }
    }
    #[inline]
    fn atom(&self, a: Atom) -> usize {
        let name = a.name();
        if !self.opts.utf8_atoms {
            if name.is_ascii() {
                return 3 + name.len();
            }
            if name.chars().all(|c| (c as u32) < 256) {
                return 3 + name.chars().count();
            }
        }
        name.len() + if name.len() < 256 { 2 } else { 3 }
    }
    fn this_node(&self) -> usize {
        this_node(self.opts.local).0.map_or(1, |node| self.atom(node))
    }
}

/// `None` where it takes a bignum.
fn small_integer(i: i64) -> Option<usize> {
    if u8::try_from(i).is_ok() {
        return Some(2);
    }
    i32::try_from(i).is_ok().then_some(5)
}
fn bits(b: Bits<'_>) -> usize {
    5 + !b.is_binary() as usize + b.byte_size()
}

#[cfg(test)]
mod tests {
    use kvik_heap::Heap;
    use kvik_term::am;

    use super::*;
    use crate::Encoding;

    #[test]
    fn agrees_with_the_encoder() {
        let h = Heap::new(1000);
        let small = |n: i32| Term::int(n);
        let name = Atom::intern("é日").unwrap();
        let terms = [
            small(255),
            small(-1),
            small(256),
            Term::NIL,
            am::ok.into(),
            name.into(),
            h.float(1.5),
            h.binary(b"abc"),
            h.bitstring(b"abc", 21),
            h.list(&[small(1), small(2)]),
            h.list(&[small(1), small(256)]),
            h.list_with_tail(&[small(1), small(2)], small(3)),
            h.map_of_atoms(&[(am::ok, small(1))]),
            Term::local_pid(7),
            h.make_ref(),
        ];
        let all = h.tuple(&[h.tuple(&terms), h.list(&terms)]);
        let default = EncodeOpts::default();
        let options = [
            default,
            EncodeOpts { utf8_atoms: true, ..default },
            EncodeOpts { text_floats: true, ..default },
            EncodeOpts { local: true, ..default },
        ];
        for o in options {
            for t in terms.into_iter().chain([all]) {
                let mut e = Encoding::counting(t, o);
                assert!(e.run(&mut { usize::MAX }));
                assert_eq!(quick_size(t, o), Some(e.len()), "{t:?}");
            }
        }
    }
    #[test]
    fn leaves_large_terms_to_the_encoder() {
        let h = Heap::new(1000);
        let long = h.list(&vec![Term::int(1); 2 * MAX_TERMS]);
        assert_eq!(quick_size(long, EncodeOpts::default()), None);
        let deep = (0..=MAX_TERMS).fold(Term::NIL, |t, _| h.tuple(&[t]));
        assert_eq!(quick_size(deep, EncodeOpts::default()), None);
    }
}
