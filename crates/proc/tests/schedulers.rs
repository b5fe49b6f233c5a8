//! Several processes under schedulers, with Rust functions in place of native code.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, Once};
use std::time::Duration;

use kvik_heap::roots::Root;
use kvik_heap::{OwnedTerm, Regs};
use kvik_proc::links_monitors::{Monitoring, Target};
use kvik_proc::process::flag;
use kvik_proc::signal::{control, post, Control, RefId};
use kvik_proc::spawn::{spawn, SpawnOptions};
use kvik_proc::{
    deliver, hooks, sched, set_hooks, timer, CurrentTask, Hooks, Peek, Proc, Signal, SliceEnd, Wait,
};
use kvik_term::{am, Atom, Term};

static OUT: Mutex<Option<Sender<String>>> = Mutex::new(None);
static TURNS: AtomicU64 = AtomicU64::new(0);

fn out(s: impl Into<String>) {
    let _ = OUT.lock().unwrap().as_ref().unwrap().send(s.into());
}

/// A process runs the code that its function's name selects.
fn run(current_task: &CurrentTask, _: &Regs) -> SliceEnd {
    current_task.with(act).unwrap()
}
fn act(p: &Proc) -> SliceEnd {
    TURNS.fetch_add(1, Ordering::Relaxed);
    match p.initial_call().1.name() {
        "pong" => serve(p, |p, m| {
            let [from, n] = m.as_tuple_n().unwrap();
            let _ = p.send(from, n);
            true
        }),
        "ping" => ping(p),
        "collector" => serve(p, |_, m| {
            out(show(m));
            !m.is_atom(am::stop)
        }),
        "sleeper" => match p.peek() {
            Peek::Message(_) => done(p),
            Peek::Collect(_) => collect(p),
            Peek::Later => SliceEnd::Yield,
            Peek::Nothing => match p.wait_timeout(Term::int(20)) {
                Wait::Wait => SliceEnd::Wait,
                Wait::TimedOut => {
                    p.timeout();
                    out("woke");
                    done(p)
                }
                Wait::BadTime => unreachable!(),
            },
        },
        "spin" => {
            p.heap.set_reductions(0);
            if p.is_exiting() {
                return SliceEnd::Wait;
            }
            SliceEnd::Yield
        }
        "watch" => watch(p),
        _ => done(p),
    }
}
fn done(p: &Proc) -> SliceEnd {
    p.heap.set_root(Root::ExcValue, am::normal.into());
    SliceEnd::Exit
}
/// Has the scheduler collect the process, and run it again.
fn collect(p: &Proc) -> SliceEnd {
    p.set_flag(flag::COLLECT, true);
    SliceEnd::Yield
}
fn show(m: Term<'_>) -> String {
    if let Some(a) = m.as_atom() {
        return a.name().into();
    }
    if let Some(n) = m.as_small() {
        return n.to_string();
    }
    m.as_tuple()
        .map_or("?".into(), |t| t.elements().iter().map(|e| show(*e)).collect::<Vec<_>>().join(" "))
}
/// Handles messages until `f` returns false.
fn serve(p: &Proc, f: impl for<'h> Fn(&'h Proc, Term<'h>) -> bool) -> SliceEnd {
    loop {
        let m = match p.peek() {
            Peek::Message(m) => m,
            Peek::Collect(_) => return collect(p),
            Peek::Later => return SliceEnd::Yield,
            Peek::Nothing => break,
        };
        p.heap.bump_reductions(2);
        p.remove_message();
        if !f(p, m) {
            return done(p);
        }
        if p.out_of_reductions() {
            return SliceEnd::Yield;
        }
    }
    p.wait();
    SliceEnd::Wait
}
/// Counts down against its partner; the numbers are in the dictionary.
fn ping(p: &Proc) -> SliceEnd {
    let partner = p.dict_get(am::connect.into());
    if partner.is_atom(am::undefined) {
        let to = Term::local_pid(named("pong"));
        p.dict_put(am::connect.into(), to);
        let _ = p.send(to, p.heap.tuple(&[p.self_pid(), Term::int(20_000)]));
    }
    loop {
        let m = match p.peek() {
            Peek::Message(m) => m,
            Peek::Collect(_) => return collect(p),
            Peek::Later => return SliceEnd::Yield,
            Peek::Nothing => break,
        };
        p.heap.bump_reductions(2);
        let n = m.as_small().unwrap();
        p.remove_message();
        if n == 0 {
            out("ping done");
            return done(p);
        }
        let to = Term::local_pid(named("pong"));
        let _ = p.send(to, p.heap.tuple(&[p.self_pid(), Term::int(n as i32 - 1)]));
        p.heap.ask_for_gc();
    }
    p.wait();
    SliceEnd::Wait
}
/// Monitors the process in its first message, links to it, and reports the messages that result.
fn watch(p: &Proc) -> SliceEnd {
    serve(p, |p, m| {
        if let Some(pid) = m.as_local_pid() {
            p.set_flag(flag::TRAP_EXIT, true);
            let target = Target::Process(pid);
            p.monitor(RefId::next(), Monitoring { target, tag: None, alias: None });
            assert!(p.link(Term::local_pid(pid)));
            p.send_exit(Term::local_pid(pid), am::killed.into());
            return true;
        }
        let t = m.as_tuple().unwrap();
        let e: Vec<_> = t.elements().iter().filter_map(|e| e.as_atom()).map(|a| a.name()).collect();
        out(e.join(" "));
        true
    })
}

