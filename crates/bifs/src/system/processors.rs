//! The processors of this machine: how many there are, how many the program may use, their topology
//! (`cpu_topology`), and how groups of threads would be spread over them.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use kvik_env::fs;
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

/// One logical processor, as in OTP's `#cpu{}`: its node, the processor, the node within that
/// processor, core, thread and own number; -1 for a level that does not exist.
pub(super) type Cpu = [i32; 6];
pub(super) const NODE: usize = 0;
pub(super) const PROCESSOR: usize = 1;
pub(super) const PROCESSOR_NODE: usize = 2;
pub(super) const CORE: usize = 3;
pub(super) const THREAD: usize = 4;
pub(super) const LOGICAL: usize = 5;
pub(super) const MAX_ID: i64 = 0xFFFF;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub configured: usize,
    pub online: usize,
    pub available: usize,
    cpus: Option<Vec<Cpu>>,
}

#[derive(Default)]
struct State {
    found: Option<Found>,
    /// The topology set by `system_flag(cpu_topology, ...)` or `+sct`.
    defined: Option<Vec<Cpu>>,
}
kvik_state::vm_state! {
    static STATE: Mutex<State> = Mutex::new(State { found: None, defined: None });
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}

/// The processors as found at the first call, or at the last update.
pub(super) fn found() -> Found {
    state().found.get_or_insert_with(look).clone()
}
/// Reads the processors anew; returns whether anything has changed.
pub(super) fn update() -> bool {
    let (new, mut s) = (look(), state());
    s.found.replace(new.clone()).is_some_and(|old| old != new)
}

fn look() -> Found {
    let all = numbered(Path::new("/sys/devices/system/cpu"), "cpu");
    let fallback = kvik_env::thread::available_parallelism().map_or(1, |n| n.get());
    let or = |n: usize| if n == 0 { fallback } else { n };
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = or(online.trim().split(',').filter_map(length_of_range).sum());
    let configured = or(all.len());
    let cpus = topology().filter(|c| c.len() >= online && c.len() <= configured);
    Found { configured, online, available: or(allowed()), cpus }
}
/// The length of a range such as `3` or `0-7`.
fn length_of_range(s: &str) -> Option<usize> {
    let (a, b) = s.split_once('-').unwrap_or((s, s));
    let (a, b): (usize, usize) = (a.parse().ok()?, b.parse().ok()?);
    Some((b + 1).saturating_sub(a))
}
/// How many processors the program's first thread may run on.
fn allowed() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed:"));
    let digits = mask.unwrap_or_default().chars().filter_map(|c| c.to_digit(16));
    digits.map(|d| d.count_ones() as usize).sum()
}

/// The numbers N of the entries of a directory that are named `name` followed by N.
fn numbered(dir: &Path, name: &str) -> Vec<i32> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let number = |e: fs::DirEntry| e.file_name().to_str()?.strip_prefix(name)?.parse().ok();
    entries.filter_map(number).collect()
}
fn topology() -> Option<Vec<Cpu>> {
    let nodes = Path::new("/sys/devices/system/node");
    let ids = numbered(nodes, "node");
    let mut all = Vec::new();
    for &id in &ids {
        read_cpus(&nodes.join(format!("node{id}")), id, &mut all);
    }
    if ids.is_empty() {
        read_cpus(Path::new("/sys/devices/system/cpu"), -1, &mut all);
    }
    settle_nodes(&mut all, ids.len());
    all.sort_unstable();
    for i in 1..all.len() {
        let (before, this) = (all[i - 1], &mut all[i]);
        this[THREAD] = if this[..=CORE] == before[..=CORE] { before[THREAD] + 1 } else { 0 };
    }
    (!all.is_empty()).then_some(all)
}
fn read_cpus(dir: &Path, node: i32, all: &mut Vec<Cpu>) {
    for n in numbered(dir, "cpu") {
        let read = |what: &str| -> Option<i32> {
            let file = dir.join(format!("cpu{n}/topology/{what}"));
            fs::read_to_string(file).ok()?.trim().parse().ok()
        };
        if let (Some(p), Some(core)) = (read("physical_package_id"), read("core_id")) {
            all.push([node, p, -1, core, 0, n]);
        }
    }
}
/// A single node is dropped. Several nodes of one processor become nodes within it.
fn settle_nodes(all: &mut [Cpu], nodes: usize) {
    let known = all.to_vec();
    for c in all {
        let other = |o: &Cpu| o[PROCESSOR] == c[PROCESSOR] && o[NODE] != c[NODE];
        if nodes > 1 && known.iter().any(other) {
            c[PROCESSOR_NODE] = c[NODE];
        }
        if nodes <= 1 || c[PROCESSOR_NODE] >= 0 {
            c[NODE] = -1;
        }
    }
}

