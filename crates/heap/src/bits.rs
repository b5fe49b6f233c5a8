//! Matching bit strings, for native code: match contexts and what the `bs_get_*`, `bs_skip_*`,
//! `bs_test_*` and `bs_match_string` instructions read through them.
//!
//! A context (layout in `term::word`) keeps a pointer to the first byte of the storage, so that
//! storage must not move while a context exists: making one clears a binary's flag for growing in
//! place (`REFC_BIN`'s flags), and the next append copies it.

use kvik_term::word::*;
use kvik_term::Term;

use crate::Heap;

/// Flags of a segment, as the compiler writes them.
pub const LITTLE: u32 = 2;
pub const SIGNED: u32 = 4;
/// The machine's byte order, which is little-endian here.
pub const NATIVE: u32 = 16;

/// Flag of a `REFC_BIN`: its writable sub-binary may append to its storage.
pub const WRITABLE: u64 = 1;
/// Flag of a `REFC_BIN` that was made by appending: the storage may have room that copies do not need.
pub const SPARE: u64 = 2;

pub(crate) fn is_little(flags: u32) -> bool {
    flags & (LITTLE | NATIVE) != 0
}

/// `n` (at most 64) bits from bit `pos` on, most significant first.
///
/// # Safety
/// `base` points to storage that has these bits.
#[inline]
pub unsafe fn read_bits(base: *const u8, pos: usize, n: usize) -> u64 {
    if n == 0 {
        return 0;
    }
    let (first, skip) = (pos / 8, pos % 8);
    let last = (pos + n - 1) / 8;
    // SAFETY: bytes first ..= last hold the bits asked for.
    unsafe {
        let mut w = *base.add(first) as u128 & (0xFF >> skip);
        for i in first + 1..=last {
            w = w << 8 | *base.add(i) as u128;
        }
        (w >> (7 - (pos + n - 1) % 8)) as u64
    }
}

/// Copies `n` bits; bits of the last byte written that come after them become zero, bits before
/// the first are kept.
///
/// # Safety
/// `src` has the bits, `dst` has room for them, and they do not overlap.
pub unsafe fn copy_bits(dst: *mut u8, dpos: usize, src: *const u8, spos: usize, n: usize) {
    if n == 0 {
        return;
    }
    let (mut d, mut s, mut left) = (dpos, spos, n);
    // SAFETY: as the caller says; `d` and `s` stay below the ends.
    unsafe {
        let skip = d % 8;
        if skip != 0 && left > 0 {
            let k = left.min(8 - skip);
            let b = (read_bits(src, s, k) << (8 - skip - k)) as u8;
            let p = dst.add(d / 8);
            *p = *p & !(0xFF >> skip) as u8 | b;
            d += k;
            s += k;
            left -= k;
        }
        let bytes = left / 8;
        if s.is_multiple_of(8) {
            std::ptr::copy_nonoverlapping(src.add(s / 8), dst.add(d / 8), bytes);
        } else {
            let (from, to, skip) = (src.add(s / 8), dst.add(d / 8), s % 8);
            for i in 0..bytes {
                *to.add(i) = *from.add(i) << skip | *from.add(i + 1) >> (8 - skip);
            }
        }
        let rest = left % 8;
        if rest > 0 {
            let b = read_bits(src, s + bytes * 8, rest);
            *dst.add(d / 8 + bytes) = (b << (8 - rest)) as u8;
        }
    }
}

/// A match context's fields.
#[repr(C)]
struct Ctx {
    header: u64,
    orig: u64,
    base: *const u8,
    pos: usize,
    end: usize,
}

/// # Safety
/// `w` is a match context.
#[inline(always)]
unsafe fn ctx<'a>(w: u64) -> &'a mut Ctx {
    // SAFETY: as the caller says; the layout is `term::word`'s.
    unsafe { &mut *((w - TAG_BOXED) as *mut Ctx) }
}

