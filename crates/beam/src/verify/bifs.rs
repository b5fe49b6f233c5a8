//! What the verifier knows of BIFs: their results, what their success proves, which never fail
//! and which never return.

use super::ty::Ty;
use crate::module::Module;
use crate::tables::Import;

/// One BIF (or any imported function) as the verifier sees it.
#[derive(Clone, Copy)]
pub(crate) struct Bif {
    /// The type of its result.
    pub(crate) result: Ty,
    /// Success proves that the argument with this index has that type.
    pub(crate) proves: Option<(usize, Ty)>,
    /// It can't fail, whatever its arguments.
    pub(crate) total: bool,
    /// It never returns.
    pub(crate) exits: bool,
    /// It is `erlang:setelement/3`, after which `set_tuple_element` is allowed.
    pub(crate) setelement: bool,
}

const UNKNOWN: Bif =
    Bif { result: Ty::TERM, proves: None, total: false, exits: false, setelement: false };

/// Looks all imports up.
pub(crate) fn resolve(module: &Module) -> Vec<Bif> {
    module.imports.iter().map(|import| find(module, import)).collect()
}

fn find(module: &Module, import: &Import) -> Bif {
    if module.atom(import.module) != Some("erlang") {
        return UNKNOWN;
    }
    let name = module.atom(import.function).unwrap_or_default();
    match (name, import.arity) {
        ("error", 1..=3) | ("exit" | "throw", 1) | ("nif_error", 1 | 2) | ("halt", 0..=2) => {
            Bif { exits: true, ..UNKNOWN }
        }
        ("setelement", 3) => Bif { result: Ty::TUPLE, setelement: true, ..UNKNOWN },
        _ => guard(name, import.arity),
    }
}

fn guard(name: &str, arity: u8) -> Bif {
    let total = |result| Bif { result, total: true, ..UNKNOWN };
    let gives = |result| Bif { result, ..UNKNOWN };
    let proves = |result, index, ty| Bif { result, proves: Some((index, ty)), ..UNKNOWN };
    match (name, arity) {
        ("=:=" | "=/=" | "==" | "/=" | "<" | ">" | ">=" | "=<", 2) => total(Ty::ATOM),
        ("is_function" | "is_record" | "is_map_key", 2) => gives(Ty::ATOM),
        (_, 1) if name.starts_with("is_") => total(Ty::ATOM),
        ("self", 0) => total(Ty::PID),
        ("node", 0) => total(Ty::ATOM),
        ("get", 1) => total(Ty::TERM),
        ("not", 1) | ("and" | "or" | "xor", 2) => gives(Ty::ATOM),
        ("hd" | "tl", 1) => proves(Ty::TERM, 0, Ty::CONS),
        ("length", 1) => proves(Ty::SMALL, 0, Ty::LIST),
        ("tuple_size", 1) => proves(Ty::SMALL, 0, Ty::TUPLE),
        ("map_size", 1) => proves(Ty::SMALL, 0, Ty::MAP),
        ("element", 2) => proves(Ty::TERM, 1, Ty::TUPLE),
        ("map_get", 2) => proves(Ty::TERM, 1, Ty::MAP),
        ("byte_size" | "bit_size", 1) => proves(Ty::INTEGER, 0, Ty::BITSTRING),
        ("float", 1) => gives(Ty::FLOAT),
        ("/", 2) => gives(Ty::FLOAT),
        ("round" | "trunc" | "ceil" | "floor", 1) => gives(Ty::INTEGER),
        ("div" | "rem" | "band" | "bor" | "bxor" | "bsl" | "bsr", 2) => gives(Ty::INTEGER),
        ("bnot", 1) => gives(Ty::INTEGER),
        ("+" | "-" | "*", 2) | ("+" | "-" | "abs", 1) => gives(Ty::NUMBER),
        ("binary_part", _) => gives(Ty::BITSTRING),
        _ => UNKNOWN,
    }
}
