//! The bytes or bits of an I/O list, joined over as many time slices as necessary, and
//! `list_to_bitstring/1`.

use std::marker::PhantomData;

use kvik_heap::{Heap, SuspendedState, Writer};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{Bits, Term};

use crate::iolist::{begin, conversion_cost, enough, shown, BadList, JOINED};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "list_to_bitstring", 1, list_to_bitstring_1)];

/// Bytes of a binary that are copied in a step.
const BYTES_A_STEP: usize = 64;
/// OTP's unit for the bytes of binaries that it copies.
const BYTES_A_COPY: usize = 32;

/// What the pieces of a list are written to.
pub(crate) trait Output: Send + 'static {
    /// Whether the list may hold such a bit string.
    fn takes(b: &Bits<'_>) -> bool;
    fn byte(&mut self, b: u8);
    fn bytes(&mut self, bytes: &[u8]);
    fn bits(&mut self, b: Bits<'_>);
    /// Makes room for so many bytes, so that what is written need not move again and again.
    fn reserve(&mut self, bytes: usize);
    fn byte_len(&self) -> usize;
}

impl Output for Writer {
    #[inline(always)]
    fn takes(b: &Bits<'_>) -> bool {
        b.is_binary()
    }
    #[inline(always)]
    fn byte(&mut self, b: u8) {
        self.push_all([b]);
    }
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }
    fn bits(&mut self, b: Bits<'_>) {
        self.push(&b.to_bytes());
    }
    fn reserve(&mut self, bytes: usize) {
        self.room(bytes);
    }
    fn byte_len(&self) -> usize {
        self.len()
    }
}

impl Output for Vec<u8> {
    fn takes(b: &Bits<'_>) -> bool {
        b.is_binary()
    }
    fn byte(&mut self, b: u8) {
        self.push(b);
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    fn bits(&mut self, b: Bits<'_>) {
        self.extend_from_slice(&b.to_bytes());
    }
    fn reserve(&mut self, bytes: usize) {
        Vec::reserve(self, bytes);
    }
    fn byte_len(&self) -> usize {
        self.len()
    }
}

/// Writes bits: those of the last byte that are not written yet are zero.
#[derive(Default)]
pub(crate) struct BitWriter {
    out: Writer,
    bit_len: usize,
}

impl BitWriter {
    /// Appends the first `n` bits of the bytes, behind which there are zeros.
    fn append(&mut self, bytes: &[u8], n: usize) {
        let shift = self.bit_len % 8;
        self.bit_len += n;
        if shift == 0 {
            return self.out.push(bytes);
        }
        let at = self.out.len().saturating_sub(1);
        let mut last = self.out.bytes().get(at).copied().unwrap_or(0);
        self.out.truncate(at);
        let mut shifted = [0; 256];
        for part in bytes.chunks(shifted.len()) {
            for (to, from) in shifted.iter_mut().zip(part) {
                *to = last | from >> shift;
                last = from << (8 - shift);
            }
            self.out.push(&shifted[..part.len()]);
        }
        self.out.push_all([last]);
        self.out.truncate(self.bit_len.div_ceil(8));
    }
    fn finish(self, heap: &Heap) -> Term<'_> {
        let whole = self.out.finish(heap);
        match self.bit_len.is_multiple_of(8) {
            true => whole,
            false => heap.sub_binary(whole, 0, self.bit_len).unwrap_or(whole),
        }
    }
}

impl Output for BitWriter {
    fn takes(_: &Bits<'_>) -> bool {
        true
    }
    fn byte(&mut self, b: u8) {
        self.append(&[b], 8);
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.append(bytes, bytes.len() * 8);
    }
    fn bits(&mut self, b: Bits<'_>) {
        self.append(&b.to_bytes(), b.bit_len());
    }
    fn reserve(&mut self, bytes: usize) {
        self.out.room(bytes + 1);
    }
    fn byte_len(&self) -> usize {
        self.out.len()
    }
}

/// State of joining the pieces of an I/O list.
pub(crate) struct Joining<'h, O> {
    at: Term<'h>,
    later: Vec<Term<'h>>,
    /// A long binary that is partly copied, and the number of bytes copied.
    part: Option<(Term<'h>, usize)>,
    out: O,
    /// Whether this is the first turn, what it took for bytes in steps, and in OTP's units.
    first: bool,
    steps_for_bytes: usize,
    copied: usize,
}
pub(crate) struct JoiningOf<O>(PhantomData<O>);
impl<O: Output> SuspendedState for JoiningOf<O> {
    type In<'h> = Joining<'h, O>;
}

