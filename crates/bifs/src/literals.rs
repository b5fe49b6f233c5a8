//! Module `erts_literal_area_collector`: frees unreferenced literals (of purged code, of persistent
//! terms), together with that code, once every process has copied those that it still holds.
//!
//! Areas are freed in batches. From [`set_leaving`] on, copies no longer share literals of the
//! batch. Once the copies under way at that moment have arrived, each process is asked to scan its
//! heap and mailbox, the only places that share literals. The areas are freed when all processes
//! have answered and every time slice in progress has ended.

use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_code::LoadedModule;
use kvik_heap::literal::{set_leaving, Leaving};
use kvik_heap::{LiteralArea, OwnedTerm};
use kvik_proc::signal::{deliver, message, Signal};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_sync::table::wait_for_all;
use kvik_term::{am, Term};

use crate::blocking_pool::hand_off;

pub const BIFS: &[BifEntry] = &[
    bif!("erts_literal_area_collector", "release_area_switch", 0, release_area_switch_0),
    bif!("erts_literal_area_collector", "send_copy_request", 3, send_copy_request_3),
];

/// An address and a length in bytes.
type Range = (usize, usize);

/// An area to free, with the range of its literals and of its native code, if any.
struct Area {
    range: Range,
    code: Option<Range>,
    owner: Box<dyn Any + Send + Sync>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Area>,
    /// The batch that processes are being asked about.
    asked: Option<(Arc<Leaving>, Vec<Area>)>,
    /// Start addresses of code that a process was found in, entered by a fun during the purge. That
    /// code is leaked.
    in_use: HashSet<usize>,
}

/// Maximum number of areas in a batch, and maximum bytes of a batch of several: a process reserves
/// room for all of them before it copies.
const AREAS: usize = 4096;
const BYTES: usize = 1 << 20;

kvik_state::vm_state! {
    /// The collector process, plus one; 0: none.
    static COLLECTOR: AtomicU32 = AtomicU32::new(0);
}

fn state() -> MutexGuard<'static, State> {
    kvik_state::vm_state! {
        static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    }
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// Sets the process that runs `erts_literal_area_collector`.
pub fn set_collector(pid: u32) {
    COLLECTOR.store(pid + 1, Ordering::Release);
}
fn collector() -> Option<u32> {
    COLLECTOR.load(Ordering::Acquire).checked_sub(1)
}

/// Frees the area once no process holds any of its literals. The caller guarantees that they are no
/// longer reachable in any other way.
fn retire(area: Area) {
    state().queue.push_back(area);
    if let Some(pid) = collector() {
        deliver(pid, Signal::Message(OwnedTerm::immediate(Term::atom(am::copy_literals))));
    }
}
/// Retires an area of literals without code.
pub fn retire_area(area: LiteralArea) {
    retire(Area { range: area.range(), code: None, owner: Box::new(area) });
}
/// Retires a module version that was removed from all tables.
pub fn retire_module(i: Arc<LoadedModule>) {
    let code = Some((i.start, i.size));
    retire(Area { range: i.literals.range(), code, owner: Box::new(i) });
}

/// Called when every process has answered: frees the batch and starts the next one. False: there is
/// none.
fn switch() -> bool {
    let done = state().asked.take();
    if let Some((_, areas)) = done {
        // A process that is ending may still be in its last time slice.
        wait_for_all();
        set_leaving(None);
        let in_use = std::mem::take(&mut state().in_use);
        for a in areas {
            if a.code.is_some_and(|c| in_use.contains(&c.0)) {
                std::mem::forget(a.owner);
            }
        }
    }
    let mut s = state();
    let (mut areas, mut bytes) = (Vec::new(), 0);
    while let Some(next) = s.queue.front().map(|a| a.range.1) {
        if !areas.is_empty() && (areas.len() >= AREAS || bytes + next > BYTES) {
            break;
        }
        bytes += next;
        areas.extend(s.queue.pop_front());
    }
    if areas.is_empty() {
        return false;
    }
    let leaving = Arc::new(Leaving::new(areas.iter().map(|a| a.range)));
    set_leaving(Some(leaving.clone()));
    s.asked = Some((leaving, areas));
    drop(s);
    wait_for_all();
    true
}

fn only_collector(p: &Proc) -> Result<(), kvik_proc::Raised> {
    match collector() == Some(p.pid()) {
        true => Ok(()),
        false => Err(p.error(am::notsup)),
    }
}
fn release_area_switch_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    only_collector(p)?;
    Err(hand_off(p, switch, |_, more| Term::bool(more)))
}

/// The process answers `{copy_literals, {Area, How, Pid}, ok}` when done.
fn send_copy_request_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    only_collector(p)?;
    let [to, area, how] = *a else { return Err(p.badarg()) };
    let pid = to.as_local_pid().ok_or_else(|| p.badarg())?;
    let asked = state().asked.as_ref().map(|(l, areas)| {
        let code: Vec<Range> = areas.iter().filter_map(|a| a.code).collect();
        (l.clone(), code)
    });
    let (which, code) = asked.ok_or_else(|| p.badarg())?;
    let id = OwnedTerm::new(p.heap.tuple(&[area, how, to]));
    let own = p.pid();
    let done = Box::new(move |of: Option<&Proc>| {
        let used = |c: &&Range| of.is_some_and(|of| kvik_jit::uses_code(of, c.0, c.1));
        for c in code.iter().filter(used) {
            state().in_use.insert(c.0);
        }
        let m = message(|h| h.tuple(&[am::copy_literals.into(), h.copy(id.term()), am::ok.into()]));
        deliver(own, Signal::Message(m));
    });
    let ask = move |of: Option<&Proc>| match of {
        Some(of) => of.ask_to_copy_literals(which, done),
        None => done(None),
    };
    deliver(pid, Signal::Run(Box::new(ask)));
    Ok(am::ok.into())
}
