//! `unicode`: the natives that convert character data to UTF-8 and lists, with the rest if the data
//! is invalid or incomplete. Encodings other than Latin-1 and UTF-8 are handled in Erlang.

use std::borrow::Cow;

use kvik_heap::{Heap, SuspendedState, Writer};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Bits, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("unicode", "characters_to_binary", 2, characters_to_binary_2),
    bif!("unicode", "characters_to_list", 2, characters_to_list_2),
    bif!("unicode", "bin_is_7bit", 1, bin_is_7bit_1),
];

/// The result of a conversion, as far as it got.
struct Converted<'h> {
    /// The converted text in UTF-8.
    text: Text,
    /// The unconverted rest after an error.
    rest: Option<Term<'h>>,
    /// The start of an incomplete character.
    leftover: Vec<u8>,
}

/// A text being built. A short one is copied to the heap at the end; a long one is written in
/// place.
enum Text {
    Short(Vec<u8>),
    Long(Writer),
}

impl Text {
    /// Reserves room for about `n` bytes.
    fn with_room(n: usize) -> Text {
        match n {
            0..=SHORT_TEXT_LEN => Text::Short(Vec::with_capacity(n)),
            _ => Text::Long(Writer::with_room(n.min(GROWS_IN_PLACE))),
        }
    }
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Text::Short(text) => text.extend_from_slice(bytes),
            Text::Long(text) => text.push(bytes),
        }
    }
    fn bytes(&self) -> &[u8] {
        match self {
            Text::Short(text) => text,
            Text::Long(text) => text.bytes(),
        }
    }
    fn truncate(&mut self, n: usize) {
        match self {
            Text::Short(text) => text.truncate(n),
            Text::Long(text) => text.truncate(n),
        }
    }
    fn finish(self, h: &Heap) -> Term<'_> {
        match self {
            Text::Short(text) => h.binary(&text),
            Text::Long(text) => text.finish(h),
        }
    }
}

/// Not character data at all.
struct BadData;

/// State of a conversion.
struct Converter<'h> {
    latin1: bool,
    out: Converted<'h>,
    /// The whole data until it is checked, and the approximate size of its text in bytes.
    unchecked: Option<Term<'h>>,
    bytes: usize,
    at: Term<'h>,
    /// A long binary and the byte offset to continue at; whether it is an element of a list, whose
    /// rest is `at`.
    part: Option<(Term<'h>, usize, bool)>,
    /// The tails of the enclosing lists.
    later: Vec<Term<'h>>,
    /// Whether the end of the data is reached.
    done: bool,
    /// The list built so far, from the last characters.
    list: Term<'h>,
}
impl SuspendedState for Converter<'static> {
    type In<'h> = Converter<'h>;
}

/// A plain list of up to this many characters is converted without yielding, and texts of up to
/// this many bytes are short.
const SHORT_TEXT_LEN: usize = 1000;
/// Buffers of this size grow without copying (`sys/src/large_alloc.rs`). Smaller ones are reserved
/// in full: copying them within one time slice would delay other processes.
const GROWS_IN_PLACE: usize = kvik_sys::large_alloc::MIN_BYTES;

/// Steps per reduction, and for what: each character of a binary, a binary besides them, a number in the
/// data, and a character that becomes a list. As in OTP, which counts in one pass and converts in
/// another.
const STEPS: usize = 50;
const CHARACTER: usize = 5;
const BINARY: usize = 1;
const NUMBER: usize = 6;
const LISTED: usize = 5;
/// Lists that are entered or left in a turn, which costs nothing if that is enough.
const FREE: usize = 100_000;

/// Length of the character with this first byte; `None` if no character starts with it.
fn char_len(first: u8) -> Option<usize> {
    match first {
        0..0x80 => Some(1),
        0xC0..0xE0 => Some(2),
        0xE0..0xF0 => Some(3),
        0xF0..0xF8 => Some(4),
        _ => None,
    }
}

/// Whether these bytes may be the start of a character.
fn may_go_on(bytes: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else {
        return false;
    };
    char_len(*first).is_some_and(|n| n == 2 || n > bytes.len())
        && (rest.iter().all(|b| b & 0xC0 == 0x80) || char_len(*first) == Some(2))
}

