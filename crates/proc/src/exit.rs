//! The end of a process.

use std::sync::atomic::Ordering;

use kvik_heap::roots::Root;
use kvik_heap::written_refs::forget_alias;
use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom, Term};

use crate::bif::ErrorClass;
use crate::exit_progress::ExitProgress;
use crate::hooks::hooks;
use crate::limits::BACKTRACE_DEPTH;
use crate::links_monitors::LinkState;
use crate::process::{flag, table, RunToken};
use crate::seq_trace_types::Parting;
use crate::signal::{deliver, message, send_down, send_to_peer, undeliverable};
use crate::signal_types::{ByAge, Control, Signal};
use crate::system_tasks::Dropped;
use crate::{clock, logger, node, registry, tracing_on, Proc};

/// How far an ending process has come.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// It needs a further time slice.
    NotYet,
    Ready,
    /// The same, but links and monitors are notified in the time slice after that.
    TellsLater,
}

/// Begins a process's end, or continues it in a further time slice.
pub(crate) fn prepare(p: &Proc, reason: &OwnedTerm) -> Prepared {
    p.set_flag(flag::EXITING, true);
    if !p.set_flag(flag::ENDING, true) {
        if p.me().is_some_and(|me| me.is_system()) {
            crate::hooks::run_on_system_exit(p, reason);
        }
        if let Some(name) = p.name() {
            if registry::whereis(name).is_some_and(|t| t.same(p.self_pid())) {
                registry::unregister(name);
            }
        }
        if tracing_on::on() {
            p.trace_exit(reason);
        }
    }
    if !crate::hooks::run_before_exit(p) {
        return Prepared::NotYet;
    }
    // As in OTP, which miscounts the rest of the time slice after that.
    match p.drop_tasks() {
        Dropped::None => Prepared::Ready,
        Dropped::Unheard => Prepared::NotYet,
        Dropped::Heard => Prepared::TellsLater,
    }
}

/// Ends a process after `prepare`, in its own time slice, on the scheduler that ran it last. If
/// that takes further time slices, returns the process, for [`go_on`].
pub(crate) fn terminate(
    mut run_token: RunToken,
    reason: OwnedTerm,
    prepared: Prepared,
) -> Option<RunToken> {
    let messages = run_token.private_mut().places.take_many(STEP);
    let p = run_token.private();
    crate::sched::online::ended(p.pid());
    // Connections it controls are lost with that reason.
    if p.flag(flag::WATCHES_NODES) {
        p.with_cold(|x| x.exit_reason = Some(reason.clone()));
    }
    crate::hooks::run_on_exit(p);
    crate::timer::forget(p.pid());
    let seq = Parting::of(p);
    p.forget_seq();
    p.forget_saved_calls();
    table().remove(p.pid());
    let mut signals = p.messages().take_backlog();
    signals.append(run_token.close());
    let literals = p.take_leaving_literals();
    let to = std::mem::take(&mut *p.extra.borrow_mut());
    to.get().into_iter().flat_map(|x| x.aliases.iter()).for_each(|(id, _)| forget_alias(id.0));
    let exit_progress =
        ExitProgress { pid: p.pid(), reason, signals, to, messages, seq, literals, turns: 0 };
    match prepared {
        Prepared::TellsLater => Some(exit_progress.wait_in(run_token)),
        _ => exit_progress.take_turn(run_token),
    }
}
/// A further time slice of a process that has ended. None if it was the last one.
pub(crate) fn go_on(run_token: RunToken) -> Option<RunToken> {
    let f = run_token.private().with_rare(|x| x.exit_progress.take());
    match f {
        Some(f) => f.take_turn(run_token),
        None => Some(run_token),
    }
}

/// How many signals are answered, or links and monitors notified, in one step.
const STEP: usize = 500;
/// The most time slices in which an ended process answers signals, one each, as in OTP, where the
/// loop meant to answer them all ends after the first, until 26. Limited here: in OTP a process that was sent
/// 100,000 takes as many time slices.
const TURNS: u32 = 64;

