//! The second pass: a data-flow analysis of the registers along every path.
//!
//! A function's instructions are walked in order. At a label, the state that falls through is
//! joined with the states of jumps to it. A backward jump that changes its label's state makes the
//! label dirty, and the walk is repeated from there until no label is dirty. Sets of types only
//! grow and sizes are dropped on the second join, so a fixed point comes soon; a budget stops
//! adversarial code.

use super::bifs::{self, Bif};
use super::claims::Claims;
use super::fresh_tuple::FreshTuple;
use super::loops::Loops;
use super::operands::Tables;
use super::state::{Frame, Heap, LabelState, State, EXCEPTION, NORMAL, RAW_LIVE, RAW_X, RAW_Y};
use super::ty::Ty;
use super::{Bits, Proof, What};
use crate::code::{Arg, Function, Op};
use kvik_isa::Opcode;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Average number of steps allowed per instruction of the module.
const BUDGET: u64 = 30;

/// The state of the second pass, at one instruction of one function.
pub(crate) struct Flow<'a> {
    pub(crate) tables: &'a Tables<'a>,
    pub(crate) bifs: Vec<Bif>,
    literals: Vec<Ty>,
    /// The state before the instruction, updated to the state after it.
    pub(crate) st: State,
    /// Whether control continues behind the instruction.
    pub(crate) alive: bool,
    /// The registers that hold the tuple that `setelement/3` has just made.
    pub(crate) fresh: FreshTuple,
    /// The instruction has read a part of a message that isn't taken.
    borrowed: Cell<bool>,
    /// The index of the instruction.
    at: usize,
    pub(crate) function: &'a Function,
    labels: Vec<LabelState>,
    pool: Vec<Ty>,
    /// Dirty labels that the walk has passed, by position.
    dirty: BTreeSet<usize>,
    visit: u32,
    budget: u64,
    /// The content of a new frame: uninitialised, or `[]`.
    pub(crate) fill: Ty,
    /// Whether the target of a guard BIF that may fail is set to `[]` first, unless it holds a
    /// value.
    pub(crate) clear: bool,
    /// Parameters that may be match contexts, by function and register.
    contexts: HashMap<(usize, u16), ()>,
    /// Functions to verify again, because they may now be passed a context.
    again: BTreeSet<usize>,
    loops: Loops,
    proof: Proof,
}

type Stop = (usize, usize, What);

impl<'a> Flow<'a> {
    pub(crate) fn new(tables: &'a Tables<'a>, mut labels: Vec<LabelState>) -> Self {
        const NO_FUNCTION: &Function = &Function {
            name: 0,
            arity: 0,
            info_label: 0,
            entry_label: 0,
            line: 0,
            ops: 0..0,
            entry: 0,
        };
        let count = tables.code.ops.len();
        labels.clear();
        labels.resize(tables.code.labels.len(), LabelState::default());
        Flow {
            tables,
            bifs: bifs::resolve(tables.module),
            literals: tables.module.literals.iter().map(Ty::of_literal).collect(),
            st: State::default(),
            alive: false,
            fresh: FreshTuple::default(),
            borrowed: Cell::new(false),
            at: 0,
            function: NO_FUNCTION,
            labels,
            pool: Vec::with_capacity(1024),
            dirty: BTreeSet::new(),
            visit: 0,
            budget: BUDGET * (count as u64 + 1000),
            fill: Ty::UNINIT,
            clear: false,
            contexts: HashMap::new(),
            again: BTreeSet::new(),
            loops: Loops::default(),
            proof: Proof {
                zero: Bits::new(count),
                checked: Bits::new(count),
                visited: Bits::new(count),
                trap: Bits::new(count),
                keep: Bits::new(count),
                clear: Bits::new(count),
                claims: Claims::new(count),
            },
        }
    }

    /// The proof, and the memory of the states at labels.
    pub(crate) fn into_proof(self) -> (Proof, Vec<LabelState>) {
        (self.proof, self.labels)
    }

