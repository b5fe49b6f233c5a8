//! Bit strings. Frequent cases are matched (`get`, `test`) and built by native code; this file has
//! the rest, which the runtime does (`heap::bits`, `heap::bits_build`).

mod build;
mod commands;
mod get;
mod test;

use kvik_beam::{Arg, Op, Opcode};
use kvik_heap::bits_build::{Seg, SegKind};
use kvik_term::am;
use kvik_term::word::NIL;

use crate::compiler::{Compiler, EmitResult};
use crate::rt::bits;
use crate::x86_64::asm::*;
use crate::LoadError;
use build::{Plan, Segment};

/// Unit and flags in one word.
fn pack(unit: u64, flags: u64) -> u64 {
    flags << 32 | unit
}

impl<'m> Compiler<'m> {
    pub fn bits(&mut self, op: &Op) -> EmitResult {
        use Opcode::*;
        if !self.proof.checked_needed(self.at) && self.bits_inline(op)? {
            return Ok(());
        }
        match (op.opcode, self.args(op)) {
            (BsStartMatch3, [j, s, Arg::U(v), d]) => self.start_match(*j, *s, *v, *d),
            (BsStartMatch4, [p, Arg::U(v), s, d]) => self.start_match(*p, *s, *v, *d),
            (BsGetInteger2, [j, c, _, size, Arg::U(u), Arg::U(fl), d]) => {
                self.matching(*j, bits::get_integer, &[*c, *size], pack(*u, *fl), Some(*d))
            }
            (BsGetFloat2, [j, c, _, size, Arg::U(u), Arg::U(fl), d]) => {
                self.matching(*j, bits::get_float, &[*c, *size], pack(*u, *fl), Some(*d))
            }
            (BsGetBinary2, [j, c, _, size, Arg::U(u), Arg::U(fl), d]) => {
                self.matching(*j, bits::get_binary, &[*c, *size], pack(*u, *fl), Some(*d))
            }
            (BsSkipBits2, [j, c, size, Arg::U(u), _]) => {
                self.matching(*j, bits::skip, &[*c, *size], *u, None)
            }
            (BsTestTail2, [j, c, Arg::U(n)]) => self.matching(*j, bits::test_tail, &[*c], *n, None),
            // More bits than any bit string has.
            (BsTestTail2, [j, c, Arg::Overflow]) => {
                self.matching(*j, bits::test_tail, &[*c], u64::MAX, None)
            }
            (BsTestUnit, [j, c, Arg::U(n)]) => self.matching(*j, bits::test_unit, &[*c], *n, None),
            (BsMatchString, [j, c, Arg::U(n), Arg::U(at)]) => {
                let s = self.string(*at, (*n).div_ceil(8))?;
                self.matching(*j, bits::match_string, &[*c, Arg::U(*n)], string_word(s), None)
            }
            (BsMatch, [f, c, _]) => self.match_commands(*f, *c, self.list(op)),
            (BsGetTail, [c, d, _]) => self.matching(Arg::Nil, bits::get_tail, &[*c], 0, Some(*d)),
            (BsGetPosition, [c, d, _]) => {
                self.matching(Arg::Nil, bits::get_position, &[*c], 0, Some(*d))
            }
            (BsSetPosition, [c, p]) => {
                self.matching(Arg::Nil, bits::set_position, &[*c, *p], 0, None)
            }
            (BsGetUtf8, [j, c, _, _, d]) => self.matching(*j, bits::get_utf8, &[*c], 0, Some(*d)),
            (BsSkipUtf8, [j, c, _, _]) => self.matching(*j, bits::get_utf8, &[*c], 0, None),
            (BsGetUtf16, [j, c, _, Arg::U(fl), d]) => {
                self.matching(*j, bits::get_utf16, &[*c], *fl, Some(*d))
            }
            (BsSkipUtf16, [j, c, _, Arg::U(fl)]) => {
                self.matching(*j, bits::get_utf16, &[*c], *fl, None)
            }
            (BsGetUtf32, [j, c, _, Arg::U(fl), d]) => {
                self.matching(*j, bits::get_utf32, &[*c], *fl, Some(*d))
            }
            (BsSkipUtf32, [j, c, _, Arg::U(fl)]) => {
                self.matching(*j, bits::get_utf32, &[*c], *fl, None)
            }
            (BsInitWritable, _) => {
                self.matching(Arg::Nil, bits::init_writable, &[Arg::X(0, 0)], 0, Some(Arg::X(0, 0)))
            }
            (BsCreateBin, [j, h, Arg::U(live), _, d, ..]) => {
                self.create_bin(*j, *d, self.list(op), self.heap_words(*h), Some(*live))
            }
            // Emitted by compilers before OTP 25.
            (BsInit2 | BsInitBits, [j, _, h, Arg::U(live), _, d])
            | (BsAppend, [j, _, h, Arg::U(live), _, _, _, d]) => {
                self.create_bin(*j, *d, self.list(op), self.heap_words(*h), Some(*live))
            }
            (BsPrivateAppend, [j, _, _, _, _, d]) => {
                self.create_bin(*j, *d, self.list(op), 0, None)
            }
            (BsAdd, [j, a, b, Arg::U(unit), d]) => {
                let fail = self.fail(*j)?;
                self.call_rt(bits::add_sizes, &[*a, *b], *unit)?;
                self.none_fails(fail);
                self.store(*d, RAX)
            }
            (BsUtf8Size, [_, s, d]) => self.matching(Arg::Nil, bits::utf8_size, &[*s], 0, Some(*d)),
            (BsUtf16Size, [_, s, d]) => {
                self.matching(Arg::Nil, bits::utf16_size, &[*s], 0, Some(*d))
            }
            _ => Err(LoadError::Unsupported(op.opcode.name())),
        }
    }

