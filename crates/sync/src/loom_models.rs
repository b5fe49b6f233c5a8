//! Loom models: each is run with every interleaving of its threads, and with every value that their
//! atomics may read (`make loom`), up to a bound on preemptions. They test the code itself, with
//! few threads and few items.

use loom::cell::Cell;
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;

use crate::bias::{leave, Bias, Slot};
use crate::inbox::{Chain, Inbox, InboxNode, Push};
use crate::parker::Parker;
use crate::single_threaded;
use crate::spin_lock::SpinLock;
use crate::table::Numbered;
use crate::task::{Pushed, RunToken, SelfHandle, Task};

/// Data that a thread may read only after synchronising with the write: loom fails otherwise.
struct Item(Cell<u32>);

impl Item {
    fn new(n: u32) -> Item {
        let item = Item(Cell::new(0));
        item.0.set(n);
        item
    }
    fn get(&self) -> u32 {
        self.0.get()
    }
}

/// Bound on preemptions of threads that could go on: few are enough to show an error.
const PREEMPTIONS: usize = 2;

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut b = loom::model::Builder::new();
    b.preemption_bound = Some(PREEMPTIONS);
    b.check(model);
}

fn sent<T>(p: Push<T>) -> bool {
    !matches!(p, Push::Closed(_))
}

#[test]
fn nothing_is_lost_and_each_producers_order_is_kept() {
    check(|| {
        let inbox = Arc::new(Inbox::default());
        let producers: Vec<_> = [10, 20]
            .map(|from| {
                let inbox = inbox.clone();
                thread::spawn(move || {
                    assert!(sent(inbox.push(InboxNode::new(Item::new(from)))));
                    assert!(sent(inbox.push(InboxNode::new(Item::new(from + 1)))));
                })
            })
            .into();
        let mut got: Vec<u32> = inbox.take(|_| ()).map(|i| i.get()).collect();
        producers.into_iter().for_each(|p| p.join().unwrap());
        got.extend(inbox.take(|_| ()).map(|i| i.get()));
        let of = |from: u32| got.iter().copied().filter(|n| n / 10 == from).collect::<Vec<_>>();
        assert_eq!((of(1), of(2), got.len()), (vec![10, 11], vec![20, 21], 4));
    });
}

/// Exactly one of the threads that would end a wait does: the first to push, or the one that
/// cancels the wait.
#[test]
fn a_wait_is_ended_once() {
    check(|| {
        let inbox = Arc::new(Inbox::default());
        assert!(inbox.park());
        let ends: Vec<_> = (0..3)
            .map(|n| {
                let inbox = inbox.clone();
                move || match n {
                    0 => inbox.unpark(),
                    _ => matches!(inbox.push(InboxNode::new(n)), Push::WasParked),
                }
            })
            .collect();
        let [a, b, c] = ends.try_into().unwrap_or_else(|_| panic!());
        let threads = [thread::spawn(a), thread::spawn(b)];
        let mut ended = c() as u32;
        ended += threads.map(|t| t.join().unwrap() as u32).iter().sum::<u32>();
        assert_eq!(ended, 1);
        assert_eq!(inbox.take(|_| ()).count(), 2);
    });
}

/// An item that is pushed while the inbox closes is in the result of closing, or is returned.
#[test]
fn closing_leaves_nothing_behind() {
    check(|| {
        let inbox = Arc::new(Inbox::default());
        let pushers = [1, 2].map(|n| {
            let inbox = inbox.clone();
            thread::spawn(move || match inbox.push(InboxNode::new(Item::new(n))) {
                Push::Closed(node) => Some(node.into_item().get()),
                _ => None,
            })
        });
        let mut all: Vec<u32> = inbox.close().map(|i| i.get()).collect();
        all.extend(pushers.into_iter().filter_map(|t| t.join().unwrap()));
        all.sort();
        assert_eq!(all, [1, 2]);
        assert!(inbox.is_empty() && inbox.is_closed());
    });
}

// ---- tasks ----

struct Shared;
impl Numbered for Shared {
    fn number(&self) -> u32 {
        1
    }
}
/// The private part: loom detects two threads that touch it at once.
struct Private {
    me: SelfHandle<Shared, Private, u32>,
    sum: Cell<u32>,
    ended: Arc<Mutex<u32>>,
}
type Run = RunToken<Shared, Private, u32>;

/// The sum when everything has arrived.
const ALL: u32 = 7;

/// Runs a task until it waits or has received everything.
fn run(mut run_token: Run) {
    loop {
        let p = run_token.private();
        for n in p.me.take(|_| ()) {
            p.sum.set(p.sum.get() + n);
        }
        if p.sum.get() == ALL {
            *p.ended.lock().unwrap() += 1;
            return run_token.finish();
        }
        match run_token.park() {
            Some(t) => run_token = t,
            None => return,
        }
    }
}