impl ExitProgress {
    /// Notifies all links and monitors, and answers one of the signals the process did not handle.
    /// Returns the process if others are left.
    fn take_turn(mut self, run_token: RunToken) -> Option<RunToken> {
        let told = !(0..STEP).all(|_| self.tell_one());
        if told && self.answers_further() {
            return Some(self.wait_in(run_token));
        }
        if tracing_on::on() {
            run_token.private().trace_exited();
        }
        let literals = self.literals.take();
        if !self.step() {
            crate::sched::continue_exit_later(self);
        }
        run_token.finish();
        // Its memory is freed, so it holds none of them any more.
        if let Some(l) = literals {
            (l.done)(None);
        }
        None
    }
    /// Answers signals. True if that takes a further time slice.
    fn answers_further(&mut self) -> bool {
        if kvik_release::current().answers_all_when_ending() {
            return (0..STEP).all(|_| self.answer_one());
        }
        self.turns += 1;
        self.turns <= TURNS && self.answer_next()
    }
    fn wait_in(self, run_token: RunToken) -> RunToken {
        run_token.private().with_rare(|x| x.exit_progress = Some(Box::new(self)));
        run_token
    }
    /// Answers the next signal that is no message. True if the next one is such a signal too, as
    /// far as a few steps can tell.
    fn answer_next(&mut self) -> bool {
        self.skip_messages();
        self.answer_one();
        self.skip_messages();
        self.signals.first().is_some_and(|s| !s.is_mail())
    }
    fn skip_messages(&mut self) {
        for _ in 0..STEP {
            if !self.signals.first().is_some_and(Signal::is_mail) {
                return;
            }
            drop(self.signals.next());
        }
    }
    /// Does one step. True if nothing is left to do.
    pub(crate) fn step(&mut self) -> bool {
        if !(0..STEP).all(|_| self.tell_one() || self.answer_one()) {
            return self.messages.as_mut().is_none_or(|m| m.free_some(STEP));
        }
        false
    }
    /// Answers the next unhandled signal. False: none is left.
    fn answer_one(&mut self) -> bool {
        let s = self.signals.next();
        s.map(|s| undeliverable(self.pid, s)).is_some()
    }
    /// Notifies one: an exit signal to a link, `DOWN` to a monitoring process; ends one of its own
    /// monitors or suspensions.
    fn tell_one(&mut self) -> bool {
        let ExitProgress { pid, reason, to, seq, .. } = self;
        let Some(x) = to.get_mut() else { return false };
        if let Some((id, target)) = x.ended.take() {
            crate::signal_handlers::send_demonitor(*pid, id, &target);
        } else if let Some((_, l)) = x.links.pop_first() {
            if l.state == LinkState::Linked {
                let (from, reason) = (Term::local_pid(*pid), reason.clone());
                let from = OwnedTerm::immediate(from);
                let token = seq.as_mut().and_then(|s| s.next(l.peer, reason.term()));
                send_to_peer(l.peer, *pid, Control::Exit { from, linked: true, reason, token });
            }
        } else if let Some((id, m)) = x.monitoring.pop_first() {
            crate::signal_handlers::send_demonitor(*pid, id, &m.target);
        } else if let Some((other, _)) = x.rare.as_mut().and_then(|r| r.suspending.pop_first()) {
            crate::signal_handlers::resume(other, *pid);
        } else if let Some((ByAge(id), m)) = x.monitored_by.pop_first() {
            send_down(m.pid, *pid, id, reason.clone());
        } else {
            let token = |r: crate::RemotePid| seq.as_mut()?.next(r.owned().term(), reason.term());
            return crate::remote::tell_one(*pid, x, reason, token);
        }
        true
    }
}

/// The exit reason of a process that ran to its end; a crash is reported to the logger.
pub(crate) fn own_reason(p: &Proc) -> OwnedTerm {
    let reason = OwnedTerm::new(p.heap.root(Root::ExcValue));
    let class = p.heap.exc_class();
    let crashed = class == ErrorClass::Error as u8
        || class == ErrorClass::ErrorWithTrace as u8
        || class == ErrorClass::Throw as u8
        || class == ErrorClass::ThrowWithTrace as u8;
    if crashed && !reason.term().is_atom(am::normal) {
        report(p, &reason);
    }
    reason
}

