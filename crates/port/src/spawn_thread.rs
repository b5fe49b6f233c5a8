//! The thread that starts external programs, so that no scheduler waits for fork and exec.
//!
//! The opener of a port makes the pipes, queues the rest and goes on; the port hears of its program
//! by [`Ready::Started`]. When many starts are queued, the opener starts the program itself, which
//! is the back-pressure.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use kvik_env::process::{spawn, ChildProcess, Program};
use kvik_env::{fd, file, pipe, Errno, Result};

use crate::driver::Ready;
use crate::{poll, table};

/// The most programs in the start queue.
const MAX_QUEUED_STARTS: usize = 512;
pub(crate) const SHELL: &CStr = c"/bin/sh";

/// A program to start, and its ends of the pipes.
pub(crate) struct Job {
    pub path: CString,
    pub args: Vec<CString>,
    pub env: Vec<CString>,
    pub dir: Option<CString>,
    /// Which of our descriptors become which of the program's.
    pub fds: Vec<(RawFd, RawFd)>,
    pub close_from: RawFd,
    /// Closed once the program has them.
    pub ends: [OwnedFd; 2],
}

impl Job {
    /// Whether a queued job leaves an eighth of the descriptors for everything else, as it holds
    /// two. A new descriptor gets the lowest free number, so its number tells how many are open.
    fn leaves_room(&self) -> bool {
        let highest = self.ends.iter().map(|fd| fd.as_raw_fd() as u64).max();
        highest.is_some_and(|fd| fd < fd::limit() / 8 * 7)
    }
}

/// The outcome of a job.
#[derive(Default)]
pub(crate) struct Start {
    state: Mutex<State>,
    done: Condvar,
}
#[derive(Default)]
struct State {
    done: bool,
    pid: Option<i32>,
    child: Option<Result<ChildProcess>>,
}

impl Start {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    fn set(&self, child: Result<ChildProcess>) {
        let mut s = self.state();
        s.done = true;
        s.pid = child.as_ref().ok().map(|c| c.pid);
        s.child = Some(child);
        self.done.notify_all();
    }
    /// The program, or why there is none. Only the first call gets it.
    pub fn take(&self) -> Option<Result<ChildProcess>> {
        self.state().child.take()
    }
    /// The program's process id. Waits until there is one.
    pub fn pid(&self) -> Option<i32> {
        let wait = self.done.wait_while(self.state(), |s| !s.done);
        wait.unwrap_or_else(|e| e.into_inner()).pid
    }
}

/// A job, its port, and that port's poll set.
struct Order {
    job: Job,
    port: u32,
    home: usize,
    start: Arc<Start>,
}

struct Queue {
    waiting: VecDeque<Order>,
    /// Queued jobs and the one at work.
    open: usize,
    has_thread: bool,
}
kvik_state::vm_state! {
    static QUEUE: Mutex<Queue> =
        Mutex::new(Queue { waiting: VecDeque::new(), open: 0, has_thread: false });
    static WORK: Condvar = Condvar::new();
    static SETTLED: Condvar = Condvar::new();
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Starts a program for a port, now or soon.
pub(crate) fn start(job: Job, port: u32, home: usize) -> Arc<Start> {
    let start = Arc::<Start>::default();
    let leaves_room = job.leaves_room();
    let mut q = queue();
    let able = q.has_thread || begin_thread().is_ok();
    q.has_thread = able;
    if !able || !leaves_room || q.open >= MAX_QUEUED_STARTS {
        drop(q);
        start.set(run(job));
        return start;
    }
    q.open += 1;
    q.waiting.push_back(Order { job, port, home, start: start.clone() });
    drop(q);
    WORK.notify_one();
    start
}

/// Waits until all requested programs have been started. The caller must not hold a port's lock.
pub fn settle() {
    let left = SETTLED.wait_while(queue(), |q| q.open > 0);
    drop(left.unwrap_or_else(|e| e.into_inner()));
}

fn begin_thread() -> std::io::Result<()> {
    kvik_env::thread::spawn("starter", Some(128 << 10), work).map(drop)
}

fn work() {
    loop {
        let some = WORK.wait_while(queue(), |q| q.waiting.is_empty());
        let next = some.unwrap_or_else(|e| e.into_inner()).waiting.pop_front();
        if let Some(o) = next {
            o.start.set(run(o.job));
            if let Some(port) = table::get(o.port) {
                port.ready(Ready::Started, &mut []);
            }
            // The port was closed meanwhile.
            if let Some(Ok(child)) = o.start.take() {
                poll::orphan(o.home, child);
            }
            let mut q = queue();
            q.open -= 1;
            if q.open == 0 {
                SETTLED.notify_all();
            }
        }
    }
}

/// Held while two pipes are made, and while a program's pipe ends are exchanged for its pidfd: when
/// descriptors run out, the opener of a port gets the error, and each started program has its
/// pidfd.
static DESCRIPTORS: Mutex<()> = Mutex::new(());
fn descriptors() -> MutexGuard<'static, ()> {
    DESCRIPTORS.lock().unwrap_or_else(|e| e.into_inner())
}

type Pipe = (OwnedFd, OwnedFd);

/// Makes two pipes. If descriptors run out it first waits for the queued starts, which hold some.
pub(crate) fn pipes() -> Result<(Pipe, Pipe)> {
    let make = || {
        let _room = descriptors();
        Ok((pipe::open()?, pipe::open()?))
    };
    match make() {
        Err(Errno::MFILE | Errno::NFILE) => {
            settle();
            make()
        }
        r => r,
    }
}

/// Starts a program. An error after its process exists (its folder, its file) ends that process:
/// its exit status is the error's number.
fn run(job: Job) -> Result<ChildProcess> {
    let p = Program {
        path: &job.path,
        args: &job.args,
        env: &job.env,
        dir: job.dir.as_deref(),
        fds: &job.fds,
        close_from: job.close_from,
    };
    let pid = match spawn(&p) {
        Err(e @ (Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE)) => return Err(e),
        Err(e) => spawn_failure(&p, e)?,
        Ok(pid) => pid,
    };
    let _room = descriptors();
    drop(job.ends);
    ChildProcess::watch(pid)
}

fn spawn_failure(p: &Program<'_>, e: Errno) -> Result<i32> {
    let no_folder = "echo \"spawn: Could not cd to $1\" >&2; ";
    let bad_dir = p.dir.filter(|d| {
        !file::stat(d, true).is_ok_and(|i| i.kind == file::FileKind::Directory)
            || file::may_execute(d).is_err()
    });
    let script = format!("{}exit {}", bad_dir.map_or("", |_| no_folder), e.0);
    let args = [
        c"sh".into(),
        c"-c".into(),
        CString::new(script).map_err(|_| e)?,
        c"sh".into(),
        bad_dir.unwrap_or(c"").into(),
    ];
    // The error may be the environment's size, so this one is empty.
    spawn(&Program { path: SHELL, args: &args, env: &[], dir: None, ..*p })
}
