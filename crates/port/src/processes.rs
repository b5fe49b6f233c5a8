//! Connects ports and processes: the ports' [`Host`], and the processes' [`PortHooks`].

use kvik_heap::OwnedTerm;
use kvik_proc::hooks::{PortHooks, Posted};
use kvik_proc::signal::{control, deliver_from, Control};
use kvik_proc::signal_handlers::resume;
use kvik_proc::{registry, RefId};
use kvik_term::{am, Atom, Term};

use crate::host::{self, Host};
use crate::port::BadSignal;
use crate::table::get;
use crate::{Command, Port};

struct Processes;

impl Host for Processes {
    fn send(&self, pid: u32, from: Term<'static>, message: OwnedTerm) {
        deliver_from(pid, from, message);
    }
    fn resume(&self, pid: u32) {
        resume(pid, pid);
    }
    fn exit(&self, pid: u32, port: u32, reason: OwnedTerm) {
        let from = OwnedTerm::immediate(Term::local_port(port));
        control(pid, Control::Exit { from, linked: true, reason, token: None });
    }
    fn down(&self, pid: u32, monitor: [u32; 3], _: u32, _: Option<Atom>, reason: OwnedTerm) {
        control(pid, Control::Down { id: RefId(monitor), reason });
    }
    fn link(&self, pid: u32, port: Term<'static>) -> bool {
        control(pid, Control::Link { from: port })
    }
    fn unlink(&self, pid: u32, port: Term<'static>) {
        // Ports do not wait for the acknowledgement.
        control(pid, Control::Unlink { from: port, id: 0 });
    }
    fn is_alive(&self, pid: u32) -> bool {
        kvik_proc::trace::is_alive(pid)
    }
    fn name_of(&self, port: u32) -> Option<Atom> {
        registry::name_of(Term::local_port(port))
    }
    fn unregister(&self, port: u32) {
        if let Some(name) = self.name_of(port) {
            registry::unregister(name);
        }
    }
    fn whereis(&self, name: Atom) -> Option<Term<'static>> {
        registry::whereis(name)
    }
}

impl Port {
    /// Logs that a process sent output which is not iodata, unless the port is closed.
    pub fn log_bad_output(&self, from: u32) {
        let Some(name) = self.look().map(|g| g.core.name.clone()) else { return };
        let text = [b"Bad value on output port '", &name[..], b"'\n"].concat();
        kvik_proc::exit::log_error_without_leader(Some(from), &text);
    }
}

/// Makes processes the host of ports. Called before the first port is opened.
pub fn install() {
    host::install(&Processes);
}

/// Signals from processes to ports: for `kvik_proc::Hooks`, beside [`crate::check_io`] and
/// [`crate::wake`].
pub const HOOKS: PortHooks = PortHooks {
    send: |port, from, message, may_wait| {
        let (Some(port), Some(from)) = (get(port), from.as_local_pid()) else {
            return Posted::Done;
        };
        match port.message(from, message.term(), may_wait) {
            Ok(Command::Wait) => return Posted::Wait,
            Ok(Command::Busy) => return Posted::Refused,
            Ok(_) => {}
            Err(bad) => {
                if bad == BadSignal::BadOutput {
                    port.log_bad_output(from);
                }
                // The owner gets the exit signal, whichever process sent the message.
                let reason = OwnedTerm::immediate(am::badsig.into());
                let me = OwnedTerm::immediate(Term::local_port(port.id));
                if let Some(owner) = port.owner() {
                    control(owner, Control::Exit { from: me, linked: false, reason, token: None });
                }
            }
        }
        Posted::Done
    },
    link: |port, pid| get(port).is_some_and(|p| p.link(pid)),
    unlink: |port, pid| {
        if let Some(p) = get(port) {
            p.unlink(pid);
        }
    },
    exit: |port, from, over_link, reason| {
        if let Some(p) = get(port) {
            p.exit(from, over_link, reason.term());
        }
    },
    monitor: |port, pid, id, name| get(port).is_some_and(|p| p.monitor(pid, id.0, name)),
    demonitor: |port, id| {
        if let Some(p) = get(port) {
            p.demonitor(id.0);
        }
    },
    is_open: crate::table::is_open,
    trace: |port, event| get(port).is_some_and(|p| p.hear(event)),
};
