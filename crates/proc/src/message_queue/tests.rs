//! The queue against a model, a plain list. A process is sent messages by every path, while it is
//! parked, queued or running, and receives them in every way; it must see the list, in order, but
//! for priority messages, which come first once they are received.

mod sends;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kvik_heap::Heap;
use kvik_sync::task::ThreadId;
use kvik_term::Term;

use super::Peek;
use crate::process::{flag, Priority, Pushed, QueuedToken, RunToken, Shared, Task};
use crate::signal_types::{Control, RefId, Signal};
use crate::Proc;

const ROUNDS: u64 = 60;
const STEPS: usize = 2_000;
/// Queue length above which more is received than sent; changes with each phase.
const LIMITS: [usize; 5] = [0, 1, 3, 20, 120];
const STEPS_PER_PHASE: usize = 100;
const PID: u32 = 5;
const SENDER: u32 = 6;
const ALIAS: RefId = RefId([1, 1, 1]);

/// Which paths must have been taken for the test to count, and how often.
const TIMES: u32 = 5;
const PATHS: [&str; 21] = [
    "parked: first message",
    "parked: first message beside the heap",
    "parked: borrowed message",
    "parked: mailbox",
    "parked: stamped",
    "parked: to an alias",
    "queued: first message",
    "signal handled early",
    "inbox",
    "backlog left for the next turn",
    "waits with a backlog",
    "looked at",
    "behind a marker",
    "collection before a message",
    "first message taken",
    "borrowed message taken",
    "timed out",
    "timed out before a message",
    "sat out",
    "priority message looked at",
    "priority message during a receive",
];

struct Random(u64);
impl Random {
    fn below(&mut self, n: u64) -> u64 {
        // The constants of SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Each message is a tuple with its number at the end, possibly nested in another tuple.
fn number(t: Term<'_>) -> i64 {
    match t.as_tuple() {
        Some(t) => number(*t.elements().last().expect("an element")),
        None => t.as_small().expect("a number"),
    }
}
fn body<'h>(h: &'h Heap, words: usize, n: i64) -> Term<'h> {
    let load = match words {
        0 => h.binary(&[7; 100]),
        w => h.list(&vec![Term::NIL; w / 2]),
    };
    h.tuple(&[load, Term::int(n as i32)])
}
/// Leaves at most `room` words in the heap's block.
fn fill(h: &Heap, room: usize) {
    while h.room() > room {
        h.tuple(&[Term::NIL; 3]);
    }
}
/// The number of the message that a signal is or becomes.
fn message_of(s: &Signal) -> Option<i64> {
    let m = match s {
        Signal::Message(m) => m,
        Signal::Control(c) => match &**c {
            Control::AliasMessage { message, .. }
            | Control::PriorityMessage { message, .. }
            | Control::MessageFrom { message, .. }
            | Control::MessageOf { message, .. }
            | Control::Stamped { message, .. } => message,
            Control::Exit { reason, .. } | Control::Down { reason, .. } => reason,
            _ => return None,
        },
        _ => return None,
    };
    Some(number(m.term()))
}

/// Where the process's run token is.
enum State {
    Parked,
    Queued(QueuedToken),
    Running(RunToken),
}

/// The receive that the process is in.
struct Receive {
    /// The message it waits for; none for any.
    wants: Option<i64>,
    /// Messages below this may be skipped, as a marker lies after them.
    marked: i64,
    /// The messages that were examined.
    examined: BTreeSet<i64>,
}

impl Receive {
    fn new(wants: Option<i64>, marked: i64) -> Receive {
        Receive { wants, marked, examined: BTreeSet::new() }
    }
}

/// The received messages of a process, in their order.
fn received(p: &Proc) -> Vec<i64> {
    let mut all = Vec::new();
    p.each_message(|t| all.push(number(t)));
    all
}

struct Bench {
    random: Random,
    here: ThreadId,
    task: Arc<Task>,
    state: State,
    /// The model: what was sent and not taken, in the order it was sent.
    list: Vec<i64>,
    /// Those that are priority messages.
    urgent: BTreeSet<i64>,
    next: i64,
    receive: Option<Receive>,
    marker: Option<(RefId, i64)>,
    suspended: bool,
    limit: usize,
    /// In this phase the process has settings and tokens that keep messages off the heap.
    unusual: bool,
    /// How often each path was taken.
    count: Count,
}
type Count = BTreeMap<&'static str, u32>;

