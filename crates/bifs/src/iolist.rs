//! `erlang`: conversions between binaries, bit strings and I/O lists.

use kvik_heap::binary::Gather;
use kvik_heap::{Heap, SuspendedState, Writer};
use kvik_proc::sched::REDUCTIONS;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Bits, Export, Term, View};

use crate::iolist_join::{Joining, JoiningOf};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "list_to_binary", 1, list_to_binary_1),
    bif!("erlang", "iolist_to_binary", 1, iolist_to_binary_1),
    bif!("erlang", "iolist_size", 1, iolist_size_1),
    bif!("erlang", "bitstring_to_list", 1, bitstring_to_list_1),
    bif!("erlang", "binary_to_list", 1, binary_to_list_1),
    bif!("erlang", "binary_to_list", 3, binary_to_list_3),
    bif!("erlang", "split_binary", 2, split_binary_2),
    bif!("erlang", "binary_part", 2, binary_part_2),
    bif!("erlang", "binary_part", 3, binary_part_3),
];

/// The list contains something that is neither byte, binary nor list.
pub struct BadList;

/// An element of an I/O list.
pub enum IoListPiece<'h> {
    Byte(u8),
    Bits(Bits<'h>, Term<'h>),
    /// [`CELLS_WITHOUT_PIECE`] cells held no piece.
    Nothing,
}

/// Cells of empty or nested lists after which `Pieces` comes back without a piece, so that its caller
/// can count them.
pub const CELLS_WITHOUT_PIECE: usize = 64;

/// Iterates over the pieces of an I/O list (or a lone binary); ends at the first invalid one.
pub struct Pieces<'h> {
    at: Term<'h>,
    later: Vec<Term<'h>>,
    /// Whether this is a list in another one, of which the rest may be empty.
    nested: bool,
}

/// What was met in an I/O list so far.
#[derive(Copy, Clone, Default)]
struct Seen {
    cells: usize,
    /// Nested lists with nothing behind them in their list.
    empty_rests: usize,
    /// Other ends of lists.
    ends: usize,
}

impl<'h> Pieces<'h> {
    pub fn of(t: Term<'h>) -> Pieces<'h> {
        Pieces { at: t, later: Vec::new(), nested: false }
    }
    /// Whether there is nothing left, not even an empty rest.
    pub fn is_empty(&self) -> bool {
        self.at.is_nil() && !self.nested
    }
}

impl<'h> Iterator for Pieces<'h> {
    type Item = Result<IoListPiece<'h>, BadList>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        for _ in 0..CELLS_WITHOUT_PIECE {
            if let Some(c) = self.at.as_cons() {
                let (head, tail) = (c.head(), c.tail());
                self.at = tail;
                if let Some(i) = head.as_small() {
                    return Some(u8::try_from(i).map(IoListPiece::Byte).map_err(|_| BadList));
                }
                if head.as_cons().is_some() {
                    if !tail.is_nil() {
                        self.later.push(tail);
                    }
                    self.nested = true;
                    self.at = head;
                } else if let Some(b) = head.as_bits() {
                    return Some(Ok(IoListPiece::Bits(b, head)));
                } else if !head.is_nil() {
                    return Some(Err(BadList));
                }
            } else if self.at.is_nil() {
                self.at = self.later.pop()?;
                self.nested = !self.later.is_empty();
            } else {
                let t = std::mem::replace(&mut self.at, Term::NIL);
                return Some(t.as_bits().map(|b| IoListPiece::Bits(b, t)).ok_or(BadList));
            }
        }
        Some(Ok(IoListPiece::Nothing))
    }
}

/// Why a list was not visited to its end.
enum Stopped {
    BadList,
    /// There is more than the visitor takes.
    Long,
}
impl From<BadList> for Stopped {
    fn from(_: BadList) -> Stopped {
        Stopped::BadList
    }
}

