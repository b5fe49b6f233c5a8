//! `unicode`: the natives that turn character data into UTF-8 and lists, with what is left over
//! when the data is wrong or ends too soon. Encodings other than Latin-1 and UTF-8 go on in Erlang.

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term, View};

use crate::iolist::charge;

pub const BIFS: &[BifEntry] = &[
    bif!("unicode", "characters_to_binary", 2, characters_to_binary_2),
    bif!("unicode", "characters_to_list", 2, characters_to_list_2),
    bif!("unicode", "bin_is_7bit", 1, bin_is_7bit_1),
];

/// Character data, converted as far as it goes.
struct Converted<'h> {
    /// What was converted, in UTF-8.
    text: Vec<u8>,
    /// What could not be, where something was wrong.
    rest: Option<Term<'h>>,
    /// The start of a character whose end is missing.
    leftover: Vec<u8>,
}

/// Not character data at all.
struct BadData;

struct Converter<'h> {
    heap: &'h Heap,
    latin1: bool,
    out: Converted<'h>,
}

/// Bytes of the character that this byte starts; `None` for one that starts none.
fn char_len(first: u8) -> Option<usize> {
    match first {
        0..0x80 => Some(1),
        0xC0..0xE0 => Some(2),
        0xE0..0xF0 => Some(3),
        0xF0..0xF8 => Some(4),
        _ => None,
    }
}

/// Could these bytes be the start of a character?
fn may_go_on(bytes: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else {
        return false;
    };
    char_len(*first).is_some_and(|n| n == 2 || n > bytes.len())
        && (rest.iter().all(|b| b & 0xC0 == 0x80) || char_len(*first) == Some(2))
}

impl<'h> Converter<'h> {
    /// Checks that there is nothing but numbers, binaries and lists.
    fn check(&self, t: Term<'h>) -> Result<(), BadData> {
        let mut later = vec![t];
        while let Some(mut t) = later.pop() {
            loop {
                match t.view() {
                    View::Nil => break,
                    View::Bits(b) if b.is_binary() => break,
                    View::Cons(c) => {
                        let head = c.head();
                        match head.view() {
                            View::Small(_) | View::Nil => {}
                            View::Big(_) => return Ok(()),
                            View::Bits(b) if b.is_binary() => {}
                            View::Cons(_) => {
                                later.push(c.tail());
                                t = head;
                                continue;
                            }
                            _ => return Err(BadData),
                        }
                        t = c.tail();
                    }
                    _ => return Err(BadData),
                }
            }
        }
        Ok(())
    }

    /// Converts; `rest` is set where it stops.
    fn run(&mut self, t: Term<'h>) {
        let mut later = Vec::new();
        let mut t = t;
        loop {
            match t.view() {
                View::Nil => {}
                View::Cons(c) => {
                    let (head, tail) = (c.head(), c.tail());
                    let ok = match head.view() {
                        View::Cons(_) => {
                            later.push(tail);
                            t = head;
                            continue;
                        }
                        View::Nil => true,
                        View::Bits(_) => match self.binary(head) {
                            Ok(()) => true,
                            Err(rest) => {
                                t = self.heap.cons(rest, tail);
                                false
                            }
                        },
                        _ => self.number(head),
                    };
                    if !ok {
                        return self.stop(t, later);
                    }
                    t = tail;
                    continue;
                }
                _ => {
                    if let Err(rest) = self.binary(t) {
                        return self.stop(rest, later);
                    }
                }
            }
            match later.pop() {
                Some(next) => t = next,
                None => return,
            }
        }
    }
    fn stop(&mut self, at: Term<'h>, later: Vec<Term<'h>>) {
        let rest = later.into_iter().rev().fold(at, |rest, tail| self.heap.cons(rest, tail));
        self.out.rest = Some(rest);
    }
    fn number(&mut self, t: Term<'h>) -> bool {
        let c = t.as_small().and_then(|i| u32::try_from(i).ok());
        let Some(c) = c.and_then(char::from_u32) else {
            return false;
        };
        if !self.out.leftover.is_empty() || self.latin1 && c as u32 > 255 {
            return false;
        }
        let mut buf = [0; 4];
        self.out.text.extend_from_slice(c.encode_utf8(&mut buf).as_bytes());
        true
    }
    /// Converts a binary; an error is what is left of it.
    fn binary(&mut self, t: Term<'h>) -> Result<(), Term<'h>> {
        let Some(bits) = t.as_bits() else {
            return Err(t);
        };
        let bytes = bits.to_bytes();
        if self.latin1 {
            let text = &mut self.out.text;
            for b in bytes.iter() {
                match b {
                    0..0x80 => text.push(*b),
                    _ => text.extend_from_slice(&[0xC0 | b >> 6, 0x80 | b & 0x3F]),
                }
            }
            return Ok(());
        }
        let rest = |from: usize| {
            let n = bytes.len() - from;
            self.heap.sub_binary(t, from * 8, n * 8).unwrap_or(t)
        };
        let mut from = 0;
        if let Some(first) = self.out.leftover.first() {
            let missing = char_len(*first).unwrap_or(4).saturating_sub(self.out.leftover.len());
            if bytes.len() < missing {
                self.out.leftover.extend_from_slice(&bytes);
                return Ok(());
            }
            let mut whole = self.out.leftover.clone();
            whole.extend_from_slice(&bytes[..missing]);
            if std::str::from_utf8(&whole).is_err() {
                return Err(rest(0));
            }
            self.out.text.extend_from_slice(&whole);
            self.out.leftover.clear();
            from = missing;
        }
        let (good, wrong) = match std::str::from_utf8(&bytes[from..]) {
            Ok(s) => (s.len(), None),
            Err(e) => (e.valid_up_to(), Some(from + e.valid_up_to())),
        };
        self.out.text.extend_from_slice(&bytes[from..from + good]);
        let Some(at) = wrong else { return Ok(()) };
        let bad = &bytes[at..];
        if bad.first().and_then(|b| char_len(*b)).is_some_and(|n| n > bad.len()) {
            self.out.leftover = bad.to_vec();
            return Ok(());
        }
        Err(rest(at))
    }
}

fn convert<'h>(
    p: &'h Proc,
    data: Term<'h>,
    latin1: bool,
) -> Result<Converted<'h>, kvik_proc::Raised> {
    let mut c = Converter {
        heap: &p.heap,
        latin1,
        out: Converted { text: Vec::new(), rest: None, leftover: Vec::new() },
    };
    if !(data.is_list() || data.as_bits().is_some()) || c.check(data).is_err() {
        return Err(p.badarg());
    }
    c.run(data);
    charge(p, c.out.text.len() * 4);
    Ok(c.out)
}

