//! Each fault takes effect at its call, and only there.

use std::ffi::CStr;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use kvik_env::faults::{Effect, Kind};
use kvik_env::file::OpenMode;
use kvik_env::poll::{Interest, PollEvents, Poller};
use kvik_env::process::Program;
use kvik_env::socket::{raw, Addr, Family, Listener, SocketType};
use kvik_env::{clock, current, file, fs, pipe, process, random, socket, thread};
use kvik_env::{Errno, Fault};
use kvik_sys::fd as sys;

/// The environment is shared by the program, so the tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    current().faults.clear();
    turn
}
fn inject(text: &str) {
    current().faults.arm(text).unwrap();
}

/// The objects that the calls below use. Making them is not subject to faults.
struct Setup {
    pipe: (OwnedFd, OwnedFd),
    stream: (OwnedFd, OwnedFd),
    datagram: OwnedFd,
}
impl Setup {
    fn new() -> Setup {
        let pipe = sys::pipe().unwrap();
        let stream = sys::socket_pair().unwrap();
        let datagram = kvik_sys::socket::open(Family::Inet, SocketType::Datagram).unwrap();
        kvik_sys::socket::bind(datagram.as_raw_fd(), &Addr::V4([127, 0, 0, 1].into(), 0)).unwrap();
        sys::write(pipe.1.as_raw_fd(), b"to read").unwrap();
        sys::write(stream.1.as_raw_fd(), b"to read").unwrap();
        Setup { pipe, stream, datagram }
    }
    fn own_address(&self) -> Addr {
        kvik_sys::socket::local_addr(self.datagram.as_raw_fd()).unwrap()
    }
}
fn file(name: &CStr, write: bool) -> OwnedFd {
    kvik_sys::file::open(name, OpenMode { read: !write, write, ..OpenMode::default() }).unwrap()
}
fn done<T>(r: Result<T, impl Into<io::Error>>) -> Result<(), i32> {
    r.map(drop).map_err(|e| e.into().raw_os_error().unwrap_or(0))
}
const ZERO: &CStr = c"/dev/zero";
const NULL: &CStr = c"/dev/null";
fn null() -> RawFd {
    use std::os::fd::IntoRawFd;
    file(NULL, true).into_raw_fd()
}

