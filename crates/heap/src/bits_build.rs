//! Building bit strings, for native code: `bs_create_bin` in one call.
//!
//! Appending: the first append to a binary copies it into storage with spare room, held by a
//! `REFC_BIN` with the flag `WRITABLE`, to which a single sub-binary with the same flag refers. The
//! next append to that sub-binary writes behind it, unless the storage is shared.

use std::sync::atomic::Ordering::Relaxed;

use kvik_term::word::*;
use kvik_term::{am, Atom, Term};

use crate::binary::{BinRef, Binary};
use crate::bits::{copy_bits, is_little, SPARE, WRITABLE};
use crate::bits_segment::{char_of, is_char};
pub use crate::bits_segment::{
    f64_to_half, segment_size, utf16_len, utf8_len, BsFail, Seg, SegKind, MAX_BITS,
};
use crate::limit::fits;
use crate::Heap;

/// Maximum size of storage that is allocated only because a binary may grow to it.
const MAX_GUESS: usize = 1 << 20;

/// Where the next bits go. Two words, so that native code can keep it in its scratch area.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct Build {
    pub base: *mut u8,
    /// In bits.
    pub pos: usize,
}

impl Heap {
    /// Executes a whole `bs_create_bin`: `args[i]` holds value and size of segment `i`.
    ///
    /// # Safety
    /// The words are terms of this heap (a match context will not do); strings have their bytes.
    pub unsafe fn bs_create_bin(&self, segs: &[Seg], args: &[[u64; 2]]) -> Result<u64, BsFail> {
        let mut total = 0usize;
        for (s, [value, size]) in segs.iter().zip(args) {
            total = total.saturating_add(s.bits(*value, *size)?);
            if !fits(total / 8) {
                return Err(s.limit(*size));
            }
        }
        // SAFETY: as the caller says.
        unsafe {
            let (result, mut b) = match (segs.first(), args.first()) {
                (Some(s), Some([bin, _])) if s.is_append() => match s.kind {
                    SegKind::Append => self.bs_append(*bin, total, s.unit as usize),
                    _ => self.bs_private_append(*bin, total, s.unit as usize),
                }
                .map_err(|info| match info {
                    am::size => s.limit(*bin),
                    _ => s.fail(info, *bin),
                })?,
                (s, a) => match (self.bs_init_bits(total), s, a) {
                    (Some(new), ..) => new,
                    (None, Some(s), Some([_, size])) => return Err(s.limit(*size)),
                    (None, ..) => return Err(BsFail::no_memory()),
                },
            };
            // A binary that grows in place may also be the value of a later segment, which is then
            // longer than when the room was computed.
            let grows = segs.first().is_some_and(|s| s.kind == SegKind::PrivateAppend);
            let end = b.pos + total;
            let mut copied = 0;
            for (s, [value, size]) in segs.iter().zip(args) {
                let from = b.pos;
                if grows && s.bits(*value, *size)? > end - b.pos {
                    return Err(s.fail(am::short, *value));
                }
                b.put(s, *value, *size)?;
                if s.kind == SegKind::Binary {
                    copied += (b.pos - from) >> 13;
                }
            }
            self.bump_reductions(copied as i64);
            Ok(result)
        }
    }

    /// A new bit string of that many bits, to be filled. `None` if there is no memory for it.
    ///
    /// # Safety
    /// All bits are written before anything reads it.
    pub unsafe fn bs_init_bits(&self, bits: usize) -> Option<(u64, Build)> {
        let bytes = bits.div_ceil(8);
        // SAFETY: `alloc` gives the words each object has.
        unsafe {
            let (word, base) = if bytes <= HEAP_BIN_LIMIT {
                let words = 1 + bytes.div_ceil(8);
                let q = self.alloc(1 + words);
                *q = header(HEAP_BIN, words);
                *q.add(1) = bytes as u64;
                (q as u64 + TAG_BOXED, q.add(2).cast::<u8>())
            } else {
                let b = BinRef::try_allocate(bytes)?;
                b.header().used.store(bytes, Relaxed);
                let base = b.data();
                (self.refc_binary(b, bytes).word(), base)
            };
            let word = match bits % 8 {
                0 => word,
                _ => self.sub_bin_word(word, bits, 0),
            };
            Some((word, Build { base, pos: 0 }))
        }
    }

