//! What native code asks of the process it runs in, beyond its memory: filled in once by `vm`.

use std::sync::OnceLock;

use kvik_proc::{BifResult, Proc};
use kvik_term::Term;

/// What a `wait_timeout` comes to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Sleep.
    Sleep,
    /// The time is over.
    TimedOut,
}

/// The mailbox and the send operation.
#[derive(Copy, Clone)]
pub struct Ops {
    /// `To ! Message`.
    pub send: for<'h> fn(&'h Proc, Term<'h>, Term<'h>) -> BifResult<'h>,
    /// The message at the save pointer, if there is one.
    pub peek: for<'h> fn(&'h Proc) -> Option<Term<'h>>,
    /// Moves the save pointer on.
    pub next: fn(&Proc),
    /// Takes the message at the save pointer; its term stays valid.
    pub remove: fn(&Proc),
    /// A receive timed out: the save pointer goes back.
    pub timeout: fn(&Proc),
    /// Notes that the process waits for a message.
    pub wait: fn(&Proc),
    /// Starts or asks the timer of a receive. `Err`: the time is no time-out value.
    pub wait_timeout: for<'h> fn(&'h Proc, Term<'h>) -> Result<Wait, kvik_proc::Raised>,
    /// Receive markers.
    pub marker_reserve: for<'h> fn(&'h Proc) -> Term<'h>,
    pub marker_bind: for<'h> fn(&'h Proc, Term<'h>, Term<'h>),
    pub marker_clear: for<'h> fn(&'h Proc, Term<'h>),
    pub marker_use: for<'h> fn(&'h Proc, Term<'h>),
}

static OPS: OnceLock<Ops> = OnceLock::new();

/// False when they were set before.
pub fn set(o: Ops) -> bool {
    OPS.set(o).is_ok()
}

const NONE: Ops = Ops {
    send: |p, _, _| Err(p.notsup()),
    peek: |_| None,
    next: |_| (),
    remove: |_| (),
    timeout: |_| (),
    wait: |_| (),
    wait_timeout: |p, _| Err(p.notsup()),
    marker_reserve: |_| Term::NIL,
    marker_bind: |_, _, _| (),
    marker_clear: |_, _| (),
    marker_use: |_, _| (),
};

pub(crate) fn get() -> &'static Ops {
    OPS.get().unwrap_or(&NONE)
}