type Call = fn(&Setup) -> Result<(), i32>;
/// Calls, and the fault that strikes each. Several calls may share a fault.
const CALLS: &[(Fault, Call)] = &[
    (Fault::FileOpen, |_| done(file::open(ZERO, OpenMode { read: true, ..OpenMode::default() }))),
    (Fault::FileOpen, |_| done(fs::File::open("/dev/zero"))),
    (Fault::FileRead, |_| {
        let f = file(ZERO, false);
        done(file::read_full(f.as_raw_fd(), &mut [MaybeUninit::uninit(); 4], None))
    }),
    (Fault::FileRead, |_| {
        let f = file(ZERO, false);
        done(file::read_cached(f.as_raw_fd(), &mut [MaybeUninit::uninit(); 4], None, &mut false))
    }),
    (Fault::FileRead, |_| done(fs::File::from(file(ZERO, false)).read(&mut [0; 4]))),
    (Fault::FileWrite, |_| done(file::write_all(null(), b"text", None, &mut 0))),
    (Fault::FileWrite, |_| {
        done(file::write_full(
            null(),
            &mut [IoSlice::new(b"te"), IoSlice::new(b"xt")],
            None,
            &mut 0,
        ))
    }),
    (Fault::FileWrite, |_| done(fs::File::from(file(NULL, true)).write(b"text"))),
    (Fault::FileSync, |_| {
        // A memory file, for which this call returns at once.
        let (_, file) = kvik_sys::shared_memory::words(c"sync", 8).unwrap();
        done(file::sync(file.as_raw_fd(), false))
    }),
    (Fault::PipeOpen, |_| done(pipe::open())),
    (Fault::PipeRead, |s| done(pipe::read_bytes(s.pipe.0.as_raw_fd(), &mut [0; 4]))),
    (Fault::PipeWrite, |s| done(pipe::write(s.pipe.1.as_raw_fd(), b"text"))),
    (Fault::PipeWrite, |s| done(pipe::writev(s.pipe.1.as_raw_fd(), &[IoSlice::new(b"text")]))),
    (Fault::SocketOpen, |_| done(socket::open(Family::Inet, SocketType::Stream))),
    (Fault::SocketOpen, |_| done(raw::open(2, 1, 0))),
    (Fault::SocketOpen, |_| done(Listener::bind(([127, 0, 0, 1], 0).into()))),
    // No connection to accept: that error differs from the fault's.
    (Fault::SocketAccept, |_| {
        let s = kvik_sys::socket::open(Family::Inet, SocketType::Stream).unwrap();
        kvik_sys::socket::listen(s.as_raw_fd(), 1).unwrap();
        match socket::accept(s.as_raw_fd()) {
            Err(Errno::AGAIN) => Ok(()),
            r => done(r),
        }
    }),
    (Fault::SocketConnect, |s| {
        let other = kvik_sys::socket::open(Family::Inet, SocketType::Datagram).unwrap();
        done(socket::connect(other.as_raw_fd(), &s.own_address()))
    }),
    (Fault::SocketReceive, |s| done(socket::read_bytes(s.stream.0.as_raw_fd(), &mut [0; 4]))),
    (Fault::SocketReceive, |s| {
        done(raw::receive(s.stream.0.as_raw_fd(), &mut [MaybeUninit::uninit(); 3], 0))
    }),
    (Fault::SocketSend, |s| done(socket::write(s.stream.0.as_raw_fd(), b"text"))),
    (Fault::SocketSend, |s| {
        done(socket::writev(s.stream.0.as_raw_fd(), &[IoSlice::new(b"te"), IoSlice::new(b"xt")]))
    }),
    (Fault::SocketSend, |s| done(raw::send(s.stream.0.as_raw_fd(), b"text", 0, None))),
    (Fault::DatagramSend, |s| {
        done(socket::send_to(s.datagram.as_raw_fd(), b"text", Some(&s.own_address())))
    }),
    (Fault::DatagramReceive, |s| {
        kvik_sys::socket::send_to(s.datagram.as_raw_fd(), b"text", Some(&s.own_address())).unwrap();
        done(socket::receive_from(s.datagram.as_raw_fd(), &mut [0; 4]))
    }),
    (Fault::Poll, |_| {
        let p = Poller::new().unwrap();
        done(p.wait(&mut PollEvents::default(), Some(Duration::ZERO)))
    }),
    (Fault::Spawn, |_| {
        let none = [];
        let args = [c"true".to_owned()];
        let path = c"/bin/true";
        let p = Program { path, args: &args, env: &none, dir: None, fds: &[], close_from: 3 };
        let pid = process::spawn(&p);
        // The caller that starts a program waits for its end.
        if let Ok(pid) = pid {
            while process::reap(pid).is_none() {
                std::thread::yield_now();
            }
        }
        done(pid)
    }),
    (Fault::Spawn, |_| done(process::status(&mut process::Command::new("/bin/true")))),
    (Fault::ThreadSpawn, |_| done(thread::spawn("t", None, || ()).map(|t| t.join()))),
    (Fault::ThreadSpawn, |_| thread::scope(|s| done(thread::spawn_scoped(s, "t", || ())))),
];

#[test]
fn each_fault_strikes_its_calls_alone() {
    let _turn = alone();
    let faults = &current().faults;
    for (_, call) in CALLS {
        assert_eq!(call(&Setup::new()), Ok(()));
    }
    let failing = Fault::ALL.iter().filter(|(_, _, effects)| effects.contains(&Kind::Fail));
    for (fault, name, _) in failing {
        assert!(CALLS.iter().any(|(f, _)| f == fault), "no call here for {name}");
        inject(&format!("{name}:enomem"));
        for (of, call) in CALLS {
            let answer = if of == fault { Err(Errno::NOMEM.0) } else { Ok(()) };
            assert_eq!(call(&Setup::new()), answer, "{name} at a call of {of:?}");
        }
        let calls = CALLS.iter().filter(|(f, _)| f == fault).count() as u64;
        assert_eq!(faults.struck(*fault), calls, "{name}");
        faults.clear();
    }
}

#[test]
fn what_a_fault_cannot_do_is_refused() {
    let _turn = alone();
    let faults = &current().faults;
    assert!(faults.inject(Fault::FileOpen, Effect::Short, kvik_env::faults::When::Always).is_err());
    assert!(faults.arm("file_read:eintr").is_err());
    // A text with an error in it has no effect at all.
    assert!(faults.arm("file_open:eio,file_open:eintr").is_err());
    assert!(fs::File::open("/dev/null").is_ok());
}

