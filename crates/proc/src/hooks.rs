//! Functions that processes and schedulers need from crates above this one. `vm` sets them before
//! it starts.

use std::sync::OnceLock;
use std::time::Duration;

use kvik_heap::{Heap, OwnedTerm, Regs};
use kvik_term::{Atom, CodeAddress, Term};

use crate::remote_types::{RemoteSignal, SendOptions, Sent, SignalDelivery};
use crate::signal_types::RefId;
use crate::{CurrentTask, Proc};

/// How a time slice ended. Native code has saved its live x registers (`Heap::save_x`), and
/// `Heap::ip` says where it continues.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SliceEnd {
    /// Still runnable: out of reductions, or it yielded.
    Yield,
    /// It waits for a message (or the deadline that [`Proc::wait_timeout`] set). When it runs
    /// again, it examines its mailbox from the save pointer on.
    Wait,
    /// It has ended. `Root::ExcValue` has the exit reason (`normal` when its function returned;
    /// with the stack trace for errors), `Heap::exc_class` the class.
    Exit,
}

#[derive(Copy, Clone)]
pub struct Hooks {
    /// Runs the current task until its time slice ends. Another task may be in its place then,
    /// after a context switch: see [`crate::sched::to_next`].
    pub run: fn(&CurrentTask, &Regs) -> SliceEnd,
    /// The entry point of a new process: code that calls `x0:x1` with the list of arguments in x2
    /// and ends the process when that returns.
    pub start_ip: fn() -> CodeAddress,
    /// The stack of a process that is not running, or (if the flag is set) of the calling one, as
    /// `[{M, F, A, Info}]`, up to a maximum length.
    pub stacktrace: for<'h> fn(&Proc, &'h kvik_heap::Heap, bool, usize) -> Term<'h>,
    /// Whether the process uses a module's old code: `(process, module, may collect)`
    pub uses_old_code: fn(&Proc, Atom) -> bool,
    /// Serves ports and files of a scheduler's poll set; waits at most that long (`None`: until
    /// woken), and calls the function when the wait is over. Returns the number of events.
    pub poll: fn(usize, Option<Duration>, &mut dyn FnMut()) -> usize,
    /// Ends a scheduler's wait in `poll`, or its next wait.
    pub wake: fn(usize),
    /// Runs something that takes long on a thread that is no scheduler.
    pub on_another_thread: fn(Box<dyn FnOnce() + Send>),
    pub port: PortHooks,
    pub node: NodeHooks,
}

/// The outcome of a message to a port.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Posted {
    Done,
    /// Taken, but the port is busy: the sender must suspend itself (under its own pid). The port
    /// resumes it.
    Wait,
    /// Not taken: the port is busy, and the sender must not wait.
    Refused,
}

/// Signals to ports.
#[derive(Copy, Clone)]
pub struct PortHooks {
    /// `Port ! Message` from a process, and whether it may be made to wait.
    pub send: fn(u32, from: Term<'_>, &OwnedTerm, may_wait: bool) -> Posted,
    /// A process links to a port. False: no such port.
    pub link: fn(port: u32, pid: u32) -> bool,
    pub unlink: fn(port: u32, pid: u32),
    /// A process linked to the port has ended, or sends it an exit signal.
    pub exit: fn(port: u32, from: u32, linked: bool, &OwnedTerm),
    pub monitor: fn(port: u32, pid: u32, RefId, Option<Atom>) -> bool,
    pub demonitor: fn(port: u32, RefId),
    pub is_open: fn(port: u32) -> bool,
    /// Gives a trace message to a port that is a tracer. False: it is gone.
    pub trace: fn(port: u32, &OwnedTerm) -> bool,
}

/// Signals to other nodes.
#[derive(Copy, Clone)]
pub struct NodeHooks {
    /// `To ! Message`, where the receiver is a pid, reference or `{Name, Node}` of another node.
    pub send: fn(&Proc, to: Term<'_>, m: Term<'_>, SendOptions) -> Sent,
    /// Any other signal from a process of this node, and whether that process may be suspended.
    pub tell: fn(u32, RemoteSignal<'_>, bool) -> SignalDelivery,
    /// The process of another node that holds the monitor with this reference.
    pub watcher: for<'h> fn(&'h Heap, RefId) -> Option<Term<'h>>,
    /// The creation of a node from its current or last connection; 0 if there was none yet.
    pub creation: fn(Atom) -> Option<u32>,
    /// The connected nodes, and the port or process that controls each connection.
    pub controllers: fn() -> Vec<(Atom, Term<'static>)>,
    /// `process_flag({monitor_nodes, Options}, On)`: how often it was on before; `None` for unknown
    /// options.
    pub monitor_nodes: fn(&Proc, bool, Term<'_>) -> Option<usize>,
    /// `{Pid, Options}` for each such flag that is on.
    pub watchers: for<'h> fn(&'h Heap) -> Term<'h>,
    /// The other nodes as sections of a crash dump.
    pub report: fn() -> String,
}

kvik_state::vm_state! {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
    static ON_EXIT: [OnceLock<fn(&Proc)>; 4] = [const { OnceLock::new() }; 4];
}

pub const DEFAULT: Hooks = Hooks {
    run: |_, _| SliceEnd::Exit,
    start_ip: || CodeAddress::NONE,
    stacktrace: |_, _, _, _| Term::NIL,
    uses_old_code: |_, _| false,
    poll: crate::sched::parking::poll,
    wake: crate::sched::parking::wake,
    on_another_thread: |job| job(),
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
        tell: |_, _, _| SignalDelivery::Unreachable,
        watcher: |_, _| None,
        creation: |_| None,
        controllers: Vec::new,
        monitor_nodes: |_, _, _| None,
        watchers: |_| Term::NIL,
        report: String::new,
    },
};

/// Sets the hooks. False if they were set before.
pub fn set_hooks(h: Hooks) -> bool {
    HOOKS.set(h).is_ok()
}
#[inline]
pub fn hooks() -> &'static Hooks {
    HOOKS.get().unwrap_or(&DEFAULT)
}
/// Registers a function to call at the end of each process, for tables, files, ports that it owns.
/// False if there is no room for one more.
pub fn on_exit(f: fn(&Proc)) -> bool {
    ON_EXIT.iter().any(|slot| slot.set(f).is_ok())
}
kvik_state::vm_state! {
    static SYSTEM_EXIT: OnceLock<fn(&Proc, &OwnedTerm)> = OnceLock::new();
}

/// Registers a function to call when a system process begins to end, with the reason. False if
/// there is one already.
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

/// Registers a function to call before those of [`on_exit`]. It may take longer than a time slice:
/// while it returns false, it is called again in the process's next time slice. False if there is
/// one already.
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
