//! Delivery of signals: through the receiver's inbox, so that those of one sender arrive in the
//! order they were sent. Their types are in `signal_types.rs`.

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Term};

use crate::message_queue::Accepted;
use crate::process::{flag, table, Priority, Pushed, RunToken, Task};
use crate::signal_types::MonitorSignal;
pub use crate::signal_types::{ByAge, Closure, Control, RefId, Signal};
use crate::system_tasks::SysTask;
use crate::trace::bit;
use crate::{sched, tracing_on, Proc};

/// Sends a signal to a local process. If there is no such process, the signal is answered in its
/// place; false then.
#[inline]
pub fn deliver(pid: u32, s: Signal) -> bool {
    try_deliver(pid, s).map_err(|s| undeliverable(pid, s)).is_ok()
}
/// The same for a control signal, which does not wake most waiting processes.
#[inline]
pub fn control(pid: u32, c: Control) -> bool {
    try_control(pid, c).map_err(|c| undeliverable_control(pid, c)).is_ok()
}

/// Sends a message. A sender that finds the receiver waiting ends its wait, owns it from then on,
/// and puts the message directly into its mailbox. Returns how many words were copied for a
/// receiver that does not wait.
#[inline]
pub fn send_message(from: u32, pid: u32, m: Term<'_>) -> usize {
    send_by::<false>(from, pid, None, m)
}
/// The same to an alias.
#[inline]
pub fn send_to_alias(from: u32, pid: u32, id: RefId, m: Term<'_>) -> usize {
    send_by::<false>(from, pid, Some(id), m)
}
/// Either of the two, if the receiver's wake-up may have to be profiled.
#[cold]
pub(crate) fn send_profiled(from: u32, pid: u32, alias: Option<RefId>, m: Term<'_>) -> usize {
    send_by::<true>(from, pid, alias, m)
}
#[inline(always)]
fn send_by<const PROFILED: bool>(from: u32, pid: u32, alias: Option<RefId>, m: Term<'_>) -> usize {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return 0 };
    if let Some(run_token) = end_wait(task) {
        let p = run_token.private();
        if let Some(id) = alias {
            // Any signal makes the receiver runnable, even if it is dropped.
            p.set_flag(flag::SIGNALLED, true);
            if p.is_exiting() || !p.uses_alias(id) {
                woken(run_token);
                return 0;
            }
        }
        p.last_from.set(from);
        if PROFILED {
            p.profile_woken();
        }
        if alias.is_some() {
            // A message to an alias is a signal, which makes a suspended process runnable too.
            p.accept_of_signal(m);
            sched::wake(run_token);
            return 0;
        }
        let accepted = p.accept(m);
        if accepted == Accepted::ON_HEAP || !p.flag(flag::SUSPENDED) {
            sched::wake(run_token);
        } else {
            wait_on(run_token);
        }
        return accepted.words();
    }
    if !PROFILED
        && alias.is_none()
        && sched::with_queued(task, |p| p.accept_early(from, m)) == Some(true)
    {
        return 0;
    }
    let message = OwnedTerm::message(m);
    let words = message.words();
    let s = match alias {
        None => Signal::Message(message),
        Some(id) => {
            let from = Term::local_pid(from);
            Signal::Control(Box::new(Control::AliasMessage { id, from, message }))
        }
    };
    let pushed = task.send(s);
    if alias.is_some() && matches!(pushed, Pushed::Queued) {
        note_signal(task);
    }
    match pushed {
        Pushed::Woken(run_token) if PROFILED => woken(run_token),
        Pushed::Woken(run_token) => sched::wake(run_token),
        Pushed::Elsewhere(s) => sched::hand_signal(pid, s),
        Pushed::Queued | Pushed::Closed(_) => (),
    }
    words
}

