//! `unicode`: the natives that turn character data into UTF-8 and lists, with what is left over
//! when the data is wrong or ends too soon. Encodings other than Latin-1 and UTF-8 go on in Erlang.

use kvik_heap::{Heap, Pins};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
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

/// A conversion under way.
struct Converter<'h> {
    latin1: bool,
    out: Converted<'h>,
    /// All of the data, until it was checked.
    unchecked: Option<Term<'h>>,
    at: Term<'h>,
    /// What follows the lists that are being gone through.
    later: Vec<Term<'h>>,
    /// Is it at its end?
    done: bool,
    /// The list that is made of the last characters.
    list: Term<'h>,
}
impl Pins for Converter<'static> {
    type In<'h> = Converter<'h>;
}

/// Characters, or bytes of binaries, for one reduction.
const CHARACTERS: usize = 64;
const BYTES_A_STEP: usize = 16;

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
    /// Checks for so many cells that there is nothing but numbers, binaries and lists. After the last
    /// the conversion begins.
    fn check(&mut self, cells: usize) -> Result<(), BadData> {
        for _ in 0..cells {
            let Some(data) = self.unchecked else { return Ok(()) };
            let next = match self.at.view() {
                View::Cons(c) => match c.head().view() {
                    View::Cons(_) => {
                        self.later.push(c.tail());
                        Some(c.head())
                    }
                    View::Small(_) | View::Nil => Some(c.tail()),
                    View::Bits(b) if b.is_binary() => Some(c.tail()),
                    // No character: the conversion gets no further.
                    View::Big(_) => None,
                    _ => return Err(BadData),
                },
                View::Nil => self.later.pop(),
                View::Bits(b) if b.is_binary() => self.later.pop(),
                _ => return Err(BadData),
            };
            self.at = next.unwrap_or_else(|| {
                self.unchecked = None;
                self.later.clear();
                data
            });
        }
        Ok(())
    }

    /// Converts for so many steps, and takes those it did from them; `rest` is set where it cannot
    /// go on.
    fn run(&mut self, h: &'h Heap, steps: &mut usize) {
        while *steps > 0 && !self.done {
            let before = self.out.text.len();
            self.step(h);
            let made = self.out.text.len() - before;
            *steps = steps.saturating_sub(1 + made / BYTES_A_STEP);
        }
    }
    fn step(&mut self, h: &'h Heap) {
        match self.at.view() {
            View::Nil => match self.later.pop() {
                Some(next) => self.at = next,
                None => self.done = true,
            },
            View::Cons(c) => {
                let (head, tail) = (c.head(), c.tail());
                match head.view() {
                    View::Cons(_) => {
                        self.later.push(tail);
                        self.at = head;
                    }
                    View::Nil => self.at = tail,
                    View::Bits(_) => match self.binary(h, head) {
                        Ok(()) => self.at = tail,
                        Err(rest) => self.stop(h, h.cons(rest, tail)),
                    },
                    _ if self.number(head) => self.at = tail,
                    _ => self.stop(h, self.at),
                }
            }
            _ => match self.binary(h, self.at) {
                Ok(()) => self.at = Term::NIL,
                Err(rest) => self.stop(h, rest),
            },
        }
    }
    /// Makes the text a list, from its end.
    fn make_list(&mut self, h: &'h Heap, steps: &mut usize) {
        let text = &mut self.out.text;
        let mut from = text.len().saturating_sub(*steps);
        while text.get(from).is_some_and(|b| b & 0xC0 == 0x80) {
            from += 1;
        }
        *steps = steps.saturating_sub(text.len() - from);
        let part = String::from_utf8_lossy(&text[from..]);
        let items: Vec<Term<'h>> = part.chars().map(|c| Term::int(c as i32)).collect();
        self.list = h.list_with_tail(&items, self.list);
        text.truncate(from);
    }
    fn stop(&mut self, h: &'h Heap, at: Term<'h>) {
        let later = std::mem::take(&mut self.later);
        self.out.rest = Some(later.into_iter().rev().fold(at, |rest, tail| h.cons(rest, tail)));
        self.done = true;
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
    fn binary(&mut self, h: &'h Heap, t: Term<'h>) -> Result<(), Term<'h>> {
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
            h.sub_binary(t, from * 8, n * 8).unwrap_or(t)
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

/// Converts all of the data, in as many turns as that takes. With `list` the text is made one, too.
fn convert<'h>(
    p: &'h Proc,
    data: Term<'h>,
    latin1: bool,
    list: bool,
) -> Result<Converter<'h>, Raised> {
    let resumed = p.resumed::<Converter<'static>>();
    let mut c = match resumed {
        Some(c) => c,
        None if !(data.is_list() || data.as_bits().is_some()) => return Err(p.badarg()),
        None => {
            let out = Converted { text: Vec::new(), rest: None, leftover: Vec::new() };
            let (unchecked, at, later) = (Some(data), data, Vec::new());
            Converter { latin1, out, unchecked, at, later, done: false, list: Term::NIL }
        }
    };
    let mut left = p.steps(CHARACTERS);
    // Only what takes turns of its own counts.
    c.check(left).map_err(|_| p.badarg())?;
    if c.unchecked.is_some() {
        p.steps_left(0, CHARACTERS);
        return Err(p.again::<Converter<'static>>(c, None));
    }
    c.run(&p.heap, &mut left);
    if list && left > 0 {
        c.make_list(&p.heap, &mut left);
    }
    p.steps_left(left, CHARACTERS);
    if !c.done || list && !c.out.text.is_empty() {
        return Err(p.again::<Converter<'static>>(c, None));
    }
    Ok(c)
}

/// What the BIFs answer, with `made` from the text.
fn answer<'h>(p: &'h Proc, c: &Converted<'h>, made: Term<'h>) -> BifResult<'h> {
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

/// So many characters of a plain list are converted without looking at the turn.
const SHORT: usize = 1000;

/// The bytes of a short list of ASCII characters.
fn ascii(t: Term<'_>) -> Option<Vec<u8>> {
    let mut it = t.list();
    let mut bytes = Vec::with_capacity(64);
    for t in it.by_ref().take(SHORT) {
        bytes.push(t.as_small().and_then(|c| u8::try_from(c).ok()).filter(u8::is_ascii)?);
    }
    it.rest.is_nil().then_some(bytes)
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
    let first_turn = !p.heap.is_pinned();
    if let Some(b) = data.as_bits().filter(|b| first_turn && b.is_binary()) {
        let bytes = b.to_bytes();
        let same = if latin1 { bytes.is_ascii() } else { std::str::from_utf8(&bytes).is_ok() };
        if same {
            charge(p, bytes.len());
            return Ok(data);
        }
    }
    if let Some(bytes) = ascii(data).filter(|_| first_turn) {
        p.heap.bump_reductions((bytes.len() / CHARACTERS) as i64);
        return Ok(p.heap.binary(&bytes));
    }
    let c = convert(p, data, latin1, false)?;
    answer(p, &c.out, p.heap.binary(&c.out.text))
}

fn characters_to_list_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(latin1) = encoding(a[1]) else {
        return in_erlang(p, am::characters_to_list_int, a);
    };
    let c = convert(p, a[0], latin1, true)?;
    answer(p, &c.out, c.list)
}

fn bin_is_7bit_1<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(a[0].as_bits().is_some_and(|b| b.is_binary() && b.to_bytes().is_ascii())))
}