/// Visits each piece without stopping, faster than `Pieces`, unless empty and nested lists come after
/// that many cells.
#[inline]
fn each_piece<'h>(
    t: Term<'h>,
    most_cells: usize,
    mut visit: impl FnMut(IoListPiece<'h>) -> Result<(), Stopped>,
) -> Result<Seen, Stopped> {
    let (mut at, mut later) = (t, Vec::new());
    let mut seen = Seen::default();
    loop {
        while let View::Cons(c) = at.view() {
            let head = c.head();
            at = c.tail();
            seen.cells += 1;
            if let Some(i) = head.as_small() {
                visit(IoListPiece::Byte(u8::try_from(i).map_err(|_| BadList)?))?;
                continue;
            }
            if let Some(b) = head.as_bits() {
                visit(IoListPiece::Bits(b, head))?;
                continue;
            }
            if seen.cells >= most_cells {
                return Err(Stopped::Long);
            }
            if let View::Cons(_) = head.view() {
                if at.is_nil() {
                    seen.empty_rests += 1;
                } else {
                    later.push(at);
                }
                at = head;
            } else if !head.is_nil() {
                return Err(Stopped::BadList);
            }
        }
        if !at.is_nil() {
            visit(IoListPiece::Bits(at.as_bits().ok_or(BadList)?, at))?;
        }
        seen.ends += 1;
        match later.pop() {
            Some(t) => at = t,
            None => return Ok(seen),
        }
    }
}

/// Steps of a conversion to a binary per reduction: OTP takes eight for the size, and eight to copy.
/// A step is a cell, or the end of a list where that counts, or some bytes.
pub(crate) const JOINED: usize = 4;

/// With fewer reductions left a conversion works as if it had so many, and with very few it waits for
/// its next turn, as in OTP.
const ENOUGH: i64 = REDUCTIONS / 4;
const VERY_FEW: i64 = REDUCTIONS / 40;

/// State of a conversion that has not begun.
struct Waiting;
impl SuspendedState for Waiting {
    type In<'h> = Waiting;
}

/// Puts off a conversion that `waits` if it begins with very few reductions left. To be called in any
/// case: it takes the state back.
pub(crate) fn begin(p: &Proc, waits: bool) -> Result<(), Raised> {
    let waited = p.resumed::<Waiting>().is_some();
    if waited || !waits || p.heap.reductions_left() > VERY_FEW || p.heap.is_suspended() {
        return Ok(());
    }
    p.give_up_turn();
    Err(p.again::<Waiting>(Waiting, None))
}
pub(crate) fn enough(p: &Proc) -> usize {
    p.heap.reductions_left().max(ENOUGH) as usize
}

impl Seen {
    fn steps(self) -> usize {
        let cells = self.cells + self.empty_rests;
        match kvik_release::current().counts_ends_of_io_lists() {
            true => cells + self.ends,
            false => cells,
        }
    }
}

/// Reductions for a conversion of that many steps to a binary of `size` bytes: one pass for the size,
/// one to copy. `copied`: units of 32 bytes in binaries.
pub(crate) fn conversion_cost(steps: usize, size: usize, copied: usize) -> usize {
    match kvik_release::current().counts_ends_of_io_lists() {
        true => steps.div_ceil(8) + (steps + copied).div_ceil(8),
        false => 2 * steps.div_ceil(8) + size / 256,
    }
}

/// The bytes of an I/O list. Bit strings of partial bytes are an error.
pub fn bytes_of(t: Term<'_>) -> Result<Vec<u8>, BadList> {
    let mut out = Vec::new();
    for piece in Pieces::of(t) {
        push(&mut out, piece?)?;
    }
    Ok(out)
}

fn push(out: &mut Vec<u8>, piece: IoListPiece<'_>) -> Result<(), BadList> {
    match piece {
        IoListPiece::Byte(b) => out.push(b),
        IoListPiece::Bits(b, _) if b.is_binary() => out.extend_from_slice(&b.to_bytes()),
        IoListPiece::Bits(..) => return Err(BadList),
        IoListPiece::Nothing => {}
    }
    Ok(())
}

