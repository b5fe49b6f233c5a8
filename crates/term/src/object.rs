//! Views of the objects on a heap. Each is a pointer to a header whose subtag was checked when the
//! view was made.

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::entry::{Export, FunEntry};
use crate::word::*;
use crate::{Atom, Term};

macro_rules! raw_view {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone)]
        pub struct $name<'h>(*const u64, PhantomData<&'h u64>);
        impl<'h> $name<'h> {
            /// # Safety
            /// `p` points to an object of this kind that stays as it is for `'h`.
            #[inline(always)]
            pub const unsafe fn from_raw(p: *const u64) -> Self {
                $name(p, PhantomData)
            }
            #[inline(always)]
            pub const fn as_ptr(self) -> *const u64 {
                self.0
            }
            #[inline(always)]
            #[allow(dead_code)]
            fn at(self, i: usize) -> u64 {
                // SAFETY: callers stay within the object's size.
                unsafe { *self.0.add(i) }
            }
        }
    };
}

raw_view!(/// A list cell.
    Cons);
raw_view!(/// A tuple.
    Tuple);
raw_view!(/// A bignum: sign and 64-bit digits.
    Big);
raw_view!(/// A flat or hashed map. Its operations are in `map` here and in `heap::map`.
    Map);
raw_view!(/// A local or external fun.
    Fun);
raw_view!(/// A reference of this node.
    LocalRef);
raw_view!(/// A pid, port or reference of another node.
    Ext);

impl<'h> Cons<'h> {
    #[inline(always)]
    pub fn head(self) -> Term<'h> {
        // SAFETY: a cell holds two terms of the same heap.
        unsafe { Term::from_word(self.at(0)) }
    }
    #[inline(always)]
    pub fn tail(self) -> Term<'h> {
        // SAFETY: as above.
        unsafe { Term::from_word(self.at(1)) }
    }
}

impl<'h> Tuple<'h> {
    #[inline]
    pub fn len(self) -> usize {
        header_words(self.at(0))
    }
    #[inline]
    pub fn elements(self) -> &'h [Term<'h>] {
        // SAFETY: the header's size many terms follow it; Term is one word.
        unsafe { std::slice::from_raw_parts(self.0.add(1).cast(), self.len()) }
    }
    #[inline]
    pub fn get(self, i: usize) -> Option<Term<'h>> {
        self.elements().get(i).copied()
    }
}

impl<'h> Big<'h> {
    #[inline]
    pub fn is_negative(self) -> bool {
        header_subtag(self.at(0)) == BIG_NEG
    }
    #[inline]
    pub fn digits(self) -> &'h [u64] {
        // SAFETY: the header's size many digits follow it.
        unsafe { std::slice::from_raw_parts(self.0.add(1), header_words(self.at(0))) }
    }
    /// The value as a float, `None` if beyond the range of floats. Before OTP 29 it is rounded after
    /// each digit from the highest down: not always to the nearest.
    pub fn to_f64(self) -> Option<f64> {
        const BASE: f64 = 18_446_744_073_709_551_616.0;
        let f = match kvik_release::current().rounds_large_integers_once() {
            true => nearest(self.digits()),
            false => self.digits().iter().rev().fold(0.0, |f, d| f * BASE + *d as f64),
        };
        f.is_finite().then_some(if self.is_negative() { -f } else { f })
    }
    pub fn as_i64(self) -> Option<i64> {
        match (self.digits(), self.is_negative()) {
            ([d], false) => i64::try_from(*d).ok(),
            ([d], true) if *d <= 1 << 63 => Some((*d as i64).wrapping_neg()),
            _ => None,
        }
    }
    pub fn as_u64(self) -> Option<u64> {
        match (self.digits(), self.is_negative()) {
            ([d], false) => Some(*d),
            _ => None,
        }
    }
}

/// The float nearest to the number that has these digits, ties to even; infinite if too large.
fn nearest(digits: &[u64]) -> f64 {
    let used = digits.iter().rposition(|d| *d != 0).map_or(0, |last| last + 1);
    let [rest @ .., high] = &digits[..used] else { return 0.0 };
    let [lower @ .., low] = rest else { return *high as f64 };
    let (zeros, wide) = (high.leading_zeros(), u128::from(*high) << 64 | u128::from(*low));
    let top = (wide << zeros >> 64) as u64;
    // What is cut off matters only for ties.
    let more = low << zeros != 0 || lower.iter().any(|d| *d != 0);
    let exponent = 64 * rest.len() - zeros as usize;
    // The highest 64 bits, at least 2^63: beyond 960 the product is infinite.
    match u64::try_from(exponent) {
        Ok(e @ ..=960) => (top | more as u64) as f64 * f64::from_bits((1023 + e) << 52),
        _ => f64::INFINITY,
    }
}

