//! Stubs for comparing terms, `length/1` and `setelement/3`. Templates call them; they change the
//! scratch registers only.

use kvik_heap::alloc::STACK_SLACK;
use kvik_term::word::{small, FLOAT, NIL, NONE, TAG_BOXED, TAG_LIST, TUPLE};

use crate::rt::compare;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::{load_x, save_x};
use crate::x86_64::{HTOP, P, REDS, STACK, XREGS};

const HEADER: i32 = -(TAG_BOXED as i32);

pub struct TermStubs {
    /// Compares the terms in `rdx` and `rsi`: less than, equal to, or greater than 0 in `rax`.
    pub compare: Label,
    /// Adds the length of the list in `rsi` to the small integer in `rax`. If the time slice ends
    /// first: `NONE` in `rax`, the rest of the list in `rsi`, the sum so far in `rdx`. If it is not
    /// a proper list: `NONE` in `rax`, and `rsi` is not a list cell.
    pub length: Label,
    /// Whether they are equal (`=:=`): not 0 in `rax`.
    pub equal: Label,
    /// `setelement(x0, x1, x2)` in `x0`, and 0 in `rax`; or `NO_ROOM`; or `NONE` if the arguments
    /// are wrong.
    pub set_element: Label,
}

pub fn make(a: &mut Asm) -> TermStubs {
    TermStubs {
        compare: comparing(a),
        length: length(a),
        equal: equal(a),
        set_element: set_element(a),
    }
}

pub fn entry(a: &mut Asm) -> Label {
    a.align(16);
    a.here()
}

/// Calls a Rust function that reads terms and nothing else: `(process, rsi, rdx, ecx)`.
pub fn call(a: &mut Asm, f: usize) {
    a.mov_ri(RAX, f as u64);
    save_x(a);
    a.mov_rr(RDI, P);
    a.alu_ri(Alu::Sub, RSP, 8);
    a.call_r(RAX);
    a.alu_ri(Alu::Add, RSP, 8);
    load_x(a);
    a.ret();
}

/// Falls through if the term is of that kind.
fn of_kind_or(a: &mut Asm, r: R, kind: u64, other: Label) {
    a.mov32_rr(RAX, r);
    a.alu32_ri(Alu::And, RAX, 3);
    a.alu32_ri(Alu::Cmp, RAX, TAG_BOXED as i32);
    a.jcc(Cc::Ne, other);
    a.cmp8_mi(r, HEADER, kind_byte(kind) as u8);
    a.jcc(Cc::Ne, other);
}

/// Compares two floats, and tuples of one size whose first differing elements are small integers;
/// everything else is compared in Rust.
fn comparing(a: &mut Asm) -> Label {
    let (entry, tuples, other) = (entry(a), a.label(), a.label());
    of_kind_or(a, RDX, FLOAT, tuples);
    of_kind_or(a, RSI, FLOAT, other);
    a.movsd_load(0, RDX, 8 + HEADER);
    a.movsd_load(1, RSI, 8 + HEADER);
    a.ucomisd(0, 1);
    answer(a, Cc::A);
    a.place(tuples);
    of_kind_or(a, RDX, TUPLE, other);
    of_kind_or(a, RSI, TUPLE, other);
    a.mov_rm(RCX, RDX, HEADER);
    a.alu_rm(Alu::Cmp, RCX, RSI, HEADER);
    a.jcc(Cc::Ne, other);
    a.shr(RCX, 8);
    a.jcc(Cc::E, other);
    a.mov_ri(RAX, 0);
    let (next, differ) = (a.here(), a.label());
    a.mov_r_idx(RDI, RDX, RAX, 3, 8 + HEADER);
    a.alu_r_idx(Alu::Cmp, RDI, RSI, RAX, 3, 8 + HEADER);
    a.jcc(Cc::Ne, differ);
    a.alu_ri(Alu::Add, RAX, 1);
    a.alu_rr(Alu::Cmp, RAX, RCX);
    a.jcc(Cc::Ne, next);
    a.mov_ri(RAX, 0);
    a.ret();
    a.place(differ);
    a.mov_r_idx(RCX, RSI, RAX, 3, 8 + HEADER);
    a.mov32_rr(RAX, RDI);
    a.alu32_rr(Alu::Or, RAX, RCX);
    a.test8_ri(RAX, 15);
    a.jcc(Cc::Ne, other);
    a.alu_rr(Alu::Cmp, RDI, RCX);
    answer(a, Cc::G);
    a.place(other);
    call(a, compare::compare as compare::Look as usize);
    entry
}

/// Returns the result of comparing two numbers; `greater` is the condition for 1.
fn answer(a: &mut Asm, greater: Cc) {
    let done = a.label();
    a.mov_ri(RAX, 1);
    a.jcc(greater, done);
    a.mov_ri(RAX, 0);
    a.jcc(Cc::E, done);
    a.mov_ri(RAX, u64::MAX);
    a.place(done);
    a.ret();
}

/// List cells per reduction, as in OTP: where a time slice ends in `length/1` depends on it.
const CELLS: i64 = 16;

