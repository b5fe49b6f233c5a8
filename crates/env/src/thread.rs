//! Threads: starting them, and timed waits.

use std::io;
use std::sync::{Condvar, MutexGuard};
use std::time::Duration;

pub use std::thread::{
    available_parallelism, current, panicking, park, scope, yield_now, JoinHandle, Scope,
    ScopedJoinHandle, Thread,
};

use crate::Fault;

fn builder(name: &str, stack: Option<usize>) -> io::Result<std::thread::Builder> {
    Fault::ThreadSpawn.fail()?;
    let b = std::thread::Builder::new().name(name.into());
    Ok(match stack {
        Some(bytes) => b.stack_size(bytes),
        None => b,
    })
}

/// Starts a thread of this VM. `stack`: its size in bytes, if the usual 2 MB are wrong.
pub fn spawn<T: Send + 'static>(
    name: &str,
    stack: Option<usize>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    builder(name, stack)?.spawn(kvik_state::inherit(work))
}

/// Starts a thread of this VM that ends before its scope does.
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    builder(name, None)?.spawn_scoped(scope, kvik_state::inherit(work))
}

#[inline]
pub fn sleep(time: Duration) {
    #[cfg(feature = "simulation")]
    if crate::current().clock.sleep(time) {
        return;
    }
    std::thread::sleep(time);
}

/// Waits until another thread calls `unpark`, or until the time is over.
#[inline]
pub fn park_timeout(time: Duration) {
    #[cfg(feature = "simulation")]
    if crate::current().clock.park(time) {
        return;
    }
    std::thread::park_timeout(time);
}

/// Waits until the condition is signalled, or until the time is over: then the result is true.
#[inline]
pub fn wait_timeout<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> (MutexGuard<'a, T>, bool) {
    #[cfg(feature = "simulation")]
    let guard = match crate::current().clock.wait(condition, guard, time) {
        Ok(waited) => return waited,
        Err(guard) => guard,
    };
    let (guard, r) = condition.wait_timeout(guard, time).unwrap_or_else(|e| e.into_inner());
    (guard, r.timed_out())
}
