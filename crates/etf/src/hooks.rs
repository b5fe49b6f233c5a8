//! What decoding needs from crates above this one: the code tables, this node's name.

use std::sync::OnceLock;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Export, FunEntry, Term};

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
    /// A reference of this node; a magic or alias one finds its resource or process again.
    pub local_ref: for<'h> fn(&'h Heap, [u32; 3]) -> Term<'h>,
}

kvik_state::vm_state! {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
}

const DEFAULT: Hooks = Hooks {
    node: || (am::nonode_nohost, 0),
    export: |_, _, _| None,
    is_exported: |_, _, _| false,
    fun: |_| None,
    local_ref: |h, n| h.ref_of_numbers(n),
};

/// False when they were set before.
pub fn set_hooks(h: Hooks) -> bool {
    HOOKS.set(h).is_ok()
}
/// What was set, or defaults that know no code.
pub fn hooks() -> &'static Hooks {
    HOOKS.get().unwrap_or(&DEFAULT)
}