    fn matching(
        &mut self,
        j: Arg,
        f: crate::rt::Fun,
        args: &[Arg],
        extra: impl Into<CodeWord>,
        d: Option<Arg>,
    ) -> EmitResult {
        self.call_rt(f, args, extra)?;
        match self.fail(j)? {
            Some(fail) => self.none_fails(Some(fail)),
            // `NONE` here only means that the operand is not a match context.
            None if d.is_some() => {
                let bad = self.a.label();
                crate::x86_64::stubs::none_to(&mut self.a, bad);
                self.impossible(bad);
            }
            None => {}
        }
        match d {
            Some(d) => self.store(d, RAX),
            None => Ok(()),
        }
    }

    fn string(&self, at: u64, len: u64) -> Result<*const u8, LoadError> {
        let end = at.checked_add(len).filter(|e| *e <= self.strings.len() as u64);
        end.map(|_| self.strings[at as usize..].as_ptr()).ok_or_else(|| self.refuse("string"))
    }

    /// `words` of heap are reserved for the following instructions: the binary may not use them.
    /// `live` is `None` if no collection is allowed.
    fn create_bin(
        &mut self,
        j: Arg,
        d: Arg,
        list: &'m [Arg],
        words: usize,
        live: Option<u64>,
    ) -> EmitResult {
        let segments = self.segments(list)?;
        let plan = live.and_then(|live| Some((Plan::of(&segments)?, live)));
        let Some((plan, live)) = plan else {
            if let Some(live) = live {
                self.need(words, live);
            }
            return self.create_by_runtime(j, d, list, words);
        };
        self.need(words + plan.words(), live);
        let (other, done) = (self.a.label(), self.a.label());
        self.build(&plan, d, other)?;
        self.a.place(done);
        self.later(move |c| {
            c.a.place(other);
            c.create_by_runtime(j, d, list, words)?;
            c.a.jmp(done);
            Ok(())
        });
        Ok(())
    }
    fn segments(&self, list: &[Arg]) -> Result<Vec<Segment<'m>>, LoadError> {
        let mut segments = Vec::new();
        for s in list.chunks_exact(6) {
            let [kind, _, unit, flags, value, size] = *s else {
                return Err(self.refuse("segment"));
            };
            let kind = match kind {
                Arg::Atom(i) => self.module.atom(i),
                Arg::U(i) => kvik_beam::SEGMENT_TYPES.get(i as usize).copied(),
                _ => None,
            };
            let kind = kind.and_then(SegKind::from_name);
            let kind = kind.ok_or_else(|| self.refuse("segment type"))?;
            let mut bytes: &'m [u8] = &[];
            if kind == SegKind::String {
                let (Some(at), Some(len)) = (number_of(value), number_of(size)) else {
                    return Err(self.refuse("segment"));
                };
                self.string(at, len)?;
                bytes = self.strings.get(at as usize..(at + len) as usize).unwrap_or(&[]);
            }
            segments.push(Segment {
                kind,
                unit: number_of(unit).unwrap_or(1),
                flags: self.segment_flags(flags),
                value,
                size,
                all: self.constant(size) == Some(am::all.word()),
                bytes,
            });
        }
        Ok(segments)
    }
    fn create_by_runtime(&mut self, j: Arg, d: Arg, list: &[Arg], words: usize) -> EmitResult {
        let mut segs = Vec::new();
        let mut args = Vec::new();
        for (s, plain) in list.chunks_exact(6).zip(self.segments(list)?) {
            let (string, value, size) = match plain.kind {
                SegKind::String => {
                    (plain.bytes.as_ptr(), Arg::Nil, Arg::Int(plain.bytes.len() as i64))
                }
                _ => (std::ptr::null(), s[4], s[5]),
            };
            segs.push(Seg {
                kind: plain.kind,
                number: number_of(s[1]).unwrap_or(0) as u32,
                unit: plain.unit as u32,
                flags: plain.flags,
                string,
            });
            args.extend([value, size]);
        }
        let segs = segs.into_boxed_slice();
        let address = Box::as_ref(&segs).as_ptr() as u64;
        let extra = CodeWord { value: address, kind: WordKind::Segments };
        let n = segs.len() as i64;
        self.segments.push(segs);
        args.push(Arg::Int(n | (words as i64) << 32));
        // The number of segments and the words come first, so that the runtime finds them.
        args.rotate_right(1);
        let fail = self.fail(j)?;
        self.call_rt(bits::create_bin, &args, extra)?;
        self.none_fails(fail);
        self.store(d, RAX)
    }

    /// Flags as a literal list of atoms, or as their bits.
    pub(super) fn segment_flags(&self, arg: Arg) -> u32 {
        use kvik_heap::bits::{LITTLE, NATIVE, SIGNED};
        if let Arg::U(bits) = arg {
            return bits as u32 & (LITTLE | SIGNED | NATIVE);
        }
        let w = match self.constant(arg) {
            Some(w) if w != NIL => w,
            _ => return 0,
        };
        // SAFETY: a literal of this module, which lives as long as the compiler.
        let t = unsafe { kvik_term::Term::from_word(w) };
        t.list().fold(0, |bits, f| {
            bits | match f.as_atom() {
                Some(am::little) => LITTLE,
                Some(am::signed) => SIGNED,
                Some(am::native) => NATIVE,
                _ => 0,
            }
        })
    }
}

/// A place in the module's string table.
fn string_word(s: *const u8) -> CodeWord {
    CodeWord { value: s as u64, kind: WordKind::String }
}

fn number_of(arg: Arg) -> Option<u64> {
    match arg {
        Arg::U(n) => Some(n),
        Arg::Int(n) => u64::try_from(n).ok(),
        _ => None,
    }
}
