//! Poll sets: epoll with an eventfd for wake-ups.
//!
//! A descriptor is added once and stays until it is removed; it is not re-armed after an event.
//! Pipes and sockets are added edge-triggered (their owner remembers that they are ready),
//! terminals level-triggered.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::errno::{check, Errno, Result};
use crate::syscall_counters::{self, call, SyscallCounter};

/// What to wait for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Interest {
    pub read: bool,
    pub write: bool,
    /// Report changes only, not the state at each wait.
    pub edge: bool,
}

/// An event.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PollEvent {
    pub token: u64,
    pub read: bool,
    pub write: bool,
    /// The other end is gone.
    pub hangup: bool,
}

pub struct Poller {
    epoll: OwnedFd,
    wake: OwnedFd,
}

/// The token of the eventfd: never handed out.
const WAKE: u64 = u64::MAX;
/// Events that one wait can bring.
pub const MAX_EVENTS: usize = 256;

/// Room for the events of one wait.
pub struct PollEvents {
    raw: [MaybeUninit<libc::epoll_event>; MAX_EVENTS],
    len: usize,
}

impl Default for PollEvents {
    fn default() -> Self {
        PollEvents { raw: [const { MaybeUninit::uninit() }; MAX_EVENTS], len: 0 }
    }
}

impl PollEvents {
    pub fn iter(&self) -> impl Iterator<Item = PollEvent> + '_ {
        self.raw[..self.len]
            .iter()
            .map(|e| {
                // SAFETY: the last wait filled the first `len`.
                let e = unsafe { e.assume_init() };
                let on = |bits: i32| e.events & bits as u32 != 0;
                PollEvent {
                    token: e.u64,
                    read: on(libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP),
                    write: on(libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP),
                    hangup: on(libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP),
                }
            })
            .filter(|e| e.token != WAKE)
    }
}

fn bits(i: Interest) -> u32 {
    let mut b = 0;
    if i.read {
        b |= libc::EPOLLIN;
    }
    if i.write {
        b |= libc::EPOLLOUT;
    }
    if i.edge {
        b |= libc::EPOLLET;
        if i.read {
            b |= libc::EPOLLRDHUP;
        }
    }
    b as u32
}

impl Poller {
    pub fn new() -> Result<Poller> {
        // SAFETY: the descriptors are ours.
        let (epoll, wake) = unsafe {
            let e = OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?);
            let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
            let w = OwnedFd::from_raw_fd(check(libc::eventfd(0, flags))?);
            (e, w)
        };
        let p = Poller { epoll, wake };
        // Edge-triggered: a wake-up need not be read.
        let i = Interest { read: true, write: false, edge: true };
        p.control(libc::EPOLL_CTL_ADD, p.wake.as_raw_fd(), WAKE, i)?;
        Ok(p)
    }

    fn control(&self, op: i32, fd: RawFd, token: u64, i: Interest) -> Result<()> {
        let mut e = libc::epoll_event { events: bits(i), u64: token };
        // SAFETY: the event lives for the call.
        syscall_counters::check(SyscallCounter::Watch, unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), op, fd, &mut e)
        })
        .map(drop)
    }
    /// `EPERM` means that the descriptor is always ready: an ordinary file.
    pub fn add(&self, fd: RawFd, token: u64, i: Interest) -> Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, i)
    }
    pub fn modify(&self, fd: RawFd, token: u64, i: Interest) -> Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, i)
    }
    pub fn remove(&self, fd: RawFd) -> Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::default())
    }

    /// The tokens of the descriptors in the set, as the kernel reports them.
    pub fn tokens(&self) -> Vec<u64> {
        let file = format!("/proc/self/fdinfo/{}", self.epoll.as_raw_fd());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let token = |line: &str| {
            let mut words = line.strip_prefix("tfd:")?.split_whitespace();
            words.find(|w| *w == "data:")?;
            u64::from_str_radix(words.next()?, 16).ok()
        };
        text.lines().filter_map(token).filter(|t| *t != WAKE).collect()
    }
    /// Number of descriptors in the set, including the eventfd.
    pub fn len(&self) -> usize {
        self.tokens().len() + 1
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends a wait that is under way, or the next one. From any thread.
    pub fn wake(&self) {
        let one = 1u64;
        call(SyscallCounter::Wake);
        // SAFETY: eight bytes of our own. An error (a full counter) means it is awake already.
        unsafe { libc::write(self.wake.as_raw_fd(), (&one as *const u64).cast(), 8) };
    }

    /// Waits for events: until one comes (`None`) or at most this long.
    pub fn wait(&self, events: &mut PollEvents, timeout: Option<Duration>) -> Result<usize> {
        events.len = 0;
        call(SyscallCounter::Poll);
        let at = events.raw.as_mut_ptr().cast();
        let n = match timeout {
            Some(d) if !d.is_zero() => self.wait_precisely(at, d),
            t => {
                let ms = if t.is_some() { 0 } else { -1 };
                let (set, most) = (self.epoll.as_raw_fd(), MAX_EVENTS as i32);
                // Bypasses the C library's wrapper: see `fd`.
                // SAFETY: room for that many events.
                check(unsafe { libc::syscall(libc::SYS_epoll_wait, set, at, most, ms) as i32 })
            }
        };
        match n {
            Ok(n) => {
                events.len = n as usize;
                Ok(events.len)
            }
            Err(Errno::INTR) => Ok(0),
            Err(e) => Err(e),
        }
    }

    fn wait_precisely(&self, at: *mut libc::epoll_event, d: Duration) -> Result<i32> {
        let t = libc::timespec {
            tv_sec: d.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: d.subsec_nanos() as i64,
        };
        // SAFETY: the caller gives room for MAX_EVENTS; the time lives for the call.
        let r = check(unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                at,
                MAX_EVENTS as i32,
                &t as *const libc::timespec,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            ) as i32
        });
        if r != Err(Errno(libc::ENOSYS)) {
            return r;
        }
        let ms = d.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32;
        // SAFETY: the caller gives room for MAX_EVENTS.
        check(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), at, MAX_EVENTS as i32, ms) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fd;

    #[test]
    fn events_and_wakes() {
        let p = Poller::new().unwrap();
        let mut ev = PollEvents::default();
        let (r, w) = fd::pipe().unwrap();
        let i = Interest { read: true, edge: true, ..Default::default() };
        p.add(r.as_raw_fd(), 7, i).unwrap();
        assert_eq!(p.wait(&mut ev, Some(Duration::ZERO)), Ok(0));
        fd::write(w.as_raw_fd(), b"x").unwrap();
        assert_eq!(p.wait(&mut ev, None), Ok(1));
        let e = ev.iter().next().unwrap();
        assert!(e.token == 7 && e.read && !e.write);
        // Edge-triggered: not reported again.
        assert_eq!(p.wait(&mut ev, Some(Duration::from_millis(1))), Ok(0));
        p.wake();
        p.wait(&mut ev, None).unwrap();
        assert_eq!(ev.iter().count(), 0);
        drop(w);
        assert_eq!(p.wait(&mut ev, None), Ok(1));
        assert!(ev.iter().next().unwrap().hangup);
    }

    #[test]
    fn files_are_always_ready() {
        let p = Poller::new().unwrap();
        let f = std::fs::File::open("/proc/self/exe").unwrap();
        let i = Interest { read: true, ..Default::default() };
        assert_eq!(p.add(f.as_raw_fd(), 1, i), Err(Errno::PERM));
    }
}
