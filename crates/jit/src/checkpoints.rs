//! Generates the checks of `checked.rs` and defines what each instruction's template relies on.

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::word::FLOAT_WORDS;

use crate::checked::{check, Checkpoint, Need};
use crate::compiler::{Compiler, EmitResult};

impl<'m> Compiler<'m> {
    /// Generates the check before an instruction.
    pub fn check_state(&mut self, op: &Op) -> EmitResult {
        let proof = self.proof;
        if !proof.reachable(self.at) {
            return Ok(());
        }
        let mut claim = proof.claim(self.at).cloned();
        if let Some(claim) = claim.as_mut().filter(|_| op.opcode == Opcode::WaitTimeout) {
            // A receive without clauses returns here when woken, with its operand gone; the
            // template does not read the operand again.
            claim.x.clear();
            claim.catches = true;
        }
        let checkpoint = Box::new(Checkpoint {
            module: self.atoms.get(1).copied().unwrap_or(self.function),
            function: self.function,
            arity: self.arity,
            at: self.at,
            opcode: op.opcode,
            claim,
            needs: self.needs(op),
            labels: self.label_addresses.clone(),
        });
        let address = &*checkpoint as *const Checkpoint as u64;
        self.checkpoints.push(checkpoint);
        self.call_rt(check, &[], address)
    }

    fn needs(&self, op: &Op) -> Vec<Need> {
        let args = self.args(op);
        let mut needs: Vec<Need> =
            live_operand(op.opcode, args).map(Need::Live).into_iter().collect();
        needs.extend(self.control_need(op.opcode, args));
        needs.extend(match (op.opcode, args) {
            (Opcode::PutList, _) => Some(Need::HeapWords(2)),
            (Opcode::UpdateRecord, [_, Arg::U(size), ..]) => {
                Some(Need::HeapWords(*size as usize + 1))
            }
            (Opcode::PutTuple2, _) => Some(Need::HeapWords(self.list(op).len() + 1)),
            (Opcode::Fmove, [Arg::Float(_), Arg::X(..) | Arg::Y(..)]) => {
                Some(Need::HeapWords(FLOAT_WORDS))
            }
            _ => None,
        });
        if !self.proof.checked_needed(self.at) {
            needs.extend(type_need(op.opcode, args));
        }
        needs
    }

    fn control_need(&self, opcode: Opcode, args: &[Arg]) -> Option<Need> {
        Some(match (opcode, args) {
            _ if self.proof.trap_after(self.at) => return None,
            (Opcode::Return | Opcode::CallOnly | Opcode::CallExtOnly, _) => Need::Continuation(0),
            (Opcode::Deallocate, [Arg::U(size)])
            | (Opcode::CallLast | Opcode::CallExtLast, [.., Arg::U(size)])
            | (Opcode::ApplyLast, [_, Arg::U(size)]) => Need::Continuation(*size),
            (Opcode::Trim, [Arg::U(count), Arg::U(left)]) => Need::Continuation(count + left),
            (Opcode::TryEnd | Opcode::TryCase | Opcode::CatchEnd, [y]) => Need::CatchTag(*y),
            _ => return None,
        })
    }
}

/// How many x registers the instruction treats as live, or as arguments.
fn live_operand(opcode: Opcode, args: &[Arg]) -> Option<u64> {
    use Opcode::*;
    Some(match (opcode, args) {
        (TestHeap | Allocate | AllocateZero, [_, Arg::U(live)])
        | (AllocateHeap | AllocateHeapZero, [_, _, Arg::U(live)])
        | (GcBif1 | GcBif2 | GcBif3, [_, Arg::U(live), ..])
        | (BsCreateBin | BsStartMatch3 | BsGetTail | BsGetPosition, [_, _, Arg::U(live), ..])
        | (BsStartMatch4, [_, Arg::U(live), ..])
        | (
            BsGetInteger2 | BsGetFloat2 | BsGetBinary2 | BsGetUtf8 | BsGetUtf16 | BsGetUtf32,
            [_, _, Arg::U(live), ..],
        )
        | (BsInit2 | BsInitBits | BsAppend, [_, _, _, Arg::U(live), ..])
        | (PutMapAssoc | PutMapExact, [_, _, _, Arg::U(live), ..])
        | (PutRecord, [_, _, _, _, Arg::U(live), ..])
        | (Call | CallOnly | CallLast | CallExt | CallExtOnly | CallExtLast, [Arg::U(live), ..]) => {
            *live
        }
        (CallFun, [Arg::U(arity)]) => arity + 1,
        (CallFun2, [_, Arg::U(arity), _]) => *arity,
        (Apply | ApplyLast, [Arg::U(arity), ..]) => arity + 2,
        (Return, _) => 1,
        _ => return None,
    })
}

/// The type that a template relies on when the verifier says that no test is needed.
fn type_need(opcode: Opcode, args: &[Arg]) -> Option<Need> {
    use Opcode::*;
    Some(match (opcode, args) {
        (GetTupleElement, [s, Arg::U(n), _]) | (SetTupleElement, [_, s, Arg::U(n)]) => {
            Need::Tuple(*s, (*n as usize).saturating_add(1))
        }
        (UpdateRecord, [_, Arg::U(n), s, ..]) => Need::Tuple(*s, *n as usize),
        (TestArity, [_, s, _]) | (SelectTupleArity, [s, ..]) => Need::Tuple(*s, 0),
        (GetList | GetHd | GetTl, [s, ..]) => Need::Cons(*s),
        (Fmove, [s, Arg::Float(_)]) => Need::Float(*s),
        (GetMapElements | HasMapFields | PutMapAssoc | PutMapExact, [_, map, ..]) => {
            Need::Map(*map)
        }
        (IsNativeRecord | IsRecordAccessible | GetRecordElements, [_, s, ..]) => Need::Record(*s),
        (
            BsGetInteger2 | BsGetFloat2 | BsGetBinary2 | BsSkipBits2 | BsTestTail2 | BsTestUnit
            | BsMatch | BsMatchString | BsGetUtf8 | BsGetUtf16 | BsGetUtf32 | BsSkipUtf8
            | BsSkipUtf16 | BsSkipUtf32,
            [_, context, ..],
        )
        | (BsGetTail | BsGetPosition, [context, ..])
        | (BsSetPosition, [context, _]) => Need::MatchContext(*context),
        _ => return None,
    })
}
