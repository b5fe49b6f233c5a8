//! This node's name and creation.

use std::sync::atomic::{AtomicU32, Ordering};

use kvik_term::{am, Atom, Term};

static NAME: AtomicU32 = AtomicU32::new(am::nonode_nohost.index());
static CREATION: AtomicU32 = AtomicU32::new(0);

pub fn name() -> Atom {
    Atom::from_index(NAME.load(Ordering::Relaxed)).unwrap_or(am::nonode_nohost)
}
pub fn creation() -> u32 {
    CREATION.load(Ordering::Relaxed)
}
pub fn set(name: Atom, creation: u32) {
    CREATION.store(creation, Ordering::Relaxed);
    NAME.store(name.index(), Ordering::Relaxed);
}
/// Is a pid, port or `{Name, Node}` one of this node?
pub fn is_own(t: Term<'_>) -> bool {
    use kvik_term::{Pid, Port, View};
    let node = match t.view() {
        View::Pid(Pid::External(e)) | View::Port(Port::External(e)) => Some(e.node()),
        View::Pid(_) | View::Port(_) => return true,
        _ => t.as_tuple_n::<2>().and_then(|[_, node]| node.as_atom()),
    };
    node == Some(name())
}
pub fn is_alive() -> bool {
    name() != am::nonode_nohost
}
