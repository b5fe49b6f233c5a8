//! What each thread asks of the system, and the bytes that pass: counted where the calls are made, in
//! words that the thread alone writes to, by a load and a store. A thread that was not given such
//! words shares some with the others like it: those make calls that may wait, beside which an atomic
//! addition is nothing.
//!
//! Not counted are descriptors that are closed when nobody needs them any more, locks, clocks, and the
//! memory that the allocator asks for.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::errno::{self, Result};

/// What is counted: calls by kind, then bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// Asked for events, waiting or not.
    Poll = 0,
    /// Named a descriptor to be told of, or no more.
    Watch = 1,
    /// Woke a thread that waits for events.
    Wake = 2,
    /// Read from a file, pipe or socket, or tried to.
    Read = 3,
    Write = 4,
    /// Opened, connected or accepted a socket, or asked something of one.
    Socket = 5,
    /// Opened a file or looked at it by name or descriptor: all but reading and writing.
    File = 6,
    /// Started a program, made its pipes, or asked how it ended.
    Spawn = 7,
    /// Bytes that such reads and writes have moved.
    ReadBytes = 8,
    WrittenBytes = 9,
    /// Bytes that came to processes through ports, and went out from them.
    Input = 10,
    Output = 11,
}

/// Words that a thread's counts take.
pub const WORDS: usize = 16;
/// Kinds of calls, with their names.
pub const CALLS: [(&str, What); 8] = [
    ("poll", What::Poll),
    ("watch", What::Watch),
    ("wake", What::Wake),
    ("read", What::Read),
    ("write", What::Write),
    ("socket", What::Socket),
    ("file", What::File),
    ("spawn", What::Spawn),
];

pub type Words = &'static [AtomicU64];

thread_local! {
    static HERE: Cell<Words> = const { Cell::new(&[]) };
}
kvik_state::vm_state! {
    static SHARED: OnceLock<Words> = OnceLock::new();
}

/// This thread counts there from now on; nobody else may write to these words.
pub fn here(words: Words) {
    HERE.set(words);
}
/// All threads that have no words of their own count there from now on. The first call counts.
pub fn others(words: Words) {
    SHARED.get_or_init(|| words);
}

#[inline]
pub fn add(what: What, n: u64) {
    if !crate::METERED {
        return;
    }
    match HERE.get().get(what as usize) {
        Some(w) => w.store(w.load(Relaxed).wrapping_add(n), Relaxed),
        None => add_shared(what, n),
    }
}
#[cold]
fn add_shared(what: What, n: u64) {
    if let Some(w) = SHARED.get().and_then(|words| words.get(what as usize)) {
        w.fetch_add(n, Relaxed);
    }
}
#[inline]
pub(crate) fn call(what: What) {
    add(what, 1);
}

/// What a call of that kind answered.
#[inline]
pub(crate) fn check(what: What, r: i32) -> Result<i32> {
    call(what);
    errno::check(r)
}
#[inline]
pub(crate) fn file(r: i32) -> Result<i32> {
    check(What::File, r)
}
#[inline]
pub(crate) fn socket(r: i32) -> Result<i32> {
    check(What::Socket, r)
}
#[inline]
fn moved(what: What, bytes: What, r: isize) -> Result<usize> {
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
fn moved_elsewhere(what: What, bytes: What, n: u64) {
    call(what);
    add(bytes, n);
}
#[inline]
pub(crate) fn read(r: isize) -> Result<usize> {
    moved(What::Read, What::ReadBytes, r)
}
#[inline]
pub(crate) fn write(r: isize) -> Result<usize> {
    moved(What::Write, What::WrittenBytes, r)
}

#[cfg(all(test, not(feature = "no-meter")))]
mod tests {
    use super::*;
    use crate::{fd, file, poll};
    use std::os::fd::AsRawFd;

    fn words() -> Words {
        Vec::from_iter((0..WORDS).map(|_| AtomicU64::new(0))).leak()
    }
    fn count(words: Words, w: What) -> u64 {
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
        p.wait(&mut poll::Events::default(), Some(std::time::Duration::ZERO)).unwrap();
        p.wake();
        let counts: Vec<u64> = mine.iter().map(|n| n.load(Relaxed)).collect();
        // The pipe is one for a program.
        assert_eq!(counts[..10], [1, 1, 1, 1, 1, 0, 2, 1, 5, 5]);
        let before = count(mine, What::Read);
        std::thread::spawn(move || fd::read_bytes(-1, &mut room)).join().unwrap().unwrap_err();
        assert_eq!(count(mine, What::Read), before);
        assert!(count(rest, What::Read) >= 1);
        here(&[]);
    }
}
