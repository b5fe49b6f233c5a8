//! Module `binary`, except for its search functions (`search.rs`).

use kvik_heap::{SuspendedState, Writer};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Bits, Term, View};

use crate::iolist::{binary_of, part, whole_bytes};

pub const BIFS: &[BifEntry] = &[
    bif!("binary", "longest_common_prefix", 1, longest_common_prefix_1),
    bif!("binary", "longest_common_suffix", 1, longest_common_suffix_1),
    bif!("binary", "first", 1, first_1),
    bif!("binary", "last", 1, last_1),
    bif!("binary", "at", 2, at_2),
    bif!("binary", "part", 2, part_2),
    bif!("binary", "part", 3, part_3),
    bif!("binary", "list_to_bin", 1, list_to_bin_1),
    bif!("binary", "copy", 1, copy_1),
    bif!("binary", "copy", 2, copy_2),
    bif!("binary", "referenced_byte_size", 1, referenced_byte_size_1),
    bif!("binary", "encode_unsigned", 1, encode_unsigned_1),
    bif!("binary", "encode_unsigned", 2, encode_unsigned_2),
    bif!("binary", "decode_unsigned", 1, decode_unsigned_1),
    bif!("binary", "decode_unsigned", 2, decode_unsigned_2),
];

pub(crate) fn whole<'h>(p: &'h Proc, t: Term<'h>) -> Result<Bits<'h>, Raised> {
    t.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())
}

/// Steps per reduction, as in OTP.
const COMPARED: usize = 10;
/// Bytes of each binary compared in one step.
const BLOCK: usize = 4096;

/// State of a common prefix or suffix search: each binary in turn is compared with the first one;
/// `common` only shrinks.
struct Comparison<'h> {
    list: Term<'h>,
    first: Bits<'h>,
    /// Binaries left in this pass. The first pass checks the arguments, the second one compares.
    rest: Term<'h>,
    checked: bool,
    /// Upper bound of the result: the bytes that all binaries before `rest` have in common.
    common: usize,
    /// How many of them the current binary is known to share.
    agreed: usize,
    /// The bytes of the first binary count while the second one is compared.
    first_counted: bool,
}
impl SuspendedState for Comparison<'static> {
    type In<'h> = Comparison<'h>;
}
/// Fixed cost of a binary, in steps.
const A_BINARY: usize = 1;

impl<'h> Comparison<'h> {
    fn begin(p: &'h Proc, list: Term<'h>) -> Result<Comparison<'h>, Raised> {
        let first = whole(p, list.as_cons().ok_or_else(|| p.badarg())?.head())?;
        let common = first.byte_size();
        let (rest, checked, agreed, first_counted) = (list, false, 0, false);
        Ok(Comparison { list, first, rest, checked, common, agreed, first_counted })
    }
    /// Steps for a byte of the current binary.
    fn steps_a_byte(&self) -> usize {
        let release = kvik_release::current();
        let first = !self.first_counted && release.counts_the_binary_compared_with();
        release.steps_to_compare_a_byte() + first as usize
    }
    /// Continues for `left` steps, of which each byte of each binary takes some. Returns the length
    /// once it is known.
    fn run(
        &mut self,
        p: &'h Proc,
        suffix: bool,
        left: &mut usize,
    ) -> Result<Option<usize>, Raised> {
        while *left > 0 {
            let Some(cell) = self.rest.as_cons() else {
                match (self.rest.is_nil(), self.checked) {
                    (false, _) => return Err(p.badarg()),
                    (true, true) => {
                        return Ok(Some(self.common));
                    }
                    (true, false) => {
                        self.checked = true;
                        self.rest = self.list.as_cons().map_or(Term::NIL, |c| c.tail());
                    }
                }
                continue;
            };
            let b = whole(p, cell.head())?;
            let mut steps = A_BINARY;
            if self.checked {
                let a_byte = self.steps_a_byte();
                steps += self.compare(&b, suffix, *left / a_byte + 1) * a_byte;
            } else {
                self.common = self.common.min(b.byte_size());
            }
            if self.agreed == self.common || !self.checked {
                (self.rest, self.agreed) = (cell.tail(), 0);
                self.first_counted = self.checked;
            }
            *left = left.saturating_sub(steps);
        }
        Ok(None)
    }
    /// Compares the next block, of up to `most` bytes; returns how many bytes agree. A mismatch lowers
    /// `common` to the bytes that agree.
    fn compare(&mut self, b: &Bits<'h>, suffix: bool, most: usize) -> usize {
        let n = BLOCK.min(most).min(self.common - self.agreed);
        let block = |b: &Bits<'h>| {
            let at = if suffix { b.byte_size() - self.agreed - n } else { self.agreed };
            b.slice(at * 8, n * 8).to_bytes()
        };
        let (x, y) = (block(&self.first), block(b));
        let same = if x == y {
            n
        } else {
            let pairs = x.iter().zip(y.iter());
            match suffix {
                false => pairs.take_while(|(x, y)| x == y).count(),
                true => pairs.rev().take_while(|(x, y)| x == y).count(),
            }
        };
        self.agreed += same;
        if same < n {
            self.common = self.agreed;
        }
        same
    }
}