/// Gathers the bytes of an I/O list that was already checked.
fn gather(t: Term<'_>, g: &mut Gather) {
    let _ = each_piece(t, usize::MAX, |piece| {
        match piece {
            IoListPiece::Byte(b) => g.push_byte(b),
            IoListPiece::Bits(b, _) => g.push(&b.to_bytes()),
            IoListPiece::Nothing => {}
        }
        Ok(())
    });
}

/// A binary of at least this size that is the whole content of a list is shared, not copied, if it
/// is at least half of the storage that it keeps alive.
const SHARED: usize = 512;

/// The bytes of an I/O list, read over as many time slices as necessary. Costs nothing in the first.
pub(crate) fn bytes_in_turns<'h>(p: &'h Proc, t: Term<'h>) -> Result<Vec<u8>, Raised> {
    let resumed = p.resumed::<JoiningOf<Vec<u8>>>();
    let j = resumed.unwrap_or_else(|| Joining::new(t, Vec::new()));
    let (out, _) = j.go_on(p, p.steps(JOINED))?;
    Ok(out)
}

/// The size of a piece, which must be whole bytes.
fn byte_len(piece: &IoListPiece<'_>) -> Result<usize, BadList> {
    match piece {
        IoListPiece::Byte(_) => Ok(1),
        IoListPiece::Bits(b, _) if b.is_binary() => Ok(b.byte_size()),
        IoListPiece::Bits(..) => Err(BadList),
        IoListPiece::Nothing => Ok(0),
    }
}

/// The bytes of an I/O list as a binary, charged to the process as reductions.
pub(crate) fn binary_of<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    begin(p, true)?;
    let j = match p.resumed::<JoiningOf<Writer>>() {
        Some(j) => j,
        None => match at_once(p, t)? {
            Looked::Whole(whole) => return Ok(whole),
            Looked::Long(size) => {
                Joining::new(t, size.map_or_else(Writer::default, Writer::with_room))
            }
        },
    };
    let (out, cost) = j.go_on(p, enough(p) * JOINED)?;
    p.heap.bump_reductions(cost as i64);
    Ok(out.finish(&p.heap))
}
/// The function that OTP reports for a process while such a BIF is suspended.
pub(crate) fn shown() -> &'static Export {
    let name = match kvik_release::current().rejects_bitstrings() {
        true => am::list_to_bitstring_continue,
        false => am::list_to_binary_continue,
    };
    kvik_code::export(am::erts_internal, name, 1)
}

/// A list of up to this many pieces is read twice: for its size, then for its bytes.
const TWO_PASS_PIECES: usize = 1024;

/// A list is not read twice if empty or nested lists come behind so many cells of it.
const CELLS_BEFORE_NESTED: usize = 32 * TWO_PASS_PIECES;

/// Longer lists are read twice as well if their average bytes per piece exceed this, since copying
/// then dominates.
const LARGE: usize = 256;

/// Result of reading an I/O list for its size.
enum Looked<'h> {
    Whole(Term<'h>),
    /// It does not fit into this time slice. The size if known.
    Long(Option<usize>),
}

/// Builds the binary at once if it has few pieces and bytes.
fn at_once<'h>(p: &'h Proc, t: Term<'h>) -> Result<Looked<'h>, Raised> {
    let (mut size, mut lone, mut n) = (0usize, None, 0usize);
    let most = enough(p) * 2 * JOINED;
    let mut left = most.min(TWO_PASS_PIECES);
    let mut further = most - left;
    let mut copied = 0;
    let looked = each_piece(t, most.min(CELLS_BEFORE_NESTED), |piece| {
        let bytes = byte_len(&piece)?;
        copied += if let IoListPiece::Bits(..) = piece { bytes / 32 } else { 0 };
        if bytes > 0 {
            n += 1;
            size += bytes;
            lone = if let IoListPiece::Bits(_, t) = piece { Some(t) } else { None };
        }
        left -= 1;
        if left == 0 && size > TWO_PASS_PIECES * LARGE {
            left = std::mem::take(&mut further);
        }
        if left == 0 {
            return Err(Stopped::Long);
        }
        Ok(())
    });
    let seen = match looked {
        Ok(seen) => seen,
        Err(Stopped::Long) => return Ok(Looked::Long(None)),
        Err(Stopped::BadList) => return Err(p.badarg()),
    };
    if let (Some(t), 1, SHARED..) = (lone, n, size) {
        if p.heap.off_heap_of(t).is_some_and(|(b, _, _)| b.capacity() / 2 <= size) {
            return Ok(Looked::Whole(t));
        }
    }
    // A lone binary is not copied in OTP.
    let whole = lone.is_some() && seen.cells == 1;
    let cost = if whole { 0 } else { conversion_cost(seen.steps(), size, copied) };
    if cost > enough(p) {
        return Ok(Looked::Long(Some(size)));
    }
    p.heap.bump_reductions(cost as i64);
    Ok(Looked::Whole(p.heap.gathered(size, |g| gather(t, g))))
}
fn list_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    binary_of(p, a[0])
}

