//! Turns signals to the VM into messages: `{notify, sigterm}` to `erl_signal_server`. Ctrl-C opens
//! the break menu ([`crate::ctrl_c`]).

use std::sync::atomic::{AtomicBool, Ordering};

use kvik_env::signal::{self, SignalAction, NAMES, SIGCONT, SIGINT, SIGWINCH};
use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom};

use crate::host::host;
use crate::tty::reader::{self, Notice};
use crate::{ctrl_c, tty};

/// `os:set_signal/2`. `None`: no such signal. As in OTP, failing to set SIGSTOP is not reported.
pub fn set(name: Atom, action: SignalAction) -> Option<()> {
    let (_, number) = *NAMES.iter().find(|(n, _)| *n == name.name())?;
    let of_terminal = matches!(number, SIGCONT | SIGWINCH);
    if of_terminal && !kvik_release::current().has_terminal_signals() {
        return None;
    }
    let _ = signal::set(number, action);
    Some(())
}

/// Signal actions at VM start: a write to a closed pipe returns an error, and the signals that
/// `erl_signal_server` knows go to it. Programs inherit what is ignored, as in OTP: `SIGPIPE` and
/// `SIGFPE`.
pub fn init() -> kvik_env::Result<()> {
    let number = |name: &str| NAMES.iter().find(|(n, _)| *n == name).map(|(_, n)| *n);
    for name in ["sigterm", "sigusr1"] {
        if let Some(n) = number(name) {
            signal::set(n, SignalAction::Handle)?;
        }
    }
    // One that this program inherited as ignored would hide how programs end.
    signal::set(signal::SIGCHLD, SignalAction::Default)?;
    signal::set(signal::SIGFPE, SignalAction::Ignore)?;
    signal::set(signal::SIGPIPE, SignalAction::Ignore)
}

kvik_state::vm_state! {
    /// A signal server has existed.
    static SERVED: AtomicBool = AtomicBool::new(false);
}

/// Passes on the signals that have come.
pub fn dispatch() {
    for n in signal::take() {
        match n {
            SIGINT => ctrl_c::requested(),
            SIGCONT => {
                tty::goes_on();
                tell_terminal(n, Notice::Continued);
            }
            SIGWINCH => tell_terminal(n, Notice::Resized),
            _ => tell(n),
        }
    }
}
/// Tells the server or, in releases whose server knows no terminal signals, the terminal's reader.
fn tell_terminal(n: i32, notice: Notice) {
    match kvik_release::current().has_terminal_signals() {
        true => tell(n),
        false => reader::notify(notice),
    }
}
fn tell(n: i32) {
    let Some((name, _)) = NAMES.iter().find(|(_, m)| *m == n) else { return };
    let Some(h) = host() else { return };
    let server = h.whereis(am::erl_signal_server);
    let Some(pid) = server.and_then(|t| t.as_local_pid()) else {
        // No server has existed that could stop the system in an orderly way: the default action.
        if *name == "sigterm" && !SERVED.load(Ordering::Relaxed) {
            crate::settle();
            let _ = signal::set(n, SignalAction::Default);
            let _ = signal::send(std::process::id() as i32, n);
        }
        return;
    };
    SERVED.store(true, Ordering::Relaxed);
    let name = Atom::intern(name).unwrap_or(am::error);
    h.send(
        pid,
        am::system.into(),
        OwnedTerm::build(3, |h| h.tuple(&[am::notify.into(), name.into()])),
    );
}