fn common<'h>(p: &'h Proc, t: Term<'h>, suffix: bool) -> BifResult<'h> {
    let mut c = match p.resumed::<Comparison<'static>>() {
        Some(c) => c,
        None => Comparison::begin(p, t)?,
    };
    let mut left = p.steps(COMPARED);
    let done = c.run(p, suffix, &mut left)?;
    p.steps_left(left, COMPARED);
    match done {
        Some(n) => Ok(p.heap.unsigned(n as u64)),
        None => Err(p.again::<Comparison<'static>>(c, None)),
    }
}
fn longest_common_prefix_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    common(p, a[0], false)
}
fn longest_common_suffix_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    common(p, a[0], true)
}

fn byte_at<'h>(p: &'h Proc, t: Term<'h>, i: impl Fn(usize) -> Option<usize>) -> BifResult<'h> {
    let b = whole(p, t)?;
    i(b.byte_size())
        .filter(|i| *i < b.byte_size())
        .map(|i| Term::int(b.byte(i) as i32))
        .ok_or_else(|| p.badarg())
}
fn first_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |_| Some(0))
}
fn last_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |n| n.checked_sub(1))
}
fn at_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    byte_at(p, a[0], |_| a[1].as_usize())
}

fn part_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_tuple_n::<2>()
        .and_then(|[pos, len]| part(&p.heap, a[0], pos, len))
        .ok_or_else(|| p.badarg())
}
fn part_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    part(&p.heap, a[0], a[1], a[2]).ok_or_else(|| p.badarg())
}

fn list_to_bin_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    binary_of(p, a[0])
}

fn copies<'h>(p: &'h Proc, t: Term<'h>, n: usize) -> BifResult<'h> {
    if n == 0 && whole_bytes(t).is_some() {
        // OTP returns here without checking the other arguments, too.
        return Ok(p.heap.binary(b""));
    }
    let b = whole(p, t)?;
    if let Some(c) = p.resumed::<Copying>() {
        return c.run(p, b);
    }
    let len = b.byte_size().saturating_mul(n);
    if len > AT_ONCE && kvik_heap::limit::fits(len) {
        return Copying::new(b, n).run(p, b);
    }
    let bytes = b.to_bytes();
    let len = bytes
        .len()
        .checked_mul(n)
        .filter(|n| kvik_heap::limit::fits(*n))
        .ok_or_else(|| p.system_limit())?;
    p.heap.bump_reductions((len / kvik_release::current().bytes_copied_a_reduction()) as i64);
    // Copies of an empty binary cost nothing, whatever their number.
    let n = if len == 0 { 0 } else { n };
    Ok(p.heap.gathered(len, |out| (0..n).for_each(|_| out.push(&bytes))))
}

