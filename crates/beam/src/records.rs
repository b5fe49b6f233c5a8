//! The `Recs` chunk: definitions of native records (since OTP 29). Each is encoded like the
//! instruction `call_last` with a name, the atom `true` if the record is exported, and a list of
//! keys and default values.

use kvik_isa::Opcode;

use crate::code::Arg;
use crate::decode;
use crate::module::Module;
use crate::reader::Reader;

/// The definition of a native record. Atoms are indexes of the module's.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordEntry {
    pub name: u32,
    /// Whether other modules may use it.
    pub exported: bool,
    /// Keys as declared, each with the constant that is its default value, if it has one.
    pub fields: Vec<(u32, Option<Arg>)>,
}

pub(crate) fn parse<'m>(module: &'m Module<'m>, chunk: &'m [u8]) -> Option<Vec<RecordEntry>> {
    /// An instruction, its three operands and the list's length take a byte each.
    const LEAST: usize = 5;
    let mut r = Reader::new(chunk);
    if r.u32()? != 0 {
        return None;
    }
    let count = r.u32().and_then(|n| usize::try_from(n).ok());
    let count = count.filter(|n| *n <= chunk.len() / LEAST)?;
    let mut all = Vec::with_capacity(count);
    // The total number of fields.
    r.u32()?;
    for _ in 0..count {
        let operands = decode::instruction(module, &mut r, Opcode::CallLast)?;
        let (head, fields) = operands.split_at_checked(3)?;
        let [Arg::Atom(name), Arg::Atom(exported), Arg::List(_)] = *head else { return None };
        let exported = match module.atom(exported)? {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        let (pairs, rest) = fields.as_chunks::<2>();
        let fields = pairs.iter().map(|[key, value]| Some((atom(*key)?, default(*value)?)));
        let fields = fields.collect::<Option<Vec<_>>>().filter(|_| rest.is_empty())?;
        let mut keys: Vec<u32> = fields.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|two| two[0] == two[1]) {
            return None;
        }
        all.push(RecordEntry { name, exported, fields });
    }
    Some(all)
}

fn atom(arg: Arg) -> Option<u32> {
    match arg {
        Arg::Atom(a) => Some(a),
        _ => None,
    }
}

/// The number 0 stands for no default value.
fn default(arg: Arg) -> Option<Option<Arg>> {
    match arg {
        Arg::U(_) => Some(None),
        Arg::Nil | Arg::Atom(_) | Arg::Int(_) | Arg::Literal(_) => Some(Some(arg)),
        _ => None,
    }
}
