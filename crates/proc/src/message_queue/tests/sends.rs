//! The senders: by the paths of `crate::signal`, without a process table and schedulers.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::Term;

use super::{body, Bench, State, ALIAS, SENDER};
use crate::links_monitors::{Monitoring, Target};
use crate::message_queue::Accepted;
use crate::process::flag;
use crate::signal_types::{Control, RefId, Signal};
use crate::Proc;

impl Bench {
    /// `signal::send_message`, or to an alias.
    pub(super) fn send(&mut self, words: usize, alias: bool) {
        let n = self.new_number();
        let h = Heap::new(words + 300);
        let m = body(&h, words, n);
        if let State::Parked = self.state {
            let t = self.task.unpark().expect("it is parked");
            let p = t.private();
            p.last_from.set(SENDER);
            if alias {
                p.set_flag(flag::SIGNALLED, true);
                assert!(p.uses_alias(ALIAS));
                p.accept_of_signal(m);
                self.note("parked: to an alias");
            } else if p.accept(m) == Accepted::ON_HEAP {
                self.note(match (p.heap.message(), p.heap.gc_due()) {
                    (Some(_), false) => "parked: first message",
                    (Some(_), true) => "parked: first message beside the heap",
                    (None, _) => "parked: borrowed message",
                });
            } else {
                self.note("parked: mailbox");
                if p.flag(flag::SUSPENDED) {
                    return self.park(t);
                }
            }
            return self.queue(t);
        }
        let early = |p: &Proc| p.accept_early(SENDER, m);
        if !alias && self.task.with_queued(self.here, early) == Some(true) {
            return self.note("queued: first message");
        }
        self.note("inbox");
        let message = OwnedTerm::message(m);
        if alias {
            let from = Term::local_pid(SENDER);
            self.push(Signal::Control(Box::new(Control::AliasMessage {
                id: ALIAS,
                from,
                message,
            })));
            self.note_signal();
        } else {
            self.push(Signal::Message(message));
        }
    }
    fn note_signal(&mut self) {
        self.task.with_queued_any(self.here, |p| p.set_flag(flag::SIGNALLED, true));
    }
    /// `signal::send_timed`.
    fn send_stamped(&mut self) {
        let n = self.new_number();
        let mut left = Some(OwnedTerm::new(body(&Heap::new(300), 10, n)));
        if let State::Parked = self.state {
            let t = self.task.unpark().expect("it is parked");
            t.private().accept_timed(SENDER, &mut left, 0);
            self.note("parked: stamped");
            return match t.private().flag(flag::SUSPENDED) {
                true => self.park(t),
                false => self.queue(t),
            };
        }
        self.task.with_queued(self.here, |p| p.accept_timed(SENDER, &mut left, 0));
        if let Some(message) = left {
            self.push(Signal::Control(Box::new(Control::Stamped { message, sent: 0 })));
        }
    }
    /// `signal::control`.
    fn control(&mut self, c: Control) {
        let mut left = Some(c);
        if let State::Parked = self.state {
            let t = self.task.unpark().expect("it is parked");
            t.private().control_early(&mut left);
            self.queue(t);
        } else {
            self.task.with_queued(self.here, |p| p.control_early(&mut left));
        }
        match left {
            None => self.note("signal handled early"),
            Some(c) => {
                self.push(Signal::Control(Box::new(c)));
                self.note_signal();
            }
        }
    }
    /// A signal that becomes a message.
    fn send_signal(&mut self) {
        let n = self.new_number();
        let h = Heap::new(300);
        let short = OwnedTerm::immediate(Term::int(n as i32));
        let token = h.tuple(&[1, 2, 3, 4, 5].map(Term::int));
        let from = Term::local_pid(SENDER);
        let message = OwnedTerm::new(body(&h, 8, n));
        let c = match self.random.below(14) {
            0..3 => Control::MessageOf { from, message },
            3 if self.unusual => {
                let token = if n % 4 < 3 { OwnedTerm::default() } else { OwnedTerm::new(token) };
                Control::MessageFrom { from: SENDER, alias: None, message, token }
            }
            k if k < 8 => {
                let reason = if k < 6 { short } else { message };
                let from = OwnedTerm::immediate(from);
                Control::Exit { from, linked: false, reason, token: None }
            }
            12 => {
                self.urgent.insert(n);
                Control::PriorityMessage { alias: ALIAS, from, message, token: None }
            }
            k => {
                let id = RefId([9, n as u32, 0]);
                let target = Target::Process(SENDER);
                let m = Monitoring { target, tag: None, alias: None };
                self.with_private(|p| p.with_cold(|x| x.monitoring.insert(id, m)));
                if k == 13 {
                    self.urgent.insert(n);
                    self.with_private(|p| p.prioritize_monitor(id));
                }
                Control::Down { id, reason: short }
            }
        };
        self.control(c);
    }
    /// A signal that does not.
    fn send_other(&mut self) {
        let c = match self.random.below(6) {
            0 if !self.suspended => {
                self.suspended = true;
                Control::Suspend { by: SENDER }
            }
            0 => return self.resume(),
            1 => Control::Link { from: Term::local_pid(SENDER) },
            2 => Control::Demonitor { id: ALIAS },
            3 if !self.suspended => {
                self.control(Control::Suspend { by: SENDER });
                Control::Resume { by: SENDER }
            }
            _ => return self.push(Signal::Time),
        };
        self.control(c);
    }
    pub(super) fn resume(&mut self) {
        if std::mem::take(&mut self.suspended) {
            self.control(Control::Resume { by: SENDER });
        }
    }
    /// More signals than a time slice may handle.
    fn send_many(&mut self) {
        for _ in 0..self.limit {
            self.send(2, false);
            self.send_signal();
        }
    }
    pub(super) fn send_any(&mut self) {
        match self.random.below(20) {
            0..8 => self.send(2, false),
            8..11 => self.send(0, false),
            11 => self.send(70, false),
            12 => self.send(300, false),
            13 => self.send_stamped(),
            14 => self.send(6, true),
            15 if self.random.one_in(8) => self.send_many(),
            15..18 => self.send_signal(),
            _ => self.send_other(),
        }
    }
}