impl Ctx {
    #[inline(always)]
    fn left(&self) -> usize {
        self.end - self.pos
    }
    /// The next bits, at most 64, without advancing.
    #[inline(always)]
    fn peek(&self, n: usize) -> u64 {
        debug_assert!(n <= self.left() && n <= 64);
        // SAFETY: the storage reaches to `end`.
        unsafe { read_bits(self.base, self.pos, n) }
    }
    /// The next 8·k bits as bytes.
    fn peek_bytes<const K: usize>(&self) -> Option<[u8; K]> {
        if self.left() < 8 * K {
            return None;
        }
        let w = self.peek(8 * K) << (64 - 8 * K);
        let mut out = [0; K];
        out.copy_from_slice(&w.to_be_bytes()[..K]);
        Some(out)
    }
}

/// Bits of a segment of `size * unit`; `None` if that is no valid size (the match fails).
pub fn segment_bits(size: u64, unit: u32) -> Option<usize> {
    if !is_small(size) {
        return None;
    }
    usize::try_from(small_value(size)).ok()?.checked_mul(unit as usize)
}

/// The rest is for native code: contexts and terms are words, and `NONE` means that a match fails.
impl Heap {
    /// A context for matching `w` from its start; `w` itself if it is a context; `NONE` if it is no
    /// bit string.
    ///
    /// # Safety
    /// `w` is a term of this heap or a match context in it.
    pub unsafe fn bs_start_match(&self, w: u64) -> u64 {
        if !is_boxed(w) {
            return NONE;
        }
        // SAFETY: the layouts of `word`.
        unsafe {
            let p = (w - TAG_BOXED) as *const u64;
            let (orig, pos, len) = match header_subtag(*p) {
                MATCH_CTX => return w,
                SUB_BIN => {
                    (*p.add(1), small_value(*p.add(2)) as usize, small_value(*p.add(3)) as usize)
                }
                REFC_BIN | HEAP_BIN => (w, 0, *p.add(1) as usize * 8),
                _ => return NONE,
            };
            let o = (orig - TAG_BOXED) as *mut u64;
            let base = if header_subtag(*o) == REFC_BIN {
                // A literal must not be written to; it is never writable either.
                if *o.add(5) & WRITABLE != 0 {
                    *o.add(5) &= !WRITABLE;
                }
                *o.add(4)
            } else {
                o.add(2) as u64
            };
            let q = self.alloc(MATCH_CTX_WORDS);
            *q = header(MATCH_CTX, MATCH_CTX_WORDS - 1);
            *q.add(1) = orig;
            *q.add(2) = base;
            *q.add(3) = pos as u64;
            *q.add(4) = (pos + len) as u64;
            q as u64 + TAG_BOXED
        }
    }

