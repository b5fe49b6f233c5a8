//! How signals travel: through the receiver's inbox, so that those of one sender arrive in the order they
//! were sent. What they are is in `signal_types.rs`.

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Term};

use crate::process::{flag, table, Priority, Pushed, Task, Ticket};
pub use crate::signal_types::{Closure, Control, RefId, Signal};
use crate::tasks::SysTask;
use crate::trace::bit;
use crate::{sched, tracing_on, Proc};

/// Sends a signal to a local process. When there is none the signal is answered in its place;
/// false then.
#[inline]
pub fn deliver(pid: u32, s: Signal) -> bool {
    try_deliver(pid, s).map_err(|s| undeliverable(pid, s)).is_ok()
}
/// The same for a control signal, which most waiting processes are not woken for.
#[inline]
pub fn control(pid: u32, c: Control) -> bool {
    try_control(pid, c).map_err(|c| undeliverable_control(pid, c)).is_ok()
}

/// Sends a message. Who finds the receiver waiting ends its wait, and with that may put the message
/// into its mailbox with his own hands. Answers how many words were copied for a receiver that
/// doesn't wait.
#[inline]
pub fn send_message(from: u32, pid: u32, m: Term<'_>) -> usize {
    send_by::<false>(from, pid, None, m)
}
/// The same to an alias.
#[inline]
pub fn send_to_alias(from: u32, pid: u32, id: RefId, m: Term<'_>) -> usize {
    send_by::<false>(from, pid, Some(id), m)
}
/// Either of the two, where somebody may have to hear that the receiver is woken.
#[cold]
pub(crate) fn send_profiled(from: u32, pid: u32, alias: Option<RefId>, m: Term<'_>) -> usize {
    send_by::<true>(from, pid, alias, m)
}
#[inline(always)]
fn send_by<const PROFILED: bool>(from: u32, pid: u32, alias: Option<RefId>, m: Term<'_>) -> usize {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return 0 };
    if let Some(ticket) = end_wait(task) {
        let p = ticket.private();
        if let Some(id) = alias {
            // It is made runnable by any signal, whatever that comes to.
            p.set_flag(flag::SIGNALLED, true);
            if p.is_exiting() || !p.uses_alias(id) {
                woken(ticket);
                return 0;
            }
        }
        p.last_from.set(from);
        if PROFILED {
            p.profile_woken();
        }
        if alias.is_some() {
            // A signal, for which a suspended process is made runnable too.
            p.accept_of_signal(m);
            sched::wake(ticket);
        } else if p.accept(m) || !p.flag(flag::SUSPENDED) {
            sched::wake(ticket);
        } else {
            wait_on(ticket);
        }
        return 0;
    }
    if !PROFILED
        && alias.is_none()
        && sched::with_rest(task, |p| p.accept_early(from, m)) == Some(true)
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
        Pushed::Woken(ticket) if PROFILED => woken(ticket),
        Pushed::Woken(ticket) => sched::wake(ticket),
        Pushed::Elsewhere(s) => sched::hand_signal(pid, s),
        Pushed::Queued | Pushed::Closed(_) => (),
    }
    words
}

/// The same with a note of when it was sent. Nothing else is different from other messages: which ones
/// are timed depends on time, and must not show.
#[cold]
pub(crate) fn send_timed(from: u32, pid: u32, m: Term<'_>) -> usize {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return 0 };
    let (message, sent) = (OwnedTerm::message(m), sched::mail::now());
    let words = message.words();
    let mut left = Some(message);
    if let Some(ticket) = end_wait(task) {
        let p = ticket.private();
        p.accept_timed(from, &mut left, sent);
        match p.flag(flag::SUSPENDED) {
            true => wait_on(ticket),
            false => sched::wake(ticket),
        }
        return 0;
    }
    sched::with_rest(task, |p| p.accept_timed(from, &mut left, sent));
    let Some(message) = left else { return 0 };
    match task.send(Signal::Control(Box::new(Control::Stamped { message, sent }))) {
        Pushed::Woken(ticket) => sched::wake(ticket),
        Pushed::Elsewhere(s) => sched::hand_signal(pid, s),
        Pushed::Queued | Pushed::Closed(_) => (),
    }
    words
}

/// Ends the wait of a process that nothing was sent to meanwhile.
#[inline(always)]
fn end_wait(task: &Task) -> Option<Ticket> {
    let ticket = match task.unpark() {
        None => sched::from_seat(task)?,
        parked => return parked,
    };
    // Who sits down has handled all that had come until then.
    if task.has_items() {
        woken(ticket);
        return None;
    }
    Some(ticket)
}
/// Sends a process something through its inbox.
fn push(task: &Task, s: Signal) -> Pushed {
    let seated = sched::from_seat(task);
    match (task.send(s), seated) {
        (Pushed::Queued, Some(ticket)) => Pushed::Woken(ticket),
        (pushed, _) => pushed,
    }
}

/// Lets it wait on, unless something has come meanwhile.
#[inline(never)]
fn wait_on(ticket: Ticket) {
    if let Some(ticket) = ticket.park() {
        woken(ticket);
    }
}
/// Lets a process that waited run.
#[inline(never)]
fn woken(ticket: Ticket) {
    if tracing_on::on() {
        ticket.private().profile_woken();
    }
    sched::wake(ticket);
}

