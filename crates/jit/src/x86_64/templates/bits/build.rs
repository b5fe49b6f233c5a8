//! Bit strings built by native code: an append or a new binary, then integers and floats of known
//! sizes, strings, characters in UTF-8 and whole binaries.
//!
//! Everything that could fail is checked first, and the bytes are counted. Nothing has changed by
//! then, so unexpected operands go to the runtime's `create_bin`, which starts from scratch. Fields
//! are combined in a word before they are stored. `rbp` is the address of the next byte.

use kvik_beam::Arg;
use kvik_heap::bits::{LITTLE, NATIVE};
use kvik_heap::bits_build::SegKind;
use kvik_heap::Regs;
use kvik_term::word::*;

use crate::compiler::{Compiler, EmitResult};
use crate::rt::{bits, LeanPair};
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::none_to;
use crate::x86_64::{HTOP, REGS};

/// A segment as the instruction describes it.
pub(super) struct Segment<'m> {
    pub kind: SegKind,
    pub unit: u64,
    pub flags: u32,
    pub value: Arg,
    pub size: Arg,
    /// The whole bit string is used (size `all`).
    pub all: bool,
    /// The bytes, if it is a string.
    pub bytes: &'m [u8],
}

/// A field of a known number of bits.
#[derive(Copy, Clone)]
enum Field {
    Known(u64),
    Integer(Arg, bool),
    Float(Arg, bool),
}
/// A group of fields that fills up to eight bytes, or a segment whose size is known at run time.
enum Part {
    Fields(Vec<(Field, u64)>, u64),
    Utf8(Arg),
    Binary(Arg),
}

/// The plan by which native code builds a bit string.
pub(super) struct Plan {
    /// The binary to append to, and whether it has no other references (a private append).
    onto: Option<(Arg, bool)>,
    parts: Vec<Part>,
    /// Total size of the parts with known sizes.
    bytes: u64,
}

/// Most bytes of known size, strings included, that native code writes.
const MOST_KNOWN: u64 = 128;
/// Holds the result meanwhile, among the registers' scratch words.
const RESULT: i32 = Regs::SCRATCH as i32 + 8 * 31;

impl Plan {
    /// `None` if a segment is not handled by native code.
    pub(super) fn of(segments: &[Segment]) -> Option<Plan> {
        let mut plan = Plan { onto: None, parts: Vec::new(), bytes: 0 };
        let mut fields = Vec::new();
        for (i, s) in segments.iter().enumerate() {
            let whole = s.unit.is_power_of_two() && s.unit <= 8;
            match s.kind {
                SegKind::Append | SegKind::PrivateAppend if i == 0 && whole => {
                    plan.onto = Some((s.value, s.kind == SegKind::PrivateAppend));
                }
                SegKind::String => {
                    fields.extend(s.bytes.iter().map(|b| (Field::Known(*b as u64), 8)));
                }
                SegKind::Integer | SegKind::Float => fields.push(s.field()?),
                SegKind::Utf8 => plan.part(&mut fields, Part::Utf8(s.value))?,
                // With a private append the value may be the growing binary itself, under another
                // name.
                SegKind::Binary if s.all && whole && !matches!(plan.onto, Some((_, true))) => {
                    plan.part(&mut fields, Part::Binary(s.value))?
                }
                _ => return None,
            }
        }
        plan.group(&mut fields)?;
        (!plan.parts.is_empty() && plan.bytes <= MOST_KNOWN).then_some(plan)
    }
    fn part(&mut self, fields: &mut Vec<(Field, u64)>, part: Part) -> Option<()> {
        self.group(fields)?;
        self.parts.push(part);
        Some(())
    }
    /// Groups the fields so far into whole bytes; `None` if they don't fill them.
    fn group(&mut self, fields: &mut Vec<(Field, u64)>) -> Option<()> {
        let (mut group, mut bits) = (Vec::new(), 0);
        for (field, n) in fields.drain(..) {
            if bits + n > 64 {
                self.end_group(&mut group, &mut bits)?;
            }
            group.push((field, n));
            bits += n;
        }
        self.end_group(&mut group, &mut bits)
    }
    fn end_group(&mut self, group: &mut Vec<(Field, u64)>, bits: &mut u64) -> Option<()> {
        if !bits.is_multiple_of(8) {
            return None;
        }
        if *bits > 0 {
            self.bytes += *bits / 8;
            self.parts.push(Part::Fields(std::mem::take(group), std::mem::take(bits)));
        }
        Some(())
    }
    fn is_known(&self) -> bool {
        self.parts.iter().all(|p| matches!(p, Part::Fields(..)))
    }
    /// Heap words that the result may take.
    pub(super) fn words(&self) -> usize {
        match self.onto {
            Some(_) => SUB_BIN_WORDS + REFC_BIN_WORDS,
            None if self.is_known() && self.bytes <= HEAP_BIN_LIMIT as u64 => {
                2 + (self.bytes as usize).div_ceil(8)
            }
            None => 2 + HEAP_BIN_LIMIT / 8,
        }
    }
}