    /// Verifies all functions, then again those whose parameters turned out to be contexts.
    pub(crate) fn run(&mut self) -> Result<(), Stop> {
        for index in 0..self.tables.code.functions.len() {
            self.again.remove(&index);
            self.check_operands(index)?;
            self.run_function(index)?;
        }
        while let Some(index) = self.again.pop_first() {
            self.run_function(index)?;
        }
        Ok(())
    }

    /// The first pass, function by function so that the second finds the operands in the cache.
    fn check_operands(&self, index: usize) -> Result<(), Stop> {
        let code = self.tables.code;
        let Some(function) = code.functions.get(index) else { return Ok(()) };
        let ops = code.ops.get(function.ops.clone()).unwrap_or_default();
        for (at, op) in ops.iter().enumerate() {
            let checked = self.tables.check_op(function, op);
            checked.map_err(|what| (index, function.ops.start + at, what))?;
        }
        Ok(())
    }

    fn run_function(&mut self, index: usize) -> Result<(), Stop> {
        self.fill = Ty::UNINIT;
        self.clear = false;
        self.visit_function(index)?;
        let found = self.loops.find();
        found.map_or(Ok(()), |at| Err((index, at, "a loop that never lets others run")))
    }

    fn visit_function(&mut self, index: usize) -> Result<(), Stop> {
        let Some(function) = self.tables.code.functions.get(index) else {
            return Ok(());
        };
        self.function = function;
        self.visit += 1;
        self.pool.clear();
        self.dirty.clear();
        self.loops.begin(&function.ops);
        self.begin(index);
        let mut from = function.entry;
        loop {
            match self.walk(from) {
                // Retry with frames that are filled on allocation.
                Err(RAW_Y) if self.fill == Ty::UNINIT => {
                    self.fill = Ty::NIL;
                    return self.visit_function(index);
                }
                // Retry for code whose compiler knew that a BIF succeeds, which the verifier does
                // not.
                Err(RAW_X | RAW_LIVE) if !self.clear => {
                    self.clear = true;
                    return self.visit_function(index);
                }
                Err(what) => return Err((index, self.at, what)),
                Ok(()) => {}
            }
            match self.dirty.pop_first() {
                Some(at) => from = at,
                None => return Ok(()),
            }
            self.alive = false;
        }
    }

    /// Sets the state at a function's entry: its arguments and nothing else.
    fn begin(&mut self, index: usize) {
        self.st.leave();
        self.st.heap = Heap::default();
        self.st.how = NORMAL;
        self.st.x.clear();
        self.st.f.clear();
        for x in 0..u16::from(self.function.arity) {
            let context = self.contexts.contains_key(&(index, x));
            self.st.x.push(if context { Ty::TERM.or(Ty::CONTEXT) } else { Ty::TERM });
        }
        self.alive = true;
    }

    /// Walks from an instruction to the function's end, through everything reachable that way.
    fn walk(&mut self, from: usize) -> Result<(), What> {
        let end = self.function.ops.end;
        let code = self.tables.code;
        self.at = from;
        while self.at < end {
            let Some(op) = code.ops.get(self.at) else {
                break;
            };
            self.budget = self.budget.checked_sub(1).ok_or("too complex")?;
            if op.opcode == Opcode::Label {
                self.enter_label(code.args(op))?;
            }
            if !self.alive {
                // Unreachable: skip to the next reachable label.
                self.at += 1;
                continue;
            }
            self.proof.visited.set(self.at);
            self.proof.claims.record(self.at, &self.st);
            self.step(op)?;
            if self.alive {
                self.loops.step(self.at);
            }
            self.at += 1;
        }
        if self.alive {
            // The compiler knew that the last call never returns; a trap enforces it.
            self.at = end.saturating_sub(1);
            self.stop_with_trap();
        }
        Ok(())
    }

