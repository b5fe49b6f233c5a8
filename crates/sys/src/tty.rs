//! Terminals.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::errno::{check, retry, Errno, Result};
use crate::syscall_counters::file;

pub fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::isatty(fd) == 1 }
}

/// Opens a terminal once more, for writes that do not block. `O_NONBLOCK` belongs to an open file
/// description, and the one of `fd` is shared with other programs, which expect it to block.
pub fn reopen_nonblocking(fd: RawFd) -> Result<OwnedFd> {
    let path = CString::new(format!("/proc/self/fd/{fd}")).map_err(|_| Errno::INVAL)?;
    let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the path ends in NUL; the descriptor is ours.
    unsafe { Ok(OwnedFd::from_raw_fd(retry(|| file(libc::open(path.as_ptr(), flags)))?)) }
}

/// Columns and rows of a terminal.
pub fn window_size(fd: RawFd) -> Option<(u32, u32)> {
    let mut w = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: the call fills the structure; all zeros is a value of it too.
    unsafe {
        check(libc::ioctl(fd, libc::TIOCGWINSZ, w.as_mut_ptr())).ok()?;
        let w = w.assume_init();
        Some((w.ws_col as u32, w.ws_row as u32))
    }
}

/// A terminal's settings, to be put back later.
#[derive(Copy, Clone)]
pub struct TtySettings(libc::termios);

pub fn settings(fd: RawFd) -> Result<TtySettings> {
    let mut t = MaybeUninit::uninit();
    // SAFETY: the call fills the structure where it succeeds.
    unsafe {
        check(libc::tcgetattr(fd, t.as_mut_ptr()))?;
        Ok(TtySettings(t.assume_init()))
    }
}
pub fn restore(fd: RawFd, s: &TtySettings) -> Result<()> {
    // SAFETY: the settings live for the call.
    check(unsafe { libc::tcsetattr(fd, libc::TCSADRAIN, &s.0) }).map(drop)
}

/// The same at once, without waiting for pending output.
pub fn apply(fd: RawFd, s: &TtySettings) -> Result<()> {
    // SAFETY: the settings live for the call.
    check(unsafe { libc::tcsetattr(fd, libc::TCSANOW, &s.0) }).map(drop)
}

/// Changes to a terminal's settings; `None` keeps a setting.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Changes {
    /// Input is line-buffered, and output is post-processed.
    pub lines: Option<bool>,
    pub echo: Option<bool>,
    /// Keys such as ctrl-C send signals.
    pub signals: Option<bool>,
}

fn set(flags: &mut libc::tcflag_t, bits: libc::tcflag_t, on: bool) {
    *flags = if on { *flags | bits } else { *flags & !bits };
}

impl TtySettings {
    /// Whether each key is delivered at once.
    pub fn is_raw(&self) -> bool {
        self.0.c_lflag & libc::ICANON == 0
    }
    /// For `prim_tty`.
    pub fn changed(mut self, c: Changes) -> TtySettings {
        let t = &mut self.0;
        t.c_iflag &= !libc::ISTRIP;
        if let Some(on) = c.lines {
            set(&mut t.c_iflag, libc::ICRNL, on);
            set(&mut t.c_lflag, libc::ICANON, on);
            set(&mut t.c_oflag, libc::OPOST, on);
            if !on {
                t.c_cc[libc::VMIN] = 1;
                t.c_cc[libc::VTIME] = 0;
            }
        }
        if let Some(on) = c.echo {
            set(&mut t.c_lflag, libc::ECHO, on);
        }
        if let Some(on) = c.signals {
            let input = libc::BRKINT | libc::IGNPAR | libc::ICRNL | libc::IXON | libc::IXANY;
            set(&mut t.c_iflag, input, on);
            set(&mut t.c_lflag, libc::ISIG | libc::IEXTEN, on);
        }
        self
    }
    /// For an editor: each key is delivered at once, without echo, and output is not processed.
    pub fn edited(mut self) -> TtySettings {
        let t = &mut self.0;
        t.c_iflag &= !(libc::ISTRIP | libc::ICRNL);
        t.c_lflag &= !(libc::ICANON | libc::ECHO);
        t.c_oflag &= !libc::OPOST;
        t.c_cc[libc::VMIN] = 1;
        t.c_cc[libc::VTIME] = 0;
        self
    }
    /// Ctrl-C is delivered like any other key.
    pub fn without_interrupt(mut self) -> TtySettings {
        self.0.c_cc[libc::VINTR] = 0;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fd;
    use std::os::fd::AsRawFd;

    fn pseudo_terminal() -> (OwnedFd, OwnedFd) {
        let (mut user, mut program) = (-1, -1);
        let none = std::ptr::null_mut();
        // SAFETY: the call fills two descriptors, which are ours; it may get no name and settings.
        unsafe {
            let r = libc::openpty(&mut user, &mut program, none, none.cast(), none.cast());
            assert_eq!(r, 0);
            (OwnedFd::from_raw_fd(user), OwnedFd::from_raw_fd(program))
        }
    }

    #[test]
    fn reopened_terminal_does_not_block_when_nobody_reads() {
        let (user, program) = pseudo_terminal();
        let reopened = reopen_nonblocking(program.as_raw_fd()).unwrap();
        assert_eq!(fd::write(reopened.as_raw_fd(), b"first"), Ok(5));
        let mut seen = [0; 5];
        assert_eq!(fd::read_bytes(user.as_raw_fd(), &mut seen), Ok(5));
        assert_eq!(&seen, b"first");
        let full = loop {
            if let Err(e) = fd::write(reopened.as_raw_fd(), &[b'x'; 1000]) {
                break e;
            }
        };
        assert_eq!(full, Errno::AGAIN);
        assert_eq!(fd::set_nonblocking(program.as_raw_fd(), false), Ok(false));
    }
}