impl Segment<'_> {
    /// A field of a known size.
    fn field(&self) -> Option<(Field, u64)> {
        let Arg::Int(size) = self.size else { return None };
        let n = u64::try_from(size).ok()?.checked_mul(self.unit)?;
        let little = self.flags & (LITTLE | NATIVE) != 0 && n > 8;
        if n == 0 || n > 64 || little && n % 8 != 0 {
            return None;
        }
        let field = match (self.kind, self.value) {
            (SegKind::Float, v) if matches!(n, 32 | 64) => Field::Float(v, little),
            (SegKind::Float, _) => return None,
            (_, Arg::Int(i)) => {
                let v = (i as u64) << (64 - n);
                Field::Known(if little { v.swap_bytes() } else { v >> (64 - n) })
            }
            (_, Arg::X(..) | Arg::Y(..)) => Field::Integer(self.value, little),
            _ => return None,
        };
        Some((field, n))
    }
}

impl<'m> Compiler<'m> {
    /// Builds by the plan, in the heap words it requested; unexpected operands go to `other`.
    pub(super) fn build(&mut self, plan: &Plan, d: Arg, other: Label) -> EmitResult {
        self.check_values(plan, other)?;
        let known = plan.is_known();
        if !known {
            self.count_bytes(plan, other)?;
        }
        // If nothing is called, the result can stay in a register.
        match plan.onto {
            Some((bin, private)) => {
                match known {
                    true => self.a.mov_ri(RSI, plan.bytes),
                    false => self.a.mov_rr(RSI, RBP),
                }
                self.load(bin, RDI)?;
                let append = if private { self.stubs.private_append } else { self.stubs.append };
                self.a.call_abs(append);
                none_to(&mut self.a, other);
                self.a.mov_rr(RBP, RDX);
            }
            None => self.begin(plan, known, other),
        }
        match known {
            true => self.a.mov_rr(RDI, RAX),
            false => self.a.mov_mr(REGS, RESULT, RAX),
        }
        self.put_parts(plan)?;
        if !known {
            self.a.mov_rm(RDI, REGS, RESULT);
        }
        self.store(d, RDI)
    }

