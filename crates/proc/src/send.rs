//! Sending: `!` and the BIFs that send.

use kvik_heap::OwnedTerm;
use kvik_sync::pin;
use kvik_term::{am, Atom, PidTerm, Ref, Term, View};

use crate::hooks::{hooks, Posted};
use crate::process::{flag, table};
pub use crate::remote_types::{SendOptions, Sent};
use crate::sched::{self, mailbox_latency};
use crate::signal::{send_message, send_to_alias};
use crate::signal_types::RefId;
use crate::{node, registry, signal, sysmon, tracing_on, Proc, Raised};

/// Words of a message whose copying costs one reduction.
const WORDS_A_REDUCTION: usize = 64;

impl Proc {
    /// `To ! Message`. Native code's send.
    #[inline]
    pub fn send<'h>(&'h self, to: Term<'h>, m: Term<'h>) -> Result<Term<'h>, Raised> {
        match self.send_to(to, m, SendOptions::ANY) {
            Sent::Ok | Sent::NoConnection | Sent::Busy => Ok(m),
            Sent::BadArg => Err(self.badarg()),
        }
    }
    #[inline]
    pub fn send_to(&self, to: Term<'_>, m: Term<'_>, way: SendOptions) -> Sent {
        if way.priority && self.send_priority(to, m) {
            return Sent::Ok;
        }
        if tracing_on::on_or_timed() && self.send_noticed(to, m) {
            return Sent::Ok;
        }
        self.send_untraced(to, m, way)
    }
    /// Reports a send if something is traced. False: send it as any other.
    #[cold]
    #[inline(never)]
    fn send_noticed(&self, to: Term<'_>, m: Term<'_>) -> bool {
        if tracing_on::on() {
            return self.trace_send(to, m);
        }
        let Some(pid) = to.as_local_pid().filter(|_| mailbox_latency::is_due()) else {
            return false;
        };
        self.send_monitor_to(pid);
        self.note_receiver(pid);
        self.pay_for(signal::send_timed(self.pid(), pid, m));
        true
    }
    #[inline]
    fn send_untraced(&self, to: Term<'_>, m: Term<'_>, way: SendOptions) -> Sent {
        if let Some(pid) = to.as_local_pid() {
            if self.flag(flag::DEFERS_MONITOR) && self.send_behind_monitor(pid, m) {
                return Sent::Ok;
            }
            self.note_receiver(pid);
            let words = send_message(self.pid(), pid, m);
            // To itself a process does not copy in OTP.
            if words >= WORDS_A_REDUCTION && pid != self.pid() {
                self.pay_for(words);
            }
            return Sent::Ok;
        }
        self.send_elsewhere(to, m, way)
    }
    #[inline]
    pub(crate) fn note_receiver(&self, pid: u32) {
        self.last_to.set(pid);
        if pid == self.pid() {
            self.note_sent_to_self();
        }
    }
    /// Sends the monitor signal held back, if there is one and it goes to that process.
    #[inline]
    fn send_monitor_to(&self, pid: u32) {
        if self.flag(flag::DEFERS_MONITOR) {
            self.send_deferred_to(pid);
        }
    }
    /// The same with a message behind it, where it need not go through the inbox. False: the
    /// message is still to be sent.
    fn send_behind_monitor(&self, pid: u32, m: Term<'_>) -> bool {
        if sched::deferred_to() != Some(pid) {
            self.send_deferred_to(pid);
            return false;
        }
        let guard = pin();
        // If the receiver is gone, the monitor stays held back.
        let Some(task) = table().get(pid, &guard) else { return false };
        self.set_flag(flag::DEFERS_MONITOR, false);
        let Some(monitor) = sched::take_deferred() else { return false };
        let sent = signal::send_behind(self.pid(), task, monitor, m);
        if sent {
            self.note_receiver(pid);
        }
        sent
    }
    #[inline(never)]
    fn send_deferred_to(&self, pid: u32) {
        match sched::deferred_to() {
            Some(to) if to != pid => return,
            // If the receiver is gone, the monitor stays held back: its 'DOWN' comes no sooner for
            // a message that goes nowhere.
            Some(_) if table().get(pid, &pin()).is_none() => return,
            _ => sched::flush_monitor_to(pid),
        }
        self.set_flag(flag::DEFERS_MONITOR, false);
    }
    /// Charges copying to the time slice, so that a process that only sends cannot fill the memory
    /// in one.
    #[inline]
    pub(crate) fn pay_for(&self, words: usize) {
        if words >= WORDS_A_REDUCTION {
            let reductions = (words / WORDS_A_REDUCTION) as i64;
            self.heap.bump_reductions(reductions.min(sched::REDUCTIONS));
        }
    }
    fn send_elsewhere(&self, to: Term<'_>, m: Term<'_>, way: SendOptions) -> Sent {
        match to.view() {
            View::Atom(name) => self.send_to_name(name, m, way),
            View::Port(kvik_term::PortTerm::Local(_)) => {
                let port = to.as_local_port().unwrap_or(u32::MAX);
                self.send_to_port(port, &OwnedTerm::new(m), way)
            }
            View::Ref(Ref::Local(r)) => {
                if let Some(pid) = r.alias_pid() {
                    self.send_monitor_to(pid);
                    if pid == self.pid() {
                        self.note_sent_to_self();
                    }
                    self.pay_for(send_to_alias(self.pid(), pid, RefId::of(r), m));
                }
                Sent::Ok
            }
            // A port of another node takes no messages.
            View::Port(_) => Sent::Ok,
            View::Pid(PidTerm::External(_)) | View::Ref(_) => self.send_abroad(to, m, way),
            View::Tuple(_) => match to.as_tuple_n::<2>().map(|[n, at]| (n.as_atom(), at.as_atom()))
            {
                Some((Some(name), Some(at))) if at == node::name() => {
                    match self.send_to_name(name, m, way) {
                        Sent::BadArg => Sent::Ok,
                        s => s,
                    }
                }
                Some((Some(_), Some(_))) => self.send_abroad(to, m, way),
                _ => Sent::BadArg,
            },
            _ => Sent::BadArg,
        }
    }
    #[cold]
    #[inline(never)]
    fn send_abroad(&self, to: Term<'_>, m: Term<'_>, way: SendOptions) -> Sent {
        (hooks().node.send)(self, to, m, way)
    }
    fn send_to_port(&self, port: u32, m: &OwnedTerm, way: SendOptions) -> Sent {
        let send = || (hooks().port.send)(port, self.self_pid(), m, way.may_wait);
        match self.calls_port(am::port_command, 3, send) {
            Posted::Done => Sent::Ok,
            Posted::Refused => Sent::Busy,
            Posted::Wait => {
                sysmon::busy_port(self.pid(), port);
                self.suspend_for(self.pid());
                self.give_up_turn();
                Sent::Ok
            }
        }
    }
    fn send_to_name(&self, name: Atom, m: Term<'_>, way: SendOptions) -> Sent {
        match registry::whereis(name) {
            Some(to) => self.send_untraced(to, m, way),
            None => Sent::BadArg,
        }
    }
}
