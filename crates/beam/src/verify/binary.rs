//! Instructions that match and build bit strings.
//!
//! Templates ensure that a match stays inside its bit string: they compare with the context's end,
//! also in `bs_set_position`. This file checks only the operands.

use super::flow::Flow;
use super::ty::Ty;
use super::What;
use crate::bs_match::{match_commands, MatchCommand};
use crate::code::Arg;
use kvik_isa::Opcode;

type Done = Option<Result<(), What>>;
type Step = Result<(), What>;

impl Flow<'_> {
    pub(crate) fn step_binary(&mut self, op: Opcode, args: &[Arg], list: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::BsStartMatch3, [fail, s, Arg::U(live), to]) => {
                self.start_match(*fail, *s, *live, *to)
            }
            (Opcode::BsStartMatch4, [fail, Arg::U(live), s, to]) => {
                self.start_match4(*fail, *s, *live, *to)
            }
            (Opcode::BsGetInteger2, [fail, ctx, Arg::U(live), size, Arg::U(unit), _, to]) => {
                let ty = integer(*size, *unit);
                self.term(*size).and_then(|_| self.get(*fail, *ctx, *live, *to, ty))
            }
            (Opcode::BsGetFloat2, [fail, ctx, Arg::U(live), size, _, _, to]) => {
                self.term(*size).and_then(|_| self.get(*fail, *ctx, *live, *to, Ty::FLOAT))
            }
            (Opcode::BsGetBinary2, [fail, ctx, Arg::U(live), size, _, _, to]) => {
                self.term(*size).and_then(|_| self.get(*fail, *ctx, *live, *to, Ty::BITSTRING))
            }
            (
                Opcode::BsGetUtf8 | Opcode::BsGetUtf16 | Opcode::BsGetUtf32,
                [fail, ctx, Arg::U(live), _, to],
            ) => self.get(*fail, *ctx, *live, *to, Ty::SMALL),
            (
                Opcode::BsSkipUtf8 | Opcode::BsSkipUtf16 | Opcode::BsSkipUtf32,
                [fail, ctx, Arg::U(live), _],
            ) => self.skip_utf(*fail, *ctx, *live),
            (Opcode::BsSkipBits2, [fail, ctx, size, ..]) => {
                self.term(*size).and_then(|_| self.skip(*fail, *ctx))
            }
            (Opcode::BsTestTail2 | Opcode::BsTestUnit | Opcode::BsMatchString, [fail, ctx, ..]) => {
                self.skip(*fail, *ctx)
            }
            (Opcode::BsMatch, [fail, ctx, _]) => self.bs_match(*fail, *ctx, list),
            (Opcode::BsGetTail, [ctx, to, Arg::U(live)]) => {
                self.take(*ctx, *to, *live, Ty::BITSTRING)
            }
            (Opcode::BsGetPosition, [ctx, to, Arg::U(live)]) => {
                self.take(*ctx, *to, *live, Ty::SMALL)
            }
            (Opcode::BsSetPosition, [ctx, position]) => self.set_position(*ctx, *position),
            _ => return self.step_building(op, args, list),
        })
    }

    fn step_building(&mut self, op: Opcode, args: &[Arg], list: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::BsCreateBin, [fail, need, Arg::U(live), _, to, _]) => {
                self.create(*fail, *need, *live, *to, list)
            }
            (Opcode::BsInitWritable, _) => {
                self.term(Arg::X(0, 0)).and_then(|_| self.called(Ty::BITSTRING))
            }
            (Opcode::BsInit2 | Opcode::BsInitBits, [fail, size, need, Arg::U(live), _, to])
            | (Opcode::BsAppend, [fail, size, need, Arg::U(live), _, _, _, to]) => {
                self.size(*size).and_then(|()| self.create(*fail, *need, *live, *to, list))
            }
            // It names no live registers: it never collects.
            (Opcode::BsPrivateAppend, [fail, size, _, _, _, to]) => self
                .size(*size)
                .and_then(|()| self.segment_values(list))
                .and_then(|()| self.fail(*fail))
                .and_then(|()| self.write(*to, Ty::BITSTRING)),
            (Opcode::BsAdd, [fail, a, b, _, to]) => self
                .term(*a)
                .and_then(|_| self.term(*b))
                .and_then(|_| self.fail(*fail))
                .and_then(|()| self.write(*to, Ty::INTEGER)),
            (Opcode::BsUtf8Size | Opcode::BsUtf16Size, [fail, s, to]) => self
                .term(*s)
                .and_then(|_| self.fail(*fail))
                .and_then(|()| self.write(*to, Ty::SMALL)),
            _ => return None,
        })
    }

    fn start_match(&mut self, fail: Arg, s: Arg, live: u64, to: Arg) -> Step {
        let before = self.movable(s)?;
        self.st.check_live(live as usize)?;
        if let Arg::Label(label) = fail {
            if label == 0 {
                self.raise()?;
            } else {
                self.branch_with(label, s, before.without(Ty::MATCHABLE))?;
            }
        }
        self.matching(s, before, live, to)
    }

    /// `no_fail` says that the source is a bit string or context. `resume` says that it is a
    /// context, but the template also accepts a bit string, so nothing more is known afterwards.
    fn start_match4(&mut self, fail: Arg, s: Arg, live: u64, to: Arg) -> Step {
        if !matches!(fail, Arg::Atom(_)) {
            return self.start_match(fail, s, live, to);
        }
        let before = self.movable(s)?;
        self.rely(before.is(Ty::MATCHABLE));
        self.matching(s, before, live, to)
    }

    fn matching(&mut self, s: Arg, before: Ty, live: u64, to: Arg) -> Step {
        self.known(s, before.meet(Ty::MATCHABLE));
        self.collect(live as usize)?;
        self.write(to, Ty::CONTEXT)
    }

    /// Matches and makes a term. On failure nothing was collected and no register changed.
    fn get(&mut self, fail: Arg, ctx: Arg, live: u64, to: Arg, ty: Ty) -> Step {
        self.context(ctx)?;
        self.st.check_live(live as usize)?;
        self.st.check_y()?;
        self.fail(fail)?;
        self.collect(live as usize)?;
        self.write(to, ty)
    }

    /// Checks the commands in order. Only the first and comparisons fail; those that make a term
    /// may collect first.
    fn bs_match(&mut self, fail: Arg, ctx: Arg, list: &[Arg]) -> Step {
        let before = self.movable(ctx)?;
        self.context(ctx)?;
        self.st.check_y()?;
        for command in match_commands(self.tables.module, list)? {
            match command {
                MatchCommand::EnsureAtLeast { .. } | MatchCommand::EnsureExactly { .. } => {
                    self.fail(fail)?;
                    // Proved or tested, it holds from here on.
                    self.known(ctx, before.meet(Ty::CONTEXT));
                }
                MatchCommand::Integer { live, bits, to, .. } => {
                    self.matched(ctx, live, to, integer(Arg::Int(bits as i64), 1))?
                }
                MatchCommand::Binary { live, to, .. } | MatchCommand::Tail { live, to } => {
                    self.matched(ctx, live, to, Ty::BITSTRING)?
                }
                MatchCommand::Skip { .. } => self.still_context(ctx)?,
                MatchCommand::Equal { .. } => {
                    self.still_context(ctx)?;
                    self.fail(fail)?
                }
            }
        }
        Ok(())
    }

    fn matched(&mut self, ctx: Arg, live: u64, to: Arg, ty: Ty) -> Step {
        self.collect(live as usize)?;
        self.still_context(ctx)?;
        self.write(to, ty)
    }

    /// An earlier command may have overwritten the context's register, or made it dead.
    fn still_context(&self, ctx: Arg) -> Step {
        match self.read(ctx)?.is(Ty::CONTEXT) {
            true => Ok(()),
            false => Err("a match goes on without its context"),
        }
    }

    fn skip_utf(&mut self, fail: Arg, ctx: Arg, live: u64) -> Step {
        self.st.check_live(live as usize)?;
        self.skip(fail, ctx)
    }

    fn skip(&mut self, fail: Arg, ctx: Arg) -> Step {
        self.context(ctx)?;
        self.fail(fail)
    }

    fn take(&mut self, ctx: Arg, to: Arg, live: u64, ty: Ty) -> Step {
        self.context(ctx)?;
        self.collect(live as usize)?;
        self.write(to, ty)
    }

    fn set_position(&mut self, ctx: Arg, position: Arg) -> Step {
        let small = self.term(position)?.is(Ty::SMALL);
        self.context(ctx)?;
        self.rely(small);
        Ok(())
    }

    fn size(&self, size: Arg) -> Step {
        match size {
            Arg::U(_) | Arg::Overflow => Ok(()),
            _ => self.term(size).map(drop),
        }
    }

    fn segment_values(&self, list: &[Arg]) -> Step {
        for segment in list.chunks_exact(6) {
            let [_, _, _, _, value, size] = segment else {
                continue;
            };
            self.size(*value)?;
            self.size(*size)?;
        }
        Ok(())
    }

    fn create(&mut self, fail: Arg, need: Arg, live: u64, to: Arg, list: &[Arg]) -> Step {
        // Values are read after a collection.
        self.collect(live as usize)?;
        self.segment_values(list)?;
        self.fail(fail)?;
        self.reserve(need)?;
        self.write(to, Ty::BITSTRING)
    }
}

/// The type of an integer of that many bits.
fn integer(size: Arg, unit: u64) -> Ty {
    match size {
        Arg::Int(n @ 0..=59) if unit <= 59 && n as u64 * unit <= 59 => Ty::SMALL,
        _ => Ty::INTEGER,
    }
}