    /// An integer of `n` bits.
    ///
    /// # Safety
    /// `c` is a match context in this heap. (So too below.)
    #[inline]
    pub unsafe fn bs_get_integer(&self, c: u64, n: usize, flags: u32) -> u64 {
        // SAFETY: as the caller says.
        let m = unsafe { ctx(c) };
        if n > m.left() {
            return NONE;
        }
        if n <= 64 && !(is_little(flags) && n > 8) {
            let v = m.peek(n);
            m.pos += n;
            return self.sized_integer(v, n, flags);
        }
        let w = if n <= 64 {
            self.sized_integer(little(m, n), n, flags)
        } else {
            // SAFETY: the context's storage has the bits.
            let bytes = unsafe { bytes_least_first(m, n, flags) };
            self.integer_of_bytes(bytes, n, flags)
        };
        m.pos += n;
        w
    }
    /// The integer that the lowest `n` bits of `v` encode.
    #[inline]
    fn sized_integer(&self, v: u64, n: usize, flags: u32) -> u64 {
        if flags & SIGNED != 0 && n > 0 {
            let s = 64 - n as u32;
            return self.integer((v << s) as i64 >> s).word();
        }
        self.unsigned(v).word()
    }
    /// `NONE` if the value, not the segment, is wider than the widest integer.
    fn integer_of_bytes(&self, mut bytes: Vec<u8>, n: usize, flags: u32) -> u64 {
        let top = (n - 1) % 8;
        let negative = flags & SIGNED != 0 && bytes.last().is_some_and(|b| b >> top & 1 == 1);
        if negative {
            if let Some(b) = bytes.last_mut() {
                *b |= !0u8 << top;
            }
            let mut carry = true;
            for b in &mut bytes {
                (*b, carry) = (!*b).overflowing_add(carry as u8);
            }
        }
        bytes.truncate(bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1));
        if bytes.len() as u64 > crate::arith::max_bits() / 8 {
            return NONE;
        }
        let digits: Vec<u64> =
            bytes.chunks(8).map(|c| c.iter().rev().fold(0, |d, b| d << 8 | *b as u64)).collect();
        self.big(negative, &digits).word()
    }

    /// A float of 16, 32 or 64 bits; not-a-number and infinities do not match.
    ///
    /// # Safety
    /// As for `bs_get_integer`.
    pub unsafe fn bs_get_float(&self, c: u64, n: usize, flags: u32) -> u64 {
        // SAFETY: as the caller says.
        let m = unsafe { ctx(c) };
        if n > m.left() || !matches!(n, 0 | 16 | 32 | 64) {
            return NONE;
        }
        let v = if n > 8 && is_little(flags) { little(m, n) } else { m.peek(n) };
        let f = match n {
            16 => half_to_f64(v as u16),
            32 => f32::from_bits(v as u32) as f64,
            _ => f64::from_bits(v),
        };
        if !f.is_finite() {
            return NONE;
        }
        m.pos += n;
        self.float(f).word()
    }

    /// The next `n` bits as a bit string: copied if it is a short binary, else shared.
    ///
    /// # Safety
    /// As for `bs_get_integer`.
    pub unsafe fn bs_get_binary(&self, c: u64, n: usize) -> u64 {
        // SAFETY: as the caller says.
        let m = unsafe { ctx(c) };
        if n > m.left() {
            return NONE;
        }
        let pos = m.pos;
        m.pos += n;
        if n.is_multiple_of(8) && n <= HEAP_BIN_LIMIT * 8 {
            let words = 1 + (n / 8).div_ceil(8);
            let q = self.alloc(1 + words);
            // SAFETY: `alloc` gave that many words; the storage has the bits.
            unsafe {
                *q = header(HEAP_BIN, words);
                *q.add(1) = n as u64 / 8;
                copy_bits(q.add(2).cast(), 0, m.base, pos, n);
            }
            return q as u64 + TAG_BOXED;
        }
        let q = self.alloc(SUB_BIN_WORDS);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *q = header(SUB_BIN, SUB_BIN_WORDS - 1);
            *q.add(1) = m.orig;
            *q.add(2) = small(pos as i64);
            *q.add(3) = small(n as i64);
            *q.add(4) = small(0);
        }
        q as u64 + TAG_BOXED
    }
    /// All that is left, if it is a multiple of `unit` bits.
    ///
    /// # Safety
    /// As for `bs_get_integer`.
    pub unsafe fn bs_get_binary_all(&self, c: u64, unit: usize) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            let n = ctx(c).left();
            if unit > 1 && n % unit != 0 {
                return NONE;
            }
            self.bs_get_binary(c, n)
        }
    }
    /// All that is left; the context does not advance.
    ///
    /// # Safety
    /// As for `bs_get_integer`.
    pub unsafe fn bs_get_tail(&self, c: u64) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            let pos = ctx(c).pos;
            let w = self.bs_get_binary(c, ctx(c).left());
            ctx(c).pos = pos;
            w
        }
    }
}

/// The next `n` (9 to 64) bits with the least significant byte first.
fn little(m: &Ctx, n: usize) -> u64 {
    let v = m.peek(n);
    let (whole, rest) = (n / 8 * 8, n % 8);
    let bytes = (v >> rest) << (64 - whole);
    let low = v & ((1 << rest) - 1);
    bytes.swap_bytes() | if rest > 0 { low << whole } else { 0 }
}

