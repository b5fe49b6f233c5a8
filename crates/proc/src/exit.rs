//! The end of a process.

use kvik_heap::roots::Root;
use kvik_heap::OwnedTerm;
use kvik_term::{am, Term};

use crate::bif::Class;
use crate::farewell::Farewell;
use crate::process::{flag, table, Ticket};
use crate::relation::LinkState;
use crate::seq_types::Parting;
use crate::signal::{deliver, message, send_down, send_to_peer, undeliverable};
use crate::signal_types::{Control, Signal};
use crate::tasks::Dropped;
use crate::{clock, logger, registry, tracing_on, Proc};

/// How far a process has come that begins to end.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// It needs a further turn.
    NotYet,
    Ready,
    /// The same, but those who wait for its end hear of it in the turn after that.
    TellsLater,
}

/// A process begins to end, or goes on with that in a further turn.
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
    // As in OTP, where what is left of the turn after that is counted wrong.
    match p.drop_tasks() {
        Dropped::None => Prepared::Ready,
        Dropped::Unheard => Prepared::NotYet,
        Dropped::Heard => Prepared::TellsLater,
    }
}

/// Ends a process: whoever ran it last, in its own turn, after `prepare`. Where that takes further turns,
/// it gives the process back, for [`go_on`].
pub(crate) fn terminate(
    mut ticket: Ticket,
    reason: OwnedTerm,
    prepared: Prepared,
) -> Option<Ticket> {
    let messages = ticket.private_mut().places.take_many(STEP);
    let p = ticket.private();
    crate::sched::online::ended(p.pid());
    // Connections that it carries are lost for that reason.
    if p.flag(flag::WATCHES_NODES) {
        p.with_extra(|x| x.exit_reason = Some(reason.clone()));
    }
    crate::hooks::run_on_exit(p);
    let seq = Parting::of(p);
    p.forget_seq();
    p.forget_saved_calls();
    table().remove(p.pid());
    let mut signals = p.messages().take_backlog();
    signals.append(ticket.close());
    let literals = p.take_leaving_literals();
    let to = std::mem::take(&mut *p.extra.borrow_mut());
    let farewell =
        Farewell { pid: p.pid(), reason, signals, to, messages, seq, literals, turns: 0 };
    match prepared {
        Prepared::TellsLater => Some(farewell.wait_in(ticket)),
        _ => farewell.take_turn(ticket),
    }
}
/// A further turn of a process that has ended. None where it is the last one.
pub(crate) fn go_on(ticket: Ticket) -> Option<Ticket> {
    let f = ticket.private().with_rare(|x| x.farewell.take());
    match f {
        Some(f) => f.take_turn(ticket),
        None => Some(ticket),
    }
}

/// How many are answered or told in one step.
const STEP: usize = 500;
/// A process that ends answers one signal a turn, as in OTP, where the loop that is to answer them all ends
/// after the first. So many at most: in OTP a process that was sent 100,000 takes as many turns.
const TURNS: u32 = 64;

impl Farewell {
    /// Tells all who wait for the end of the process, and answers one of the signals it did not handle.
    /// Gives the process back where others are left.
    fn take_turn(mut self, ticket: Ticket) -> Option<Ticket> {
        let told = !(0..STEP).all(|_| self.tell_one());
        if told && self.turns < TURNS {
            self.turns += 1;
            if self.answer_next() {
                return Some(self.wait_in(ticket));
            }
        }
        if tracing_on::on() {
            ticket.private().trace_exited();
        }
        let literals = self.literals.take();
        if !self.step() {
            crate::sched::say_later(self);
        }
        ticket.finish();
        // It holds none any more.
        if let Some(l) = literals {
            (l.done)(None);
        }
        None
    }
    fn wait_in(self, ticket: Ticket) -> Ticket {
        ticket.private().with_rare(|x| x.farewell = Some(Box::new(self)));
        ticket
    }
    /// Answers the next signal that is no message. Are there more of those, as far as a few steps tell?
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
    /// Has all been done?
    pub(crate) fn step(&mut self) -> bool {
        if !(0..STEP).all(|_| self.tell_one() || self.answer_one()) {
            return self.messages.as_mut().is_none_or(|m| m.free_some(STEP));
        }
        false
    }
    /// What it was sent and did not handle. False: there is nothing of that left.
    fn answer_one(&mut self) -> bool {
        let s = self.signals.next();
        s.map(|s| undeliverable(self.pid, s)).is_some()
    }
    /// Exit signals to links, `DOWN` to watchers; monitors of its own end.
    fn tell_one(&mut self) -> bool {
        let Farewell { pid, reason, to, seq, .. } = self;
        let Some(x) = to.get_mut() else { return false };
        if let Some((id, target)) = x.ended.take() {
            crate::handle::send_demonitor(*pid, id, &target);
        } else if let Some((_, l)) = x.links.pop_first() {
            if l.state == LinkState::Linked {
                let (from, reason) = (Term::local_pid(*pid), reason.clone());
                let from = OwnedTerm::immediate(from);
                let token = seq.as_mut().and_then(|s| s.next(l.peer, reason.term()));
                send_to_peer(l.peer, *pid, Control::Exit { from, linked: true, reason, token });
            }
        } else if let Some((id, m)) = x.monitoring.pop_first() {
            crate::handle::send_demonitor(*pid, id, &m.target);
        } else if let Some((other, _)) = x.rare.as_mut().and_then(|r| r.suspending.pop_first()) {
            crate::handle::resume(other, *pid);
        } else if let Some((id, m)) = x.monitored_by.pop_first() {
            send_down(m.pid, *pid, id, reason.clone());
        } else {
            let token = |r: crate::RemotePid| seq.as_mut()?.next(r.owned().term(), reason.term());
            return crate::remote::tell_one(*pid, x, reason, token);
        }
        true
    }
}

