//! Time that moves only when it is told to, and the threads that wait for it.
//!
//! A single test: the clock is the program's, so a thread of another test would wait by it too.

use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use kvik_env::clock::{coarse_nanos, monotonic_nanos, wall_nanos, Instant};
use kvik_env::poll::{PollEvents, Poller};
use kvik_env::{current, thread};

const HOUR: Duration = Duration::from_secs(3600);

/// Waits until so many waits have begun.
fn begun(waits: usize) {
    while current().clock.waits() < waits {
        thread::yield_now();
    }
}

/// Starts a thread that waits for what is left of an hour, and reports when it has waited long enough.
fn waiter(wait: impl Fn(Duration) + Send + 'static) -> Receiver<Duration> {
    let (tell, told) = channel();
    let began = Instant::now();
    thread::spawn("waiter", None, move || {
        while began.elapsed() < HOUR {
            wait(HOUR.saturating_sub(began.elapsed()));
        }
        tell.send(began.elapsed()).unwrap();
    })
    .unwrap();
    told
}

#[test]
fn who_waits_for_an_hour_goes_on_when_it_is_over() {
    let clock = &current().clock;
    assert!(!clock.advance(HOUR), "the system's clock cannot be moved");
    clock.stop();
    let (mono, wall) = (monotonic_nanos(), wall_nanos());
    assert_eq!((monotonic_nanos(), coarse_nanos(), wall_nanos()), (mono, mono, wall));

    let poller = Arc::new(Poller::new().unwrap());
    let polls = poller.clone();
    let (lock, bell) = (Mutex::new(()), Condvar::new());
    let waiters = [
        waiter(thread::sleep),
        waiter(thread::park_timeout),
        waiter(move |left| {
            polls.wait(&mut PollEvents::default(), Some(left)).unwrap();
        }),
        waiter(move |left| drop(thread::wait_timeout(&bell, lock.lock().unwrap(), left))),
    ];
    begun(4);
    clock.advance(HOUR - Duration::from_nanos(1));
    assert_eq!(monotonic_nanos(), mono + HOUR.as_nanos() as i64 - 1);
    // A poller that is woken checks the time and waits again.
    poller.wake();
    begun(5);
    for told in &waiters {
        assert!(told.try_recv().is_err(), "an hour is over too early");
    }
    clock.advance(Duration::from_nanos(1));
    assert_eq!(wall_nanos(), wall + HOUR.as_nanos() as i64);
    for told in waiters {
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(HOUR));
    }

    // An event ends a wait whatever the clock.
    let told = {
        let poller = poller.clone();
        let (tell, told) = channel();
        let wait = move || tell.send(poller.wait(&mut PollEvents::default(), Some(HOUR))).unwrap();
        thread::spawn("waiter", None, wait).unwrap();
        told
    };
    poller.wake();
    assert!(told.recv_timeout(Duration::from_secs(60)).unwrap().is_ok());

    let told = waiter(thread::sleep);
    clock.resume();
    assert!(told.recv_timeout(Duration::from_millis(1)).is_err(), "nobody has waited an hour");
    assert!(monotonic_nanos() < mono + HOUR.as_nanos() as i64, "it is the system's again");
}
