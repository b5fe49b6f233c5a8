//! `erlang:memory/0,1`.

use kvik_ets::{registry, Access};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::Term;

pub const BIFS: &[BifEntry] =
    &[bif!("erlang", "memory", 0, memory_0), bif!("erlang", "memory", 1, memory_1)];

/// Bytes.
#[derive(Copy, Clone, Default, Debug)]
pub struct Memory {
    pub total: usize,
    pub processes: usize,
    pub processes_used: usize,
    pub atom: usize,
    pub atom_used: usize,
    pub binary: usize,
    pub code: usize,
}

/// What the kernel says of the whole program.
pub(super) fn of_this_program() -> Memory {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|s| s.split(' ').nth(1)?.parse::<usize>().ok());
    let atom = kvik_term::Atom::count() * 28;
    Memory { total: pages.unwrap_or(0) * 4096, atom, atom_used: atom, ..Memory::default() }
}

/// Items in the order of `memory/0`.
fn items() -> [(&'static str, usize); 9] {
    let m = (super::hooks().memory)();
    let ets: usize = registry::all()
        .iter()
        .filter_map(|t| t.read(0, Access::Info).ok().map(|s| 8 * t.memory(&s)))
        .sum();
    let total = m.total.max(m.processes + m.atom + m.binary + m.code + ets);
    [
        ("total", total),
        ("processes", m.processes),
        ("processes_used", m.processes_used),
        ("system", total - m.processes),
        ("atom", m.atom),
        ("atom_used", m.atom_used),
        ("binary", m.binary),
        ("code", m.code),
        ("ets", ets),
    ]
}

fn pair<'h>(p: &'h Proc, name: Term<'h>, n: usize) -> Term<'h> {
    p.heap.tuple(&[name, p.heap.integer(n as i64)])
}
fn memory_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let mut list = Vec::new();
    for (name, n) in items() {
        if let Ok(a) = kvik_term::Atom::intern(name) {
            list.push(pair(p, a.into(), n));
        }
    }
    Ok(p.heap.list(&list))
}
fn memory_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what] = *a else { return Err(p.badarg()) };
    let items = items();
    let get = |t: Term<'_>| {
        let name = t.as_atom()?.name();
        items.iter().find(|i| i.0 == name).map(|i| i.1)
    };
    if !what.is_list() {
        return match get(what) {
            Some(n) => Ok(p.heap.integer(n as i64)),
            None => Err(p.badarg()),
        };
    }
    let names = what.list_to_vec().ok_or_else(|| p.badarg())?;
    let list: Option<Vec<_>> = names.iter().map(|t| Some(pair(p, *t, get(*t)?))).collect();
    Ok(p.heap.list(&list.ok_or_else(|| p.badarg())?))
}