/// What the BIFs answer, with `made` from the text.
fn answer<'h>(p: &'h Proc, c: Converted<'h>, made: Term<'h>) -> BifResult<'h> {
    let h = &p.heap;
    let left = || h.binary(&c.leftover);
    Ok(match c.rest {
        Some(rest) if c.leftover.is_empty() => h.tuple(&[am::error.into(), made, rest]),
        Some(rest) => h.tuple(&[am::error.into(), made, h.list(&[left(), rest])]),
        None if c.leftover.is_empty() => made,
        None => {
            let tag = if may_go_on(&c.leftover) { am::incomplete } else { am::error };
            h.tuple(&[tag.into(), made, left()])
        }
    })
}

fn encoding(t: Term<'_>) -> Option<bool> {
    match t.as_atom()? {
        am::latin1 => Some(true),
        am::unicode | am::utf8 => Some(false),
        _ => None,
    }
}
fn in_erlang<'h>(p: &'h Proc, f: kvik_term::Atom, a: &[Term<'h>]) -> BifResult<'h> {
    match (kvik_etf::hooks().export)(am::unicode, f, 2) {
        Some(e) => Err(p.trap(e, a)),
        None => Err(p.error(am::undef)),
    }
}

fn characters_to_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(latin1) = encoding(a[1]) else {
        return in_erlang(p, am::characters_to_binary_int, a);
    };
    // A binary that is right already is its own answer.
    let lone = a[0].as_cons().filter(|c| c.tail().is_nil());
    let data = lone.map(|c| c.head()).filter(|t| t.as_bits().is_some()).unwrap_or(a[0]);
    if let Some(b) = data.as_bits().filter(|b| b.is_binary()) {
        let bytes = b.to_bytes();
        let same = if latin1 { bytes.is_ascii() } else { std::str::from_utf8(&bytes).is_ok() };
        if same {
            charge(p, bytes.len());
            return Ok(data);
        }
    }
    let c = convert(p, data, latin1)?;
    let made = p.heap.binary(&c.text);
    answer(p, c, made)
}

fn characters_to_list_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(latin1) = encoding(a[1]) else {
        return in_erlang(p, am::characters_to_list_int, a);
    };
    let c = convert(p, a[0], latin1)?;
    let made = char_list(&p.heap, &c.text);
    answer(p, c, made)
}

/// The characters of UTF-8 text as a list.
pub(crate) fn char_list<'h>(h: &'h Heap, text: &[u8]) -> Term<'h> {
    let items: Vec<Term<'h>> =
        String::from_utf8_lossy(text).chars().map(|c| Term::int(c as i32)).collect();
    h.list(&items)
}

fn bin_is_7bit_1<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(a[0].as_bits().is_some_and(|b| b.is_binary() && b.to_bytes().is_ascii())))
}