fn iolist_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_bits() {
        Some(b) if b.is_binary() => Ok(a[0]),
        Some(_) => Err(p.badarg()),
        None => binary_of(p, a[0]),
    }
}

/// State of summing up the size of an I/O list.
struct Sizing<'h> {
    at: Term<'h>,
    later: Vec<Term<'h>>,
    size: usize,
}
impl SuspendedState for Sizing<'static> {
    type In<'h> = Sizing<'h>;
}

impl<'h> Sizing<'h> {
    /// Continues for `left` steps and deducts those used. True at the end of the list.
    fn run(&mut self, left: &mut usize) -> Result<bool, BadList> {
        let an_end = kvik_release::current().counts_ends_of_io_lists() as usize;
        // In registers: each step depends on the one before.
        let (mut at, mut size, mut steps) = (self.at, self.size, *left);
        let done = loop {
            if steps == 0 {
                break false;
            }
            if let Some(c) = at.as_cons() {
                steps -= 1;
                let head = c.head();
                at = c.tail();
                if let Some(i) = head.as_small() {
                    size += u8::try_from(i).map(|_| 1).map_err(|_| BadList)?;
                } else if head.as_cons().is_some() {
                    if at.is_nil() {
                        steps = steps.saturating_sub(1);
                    } else {
                        self.later.push(at);
                    }
                    at = head;
                } else if !head.is_nil() {
                    size += binary_size(head)?;
                }
                continue;
            }
            steps = steps.saturating_sub(an_end);
            if !at.is_nil() {
                size += binary_size(at)?;
            }
            match self.later.pop() {
                Some(t) => at = t,
                None => break true,
            }
        };
        (self.at, self.size, *left) = (at, size, steps);
        Ok(done)
    }
}

/// Bytes of a binary.
#[inline(always)]
fn binary_size(t: Term<'_>) -> Result<usize, BadList> {
    t.as_bits().filter(|b| b.is_binary()).map(|b| b.byte_size()).ok_or(BadList)
}

fn iolist_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let resumed = p.resumed::<Sizing<'static>>();
    let mut s = resumed.unwrap_or_else(|| Sizing { at: a[0], later: Vec::new(), size: 0 });
    let rate = kvik_release::current().cells_sized_a_reduction();
    let mut left = p.steps(rate);
    let done = s.run(&mut left).map_err(|BadList| p.badarg())?;
    if done {
        let steps = p.steps(rate) - left;
        let reductions = match kvik_release::current().counts_ends_of_io_lists() {
            true => steps.div_ceil(rate),
            false => steps / rate,
        };
        p.heap.bump_reductions(reductions as i64);
        return Ok(p.heap.unsigned(s.size as u64));
    }
    p.use_up_turn();
    Err(p.again::<Sizing<'static>>(s, Some(shown())))
}

/// Bytes per reduction when a list is built. A part of it costs as much.
const LISTED: usize = 256;
/// Bytes of a long list that are listed in a turn: a quarter of OTP's, whose turn lasts too long.
const LISTED_IN_A_TURN: usize = ENOUGH as usize * LISTED;

/// State of building a list of a binary's bytes, last byte first.
struct Listing<'h> {
    left: usize,
    tail: Term<'h>,
}
impl SuspendedState for Listing<'static> {
    type In<'h> = Listing<'h>;
}