    fn sub_bin_word(&self, orig: u64, bits: usize, flags: i64) -> u64 {
        let q = self.alloc(SUB_BIN_WORDS);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *q = header(SUB_BIN, SUB_BIN_WORDS - 1);
            *q.add(1) = orig;
            *q.add(2) = small(0);
            *q.add(3) = small(bits as i64);
            *q.add(4) = small(flags);
        }
        q as u64 + TAG_BOXED
    }

    /// An empty binary that can be appended to, with room for `size` bytes (a word) unless that is
    /// very much: the number is an estimate, and the binary grows.
    pub fn bs_init_writable(&self, size: u64) -> u64 {
        let n = match is_small(size) {
            true => usize::try_from(small_value(size)).unwrap_or(1024),
            false => 1024,
        };
        self.writable(BinRef::allocate(n.min(MAX_GUESS), 0), 0).0
    }
    /// A writable sub-binary of the first `bits` bits of the storage.
    fn writable(&self, b: BinRef, bits: usize) -> (u64, *mut u8) {
        let used = bits.div_ceil(8);
        b.header().used.store(used, Relaxed);
        let base = b.data();
        let refc = self.refc_binary(b, used).word();
        // SAFETY: a REFC_BIN of ours.
        unsafe { *((refc - TAG_BOXED) as *mut u64).add(5) = WRITABLE | SPARE };
        (self.sub_bin_word(refc, bits, 1), base)
    }

    /// The bit string `bin` with room for `more` bits behind it. The error says what is wrong with
    /// `bin`: `type`, `unit` or `size` (a system limit).
    ///
    /// # Safety
    /// `bin` is a term of this heap; the bits are written before anything reads the result.
    pub unsafe fn bs_append(
        &self,
        bin: u64,
        more: usize,
        unit: usize,
    ) -> Result<(u64, Build), Atom> {
        // SAFETY: as the caller says.
        let t = unsafe { Term::from_word(bin) };
        let bits = t.as_bits().ok_or(am::type_)?;
        let len = bits.bit_len();
        if unit > 1 && !len.is_multiple_of(unit) {
            return Err(am::unit);
        }
        let total = len.saturating_add(more);
        if !fits(total / 8) {
            return Err(am::size);
        }
        let nothing = std::ptr::null_mut();
        if more == 0 {
            return Ok((bin, Build { base: nothing, pos: len }));
        }
        // SAFETY: as the caller says.
        if let Some((base, refc)) = unsafe { self.grow_in_place(bin, total) } {
            // SAFETY: `grow_in_place` says it is a writable sub-binary; the right moves on.
            unsafe { *((bin - TAG_BOXED) as *mut u64).add(4) = small(0) };
            return Ok((self.sub_bin_word(refc, total, 1), Build { base, pos: len }));
        }
        let used = total.div_ceil(8);
        let room =
            BinRef::try_allocate(spare(used).max(256)).or_else(|| BinRef::try_allocate(used));
        let (word, base) = self.writable(room.ok_or(am::size)?, total);
        // SAFETY: the new storage has room for both.
        unsafe {
            let src = bits.storage().as_ptr();
            copy_bits(base, 0, src, bits.bit_offset() as usize, len);
        }
        self.bump_reductions((len >> 13) as i64);
        Ok((word, Build { base, pos: len }))
    }

    /// The same for a binary to which nothing else refers: it grows in place.
    ///
    /// # Safety
    /// As for `bs_append`.
    pub unsafe fn bs_private_append(
        &self,
        bin: u64,
        more: usize,
        unit: usize,
    ) -> Result<(u64, Build), Atom> {
        // SAFETY: as the caller says.
        unsafe {
            let len = Term::from_word(bin).as_bits().ok_or(am::type_)?.bit_len();
            let total = len.saturating_add(more);
            if !fits(total / 8) {
                return Err(am::size);
            }
            match self.grow_in_place(bin, total) {
                Some((base, _)) => {
                    *((bin - TAG_BOXED) as *mut u64).add(3) = small(total as i64);
                    Ok((bin, Build { base, pos: len }))
                }
                None => self.bs_append(bin, more, unit),
            }
        }
    }

    /// Extends the storage of a writable sub-binary to `total` bits. Returns its first byte and its
    /// `REFC_BIN`; `None` if it is not writable.
    ///
    /// # Safety
    /// `bin` is a term of this heap that is not shorter than what it will be.
    unsafe fn grow_in_place(&self, bin: u64, total: usize) -> Option<(*mut u8, u64)> {
        // SAFETY: the layouts of `word`; a writable sub-binary is not a literal, its original is a
        // REFC_BIN of this heap.
        unsafe {
            let p = (bin - TAG_BOXED) as *mut u64;
            if header_subtag(*p) != SUB_BIN || *p.add(4) != small(1) {
                return None;
            }
            let q = (*p.add(1) - TAG_BOXED) as *mut u64;
            if header_subtag(*q) != REFC_BIN || *q.add(5) & WRITABLE == 0 {
                return None;
            }
            let mut b = BinRef::from_raw(*q.add(3) as *mut Binary);
            let used = total.div_ceil(8);
            if b.refs() != 1 {
                *q.add(3) = b.into_raw() as u64;
                return None;
            }
            if used > b.capacity() {
                b = b.grow(spare(used)).unwrap_or_else(|same| same);
                let a_reduction = kvik_release::current().bytes_grown_a_reduction();
                self.bump_reductions((used / a_reduction) as i64);
            }
            b.header().used.store(used, Relaxed);
            let (cap, base) = (b.capacity(), b.data());
            *q.add(4) = base as u64;
            *q.add(3) = b.into_raw() as u64;
            if used > cap {
                return None;
            }
            self.count_off_heap(used.saturating_sub(*q.add(1) as usize));
            *q.add(1) = used as u64;
            Some((base, *p.add(1)))
        }
    }
}

