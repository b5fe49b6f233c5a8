//! Finds functions and labels in the decoded code.
//!
//! A function starts with `label`, optionally `line`, `func_info`, `label`: the first label is the
//! target if no clause matches, the second one is the entry. It extends to the start of the next
//! one.

use crate::code::{Arg, Code, Function};
use crate::error::BeamError;
use crate::module::Module;
use kvik_isa::Opcode;

/// Fills in `functions` and `labels`.
pub(crate) fn find(code: &mut Code, module: &Module) -> Result<(), BeamError> {
    let error = |op, what| BeamError::Layout { op, what };
    code.labels = vec![Code::UNPLACED_LABEL; module.code.labels as usize];
    for (at, op) in code.ops.iter().enumerate() {
        if op.opcode != Opcode::Label {
            continue;
        }
        let label = match code.args(op) {
            [Arg::U(n)] if *n > 0 => usize::try_from(*n).ok(),
            _ => None,
        };
        match label.and_then(|l| code.labels.get_mut(l)) {
            Some(slot) if *slot == Code::UNPLACED_LABEL => *slot = at as u32,
            Some(_) => return Err(error(at, "a label is placed twice")),
            None => return Err(error(at, "no such label")),
        }
    }
    let end = code.ops.len().saturating_sub(1);
    let mut functions: Vec<Function> = Vec::with_capacity(module.code.functions as usize);
    for (at, op) in code.ops.iter().enumerate() {
        if op.opcode != Opcode::FuncInfo {
            continue;
        }
        let function = header(code, at).ok_or_else(|| error(at, "no function begins like this"))?;
        match functions.last_mut() {
            Some(before) => before.ops.end = function.ops.start,
            None if function.ops.start != 0 => return Err(error(0, "code before the functions")),
            None => {}
        }
        functions.push(Function { ops: function.ops.start..end, ..function });
    }
    if functions.len() != module.code.functions as usize {
        return Err(error(end, "the number of functions is wrong"));
    }
    if functions.is_empty() && end > 0 {
        return Err(error(0, "code without functions"));
    }
    code.functions = functions;
    Ok(())
}

/// The header around the `func_info` at `at`.
fn header(code: &Code, at: usize) -> Option<Function> {
    let op = |at: usize| code.ops.get(at).map(|op| (op.opcode, code.args(op)));
    let number = |arg: &Arg| match arg {
        Arg::U(n) => u32::try_from(*n).ok(),
        _ => None,
    };
    let before = at.checked_sub(1)?;
    let (start, line) = match op(before)? {
        (Opcode::Line, [index]) => (before.checked_sub(1)?, number(index)?),
        _ => (before, 0),
    };
    let (Opcode::Label, [info]) = op(start)? else {
        return None;
    };
    let (_, [Arg::Atom(module), Arg::Atom(name), Arg::U(arity)]) = op(at)? else {
        return None;
    };
    let (Opcode::Label, [entry]) = op(at + 1)? else {
        return None;
    };
    Some(Function {
        name: *name,
        arity: u8::try_from(*arity).ok().filter(|_| *module == 1)?,
        info_label: number(info)?,
        entry_label: number(entry)?,
        line,
        ops: start..start,
        entry: at + 1,
    })
}
