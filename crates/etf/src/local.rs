//! Terms that only this start of this node can decode (`term_to_binary(T, [local])`).

use std::sync::OnceLock;

use kvik_term::Atom;

use crate::hooks::hooks;

/// A number that identifies this start of the node.
pub fn secret() -> u32 {
    kvik_state::vm_state! {
        static SECRET: OnceLock<u32> = OnceLock::new();
    }
    *SECRET.get_or_init(|| kvik_env::random::number() as u32)
}

/// The node name (omitted for local terms) and creation to encode.
pub fn this_node(local: bool) -> (Option<Atom>, u32) {
    if local {
        return (None, 0);
    }
    let (node, creation) = (hooks().node)();
    (Some(node), creation)
}