impl Bench {
    fn new(seed: u64) -> Bench {
        let make = |me, room| Proc::with(PID, Heap::within(room, 23), Some(me));
        let run_token = Task::start(Shared::new(PID, Priority::Normal), make);
        let p = run_token.private();
        p.set_flag(flag::TRAP_EXIT, true);
        p.heap.set_reductions(4000);
        p.with_cold(|x| x.aliases.insert(ALIAS, false));
        p.prioritize_alias(ALIAS);
        Bench {
            random: Random(seed),
            here: ThreadId::new(),
            task: run_token.task().clone(),
            state: State::Running(run_token),
            list: Vec::new(),
            urgent: BTreeSet::new(),
            next: 0,
            receive: None,
            marker: None,
            suspended: false,
            limit: 0,
            unusual: false,
            count: Count::new(),
        }
    }
    fn note(&mut self, what: &'static str) {
        *self.count.entry(what).or_default() += 1;
    }
    fn with_private<A>(&mut self, f: impl FnOnce(&Proc) -> A) -> A {
        match &self.state {
            State::Running(t) => f(t.private()),
            State::Queued(_) => self.task.with_queued_any(self.here, f).expect("it rests here"),
            State::Parked => {
                let t = self.task.unpark().expect("it is parked");
                let a = f(t.private());
                self.park(t);
                a
            }
        }
    }
    fn queue(&mut self, t: RunToken) {
        self.state = State::Queued(QueuedToken::new(t, self.here));
    }
    fn park(&mut self, t: RunToken) {
        assert!(!t.private().has_pending(), "a process with a backlog is not parked");
        match t.park() {
            Some(t) => self.queue(t),
            None => self.state = State::Parked,
        }
    }
    fn push(&mut self, s: Signal) {
        match self.task.send(s) {
            Pushed::Woken(t) => self.queue(t),
            Pushed::Queued => (),
            Pushed::Closed(_) | Pushed::Elsewhere(_) => panic!("it is there"),
        }
    }
    fn new_number(&mut self) -> i64 {
        let n = self.next;
        self.next += 1;
        self.list.push(n);
        n
    }

    fn collect(&mut self, full: bool) {
        let State::Running(t) = &mut self.state else { return };
        if full {
            t.private().settle_messages();
        }
        t.private().note_collection();
        t.private_mut().heap.collect_parked(full);
    }
    /// The steps of a scheduler before it runs a process. False: the process has no time slice.
    fn run(&mut self) -> bool {
        for _ in 0..1_000 {
            let mut t = match std::mem::replace(&mut self.state, State::Parked) {
                State::Queued(rest) => rest.take(),
                State::Parked => return false,
                running => {
                    self.state = running;
                    return true;
                }
            };
            let turn = 1 + self.random.below(40) as i64;
            let p = t.private();
            p.heap.set_reductions(turn);
            if p.has_signals() {
                p.handle_first_signals();
            }
            if p.take_full_gc() {
                t.private_mut().heap.collect_parked(true);
            }
            let p = t.private();
            if p.flag(flag::WAITING) && p.can_go_on() {
                p.set_flag(flag::WAITING, false);
            }
            let sits_out = p.has_sat_out() && !p.flag(flag::WAITING);
            if sits_out || p.flag(flag::WAITING | flag::SUSPENDED) && p.has_pending() {
                self.note(if sits_out { "sat out" } else { "waits with a backlog" });
                self.queue(t);
            } else if p.flag(flag::WAITING | flag::SUSPENDED) {
                self.park(t);
            } else {
                p.set_flag(flag::HIBERNATING, false);
                self.state = State::Running(t);
                return true;
            }
        }
        panic!("it gets no turn");
    }
    /// The time slice ends; the process is still runnable.
    fn stop(&mut self) {
        match std::mem::replace(&mut self.state, State::Parked) {
            State::Running(t) => self.queue(t),
            other => self.state = other,
        }
    }
    /// The time slice ends; the process waits.
    fn wait(&mut self) {
        let State::Running(mut t) = std::mem::replace(&mut self.state, State::Parked) else {
            panic!("it does not run")
        };
        if t.private().flag(flag::SPARE_MAILBOX) {
            t.private_mut().drop_spare_mailbox();
        }
        let p = t.private();
        if p.is_hibernating() && p.can_go_on() {
            p.set_flag(flag::WAITING, false);
            return self.queue(t);
        }
        match p.has_pending() || p.has_chores() {
            true => self.queue(t),
            false => self.park(t),
        }
    }
    fn private(&self) -> &Proc {
        match &self.state {
            State::Running(t) => t.private(),
            _ => panic!("it does not run"),
        }
    }