    /// Whether an ordinary path runs into a handler that only exceptions may reach: the compiler
    /// knew that the code before it never returns.
    fn runs_into_handler(&self, at: usize) -> bool {
        let ops = self.tables.code.ops.get(at..).unwrap_or_default();
        let next = ops.iter().find(|op| !matches!(op.opcode, Opcode::Label | Opcode::Line));
        self.st.how == NORMAL && next.is_some_and(|op| op.opcode == Opcode::TryCase)
    }

    fn enter_label(&mut self, args: &[Arg]) -> Result<(), What> {
        let [Arg::U(label)] = args else {
            return Err("not a label");
        };
        if self.alive && self.runs_into_handler(self.at) {
            if self.at == self.function.entry {
                return Err("no exception arrives here");
            }
            self.stop_before();
        }
        if self.alive {
            self.merge(*label as u32)?;
        }
        let Some(at) = self.labels.get_mut(*label as usize) else {
            return Err("not a label");
        };
        self.alive = at.visit == self.visit && at.dirty;
        if self.alive {
            at.load(&self.pool, &mut self.st);
            self.dirty.remove(&self.at);
        }
        Ok(())
    }

    /// Joins the current state into a label's.
    fn merge(&mut self, label: u32) -> Result<(), What> {
        let width = self.st.x.len() + self.st.y.len();
        self.budget = self.budget.checked_sub(width as u64 / 8).ok_or("too complex")?;
        let Some(slot) = self.labels.get_mut(label as usize) else {
            return Err("not a label");
        };
        if slot.visit == self.visit {
            slot.merge(&mut self.pool, &self.st)?;
        } else {
            slot.store(&mut self.pool, &self.st, self.visit);
        }
        Ok(())
    }

    /// Control may go to a label of the function.
    pub(crate) fn branch(&mut self, label: u32) -> Result<(), What> {
        // A jump to the entry is no loop edge: the process may yield there.
        if label != self.function.entry_label {
            if let Some(to) = self.tables.code.label(label) {
                self.loops.jump(self.at, to);
            }
        }
        self.branch_yielding(label)
    }

    /// The same for an edge on which the process may yield, or has waited.
    pub(crate) fn branch_yielding(&mut self, label: u32) -> Result<(), What> {
        if label == self.function.info_label {
            return self.no_clause();
        }
        if label == self.function.entry_label {
            self.check_entry()?;
        }
        self.merge(label)?;
        let dirty = self.labels.get(label as usize).is_some_and(|l| l.dirty);
        if dirty {
            let at = self.tables.code.label(label).ok_or("a label that isn't placed")?;
            // The walk reaches labels ahead anyway.
            if at <= self.at {
                self.dirty.insert(at);
            }
        }
        Ok(())
    }

    /// A jump to the entry: the process may yield there, as when the function is called.
    fn check_entry(&mut self) -> Result<(), What> {
        if self.st.frame != Frame::No {
            return Err("jumps to the function's entry with a frame");
        }
        self.keep_message();
        self.st.check_live(usize::from(self.function.arity))
    }

    /// The same, with another type for one register there.
    pub(crate) fn branch_with(&mut self, label: u32, reg: Arg, ty: Ty) -> Result<(), What> {
        if ty.is_none() {
            return Ok(());
        }
        let before = self.read(reg)?;
        self.refine(reg, ty);
        self.branch(label)?;
        self.refine(reg, before);
        Ok(())
    }

    /// Control may go to `func_info`, which makes an exception from the arguments.
    fn no_clause(&mut self) -> Result<(), What> {
        if self.st.frame != Frame::No {
            return Err("no clause matches, and there is a frame");
        }
        self.proof.visited.set(self.function.entry.saturating_sub(1));
        self.keep_message();
        (0..u16::from(self.function.arity)).try_for_each(|x| self.term(Arg::X(x, 0)).map(drop))
    }

    /// A failing instruction goes to its label, or to a handler.
    pub(crate) fn fail(&mut self, label: Arg) -> Result<(), What> {
        match label {
            Arg::Label(0) => self.raise(),
            Arg::Label(l) => self.branch(l),
            _ => Err("not a label"),
        }
    }