    /// A new binary: its word in `rax`, its first byte in `rbp`.
    fn begin(&mut self, plan: &Plan, known: bool, other: Label) {
        let (large, ready) = (self.a.label(), self.a.label());
        let bytes = plan.bytes as usize;
        match known {
            true if bytes <= HEAP_BIN_LIMIT => {
                let words = 1 + bytes.div_ceil(8);
                self.a.mov_mi(HTOP, 0, header(HEAP_BIN, words) as i32);
                self.a.mov_mi(HTOP, 8, bytes as i32);
                self.a.lea(RAX, HTOP, TAG_BOXED as i32);
                self.a.lea(RBP, HTOP, 16);
                self.a.alu_ri(Alu::Add, HTOP, 8 * (1 + words as i32));
                return;
            }
            true => {
                self.a.mov_ri(RSI, plan.bytes);
                return self.begin_large(other);
            }
            false => {}
        }
        self.a.alu_ri(Alu::Cmp, RBP, HEAP_BIN_LIMIT as i32);
        self.a.jcc(Cc::A, large);
        self.a.lea(RAX, RBP, 15);
        self.a.shr(RAX, 3);
        self.a.mov_rr(RCX, RAX);
        self.a.shl(RAX, 8);
        self.a.alu_ri(Alu::Or, RAX, kind_byte(HEAP_BIN));
        self.a.mov_mr(HTOP, 0, RAX);
        self.a.mov_mr(HTOP, 8, RBP);
        self.a.lea(RAX, HTOP, TAG_BOXED as i32);
        self.a.lea(RBP, HTOP, 16);
        self.a.lea_idx(HTOP, HTOP, RCX, 3, 8);
        self.a.place(ready);
        self.later(move |c| {
            c.a.place(large);
            c.a.mov_rr(RSI, RBP);
            c.begin_large(other);
            c.a.jmp(ready);
            Ok(())
        });
    }
    fn begin_large(&mut self, other: Label) {
        self.a.mov_word(RAX, CodeWord::runtime(bits::new_binary as LeanPair as usize));
        self.a.call_abs(self.stubs.lean_alloc);
        none_to(&mut self.a, other);
        self.a.mov_rr(RBP, RDX);
    }

    /// Checks that integers are small and floats are floats.
    fn check_values(&mut self, plan: &Plan, other: Label) -> EmitResult {
        let mut any = false;
        for (field, n) in plan.parts.iter().flat_map(Part::fields) {
            match *field {
                Field::Known(_) => {}
                Field::Integer(v, _) => {
                    let r = self.src(v, RCX)?;
                    match any {
                        false => self.a.mov32_rr(RAX, r),
                        true => self.a.alu32_rr(Alu::Or, RAX, r),
                    }
                    any = true;
                }
                Field::Float(v, _) => {
                    let r = self.src(v, RDX)?;
                    self.a.mov32_rr(RCX, r);
                    self.a.alu32_ri(Alu::And, RCX, 3);
                    self.a.alu32_ri(Alu::Cmp, RCX, TAG_BOXED as i32);
                    self.a.jcc(Cc::Ne, other);
                    self.a.cmp8_mi(r, -(TAG_BOXED as i32), kind_byte(FLOAT) as u8);
                    self.a.jcc(Cc::Ne, other);
                    if *n == 32 {
                        // The value may exceed the range of single precision.
                        self.float_bits(v, 32)?;
                        self.a.shr(RCX, 23);
                        self.a.alu32_ri(Alu::And, RCX, 0xFF);
                        self.a.alu32_ri(Alu::Cmp, RCX, 0xFF);
                        self.a.jcc(Cc::E, other);
                    }
                }
            }
        }
        if any {
            self.a.test8_ri(RAX, 15);
            self.a.jcc(Cc::Ne, other);
        }
        Ok(())
    }