/// Has a process run that, without taking it away from the scheduler that runs it: for threads that
/// only want to know something of it. What is to run is called with nothing where there is no such
/// process.
pub fn ask(pid: u32, f: Closure) {
    let guard = pin();
    let Some(task) = table().get_any(pid, &guard) else { return f(None) };
    match push(task, Signal::Run(f)) {
        Pushed::Queued => (),
        Pushed::Woken(ticket) => sched::wake_at_home(ticket),
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
        Pushed::Woken(ticket) => {
            let p = ticket.private();
            if !is_message {
                p.set_flag(flag::SIGNALLED, true);
            } else if p.flag(flag::SUSPENDED) {
                p.handle_signals();
            }
            match is_message && p.flag(flag::SUSPENDED) && p.is_settled() {
                true => wait_on(ticket),
                false => woken(ticket),
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
    let mut left;
    sched::flush_monitor_to(pid);
    {
        let guard = pin();
        let Some(task) = table().get_any(pid, &guard) else { return Err(c) };
        left = control_waiting(task, c);
        if left.is_some() {
            sched::with_rest(task, |p| p.control_early(&mut left));
        }
    }
    let Some(c) = left else { return Ok(()) };
    match try_deliver(pid, Signal::Control(Box::new(c))) {
        Err(Signal::Control(c)) => Err(*c),
        _ => Ok(()),
    }
}
/// Lets a process that waits run, in its order, to see to a signal. One that nobody is told of is
/// handled at once. Gives the signal back where it has to go through the inbox.
#[inline]
fn control_waiting(task: &Task, c: Control) -> Option<Control> {
    let Some(ticket) = sched::from_seat(task).or_else(|| task.unpark()) else { return Some(c) };
    let p = ticket.private();
    let mut left = Some(c);
    if task.has_items() {
        p.set_flag(flag::SIGNALLED, true);
    } else {
        p.control_early(&mut left);
    }
    woken(ticket);
    left
}
/// Has a process looked at where it waits, or rests in this thread's queue, by the one who may touch it
/// so: without a signal.
pub fn inspect<A>(pid: u32, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    let guard = pin();
    let task = table().get_any(pid, &guard)?;
    if let Some(ticket) = sched::from_seat(task) {
        let a = f(ticket.private());
        sched::sit_down(ticket);
        return Some(a);
    }
    if let Some(ticket) = task.unpark() {
        let a = f(ticket.private());
        wait_on(ticket);
        return Some(a);
    }
    sched::with_rest_any(task, f)
}
/// Has a process do something between its turns, as one of that priority at least. As in OTP that is a
/// signal only where there are others that it has yet to handle.
pub fn give_task(pid: u32, priority: Priority, t: SysTask) {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return (t.run)(None) };
    if let Some(ticket) = sched::from_seat(task).or_else(|| task.unpark()) {
        let p = ticket.private();
        p.add_task(priority, t);
        if tracing_on::on() {
            p.profile_woken();
        }
        return sched::wake_as(ticket, priority);
    }
    add_task(task, priority, t);
    drop(guard);
    sched::raise(pid, priority);
}
/// The same for one that does not wait.
fn add_task(task: &Task, priority: Priority, t: SysTask) {
    let mut left = Some(t);
    sched::with_rest_any(task, |p| {
        if p.is_settled() {
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
/// Has a process changed while it waits, by the one who ends its wait for that moment. `None`: it does
/// not wait.
pub(crate) fn with_waiting<A>(
    pid: u32,
    f: impl FnOnce(&mut Proc) -> A,
) -> Result<Option<A>, NoProcess> {
    let guard = pin();
    let Some(task) = table().get_any(pid, &guard) else { return Err(NoProcess) };
    let Some(mut ticket) = task.unpark() else { return Ok(None) };
    let a = f(ticket.private_mut());
    wait_on(ticket);
    Ok(Some(a))
}
/// Notes that a process in this thread's queue was sent something other than a message.
fn note_signal(task: &Task) {
    sched::with_rest_any(task, |p| p.set_flag(flag::SIGNALLED, true));
}

/// Does what a process that has ended owes the senders of signals.
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

/// Who watches for a NIF library: no process has this number.
pub const LIBRARY: u32 = u32::MAX;
/// What NIF libraries know of the processes they watch.
pub struct Watchers {
    /// Hears of the end of one.
    pub hears: fn(dead: u32, RefId),
    /// The resource that watches by this reference.
    pub resource: for<'h> fn(&'h Heap, RefId) -> Option<Term<'h>>,
}
kvik_state::vm_state! {
    pub static WATCHERS: std::sync::OnceLock<Watchers> = std::sync::OnceLock::new();
}

/// The end of a process, to one who watches it.
pub(crate) fn send_down(to: u32, dead: u32, id: RefId, reason: OwnedTerm) {
    if to < crate::ABROAD {
        control(to, Control::Down { id, reason });
    } else if to == crate::ABROAD {
        crate::remote::tell(dead, crate::remote::Outward::Down(id, &reason));
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

/// Delivers a message of which it is known who it is from: another node, a port, or a service of this
/// one. Nobody asks for that unless the receiver is traced.
pub fn deliver_from(pid: u32, from: Term<'static>, message: OwnedTerm) -> bool {
    let traced = || table().get(pid, &pin()).is_some_and(|t| t.trace() & bit::RECEIVE != 0);
    match tracing_on::on() && traced() {
        true => control(pid, Control::MessageOf { from, message }),
        false => deliver(pid, Signal::Message(message)),
    }
}
/// A message built on the spot.
pub fn message(build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> OwnedTerm {
    let heap = Heap::detached();
    OwnedTerm::new(build(&heap))
}
/// Sends a message built on the spot.
pub fn post(pid: u32, build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> bool {
    deliver(pid, Signal::Message(message(build)))
}
