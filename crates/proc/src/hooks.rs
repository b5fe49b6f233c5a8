//! What processes and schedulers need from crates above this one. `vm` sets it before it starts.

use std::sync::OnceLock;
use std::time::Duration;

use kvik_heap::{Heap, OwnedTerm, Regs};
use kvik_term::{Atom, CodeAddress, Term};

use crate::remote_types::{Outward, Sent, Told, Way};
use crate::signal_types::RefId;
use crate::{Proc, Stage};

/// How a turn ended. Native code has put its live x registers aside (`Heap::save_x`), and
/// `Heap::ip` says where it goes on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It would go on: out of reductions, or it yielded.
    Yield,
    /// It waits for a message (or the time that [`Proc::wait_timeout`] noted). When it is run
    /// again it looks at its mailbox from the save pointer on.
    Wait,
    /// It is at its end. `Root::ExcValue` has the exit reason (`normal` when its function
    /// returned; with the stack trace for errors), `Heap::exc_class` the class.
    Exit,
}

#[derive(Copy, Clone)]
pub struct Hooks {
    /// Runs the process on the stage until its turn ends. Then another may stand there, whose turn it
    /// was by then: see [`crate::sched::to_next`].
    pub run: fn(&Stage, &Regs) -> Outcome,
    /// Where a new process begins: code that calls `x0:x1` with the list of arguments in x2 and
    /// ends the process when that returns.
    pub start_ip: fn() -> CodeAddress,
    /// The stack of a process that is not running, or (if the flag is set) the one that asks, as
    /// `[{M, F, A, Info}]`, at most so long.
    pub stacktrace: for<'h> fn(&Proc, &'h kvik_heap::Heap, bool, usize) -> Term<'h>,
    /// Does the process use a module's old code? `(process, module, may collect)`
    pub uses_old_code: fn(&Proc, Atom) -> bool,
    /// Serves ports and files of a scheduler's poll set; waits at most so long (`None`: until
    /// woken), and calls that function when the wait is over. Answers how many events there were.
    pub poll: fn(usize, Option<Duration>, &mut dyn FnMut()) -> usize,
    /// Ends a scheduler's wait in `poll`, or the next one.
    pub wake: fn(usize),
    pub port: PortHooks,
    pub node: NodeHooks,
}

/// What became of a message to a port.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Posted {
    Done,
    /// Taken, but the port is busy: the sender is to suspend itself (for its own pid). The port
    /// resumes it.
    Wait,
    /// Not taken: the port is busy, and the sender may not be kept waiting.
    Refused,
}

