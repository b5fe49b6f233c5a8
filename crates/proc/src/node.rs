//! This node's name and creation.

use kvik_term::{am, PidTerm, PortTerm, Term, View};

pub use kvik_term::node::{creation, name, set};

/// Whether a pid, port or `{Name, Node}` is of this node.
pub fn is_own(t: Term<'_>) -> bool {
    let node = match t.view() {
        View::Pid(PidTerm::External(e)) | View::Port(PortTerm::External(e)) => Some(e.node()),
        View::Pid(_) | View::Port(_) => return true,
        _ => t.as_tuple_n::<2>().and_then(|[_, node]| node.as_atom()),
    };
    node == Some(name())
}
pub fn is_alive() -> bool {
    name() != am::nonode_nohost
}
