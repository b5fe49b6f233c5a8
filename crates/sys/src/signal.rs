//! Signals: a handler records the number and makes an eventfd readable; the thread that polls it
//! takes the recorded signals.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::OnceLock;

use crate::errno::{check, Result};

/// Signals that Erlang programs may ask about, by their Erlang names.
pub const NAMES: &[(&str, i32)] = &[
    ("sighup", libc::SIGHUP),
    ("sigquit", libc::SIGQUIT),
    ("sigabrt", libc::SIGABRT),
    ("sigalrm", libc::SIGALRM),
    ("sigterm", libc::SIGTERM),
    ("sigusr1", libc::SIGUSR1),
    ("sigusr2", libc::SIGUSR2),
    ("sigchld", libc::SIGCHLD),
    ("sigstop", libc::SIGSTOP),
    ("sigtstp", libc::SIGTSTP),
    ("sigcont", SIGCONT),
    ("sigwinch", SIGWINCH),
];

/// From the keyboard: the break handler.
pub const SIGINT: i32 = libc::SIGINT;
pub const SIGQUIT: i32 = libc::SIGQUIT;
pub const SIGTSTP: i32 = libc::SIGTSTP;
/// The program goes on after it was stopped.
pub const SIGCONT: i32 = libc::SIGCONT;

/// The terminal's window has another size.
pub const SIGWINCH: i32 = libc::SIGWINCH;

pub const SIGPIPE: i32 = libc::SIGPIPE;
pub const SIGFPE: i32 = libc::SIGFPE;
/// A child has ended.
pub const SIGCHLD: i32 = libc::SIGCHLD;

static PENDING: AtomicU64 = AtomicU64::new(0);
static NOTIFY: AtomicI32 = AtomicI32::new(-1);

/// The eventfd that is readable while signals are pending.
pub fn event_fd() -> Result<RawFd> {
    static FD: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(fd) = FD.get() {
        return Ok(fd.as_raw_fd());
    }
    let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
    // SAFETY: the descriptor is ours.
    let fd = unsafe { OwnedFd::from_raw_fd(check(libc::eventfd(0, flags))?) };
    let fd = FD.get_or_init(|| fd).as_raw_fd();
    NOTIFY.store(fd, Ordering::Release);
    Ok(fd)
}

extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel fills what `info` points to before it calls a handler with SA_SIGINFO.
    if signal == libc::SIGCHLD && unsafe { tells_of_own_program(&*info) } {
        return;
    }
    PENDING.fetch_or(1 << (signal & 63), Ordering::AcqRel);
    let fd = NOTIFY.load(Ordering::Acquire);
    let one = 1u64;
    // SAFETY: `write` may be called in a handler; errno is put back.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        libc::write(fd, (&one as *const u64).cast(), 8);
        *errno = saved;
    }
}

/// Whether a SIGCHLD tells of a program that `spawn` started: each has a session of its own, which it
/// keeps until it is reaped. In OTP those are children of another process.
///
/// # Safety
/// `info` is what came with a SIGCHLD.
unsafe fn tells_of_own_program(info: &libc::siginfo_t) -> bool {
    if !matches!(info.si_code, libc::CLD_EXITED..=libc::CLD_CONTINUED) {
        return false;
    }
    // SAFETY: with these codes there is a process number. `getsid` takes any; errno is put back.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let pid = info.si_pid();
        let session = libc::getsid(pid);
        *errno = saved;
        session < 0 || session == pid
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SignalAction {
    Default,
    /// SIGCHLD keeps its default action, which is to ignore it: otherwise the kernel would forget how
    /// programs ended.
    Ignore,
    /// Record it for [`take`].
    Handle,
}

pub fn set(signal: i32, action: SignalAction) -> Result<()> {
    if action == SignalAction::Handle {
        event_fd()?;
    }
    // SAFETY: the structure is filled before use; the handler is async-signal-safe.
    unsafe {
        let mut a: libc::sigaction = std::mem::zeroed();
        a.sa_sigaction = match action {
            SignalAction::Default => libc::SIG_DFL,
            SignalAction::Ignore if signal == SIGCHLD => libc::SIG_DFL,
            SignalAction::Ignore => libc::SIG_IGN,
            SignalAction::Handle => {
                note as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize
            }
        };
        a.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigemptyset(&mut a.sa_mask);
        check(libc::sigaction(signal, &a, std::ptr::null_mut())).map(drop)
    }
}

/// The signals recorded since the last call.
pub fn take() -> impl Iterator<Item = i32> {
    let fd = NOTIFY.load(Ordering::Acquire);
    let mut n = 0u64;
    // SAFETY: eight bytes of our own; the descriptor does not block.
    unsafe { libc::read(fd, (&mut n as *mut u64).cast(), 8) };
    let bits = PENDING.swap(0, Ordering::AcqRel);
    (0..64).filter(move |i| bits & 1 << i != 0)
}

/// Sends a signal to a process, for instance to ourselves.
pub fn send(pid: i32, signal: i32) -> Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    /// Signals come to the program, so the tests take turns.
    fn in_turn() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(|e| e.into_inner())
    }

    #[test]
    fn ends_of_programs_are_not_noted_and_never_forgotten() {
        let _turn = in_turn();
        use crate::spawn::{reap, spawn, Program};
        let (path, args) = (c"/bin/sh", [c"sh", c"-c", c"exit 7"].map(Into::into));
        let program = Program { path, args: &args, env: &[], dir: None, fds: &[], close_from: 3 };
        for action in [SignalAction::Ignore, SignalAction::Handle] {
            set(SIGCHLD, action).unwrap();
            let pid = spawn(&program).unwrap();
            let end = std::iter::repeat_with(|| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                reap(pid)
            });
            assert_eq!(end.flatten().next(), Some(7));
        }
        send(std::process::id() as i32, SIGCHLD).unwrap();
        assert!(crate::fd::wait_ready(event_fd().unwrap(), false, 1000).unwrap());
        set(SIGCHLD, SignalAction::Default).unwrap();
        assert_eq!(take().collect::<Vec<_>>(), [SIGCHLD], "this one was not a program's end");
    }

    #[test]
    fn signals_are_noted() {
        let _turn = in_turn();
        set(libc::SIGUSR2, SignalAction::Handle).unwrap();
        send(std::process::id() as i32, libc::SIGUSR2).unwrap();
        assert!(crate::fd::wait_ready(event_fd().unwrap(), false, 1000).unwrap());
        assert_eq!(take().collect::<Vec<_>>(), [libc::SIGUSR2]);
        assert_eq!(take().count(), 0);
    }
}
