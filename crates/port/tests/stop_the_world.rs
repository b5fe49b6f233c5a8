//! Stops the world, in a program of its own: all its threads are schedulers.

use std::sync::atomic::{AtomicUsize, Ordering};

use kvik_port::poll;
use kvik_port::signals::dispatch;
use kvik_port::stop_the_world::{point, run_alone, StoppedWorld};

static DONE: AtomicUsize = AtomicUsize::new(0);
const OTHERS: usize = 2;

fn task(a: &StoppedWorld) {
    a.on_others(|| {
        DONE.fetch_add(1, Ordering::AcqRel);
    });
    assert_eq!(DONE.load(Ordering::Acquire), OTHERS);
    DONE.fetch_add(100, Ordering::AcqRel);
}

#[test]
fn one_thread_runs_while_the_others_are_stopped() {
    poll::init(1 + OTHERS).unwrap();
    assert!(run_alone(task));
    assert!(!run_alone(task));
    let threads: Vec<_> =
        (0..1 + OTHERS).map(|i| std::thread::spawn(move || point(i, dispatch))).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(DONE.load(Ordering::Acquire), 100 + OTHERS);
    // No scheduler is stopped afterwards.
    point(0, dispatch);
}