/// Logs an uncaught exception.
fn report(p: &Proc, reason: &OwnedTerm) {
    const FORMAT: &str = "Error in process ~p with exit value:~n~p~n";
    const ON_NODE: &str = "Error in process ~p on node ~p with exit value:~n~p~n";
    let node = crate::node::name();
    if node == am::nonode_nohost {
        return log_error(p, FORMAT, |h| h.list(&[p.self_pid(), h.copy(reason.term())]));
    }
    log_error(p, ON_NODE, |h| h.list(&[p.self_pid(), node.into(), h.copy(reason.term())]));
}

/// Logs an error of a process.
pub fn log_error(
    p: &Proc,
    format: &str,
    args: impl for<'h> FnOnce(&'h kvik_heap::Heap) -> Term<'h>,
) {
    let leader = OwnedTerm::new(p.heap.root(Root::GroupLeader));
    log(am::error, Some(leader), Some(p.pid()), format, args);
}

/// Logs an error with no group leader named, and perhaps the process that caused it.
pub fn log_error_without_leader(pid: Option<u32>, text: &[u8]) {
    log(am::error, None, pid, "~s~n", |h| h.list(&[h.byte_list(text)]));
}

/// The same for a warning.
pub fn log_warning_without_leader(pid: Option<u32>, text: &[u8]) {
    log(am::warning, None, pid, "~s~n", |h| h.list(&[h.byte_list(text)]));
}

/// `{log, Level, Format, Arguments, Metadata}` to the logger.
fn log(
    level: Atom,
    leader: Option<OwnedTerm>,
    pid: Option<u32>,
    format: &str,
    args: impl for<'h> FnOnce(&'h kvik_heap::Heap) -> Term<'h>,
) {
    let Some(logger) = logger::process() else { return };
    let m = message(|h| {
        // `error_logger` has a name of its own for warnings.
        let tag = if level == am::warning { am::warning_msg } else { level };
        let emulator = h.map_of_atoms(&[(am::emulator, true.into()), (am::tag, tag.into())]);
        let mut meta = vec![(am::error_logger, emulator)];
        meta.extend(leader.map(|l| (am::gl, h.copy(l.term()))));
        meta.extend(pid.map(|pid| (am::pid, Term::local_pid(pid))));
        meta.push((am::time, h.integer(clock::system() / 1000)));
        let meta = h.map_of_atoms(&meta);
        h.tuple(&[am::log.into(), level.into(), h.string(format), args(h), meta])
    });
    deliver(logger, Signal::Message(m));
}

/// Logs a heap that exceeds its limit.
pub(crate) fn report_heap(p: &Proc, s: &crate::limits::MaxHeap) {
    const FORMAT: &str = "~n     Context:            maximum heap size reached~n     Max Heap Size:      ~p~n     Total Heap Size:    ~p~n     Kill:               ~p~n     Error Logger:       ~p~n     Message Queue Len:  ~p~n     GC Info:            ~p~n";
    let (alive, stack) = (node::is_alive(), kvik_release::current().limits_shared_binaries());
    let of_node = if alive { "on node ~p" } else { "" };
    let of_stack = if stack { "     Stacktrace:         ~p~n" } else { "" };
    let format = format!("     Process:            ~p {of_node}{FORMAT}{of_stack}");
    let sizes = p.heap.sizes();
    let (total, queue) = (sizes.block + sizes.old_block + sizes.fragments, p.message_count());
    log_error(p, &format, |h| {
        let mut args = vec![p.self_pid()];
        args.extend(alive.then(|| Term::from(node::name())));
        args.extend([
            h.integer(s.size as i64),
            h.integer(total as i64),
            s.kill.into(),
            s.log.into(),
            h.integer(queue as i64),
            p.gc_info(h),
        ]);
        let depth = BACKTRACE_DEPTH.load(Ordering::Relaxed);
        args.extend(stack.then(|| (hooks().stacktrace)(p, h, true, depth)));
        h.list(&args)
    });
}