/// Capacity with room for later appends: twice the size, beyond 16 MB a fifth more.
fn spare(bytes: usize) -> usize {
    if bytes > 1 << 24 {
        bytes + bytes / 5
    } else {
        bytes * 2
    }
}

impl Build {
    /// # Safety
    /// There is room for the segment's bits behind `pos`; the words are live terms. (So too below:
    /// each `put` writes as many bits as the size said and moves on.)
    unsafe fn put(&mut self, s: &Seg, value: u64, size: u64) -> Result<(), BsFail> {
        // SAFETY: as the caller says.
        unsafe {
            let ok = match s.kind {
                SegKind::Append | SegKind::PrivateAppend => true,
                SegKind::String => {
                    self.put_bits(s.string, 0, s.bits(value, size)?);
                    true
                }
                SegKind::Utf8 => self.put_utf8(value),
                SegKind::Utf16 => self.put_utf16(value, s.flags),
                SegKind::Utf32 => self.put_integer(value, 32, s.flags),
                SegKind::Integer => self.put_integer(value, s.bits(value, size)?, s.flags),
                SegKind::Float => {
                    let n = s.bits(value, size)?;
                    return self.put_float(value, n, s.flags).map_err(|info| match info {
                        am::invalid => s.fail(info, small(n as i64)),
                        _ => s.fail(info, value),
                    });
                }
                SegKind::Binary if size == am::all.word() => {
                    return match self.put_binary_all(value, s.unit as usize) {
                        true => Ok(()),
                        false => Err(s.fail(am::unit, value)),
                    }
                }
                SegKind::Binary => {
                    let n = s.bits(value, size)?;
                    return match self.put_binary(value, n) {
                        true => Ok(()),
                        false if Term::from_word(value).as_bits().is_some() => {
                            Err(s.fail(am::short, value))
                        }
                        false => Err(s.fail(am::type_, value)),
                    };
                }
            };
            match ok {
                true => Ok(()),
                false => Err(s.fail(am::type_, value)),
            }
        }
    }

    /// # Safety
    /// As for `put`; `src` has the bits.
    pub unsafe fn put_bits(&mut self, src: *const u8, from: usize, n: usize) {
        // SAFETY: as the caller says.
        unsafe { copy_bits(self.base, self.pos, src, from, n) };
        self.pos += n;
    }

    /// Writes the first `n` bits of a bit string; false if it is none, or shorter.
    ///
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_binary(&mut self, value: u64, n: usize) -> bool {
        // SAFETY: as the caller says.
        unsafe {
            match Term::from_word(value).as_bits() {
                Some(b) if b.bit_len() >= n => {
                    self.put_bits(b.storage().as_ptr(), b.bit_offset() as usize, n);
                    true
                }
                _ => false,
            }
        }
    }
    /// Writes all of a bit string, whose length must be a multiple of `unit` bits.
    ///
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_binary_all(&mut self, value: u64, unit: usize) -> bool {
        // SAFETY: as the caller says.
        unsafe {
            match Term::from_word(value).as_bits() {
                Some(b) if b.bit_len().is_multiple_of(unit.max(1)) => {
                    self.put_binary(value, b.bit_len())
                }
                _ => false,
            }
        }
    }