    /// An exception may occur: the innermost handler in the frame gets it, if there is one.
    pub(crate) fn raise(&mut self) -> Result<(), What> {
        self.st.check_y()?;
        self.keep_message();
        let Some((_, tag)) = self.st.innermost() else {
            return Ok(());
        };
        let handler = tag.handler();
        if handler == 0 || !(tag.is(Ty::CATCH) || tag.is(Ty::TRY)) {
            return Err("it isn't certain which handler is the innermost");
        }
        let (how, heap) = (self.st.how, self.st.heap);
        self.st.how = EXCEPTION;
        self.st.heap = Heap::default();
        let result = self.branch(handler);
        self.st.how = how;
        self.st.heap = heap;
        result
    }

    /// Control does not continue.
    pub(crate) fn stop(&mut self) {
        self.alive = false;
    }

    /// The preceding instruction never returns.
    fn stop_before(&mut self) {
        self.proof.trap.set(self.at.saturating_sub(1));
        self.alive = false;
    }

    /// `jump`.
    pub(crate) fn jump(&mut self, label: Arg) -> Result<(), What> {
        let Arg::Label(number) = label else {
            return Err("not a label");
        };
        match self.tables.code.label(number) {
            Some(at) if self.runs_into_handler(at) => self.stop_before(),
            _ => {
                self.branch(number)?;
                self.stop();
            }
        }
        Ok(())
    }

    /// The call never returns.
    pub(crate) fn stop_with_trap(&mut self) {
        self.proof.trap.set(self.at);
        self.alive = false;
    }

    /// The frame that the instruction makes must be filled with `[]`.
    pub(crate) fn fill_frame(&mut self) {
        self.proof.zero.set(self.at);
    }

    /// The instruction may fail, so its target must be set to `[]` before it runs.
    pub(crate) fn clear_target(&mut self, to: Arg) -> Result<(), What> {
        if self.clear && matches!(to, Arg::X(..)) && self.read(to)?.has(Ty::UNINIT) {
            self.proof.clear.set(self.at);
            self.refine(to, Ty::NIL);
        }
        Ok(())
    }

    /// Whether a label leads straight back to the instruction: it is right before it, or before a
    /// jump there (as without `beam_jump`, OTP's pass that removes such jumps).
    pub(crate) fn is_own_label(&self, label: u32) -> bool {
        const MOST_JUMPS: usize = 4;
        let code = self.tables.code;
        let mut label = label;
        for _ in 0..=MOST_JUMPS {
            let Some(from) = code.label(label) else { return false };
            let ops = code.ops.get(from..).unwrap_or_default();
            let labels =
                ops.iter().take_while(|op| matches!(op.opcode, Opcode::Label | Opcode::Line));
            let next = from + labels.count();
            if next == self.at {
                return true;
            }
            match code.ops.get(next).map(|op| (op.opcode, code.args(op))) {
                Some((Opcode::Jump, [Arg::Label(to)])) => label = *to,
                _ => return false,
            }
        }
        false
    }

    /// The instruction relies on something. If that isn't proved, its template must test it; a
    /// failed test ends the process for good (so no handler need be told).
    pub(crate) fn rely(&mut self, proved: bool) {
        if !proved {
            self.proof.checked.set(self.at);
        }
    }

    /// A collection may happen here, with that many live x registers.
    pub(crate) fn collect(&mut self, live: usize) -> Result<(), What> {
        self.st.check_live(live)?;
        self.st.check_y()?;
        self.st.x.truncate(live);
        self.st.heap = Heap::default();
        Ok(())
    }

    /// From here on a part of a message that isn't taken might be kept, in a register or where it
    /// isn't tracked: then the message's memory must stay with the process.
    pub(crate) fn keep_message(&mut self) {
        if self.borrowed.get() || self.st.is_borrowed() {
            self.proof.keep.set(self.at);
            self.borrowed.set(false);
            self.st.take_message();
        }
    }

