//! Other nodes as a crash dump describes them ("How to Interpret the Erlang Crash Dumps",
//! "Distribution Information").

use std::fmt::Write;

use kvik_heap::Heap;
use kvik_term::{print, Term};

use crate::node::{self, Phase, RemoteNode};
use crate::watchers;

/// The sections `=visible_node`, `=hidden_node` and `=not_connected`, in this order. What our
/// processes monitor at other nodes is not among it: only they know.
pub fn sections() -> String {
    let mut kinds = [const { String::new() }; 3];
    for n in node::all().iter().rev() {
        let (kind, section) = section(n);
        kinds[kind].push_str(&section);
    }
    kinds.concat()
}

fn show(t: Term<'_>) -> String {
    String::from_utf8_lossy(&print::display(t)).into_owned()
}

/// The section of one node, and its place in the order of kinds. A node that stays locked is only
/// named.
fn section(n: &RemoteNode) -> (usize, String) {
    let name = || format!("{}\nName: {}\n", n.name.index(), show(n.name.into()));
    let Some(s) = n.lock_soon() else { return (0, format!("=visible_node:{}", name())) };
    let up = s.phase == Phase::Up;
    let (kind, tag) = match (up, s.flags.published()) {
        (true, true) => (0, "visible_node"),
        (true, false) => (1, "hidden_node"),
        (false, _) => (2, "not_connected"),
    };
    let mut text = format!("={tag}:{}", name());
    let Some(controller) = s.controller.filter(|_| up) else { return (kind, text) };
    // A String takes whatever it is given.
    let _ = writeln!(text, "Controller: {}\nCreation: {}", show(controller.term()), s.creation);
    let h = Heap::detached();
    let (id, links) = (s.id, s.links.clone());
    drop(s);
    let pid = |pid: u32| show(Term::local_pid(pid));
    for (watched, watcher) in watchers::of(n, id) {
        let _ =
            writeln!(text, "Remotely monitored by: {} {}", pid(watched), show(watcher.term(&h)));
    }
    for (own, other) in links {
        let _ = writeln!(text, "Remote link: {} {}", show(other.term(&h)), pid(own));
    }
    (kind, text)
}
