//! Fun entries, which local funs point to. Loads of the same module text share them.

use std::collections::HashMap;
use std::sync::{OnceLock, RwLock};

use kvik_term::{Atom, CodeAddress, CodeCell, FunEntry};

/// The identity of a fun. The arity belongs to it: an external term with another arity than the
/// module's must not reach the module's code.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunKey {
    pub module: Atom,
    pub uniq: [u8; 16],
    pub index: u32,
    pub old_uniq: u32,
    /// Not counting the free variables.
    pub arity: u32,
    pub num_free: u32,
}

type Map = HashMap<FunKey, &'static FunEntry>;

fn table() -> &'static RwLock<Map> {
    kvik_state::vm_state! {
        static TABLE: OnceLock<RwLock<Map>> = OnceLock::new();
    }
    TABLE.get_or_init(|| RwLock::new(HashMap::new()))
}

/// The entry of a fun. A new one has no code (`0`), which the loader sets, or the stub for funs
/// whose module isn't loaded.
pub fn fun_entry(
    key: FunKey,
    function: Atom,
    old_index: u32,
    code: CodeAddress,
) -> &'static FunEntry {
    let mut t = table().write().unwrap_or_else(|e| e.into_inner());
    t.entry(key).or_insert_with(|| {
        Box::leak(Box::new(FunEntry {
            code: CodeCell::new(code),
            module: key.module,
            arity: key.arity,
            num_free: key.num_free,
            index: key.index,
            old_uniq: key.old_uniq,
            old_index,
            uniq: key.uniq,
            function,
        }))
    })
}

pub fn find_fun(key: &FunKey) -> Option<&'static FunEntry> {
    let t = table().read().unwrap_or_else(|e| e.into_inner());
    t.get(key).copied()
}