static NAMES: Mutex<Vec<(&'static str, u32)>> = Mutex::new(Vec::new());
fn named(name: &str) -> u32 {
    NAMES.lock().unwrap().iter().find(|n| n.0 == name).unwrap().1
}
fn start(name: &'static str) -> u32 {
    let f = Atom::intern(name).unwrap();
    let s = spawn(None, am::erlang, f, Term::NIL, SpawnOptions::default()).unwrap();
    let pid = s.pid;
    NAMES.lock().unwrap().push((name, pid));
    s.go();
    pid
}
fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        assert!(set_hooks(Hooks { run, ..hooks::DEFAULT }));
        sched::start(&sched::SchedulerConfig { schedulers: 2, spin_us: 0 }).unwrap();
    });
}

#[test]
fn processes_talk_watch_and_wait() {
    set_up();
    let (tx, rx) = channel();
    *OUT.lock().unwrap() = Some(tx);
    let next = || rx.recv_timeout(Duration::from_secs(10)).expect("in time");

    start("pong");
    start("ping");
    assert_eq!(next(), "ping done");

    let c = start("collector");
    for i in 0..100 {
        post(c, |h| h.tuple(&[am::data.into(), Term::int(i)]));
    }
    for i in 0..100 {
        assert_eq!(next(), format!("data {i}"));
    }
    let deadline = timer::At::deadline(kvik_proc::clock::now() + 10_000_000);
    let message = OwnedTerm::immediate(Term::atom(am::timeout));
    let id = RefId::next();
    timer::start(
        id,
        timer::Timer { deadline, dest: timer::Dest::Process(c), message, wrap: false },
    );
    assert_eq!(next(), "timeout");

    start("sleeper");
    assert_eq!(next(), "woke");

    let w = start("watch");
    let victim = start("spin");
    post(w, |_| Term::local_pid(victim));
    let mut heard = [next(), next()];
    heard.sort();
    assert_eq!(heard, ["DOWN process killed", "EXIT killed"]);

    // More signals than a time slice handles: handling is interrupted, and their order is kept.
    const MANY: i32 = 20_000;
    let busy =
        || deliver(c, Signal::Run(Box::new(|_| std::thread::sleep(Duration::from_millis(50)))));
    busy();
    let seen = many_signals(c, MANY);
    let seen: Vec<_> = seen.into_iter().map(|reds| reds.expect("it is there")).collect();
    assert!(seen.windows(2).filter(|w| w[0] != w[1]).count() > 2, "several turns");
    (0..MANY).step_by(1000).for_each(|i| assert_eq!(next(), i.to_string()));

    // Signals after its end are answered, in order too.
    busy();
    let from = OwnedTerm::immediate(Term::local_pid(w));
    let reason = OwnedTerm::immediate(am::killed.into());
    control(c, Control::Exit { from, linked: false, reason, token: None });
    let seen = many_signals(c, MANY);
    assert!(seen.iter().all(Option::is_none));
}
/// Sends a process many signals that report how many reductions it had used when they were handled,
/// and a message now and then.
fn many_signals(to: u32, n: i32) -> Vec<Option<u64>> {
    let (tx, rx) = channel();
    for i in 0..n {
        let tx = tx.clone();
        let say = move |p: Option<&Proc>| tx.send((i, p.map(Proc::reductions))).unwrap();
        deliver(to, Signal::Run(Box::new(say)));
        if i % 1000 == 0 {
            post(to, |_| Term::int(i));
        }
    }
    drop(tx);
    let seen: Vec<_> = rx.iter().collect();
    assert!(seen.iter().map(|s| s.0).eq(0..n), "in order");
    seen.into_iter().map(|s| s.1).collect()
}
