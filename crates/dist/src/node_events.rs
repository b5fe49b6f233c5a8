//! Subscriptions to all nodes' comings and goings: `net_kernel:monitor_nodes/1,2`.

use std::sync::Mutex;

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::process::flag;
use kvik_proc::signal::post;
use kvik_proc::Proc;
use kvik_term::{am, Atom, Term};

/// Which events a subscriber gets, and in what form.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
struct Options {
    visible: bool,
    hidden: bool,
    reason: bool,
    connection: bool,
    /// Information as a map; else as a list, if there is any.
    map: bool,
}
impl Options {
    const NONE: Options =
        Options { visible: false, hidden: false, reason: false, connection: false, map: false };

    /// `[]` or a map.
    fn read(t: Term<'_>) -> Option<Options> {
        if t.is_nil() {
            return Some(Options::NONE);
        }
        let mut o = Options { map: true, ..Options::NONE };
        for (k, v) in kvik_ets::order::map_pairs(t.as_map()?) {
            match (k.as_atom()?, v.as_atom()?) {
                (am::list, am::true_) => o.map = false,
                (am::connection_id, v) => o.connection = Term::atom(v).as_bool()?,
                (am::nodedown_reason, v) => o.reason = Term::atom(v).as_bool()?,
                (am::node_type, am::visible) => o.visible = true,
                (am::node_type, am::hidden) => o.hidden = true,
                (am::node_type, am::all) => (o.visible, o.hidden) = (true, true),
                _ => return None,
            }
        }
        Some(o)
    }
    fn wants(self, visible: bool) -> bool {
        match visible {
            true => self.visible || !self.hidden,
            false => self.hidden,
        }
    }
    /// `{nodeup, RemoteNode}`, with further information if requested.
    fn message<'h>(self, h: &'h Heap, e: &Event<'_>) -> Term<'h> {
        let (what, name) = (e.what.into(), e.name.into());
        if self == Options::NONE {
            return h.tuple(&[what, name]);
        }
        let kind = if e.visible { am::visible } else { am::hidden };
        let id = || e.id.map_or(am::undefined.into(), |n| h.unsigned(n as u64));
        let reason = || e.reason.map(|r| h.copy(r.term()));
        let info: [(bool, Atom, Option<Term<'h>>); 3] = [
            (self.connection, am::connection_id, Some(id())),
            (self.reason && e.what == am::nodedown, am::nodedown_reason, reason()),
            (self.visible || self.hidden, am::node_type, Some(kind.into())),
        ];
        let all = info.into_iter().filter(|i| i.0);
        let all: Vec<_> = all.filter_map(|(_, k, v)| Some((Term::from(k), v?))).collect();
        let info = match self.map {
            true => kvik_ets::order::make_map(h, &all),
            false => h.list(&all.iter().map(|(k, v)| h.tuple(&[*k, *v])).collect::<Vec<_>>()),
        };
        h.tuple(&[what, name, info])
    }
}

struct Event<'a> {
    what: Atom,
    name: Atom,
    id: Option<u32>,
    visible: bool,
    reason: Option<&'a OwnedTerm>,
}

kvik_state::vm_state! {
    /// Subscribers with their options and number of subscriptions.
    static ALL: Mutex<Vec<(u32, Options, usize)>> = Mutex::new(Vec::new());
}

fn all() -> std::sync::MutexGuard<'static, Vec<(u32, Options, usize)>> {
    ALL.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn monitor_nodes(p: &Proc, on: bool, options: Term<'_>) -> Option<usize> {
    let o = Options::read(options)?;
    let mut all = all();
    let at = all.iter().position(|w| (w.0, w.1) == (p.pid(), o));
    let before = at.map_or(0, |i| all[i].2);
    match (on, at) {
        (true, Some(i)) => all[i].2 += 1,
        (true, None) => {
            all.push((p.pid(), o, 1));
            p.set_flag(flag::WATCHES_NODES, true);
        }
        (false, Some(i)) => {
            all.remove(i);
        }
        (false, None) => {}
    }
    Some(before)
}

/// Subscribers with their options, one entry for each subscription: for tests.
pub fn watchers<'h>(h: &'h Heap) -> Term<'h> {
    let mut list = Vec::new();
    for (pid, o, n) in all().iter() {
        let kind = match (o.visible, o.hidden) {
            (true, true) => Some(am::all),
            (true, false) => Some(am::visible),
            (false, true) => Some(am::hidden),
            (false, false) => None,
        };
        let reason = o.reason.then_some(am::nodedown_reason.into());
        let kind = kind.map(|k| h.tuple(&[am::node_type.into(), k.into()]));
        let options: Vec<Term<'h>> = reason.into_iter().chain(kind).collect();
        let one = h.tuple(&[Term::local_pid(*pid), h.list(&options)]);
        list.extend(std::iter::repeat_n(one, *n));
    }
    list.reverse();
    h.list(&list)
}

/// Tells subscribers that a node came up or went down.
pub fn tell_all(
    what: Atom,
    name: Atom,
    id: Option<u32>,
    visible: bool,
    reason: Option<&OwnedTerm>,
) {
    let e = Event { what, name, id, visible, reason };
    for (pid, o, n) in all().clone() {
        if o.wants(visible) {
            (0..n).for_each(|_| {
                post(pid, |h| o.message(h, &e));
            });
        }
    }
}

/// Removes the subscriptions of a process that has ended.
pub fn forget(pid: u32) {
    all().retain(|w| w.0 != pid);
}
