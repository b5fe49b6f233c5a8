//! Standard input for `prim_tty` (since OTP 26): a process asks for one message when there is input
//! or a signal has come, and reads it then.

use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard};

use kvik_env::poll::Interest;
use kvik_env::signal::{self, SignalAction, SIGCONT, SIGWINCH};
use kvik_env::Result;
use kvik_heap::OwnedTerm;
use kvik_term::am;

use crate::host::host;
use crate::poll::{self, Source};

const STDIN: RawFd = 0;
/// The poll set of standard input.
const SET: usize = 0;

/// A process, and the message it waits for.
struct Waiting {
    pid: u32,
    message: OwnedTerm,
}

impl Waiting {
    fn tell(self) {
        if let Some(host) = host() {
            host.send(self.pid, am::system.into(), self.message);
        }
    }
}

/// A signal, as `prim_tty` gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The window has been resized.
    Resized,
    /// The program continues after it was stopped.
    Continued,
}

struct Reader {
    input: Option<Waiting>,
    notice: Option<Waiting>,
    notices: VecDeque<Notice>,
    polled: bool,
}

kvik_state::vm_state! {
    static READER: Mutex<Reader> =
        Mutex::new(Reader { input: None, notice: None, notices: VecDeque::new(), polled: false });
}

/// The most unread notices; further ones are dropped.
const MOST_NOTICES: usize = 64;

fn reader() -> MutexGuard<'static, Reader> {
    READER.lock().unwrap_or_else(|e| e.into_inner())
}

/// Sends a message to a process once, when there is input or its end.
pub fn await_input(pid: u32, message: OwnedTerm) -> Result<()> {
    let mut r = reader();
    r.input = Some(Waiting { pid, message });
    if r.polled {
        return Ok(());
    }
    let interest = Interest { read: true, ..Interest::default() };
    // An ordinary file is always ready: it is served at the next time slice.
    r.polled = !poll::add(SET, STDIN, Source::Terminal, 0, interest)?;
    Ok(())
}

/// Sends a message to a process once, when there is a notice.
pub fn await_notice(pid: u32, message: OwnedTerm) {
    let mut r = reader();
    r.notice = Some(Waiting { pid, message });
    let told = if r.notices.is_empty() { None } else { r.notice.take() };
    drop(r);
    told.into_iter().for_each(Waiting::tell);
}

/// Starts producing notices.
pub fn watch_signals() -> Result<()> {
    signal::set(SIGCONT, SignalAction::Handle)?;
    signal::set(SIGWINCH, SignalAction::Handle)
}

/// Takes the oldest unread notice.
pub fn take_notice() -> Option<Notice> {
    reader().notices.pop_front()
}

/// A signal has come.
pub(crate) fn notify(notice: Notice) {
    let mut r = reader();
    if r.notices.len() < MOST_NOTICES {
        r.notices.push_back(notice);
    }
    let told = r.notice.take();
    drop(r);
    told.into_iter().for_each(Waiting::tell);
}

/// The poll set has reported input.
pub(crate) fn ready() {
    let mut r = reader();
    let told = r.input.take();
    if r.polled {
        poll::remove(SET, STDIN);
        r.polled = false;
    }
    drop(r);
    told.into_iter().for_each(Waiting::tell);
}