    fn begin_receive(&mut self) {
        let at = self.random.below(self.list.len() as u64 * 5 / 4 + 1) as usize;
        let wants = self.list.get(at).copied().unwrap_or(i64::MAX);
        let any = self.random.below(8) < if self.limit < 5 { 7 } else { 4 };
        let wants = if any { None } else { Some(wants) };
        let mut receive = Receive::new(wants, i64::MIN);
        if let Some((id, from)) = self.marker.filter(|_| self.random.one_in(2)) {
            let p = self.private();
            p.marker_use(id.term(&p.heap));
            let later = self.list.iter().copied().find(|n| *n >= from);
            receive = Receive::new(later.or(Some(i64::MAX)), from);
        }
        self.receive = Some(receive);
    }
    /// Examines messages as native code does, until one is taken, the process has to wait, or its
    /// time slice is over.
    fn go_on_receiving(&mut self) {
        loop {
            let p = self.private();
            let n = match p.peek() {
                Peek::Message(t) => number(t),
                Peek::Collect(_) => {
                    self.note("collection before a message");
                    self.collect(false);
                    continue;
                }
                Peek::Later => {
                    self.note("backlog left for the next turn");
                    return self.stop();
                }
                Peek::Nothing => return self.found_nothing(),
            };
            if self.look_at(n) {
                return;
            }
            match self.random.below(60) {
                0 => return self.stop(),
                1 => self.send_any(),
                2 => self.collect(false),
                3 => self.private().keep_message(),
                _ => (),
            }
        }
    }
    /// Whether that message is the next one, and the one wanted.
    fn look_at(&mut self, n: i64) -> bool {
        let received = received(self.private());
        let r = self.receive.as_mut().expect("it receives");
        let before = received.iter().take_while(|m| **m != n);
        let passed: Vec<_> = before.filter(|m| !r.examined.contains(m)).collect();
        assert!(passed.iter().all(|m| **m < r.marked), "{n} before {passed:?}");
        assert!(r.examined.insert(n), "message {n} for the second time");
        let later =
            received.iter().skip_while(|m| **m != n).any(|m| r.examined.contains(m) && *m != n);
        self.note(if passed.is_empty() { "looked at" } else { "behind a marker" });
        if self.urgent.contains(&n) {
            self.note(match later {
                true => "priority message during a receive",
                false => "priority message looked at",
            });
        }
        let r = self.receive.as_ref().expect("it receives");
        let matches = r.wants.is_none_or(|w| w == n);
        let p = self.private();
        if !matches {
            p.skip();
            return false;
        }
        let first = p.heap.message().is_some();
        if first {
            // Native code does so.
            p.heap.take_message();
            p.deadline.set(0);
            p.set_flag(flag::RECEIVING, false);
        } else {
            p.remove_message();
        }
        self.note(if first { "first message taken" } else { "borrowed message taken" });
        self.receive = None;
        self.list.retain(|m| *m != n);
        self.urgent.remove(&n);
        true
    }
    fn found_nothing(&mut self) {
        let then = self.random.below(5);
        let r = self.receive.as_ref().expect("it receives");
        let left: Vec<_> = self.list.iter().filter(|n| !r.examined.contains(n)).collect();
        let p = self.private();
        if p.flag(flag::TIMED_OUT) {
            p.timeout();
            self.note(if left.is_empty() { "timed out" } else { "timed out before a message" });
            self.receive = None;
            return;
        }
        assert!(left.iter().all(|n| **n < r.marked), "{left:?} were not looked at");
        match then {
            0 => {
                p.timeout();
                self.receive = None;
                return;
            }
            // The deadline has passed at once, but the process must be told.
            1 => p.deadline.set(1),
            _ => p.deadline.set(u64::MAX),
        }
        if then == 2 {
            fill(&p.heap, 4);
        }
        if self.random.one_in(4) {
            self.send_any();
        }
        let p = self.private();
        p.wait();
        assert_eq!(p.fetched_count(), p.message_count());
        self.wait();
    }