    /// The type of a register or constant, whatever it is.
    #[inline]
    pub(crate) fn read(&self, arg: Arg) -> Result<Ty, What> {
        match arg {
            Arg::X(x, _) => Ok(self.st.get_x(x)),
            Arg::Y(y, _) => self.st.get_y(y),
            Arg::Literal(l) => Ok(self.literals.get(l as usize).copied().unwrap_or(Ty::TERM)),
            _ => Ty::of_constant(arg).ok_or("not a source"),
        }
    }

    /// Requires a term: initialised, not a tag, not a match context.
    #[inline]
    pub(crate) fn term(&self, arg: Arg) -> Result<Ty, What> {
        let ty = self.read(arg)?;
        if ty.is(Ty::TERM) {
            self.borrow(ty);
            Ok(ty)
        } else if ty.has(Ty::UNINIT) {
            Err(RAW_X)
        } else if ty.has(Ty::TAG) {
            Err("reads a catch tag")
        } else {
            Err("uses a match context as a term")
        }
    }

    /// Requires a term or a match context.
    #[inline]
    pub(crate) fn movable(&self, arg: Arg) -> Result<Ty, What> {
        let ty = self.read(arg)?;
        if ty.is(Ty::TERM.or(Ty::CONTEXT)) {
            self.borrow(ty);
            Ok(ty)
        } else if ty.has(Ty::UNINIT) {
            Err(RAW_X)
        } else {
            Err("reads a catch tag")
        }
    }

    /// The instruction's result may be a part of a message if its source is.
    #[inline]
    fn borrow(&self, ty: Ty) {
        if ty.is_borrowed() {
            self.borrowed.set(true);
        }
    }

    /// Requires a match context, tested if not proved.
    pub(crate) fn context(&mut self, arg: Arg) -> Result<(), What> {
        let ty = self.movable(arg)?;
        self.rely(ty.is(Ty::CONTEXT));
        Ok(())
    }

    /// Writes a register.
    #[inline]
    pub(crate) fn write(&mut self, arg: Arg, ty: Ty) -> Result<(), What> {
        let ty = if self.borrowed.get() { ty.borrowed() } else { ty };
        match arg {
            Arg::X(x, _) => self.st.set_x(x, ty),
            Arg::Y(y, _) => {
                if self.st.tags > 0 && self.st.get_y(y)?.has(Ty::TAG) {
                    return Err("overwrites a catch tag");
                }
                // Handlers see the new value from the next instruction that may raise.
                self.st.put_y(y, ty)?;
            }
            _ => return Err("not a register"),
        }
        Ok(())
    }

    /// Changes what is known of a register, whose value stays the same. Constants are ignored.
    #[inline]
    pub(crate) fn refine(&mut self, arg: Arg, ty: Ty) {
        match arg {
            Arg::X(x, _) => self.st.set_x(x, ty),
            Arg::Y(y, _) => {
                let _ = self.st.put_y(y, ty);
            }
            _ => {}
        }
    }

    /// Applies a test's result: if no type is left, control does not continue.
    pub(crate) fn known(&mut self, arg: Arg, ty: Ty) {
        if ty.is_none() {
            self.stop();
        } else {
            self.refine(arg, ty);
        }
    }

    /// Records that a match context may be passed to a function of the module in this register.
    pub(crate) fn pass_context(&mut self, function: usize, x: u16) {
        if self.contexts.insert((function, x), ()).is_none() {
            self.again.insert(function);
        }
    }

    fn step(&mut self, op: &Op) -> Result<(), What> {
        let code = self.tables.code;
        let (args, list) = (code.args(op), code.list(op));
        self.borrowed.set(false);
        if self.st.how != NORMAL {
            self.fresh.forget();
            return self.arrive(op.opcode, args);
        }
        self.fresh.step(op.opcode, args);
        if let Some(done) = self.step_terms(op.opcode, args, list) {
            return done;
        }
        if let Some(done) = self.step_control(op.opcode, args, list) {
            return done;
        }
        self.step_binary(op.opcode, args, list).unwrap_or(Err("an instruction not known here"))
    }
}