    /// The total number of bytes, in `rbp`.
    fn count_bytes(&mut self, plan: &Plan, other: Label) -> EmitResult {
        self.a.mov_ri(RBP, plan.bytes);
        for part in &plan.parts {
            match part {
                Part::Fields(..) => {}
                Part::Utf8(v) => self.count_utf8(*v, other)?,
                Part::Binary(v) => self.count_binary(*v, other)?,
            }
        }
        Ok(())
    }
    fn count_utf8(&mut self, v: Arg, other: Label) -> EmitResult {
        let done = self.a.label();
        self.load(v, RAX)?;
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, other);
        self.a.alu_ri(Alu::Add, RBP, 1);
        self.a.alu_ri(Alu::Cmp, RAX, 0x80 << 4);
        self.a.jcc(Cc::B, done);
        self.a.alu_ri(Alu::Add, RBP, 1);
        self.a.alu_ri(Alu::Cmp, RAX, 0x800 << 4);
        self.a.jcc(Cc::B, done);
        self.a.alu_ri(Alu::Add, RBP, 1);
        self.a.alu_ri(Alu::Cmp, RAX, 0xD800 << 4);
        self.a.jcc(Cc::B, done);
        self.a.alu_ri(Alu::Cmp, RAX, 0xE000 << 4);
        self.a.jcc(Cc::B, other);
        self.a.alu_ri(Alu::Cmp, RAX, 0x10000 << 4);
        self.a.jcc(Cc::B, done);
        self.a.alu_ri(Alu::Add, RBP, 1);
        self.a.alu_ri(Alu::Cmp, RAX, 0x110000 << 4);
        self.a.jcc(Cc::Ae, other);
        self.a.place(done);
        Ok(())
    }
    fn count_binary(&mut self, v: Arg, other: Label) -> EmitResult {
        let whole = self.a.label();
        let r = self.src(v, RDX)?;
        self.boxed_kind(r, other);
        self.a.mov_rm(RCX, r, 8 - TAG_BOXED as i32);
        for k in [REFC_BIN, HEAP_BIN] {
            self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(k));
            self.a.jcc(Cc::E, whole);
        }
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(SUB_BIN));
        self.a.jcc(Cc::Ne, other);
        self.a.mov_rm(RCX, r, 24 - TAG_BOXED as i32);
        self.a.mov_rm(RAX, r, 16 - TAG_BOXED as i32);
        self.a.alu_rr(Alu::Or, RAX, RCX);
        self.a.test8_ri(RAX, 0x7F);
        self.a.jcc(Cc::Ne, other);
        self.a.shr(RCX, 7);
        self.a.place(whole);
        self.a.alu_rr(Alu::Add, RBP, RCX);
        Ok(())
    }

    fn put_parts(&mut self, plan: &Plan) -> EmitResult {
        let mut at = 0;
        for (i, part) in plan.parts.iter().enumerate() {
            match part {
                Part::Fields(fields, n) => {
                    self.gather(fields)?;
                    // The heap behind a new binary is free, and the next part overwrites it.
                    let over = plan.onto.is_none()
                        && plan.is_known()
                        && plan.bytes <= HEAP_BIN_LIMIT as u64;
                    self.put_group(at, *n, over);
                    at += *n as i32 / 8;
                    continue;
                }
                _ if at > 0 => self.a.alu_ri(Alu::Add, RBP, at),
                _ => {}
            }
            at = 0;
            match part {
                Part::Utf8(v) => {
                    let (many, done) = (self.a.label(), self.a.label());
                    self.load(*v, RAX)?;
                    self.a.shr(RAX, 4);
                    self.a.alu32_ri(Alu::Cmp, RAX, 0x80);
                    self.a.jcc(Cc::Ae, many);
                    self.a.mov8_mr(RBP, 0, RAX);
                    if i + 1 < plan.parts.len() {
                        self.a.alu_ri(Alu::Add, RBP, 1);
                    }
                    self.a.place(done);
                    self.later(move |c| {
                        c.a.place(many);
                        c.a.call_abs(c.stubs.put_utf8);
                        c.a.jmp(done);
                        Ok(())
                    });
                }
                Part::Binary(v) => {
                    self.load(*v, RDI)?;
                    self.a.call_abs(self.stubs.put_binary);
                }
                Part::Fields(..) => {}
            }
        }
        Ok(())
    }

    /// Combines the fields in `rax`, the last one lowest.
    fn gather(&mut self, fields: &[(Field, u64)]) -> EmitResult {
        let mut known = Some(0u64);
        for (i, (field, n)) in fields.iter().enumerate() {
            if let (Field::Known(v), Some(k)) = (field, known) {
                known = Some(if *n == 64 { *v } else { k << n | v });
                continue;
            }
            if i == 0 {
                self.field(*field, *n, RAX)?;
                known = None;
                continue;
            }
            if let Some(k) = known.take() {
                self.a.mov_ri(RAX, k);
            }
            self.a.shl(RAX, *n as u8);
            match field {
                Field::Known(v) => match i32::try_from(*v) {
                    Ok(v) => self.a.alu_ri(Alu::Or, RAX, v),
                    Err(_) => {
                        self.a.mov_ri(RCX, *v);
                        self.a.alu_rr(Alu::Or, RAX, RCX)
                    }
                },
                _ => {
                    self.field(*field, *n, RCX)?;
                    self.a.alu_rr(Alu::Or, RAX, RCX)
                }
            }
        }
        if let Some(k) = known {
            self.a.mov_ri(RAX, k);
        }
        Ok(())
    }
    /// The lowest `n` bits of a value in `r`, zero-extended.
    fn field(&mut self, field: Field, n: u64, r: R) -> EmitResult {
        let top = (64 - n) as u8;
        let little = match field {
            Field::Known(v) => {
                self.a.mov_ri(r, v);
                return Ok(());
            }
            Field::Integer(v, little) => {
                self.load(v, r)?;
                if n <= SMALL_BITS as u64 {
                    self.a.shl(r, SMALL_BITS as u8 - n as u8);
                } else {
                    self.a.sar(r, 4);
                    self.a.shl(r, top);
                }
                little
            }
            Field::Float(v, little) => {
                self.float_bits(v, n)?;
                self.a.mov_rr(r, RCX);
                self.a.shl(r, top);
                little
            }
        };
        match little {
            true => self.a.bswap(r),
            false => self.a.shr(r, top),
        }
        Ok(())
    }
    /// A float's bits, or those of the nearest single-precision one, in `rcx`.
    fn float_bits(&mut self, v: Arg, n: u64) -> EmitResult {
        let r = self.src(v, RDX)?;
        if n == 64 {
            self.a.mov_rm(RCX, r, 8 - TAG_BOXED as i32);
        } else {
            self.a.movsd_load(0, r, 8 - TAG_BOXED as i32);
            self.a.double_to_single(RCX, 0);
        }
        Ok(())
    }
    /// Stores the lowest `n` bits of `rax` at offset `at` from `rbp`; as a whole word if it may
    /// write `over` the end.
    fn put_group(&mut self, at: i32, n: u64, over: bool) {
        let mut left = n / 8;
        match left {
            1 => return self.a.mov8_mr(RBP, at, RAX),
            2 => {
                self.a.swap16(RAX);
                return self.a.mov16_mr(RBP, at, RAX);
            }
            4 => {
                self.a.bswap32(RAX);
                return self.a.mov32_mr(RBP, at, RAX);
            }
            _ => {}
        }
        self.a.shl(RAX, (64 - n) as u8);
        self.a.bswap(RAX);
        if over || left == 8 {
            return self.a.mov_mr(RBP, at, RAX);
        }
        let mut to = at;
        for k in [4, 2, 1] {
            if left < k {
                continue;
            }
            match k {
                4 => self.a.mov32_mr(RBP, to, RAX),
                2 => self.a.mov16_mr(RBP, to, RAX),
                _ => self.a.mov8_mr(RBP, to, RAX),
            }
            left -= k;
            to += k as i32;
            if left > 0 {
                self.a.shr(RAX, 8 * k as u8);
            }
        }
    }
}

impl Part {
    fn fields(&self) -> &[(Field, u64)] {
        match self {
            Part::Fields(fields, _) => fields,
            _ => &[],
        }
    }
}
