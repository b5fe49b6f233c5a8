//! The tagged word and the layout of objects, as numbers. Native code, the collector and the views
//! all depend on this page.
//!
//! | low bits | what |
//! |---|---|
//! | `0000` | small integer, 60 bits: value `<< 4` |
//! | `x000` | (on stacks and inside funs only) a code address or other 8-aligned raw pointer: never a term, never followed by the collector |
//! | `0100` | header of an object: subtag in bits 4-7, size in words without the header in bits 8-39, 24 bits of the subtag's own above |
//! | `01` | list cell: address `+ 1`; head, tail |
//! | `10` | boxed object: address `+ 2` of its header |
//! | `0011` | atom: index `<< 4` |
//! | `0111` | local pid: 28-bit number `<< 4` |
//! | `1011` | local port: 28-bit number `<< 4` |
//! | `00001111` | `[]` |
//! | `00011111` | catch mark on a stack: handler's address `<< 16` |
//!
//! Objects, word by word after the header (`n` = the header's size):
//!
//! | subtag | words |
//! |---|---|
//! | TUPLE | n elements |
//! | BIG_POS, BIG_NEG | n digits of 64 bits, least first, the last not zero |
//! | FLOAT | the double's bits |
//! | FUN | `FunEntry` pointer, arity (small), creator's pid, n-3 environment terms |
//! | EXPORT | `Export` pointer |
//! | REF | two words with three 32-bit numbers; n = 3: and the pid of an alias |
//! | MAGIC_REF | the same two words, next off-heap object, pointer to the resource |
//! | EXT | (kind in the header's own bits) node atom, creation (small), then the numbers |
//! | REFC_BIN | size in bytes (raw), next off-heap object, `Binary` pointer, pointer to the first byte, flags |
//! | HEAP_BIN | size in bytes (raw), bytes |
//! | SUB_BIN | original binary (boxed), offset in bits (small), size in bits (small), flags (small) |
//! | MATCH_CTX | original binary (boxed), pointer to its first byte, position and end in bits (raw) |
//! | FLAT_MAP | number of keys (small), tuple of sorted keys, values |
//! | HAMT | see `heap::map`; every word is a term |
//! | RECORD | definition (a tuple, see `record`), values in the order of its keys |
//!
//! The first byte of any binary is 8-aligned.

pub const SMALL_BITS: u32 = 60;
pub const SMALL_MAX: i64 = (1 << 59) - 1;
pub const SMALL_MIN: i64 = -(1 << 59);

pub const TAG_LIST: u64 = 1;
pub const TAG_BOXED: u64 = 2;
pub const TAG_ATOM: u64 = 0x3;
pub const TAG_PID: u64 = 0x7;
pub const TAG_PORT: u64 = 0xB;
pub const TAG_HEADER: u64 = 0x4;

pub const NIL: u64 = 0x0F;
pub const TAG_CATCH: u64 = 0x1F;
/// Not a term: what helpers return instead of one, and the mark of a list cell that has moved.
pub const NONE: u64 = 0xF4;

pub const TUPLE: u64 = 0;
pub const BIG_POS: u64 = 1;
pub const BIG_NEG: u64 = 2;
pub const FLOAT: u64 = 3;
pub const FUN: u64 = 4;
pub const EXPORT: u64 = 5;
pub const REF: u64 = 6;
pub const MAGIC_REF: u64 = 7;
pub const EXT: u64 = 8;
pub const REFC_BIN: u64 = 9;
pub const HEAP_BIN: u64 = 10;
pub const SUB_BIN: u64 = 11;
pub const MATCH_CTX: u64 = 12;
pub const FLAT_MAP: u64 = 13;
pub const HAMT: u64 = 14;
/// Has at least one word, so its header is never [`NONE`].
pub const RECORD: u64 = 15;

/// Words of a whole object, header included, for objects of fixed size.
pub const FLOAT_WORDS: usize = 2;
/// Without its environment.
pub const LOCAL_FUN_WORDS: usize = 4;
pub const REF_WORDS: usize = 3;
pub const MAGIC_REF_WORDS: usize = 5;
pub const REFC_BIN_WORDS: usize = 6;
pub const SUB_BIN_WORDS: usize = 5;
pub const MATCH_CTX_WORDS: usize = 5;
/// A binary of more bytes than this lives outside the heap.
pub const HEAP_BIN_LIMIT: usize = 64;
/// A map of more keys than this is a HAMT.
pub const FLAT_MAP_LIMIT: usize = 32;

#[inline(always)]
pub const fn header(subtag: u64, words: usize) -> u64 {
    (words as u64) << 8 | subtag << 4 | TAG_HEADER
}
/// A header with the subtag's own 24 bits.
#[inline(always)]
pub const fn header_with(subtag: u64, words: usize, own: u32) -> u64 {
    (own as u64) << 40 | header(subtag, words)
}
#[inline(always)]
pub const fn header_words(h: u64) -> usize {
    (h >> 8 & 0xFFFF_FFFF) as usize
}
#[inline(always)]
pub const fn header_own(h: u64) -> u32 {
    (h >> 40) as u32
}
#[inline(always)]
pub const fn header_subtag(h: u64) -> u64 {
    h >> 4 & 0xF
}
#[inline(always)]
pub const fn is_header(w: u64) -> bool {
    w & 7 == TAG_HEADER
}
#[inline(always)]
pub const fn is_small(w: u64) -> bool {
    w & 15 == 0
}
#[inline(always)]
pub const fn is_list(w: u64) -> bool {
    w & 3 == TAG_LIST
}
#[inline(always)]
pub const fn is_boxed(w: u64) -> bool {
    w & 3 == TAG_BOXED
}
#[inline(always)]
pub const fn is_immediate(w: u64) -> bool {
    // Whether the two low bits are 0 or 3, in two instructions.
    w.wrapping_add(1) & 2 == 0
}
#[inline(always)]
pub const fn small(i: i64) -> u64 {
    (i as u64) << 4
}
#[inline(always)]
pub const fn small_value(w: u64) -> i64 {
    (w as i64) >> 4
}
#[inline(always)]
pub const fn fits_small(i: i64) -> bool {
    i >= SMALL_MIN && i <= SMALL_MAX
}
#[inline(always)]
pub const fn catch_mark(address: u64) -> u64 {
    address << 16 | TAG_CATCH
}
#[inline(always)]
pub const fn is_catch_mark(w: u64) -> bool {
    w & 0xFF == TAG_CATCH
}
#[inline(always)]
pub const fn catch_address(w: u64) -> u64 {
    w >> 16
}