/// A list of the first `n` bytes and `tail`, built over as many time slices as necessary.
fn byte_list<'h>(p: &'h Proc, b: Bits<'h>, n: usize, tail: Term<'h>) -> BifResult<'h> {
    let short = n < ENOUGH as usize * LISTED;
    begin(p, short && n >= p.steps(LISTED))?;
    let mut l = p.resumed::<Listing<'static>>().unwrap_or(Listing { left: n, tail });
    let steps = if short { n } else { p.steps(LISTED).min(LISTED_IN_A_TURN) };
    let now = l.left.min(steps);
    l.left -= now;
    l.tail = p.heap.bytes_with_tail(&b.slice(l.left * 8, now * 8).to_bytes(), l.tail);
    match l.left {
        0 => {
            p.heap.bump_reductions(now.div_ceil(LISTED) as i64);
            Ok(l.tail)
        }
        _ => {
            p.use_up_turn();
            Err(p.again::<Listing<'static>>(l, None))
        }
    }
}

fn binary_to_list_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?;
    byte_list(p, b, b.byte_size(), Term::NIL)
}

fn binary_to_list_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let part = || {
        let b = whole_bytes(a[0])?;
        let (start, stop) = (a[1].as_usize()?, a[2].as_usize()?);
        let size = b.bit_len() / 8;
        (start >= 1 && start <= stop && stop <= size)
            .then(|| b.slice((start - 1) * 8, (stop - start + 1) * 8))
    };
    let b = part().ok_or_else(|| p.badarg())?;
    byte_list(p, b, b.byte_size(), Term::NIL)
}

fn bitstring_to_list_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().ok_or_else(|| p.badarg())?;
    let (whole, rest) = (b.bit_len() / 8, b.bit_len() % 8);
    let mut tail = Term::NIL;
    if rest > 0 {
        let last = p.heap.sub_binary(a[0], whole * 8, rest).ok_or_else(|| p.badarg())?;
        tail = p.heap.cons(last, Term::NIL);
    }
    byte_list(p, b, whole, tail)
}

fn split_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let split = || {
        let b = a[0].as_bits()?;
        let at = a[1].as_usize()?.checked_mul(8)?;
        let left = p.heap.sub_binary(a[0], 0, at)?;
        let right = p.heap.sub_binary(a[0], at, b.bit_len().checked_sub(at)?)?;
        Some(p.heap.tuple(&[left, right]))
    };
    split().ok_or_else(|| p.badarg())
}

/// `pos` and `len` (which may be negative) as a byte range within `size`.
pub(crate) fn byte_range(pos: Term<'_>, len: Term<'_>, size: usize) -> Option<(usize, usize)> {
    let pos = pos.as_usize()?;
    let len = len.as_small()?;
    let (from, n) = if len < 0 {
        let n = usize::try_from(len.unsigned_abs()).ok()?;
        (pos.checked_sub(n)?, n)
    } else {
        (pos, usize::try_from(len).ok()?)
    };
    (pos <= size && from.checked_add(n)? <= size).then_some((from, n))
}

/// A binary; in releases before 27 also a bitstring, of which the whole bytes count.
pub(crate) fn whole_bytes(t: Term<'_>) -> Option<Bits<'_>> {
    t.as_bits().filter(|b| b.is_binary() || !kvik_release::current().rejects_bitstrings())
}

/// A part of a binary, by byte positions.
pub(crate) fn part<'h>(
    h: &'h Heap,
    bin: Term<'h>,
    pos: Term<'h>,
    len: Term<'h>,
) -> Option<Term<'h>> {
    let size = whole_bytes(bin)?.bit_len() / 8;
    let (from, n) = byte_range(pos, len, size)?;
    h.sub_binary(bin, from * 8, n * 8)
}

fn binary_part_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_tuple_n::<2>()
        .and_then(|[pos, len]| part(&p.heap, a[0], pos, len))
        .ok_or_else(|| p.badarg())
}
fn binary_part_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    part(&p.heap, a[0], a[1], a[2]).ok_or_else(|| p.badarg())
}