/// A task that is sent 1, 2 and 4 by several threads, each of which runs it if it ends its wait.
fn sent_to_by(senders: &'static [&'static [u32]], woken_once_more: bool) {
    let ended = Arc::new(Mutex::new(0));
    let note = ended.clone();
    let run_token: Run =
        Task::start(Shared, |me, _| Private { me, sum: Cell::new(0), ended: note });
    let task = run_token.task().clone();
    let mut threads: Vec<_> = senders
        .iter()
        .map(|items| {
            let task = task.clone();
            thread::spawn(move || {
                for n in *items {
                    if let Pushed::Woken(t) = task.send(*n) {
                        run(t);
                    }
                }
            })
        })
        .collect();
    if woken_once_more {
        let task = task.clone();
        threads.push(thread::spawn(move || {
            if let Some(t) = task.unpark() {
                run(t);
            }
        }));
    }
    run(run_token);
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*ended.lock().unwrap(), 1);
    assert!(matches!(task.send(1), Pushed::Closed(1)));
    assert_eq!(std::sync::Arc::strong_count(&task), 1);
}

#[test]
fn a_task_is_run_by_one_at_a_time_and_no_wake_up_is_lost() {
    check(|| sent_to_by(&[&[1, 2], &[4]], false));
}

#[test]
fn a_task_may_be_woken_without_an_item() {
    check(|| sent_to_by(&[&[3, 4]], true));
}