    /// Writes the lowest `n` bits of an integer; false if it is none.
    ///
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_integer(&mut self, value: u64, n: usize, flags: u32) -> bool {
        // SAFETY: as the caller says.
        unsafe {
            if is_small(value) {
                let v = small_value(value);
                if n <= 64 && (n <= 8 || !is_little(flags)) {
                    let bytes = if n == 0 { 0 } else { (v as u64) << (64 - n) }.to_be_bytes();
                    self.put_bits(bytes.as_ptr(), 0, n);
                } else {
                    let fill = if v < 0 { !0 } else { 0 };
                    self.put_number(&[v as u64], fill, n, flags);
                }
                return true;
            }
            let Some(kvik_term::View::Big(big)) = Some(Term::from_word(value).view()) else {
                return false;
            };
            if !big.is_negative() {
                self.put_number(big.digits(), 0, n, flags);
                return true;
            }
            let mut carry = true;
            let digits: Vec<u64> = big
                .digits()
                .iter()
                .map(|d| {
                    let (d, c) = (!d).overflowing_add(carry as u64);
                    carry = c;
                    d
                })
                .collect();
            self.put_number(&digits, !0, n, flags);
            true
        }
    }
    /// Writes the lowest `n` bits of a number in two's complement, with `fill` above its digits.
    ///
    /// # Safety
    /// As for `put`.
    unsafe fn put_number(&mut self, digits: &[u64], fill: u64, n: usize, flags: u32) {
        let words = n.div_ceil(64);
        let digit = |i: usize| digits.get(i).copied().unwrap_or(fill);
        let (mut few, mut many) = ([0; 64], Vec::new());
        let bytes = match few.get_mut(..8 * words) {
            Some(few) => few,
            None => {
                many.resize(8 * words, 0);
                &mut many[..]
            }
        };
        if is_little(flags) {
            for (i, to) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
                *to = digit(i).to_le_bytes();
            }
            // The bits of a last part of a byte are its highest.
            if let (1.., Some(last)) = (n % 8, bytes.get_mut(n / 8)) {
                *last <<= 8 - n % 8;
            }
            // SAFETY: as the caller says.
            unsafe { self.put_bits(bytes.as_ptr(), 0, n) };
        } else {
            for (i, to) in bytes.as_chunks_mut().0.iter_mut().rev().enumerate() {
                *to = digit(i).to_be_bytes();
            }
            // SAFETY: as the caller says.
            unsafe { self.put_bits(bytes.as_ptr(), 64 * words - n, n) };
        }
    }

    /// Writes a float (or integer) in `n` bits. The error says what is wrong: `invalid` size,
    /// `no_float` for an integer beyond a float's range, `type`.
    ///
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_float(&mut self, value: u64, n: usize, flags: u32) -> Result<(), Atom> {
        use kvik_term::View;
        if !matches!(n, 16 | 32 | 64) {
            return Err(am::invalid);
        }
        // SAFETY: a live term.
        let f = match unsafe { Term::from_word(value) }.view() {
            View::Float(f) => f,
            View::Small(i) => i as f64,
            View::Big(b) => b.to_f64().ok_or(am::no_float)?,
            _ => return Err(am::type_),
        };
        let mut bytes = match n {
            16 => (f64_to_half(f) as u64) << 48,
            32 => ((f as f32).to_bits() as u64) << 32,
            _ => f.to_bits(),
        }
        .to_be_bytes();
        if is_little(flags) {
            bytes[..n / 8].reverse();
        }
        // SAFETY: as the caller says.
        unsafe { self.put_bits(bytes.as_ptr(), 0, n) };
        Ok(())
    }

    /// # Safety
    /// As for `put`.
    pub unsafe fn put_utf8(&mut self, value: u64) -> bool {
        let Some(c) = char_of(value) else {
            return false;
        };
        let mut buf = [0; 4];
        let n = c.encode_utf8(&mut buf).len() * 8;
        // SAFETY: as the caller says.
        unsafe { self.put_bits(buf.as_ptr(), 0, n) };
        true
    }
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_utf16(&mut self, value: u64, flags: u32) -> bool {
        let Some(c) = char_of(value) else {
            return false;
        };
        let mut buf = [0; 2];
        for u in c.encode_utf16(&mut buf) {
            let b = match is_little(flags) {
                true => u.to_le_bytes(),
                false => u.to_be_bytes(),
            };
            // SAFETY: as the caller says.
            unsafe { self.put_bits(b.as_ptr(), 0, 16) };
        }
        true
    }
    /// Writes a character in 32 bits; false if it is none.
    ///
    /// # Safety
    /// As for `put`.
    pub unsafe fn put_utf32(&mut self, value: u64, flags: u32) -> bool {
        // SAFETY: as the caller says.
        is_char(value) && unsafe { self.put_integer(value, 32, flags) }
    }
}