/// A bit string: where its first byte is, from which bit on and how many bits.
#[derive(Copy, Clone)]
pub struct Bits<'h> {
    /// The storage's bytes from the one that holds the first bit to the one that holds the last.
    bytes: &'h [u8],
    /// Bits of the first byte that come before the first bit: 0 to 7.
    skip: u32,
    len: usize,
}

impl<'h> Bits<'h> {
    /// # Safety
    /// `p` points to a binary of any subtag that stays as it is for `'h`.
    #[inline]
    pub unsafe fn from_raw(p: *const u64) -> Bits<'h> {
        // SAFETY: the layouts of `word`.
        unsafe {
            match header_subtag(*p) {
                SUB_BIN => {
                    let (off, len) = (small_value(*p.add(2)), small_value(*p.add(3)));
                    Bits::within(*p.add(1), off as usize, len as usize)
                }
                MATCH_CTX => {
                    let (pos, end) = (*p.add(3) as usize, *p.add(4) as usize);
                    Bits::within(*p.add(1), pos, end.saturating_sub(pos))
                }
                _ => Bits::of_bytes(Bits::whole(p)),
            }
        }
    }
    /// The bytes of a binary that has some of its own.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn whole(p: *const u64) -> &'h [u8] {
        // SAFETY: the layouts of `word`.
        unsafe {
            let at = match header_subtag(*p) {
                REFC_BIN => *p.add(4) as *const u8,
                HEAP_BIN => p.add(2).cast(),
                _ => return &[],
            };
            std::slice::from_raw_parts(at, *p.add(1) as usize)
        }
    }
    /// Bits of the binary that the word stands for.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn within(orig: u64, off: usize, len: usize) -> Bits<'h> {
        // SAFETY: as the caller says.
        let all = unsafe { Bits::whole((orig - TAG_BOXED) as *const u64) };
        Bits::of_bytes(all).slice(off, len)
    }
    #[inline(always)]
    pub fn of_bytes(bytes: &'h [u8]) -> Bits<'h> {
        Bits { bytes, skip: 0, len: bytes.len() * 8 }
    }
    /// A part, at an offset in bits from this one's start; cut at this one's end.
    #[inline]
    pub fn slice(self, off: usize, len: usize) -> Bits<'h> {
        let off = off.min(self.len);
        let len = len.min(self.len - off);
        let first = self.skip as usize + off;
        let bytes = &self.bytes[first / 8..(first + len).div_ceil(8).max(first / 8)];
        Bits { bytes, skip: (first % 8) as u32, len }
    }
    #[inline]
    pub fn bit_len(self) -> usize {
        self.len
    }
    /// Whole bytes, rounded up (`byte_size/1`).
    #[inline]
    pub fn byte_size(self) -> usize {
        self.len.div_ceil(8)
    }
    /// Whether it is a binary, that is, a whole number of bytes.
    #[inline]
    pub fn is_binary(self) -> bool {
        self.len.is_multiple_of(8)
    }
    /// Bits of the first byte of [`Bits::storage`] before the first bit.
    pub fn bit_offset(self) -> u32 {
        self.skip
    }
    pub fn storage(self) -> &'h [u8] {
        self.bytes
    }
    /// The bytes in place, if they are byte-aligned.
    #[inline]
    pub fn as_bytes(self) -> Option<&'h [u8]> {
        (self.skip == 0 && self.len.is_multiple_of(8)).then_some(self.bytes)
    }
    /// The bytes, shifted if they are not aligned; a last partial byte keeps its bits high, then
    /// zeros.
    #[inline]
    pub fn to_bytes(self) -> Cow<'h, [u8]> {
        if let Some(b) = self.as_bytes() {
            return Cow::Borrowed(b);
        }
        let mut out = vec![0; self.byte_size()];
        // Eight bytes at once while there is a byte behind them.
        let words = (self.len / 8).min(self.bytes.len().saturating_sub(1)) / 8;
        let (eights, _) = self.bytes.as_chunks::<8>();
        let behind = self.bytes.iter().skip(8).step_by(8);
        let (to, _) = out.as_chunks_mut::<8>();
        for ((to, from), next) in to.iter_mut().zip(eights).zip(behind).take(words) {
            let next = u64::from(*next) >> (8 - self.skip);
            *to = (u64::from_be_bytes(*from) << self.skip | next).to_be_bytes();
        }
        for (i, to) in out.iter_mut().enumerate().skip(words * 8) {
            *to = self.byte(i);
        }
        Cow::Owned(out)
    }
    /// Byte `i`; bits beyond the end are zero.
    pub fn byte(self, i: usize) -> u8 {
        let hi = self.bytes.get(i).copied().unwrap_or(0) as u16;
        let lo = self.bytes.get(i + 1).copied().unwrap_or(0) as u16;
        let b = ((hi << 8 | lo) << self.skip >> 8) as u8;
        let left = self.len.saturating_sub(i * 8);
        if left >= 8 {
            b
        } else {
            b & !(0xFFu16 >> left) as u8
        }
    }
}