/// The next `n` bits as the bytes of a number, least significant first, with zeros for the last
/// one's unused bits.
///
/// # Safety
/// The context has that many bits.
unsafe fn bytes_least_first(m: &Ctx, n: usize, flags: u32) -> Vec<u8> {
    let mut out = vec![0u8; n.div_ceil(8)];
    let rest = n % 8;
    // SAFETY: as the caller says.
    unsafe {
        if is_little(flags) {
            copy_bits(out.as_mut_ptr(), 0, m.base, m.pos, n);
            if let (true, Some(b)) = (rest > 0, out.last_mut()) {
                *b >>= 8 - rest;
            }
        } else {
            let skip = if rest > 0 { 8 - rest } else { 0 };
            copy_bits(out.as_mut_ptr(), skip, m.base, m.pos, n);
            out.reverse();
        }
    }
    out
}

pub fn half_to_f64(h: u16) -> f64 {
    let (e, m) = (h >> 10 & 31, (h & 1023) as f64);
    let v = match e {
        0 => m / 16_777_216.0,
        31 if m == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + m / 1024.0) * 2f64.powi(e as i32 - 15),
    };
    if h >> 15 == 1 {
        -v
    } else {
        v
    }
}

/// # Safety
/// `c` is a match context. (So too below.)
pub unsafe fn bs_bits_left(c: u64) -> usize {
    // SAFETY: as the caller says.
    unsafe { ctx(c).left() }
}
/// Advances by `n` bits; false if fewer are left.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_skip(c: u64, n: usize) -> bool {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    if n > m.left() {
        return false;
    }
    m.pos += n;
    true
}
/// Skips all that is left, if it is a multiple of `unit` bits.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_skip_all(c: u64, unit: usize) -> bool {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    let ok = unit <= 1 || m.left().is_multiple_of(unit);
    if ok {
        m.pos = m.end;
    }
    ok
}
/// Whether the number of bits left is a multiple of `unit`.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_test_unit(c: u64, unit: usize) -> bool {
    // SAFETY: as the caller says.
    unsafe { ctx(c).left().is_multiple_of(unit.max(1)) }
}
/// Whether the number of bits behind the next `n` is a multiple of `unit`.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_test_rest(c: u64, n: usize, unit: usize) -> bool {
    // SAFETY: as the caller says.
    let rest = unsafe { ctx(c).left() }.checked_sub(n);
    rest.is_some_and(|rest| rest.is_multiple_of(unit.max(1)))
}
/// Whether exactly `n` bits are left.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_test_tail(c: u64, n: usize) -> bool {
    // SAFETY: as the caller says.
    unsafe { ctx(c).left() == n }
}
/// Advances by `n` bits if they equal those of `bytes`.
///
/// # Safety
/// As for `bs_bits_left`; `bytes` has `n` bits.
pub unsafe fn bs_match_string(c: u64, bytes: *const u8, n: usize) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let m = ctx(c);
        if n > m.left() {
            return false;
        }
        let mut i = 0;
        while i < n {
            let k = (n - i).min(56);
            if read_bits(m.base, m.pos + i, k) != read_bits(bytes, i, k) {
                return false;
            }
            i += k;
        }
        m.pos += n;
    }
    true
}
/// The position as a small integer.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_get_position(c: u64) -> u64 {
    // SAFETY: as the caller says.
    small(unsafe { ctx(c).pos } as i64)
}
/// Moves to a position that `bs_get_position` returned; a position beyond the end is clamped.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_set_position(c: u64, pos: u64) {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    m.pos = (small_value(pos).max(0) as usize).min(m.end);
}

