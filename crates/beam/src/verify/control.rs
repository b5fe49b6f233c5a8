//! Control flow instructions: calls, frames, BIFs, exceptions, receive.

use super::bifs::{Bif, Guard};
use super::flow::Flow;
use super::state::{Frame, EXCEPTION, NORMAL};
use super::ty::Ty;
use super::What;
use crate::code::Arg;
use kvik_isa::Opcode;

type Done = Option<Result<(), What>>;
type Step = Result<(), What>;

impl Flow<'_> {
    pub(crate) fn step_control(&mut self, op: Opcode, args: &[Arg], list: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::Call, [Arg::U(arity), Arg::Label(entry)]) => {
                self.local_args(*arity, *entry).and_then(|()| self.called(Ty::TERM))
            }
            (Opcode::CallOnly, [Arg::U(arity), Arg::Label(entry)]) => {
                self.local_args(*arity, *entry).and_then(|()| self.tail_call(None))
            }
            (Opcode::CallLast, [Arg::U(arity), Arg::Label(entry), Arg::U(frame)]) => {
                self.local_args(*arity, *entry).and_then(|()| self.tail_call(Some(*frame)))
            }
            (Opcode::CallExt, [Arg::U(arity), Arg::U(import)]) => self.call_ext(*arity, *import),
            (Opcode::CallExtOnly, [Arg::U(arity), Arg::U(import)]) => {
                self.call_ext_last(*arity, *import, None)
            }
            (Opcode::CallExtLast, [Arg::U(arity), Arg::U(import), Arg::U(frame)]) => {
                self.call_ext_last(*arity, *import, Some(*frame))
            }
            (Opcode::CallFun, [Arg::U(arity)]) => {
                self.terms(*arity + 1).and_then(|()| self.called(Ty::TERM))
            }
            (Opcode::CallFun2, [_, Arg::U(arity), fun]) => {
                self.rely(false);
                self.term(*fun)
                    .and_then(|_| self.terms(*arity))
                    .and_then(|()| self.called(Ty::TERM))
            }
            (Opcode::Apply, [Arg::U(arity)]) => {
                self.terms(*arity + 2).and_then(|()| self.called(Ty::TERM))
            }
            (Opcode::ApplyLast, [Arg::U(arity), Arg::U(frame)]) => {
                self.terms(*arity + 2).and_then(|()| self.tail_call(Some(*frame)))
            }
            (Opcode::MakeFun2, [Arg::U(lambda)]) => self.make_fun2(*lambda),
            (Opcode::Return, _) => self.term(Arg::X(0, 0)).and_then(|_| self.tail_call(None)),
            (Opcode::Jump, [label]) => self.jump(*label),
            (Opcode::IntCodeEnd | Opcode::FuncInfo, _) => Err("in the middle of a function"),
            (Opcode::Bif0, [Arg::U(import), to]) => self.bif(*import, None, &[], *to),
            (Opcode::Bif1, [fail, Arg::U(import), a, to]) => {
                self.bif(*import, Some(*fail), &[*a], *to)
            }
            (Opcode::Bif2, [fail, Arg::U(import), a, b, to]) => {
                self.bif(*import, Some(*fail), &[*a, *b], *to)
            }
            (Opcode::Bif3, [fail, Arg::U(import), a, b, c, to]) => {
                self.bif(*import, Some(*fail), &[*a, *b, *c], *to)
            }
            (
                Opcode::GcBif1 | Opcode::GcBif2 | Opcode::GcBif3,
                [fail, Arg::U(live), Arg::U(import), sources @ .., to],
            ) => self.gc_bif(*import, *fail, *live, sources, *to),
            _ => return self.step_frames(op, args, list),
        })
    }

    fn step_frames(&mut self, op: Opcode, args: &[Arg], list: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::TestHeap, [need, Arg::U(live)]) => {
                self.collect(*live as usize).and_then(|()| self.reserve(*need))
            }
            (Opcode::Allocate, [Arg::U(size), live]) => {
                self.allocate(*size, Arg::U(0), *live, Ty::UNINIT)
            }
            (Opcode::AllocateZero, [Arg::U(size), live]) => {
                self.allocate(*size, Arg::U(0), *live, Ty::NIL)
            }
            (Opcode::AllocateHeap, [Arg::U(size), need, live]) => {
                self.allocate(*size, *need, *live, Ty::UNINIT)
            }
            (Opcode::AllocateHeapZero, [Arg::U(size), need, live]) => {
                self.allocate(*size, *need, *live, Ty::NIL)
            }
            (Opcode::Init, [y]) => self.write(*y, Ty::NIL),
            (Opcode::InitYregs, _) => list.iter().try_for_each(|y| self.write(*y, Ty::NIL)),
            (Opcode::Deallocate, [Arg::U(size)]) => self.deallocate(*size),
            (Opcode::Trim, [Arg::U(count), Arg::U(left)]) => self.trim(*count, *left),
            (Opcode::Badmatch | Opcode::CaseEnd | Opcode::TryCaseEnd | Opcode::Badrecord, [s]) => {
                self.term(*s).and_then(|_| self.raise()).map(|()| self.stop())
            }
            (Opcode::IfEnd, _) => self.raise().map(|()| self.stop()),
            (Opcode::Raise, [trace, reason]) => self
                .term(*trace)
                .and_then(|_| self.term(*reason))
                .and_then(|_| self.raise())
                .map(|()| self.stop()),
            (Opcode::RawRaise, _) => self.terms(3).and_then(|()| self.called(Ty::ATOM)),
            (Opcode::BuildStacktrace, _) => self
                .terms(1)
                .and_then(|()| self.collect(1))
                .and_then(|()| self.write(Arg::X(0, 0), Ty::TERM)),
            (Opcode::Catch | Opcode::Try, [Arg::Y(y, _), Arg::Label(handler)]) => {
                let kind = if op == Opcode::Catch { Ty::CATCH } else { Ty::TRY };
                self.open(*y, Ty::tag(kind, *handler))
            }
            (Opcode::TryEnd, [Arg::Y(y, _)]) => self.close(*y, Ty::TRY),
            (Opcode::CatchEnd, [Arg::Y(y, _)]) => {
                self.term(Arg::X(0, 0)).and_then(|_| self.caught(*y))
            }
            (Opcode::TryCase, _) => Err("no exception arrives here"),
            _ => return self.step_receive(op, args),
        })
    }

    fn step_receive(&mut self, op: Opcode, args: &[Arg]) -> Done {
        Some(match (op, args) {
            (Opcode::Send, _) => self.terms(2).and_then(|()| self.called(Ty::TERM)),
            (Opcode::LoopRec, [label, to]) => self
                .no_x()
                .and_then(|()| self.st.check_y())
                .and_then(|()| self.fail(*label))
                .and_then(|()| self.write(*to, Ty::TERM.borrowed())),
            (Opcode::LoopRecEnd | Opcode::Wait, [Arg::Label(label)]) => self
                .no_x()
                .and_then(|()| self.st.check_y())
                .and_then(|()| self.branch_yielding(*label))
                .map(|()| self.stop()),
            (Opcode::WaitTimeout, [Arg::Label(label), time]) => self.wait_timeout(*label, *time),
            (Opcode::Timeout, _) => self.no_x(),
            (Opcode::RecvMark | Opcode::RecvSet, _) => Ok(()),
            (Opcode::RemoveMessage, _) => {
                self.st.take_message();
                Ok(())
            }
            (Opcode::RecvMarkerBind, [marker, reference]) => {
                self.term(*marker).and_then(|_| self.term(*reference)).map(drop)
            }
            (Opcode::RecvMarkerClear | Opcode::RecvMarkerUse, [reference]) => {
                self.term(*reference).map(drop)
            }
            (Opcode::RecvMarkerReserve, [to]) => self.write(*to, Ty::TERM),
            _ => return None,
        })
    }

    /// A receive without clauses returns to its own `wait_timeout` when a message arrives. The
    /// timer is running then, and the template does not read the operand again.
    fn wait_timeout(&mut self, label: u32, time: Arg) -> Step {
        self.term(time)?;
        self.collect(0)?;
        self.raise()?;
        if self.is_own_label(label) {
            return Ok(());
        }
        self.branch_yielding(label)
    }

    /// No x register survives, and the current message returns to the mailbox.
    fn no_x(&mut self) -> Step {
        self.st.x.clear();
        self.keep_message();
        self.st.f.clear();
        self.st.heap = Default::default();
        Ok(())
    }

    fn only_x0(&mut self, ty: Ty) {
        self.st.x.clear();
        self.st.f.clear();
        self.st.x.push(ty);
    }

    /// Checks that the first x registers hold terms, as arguments.
    fn terms(&mut self, count: u64) -> Step {
        let count = u16::try_from(count).map_err(|_| "too many arguments")?;
        (0..count).try_for_each(|x| self.term(Arg::X(x, 0)).map(drop))
    }

    /// The arguments of a function of this module may be match contexts; those are recorded for the
    /// function's own verification.
    fn local_args(&mut self, arity: u64, entry: u32) -> Step {
        let (index, function) = self.tables.function_at(entry).ok_or("not a function")?;
        if u64::from(function.arity) != arity {
            return Err("the wrong number of arguments");
        }
        for x in 0..u16::from(function.arity) {
            if self.movable(Arg::X(x, 0))?.has(Ty::CONTEXT) {
                self.pass_context(index, x);
            }
        }
        Ok(())
    }

    /// A non-tail call: there must be a frame, and of the x registers only the result survives.
    pub(crate) fn called(&mut self, result: Ty) -> Step {
        if self.st.frame != Frame::Yes {
            return Err("a call without a frame");
        }
        self.raise()?;
        self.st.heap = Default::default();
        self.only_x0(result);
        Ok(())
    }

    /// A tail call: no frame (or this one, dropped now), no open handler.
    fn tail_call(&mut self, frame: Option<u64>) -> Step {
        match frame {
            Some(size) => self.deallocate(size)?,
            None if self.st.frame != Frame::No => return Err("leaves the function with a frame"),
            None => {}
        }
        self.keep_message();
        self.stop();
        Ok(())
    }

    fn import(&self, arity: u64, import: u64) -> Result<Bif, What> {
        let index = import as usize;
        match self.tables.module.imports.get(index) {
            Some(i) if u64::from(i.arity) == arity => {}
            _ => return Err("the wrong number of arguments"),
        }
        self.bifs.get(index).copied().ok_or("no such import")
    }

    fn call_ext(&mut self, arity: u64, import: u64) -> Step {
        let bif = self.import(arity, import)?;
        self.terms(arity)?;
        if bif.exits {
            return self.exit();
        }
        self.called(bif.result)?;
        if bif.setelement {
            self.fresh.made();
        }
        Ok(())
    }

    fn call_ext_last(&mut self, arity: u64, import: u64, frame: Option<u64>) -> Step {
        let bif = self.import(arity, import)?;
        self.terms(arity)?;
        if bif.exits {
            return self.exit();
        }
        self.tail_call(frame)
    }

    /// Calls a BIF that never returns; the frame doesn't matter.
    fn exit(&mut self) -> Step {
        self.raise()?;
        self.stop_with_trap();
        Ok(())
    }

    fn bif(&mut self, import: u64, fail: Option<Arg>, sources: &[Arg], to: Arg) -> Step {
        let bif = self.import(sources.len() as u64, import)?;
        if bif.guard != Guard::Plain {
            return Err("not a guard BIF that builds nothing");
        }
        sources.iter().try_for_each(|s| self.term(*s).map(drop))?;
        if let Some(fail) = fail.filter(|_| !bif.total) {
            // A failing BIF records the reason, on the heap.
            let heap = std::mem::take(&mut self.st.heap);
            if fail != Arg::Label(0) {
                self.clear_target(to)?;
            }
            self.fail(fail)?;
            self.st.heap = heap;
        }
        self.learn(bif, sources);
        self.write(to, bif.result)
    }

    fn gc_bif(&mut self, import: u64, fail: Arg, live: u64, sources: &[Arg], to: Arg) -> Step {
        let bif = self.import(sources.len() as u64, import)?;
        if bif.guard == Guard::No {
            return Err("not a guard BIF");
        }
        let mut small = true;
        for s in sources {
            let ty = if bif.measures { self.movable(*s)? } else { self.term(*s)? };
            small &= ty.is(Ty::SMALL);
        }
        self.rely(small);
        self.collect(live as usize)?;
        self.fail(fail)?;
        self.learn(bif, sources);
        self.write(to, bif.result)
    }

    /// The BIF succeeded: its argument had the required type.
    fn learn(&mut self, bif: Bif, sources: &[Arg]) {
        let Some((index, ty)) = bif.proves else {
            return;
        };
        let Some(source) = sources.get(index) else {
            return;
        };
        // The register may be dead, if it isn't among the live ones.
        if let Ok(before) = self.term(*source) {
            self.known(*source, before.meet(ty));
        }
    }

    fn make_fun2(&mut self, lambda: u64) -> Step {
        let lambda = self.tables.module.lambdas.get(lambda as usize).ok_or("no such fun")?;
        self.terms(u64::from(lambda.free))?;
        self.collect(usize::from(lambda.free))?;
        self.write(Arg::X(0, 0), Ty::FUN)
    }

    fn allocate(&mut self, size: u64, need: Arg, live: Arg, fill: Ty) -> Step {
        let Arg::U(live) = live else {
            return Err("not a number");
        };
        if self.st.frame != Frame::No {
            return Err("a second frame");
        }
        self.collect(live as usize)?;
        self.reserve(need)?;
        if fill == Ty::UNINIT && self.fill != Ty::UNINIT {
            self.fill_frame();
            self.st.enter(size as usize, self.fill);
        } else {
            self.st.enter(size as usize, fill);
        }
        Ok(())
    }

    fn deallocate(&mut self, size: u64) -> Step {
        if self.st.frame != Frame::Yes || self.st.y.len() as u64 != size {
            return Err("drops a frame of another size");
        }
        if self.st.tags > 0 {
            return Err("drops a frame with an open handler");
        }
        self.st.leave();
        Ok(())
    }

    fn trim(&mut self, count: u64, left: u64) -> Step {
        if self.st.frame != Frame::Yes || count.checked_add(left) != Some(self.st.y.len() as u64) {
            return Err("trims a frame of another size");
        }
        if self.st.tags > 0 {
            return Err("trims a frame with an open handler");
        }
        self.st.y.drain(..count as usize);
        self.st.count();
        Ok(())
    }

    /// Opens a handler: its tag goes below the open ones.
    fn open(&mut self, y: u16, tag: Ty) -> Step {
        if self.st.frame == Frame::Unsure {
            return Err("a handler without a frame of known size");
        }
        if self.st.innermost().is_some_and(|(lowest, _)| lowest <= usize::from(y)) {
            return Err("an inner handler above an outer one");
        }
        self.write(Arg::Y(y, 0), tag)
    }

    /// Closes a handler.
    fn close(&mut self, y: u16, kind: Ty) -> Step {
        match self.st.innermost() {
            Some((lowest, tag)) if lowest == usize::from(y) && tag.is(kind) => {}
            _ => return Err("not the innermost handler"),
        }
        self.st.put_y(y, Ty::NIL)
    }

    /// `catch_end` leaves x0, perhaps a part of a message, or the value it makes of an exception.
    fn caught(&mut self, y: u16) -> Step {
        self.close(y, Ty::CATCH)?;
        self.only_x0(Ty::TERM);
        self.write(Arg::X(0, 0), Ty::TERM)
    }

    /// If an exception may have arrived here, only its own handler's instruction is allowed.
    pub(crate) fn arrive(&mut self, op: Opcode, args: &[Arg]) -> Step {
        match (op, args) {
            (Opcode::Label | Opcode::Line, _) => Ok(()),
            (Opcode::TryCase, [Arg::Y(y, _)]) if self.st.how == EXCEPTION => {
                self.close(*y, Ty::TRY)?;
                self.st.how = NORMAL;
                self.only_x0(Ty::ATOM);
                self.st.x.extend([Ty::TERM, Ty::TERM]);
                Ok(())
            }
            (Opcode::CatchEnd, [Arg::Y(y, _)]) => {
                if self.st.how & NORMAL != 0 {
                    self.term(Arg::X(0, 0))?;
                }
                self.st.how = NORMAL;
                self.caught(*y)
            }
            _ => Err("an exception arrives at the wrong place"),
        }
    }
}