impl<'h> Fun<'h> {
    pub fn is_export(self) -> bool {
        header_subtag(self.at(0)) == EXPORT
    }
    pub fn export(self) -> Option<&'static Export> {
        // SAFETY: an EXPORT object's word is a pointer to an entry that is never freed.
        self.is_export().then(|| unsafe { &*(self.at(1) as *const Export) })
    }
    /// A local fun's entry.
    pub fn entry(self) -> Option<&'static FunEntry> {
        // SAFETY: a FUN object's first word is a pointer to an entry that is never freed.
        (!self.is_export()).then(|| unsafe { &*(self.at(1) as *const FunEntry) })
    }
    pub fn arity(self) -> usize {
        match self.export() {
            Some(e) => e.arity as usize,
            None => small_value(self.at(2)) as usize,
        }
    }
    /// The process that made it, as `fun_info/2` and the external format tell.
    pub fn creator(self) -> Option<Term<'h>> {
        // SAFETY: the third word of a FUN is a term.
        let creator = (!self.is_export()).then(|| unsafe { Term::from_word(self.at(3)) })?;
        Some(match kvik_release::current().has_fun_creators() {
            true => creator,
            false => Term::local_pid(0),
        })
    }
    pub fn env(self) -> &'h [Term<'h>] {
        if self.is_export() {
            return &[];
        }
        let n = header_words(self.at(0)) - 3;
        // SAFETY: n terms follow the first three words.
        unsafe { std::slice::from_raw_parts(self.0.add(4).cast(), n) }
    }
}

impl<'h> LocalRef<'h> {
    /// The three numbers, as printed from last to first.
    pub fn numbers(self) -> [u32; 3] {
        [self.at(1) as u32, (self.at(1) >> 32) as u32, self.at(2) as u32]
    }
    /// The number of the process an alias stands for.
    pub fn alias_pid(self) -> Option<u32> {
        let h = self.at(0);
        (header_subtag(h) == REF && header_words(h) == 3).then(|| (self.at(3) >> 4) as u32)
    }
    /// The numbers with which it is written out, as bytes or text.
    pub fn written_numbers(self) -> Vec<u32> {
        let mut all = self.numbers().to_vec();
        if self.is_longer() {
            all.extend(self.alias_pid().into_iter().flat_map(|pid| [pid, 0]));
        }
        all
    }
    /// Whether it is written, and compared, with more than three numbers.
    #[inline]
    pub fn is_longer(self) -> bool {
        self.alias_pid().is_some() && kvik_release::current().writes_alias_pids()
    }
    pub fn is_magic(self) -> bool {
        header_subtag(self.at(0)) == MAGIC_REF
    }
    /// A magic reference's resource.
    pub fn resource(self) -> Option<*const ()> {
        self.is_magic().then(|| self.at(4) as *const ())
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ExtKind {
    Pid,
    Port,
    Ref,
}

impl<'h> Ext<'h> {
    pub fn kind(self) -> ExtKind {
        match header_own(self.at(0)) & 3 {
            0 => ExtKind::Pid,
            1 => ExtKind::Port,
            _ => ExtKind::Ref,
        }
    }
    pub fn node(self) -> Atom {
        Atom((self.at(1) >> 4) as u32)
    }
    pub fn creation(self) -> u32 {
        small_value(self.at(2)) as u32
    }
    /// A pid's number and serial, a port's number: one word. See `ref_numbers` for references.
    pub fn data(self) -> u64 {
        self.at(3)
    }
    pub fn ref_numbers(self) -> Vec<u32> {
        let n = (header_own(self.at(0)) >> 2) as usize;
        (0..n).map(|i| (self.at(3 + i / 2) >> (32 * (i % 2))) as u32).collect()
    }
}

/// A pid: of this node by number, or of another.
#[derive(Copy, Clone)]
pub enum PidTerm<'h> {
    Local(u32),
    External(Ext<'h>),
}

impl PidTerm<'_> {
    /// The number and the serial that a pid shows.
    pub fn numbers(self) -> (u32, u32) {
        match self {
            PidTerm::Local(n) => {
                let bits = kvik_release::current().pid_bits.number;
                (n & ((1 << bits) - 1), n >> bits)
            }
            PidTerm::External(e) => (e.data() as u32, (e.data() >> 32) as u32),
        }
    }
    /// The pid of this node that shows these, if one can.
    pub fn local(number: u64, serial: u64) -> Option<Term<'static>> {
        let bits = &kvik_release::current().pid_bits;
        let fits = number >> bits.number == 0 && serial >> bits.serial == 0;
        fits.then(|| Term::local_pid((serial << bits.number | number) as u32))
    }
}
#[derive(Copy, Clone)]
pub enum PortTerm<'h> {
    Local(u64),
    External(Ext<'h>),
}
#[derive(Copy, Clone)]
pub enum Ref<'h> {
    Local(LocalRef<'h>),
    External(Ext<'h>),
}