impl<'h> Converter<'h> {
    /// Checks up to `cells` list cells: only numbers, binaries and lists are allowed. The
    /// conversion begins after the last one.
    fn check(&mut self, cells: usize) -> Result<(), BadData> {
        for _ in 0..cells {
            let Some(data) = self.unchecked else { return Ok(()) };
            let next = match self.at.view() {
                View::Cons(c) => match c.head().view() {
                    View::Cons(_) => {
                        self.later.push(c.tail());
                        Some(c.head())
                    }
                    View::Small(n) => {
                        self.bytes += char::from_u32(n as u32).map_or(1, char::len_utf8);
                        Some(c.tail())
                    }
                    View::Nil => Some(c.tail()),
                    View::Bits(b) if b.is_binary() => {
                        self.bytes = self.bytes.saturating_add(b.byte_size());
                        Some(c.tail())
                    }
                    // Not a character: the conversion ends here.
                    View::Big(_) => None,
                    _ => return Err(BadData),
                },
                View::Nil => self.later.pop(),
                View::Bits(b) if b.is_binary() => self.later.pop(),
                _ => return Err(BadData),
            };
            self.at = next.unwrap_or_else(|| {
                self.unchecked = None;
                self.out.text = Text::with_room(self.bytes);
                self.later.clear();
                data
            });
        }
        Ok(())
    }

    /// Converts for `steps` steps and deducts those used; sets `rest` on an error.
    fn run(&mut self, h: &'h Heap, steps: &mut usize) {
        let mut free = FREE;
        while *steps > 0 && free > 0 && !self.done {
            match self.step(h) {
                0 => free -= 1,
                cost => *steps = steps.saturating_sub(cost),
            }
        }
        if free == 0 {
            *steps = 0;
        }
    }
    /// Converts the next part, and returns what it cost.
    fn step(&mut self, h: &'h Heap) -> usize {
        if let Some((t, from, in_list)) = self.part.take() {
            return self.bytes(h, t, from, in_list);
        }
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
                    View::Bits(_) => {
                        self.at = tail;
                        return BINARY + self.bytes(h, head, 0, true);
                    }
                    _ if self.number(head) => {
                        self.at = tail;
                        return NUMBER;
                    }
                    _ => self.stop(h, self.at),
                }
            }
            _ => {
                let t = std::mem::replace(&mut self.at, Term::NIL);
                return self.bytes(h, t, 0, false);
            }
        }
        0
    }
    /// Converts a piece of a binary, from a byte offset.
    fn bytes(&mut self, h: &'h Heap, t: Term<'h>, from: usize, in_list: bool) -> usize {
        let before = self.out.text.bytes().len();
        match self.binary(h, t, from) {
            Ok(to) => self.part = to.map(|to| (t, to, in_list)),
            Err(rest) if in_list => self.stop(h, h.cons(rest, self.at)),
            Err(rest) => self.stop(h, rest),
        }
        let begins = |b: &&u8| **b & 0xC0 != 0x80;
        self.out.text.bytes()[before..].iter().filter(begins).count() * CHARACTER
    }
    /// Converts text to a list, from its end.
    fn make_list(&mut self, h: &'h Heap, steps: &mut usize) {
        let text = self.out.text.bytes();
        let mut from = text.len().saturating_sub((*steps).div_ceil(LISTED));
        while text.get(from).is_some_and(|b| b & 0xC0 == 0x80) {
            from += 1;
        }
        let part = String::from_utf8_lossy(&text[from..]);
        let mut items = Vec::with_capacity(part.len());
        items.extend(part.chars().map(|c| Term::int(c as i32)));
        *steps = steps.saturating_sub(items.len() * LISTED);
        self.list = h.list_with_tail(&items, self.list);
        self.out.text.truncate(from);
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
        self.out.text.push(c.encode_utf8(&mut buf).as_bytes());
        true
    }
    /// Converts a piece of a binary from a byte offset and returns the offset of the next piece, if
    /// any. The error value is the rest of the binary.
    fn binary(&mut self, h: &'h Heap, t: Term<'h>, from: usize) -> Result<Option<usize>, Term<'h>> {
        let Some(bits) = t.as_bits() else {
            return Err(t);
        };
        let rest = |from: usize| h.sub_binary(t, from * 8, bits.bit_len() - from * 8).unwrap_or(t);
        let mut piece = Piece::of(&bits, from);
        if self.latin1 {
            return Ok(self.latin1_piece(&piece));
        }
        if let Some(first) = self.out.leftover.first() {
            let missing = char_len(*first).unwrap_or(4).saturating_sub(self.out.leftover.len());
            let start = bits.byte_size().min(missing);
            let bytes = bits.slice(0, start * 8).to_bytes();
            self.out.leftover.extend_from_slice(&bytes);
            if start < missing {
                return Ok(None);
            }
            if std::str::from_utf8(&self.out.leftover).is_err() {
                self.out.leftover.truncate(self.out.leftover.len() - missing);
                return Err(rest(0));
            }
            self.out.text.push(&std::mem::take(&mut self.out.leftover));
            piece = Piece::of(&bits, missing);
        }
        let (good, wrong) = piece.valid();
        self.out.text.push(&piece.bytes[..good]);
        let at = piece.from + good;
        let left = bits.byte_size() - at;
        if !wrong {
            return Ok((left > 0).then_some(at));
        }
        if char_len(bits.byte(at)).is_some_and(|n| n > left) {
            self.out.leftover = bits.slice(at * 8, left * 8).to_bytes().into_owned();
            return Ok(None);
        }
        Err(rest(at))
    }
    fn latin1_piece(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let text = &mut self.out.text;
        for b in piece.bytes.iter() {
            match b {
                0..0x80 => text.push(&[*b]),
                _ => text.push(&[0xC0 | b >> 6, 0x80 | b & 0x3F]),
            }
        }
        (!piece.last).then_some(piece.from + piece.bytes.len())
    }
}

