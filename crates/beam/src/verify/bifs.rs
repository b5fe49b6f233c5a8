//! The verifier's knowledge of BIFs: their results, what their success proves, which never fail and
//! which never return.

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
    /// Whether it may stand in a guard.
    pub(crate) guard: Guard,
    /// It never returns.
    pub(crate) exits: bool,
    /// Its argument may be a match context; the BIF then sees the remaining bits.
    pub(crate) measures: bool,
    /// It is `erlang:setelement/3`, after which `set_tuple_element` is allowed.
    pub(crate) setelement: bool,
}

/// Whether instructions for guard BIFs may name it: registers stay live across these.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    No,
    /// It builds nothing if it succeeds.
    Plain,
    /// It may build a number or bit string.
    Builds,
}

const UNKNOWN: Bif = Bif {
    result: Ty::TERM,
    proves: None,
    total: false,
    guard: Guard::No,
    exits: false,
    measures: false,
    setelement: false,
};

/// Looks up all imports.
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

/// The BIFs for which the compiler emits guard instructions.
fn guard(name: &str, arity: u8) -> Bif {
    let plain = Bif { guard: Guard::Plain, ..UNKNOWN };
    let builds = Bif { guard: Guard::Builds, ..UNKNOWN };
    let total = |result| Bif { result, total: true, ..plain };
    let gives = |result| Bif { result, ..plain };
    let proves = |result, index, ty| Bif { result, proves: Some((index, ty)), ..plain };
    let number = |result| Bif { result, ..builds };
    let size_of = |result, ty| Bif { result, proves: Some((0, ty)), ..builds };
    match (name, arity) {
        ("=:=" | "=/=" | "==" | "/=" | "<" | ">" | ">=" | "=<", 2) => total(Ty::ATOM),
        ("is_function" | "is_record" | "is_map_key", 2) | ("is_record" | "is_integer", 3) => {
            gives(Ty::ATOM)
        }
        (
            "is_atom" | "is_binary" | "is_bitstring" | "is_boolean" | "is_float" | "is_function"
            | "is_integer" | "is_list" | "is_map" | "is_number" | "is_pid" | "is_port"
            | "is_reference" | "is_tuple",
            1,
        ) => total(Ty::ATOM),
        ("is_record", 1) => total(Ty::ATOM),
        ("self", 0) => total(Ty::PID),
        ("node", 0) => total(Ty::ATOM),
        ("node", 1) => gives(Ty::ATOM),
        ("get", 1) => total(Ty::TERM),
        ("not", 1) | ("and" | "or" | "xor", 2) => gives(Ty::ATOM),
        ("hd" | "tl", 1) => proves(Ty::TERM, 0, Ty::CONS),
        ("element", 2) => proves(Ty::TERM, 1, Ty::TUPLE),
        ("tuple_size", 1) => proves(Ty::SMALL, 0, Ty::TUPLE),
        ("map_get", 2) => proves(Ty::TERM, 1, Ty::MAP),
        ("min" | "max", 2) => total(Ty::TERM),
        ("length", 1) => size_of(Ty::SMALL, Ty::LIST),
        ("map_size", 1) => size_of(Ty::SMALL, Ty::MAP),
        ("byte_size" | "bit_size", 1) => {
            Bif { measures: true, ..size_of(Ty::INTEGER, Ty::MATCHABLE) }
        }
        ("size", 1) => number(Ty::SMALL),
        ("float", 1) | ("/", 2) => number(Ty::FLOAT),
        ("round" | "trunc" | "ceil" | "floor", 1) => number(Ty::INTEGER),
        ("div" | "rem" | "band" | "bor" | "bxor" | "bsl" | "bsr", 2) => number(Ty::INTEGER),
        ("bnot", 1) => number(Ty::INTEGER),
        ("+" | "-" | "*", 2) | ("+" | "-" | "abs", 1) => number(Ty::NUMBER),
        // Emitted since OTP 29 for a `try` with just this call.
        ("list_to_atom" | "list_to_existing_atom", 1)
        | ("binary_to_atom" | "binary_to_existing_atom", 2) => number(Ty::ATOM),
        ("binary_part", 2 | 3) => number(Ty::BITSTRING),
        _ => UNKNOWN,
    }
}