/// Sends a message stamped with its send time. It behaves like any other: the choice of timed
/// messages depends on time and must not be observable.
#[cold]
pub(crate) fn send_timed(from: u32, pid: u32, m: Term<'_>) -> usize {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return 0 };
    let (message, sent) = (OwnedTerm::message(m), sched::mailbox_latency::now());
    let words = message.words();
    let mut left = Some(message);
    if let Some(run_token) = end_wait(task) {
        let p = run_token.private();
        p.accept_timed(from, &mut left, sent);
        match p.flag(flag::SUSPENDED) {
            true => wait_on(run_token),
            false => sched::wake(run_token),
        }
        return 0;
    }
    sched::with_queued(task, |p| p.accept_timed(from, &mut left, sent));
    let Some(message) = left else { return 0 };
    match task.send(Signal::Control(Box::new(Control::Stamped { message, sent }))) {
        Pushed::Woken(run_token) => sched::wake(run_token),
        Pushed::Elsewhere(s) => sched::hand_signal(pid, s),
        Pushed::Queued | Pushed::Closed(_) => (),
    }
    words
}

/// Ends the wait of a process whose inbox is empty.
#[inline(always)]
fn end_wait(task: &Task) -> Option<RunToken> {
    let run_token = match task.unpark() {
        None => sched::take_unparked(task)?,
        parked => return parked,
    };
    // A process that parks has handled all signals before; with something in the inbox, it must
    // handle that first.
    if task.has_items() {
        woken(run_token);
        return None;
    }
    Some(run_token)
}
/// Sends a process a signal through its inbox.
fn push(task: &Task, s: Signal) -> Pushed {
    let unparked = sched::take_unparked(task);
    match (task.send(s), unparked) {
        (Pushed::Queued, Some(run_token)) => Pushed::Woken(run_token),
        (pushed, _) => pushed,
    }
}

/// Lets it wait on, unless a signal has arrived meanwhile.
#[inline(never)]
fn wait_on(run_token: RunToken) {
    if let Some(run_token) = run_token.park() {
        woken(run_token);
    }
}
/// Lets a process that waited run.
#[inline(never)]
fn woken(run_token: RunToken) {
    if tracing_on::on() {
        run_token.private().profile_woken();
    }
    sched::wake(run_token);
}