/// Bytes of a binary converted in one step.
const CHUNK_BYTES: usize = 64 << 10;

/// A piece of a binary.
struct Piece<'a> {
    from: usize,
    bytes: Cow<'a, [u8]>,
    /// Whether it is the last piece.
    last: bool,
}

impl<'a> Piece<'a> {
    fn of(bits: &Bits<'a>, from: usize) -> Piece<'a> {
        let left = bits.byte_size() - from;
        let n = left.min(CHUNK_BYTES);
        Piece { from, bytes: bits.slice(from * 8, n * 8).to_bytes(), last: n == left }
    }
    /// The bytes of complete characters, and whether they are followed by invalid bytes or by an
    /// incomplete character at the end of the binary.
    fn valid(&self) -> (usize, bool) {
        match std::str::from_utf8(&self.bytes) {
            Ok(s) => (s.len(), false),
            Err(e) => (e.valid_up_to(), self.last || e.error_len().is_some()),
        }
    }
}

/// State of [`is_right`]: the binary is valid up to this byte.
struct Right(usize);
impl SuspendedState for Right {
    type In<'h> = Right;
}

/// Bytes looked at in a turn, which costs nothing if that is enough.
const CHECKED: usize = 4 << 20;

/// Whether a binary is valid UTF-8 (or ASCII) and needs no conversion; yields between time slices.
fn is_right<'h>(p: &'h Proc, b: &Bits<'h>, ascii: bool) -> Result<bool, Raised> {
    if b.byte_size() <= CHUNK_BYTES {
        let bytes = b.to_bytes();
        let right = bytes.is_ascii() || !ascii && std::str::from_utf8(&bytes).is_ok();
        return Ok(right);
    }
    let Right(mut at) = p.resumed::<Right>().unwrap_or(Right(0));
    let mut left = CHECKED;
    loop {
        let piece = Piece::of(b, at);
        let (good, wrong) = match (ascii, piece.bytes.is_ascii()) {
            (_, true) => (piece.bytes.len(), false),
            (true, false) => (0, true),
            (false, false) => piece.valid(),
        };
        at += good;
        left = left.saturating_sub(good);
        if wrong || at == b.byte_size() {
            return Ok(!wrong);
        }
        if left == 0 {
            p.use_up_turn();
            return Err(p.again::<Right>(Right(at), None));
        }
    }
}