fn length(a: &mut Asm) -> Label {
    let (entry, check, end, over) = (entry(a), a.label(), a.label(), a.label());
    let one = small(1) as i32;
    let a_reduction = (small(CELLS) as i64).trailing_zeros() as u8;
    // The count at which the time slice ends; with no reductions left, before the first cell.
    a.mov_rr(RDX, REDS);
    a.shl(RDX, a_reduction);
    a.alu_rr(Alu::Add, RDX, RAX);
    a.jmp(check);
    // Four cells per iteration; the distance to the limit is a multiple of that.
    let next = a.here();
    for _ in 0..4 {
        a.lea(RCX, RSI, -(TAG_LIST as i32));
        a.test8_ri(RCX, 3);
        a.jcc(Cc::Ne, end);
        a.mov_rm(RSI, RSI, 8 - TAG_LIST as i32);
        a.alu_ri(Alu::Add, RAX, one);
    }
    a.place(check);
    a.alu_rr(Alu::Cmp, RAX, RDX);
    a.jcc(Cc::L, next);
    a.lea(RCX, RSI, -(TAG_LIST as i32));
    a.test8_ri(RCX, 3);
    a.jcc(Cc::Ne, end);
    a.mov_ri(REDS, 0);
    a.mov_rr(RDX, RAX);
    a.mov_ri(RAX, NONE);
    a.ret();
    // A partly used reduction is not charged.
    a.place(end);
    a.alu_rr(Alu::Sub, RDX, RAX);
    a.alu_ri(Alu::Add, RDX, small(CELLS) as i32 - 1);
    a.sar(RDX, a_reduction);
    a.mov_rr(REDS, RDX);
    a.alu_ri(Alu::Cmp, RSI, NIL as i32);
    a.jcc(Cc::E, over);
    a.mov_ri(RAX, NONE);
    a.place(over);
    a.ret();
    entry
}

/// The bits of a header that are none in a tuple's.
const SUBTAG: u8 = 0xF0;
const _: () = assert!(TUPLE == 0);

/// A tuple equals nothing that has another header.
fn equal(a: &mut Asm) -> Label {
    let (entry, ask, differ) = (entry(a), a.label(), a.label());
    for r in [RDX, RSI] {
        a.mov32_rr(RAX, r);
        a.alu32_ri(Alu::And, RAX, 3);
        a.alu32_ri(Alu::Cmp, RAX, TAG_BOXED as i32);
        a.jcc(Cc::Ne, ask);
    }
    a.mov_rm(RAX, RDX, HEADER);
    a.mov_rm(RCX, RSI, HEADER);
    a.alu_rr(Alu::Cmp, RAX, RCX);
    a.jcc(Cc::E, ask);
    a.test8_ri(RAX, SUBTAG);
    a.jcc(Cc::E, differ);
    a.test8_ri(RCX, SUBTAG);
    a.jcc(Cc::Ne, ask);
    a.place(differ);
    a.mov_ri(RAX, 0);
    a.ret();
    a.place(ask);
    call(a, compare::equal_exact as compare::Look as usize);
    entry
}

/// Result of a stub: no heap room for the copy.
pub const NO_ROOM: i32 = 1;

fn set_element(a: &mut Asm) -> Label {
    let [index, tuple, value, _] = XREGS;
    let (entry, bad, full) = (entry(a), a.label(), a.label());
    a.test8_ri(index, 15);
    a.jcc(Cc::Ne, bad);
    of_kind_or(a, tuple, TUPLE, bad);
    // Size and index as small integers; 0 and negative ones become large unsigned numbers.
    a.mov32_rm(RAX, tuple, HEADER);
    a.shr(RAX, 4);
    a.lea(RDI, index, -16);
    a.alu_rr(Alu::Cmp, RDI, RAX);
    a.jcc(Cc::Ae, bad);
    a.shr(RAX, 1);
    a.lea_idx(RDI, HTOP, RAX, 0, 8 * (1 + STACK_SLACK as i32));
    a.alu_rr(Alu::Cmp, RDI, STACK);
    a.jcc(Cc::A, full);
    // The new top, for later; two words per iteration, backwards, down to the header or the word
    // behind.
    a.lea_idx(RCX, HTOP, RAX, 0, 8);
    a.mov_rm(RDI, tuple, HEADER);
    a.mov_mr(HTOP, 0, RDI);
    let next = a.here();
    a.movups_idx_load(0, tuple, RAX, HEADER - 8);
    a.movups_idx_store(HTOP, RAX, -8, 0);
    a.alu_ri(Alu::Sub, RAX, 16);
    a.alu_ri(Alu::Cmp, RAX, 8);
    a.jcc(Cc::Ge, next);
    a.mov_rr(RDI, index);
    a.shr(RDI, 1);
    a.mov_idx_r(HTOP, RDI, 0, 0, value);
    a.lea(index, HTOP, TAG_BOXED as i32);
    a.mov_rr(HTOP, RCX);
    a.mov_ri(RAX, 0);
    a.ret();
    a.place(bad);
    a.mov_ri(RAX, NONE);
    a.ret();
    a.place(full);
    a.mov_ri(RAX, NO_ROOM as u64);
    a.ret();
    entry
}