/// Has a process run a function without migrating it: for threads that only query it. The function
/// gets `None` if there is no such process.
pub fn ask(pid: u32, f: Closure) {
    let guard = pin();
    let Some(task) = table().get_any(pid, &guard) else { return f(None) };
    match push(task, Signal::Run(f)) {
        Pushed::Queued => (),
        Pushed::Woken(run_token) => sched::wake_at_home(run_token),
        Pushed::Closed(s) => undeliverable(pid, s),
        Pushed::Elsewhere(s) => sched::hand_signal(pid, s),
    }
}
/// As `deliver`, but gives the signal back when there is no such process.
#[inline]
pub fn try_deliver(pid: u32, s: Signal) -> Result<(), Signal> {
    sched::flush_monitor_to(pid);
    let guard = pin();
    let Some(task) = table().get_any(pid, &guard) else { return Err(s) };
    let is_message = matches!(s, Signal::Message(_) | Signal::Time);
    match push(task, s) {
        Pushed::Queued => {
            if !is_message {
                note_signal(task);
            }
            Ok(())
        }
        Pushed::Woken(run_token) => {
            let p = run_token.private();
            if !is_message {
                p.set_flag(flag::SIGNALLED, true);
            } else if p.flag(flag::SUSPENDED) {
                p.handle_signals();
            }
            match is_message && p.flag(flag::SUSPENDED) && p.is_settled() {
                true => wait_on(run_token),
                false => woken(run_token),
            }
            Ok(())
        }
        Pushed::Closed(s) => Err(s),
        Pushed::Elsewhere(s) => {
            sched::hand_signal(pid, s);
            Ok(())
        }
    }
}
/// As `control`, but gives the signal back when there is no such process.
#[inline]
pub fn try_control(pid: u32, c: Control) -> Result<(), Control> {
    sched::flush_monitor_to(pid);
    let left = {
        let guard = pin();
        let Some(task) = table().get_any(pid, &guard) else { return Err(c) };
        let mut left = Some(c);
        reach(task, |p| p.control_early(&mut left));
        left
    };
    let Some(c) = left else { return Ok(()) };
    match try_deliver(pid, Signal::Control(Box::new(c))) {
        Err(Signal::Control(c)) => Err(*c),
        _ => Ok(()),
    }
}
/// Signals a process that waits, which is woken in queue order, or is queued on this thread. `f` may
/// handle the signal at once, if nothing is in the inbox before it. `None`: it must go there too.
#[inline]
fn reach<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    let Some(run_token) = sched::take_unparked(task).or_else(|| task.unpark()) else {
        return sched::with_queued(task, |p| {
            p.set_flag(flag::SIGNALLED, true);
            f(p)
        });
    };
    let p = run_token.private();
    p.set_flag(flag::SIGNALLED, true);
    let handled = (!task.has_items()).then(|| f(p));
    woken(run_token);
    handled
}
/// As `control`, for a monitor's signal.
pub(crate) fn monitor_signal(pid: u32, m: MonitorSignal) {
    sched::flush_monitor_to(pid);
    {
        let guard = pin();
        let task = table().get_any(pid, &guard);
        if task.and_then(|task| reach(task, |p| p.monitor_early(m))) == Some(true) {
            return;
        }
    }
    deliver(pid, Signal::Control(Box::new(m.into())));
}
/// Sends a monitor's signal, and a message behind it if the receiver waits or is queued on this
/// thread. False: the message is still to be sent.
#[inline]
pub(crate) fn send_behind(from: u32, to: &Task, m: MonitorSignal, message: Term<'_>) -> bool {
    let both = |p: &Proc| p.monitor_early(m).then(|| p.accept_early(from, message));
    let sent = reach(to, both).flatten();
    if sent.is_none() {
        deliver(to.pid, Signal::Control(Box::new(m.into())));
    }
    sent == Some(true)
}
/// Inspects a process without a signal, if it waits or is queued on this thread.
pub fn inspect<A>(pid: u32, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    let guard = pin();
    let task = table().get_any(pid, &guard)?;
    if let Some(run_token) = sched::take_unparked(task) {
        let a = f(run_token.private());
        sched::keep_unparked(run_token);
        return Some(a);
    }
    if let Some(run_token) = task.unpark() {
        let a = f(run_token.private());
        wait_on(run_token);
        return Some(a);
    }
    sched::with_queued_any(task, f)
}
/// Gives a process a system task to run between its time slices, at `priority` at least. As in OTP,
/// it is a signal only if other signals are pending.
pub fn give_task(pid: u32, priority: Priority, t: SysTask) {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return (t.run)(None) };
    if let Some(run_token) = sched::take_unparked(task).or_else(|| task.unpark()) {
        let p = run_token.private();
        p.add_task(priority, t);
        if tracing_on::on() {
            p.profile_woken();
        }
        return sched::wake_as(run_token, priority);
    }
    add_task(task, priority, t);
    drop(guard);
    sched::raise(pid, priority);
}
/// The same for a process that does not wait.
fn add_task(task: &Task, priority: Priority, t: SysTask) {
    let mut left = Some(t);
    sched::with_queued_any(task, |p| {
        if p.is_open() {
            left.take().into_iter().for_each(|t| p.add_task(priority, t));
        }
    });
    let Some(t) = left else { return };
    let add = move |p: Option<&Proc>| match p {
        Some(p) => p.add_task(priority, t),
        None => (t.run)(None),
    };
    deliver(task.pid, Signal::Run(Box::new(add)));
}
/// There is no such process.
pub(crate) struct NoProcess;
/// Modifies a waiting process, whose wait ends for that moment. `None`: it does not wait.
pub(crate) fn with_waiting<A>(
    pid: u32,
    f: impl FnOnce(&mut Proc) -> A,
) -> Result<Option<A>, NoProcess> {
    let guard = pin();
    let Some(task) = table().get_any(pid, &guard) else { return Err(NoProcess) };
    let Some(mut run_token) = task.unpark() else { return Ok(None) };
    let a = f(run_token.private_mut());
    wait_on(run_token);
    Ok(Some(a))
}
/// Notes that a process in this thread's queue was sent something other than a message.
fn note_signal(task: &Task) {
    sched::with_queued_any(task, |p| p.set_flag(flag::SIGNALLED, true));
}

