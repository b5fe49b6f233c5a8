//! Schedulers that stand still, in a program of their own: all its threads are schedulers.

use std::sync::atomic::{AtomicUsize, Ordering};

use kvik_port::pause::{ask, point, Alone};
use kvik_port::poll;
use kvik_port::signals::dispatch;

static DONE: AtomicUsize = AtomicUsize::new(0);
const OTHERS: usize = 2;

fn task(a: &Alone) {
    a.on_others(|| {
        DONE.fetch_add(1, Ordering::AcqRel);
    });
    assert_eq!(DONE.load(Ordering::Acquire), OTHERS);
    DONE.fetch_add(100, Ordering::AcqRel);
}

#[test]
fn one_goes_on_alone() {
    poll::init(1 + OTHERS).unwrap();
    assert!(ask(task));
    assert!(!ask(task));
    let threads: Vec<_> =
        (0..1 + OTHERS).map(|i| std::thread::spawn(move || point(i, dispatch))).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(DONE.load(Ordering::Acquire), 100 + OTHERS);
    // Nobody is kept afterwards.
    point(0, dispatch);
}