/// `which`: `used`, `detected` or `defined`.
pub(super) fn cpu_topology<'h>(p: &'h Proc, which: &str) -> BifResult<'h> {
    let t = internal(&p.heap, chosen(which));
    Err(p.trap_in_next_turn(kvik_code::export(am::erlang, am::format_cpu_topology, 1), &[t]))
}
fn chosen(which: &str) -> Option<Vec<Cpu>> {
    let detected = found().cpus;
    let defined = state().defined.clone();
    match which {
        "detected" => detected,
        "defined" => defined,
        _ => defined.or(detected),
    }
}
fn internal(h: &Heap, cpus: Option<Vec<Cpu>>) -> Term<'_> {
    let Some(cpus) = cpus else { return am::undefined.into() };
    let row = |c: &Cpu| {
        let mut t = vec![am::cpu.into()];
        t.extend(c.iter().map(|n| h.integer(*n as i64)));
        h.tuple(&t)
    };
    let rows: Vec<_> = cpus.iter().map(row).collect();
    h.list(&rows)
}

/// `system_flag(cpu_topology, T)`: `erlang.erl` converts T to rows and calls `set_internal`.
pub(super) fn set<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    Err(p.trap_in_next_turn(kvik_code::export(am::erlang, am::set_cpu_topology, 1), &[t]))
}
pub(super) fn set_internal<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    let new = match t.is_atom(am::undefined) {
        true => None,
        false => Some(rows(t).and_then(|r| verified(r).ok()).ok_or_else(|| p.badarg())?),
    };
    let before = chosen("used");
    state().defined = new;
    Ok(internal(&p.heap, before))
}
fn rows(t: Term<'_>) -> Option<Vec<Cpu>> {
    let row = |t: &Term<'_>| -> Option<Cpu> {
        let [name, ids @ ..] = t.as_tuple_n::<7>()?;
        let id = |t: Term<'_>| t.as_i64().filter(|n| (-1..=MAX_ID).contains(n)).map(|n| n as i32);
        let ids: Option<Vec<i32>> = ids.into_iter().map(id).collect();
        name.is_atom(am::cpu).then_some(())?;
        ids?.try_into().ok()
    };
    t.list_to_vec().filter(|v| !v.is_empty())?.iter().map(row).collect()
}
/// Sorts the processors, and checks that each occurs once and that nodes and processors are
/// consistent. The error is `erl`'s reason.
fn verified(mut all: Vec<Cpu>) -> Result<Vec<Cpu>, &'static str> {
    let mut ids: Vec<i32> = all.iter().map(|c| c[LOGICAL]).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|w| w[0] == w[1]) {
        return Err("not unique logical identifiers");
    }
    all.sort_by_key(|c| (c[PROCESSOR], c[NODE], c[PROCESSOR_NODE], c[CORE], c[THREAD]));
    if all.windows(2).any(|w| w[0][..LOGICAL] == w[1][..LOGICAL]) {
        return Err("not unique entities");
    }
    let no_nodes = all.iter().all(|c| c[NODE] < 0 && c[PROCESSOR_NODE] < 0);
    let one_node = |c: &Cpu| (c[NODE] < 0) != (c[PROCESSOR_NODE] < 0);
    let apart = |w: &[Cpu]| w[0][PROCESSOR] == w[1][PROCESSOR] && w[0][NODE] != w[1][NODE];
    match all.windows(2).any(apart) || !(no_nodes || all.iter().all(one_node)) {
        true => Err("invalid nodes declaration"),
        false => Ok(all),
    }
}

/// Sets the topology that `+sct` defines. The error is the reason for refusing it.
pub(super) fn define(text: &str) -> Result<(), &'static str> {
    state().defined = Some(super::topology_text::parse(text).and_then(verified)?);
    Ok(())
}

/// `[{Logical, Group}]`: `groups` groups spread over the processors. Each core is a group if there
/// are enough; else the parts of the outermost level with more parts than groups share them.
pub(crate) fn groups<'h>(h: &'h Heap, groups: usize) -> Term<'h> {
    let cpus = chosen("used").unwrap_or_default();
    let places = places(&cpus);
    let spread = spread(&places, groups);
    let row =
        |(c, g): (&Cpu, usize)| h.tuple(&[h.integer(c[LOGICAL] as i64), h.integer(g as i64 + 1)]);
    let all: Vec<_> = cpus.iter().zip(spread).map(row).collect();
    h.list(&all)
}

/// The position of a processor: at each level, its part's number, counted over the whole machine.
type Place = [usize; LOGICAL];