    /// Operations on the queue other than receiving.
    fn other_step(&mut self) {
        let k = self.random.below(12);
        let fills = 4 + self.random.below(70) as usize;
        let marker = if k == 0 { self.marker.take() } else { None };
        let unusual = self.unusual;
        let p = self.private();
        match k {
            0 => p.marker_clear(marker.map_or(Term::NIL, |m| m.0.term(&p.heap))),
            1..4 => {
                let id = RefId([8, self.next as u32, 0]);
                p.marker_bind(p.marker_reserve(), id.term(&p.heap));
                self.marker = Some((id, self.next));
            }
            4 if unusual => drop(p.set_flag(flag::OFF_HEAP_QUEUE, !p.flag(flag::OFF_HEAP_QUEUE))),
            5 if unusual => drop(p.set_save_calls(if p.flag(flag::SAVES_CALLS) { 0 } else { 3 })),
            4..7 => self.collect(true),
            7 => p.ask_for_gc(fills > 40),
            8..10 => {
                fill(&p.heap, fills);
            }
            10 => {
                p.handle_all_signals();
                assert_eq!(p.message_count(), self.list.len());
                p.fetch_signals();
                assert_eq!(p.fetched_count(), self.list.len());
                p.reset_seq();
            }
            _ => {
                p.wait_in_hibernation();
                self.wait();
            }
        }
    }
    fn begin_phase(&mut self) {
        self.limit = LIMITS[self.random.below(LIMITS.len() as u64) as usize];
        self.unusual = self.random.one_in(3);
        self.resume();
        if self.run() {
            let p = self.private();
            p.set_flag(flag::OFF_HEAP_QUEUE, false);
            p.set_save_calls(0);
            p.handle_all_signals();
            p.reset_seq();
        }
        self.drain();
    }
    /// Receives all messages.
    fn drain(&mut self) {
        while !self.list.is_empty() {
            if !self.run() {
                self.resume();
                self.send(2, false);
                continue;
            }
            if self.receive.take().is_some() {
                self.private().timeout();
            }
            self.receive = Some(Receive::new(None, i64::MIN));
            self.go_on_receiving();
        }
    }
    fn step(&mut self) {
        let receives = if self.list.len() > self.limit { 7 } else { 3 };
        if self.random.below(8) >= receives {
            return self.send_any();
        }
        if !self.run() {
            self.resume();
            return self.send(2, false);
        }
        if self.receive.is_some() {
            self.go_on_receiving();
        } else if self.random.one_in(6) {
            self.other_step();
        } else {
            self.begin_receive();
            self.go_on_receiving();
        }
        if self.random.one_in(3) {
            self.stop();
        }
    }
    /// All places together must equal the list.
    fn check(&mut self) {
        let (received, seen) = self.with_private(|p| {
            let received = received(p);
            assert_eq!(p.message_count(), received.len());
            assert!(p.fetched_count() <= received.len());
            let mut seen = Vec::new();
            if let Some(kept) = p.messages().existing() {
                seen.extend(kept.backlog.iter().filter_map(message_of));
            }
            let arrived = RefCell::new(Vec::new());
            p.messages().arrivals_are_all(usize::MAX, |s| {
                arrived.borrow_mut().extend(message_of(s));
                true
            });
            seen.extend(arrived.into_inner().into_iter().rev());
            (received, seen)
        });
        let (handled, sent) = self.list.split_at(received.len());
        assert_eq!(seen, sent);
        let (mut first, others): (Vec<i64>, Vec<i64>) =
            handled.iter().partition(|n| self.urgent.contains(n));
        first.extend(others);
        assert_eq!(received, first);
    }
    fn end(mut self) -> Count {
        self.resume();
        while !self.run() {
            self.send(2, false);
        }
        let p = self.private();
        p.set_save_calls(0);
        p.forget_seq();
        if let State::Running(t) = self.state {
            t.finish();
        }
        self.count
    }
}

#[test]
fn every_place_and_move_keeps_the_order_of_a_plain_list() {
    let mut count = Count::new();
    for seed in 0..ROUNDS {
        let mut b = Bench::new(seed);
        for step in 0..STEPS {
            if step % STEPS_PER_PHASE == 0 {
                b.begin_phase();
            }
            b.step();
            if b.list.len() < 20 || step % 8 == 0 {
                b.check();
            }
        }
        b.end().into_iter().for_each(|(what, n)| *count.entry(what).or_default() += n);
    }
    for what in PATHS {
        assert!(count.get(what).is_some_and(|n| *n >= TIMES), "{what}: {count:?}");
    }
}
