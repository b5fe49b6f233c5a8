//! Ports against real programs, with a host that keeps what it is sent as text.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use kvik_heap::OwnedTerm;
use kvik_port::{check_io, host, Command, Host, OpenError, Options, Port, What};
use kvik_sys::Errno;
use kvik_term::{Atom, Term, View};

#[derive(Default)]
struct Mail(Mutex<Vec<(u32, String)>>);

fn show(t: Term<'_>) -> String {
    match t.view() {
        View::Small(n) => n.to_string(),
        View::Atom(a) => a.name().to_owned(),
        View::Nil => "[]".into(),
        View::Tuple(t) => {
            let v: Vec<_> = t.elements().iter().map(|e| show(*e)).collect();
            format!("{{{}}}", v.join(","))
        }
        View::Bits(b) => format!("{:?}", String::from_utf8_lossy(&b.to_bytes())),
        View::Cons(_) => {
            let v: Vec<_> = t.list().map(show).collect();
            format!("[{}]", v.join(","))
        }
        View::Port(_) => "P".into(),
        _ => "?".into(),
    }
}

impl Host for Mail {
    fn send(&self, pid: u32, m: OwnedTerm) {
        self.0.lock().unwrap().push((pid, show(m.term())));
    }
    fn exit(&self, pid: u32, _port: u32, reason: OwnedTerm) {
        let text = format!("EXIT {}", show(reason.term()));
        self.0.lock().unwrap().push((pid, text));
    }
    fn down(&self, pid: u32, _: [u32; 3], _: u32, _: Option<Atom>, reason: OwnedTerm) {
        let text = format!("DOWN {}", show(reason.term()));
        self.0.lock().unwrap().push((pid, text));
    }
    fn link(&self, _: u32, _: Term<'static>) -> bool {
        true
    }
    fn name_of(&self, _: u32) -> Option<Atom> {
        None
    }
    fn unregister(&self, _: u32) {}
    fn whereis(&self, _: Atom) -> Option<Term<'static>> {
        None
    }
}

fn mail() -> &'static Mail {
    static MAIL: OnceLock<&'static Mail> = OnceLock::new();
    MAIL.get_or_init(|| {
        let m: &'static Mail = Box::leak(Box::default());
        host::install(m);
        m
    })
}

/// Serves ports until a process got this many messages, and takes them.
fn get(pid: u32, n: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        {
            let mut m = mail().0.lock().unwrap();
            if m.iter().filter(|(p, _)| *p == pid).count() >= n || Instant::now() > end {
                let all = std::mem::take(&mut *m);
                let (ours, rest) = all.into_iter().partition(|(p, _)| *p == pid);
                *m = rest;
                let ours: Vec<(u32, String)> = ours;
                return ours.into_iter().map(|(_, s)| s).collect();
            }
        }
        check_io(0, Some(Duration::from_millis(5)));
    }
}

fn options() -> Options {
    mail();
    Options { read: true, write: true, binary: true, ..Options::default() }
}
fn sh(command: &str) -> What {
    What::Spawn(command.as_bytes().to_vec())
}

#[test]
fn lines_come_back_and_the_end_is_told_in_order() {
    let o = Options { line: Some(5), exit_status: true, eof: true, ..options() };
    let script = "sh -c 'read a; read b; echo $b$a; printf x; exit 7'";
    let p = Port::open(1, &sh(script), &o, |_, _| ()).unwrap();
    assert!(p.info().unwrap().os_pid.is_some());
    assert_eq!(p.command(1, b"abc\nde", false), Command::Done);
    p.command(1, b"f\n", false);
    let want = [
        "{P,{data,{noeol,\"defab\"}}}",
        "{P,{data,{eol,\"c\"}}}",
        "{P,{data,{noeol,\"x\"}}}",
        "{P,{exit_status,7}}",
        "{P,eof}",
    ];
    assert_eq!(get(1, 5), want);
    assert!(p.close());
    assert!(!p.close());
    assert_eq!(get(1, 1), ["EXIT normal"]);
}

#[test]
fn packets_and_lists() {
    let o = Options { packet: 2, binary: false, ..options() };
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
    let p =
        Port::open(3, &sh("sh -c 'sleep 0.2; cat > /dev/null; echo done'"), &o, |_, _| ()).unwrap();
    let block = vec![b'x'; 300_000];
    assert_eq!(p.command(3, &block, false), Command::Done);
    assert_eq!(p.command(3, b"y", true), Command::Busy);
    assert!(matches!(p.command(3, b"y", false), Command::Wait(_)));
    assert_eq!(get(3, 1), ["{?,true}"]);
    assert_eq!(p.info().unwrap().output, 300_001);
    p.exit(3, kvik_term::am::kill.into());
    assert_eq!(get(3, 0).len(), 0);
}

#[test]
fn errors_and_owners() {
    let o = options();
    let e = Port::open(4, &What::Executable(b"/no/such".to_vec()), &o, |_, _| ());
    assert!(matches!(e, Err(OpenError::Posix(Errno::NOENT))));
    let e = Port::open(4, &What::Driver(b"no_such".to_vec()), &o, |_, _| ());
    assert!(matches!(e, Err(OpenError::Badarg)));
    let p = Port::open(4, &What::Executable(b"/bin/cat".to_vec()), &o, |_, _| ()).unwrap();
    assert!(p.connect(5));
    p.monitor(6, [1, 2, 3], None);
    p.command(4, b"to five", false);
    assert_eq!(get(5, 1), ["{P,{data,\"to five\"}}"]);
    p.exit(9, kvik_term::am::normal.into());
    assert!(p.is_open());
    p.exit(5, kvik_term::am::normal.into());
    assert!(!p.is_open());
    assert_eq!(get(4, 1), ["EXIT normal"]);
    assert_eq!(get(6, 1), ["DOWN normal"]);
}

#[test]
fn a_descriptor_is_read_to_its_end() {
    let (r, w) = kvik_sys::fd::pipe().unwrap();
    use std::os::fd::AsRawFd;
    let o = Options { write: false, eof: true, ..options() };
    let p = Port::open(7, &What::Fd(r.as_raw_fd(), 1), &o, |_, _| ()).unwrap();
    kvik_sys::fd::write(w.as_raw_fd(), b"abc").unwrap();
    assert_eq!(get(7, 1), ["{P,{data,\"abc\"}}"]);
    drop(w);
    assert_eq!(get(7, 1), ["{P,eof}"]);
    p.close();
    let f = std::fs::File::open("/proc/self/status").unwrap();
    let _p = Port::open(8, &What::Fd(f.as_raw_fd(), 1), &o, |_, _| ()).unwrap();
    let got = get(8, 2);
    assert!(got[0].contains("Name:"), "{got:?}");
    assert_eq!(got.last().unwrap(), "{P,eof}");
}
