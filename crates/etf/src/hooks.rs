//! What decoding needs from crates above this one: the code tables, this node's name, maps.

use std::sync::OnceLock;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Export, FunEntry, Map, Term};

/// What a fun's external form says of its code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FunId {
    pub module: Atom,
    pub arity: u8,
    pub num_free: u32,
    pub index: u32,
    pub uniq: [u8; 16],
    pub old_index: u32,
    pub old_uniq: u32,
}

/// Set once, by `vm`, before anything is decoded.
#[derive(Copy, Clone)]
pub struct Hooks {
    /// This node's name and creation.
    pub node: fn() -> (Atom, u32),
    /// The export entry, made where there is none yet.
    pub export: fn(Atom, Atom, u8) -> Option<&'static Export>,
    /// Is there such a function now?
    pub is_exported: fn(Atom, Atom, u8) -> bool,
    /// The fun entry, made where there is none yet.
    pub fun: fn(&FunId) -> Option<&'static FunEntry>,
    /// A map of these keys and values, in any order; `None` where a key comes twice.
    pub map: for<'h> fn(&'h Heap, &[Term<'h>], &[Term<'h>]) -> Option<Term<'h>>,
    /// A map's keys and values as they are iterated over, or (`true`) in the order of the keys.
    pub entries: for<'h> fn(Map<'h>, bool) -> Vec<(Term<'h>, Term<'h>)>,
    /// A reference of this node; a magic or alias one finds its resource or process again.
    pub local_ref: for<'h> fn(&'h Heap, [u32; 3]) -> Term<'h>,
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

const DEFAULT: Hooks = Hooks {
    node: || (am::nonode_nohost, 0),
    export: |_, _, _| None,
    is_exported: |_, _, _| false,
    fun: |_| None,
    map: sorted_map,
    entries: flat_entries,
    local_ref: |h, n| h.ref_of_numbers(n),
};

/// Without the hook: only maps whose keys come in order, as encoders write the small ones.
fn sorted_map<'h>(h: &'h Heap, keys: &[Term<'h>], values: &[Term<'h>]) -> Option<Term<'h>> {
    (keys.len() <= kvik_term::word::FLAT_MAP_LIMIT)
        .then(|| h.flat_map_sorted(h.tuple(keys), values))
}

/// Without the hook: flat maps only, which are in order anyhow.
fn flat_entries<'h>(m: Map<'h>, _sorted: bool) -> Vec<(Term<'h>, Term<'h>)> {
    m.flat().map_or(Vec::new(), |(k, v)| k.iter().copied().zip(v.iter().copied()).collect())
}

/// False when they were set before.
pub fn set_hooks(h: Hooks) -> bool {
    HOOKS.set(h).is_ok()
}
/// What was set, or defaults that know no code and no hashed maps.
pub fn hooks() -> &'static Hooks {
    HOOKS.get().unwrap_or(&DEFAULT)
}
