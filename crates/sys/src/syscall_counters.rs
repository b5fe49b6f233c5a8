//! Counts system calls and the bytes they move, by thread, at the call sites: in words that only
//! the thread writes, by a load and a store. Threads without words of their own share some: they
//! make calls that may block, compared to which an atomic addition costs nothing.
//!
//! Not counted are the closing of descriptors that are dropped, locks, clocks, and the allocator's
//! calls.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::errno::{self, Result};

/// The counters: calls by kind, then bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SyscallCounter {
    /// Polled for events, blocking or not.
    Poll = 0,
    /// Added a descriptor to a poll set, or removed one.
    Watch = 1,
    /// Woke a thread that waits for events.
    Wake = 2,
    /// Read from a file, pipe or socket, or tried to.
    Read = 3,
    Write = 4,
    /// Opened, connected or accepted a socket, or queried one.
    Socket = 5,
    /// Opened a file, or any call by name or descriptor except reading and writing.
    File = 6,
    /// Started a program, made its pipes, or queried how it ended.
    Spawn = 7,
    /// Bytes moved by those reads and writes.
    ReadBytes = 8,
    WrittenBytes = 9,
    /// Bytes sent to processes by ports, and from processes to ports.
    Input = 10,
    Output = 11,
}

/// Number of words for a thread's counters.
pub const WORDS: usize = 16;
/// Kinds of calls, with their names.
pub const CALLS: [(&str, SyscallCounter); 8] = [
    ("poll", SyscallCounter::Poll),
    ("watch", SyscallCounter::Watch),
    ("wake", SyscallCounter::Wake),
    ("read", SyscallCounter::Read),
    ("write", SyscallCounter::Write),
    ("socket", SyscallCounter::Socket),
    ("file", SyscallCounter::File),
    ("spawn", SyscallCounter::Spawn),
];

pub type Words = &'static [AtomicU64];

thread_local! {
    static HERE: Cell<Words> = const { Cell::new(&[]) };
}
kvik_state::vm_state! {
    static SHARED: OnceLock<Words> = OnceLock::new();
}

/// Makes this thread count in these words; no other thread may write to them.
pub fn here(words: Words) {
    HERE.set(words);
}
/// Makes all threads without words of their own count in these. Only the first call has an effect.
pub fn others(words: Words) {
    SHARED.get_or_init(|| words);
}

#[inline]
pub fn add(what: SyscallCounter, n: u64) {
    if !crate::METERED {
        return;
    }
    match HERE.get().get(what as usize) {
        Some(w) => w.store(w.load(Relaxed).wrapping_add(n), Relaxed),
        None => add_shared(what, n),
    }
}
#[cold]
fn add_shared(what: SyscallCounter, n: u64) {
    if let Some(w) = SHARED.get().and_then(|words| words.get(what as usize)) {
        w.fetch_add(n, Relaxed);
    }
}
#[inline]
pub(crate) fn call(what: SyscallCounter) {
    add(what, 1);
}

/// Counts a call of that kind, and converts its result.
#[inline]
pub(crate) fn check(what: SyscallCounter, r: i32) -> Result<i32> {
    call(what);
    errno::check(r)
}
#[inline]
pub(crate) fn file(r: i32) -> Result<i32> {
    check(SyscallCounter::File, r)
}
#[inline]
pub(crate) fn socket(r: i32) -> Result<i32> {
    check(SyscallCounter::Socket, r)
}
#[inline]
fn moved(what: SyscallCounter, bytes: SyscallCounter, r: isize) -> Result<usize> {
    let n = r.max(0) as u64;
    match <&[AtomicU64; WORDS]>::try_from(HERE.get()) {
        Ok(words) if crate::METERED => {
            let bump = |what, n| {
                let w = &words[what as usize];
                w.store(w.load(Relaxed).wrapping_add(n), Relaxed);
            };
            bump(what, 1);
            bump(bytes, n);
        }
        _ => moved_elsewhere(what, bytes, n),
    }
    errno::check_size(r)
}
#[cold]
fn moved_elsewhere(what: SyscallCounter, bytes: SyscallCounter, n: u64) {
    call(what);
    add(bytes, n);
}
#[inline]
pub(crate) fn read(r: isize) -> Result<usize> {
    moved(SyscallCounter::Read, SyscallCounter::ReadBytes, r)
}
#[inline]
pub(crate) fn write(r: isize) -> Result<usize> {
    moved(SyscallCounter::Write, SyscallCounter::WrittenBytes, r)
}

#[cfg(all(test, not(feature = "no-meter")))]
mod tests {
    use super::*;
    use crate::{fd, file, poll};
    use std::os::fd::AsRawFd;

    fn words() -> Words {
        Vec::from_iter((0..WORDS).map(|_| AtomicU64::new(0))).leak()
    }
    fn count(words: Words, w: SyscallCounter) -> u64 {
        words[w as usize].load(Relaxed)
    }

    #[test]
    fn calls_are_counted_where_they_are_made() {
        let (mine, rest) = (words(), words());
        others(rest);
        here(mine);
        let (r, w) = fd::pipe().unwrap();
        fd::write(w.as_raw_fd(), b"hello").unwrap();
        let mut room = [0; 16];
        fd::read_bytes(r.as_raw_fd(), &mut room).unwrap();
        file::stat(c"/", true).unwrap();
        file::stat(c"/no/such/file", true).unwrap_err();
        let p = poll::Poller::new().unwrap();
        p.wait(&mut poll::PollEvents::default(), Some(std::time::Duration::ZERO)).unwrap();
        p.wake();
        let counts: Vec<u64> = mine.iter().map(|n| n.load(Relaxed)).collect();
        // The pipe counts as one made for a program.
        assert_eq!(counts[..10], [1, 1, 1, 1, 1, 0, 2, 1, 5, 5]);
        let before = count(mine, SyscallCounter::Read);
        std::thread::spawn(move || fd::read_bytes(-1, &mut room)).join().unwrap().unwrap_err();
        assert_eq!(count(mine, SyscallCounter::Read), before);
        assert!(count(rest, SyscallCounter::Read) >= 1);
        here(&[]);
    }
}