/// Copies up to this many bytes are made in one step.
const AT_ONCE: usize = 1 << 18;
/// State of `binary:copy/2`: a short binary is first repeated into a larger block.
struct Copying {
    out: Writer,
    len: usize,
    several: Vec<u8>,
}
impl SuspendedState for Copying {
    type In<'h> = Copying;
}

impl Copying {
    fn new(b: Bits<'_>, n: usize) -> Copying {
        const SHORT: usize = 4096;
        let len = b.byte_size() * n;
        let several = match b.byte_size() {
            short @ 1..SHORT => b.to_bytes().repeat((SHORT / short).min(n)),
            _ => Vec::new(),
        };
        Copying { out: Writer::with_room(len), len, several }
    }
    /// Continues for a time slice.
    fn run<'h>(mut self, p: &'h Proc, b: Bits<'_>) -> BifResult<'h> {
        let a_reduction = kvik_release::current().bytes_copied_a_reduction();
        let mut left = p.steps(a_reduction);
        while left > 0 && self.out.len() < self.len {
            let size = if self.several.is_empty() { b.byte_size() } else { self.several.len() };
            let at = self.out.len() % size;
            let n = (size - at).min(left).min(self.len - self.out.len());
            match self.several.is_empty() {
                true => self.out.push(&b.slice(at * 8, n * 8).to_bytes()),
                false => self.out.push(&self.several[at..at + n]),
            }
            left -= n;
        }
        p.steps_left(left, a_reduction);
        match self.out.len() < self.len {
            true => Err(p.again::<Copying>(self, None)),
            false => Ok(self.out.finish(&p.heap)),
        }
    }
}

fn copy_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    copies(p, a[0], 1)
}
fn copy_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[1].as_usize().ok_or_else(|| p.badarg())?;
    copies(p, a[0], n)
}

fn referenced_byte_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().ok_or_else(|| p.badarg())?;
    let n = match kvik_release::current().number {
        // From OTP 27 on a bitstring refers to nothing in a heap. 27 then counts its bits.
        27 if !p.heap.is_off_heap(a[0]) => b.bit_len(),
        28.. if !p.heap.is_off_heap(a[0]) => b.bit_len() / 8,
        _ => p.heap.referenced_bytes(a[0]).unwrap_or(b.byte_size()),
    };
    Ok(p.heap.unsigned(n as u64))
}

fn little(p: &Proc, t: Term<'_>) -> Result<bool, Raised> {
    match t.as_atom() {
        Some(am::little) => Ok(true),
        Some(am::big) => Ok(false),
        _ => Err(p.badarg()),
    }
}
fn encode<'h>(p: &'h Proc, t: Term<'h>, little: bool) -> BifResult<'h> {
    let digits = match t.view() {
        View::Small(i) => vec![u64::try_from(i).map_err(|_| p.badarg())?],
        View::Big(b) if !b.is_negative() => b.digits().to_vec(),
        _ => return Err(p.badarg()),
    };
    let mut bytes: Vec<u8> = digits.iter().flat_map(|d| d.to_le_bytes()).collect();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    if !little {
        bytes.reverse();
    }
    Ok(p.heap.binary(&bytes))
}
fn encode_unsigned_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    encode(p, a[0], false)
}
fn encode_unsigned_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    encode(p, a[0], little(p, a[1])?)
}
fn decode<'h>(p: &'h Proc, t: Term<'h>, little: bool) -> BifResult<'h> {
    let mut bytes = whole(p, t)?.to_bytes().into_owned();
    if !little {
        bytes.reverse();
    }
    let digits: Vec<u64> =
        bytes.chunks(8).map(|c| c.iter().rev().fold(0, |d, b| d << 8 | *b as u64)).collect();
    Ok(p.heap.big(false, &digits))
}
fn decode_unsigned_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    decode(p, a[0], false)
}
fn decode_unsigned_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    decode(p, a[0], little(p, a[1])?)
}