fn places(cpus: &[Cpu]) -> Vec<Place> {
    let mut at: Place = [0; LOGICAL];
    let mut all = Vec::new();
    for (i, c) in cpus.iter().enumerate() {
        if let Some(before) = i.checked_sub(1).map(|i| &cpus[i]) {
            let changed = |k: usize| c[k] != before[k];
            let first = match () {
                _ if changed(NODE) || changed(PROCESSOR_NODE) => NODE,
                _ if changed(PROCESSOR) && c[PROCESSOR_NODE] >= 0 => NODE,
                _ if changed(PROCESSOR) => PROCESSOR,
                _ if changed(CORE) => CORE,
                _ => THREAD,
            };
            at[first..].iter_mut().for_each(|n| *n += 1);
        }
        all.push(at);
    }
    all
}

/// A part of the machine, and how many parts of the level below it has.
struct Part {
    id: usize,
    below: usize,
    groups: usize,
}

fn spread(places: &[Place], groups: usize) -> Vec<usize> {
    let Some(last) = places.last() else { return Vec::new() };
    let too_many = |k: &usize| last[*k] + 1 > groups;
    let Some(level) = (NODE..=CORE).find(too_many) else {
        return places.iter().map(|p| p[CORE]).collect();
    };
    let top = |p: &Place| level.checked_sub(1).map_or(0, |k| p[k]);
    let mut parts: Vec<Part> = Vec::new();
    for (i, p) in places.iter().enumerate() {
        match parts.last_mut().filter(|part| part.id == top(p)) {
            None => parts.push(Part { id: top(p), below: 1, groups: 0 }),
            Some(part) => part.below += (p[level] != places[i - 1][level]) as usize,
        }
    }
    share_out(&mut parts, groups);
    let (mut all, mut first) = (Vec::new(), 0);
    let mut rest = places;
    for part in &parts {
        let n = rest.iter().take_while(|p| top(p) == part.id).count();
        let (mine, others) = rest.split_at(n);
        let begin = mine.first().map_or(0, |p| p[level]);
        all.extend(mine.iter().map(|p| first + group(p[level] - begin, part)));
        first += part.groups;
        rest = others;
    }
    all
}
/// Gives each part its share of the groups, and the rest to the largest parts.
fn share_out(parts: &mut [Part], groups: usize) {
    let share = groups / parts.len().max(1);
    parts.sort_by_key(|p| (std::cmp::Reverse(p.below), p.id));
    parts.iter_mut().for_each(|p| p.groups = p.below.min(share));
    let mut left = groups.saturating_sub(parts.iter().map(|p| p.groups).sum());
    while left > 0 && parts.iter().any(|p| p.groups < p.below) {
        for p in parts.iter_mut().take_while(|p| p.groups < p.below) {
            if left > 0 {
                p.groups += 1;
                left -= 1;
            }
        }
    }
    parts.sort_by_key(|p| p.id);
}
/// The group of the `i`th part below `part`. If they don't divide evenly, the last groups have one
/// more.
fn group(i: usize, part: &Part) -> usize {
    let groups = part.groups.max(1);
    let (few, extra) = (part.below / groups, part.below % groups);
    let small = (groups - extra) * few;
    match i.checked_sub(small) {
        None => i / few.max(1),
        Some(i) => groups - extra + i / (few + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(processors: &[i32]) -> Vec<Cpu> {
        let mut all = Vec::new();
        for (p, cores) in processors.iter().enumerate() {
            let n = all.len() as i32;
            all.extend((0..*cores).map(|c| [-1, p as i32, -1, c, -1, n + c]));
        }
        all
    }
    fn of(cpus: &[Cpu], groups: usize) -> Vec<usize> {
        spread(&places(cpus), groups)
    }

    #[test]
    fn groups_are_spread() {
        let c = cores(&[3, 2]);
        assert_eq!(of(&c, 1), [0, 0, 0, 0, 0]);
        assert_eq!(of(&c, 2), [0, 0, 0, 1, 1]);
        assert_eq!(of(&c, 3), [0, 1, 1, 2, 2]);
        assert_eq!(of(&c, 4), [0, 1, 1, 2, 3]);
        assert_eq!(of(&c, 9), [0, 1, 2, 3, 4]);
        assert_eq!(of(&[], 3), [0; 0]);
    }
    #[test]
    fn processors_are_told_apart() {
        let mut c = cores(&[2, 2]);
        assert_eq!(verified(c.clone()), Ok(c.clone()));
        c[3][LOGICAL] = 0;
        assert_eq!(verified(c), Err("not unique logical identifiers"));
    }
    #[test]
    fn there_are_processors() {
        let f = look();
        assert!(f.available >= 1 && f.online >= 1 && f.configured >= f.online);
        assert_eq!(["0-7", "3", "x"].map(length_of_range), [Some(8), Some(1), None]);
    }
}
