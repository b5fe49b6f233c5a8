//! Two VMs run processes side by side, one with one scheduler and one with two: names, messages and
//! timers are isolated.
#![forbid(unsafe_code)]

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::OnceLock;
use std::time::Duration;

use kvik_heap::roots::Root;
use kvik_heap::OwnedTerm;
use kvik_heap::Regs;
use kvik_proc::process::flag;
use kvik_proc::signal::{post, RefId};
use kvik_proc::spawn::{spawn, SpawnOptions};
use kvik_proc::{clock, hooks, process, registry, sched, set_hooks, timer};
use kvik_proc::{CurrentTask, Hooks, Peek, Proc, SliceEnd};
use kvik_state::{vm_state, Vm};
use kvik_term::{am, Atom, Term};

vm_state! {
    /// Receives the numbers that the VM's server got.
    static HEARD: OnceLock<Sender<i64>> = OnceLock::new();
}

/// Reports the numbers received, and ends with any other message.
fn run(stage: &CurrentTask, _: &Regs) -> SliceEnd {
    stage.with(serve).unwrap_or(SliceEnd::Exit)
}
fn serve(p: &Proc) -> SliceEnd {
    loop {
        let m = match p.peek() {
            Peek::Message(m) => m,
            Peek::Collect(_) => {
                p.set_flag(flag::COLLECT, true);
                return SliceEnd::Yield;
            }
            Peek::Later => return SliceEnd::Yield,
            Peek::Nothing => break,
        };
        p.heap.bump_reductions(2);
        p.remove_message();
        let Some(n) = m.as_small() else {
            p.heap.set_root(Root::ExcValue, am::normal.into());
            return SliceEnd::Exit;
        };
        HEARD.get().unwrap().send(n).unwrap();
        if p.out_of_reductions() {
            return SliceEnd::Yield;
        }
    }
    p.wait();
    SliceEnd::Wait
}

fn server() -> Atom {
    Atom::intern("server").unwrap()
}
fn pid() -> u32 {
    registry::whereis_process(server()).unwrap()
}

/// Starts a server and schedulers.
fn start(schedulers: usize) -> Receiver<i64> {
    let (tx, rx) = channel();
    HEARD.set(tx).unwrap();
    assert!(set_hooks(Hooks { run, ..hooks::DEFAULT }));
    let config = sched::SchedulerConfig { schedulers, spin_us: 0 };
    sched::prepare(&config);
    let options = SpawnOptions::default();
    let p = spawn(None, am::erlang, am::apply, Term::NIL, options).unwrap();
    assert!(registry::register(server(), Term::local_pid(p.pid)));
    p.go();
    // From here on, only the first VM's single scheduler changes its tables.
    sched::start(&config).unwrap();
    rx
}
fn next(rx: &Receiver<i64>) -> i64 {
    rx.recv_timeout(Duration::from_secs(60)).expect("in time")
}

#[test]
fn processes_of_two_vms_do_not_meet() {
    const MESSAGES: i64 = 10_000;
    let vms = [Vm::new(), Vm::new()];
    let heard: Vec<_> = vms.iter().zip(1..).map(|(vm, n)| vm.enter(|| start(n))).collect();
    for (vm, n) in vms.iter().zip(1..) {
        assert_eq!(vm.enter(|| (sched::all().len(), process::table().count())), (n, 1));
    }
    // Concurrently, to servers with the same pid and name.
    std::thread::scope(|s| {
        for (vm, base) in vms.iter().zip([0, MESSAGES]) {
            let send = move || {
                (base..base + MESSAGES).for_each(|i| assert!(post(pid(), |h| h.integer(i))))
            };
            s.spawn(move || vm.enter(send));
        }
    });
    for (rx, base) in heard.iter().zip([0, MESSAGES]) {
        (base..base + MESSAGES).for_each(|i| assert_eq!(next(rx), i));
    }
    // A timer of the first VM fires only there.
    vms[0].enter(|| {
        let deadline = timer::At::deadline(clock::now() + 10_000_000);
        let message = OwnedTerm::immediate(Term::int(-1));
        let dest = timer::Dest::Process(pid());
        timer::start(RefId::next(), timer::Timer { deadline, dest, message, wrap: false });
    });
    assert_eq!(next(&heard[0]), -1);
    vms[1].enter(|| post(pid(), |_| Term::int(-2)));
    assert_eq!(next(&heard[1]), -2);
    // The end of one VM leaves the other running.
    vms[0].enter(|| {
        post(pid(), |_| am::stop.into());
        while process::table().count() > 0 {
            std::thread::yield_now();
        }
        sched::stop();
    });
    vms[1].enter(|| post(pid(), |_| Term::int(-3)));
    assert_eq!(next(&heard[1]), -3);
    vms[1].enter(sched::stop);
}
