//! `erlang:memory/0,1`.

use kvik_ets::{registry, Access, Table};
use kvik_heap::memory_counters::{BINARIES, BLOCKS};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{Atom, Term};

pub const BIFS: &[BifEntry] =
    &[bif!("erlang", "memory", 0, memory_0), bif!("erlang", "memory", 1, memory_1)];

/// Resident set size of the program in bytes, from the kernel.
fn resident() -> usize {
    let pages = kvik_env::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|s| s.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Bytes of atoms: the names, and for each its table and index entries.
fn atoms() -> usize {
    const ENTRY: usize = size_of::<&str>() + size_of::<u64>();
    let names = (0..Atom::count() as u32).filter_map(Atom::from_index);
    names.map(|a| a.name().len() + ENTRY).sum()
}

/// Bytes of memory by what uses it.
pub(super) struct MemoryUsage {
    /// All that is present, and at least the sum of the others.
    pub total: usize,
    /// The tasks of processes.
    pub tasks: usize,
    /// Heaps and stacks of processes. (Waiting messages and heap fragments are part of the total
    /// only.)
    pub heaps: usize,
    pub atoms: usize,
    /// Off-heap binaries.
    pub binaries: usize,
    pub native_code: usize,
    pub literals: usize,
    pub tables: usize,
}
impl MemoryUsage {
    pub fn now() -> MemoryUsage {
        Self::with_tables(tables(|t| t.read(0, Access::Info).map_or(0, |s| t.memory(&s))))
    }
    fn with_tables(tables: usize) -> MemoryUsage {
        let mut usage = MemoryUsage {
            total: 0,
            tasks: kvik_proc::process::table().count() * size_of::<kvik_proc::Task>(),
            heaps: BLOCKS.sum(),
            atoms: atoms(),
            binaries: BINARIES.sum(),
            native_code: kvik_jit::mem::bytes(),
            literals: kvik_heap::literal::bytes(),
            tables,
        };
        usage.total = resident().max(usage.counted());
        usage
    }
    /// The sum of all but the total.
    pub fn counted(&self) -> usize {
        let code = self.native_code + self.literals;
        self.processes() + self.atoms + self.binaries + code + self.tables
    }
    fn processes(&self) -> usize {
        self.tasks + self.heaps
    }
}

fn tables(words: fn(&Table) -> usize) -> usize {
    registry::all().iter().map(|t| 8 * words(t)).sum()
}

/// Items in the order of `memory/0`.
fn items() -> [(&'static str, usize); 9] {
    named(&MemoryUsage::now())
}
/// The same for a dump, which may not wait: without tables that are being written to.
pub fn items_without_waiting() -> [(&'static str, usize); 9] {
    named(&MemoryUsage::with_tables(tables(|t| t.try_peek().map_or(0, |s| t.memory(&s)))))
}
fn named(usage: &MemoryUsage) -> [(&'static str, usize); 9] {
    let processes = usage.processes();
    [
        ("total", usage.total),
        ("processes", processes),
        ("processes_used", processes),
        ("system", usage.total - processes),
        ("atom", usage.atoms),
        ("atom_used", usage.atoms),
        ("binary", usage.binaries),
        ("code", usage.native_code + usage.literals),
        ("ets", usage.tables),
    ]
}

fn pair<'h>(p: &'h Proc, name: Term<'h>, n: usize) -> Term<'h> {
    p.heap.tuple(&[name, p.heap.integer(n as i64)])
}
fn memory_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    memory(p)
}
/// All items with their values.
pub fn memory<'h>(p: &'h Proc) -> BifResult<'h> {
    let mut list = Vec::new();
    for (name, n) in items() {
        if let Ok(a) = Atom::intern(name) {
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