/// Signals to ports.
#[derive(Copy, Clone)]
pub struct PortHooks {
    /// `Port ! Message` from a process, and whether it may be kept waiting.
    pub send: fn(u32, from: Term<'_>, &OwnedTerm, may_wait: bool) -> Posted,
    /// A process links to a port. False: no such port.
    pub link: fn(port: u32, pid: u32) -> bool,
    pub unlink: fn(port: u32, pid: u32),
    /// A process linked to the port has ended, or sends it an exit signal.
    pub exit: fn(port: u32, from: u32, linked: bool, &OwnedTerm),
    pub monitor: fn(port: u32, pid: u32, RefId, Option<Atom>) -> bool,
    pub demonitor: fn(port: u32, RefId),
    pub is_open: fn(port: u32) -> bool,
    /// Gives an event of tracing to a port that is a tracer. False: it is gone.
    pub trace: fn(port: u32, &OwnedTerm) -> bool,
}

/// Signals to other nodes.
#[derive(Copy, Clone)]
pub struct NodeHooks {
    /// `To ! Message`, where the receiver is a pid, reference or `{Name, Node}` of another node.
    pub send: fn(&Proc, to: Term<'_>, m: Term<'_>, Way) -> Sent,
    /// Anything else, from a process of this node, and whether that may be suspended.
    pub tell: fn(u32, Outward<'_>, bool) -> Told,
    /// The process of another node that watches by this reference.
    pub watcher: for<'h> fn(&'h Heap, RefId) -> Option<Term<'h>>,
    /// The creation of a node there was something to do with: of its connection, or the last one; 0
    /// where there was none yet.
    pub creation: fn(Atom) -> Option<u32>,
    /// The nodes there are connections to, and what carries each.
    pub controllers: fn() -> Vec<(Atom, Term<'static>)>,
    /// `process_flag({monitor_nodes, Options}, On)`: how often it was on before; `None` for options
    /// there are not.
    pub monitor_nodes: fn(&Proc, bool, Term<'_>) -> Option<usize>,
    /// `{Pid, Options}` of each such flag that is on.
    pub watchers: for<'h> fn(&'h Heap) -> Term<'h>,
}

kvik_state::vm_state! {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
    static ON_EXIT: [OnceLock<fn(&Proc)>; 4] = [const { OnceLock::new() }; 4];
}

pub const DEFAULT: Hooks = Hooks {
    run: |_, _| Outcome::Exit,
    start_ip: || CodeAddress::NONE,
    stacktrace: |_, _, _, _| Term::NIL,
    uses_old_code: |_, _| false,
    poll: crate::sched::parking::poll,
    wake: crate::sched::parking::wake,
    port: PortHooks {
        send: |_, _, _, _| Posted::Done,
        link: |_, _| false,
        unlink: |_, _| {},
        exit: |_, _, _, _| {},
        monitor: |_, _, _, _| false,
        demonitor: |_, _| {},
        is_open: |_| false,
        trace: |_, _| false,
    },
    node: NodeHooks {
        send: |_, _, _, way| if way.may_connect { Sent::Ok } else { Sent::NoConnection },
        tell: |_, _, _| Told::Unreachable,
        watcher: |_, _| None,
        creation: |_| None,
        controllers: Vec::new,
        monitor_nodes: |_, _, _| None,
        watchers: |_| Term::NIL,
    },
};

/// False when they were set before.
pub fn set_hooks(h: Hooks) -> bool {
    HOOKS.set(h).is_ok()
}
#[inline]
pub fn hooks() -> &'static Hooks {
    HOOKS.get().unwrap_or(&DEFAULT)
}
/// Has something done at the end of each process: tables, files, ports that it owns. False when
/// there is no room for one more.
pub fn on_exit(f: fn(&Proc)) -> bool {
    ON_EXIT.iter().any(|slot| slot.set(f).is_ok())
}
kvik_state::vm_state! {
    static SYSTEM_EXIT: OnceLock<fn(&Proc, &OwnedTerm)> = OnceLock::new();
}

/// Has something done when a system process begins to end, for which reason. False when there is such a
/// thing already.
pub fn on_system_exit(f: fn(&Proc, &OwnedTerm)) -> bool {
    SYSTEM_EXIT.set(f).is_ok()
}
pub(crate) fn run_on_system_exit(p: &Proc, reason: &OwnedTerm) {
    if let Some(f) = SYSTEM_EXIT.get() {
        f(p, reason)
    }
}
kvik_state::vm_state! {
    static BEFORE_EXIT: OnceLock<fn(&Proc) -> bool> = OnceLock::new();
}

/// Has something done before that which may take longer than a turn: as long as it answers false,
/// it is called again in the process's next turn. False when there is such a thing already.
pub fn before_exit(f: fn(&Proc) -> bool) -> bool {
    BEFORE_EXIT.set(f).is_ok()
}
#[inline]
pub(crate) fn run_before_exit(p: &Proc) -> bool {
    BEFORE_EXIT.get().is_none_or(|f| f(p))
}
#[inline]
pub(crate) fn run_on_exit(p: &Proc) {
    ON_EXIT.iter().map_while(|slot| slot.get()).for_each(|f| f(p));
}
