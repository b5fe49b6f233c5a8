//! Hooks to crates above this one that decoding needs: code tables and the node's name.

use std::sync::OnceLock;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Export, FunEntry, Term};

/// The code identity in a fun's external form.
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
pub struct EtfHooks {
    /// This node's name and creation.
    pub node: fn() -> (Atom, u32),
    /// The export entry, created if missing.
    pub export: fn(Atom, Atom, u8) -> Option<&'static Export>,
    /// Whether safe decoding accepts the name of such a function.
    pub is_known: fn(Atom, Atom, u8) -> bool,
    /// The fun entry, created if missing.
    pub fun: fn(&FunId) -> Option<&'static FunEntry>,
    /// The definition of a native record in the current version of its module, for a process's heap.
    pub record: for<'h> fn(&'h Heap, Atom, Atom) -> Option<Term<'h>>,
    /// A local reference of three or more numbers; magic and alias references are reconnected to
    /// their resource or process.
    pub local_ref: for<'h> fn(&'h Heap, &[u32]) -> Option<Term<'h>>,
}

kvik_state::vm_state! {
    static HOOKS: OnceLock<EtfHooks> = OnceLock::new();
}

const DEFAULT: EtfHooks = EtfHooks {
    node: || (am::nonode_nohost, 0),
    export: |_, _, _| None,
    is_known: |_, _, _| false,
    fun: |_| None,
    record: |_, _, _| None,
    local_ref: |h, n| Some(h.ref_of_numbers(n.try_into().ok()?)),
};

/// False if they were set before.
pub fn set_hooks(h: EtfHooks) -> bool {
    HOOKS.set(h).is_ok()
}
/// The installed hooks, or defaults without code.
pub fn hooks() -> &'static EtfHooks {
    HOOKS.get().unwrap_or(&DEFAULT)
}