impl<'h, O: Output> Joining<'h, O> {
    pub(crate) fn new(t: Term<'h>, out: O) -> Joining<'h, O> {
        let later = Vec::new();
        Joining { at: t, later, part: None, out, first: true, steps_for_bytes: 0, copied: 0 }
    }
    /// Continues for so many steps; the output with the reductions for what this turn did. They are
    /// all that are left unless the list ends.
    pub(crate) fn go_on(mut self, p: &'h Proc, most: usize) -> Result<(O, usize), Raised> {
        let mut left = most;
        if !self.run(&mut left).map_err(|BadList| p.badarg())? {
            self.first = false;
            p.use_up_turn_to_trap();
            return Err(p.again::<JoiningOf<O>>(self, Some(shown())));
        }
        let steps = most - left;
        let cost = match self.first {
            true => conversion_cost(
                steps.saturating_sub(self.steps_for_bytes),
                self.out.byte_len(),
                self.copied,
            ),
            false => steps / JOINED,
        };
        Ok((self.out, cost))
    }
    /// Continues for `left` steps and deducts those used. True when the list ends.
    fn run(&mut self, left: &mut usize) -> Result<bool, BadList> {
        if let Some((t, from)) = self.part.take() {
            self.bits(t, from, left)?;
        }
        let an_end = kvik_release::current().counts_ends_of_io_lists() as usize;
        // In a register: each step depends on the one before.
        let mut at = self.at;
        let done = loop {
            if *left == 0 {
                break false;
            }
            if let Some(c) = at.as_cons() {
                *left -= 1;
                let head = c.head();
                at = c.tail();
                if let Some(i) = head.as_small() {
                    self.out.byte(u8::try_from(i).map_err(|_| BadList)?);
                } else if head.as_cons().is_some() {
                    if at.is_nil() {
                        *left = left.saturating_sub(1);
                    } else {
                        self.later.push(at);
                    }
                    at = head;
                } else if !head.is_nil() {
                    self.bits(head, 0, left)?;
                }
                continue;
            }
            *left = left.saturating_sub(an_end);
            let tail = std::mem::replace(&mut at, Term::NIL);
            if !tail.is_nil() {
                self.bits(tail, 0, left)?;
            }
            match self.later.pop() {
                Some(t) => at = t,
                None if self.part.is_some() => {}
                None => break true,
            }
        };
        self.at = at;
        Ok(done)
    }
    /// Copies a binary from a byte offset, as far as the steps allow.
    #[inline]
    fn bits(&mut self, t: Term<'h>, from: usize, left: &mut usize) -> Result<(), BadList> {
        let b = t.as_bits().filter(O::takes).ok_or(BadList)?;
        let short = b.as_bytes().filter(|bytes| from == 0 && bytes.len() < BYTES_A_STEP);
        if let Some(bytes) = short {
            self.copied += bytes.len() / BYTES_A_COPY;
            self.out.bytes(bytes);
            return Ok(());
        }
        let rest = b.byte_size() - from;
        let n = rest.min(left.saturating_add(1).saturating_mul(BYTES_A_STEP));
        if from == 0 && n < rest {
            self.out.reserve(rest);
        }
        match b.as_bytes() {
            Some(bytes) => self.out.bytes(&bytes[from..from + n]),
            None => self.out.bits(b.slice(from * 8, n * 8)),
        }
        let steps = (n / BYTES_A_STEP).min(*left);
        *left -= steps;
        self.steps_for_bytes += steps;
        self.copied += n / BYTES_A_COPY;
        self.part = (n < rest).then_some((t, from + n));
        Ok(())
    }
}

fn list_to_bitstring_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    let waits = kvik_release::current().puts_off_joining_bits();
    begin(p, waits)?;
    let lone = a[0].as_cons().filter(|c| c.tail().is_nil() && c.head().as_bits().is_some());
    if let Some(c) = lone {
        return Ok(c.head());
    }
    let resumed = p.resumed::<JoiningOf<BitWriter>>();
    let j = resumed.unwrap_or_else(|| Joining::new(a[0], BitWriter::default()));
    let most = if waits { enough(p) * JOINED } else { p.steps(JOINED) };
    let (out, cost) = j.go_on(p, most)?;
    p.heap.bump_reductions(cost as i64);
    Ok(out.finish(&p.heap))
}
