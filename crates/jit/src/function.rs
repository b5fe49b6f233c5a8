//! Emits a function's instructions in order, dispatching each to its family of templates.

use kvik_beam::{Arg, Function, Op, Opcode};
use kvik_term::am;

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::target::{keeps_floats, Label};

impl<'m> Compiler<'m> {
    /// Emits a whole function: `func_info`, the entry, and its instructions.
    pub fn function(&mut self, f: &'m Function) -> EmitResult {
        self.arity = f.arity as u32;
        self.function = *self.atoms.get(f.name as usize).unwrap_or(&am::undefined);
        self.line = f.line;
        let entry = self.label(f.entry_label)?;
        for at in f.ops.clone() {
            self.at = at;
            let Some(op) = self.code.ops.get(at) else { break };
            if self.checked || !keeps_floats(op.opcode) {
                self.held_floats = 0;
            }
            match op.opcode {
                Opcode::Label => self.at_label(op, f, entry)?,
                Opcode::FuncInfo => {
                    self.raise_by(rt::raise::function_clause, &[], self.arity as u64)?;
                }
                _ => {
                    if self.checked {
                        self.check_state(op)?;
                    }
                    if self.proof.keep_message(at) {
                        self.held_floats = 0;
                        self.call_rt(rt::receive::keep_message, &[], 0)?;
                    }
                    self.instruction(op)?
                }
            }
            if self.proof.trap_after(at) {
                self.trap();
            }
        }
        self.flush_cold()
    }

    fn at_label(&mut self, op: &Op, f: &Function, entry: Label) -> EmitResult {
        let &[Arg::U(n)] = self.args(op) else { return Err(self.refuse("label")) };
        let l = self.label(n as u32)?;
        if l != entry {
            self.a.place(l);
            return Ok(());
        }
        self.enter_function(l);
        if self.any_nif || self.marks_nif(f) {
            self.nif_start()?;
        }
        self.cover_function();
        Ok(())
    }

    /// Whether a NIF may replace the function. Compilers place `nif_start` behind the function's
    /// first instructions too, even behind the allocation of its frame: the NIF is called instead
    /// of the whole function, so it counts wherever it stands.
    fn marks_nif(&self, f: &Function) -> bool {
        let ops = self.code.ops.get(f.ops.clone()).unwrap_or_default();
        self.has_nif_marks && ops.iter().any(|op| op.opcode == Opcode::NifStart)
    }

    fn instruction(&mut self, op: &Op) -> EmitResult {
        use Opcode::*;
        match op.opcode {
            Line => {
                if let [Arg::U(n)] = self.args(op) {
                    self.at_line(*n as u32);
                }
                Ok(())
            }
            ExecutableLine => {
                if let [Arg::U(n), Arg::U(id)] = self.args(op) {
                    self.executable_line(*n as u32, *id as u32);
                }
                Ok(())
            }
            DebugLine => self.debug_line(self.args(op)),
            IntCodeEnd | Fclearerror | Fcheckerror | OnLoad | NifStart => Ok(()),
            Call | CallLast | CallOnly | CallExt | CallExtLast | CallExtOnly | Apply
            | ApplyLast | CallFun | CallFun2 | Return | MakeFun2 | MakeFun3 => self.calls(op),
            Allocate | AllocateHeap | AllocateZero | AllocateHeapZero | TestHeap | Init
            | InitYregs | Deallocate | Trim | Move | Swap | GetList | GetHd | GetTl
            | GetTupleElement | SetTupleElement | PutList | PutTuple2 | UpdateRecord => {
                self.data(op)
            }
            Jump | SelectVal | SelectTupleArity | IsLt | IsGe | IsEq | IsNe | IsEqExact
            | IsNeExact => self.control(op),
            IsInteger | IsFloat | IsNumber | IsAtom | IsPid | IsReference | IsPort | IsNil
            | IsBinary | IsBitstr | IsList | IsNonemptyList | IsTuple | TestArity
            | IsTaggedTuple | IsFunction | IsFunction2 | IsBoolean | IsMap | IsAnyNativeRecord
            | IsNativeRecord => self.type_test(op),
            Bif0 | Bif1 | Bif2 | Bif3 | GcBif1 | GcBif2 | GcBif3 => self.guard_bif(op),
            Badmatch | IfEnd | CaseEnd | TryCaseEnd | Badrecord | Catch | CatchEnd | Try
            | TryEnd | TryCase | Raise | BuildStacktrace | RawRaise => self.exceptions(op),
            Send | RemoveMessage | Timeout | LoopRec | LoopRecEnd | Wait | WaitTimeout
            | RecvMarkerBind | RecvMarkerClear | RecvMarkerReserve | RecvMarkerUse | RecvMark
            | RecvSet => self.receive(op),
            PutMapAssoc | PutMapExact | HasMapFields | GetMapElements => self.maps(op),
            GetRecordElements | PutRecord | IsRecordAccessible | GetRecordField => self.records(op),
            Fmove | Fconv | Fadd | Fsub | Fmul | Fdiv | Fnegate => self.floats(op),
            _ => self.bits(op),
        }
    }
}