/// The reason a process that ran to its end left, and whether that is worth a report.
pub(crate) fn own_reason(p: &Proc) -> OwnedTerm {
    let reason = OwnedTerm::new(p.heap.root(Root::ExcValue));
    let class = p.heap.exc_class();
    let crashed = class == Class::Error as u8
        || class == Class::ErrorWithTrace as u8
        || class == Class::Throw as u8
        || class == Class::ThrowWithTrace as u8;
    if crashed && !reason.term().is_atom(am::normal) {
        report(p, &reason);
    }
    reason
}

/// Tells the logger of an uncaught exception.
fn report(p: &Proc, reason: &OwnedTerm) {
    const FORMAT: &str = "Error in process ~p with exit value:~n~p~n";
    const ON_NODE: &str = "Error in process ~p on node ~p with exit value:~n~p~n";
    let node = crate::node::name();
    if node == am::nonode_nohost {
        return log_error(p, FORMAT, |h| h.list(&[p.self_pid(), h.copy(reason.term())]));
    }
    log_error(p, ON_NODE, |h| h.list(&[p.self_pid(), node.into(), h.copy(reason.term())]));
}

/// `{log, error, Format, Arguments, Metadata}` to the logger.
pub fn log_error(
    p: &Proc,
    format: &str,
    args: impl for<'h> FnOnce(&'h kvik_heap::Heap) -> Term<'h>,
) {
    let Some(logger) = logger::process() else { return };
    let gl = OwnedTerm::new(p.heap.root(Root::GroupLeader));
    let m = message(|h| {
        let emulator = h.map_of_atoms(&[(am::emulator, true.into()), (am::tag, am::error.into())]);
        let time = h.integer(clock::system() / 1000);
        let meta = h.map_of_atoms(&[
            (am::error_logger, emulator),
            (am::gl, h.copy(gl.term())),
            (am::pid, p.self_pid()),
            (am::time, time),
        ]);
        h.tuple(&[am::log.into(), am::error.into(), h.string(format), args(h), meta])
    });
    deliver(logger, Signal::Message(m));
}

/// Tells the logger of something that is no process's doing, at level `warning`.
pub fn log_warning_of_node(text: &str) {
    let Some(logger) = logger::process() else { return };
    let m = message(|h| {
        let emulator =
            h.map_of_atoms(&[(am::emulator, true.into()), (am::tag, am::warning.into())]);
        let time = h.integer(clock::system() / 1000);
        let meta = h.map_of_atoms(&[(am::error_logger, emulator), (am::time, time)]);
        let args = h.list(&[h.string(text)]);
        h.tuple(&[am::log.into(), am::warning.into(), h.string("~ts~n"), args, meta])
    });
    deliver(logger, Signal::Message(m));
}

/// Tells the logger of a heap that is larger than it may be.
pub(crate) fn report_heap(p: &Proc, s: &crate::limits::MaxHeap) {
    const FORMAT: &str = "     Process:            ~p ~n     Context:            maximum heap size reached~n     Max Heap Size:      ~p~n     Total Heap Size:    ~p~n     Kill:               ~p~n     Error Logger:       ~p~n     Message Queue Len:  ~p~n     GC Info:            ~p~n";
    let sizes = p.heap.sizes();
    let (total, queue) = (sizes.block + sizes.old_block + sizes.fragments, p.message_count());
    log_error(p, FORMAT, |h| {
        h.list(&[
            p.self_pid(),
            h.integer(s.size as i64),
            h.integer(total as i64),
            s.kill.into(),
            s.log.into(),
            h.integer(queue as i64),
            p.gc_info(h),
        ])
    });
}