/// Converts all of the data, over as many time slices as necessary. With `list`, the text is then
/// converted to a list.
fn convert<'h>(
    p: &'h Proc,
    resumed: Option<Converter<'h>>,
    data: Term<'h>,
    latin1: bool,
    list: bool,
) -> Result<Converter<'h>, Raised> {
    let mut c = match resumed {
        Some(c) => c,
        None if !(data.is_list() || data.as_bits().is_some()) => return Err(p.badarg()),
        None => {
            let out = Converted { text: Text::with_room(0), rest: None, leftover: Vec::new() };
            Converter {
                latin1,
                out,
                unchecked: Some(data),
                bytes: data.as_bits().map_or(0, |b| b.byte_size()),
                at: data,
                part: None,
                later: Vec::new(),
                done: false,
                list: Term::NIL,
            }
        }
    };
    let mut left = p.steps(STEPS);
    // The check is charged only if it does not complete in this time slice.
    c.check(left).map_err(|_| p.badarg())?;
    if c.unchecked.is_some() {
        p.steps_left(0, STEPS);
        return Err(p.again::<Converter<'static>>(c, None));
    }
    c.run(&p.heap, &mut left);
    if list && left > 0 {
        c.make_list(&p.heap, &mut left);
    }
    p.steps_left(left, STEPS);
    if !c.done || list && !c.out.text.bytes().is_empty() {
        return Err(p.again::<Converter<'static>>(c, None));
    }
    Ok(c)
}

/// The return value of the BIFs; `made` is built from the text.
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

/// The bytes of a short list that contains only characters.
fn plain(t: Term<'_>, latin1: bool) -> Option<Vec<u8>> {
    let mut it = t.list();
    let mut bytes = Vec::with_capacity(64);
    for t in it.by_ref().take(SHORT_TEXT_LEN) {
        match u32::try_from(t.as_small()?).ok()? {
            c @ 0..0x80 => bytes.push(c as u8),
            c if latin1 && c > 255 => return None,
            c => bytes.extend_from_slice(char::from_u32(c)?.encode_utf8(&mut [0; 4]).as_bytes()),
        }
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
        Some(e) => Err(p.trap_in_next_turn(e, a)),
        None => Err(p.error(am::undef)),
    }
}

fn characters_to_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(latin1) = encoding(a[1]) else {
        return in_erlang(p, am::characters_to_binary_int, a);
    };
    // A valid binary is returned unchanged.
    let lone = a[0].as_cons().filter(|c| c.tail().is_nil());
    let data = lone.map(|c| c.head()).filter(|t| t.as_bits().is_some()).unwrap_or(a[0]);
    let converting = p.resumed::<Converter<'static>>();
    if let (None, Some(b)) = (&converting, data.as_bits().filter(|b| b.is_binary())) {
        if is_right(p, &b, latin1)? {
            return Ok(data);
        }
    }
    if let (None, Some(bytes)) = (&converting, plain(data, latin1)) {
        p.heap.bump_reductions(
            (String::from_utf8_lossy(&bytes).chars().count() * NUMBER / STEPS) as i64,
        );
        return Ok(p.heap.binary(&bytes));
    }
    let mut c = convert(p, converting, data, latin1, false)?;
    let made = std::mem::replace(&mut c.out.text, Text::with_room(0)).finish(&p.heap);
    answer(p, &c.out, made)
}

fn characters_to_list_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(latin1) = encoding(a[1]) else {
        return in_erlang(p, am::characters_to_list_int, a);
    };
    let c = convert(p, p.resumed::<Converter<'static>>(), a[0], latin1, true)?;
    answer(p, &c.out, c.list)
}

fn bin_is_7bit_1<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(a[0].as_bits().is_some_and(|b| b.is_binary() && b.to_bytes().is_ascii())))
}
