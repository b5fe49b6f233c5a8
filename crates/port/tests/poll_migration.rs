//! Migration of programs' inputs between two poll sets, which one thread serves.

mod common;

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use common::{get, mail};
use kvik_env::cpu_affinity::CpuSet;
use kvik_port::{check_io, poll, Command, Port, PortOptions, PortTarget};

/// Programs per set: enough that one wait brings more events than allow pinning.
const EACH: usize = 12;

/// Serves each set on its CPU, as by a scheduler that has other work. Returns the number of events
/// of each.
fn serve(at: &[CpuSet; 2]) -> [usize; 2] {
    [0, 1].map(|set| {
        at[set].keep(0).unwrap();
        check_io(set, Some(Duration::ZERO), &mut || ())
    })
}
fn sleeps(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") S ")
}
fn descriptors() -> [usize; 2] {
    let all = poll::sizes();
    [all[0].descriptors, all[1].descriptors]
}

#[test]
fn answers_are_polled_by_the_scheduler_on_the_programs_cpu() {
    mail();
    poll::init(2).unwrap();
    let all = CpuSet::of(0).unwrap();
    let mut each = all.each();
    let (Some(first), Some(second)) = (each.next(), each.next()) else { return };
    let at = [first, second];
    let before = descriptors();
    let o = PortOptions { read: true, write: true, binary: true, ..PortOptions::default() };
    let ports: Vec<_> = (0..2 * EACH)
        .map(|_| Port::open(1, &PortTarget::Spawn(b"cat".to_vec()), &o, |_, _| ()).unwrap())
        .collect();
    let pids: Vec<_> = ports.iter().map(|p| p.info().unwrap().os_pid.unwrap()).collect();
    pids.iter().for_each(|pid| second.keep(*pid).unwrap());
    // Once a program has begun, its input and its pidfd are in its set.
    let in_sets = |n: [usize; 2]| descriptors() == [before[0] + n[0], before[1] + n[1]];
    while !in_sets([2 * EACH, 2 * EACH]) {
        sleep(Duration::from_millis(1));
        serve(&at);
    }
    let exchange = || {
        for p in &ports {
            assert_eq!(p.command(1, b"x", false), Command::Done);
        }
        // A woken program sleeps again only when it has answered.
        while !pids.iter().all(|pid| sleeps(*pid)) {
            sleep(Duration::from_millis(1));
        }
        let heard = serve(&at);
        assert_eq!(get(1, 2 * EACH).len(), 2 * EACH);
        heard
    };
    // By the second answer each program's CPU is known: the second one, for all.
    exchange();
    assert!(in_sets([2 * EACH, 2 * EACH]));
    exchange();
    assert!(in_sets([EACH, 3 * EACH]));
    for _ in 0..20 {
        assert_eq!(exchange(), [0, 2 * EACH]);
    }
    assert!(ports.iter().all(|p| p.close(1)));
    all.keep(0).unwrap();
}