#[test]
fn faults_strike_when_they_are_to() {
    let _turn = alone();
    let struck = |text: &str, n: usize| -> Vec<bool> {
        current().faults.clear();
        inject(text);
        (0..n).map(|_| fs::File::open("/dev/null").is_err()).collect()
    };
    assert_eq!(struck("file_open:emfile:nth=2", 4), [false, true, false, false]);
    assert_eq!(struck("file_open:emfile:after=2", 4), [false, false, true, true]);
    assert_eq!(struck("file_open:emfile", 2), [true, true]);
    let one = struck("file_open:emfile:p=0.3:seed=4", 1000);
    assert_eq!(one, struck("file_open:emfile:p=0.3:seed=4", 1000));
    assert_ne!(one, struck("file_open:emfile:p=0.3:seed=5", 1000));
    let n = one.iter().filter(|s| **s).count();
    assert!((240..360).contains(&n), "{n} of 1000");
    assert!(struck("file_open:emfile:p=0", 100).iter().all(|s| !s));
    assert!(struck("file_open:emfile:p=1", 100).iter().all(|s| *s));
}

#[test]
fn short_writes_end_where_the_disk_is_full() {
    let _turn = alone();
    let path = std::env::temp_dir().join(format!("kvik-short-{}", std::process::id()));
    let f = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let fd = f.as_raw_fd();
    inject("file_write:short:nth=1,file_write:enospc:nth=2");
    let mut went = 0;
    assert_eq!(
        file::write_all(fd, b"0123456789", Some(0), &mut went),
        Err(Errno::named("enospc").unwrap())
    );
    assert_eq!(went, 5);
    current().faults.clear();
    inject("file_write:short:after=0");
    went = 0;
    let mut slices = [IoSlice::new(b"abc"), IoSlice::new(b"defgh")];
    assert_eq!(file::write_full(fd, &mut slices, Some(0), &mut went), Ok(()));
    assert_eq!(went, 8);
    let mut room = [MaybeUninit::uninit(); 10];
    assert_eq!(file::read_full(fd, &mut room, Some(0)).unwrap(), b"abcdefgh");
}

#[test]
fn short_moves_lose_nothing() {
    let _turn = alone();
    let s = Setup::new();
    inject("pipe_write:short:nth=1,socket_send:short:nth=1,pipe_read:short:nth=1");
    let slices = [IoSlice::new(b"te"), IoSlice::new(b"xt!")];
    assert_eq!(pipe::writev(s.pipe.1.as_raw_fd(), &slices), Ok(3));
    assert_eq!(socket::writev(s.stream.0.as_raw_fd(), &slices), Ok(3));
    let mut room = [0; 16];
    assert_eq!(pipe::read_bytes(s.pipe.0.as_raw_fd(), &mut room), Ok(8));
    assert_eq!(pipe::read_bytes(s.pipe.0.as_raw_fd(), &mut room[8..]), Ok(2));
    assert_eq!(&room[..10], b"to readtex");
}

/// A caller that has moved less than requested waits for an edge before the next try.
#[test]
fn an_edge_comes_after_a_short_move() {
    let _turn = alone();
    let s = Setup::new();
    let fd = s.stream.0.as_raw_fd();
    let (p, mut events) = (Poller::new().unwrap(), PollEvents::default());
    let mut edges = || p.wait(&mut events, Some(Duration::ZERO)).unwrap();
    p.add(fd, 5, Interest { read: false, write: true, edge: true }).unwrap();
    assert_eq!((edges(), edges()), (1, 0));
    inject("socket_send:short:nth=1");
    assert_eq!(socket::write(fd, b"text"), Ok(2));
    assert_eq!((edges(), edges()), (1, 0));
    assert_eq!(socket::write(fd, b"xt"), Ok(2));
    assert_eq!(edges(), 0);
    p.remove(fd).unwrap();
    inject("socket_send:short:nth=1");
    assert_eq!(socket::write(fd, b"text"), Ok(2));
    assert_eq!(edges(), 0);
}

#[test]
fn time_of_day_jumps_for_good() {
    let _turn = alone();
    let before = clock::wall_nanos();
    inject("clock_jump:+1h:nth=2");
    let hour = 3_600_000_000_000;
    assert!(clock::wall_nanos() - before < hour);
    assert!(clock::wall_nanos() - before >= hour);
    assert!(clock::wall_nanos() - before < 2 * hour);
    current().faults.clear();
    inject("clock_jump:-1h:nth=1");
    assert!(clock::wall_nanos() - before < hour);
}

#[test]
fn chance_is_what_the_simulation_says() {
    let _turn = alone();
    assert_ne!(random::secret().unwrap(), random::secret().unwrap());
    inject("random:7");
    assert_eq!((random::number(), random::number()), (7, 7));
    assert_eq!(random::secret().unwrap(), random::secret().unwrap());
}
