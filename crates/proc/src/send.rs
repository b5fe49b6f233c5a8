//! Sending: `!` and its kin.

use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom, Pid, Ref, Term, View};

use crate::hooks::hooks;
use crate::signal::{send_message, send_to_alias, RefId};
use crate::{node, registry, trace, Proc, Raised};

/// Words of messages that are copied in the time of a call.
const WORDS_A_REDUCTION: usize = 64;

/// Where a message went.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    Ok,
    /// To another node, which there is no connection to.
    Remote,
    /// Not something a message can be sent to, or a name nobody has.
    BadArg,
}

impl Proc {
    /// `To ! Message`. Native code's send.
    #[inline]
    pub fn send<'h>(&'h self, to: Term<'h>, m: Term<'h>) -> Result<Term<'h>, Raised> {
        match self.send_to(to, m) {
            Sent::Ok | Sent::Remote => Ok(m),
            Sent::BadArg => Err(self.badarg()),
        }
    }
    #[inline]
    pub fn send_to(&self, to: Term<'_>, m: Term<'_>) -> Sent {
        if trace::on() && self.trace_send(to, m) {
            return Sent::Ok;
        }
        self.send_untraced(to, m)
    }
    #[inline]
    fn send_untraced(&self, to: Term<'_>, m: Term<'_>) -> Sent {
        if let Some(pid) = to.as_local_pid() {
            self.last_to.set(pid);
            self.pay_for(send_message(self.pid(), pid, m));
            return Sent::Ok;
        }
        self.send_elsewhere(to, m)
    }
    /// Copying takes time from the turn: who only sends must not fill the memory in one.
    #[inline]
    pub(crate) fn pay_for(&self, words: usize) {
        if words >= WORDS_A_REDUCTION {
            self.heap.bump_reductions((words / WORDS_A_REDUCTION) as i64);
        }
    }
    fn send_elsewhere(&self, to: Term<'_>, m: Term<'_>) -> Sent {
        match to.view() {
            View::Atom(name) => self.send_to_name(name, m),
            View::Port(kvik_term::Port::Local(port)) => {
                let m = OwnedTerm::new(m);
                self.calls_port(am::port_command, 3, || {
                    (hooks().port.send)(port, self.self_pid(), &m)
                });
                Sent::Ok
            }
            View::Ref(Ref::Local(r)) => {
                if let Some(pid) = r.alias_pid() {
                    self.pay_for(send_to_alias(self.pid(), pid, RefId::of(r), m));
                }
                Sent::Ok
            }
            View::Pid(Pid::External(_)) | View::Port(_) | View::Ref(_) => Sent::Remote,
            View::Tuple(_) => match to.as_tuple_n::<2>().map(|[n, at]| (n.as_atom(), at.as_atom()))
            {
                Some((Some(name), Some(at))) if at == node::name() => {
                    match self.send_to_name(name, m) {
                        Sent::BadArg => Sent::Ok,
                        s => s,
                    }
                }
                Some((Some(_), Some(_))) => Sent::Remote,
                _ => Sent::BadArg,
            },
            _ => Sent::BadArg,
        }
    }
    fn send_to_name(&self, name: Atom, m: Term<'_>) -> Sent {
        match registry::whereis(name) {
            Some(to) => self.send_untraced(to, m),
            None => Sent::BadArg,
        }
    }
}