/// Answers a signal to a process that has ended.
pub fn undeliverable(pid: u32, s: Signal) {
    match s {
        Signal::Run(f) => f(None),
        Signal::Control(c) => undeliverable_control(pid, *c),
        Signal::Message(_) | Signal::Time => (),
    }
}
pub(crate) fn undeliverable_control(pid: u32, c: Control) {
    let me = Term::local_pid(pid);
    let noproc = || OwnedTerm::immediate(Term::atom(am::noproc));
    match c {
        Control::Link { from } => {
            let from_me = OwnedTerm::immediate(me);
            let exit = Control::Exit { from: from_me, linked: true, reason: noproc(), token: None };
            send_to_peer(from, pid, exit);
        }
        Control::Unlink { from, id } => {
            send_to_peer(from, pid, Control::UnlinkAck { from: me, id })
        }
        Control::Monitor { from, id, .. } => {
            send_down(from, pid, id, noproc());
        }
        _ => {}
    }
}

/// Pseudo-pid of the monitors that NIF libraries hold: no process has this number.
pub const LIBRARY: u32 = u32::MAX;
/// Callbacks for the processes that NIF libraries monitor.
pub struct Watchers {
    /// Called when one ends.
    pub hears: fn(dead: u32, RefId),
    /// The resource that monitors by this reference.
    pub resource: for<'h> fn(&'h Heap, RefId) -> Option<Term<'h>>,
}
kvik_state::vm_state! {
    pub static WATCHERS: std::sync::OnceLock<Watchers> = std::sync::OnceLock::new();
}

/// Reports the end of a process to one that monitors it.
pub(crate) fn send_down(to: u32, dead: u32, id: RefId, reason: OwnedTerm) {
    if to < crate::ABROAD {
        control(to, Control::Down { id, reason });
    } else if to == crate::ABROAD {
        crate::remote::tell(dead, crate::remote::RemoteSignal::Down(id, &reason));
    } else if let Some(w) = WATCHERS.get() {
        (w.hears)(dead, id)
    }
}

/// A signal from a process to another, or to a port.
pub fn send_to_peer(to: Term<'static>, from: u32, c: Control) {
    if let Some(pid) = to.as_local_pid() {
        control(pid, c);
    } else if let Some(port) = to.as_local_port() {
        let h = &crate::hooks::hooks().port;
        match c {
            Control::Link { .. } => {
                (h.link)(port, from);
            }
            Control::Unlink { .. } => (h.unlink)(port, from),
            Control::Exit { linked, reason, .. } => (h.exit)(port, from, linked, &reason),
            Control::Demonitor { id } => (h.demonitor)(port, id),
            _ => {}
        }
    }
}

/// Delivers a message whose origin is known: another node, a port, or a service of this node. The
/// origin matters only if the receiver is traced.
pub fn deliver_from(pid: u32, from: Term<'static>, message: OwnedTerm) -> bool {
    let traced = || table().get(pid, &pin()).is_some_and(|t| t.trace() & bit::RECEIVE != 0);
    match tracing_on::on() && traced() {
        true => control(pid, Control::MessageOf { from, message }),
        false => deliver(pid, Signal::Message(message)),
    }
}
/// A message built in place.
pub fn message(build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> OwnedTerm {
    let heap = Heap::detached();
    OwnedTerm::new(build(&heap))
}
/// Sends a message built in place.
pub fn post(pid: u32, build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> bool {
    deliver(pid, Signal::Message(message(build)))
}