/// The next character in UTF-8 as a small integer, else `NONE`.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_get_utf8(c: u64) -> u64 {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    let left = m.left();
    if left < 8 {
        return NONE;
    }
    let first = m.peek(8) as u32;
    let (n, low) = match first {
        0..0x80 => {
            m.pos += 8;
            return small(first as i64);
        }
        0xC2..0xE0 => (2, 0x80),
        0xE0..0xF0 => (3, 0x800),
        0xF0..0xF5 => (4, 0x10000),
        _ => return NONE,
    };
    if left < 8 * n {
        return NONE;
    }
    let bytes = (m.peek(8 * n) as u32) << (32 - 8 * n);
    let mut v = first & (0x7F >> n);
    for b in &bytes.to_be_bytes()[1..n] {
        if b & 0xC0 != 0x80 {
            return NONE;
        }
        v = v << 6 | (*b & 0x3F) as u32;
    }
    if v < low || char::from_u32(v).is_none() {
        return NONE;
    }
    m.pos += 8 * n;
    small(v as i64)
}

/// The next character in UTF-16.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_get_utf16(c: u64, flags: u32) -> u64 {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    let unit = |b: [u8; 2]| match is_little(flags) {
        true => u16::from_le_bytes(b) as u32,
        false => u16::from_be_bytes(b) as u32,
    };
    let Some(b) = m.peek_bytes::<2>() else {
        return NONE;
    };
    let hi = unit(b);
    match hi {
        0xD800..0xDC00 => {}
        0xDC00..0xE000 => return NONE,
        _ => {
            m.pos += 16;
            return small(hi as i64);
        }
    }
    let Some([_, _, x, y]) = m.peek_bytes::<4>() else {
        return NONE;
    };
    let lo = unit([x, y]);
    if !(0xDC00..0xE000).contains(&lo) {
        return NONE;
    }
    m.pos += 32;
    small((0x10000 + ((hi & 0x3FF) << 10 | lo & 0x3FF)) as i64)
}

/// The next character in UTF-32.
///
/// # Safety
/// As for `bs_bits_left`.
pub unsafe fn bs_get_utf32(c: u64, flags: u32) -> u64 {
    // SAFETY: as the caller says.
    let m = unsafe { ctx(c) };
    let Some(b) = m.peek_bytes::<4>() else {
        return NONE;
    };
    let v = if is_little(flags) { u32::from_le_bytes(b) } else { u32::from_be_bytes(b) };
    if char::from_u32(v).is_none() {
        return NONE;
    }
    m.pos += 32;
    small(v as i64)
}

/// Whether the word is a match context. (No view distinguishes it from a bit string.)
pub fn is_context(t: Term<'_>) -> bool {
    matches!(t.boxed(), Some((h, _)) if header_subtag(h) == MATCH_CTX)
}

/// The number of bits that a match context has left; `None` for any other term.
pub fn context_bits(t: Term<'_>) -> Option<usize> {
    // SAFETY: a match context, which lives as long as the term.
    is_context(t).then(|| unsafe { bs_bits_left(t.word()) })
}

impl Heap {
    /// Whether a bit string's bytes are outside of every heap.
    pub fn is_off_heap(&self, t: Term<'_>) -> bool {
        let Some((h, p)) = t.boxed() else { return false };
        let subtag = match header_subtag(h) {
            // SAFETY: a sub-binary's original is a boxed term.
            SUB_BIN => unsafe { header_subtag(*((*p.add(1) - TAG_BOXED) as *const u64)) },
            subtag => subtag,
        };
        subtag == REFC_BIN
    }

    /// Bytes of the storage that a bit string refers to; `None` if it has only its own.
    pub fn referenced_bytes(&self, t: Term<'_>) -> Option<usize> {
        let (h, p) = t.boxed()?;
        if header_subtag(h) != SUB_BIN {
            return None;
        }
        // SAFETY: a sub-binary's original is a binary, whose size is its second word.
        unsafe {
            let orig = (*p.add(1) - TAG_BOXED) as *const u64;
            Some(*orig.add(1) as usize)
        }
    }
}
