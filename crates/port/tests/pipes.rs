//! Ports against real programs.

mod common;

use std::fs;

use common::{get, mail};
use kvik_env::{signal, Errno};
use kvik_port::{Command, OpenError, Port, PortOptions, PortTarget};

fn options() -> PortOptions {
    mail();
    PortOptions { read: true, write: true, binary: true, ..PortOptions::default() }
}
fn sh(command: &str) -> PortTarget {
    PortTarget::Spawn(command.as_bytes().to_vec())
}

#[test]
fn lines_come_back_and_the_end_is_told_in_order() {
    let o = PortOptions { line: Some(5), exit_status: true, eof: true, ..options() };
    let script = "sh -c 'read a; read b; echo $b$a; printf x; exit 7'";
    let p = Port::open(1, &sh(script), &o, |_, _| ()).unwrap();
    assert!(p.info().unwrap().os_pid.is_some());
    assert_eq!(p.command(1, b"abc\nde", false), Command::Done);
    p.command(1, b"f\n", false);
    let want = [
        "{P,{data,{noeol,\"defab\"}}}",
        "{P,{data,{eol,\"c\"}}}",
        "{P,{exit_status,7}}",
        "{P,{data,{noeol,\"x\"}}}",
        "{P,eof}",
    ];
    assert_eq!(get(1, 5), want);
    assert!(p.close(1));
    assert!(!p.close(1));
    assert_eq!(get(1, 1), ["EXIT normal"]);
}

#[test]
fn packets_and_lists() {
    let o = PortOptions { packet: 2, binary: false, ..options() };
    let p = Port::open(2, &sh("cat"), &o, |_, _| ()).unwrap();
    p.command(2, b"hi", false);
    p.command(2, b"", false);
    assert_eq!(get(2, 2), ["{P,{data,[104,105]}}", "{P,{data,[]}}"]);
    assert_eq!(p.command(2, &vec![0; 70_000], false), Command::Done);
    assert_eq!(get(2, 1), ["EXIT einval"]);
    assert!(p.info().is_none());
}

#[test]
fn a_busy_port_makes_writers_wait() {
    let o = options();
    // The program reads once it gets SIGCONT.
    let p = Port::open(3, &sh("sh -c 'kill -STOP $$; cat > /dev/null'"), &o, |_, _| ()).unwrap();
    let block = vec![b'x'; 300_000];
    assert_eq!(p.command(3, &block, false), Command::Done);
    assert_eq!(p.command(3, b"y", true), Command::Busy);
    assert_eq!(p.command(3, b"y", false), Command::Wait);
    assert_eq!(p.info().unwrap().output, 300_000);
    let pid = p.info().unwrap().os_pid.unwrap();
    while !fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
    signal::send(pid, signal::SIGCONT).unwrap();
    assert_eq!(get(3, 1), ["goes on"]);
    assert_eq!(p.command(3, b"y", false), Command::Done);
    p.exit(3, false, kvik_term::am::kill.into());
    assert_eq!(get(3, 1), ["EXIT killed"]);
}

#[test]
fn errors_and_owners() {
    let o = options();
    let e = Port::open(4, &PortTarget::Executable(b"/no/such".to_vec()), &o, |_, _| ());
    assert!(matches!(e, Err(OpenError::Posix(Errno::NOENT))));
    let e = Port::open(4, &PortTarget::Driver(b"no_such".to_vec()), &o, |_, _| ());
    assert!(matches!(e, Err(OpenError::Badarg)));
    let p = Port::open(4, &PortTarget::Executable(b"/bin/cat".to_vec()), &o, |_, _| ()).unwrap();
    assert!(p.connect(1, 5));
    p.monitor(6, [1, 2, 3], None);
    p.command(4, b"to five", false);
    assert_eq!(get(5, 1), ["{P,{data,\"to five\"}}"]);
    // Over a link `normal` is ignored except from the owner; by exit/2 any process closes the port.
    p.exit(9, true, kvik_term::am::normal.into());
    assert!(p.is_open());
    p.exit(9, false, kvik_term::am::normal.into());
    assert!(!p.is_open());
    assert_eq!(get(4, 1), ["EXIT normal"]);
    assert_eq!(get(6, 1), ["DOWN normal"]);
}

#[test]
fn a_descriptor_is_read_to_its_end() {
    let (r, w) = kvik_env::pipe::open().unwrap();
    use std::os::fd::AsRawFd;
    let o = PortOptions { write: false, eof: true, ..options() };
    let p = Port::open(7, &PortTarget::Fd(r.as_raw_fd(), 1), &o, |_, _| ()).unwrap();
    kvik_env::pipe::write(w.as_raw_fd(), b"abc").unwrap();
    assert_eq!(get(7, 1), ["{P,{data,\"abc\"}}"]);
    drop(w);
    assert_eq!(get(7, 1), ["{P,eof}"]);
    p.close(1);
    let f = std::fs::File::open("/proc/self/status").unwrap();
    let _p = Port::open(8, &PortTarget::Fd(f.as_raw_fd(), 1), &o, |_, _| ()).unwrap();
    let got = get(8, 2);
    assert!(got[0].contains("Name:"), "{got:?}");
    assert_eq!(got.last().unwrap(), "{P,eof}");
}
