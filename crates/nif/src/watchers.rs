//! Monitors held by things that are not processes: sockets, ports of linked-in drivers, resources.

use kvik_heap::Heap;
use kvik_proc::RefId;
use kvik_term::Term;

use crate::{driver, monitors};

/// Notifies the holder of a monitor that its process has ended.
pub fn down(dead: u32, id: RefId) {
    if !kvik_socket::down(dead, id) && !driver::monitors::down(id) {
        monitors::down(dead, id);
    }
}
/// The socket, port or resource that monitors by a reference.
pub fn watcher(heap: &Heap, id: RefId) -> Option<Term<'_>> {
    let port_or_resource =
        || driver::monitors::port_term(id).or_else(|| monitors::watcher(heap, id));
    kvik_socket::watcher(heap, id).or_else(port_or_resource)
}
