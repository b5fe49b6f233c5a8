//! Instructions that move, test, build and take apart terms.

use super::flow::Flow;
use super::state::Heap;
use super::ty::Ty;
use super::{What, MAX_TUPLE};
use crate::code::Arg;
use kvik_isa::Opcode;

type Done = Option<Result<(), What>>;

/// Heap words of a boxed float.
const FLOAT_WORDS: u32 = 2;

impl Flow<'_> {
    pub(crate) fn step_terms(&mut self, op: Opcode, args: &[Arg], list: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::Label | Opcode::Line | Opcode::NifStart | Opcode::OnLoad, _)
            | (Opcode::ExecutableLine, _) => Ok(()),
            (Opcode::DebugLine, [Arg::Atom(kind), _, _, Arg::U(live)]) => {
                self.debug_line(*kind, *live)
            }
            (Opcode::Move, [from, to]) => self.movable(*from).and_then(|ty| self.write(*to, ty)),
            (Opcode::Swap, [a, b]) => self.swap(*a, *b),
            (Opcode::GetTupleElement, [tuple, Arg::U(index), to]) => {
                self.get_element(*tuple, *index, *to)
            }
            (Opcode::SetTupleElement, [value, tuple, Arg::U(index)]) => {
                self.set_element(*value, *tuple, *index)
            }
            (Opcode::GetList, [cell, head, tail]) => self
                .cell(*cell)
                .and_then(|()| self.write(*head, Ty::TERM))
                .and_then(|()| self.write(*tail, Ty::TERM)),
            (Opcode::GetHd | Opcode::GetTl, [cell, to]) => {
                self.cell(*cell).and_then(|()| self.write(*to, Ty::TERM))
            }
            (Opcode::PutList, [head, tail, to]) => self.put_list(*head, *tail, *to),
            (Opcode::PutTuple2, [to, _]) => self.put_tuple(*to, list),
            (Opcode::UpdateRecord, [_, Arg::U(size), from, to, _]) => {
                self.update_record(*size, *from, *to, list)
            }
            (Opcode::MakeFun3, [Arg::U(lambda), to, _]) => self.make_fun(*lambda, *to, list),
            (Opcode::IsEqExact | Opcode::IsNeExact, [label, a, b]) => {
                self.same(op == Opcode::IsEqExact, *label, *a, *b)
            }
            (Opcode::IsLt | Opcode::IsGe | Opcode::IsEq | Opcode::IsNe, [label, a, b]) => {
                self.compare(*label, *a, *b)
            }
            (Opcode::IsFunction2, [label, fun, arity]) => {
                self.term(*arity).and_then(|_| self.test(*label, *fun, Ty::FUN, false))
            }
            (Opcode::IsBinary, [label, s]) => self.test(*label, *s, Ty::BITSTRING, false),
            (Opcode::IsBitstr, [label, s]) => self.test_bits(*label, *s),
            (Opcode::IsBoolean, [label, s]) => self.test(*label, *s, Ty::ATOM, false),
            (Opcode::IsNativeRecord, [label, s, _, _])
            | (Opcode::IsRecordAccessible, [label, s, _]) => {
                self.record(*s).and_then(|()| self.test(*label, *s, Ty::RECORD, false))
            }
            (Opcode::GetRecordElements, [label, s, _]) => {
                self.record(*s).and_then(|()| self.get_values(*label, list))
            }
            (Opcode::PutRecord, [_, _, s, to, Arg::U(live), _]) => {
                self.put_record(*s, *to, *live, list)
            }
            (Opcode::GetRecordField, [label, s, _, _, to]) => self
                .term(*s)
                .and_then(|_| self.fail(*label))
                .and_then(|()| self.write(*to, Ty::TERM)),
            (Opcode::IsTaggedTuple, [label, s, Arg::U(arity), _]) => {
                self.test(*label, *s, Ty::exactly(*arity as usize), false)
            }
            (Opcode::TestArity, [label, s, Arg::U(arity)]) => self.test_arity(*label, *s, *arity),
            (_, [label, s]) if Ty::of_test(op).is_some() => {
                self.test(*label, *s, Ty::of_test(op).unwrap_or(Ty::TERM), true)
            }
            (Opcode::SelectVal, [s, fail, _]) => self.select(*s, *fail, list),
            (Opcode::SelectTupleArity, [s, fail, _]) => self.select_arity(*s, *fail, list),
            (Opcode::HasMapFields, [label, map, _]) => self.has_fields(*label, *map, list),
            (Opcode::GetMapElements, [label, map, _]) => self.get_fields(*label, *map, list),
            (Opcode::PutMapAssoc | Opcode::PutMapExact, [label, map, to, Arg::U(live), _]) => {
                self.put_map(*label, *map, *to, *live, list)
            }
            (Opcode::Fmove, [from, to]) => self.fmove(*from, *to),
            (Opcode::Fconv, [from, to]) => self.fconv(*from, *to),
            (Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv, [fail, a, b, to]) => {
                self.float_result(*fail, &[*a, *b], *to)
            }
            (Opcode::Fnegate, [fail, a, to]) => self.float_result(*fail, &[*a], *to),
            (Opcode::Fclearerror | Opcode::Fcheckerror, _) => Ok(()),
            _ => return None,
        })
    }

    /// A breakpoint may be set here, unless the place is a function's entry: then other code runs
    /// before this goes on, with the live x registers and the frame as they are.
    fn debug_line(&mut self, kind: u32, live: u64) -> Result<(), What> {
        if self.tables.module.atom(kind) == Some("entry") {
            return Ok(());
        }
        self.collect(live as usize)?;
        self.keep_message();
        Ok(())
    }

    fn swap(&mut self, a: Arg, b: Arg) -> Result<(), What> {
        let (old_a, old_b) = (self.movable(a)?, self.movable(b)?);
        self.write(a, old_b)?;
        self.write(b, old_a)
    }

    /// The instruction relies on a list cell.
    fn cell(&mut self, arg: Arg) -> Result<(), What> {
        let ty = self.term(arg)?;
        self.rely(ty.is(Ty::CONS));
        self.known(arg, ty.meet(Ty::CONS));
        Ok(())
    }

    /// The instruction relies on a tuple, and fails like a test if it isn't one: on the failure
    /// edge nothing more is known.
    fn test_arity(&mut self, label: Arg, s: Arg, arity: u64) -> Result<(), What> {
        let ty = self.term(s)?;
        self.rely(ty.is(Ty::TUPLE));
        if ty.is_exactly(arity) {
            return Ok(());
        }
        self.test(label, s, Ty::exactly(arity as usize), false)
    }

    /// The instruction relies on a map. Any other term raises, so the type holds afterwards.
    fn map(&mut self, arg: Arg) -> Result<(), What> {
        let ty = self.term(arg)?;
        self.rely(ty.is(Ty::MAP));
        Ok(())
    }

    fn get_element(&mut self, tuple: Arg, index: u64, to: Arg) -> Result<(), What> {
        let ty = self.term(tuple)?;
        if index >= MAX_TUPLE {
            return self.no_such_element();
        }
        self.rely(ty.is_tuple_with(index));
        // Proved or tested, it holds from here on.
        self.known(tuple, ty.meet(Ty::tuple(index as usize + 1)));
        self.write(to, Ty::TERM)
    }

    /// Only a tuple just made by `setelement/3` may be changed in place, and not to contain itself.
    fn set_element(&mut self, value: Arg, tuple: Arg, index: u64) -> Result<(), What> {
        self.term(value)?;
        let ty = self.term(tuple)?;
        if self.fresh.is_empty() {
            return Err("not right behind setelement/3");
        }
        if !self.fresh.holds(tuple) || !ty.is(Ty::TUPLE) {
            return Err("not the tuple that setelement/3 made");
        }
        if self.fresh.holds(value) {
            return Err("a tuple that contains itself");
        }
        if index >= MAX_TUPLE {
            return self.no_such_element();
        }
        self.rely(ty.is_tuple_with(index));
        self.keep_message();
        Ok(())
    }

    /// No tuple has an element at the index, so the template is a trap. It is there for code that
    /// only the compiler knows to be unreachable: behind `setelement/3` with such an index.
    fn no_such_element(&mut self) -> Result<(), What> {
        self.rely(false);
        self.stop();
        Ok(())
    }

    /// Consumes reserved words.
    fn take_words(&mut self, words: usize) -> Result<(), What> {
        let words = u32::try_from(words).map_err(|_| "too large")?;
        let left = self.st.heap.words.checked_sub(words);
        self.st.heap.words = left.ok_or("builds a term without having reserved the words")?;
        Ok(())
    }

    fn put_list(&mut self, head: Arg, tail: Arg, to: Arg) -> Result<(), What> {
        self.term(head)?;
        self.term(tail)?;
        self.take_words(2)?;
        self.write(to, Ty::CONS)
    }

    fn put_tuple(&mut self, to: Arg, list: &[Arg]) -> Result<(), What> {
        list.iter().try_for_each(|arg| self.term(*arg).map(drop))?;
        self.take_words(list.len() + 1)?;
        self.write(to, Ty::exactly(list.len()))
    }

    /// The instruction relies on a tuple of exactly this size.
    fn update_record(&mut self, size: u64, from: Arg, to: Arg, list: &[Arg]) -> Result<(), What> {
        let ty = self.term(from)?;
        list.iter().skip(1).step_by(2).try_for_each(|arg| self.term(*arg).map(drop))?;
        self.rely(ty.is_exactly(size));
        self.take_words(size as usize + 1)?;
        self.write(to, Ty::exactly(size as usize))
    }

    fn make_fun(&mut self, lambda: u64, to: Arg, free: &[Arg]) -> Result<(), What> {
        free.iter().try_for_each(|arg| self.term(*arg).map(drop))?;
        let lambda = self.tables.module.lambdas.get(lambda as usize).ok_or("no such fun")?;
        if usize::from(lambda.free) != free.len() {
            return Err("the wrong number of free variables");
        }
        self.take_words(free.len())?;
        let left = self.st.heap.funs.checked_sub(1);
        self.st.heap.funs = left.ok_or("makes a fun without having reserved it")?;
        self.write(to, Ty::FUN)
    }

    /// A type test. `exact`: if it fails, the source is certainly of another type.
    fn test(&mut self, label: Arg, s: Arg, ty: Ty, exact: bool) -> Result<(), What> {
        if !self.alive {
            return Ok(());
        }
        let before = self.term(s)?;
        self.test_of(before, label, s, ty, exact)
    }

    /// Since OTP 27 compilers let `is_bitstr` test what may be a match context, which passes.
    fn test_bits(&mut self, label: Arg, s: Arg) -> Result<(), What> {
        if !self.alive {
            return Ok(());
        }
        let before = self.movable(s)?;
        self.test_of(before, label, s, Ty::MATCHABLE, true)
    }

    fn test_of(&mut self, before: Ty, label: Arg, s: Arg, ty: Ty, exact: bool) -> Result<(), What> {
        let Arg::Label(label) = label else {
            return Err("not a label");
        };
        self.branch_with(label, s, if exact { before.without(ty) } else { before })?;
        self.known(s, before.meet(ty));
        Ok(())
    }

    /// The instruction tests for a native record unless one is proved.
    fn record(&mut self, s: Arg) -> Result<(), What> {
        let ty = self.term(s)?;
        self.rely(ty.is(Ty::RECORD));
        Ok(())
    }

    /// A native record, made from values and defaults or from the record `s`.
    fn put_record(&mut self, s: Arg, to: Arg, live: u64, list: &[Arg]) -> Result<(), What> {
        self.term(s)?;
        list.iter().skip(1).step_by(2).try_for_each(|arg| self.term(*arg).map(drop))?;
        self.collect(live as usize)?;
        self.raise()?;
        self.write(to, Ty::RECORD)
    }

    fn compare(&mut self, label: Arg, a: Arg, b: Arg) -> Result<(), What> {
        let (a, b) = (self.term(a)?, self.term(b)?);
        self.rely(a.is(Ty::SMALL) && b.is(Ty::SMALL));
        self.fail(label)
    }

    /// `=:=` with a constant determines a register's type.
    fn same(&mut self, equal: bool, label: Arg, a: Arg, b: Arg) -> Result<(), What> {
        let Arg::Label(label) = label else {
            return Err("not a label");
        };
        let (of_a, of_b) = (self.term(a)?, self.term(b)?);
        let (reg, other, both, constant) = match (a, b) {
            (Arg::X(..) | Arg::Y(..), _) => (a, of_a, of_a.meet(of_b), b),
            _ => (b, of_b, of_b.meet(of_a), a),
        };
        // Only `[]` has a type of its own, so only inequality with it tells the type.
        let different = match constant {
            Arg::Nil => other.without(Ty::NIL),
            _ => other,
        };
        let (jump, stay) = if equal { (different, both) } else { (both, different) };
        self.branch_with(label, reg, jump)?;
        self.known(reg, stay);
        Ok(())
    }

    fn select(&mut self, s: Arg, fail: Arg, list: &[Arg]) -> Result<(), What> {
        let ty = self.term(s)?;
        for pair in list.chunks_exact(2) {
            let [value, Arg::Label(label)] = pair else {
                return Err("not a label");
            };
            let ty = ty.meet(self.read(*value)?);
            self.branch_with(*label, s, ty)?;
        }
        self.fail(fail)?;
        self.stop();
        Ok(())
    }

    fn select_arity(&mut self, s: Arg, fail: Arg, list: &[Arg]) -> Result<(), What> {
        let ty = self.term(s)?;
        self.rely(ty.is(Ty::TUPLE));
        for pair in list.chunks_exact(2) {
            let [Arg::U(arity), Arg::Label(label)] = pair else {
                return Err("not a label");
            };
            self.branch_with(*label, s, ty.meet(Ty::exactly(*arity as usize)))?;
        }
        self.fail(fail)?;
        self.stop();
        Ok(())
    }

    fn has_fields(&mut self, label: Arg, map: Arg, keys: &[Arg]) -> Result<(), What> {
        self.map(map)?;
        keys.iter().try_for_each(|key| self.term(*key).map(drop))?;
        self.fail(label)
    }

    fn get_fields(&mut self, label: Arg, map: Arg, list: &[Arg]) -> Result<(), What> {
        self.map(map)?;
        self.get_values(label, list)
    }

    /// The values of keys go to registers. If a key is missing, those of other keys may have been
    /// written already.
    fn get_values(&mut self, label: Arg, list: &[Arg]) -> Result<(), What> {
        for pair in list.chunks_exact(2) {
            let [key, _] = pair else { continue };
            self.term(*key)?;
        }
        let targets = || list.iter().skip(1).step_by(2).copied();
        for to in targets() {
            if !self.read(to)?.has(Ty::UNINIT) {
                self.write(to, Ty::TERM)?;
            }
        }
        self.fail(label)?;
        targets().try_for_each(|to| self.write(to, Ty::TERM))
    }

    fn put_map(
        &mut self,
        fail: Arg,
        map: Arg,
        to: Arg,
        live: u64,
        list: &[Arg],
    ) -> Result<(), What> {
        self.map(map)?;
        list.iter().try_for_each(|arg| self.term(*arg).map(drop))?;
        self.collect(live as usize)?;
        self.fail(fail)?;
        self.write(to, Ty::MAP)
    }

    fn fmove(&mut self, from: Arg, to: Arg) -> Result<(), What> {
        match (from, to) {
            (Arg::Float(f), Arg::X(..) | Arg::Y(..)) => {
                self.st.check_float(f)?;
                if let Some(left) = self.st.heap.floats.checked_sub(1) {
                    self.st.heap.floats = left;
                } else {
                    self.take_words(FLOAT_WORDS as usize)?;
                }
                self.write(to, Ty::FLOAT)
            }
            (Arg::Float(_), _) => Err("a float goes nowhere"),
            (_, Arg::Float(f)) => {
                let ty = self.term(from)?;
                self.rely(ty.is(Ty::FLOAT));
                match from {
                    Arg::Literal(_) if !ty.is(Ty::FLOAT) => Err("a literal that is no float"),
                    _ => {
                        self.st.set_float(f, Ty::FLOAT);
                        Ok(())
                    }
                }
            }
            _ => Err("no float register"),
        }
    }

    fn fconv(&mut self, from: Arg, to: Arg) -> Result<(), What> {
        let ty = self.term(from)?;
        self.raise()?;
        self.known(from, ty.meet(Ty::NUMBER));
        self.write_float(to)
    }

    fn write_float(&mut self, to: Arg) -> Result<(), What> {
        let Arg::Float(f) = to else { return Err("no float register") };
        self.st.set_float(f, Ty::FLOAT);
        Ok(())
    }

    /// On failure it wrote no finite number, or nothing.
    fn float_result(&mut self, fail: Arg, from: &[Arg], to: Arg) -> Result<(), What> {
        for arg in from {
            let Arg::Float(f) = arg else { return Err("no float register") };
            self.st.check_float(*f)?;
        }
        let Arg::Float(f) = to else { return Err("no float register") };
        self.st.set_float(f, Ty::UNINIT);
        self.fail(fail)?;
        self.write_float(to)
    }

    /// Reserves what an operand of kind `h` requests.
    pub(crate) fn reserve(&mut self, need: Arg) -> Result<(), What> {
        self.st.heap = match need {
            Arg::U(words) => {
                let words = u32::try_from(words).map_err(|_| "too large")?;
                Heap { words, floats: 0, funs: 0 }
            }
            Arg::Alloc(list) => Heap { words: list.words, floats: list.floats, funs: list.funs },
            _ => return Err("not a heap need"),
        };
        Ok(())
    }
}
