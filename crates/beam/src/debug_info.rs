//! The `DbgB` chunk (since OTP 28, of files compiled with `beam_debug_info`): for each `debug_line`
//! instruction, where variables are and what is called. It is encoded like a sequence of `call`
//! instructions: the one with 0 begins an item and gives the size of the frame, those with 1 and 2
//! give variables and calls, and those with higher numbers are for later releases.

use kvik_isa::Opcode;

use crate::code::{Arg, DebugCall, DebugFrame, DebugInfo, DebugItem};
use crate::decode::Decoder;
use crate::module::Module;
use crate::reader::Reader;

const VERSION: u32 = 1;
/// Kinds of entries.
const FRAME_SIZE: u64 = 0;
const VARIABLES: u64 = 1;
const CALLS: u64 = 2;

/// An entry takes at least three bytes, a term of its list at least one.
const LEAST_ENTRY: usize = 3;
const MAX_ARITY: u64 = 255;
/// Added to the arity of a call within the module.
const LOCAL: u64 = MAX_ARITY + 1;

impl DebugInfo {
    /// Decodes a module's chunk; `None` if it is damaged. A chunk of another version reads as no
    /// chunk, as in OTP.
    pub(crate) fn decode(module: &Module) -> Option<DebugInfo> {
        if module.debug_info.is_empty() {
            return Some(DebugInfo::default());
        }
        let mut r = Reader::new(module.debug_info);
        if r.u32()? != VERSION {
            return Some(DebugInfo::default());
        }
        let (count, terms) = (usize::try_from(r.u32()?).ok()?, usize::try_from(r.u32()?).ok()?);
        if count > r.len() / LEAST_ENTRY || terms > r.len() {
            return None;
        }
        let mut d = Decoder::of_chunk(module, r);
        let mut items = Vec::with_capacity(count);
        let (mut missing, mut left) = (count, terms);
        let mut last = u64::MAX;
        while missing > 0 || left > 0 {
            let (kind, value) = entry(&mut d)?;
            if kind == FRAME_SIZE {
                missing = missing.checked_sub(1)?;
                let frame = frame(module, value)?;
                items.push(DebugItem { frame, variables: Vec::new(), calls: Vec::new() });
            } else {
                let item = items.last_mut().filter(|_| kind >= last)?;
                let list = d.args.get(1..).filter(|_| matches!(value, Arg::List(_)))?;
                left = left.checked_sub(list.len())?;
                match kind {
                    VARIABLES => item.variables = variables(list)?,
                    CALLS => item.calls = calls(list)?,
                    _ => {}
                }
            }
            last = kind;
        }
        Some(DebugInfo { items, bigs: d.bigs })
    }
}

/// The two operands of an entry. If the second is a list, its length and elements are in `d.args`.
fn entry(d: &mut Decoder) -> Option<(u64, Arg)> {
    d.args.clear();
    if d.r.u8()? != Opcode::Call as u8 {
        return None;
    }
    let Arg::U(kind) = d.arg(false).ok()? else { return None };
    Some((kind, d.arg(true).ok()?))
}

fn frame(module: &Module, value: Arg) -> Option<DebugFrame> {
    match value {
        Arg::Nil => Some(DebugFrame::None),
        Arg::Atom(a) if module.atom(a) == Some("entry") => Some(DebugFrame::Entry),
        Arg::U(n) => u32::try_from(n).ok().map(DebugFrame::Size),
        _ => None,
    }
}

fn variables(list: &[Arg]) -> Option<Vec<[Arg; 2]>> {
    let (pairs, rest) = list.as_chunks::<2>();
    let is_name = |name: Arg| matches!(name, Arg::Int(_) | Arg::Literal(_));
    let is_value = |value: Arg| {
        matches!(value, Arg::X(_, 0) | Arg::Y(_, 0) | Arg::Literal(_))
            || matches!(value, Arg::Int(_) | Arg::Big(_) | Arg::Atom(_) | Arg::Nil)
    };
    let valid = pairs.iter().all(|[name, value]| is_name(*name) && is_value(*value));
    (valid && rest.is_empty()).then(|| pairs.to_vec())
}

fn calls(list: &[Arg]) -> Option<Vec<DebugCall>> {
    let is_name = |arg: &Arg| matches!(arg, Arg::Atom(_) | Arg::Literal(_));
    let mut calls = Vec::new();
    let mut list = list.iter().copied();
    while let Some(first) = list.next() {
        let mut name = || list.next().filter(is_name);
        calls.push(match first {
            Arg::Literal(_) => DebugCall::Fun(first),
            Arg::U(n @ ..=MAX_ARITY) => {
                DebugCall::Remote { module: name()?, function: name()?, arity: n as u8 }
            }
            Arg::U(n) if n - LOCAL <= MAX_ARITY => {
                DebugCall::Local { function: name()?, arity: (n - LOCAL) as u8 }
            }
            _ => return None,
        });
    }
    Some(calls)
}