/// An item sent to a task that ends is there when it closes, is returned, or makes the sender run
/// the task.
#[test]
fn a_task_that_ends_answers_for_all_it_was_sent() {
    check(|| {
        let ended = Arc::new(Mutex::new(0));
        let note = ended.clone();
        let run_token: Run =
            Task::start(Shared, |me, _| Private { me, sum: Cell::new(0), ended: note });
        let task = run_token.task().clone();
        // Adds up what was sent, and ends whatever the sum is.
        fn end(run_token: Run) {
            let p = run_token.private();
            p.sum.set(p.sum.get() + p.me.take(|_| ()).sum::<u32>());
            p.sum.set(p.sum.get() + run_token.close().sum::<u32>());
            let p = run_token.private();
            *p.ended.lock().unwrap() += p.sum.get();
            run_token.finish();
        }
        let senders = [1, 2].map(|n| {
            let task = task.clone();
            thread::spawn(move || match task.send(n) {
                Pushed::Closed(n) => n,
                Pushed::Woken(t) => {
                    end(t);
                    0
                }
                _ => 0,
            })
        });
        if let Some(t) = run_token.park() {
            end(t);
        }
        let back: u32 = senders.map(|s| s.join().unwrap()).iter().sum();
        assert_eq!(back + *ended.lock().unwrap(), 3);
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}

/// A task that takes all its items, handles one in a time slice, and keeps the others.
struct Slow {
    me: SelfHandle<Shared, Slow, u32>,
    rest: Chain<u32>,
    /// The last item of each sender. Loom detects two threads that touch it at once.
    last: [Cell<u32>; 2],
    ended: Arc<Mutex<u32>>,
}
type RunSlow = RunToken<Shared, Slow, u32>;

/// A task without items, and a counter of ended tasks.
fn start_slow() -> (RunSlow, Arc<Mutex<u32>>) {
    let ended = Arc::new(Mutex::new(0));
    let note = ended.clone();
    let run_token = Task::start(Shared, |me, _| Slow {
        me,
        rest: Chain::default(),
        last: [Cell::new(0), Cell::new(0)],
        ended: note,
    });
    (run_token, ended)
}

/// The items: the tens name the sender, the ones count.
const FROM: [&[u32]; 2] = [&[1, 2], &[11]];

fn run_slow(mut run_token: RunSlow) {
    loop {
        let p = run_token.private_mut();
        if p.rest.is_empty() {
            p.rest = p.me.take(|_| ());
        }
        if let Some(n) = p.rest.next() {
            let last = &p.last[n as usize / 10];
            assert_eq!(last.get() + 1, n % 10, "a sender's order");
            last.set(n % 10);
        }
        if p.last[0].get() == 2 && p.last[1].get() == 1 {
            *p.ended.lock().unwrap() += 1;
            return run_token.finish();
        }
        // With items left it must not wait: no push would wake it for those.
        if p.rest.is_empty() {
            match run_token.park() {
                Some(t) => run_token = t,
                None => return,
            }
        }
    }
}

#[test]
fn what_is_kept_of_a_chain_goes_before_what_comes() {
    check(|| {
        let (run_token, ended) = start_slow();
        let task = run_token.task().clone();
        let senders = FROM.map(|items| {
            let task = task.clone();
            thread::spawn(move || {
                for n in items {
                    if let Pushed::Woken(t) = task.send(*n) {
                        run_slow(t);
                    }
                }
            })
        });
        run_slow(run_token);
        senders.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(*ended.lock().unwrap(), 1);
    });
}

// ---- one thread that changes inboxes ----

/// A scheduler whose thread alone changes inboxes: other threads hand over what they have to send,
/// in order for each sender, and wake the scheduler if it sleeps.
#[test]
fn the_one_thread_sends_what_others_hand_over() {
    check(|| {
        assert!(single_threaded::reserve());
        let (run_token, ended) = start_slow();
        let task = run_token.task().clone();
        let all = Arc::new((Inbox::default(), Parker::default(), Notify::new()));
        let other = {
            let (task, all) = (task.clone(), all.clone());
            thread::spawn(move || {
                for n in FROM[0] {
                    let Pushed::Elsewhere(n) = task.send(*n) else { panic!("not its to change") };
                    assert!(task.unpark().is_none());
                    assert!(sent(all.0.push(InboxNode::new(n))));
                    if all.1.must_wake() {
                        all.2.notify();
                    }
                }
            })
        };
        assert!(single_threaded::claim() && !single_threaded::claim());
        let send = |n| {
            if let Pushed::Woken(t) = task.send(n) {
                run_slow(t);
            }
        };
        run_slow(run_token);
        FROM[1].iter().copied().for_each(send);
        let (inbox, parker, bell) = &*all;
        while *ended.lock().unwrap() == 0 {
            inbox.take(|_| ()).for_each(send);
            if *ended.lock().unwrap() == 1 {
                break;
            }
            parker.sleeps();
            if inbox.is_empty() {
                bell.wait();
            }
            parker.is_up();
        }
        other.join().unwrap();
        assert!(matches!(task.send(1), Pushed::Closed(1)));
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}

// ---- sleeping threads ----

/// A scheduler without work sleeps; threads that give it work wake it.
#[test]
fn no_sleeper_is_forgotten() {
    check(|| {
        let all = Arc::new((Inbox::default(), Parker::default(), Notify::new()));
        let givers = [1, 2].map(|n| {
            let all = all.clone();
            thread::spawn(move || {
                assert!(sent(all.0.push(InboxNode::new(n))));
                if all.1.must_wake() {
                    all.2.notify();
                }
            })
        });
        let (inbox, parker, bell) = &*all;
        let mut sum = 0;
        while sum < 3 {
            sum += inbox.take(|_| ()).sum::<u32>();
            if sum == 3 {
                break;
            }
            parker.sleeps();
            if inbox.is_empty() {
                bell.wait();
            }
            parker.is_up();
        }
        givers.into_iter().for_each(|t| t.join().unwrap());
    });
}

/// The number of sleeping threads, decremented by whichever thread clears the mark, stays correct.
#[test]
fn one_takes_back_that_a_thread_sleeps() {
    check(|| {
        let parker = Arc::new(Parker::default());
        parker.sleeps();
        let others = [0, 1].map(|_| {
            let parker = parker.clone();
            thread::spawn(move || parker.must_wake() as u32)
        });
        let own = parker.is_up() as u32;
        let all = own + others.map(|t| t.join().unwrap()).iter().sum::<u32>();
        assert_eq!(all, 1);
        assert!(!parker.is_asleep());
    });
}

#[test]
fn spin_lock_holder_sees_the_previous_holders_writes() {
    check(|| {
        let spin_lock = Arc::new(SpinLock::<Option<Item>>::default());
        *spin_lock.lock() = Some(Item::new(0));
        let other = spin_lock.clone();
        let add = |l: &SpinLock<Option<Item>>| {
            let held = l.try_lock();
            if let Some(n) = held.iter().find_map(|h| h.as_ref()) {
                n.0.set(n.get() + 1);
            }
            held.is_some() as u32
        };
        let t = thread::spawn(move || add(&other));
        let times = add(&spin_lock) + add(&spin_lock) + t.join().unwrap();
        assert_eq!(spin_lock.lock().as_ref().map(Item::get), Some(times));
        assert!(times > 0);
    });
}

/// A reader by a slot and a writer are never in at the same time, and each sees what the one before
/// has done.
#[test]
fn a_biased_reader_excludes_the_writer() {
    check(|| {
        let (bias, slot) = (Bias::default(), Slot::new(std::ptr::null_mut()));
        bias.give();
        let shared = Arc::new((bias, slot, Item::new(1)));
        let reader = shared.clone();
        let reader = thread::spawn(move || {
            let (bias, slot, value) = &*reader;
            for _ in 0..2 {
                if bias.enter(slot) {
                    assert_eq!(value.get(), 1);
                    leave(slot);
                }
            }
        });
        let (bias, slot, value) = &*shared;
        bias.take_away(std::iter::once(slot), thread::yield_now);
        value.0.set(2);
        reader.join().unwrap();
    });
}
