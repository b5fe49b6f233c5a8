//! Where the answers of programs are waited for, with two poll sets served by one thread.

mod common;

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use common::{get, mail};
use kvik_env::place::Processors;
use kvik_port::{check_io, poll, Command, Options, Port, What};

/// So many that more are heard of at once than are kept beside their scheduler.
const EACH: usize = 12;

/// Each set is served on its processor, as by a scheduler that has other things to do; how many
/// events there were.
fn serve(at: &[Processors; 2]) -> [usize; 2] {
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
fn answers_are_heard_where_the_programs_run() {
    mail();
    poll::init(2).unwrap();
    let all = Processors::of(0).unwrap();
    let mut each = all.each();
    let (Some(first), Some(second)) = (each.next(), each.next()) else { return };
    let at = [first, second];
    let before = descriptors();
    let o = Options { read: true, write: true, binary: true, ..Options::default() };
    let ports: Vec<_> = (0..2 * EACH)
        .map(|_| Port::open(1, &What::Spawn(b"cat".to_vec()), &o, |_, _| ()).unwrap())
        .collect();
    let pids: Vec<_> = ports.iter().map(|p| p.info().unwrap().os_pid.unwrap()).collect();
    pids.iter().for_each(|pid| second.keep(*pid).unwrap());
    // The input and the end of each are in its set when it has begun.
    let in_sets = |n: [usize; 2]| descriptors() == [before[0] + n[0], before[1] + n[1]];
    while !in_sets([2 * EACH, 2 * EACH]) {
        sleep(Duration::from_millis(1));
        serve(&at);
    }
    let exchange = || {
        for p in &ports {
            assert_eq!(p.command(1, b"x", false), Command::Done);
        }
        // Who was woken is not asleep until it has answered.
        while !pids.iter().all(|pid| sleeps(*pid)) {
            sleep(Duration::from_millis(1));
        }
        let heard = serve(&at);
        assert_eq!(get(1, 2 * EACH).len(), 2 * EACH);
        heard
    };
    // By the second answer it is known where each runs: all on the second processor.
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
