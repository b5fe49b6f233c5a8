//! Starting programs by `posix_spawn`, which shares memory with the child until exec, so that the
//! cost depends neither on the size of this program nor on `ulimit -n`.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::errno::{check, retry, Errno, Result};
use crate::fd;
use crate::syscall_counters::{self, call, SyscallCounter};

extern "C" {
    fn posix_spawn_file_actions_addchdir_np(
        actions: *mut libc::posix_spawn_file_actions_t,
        path: *const libc::c_char,
    ) -> libc::c_int;
}

/// `posix_spawn_file_actions_addclosefrom_np`, which glibc has since 2.34. It is looked up when it is
/// needed, so that kvik starts with an older one.
type AddCloseFrom =
    unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, libc::c_int) -> libc::c_int;

fn add_close_from() -> Option<AddCloseFrom> {
    let name = c"posix_spawn_file_actions_addclosefrom_np";
    // SAFETY: the name ends in a zero.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: a function of this name has this type; null is `None`.
    unsafe { std::mem::transmute::<*mut libc::c_void, Option<AddCloseFrom>>(function) }
}

/// A program to start.
#[derive(Copy, Clone)]
pub struct Program<'a> {
    pub path: &'a CStr,
    pub args: &'a [CString],
    /// `NAME=value`.
    pub env: &'a [CString],
    pub dir: Option<&'a CStr>,
    /// Maps descriptors of this program to those of the child. All others are closed from
    /// `close_from` on.
    pub fds: &'a [(RawFd, RawFd)],
    pub close_from: RawFd,
}

/// A program that was started. Dropping it neither ends nor reaps the program.
#[derive(Debug)]
pub struct ChildProcess {
    pub pid: i32,
    /// Readable when the program has ended (see `watch` for systems without pidfds).
    pub pidfd: OwnedFd,
}

struct Actions(libc::posix_spawn_file_actions_t);
impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}
struct Attributes(libc::posix_spawnattr_t);
impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}

fn code(r: i32) -> Result<()> {
    match r {
        0 => Ok(()),
        e => Err(Errno(e)),
    }
}

impl Actions {
    fn empty() -> Result<Actions> {
        let mut a = MaybeUninit::uninit();
        // SAFETY: `init` fills the structure.
        unsafe {
            code(libc::posix_spawn_file_actions_init(a.as_mut_ptr()))?;
            Ok(Actions(a.assume_init()))
        }
    }

    /// `moved`: copies to use instead of the descriptors themselves.
    fn new(p: &Program<'_>, moved: &[Option<OwnedFd>]) -> Result<Actions> {
        let mut a = Actions::empty()?;
        // SAFETY: the actions are initialised, and the path ends in a zero.
        unsafe {
            if let Some(dir) = p.dir {
                code(posix_spawn_file_actions_addchdir_np(&mut a.0, dir.as_ptr()))?;
            }
            for (&(from, to), moved) in p.fds.iter().zip(moved) {
                let from = moved.as_ref().map_or(from, |f| f.as_raw_fd());
                code(libc::posix_spawn_file_actions_adddup2(&mut a.0, from, to))?;
            }
            match add_close_from() {
                Some(add) => code(add(&mut a.0, p.close_from))?,
                None => a.close_each(p.close_from)?,
            }
            Ok(a)
        }
    }

    /// Closes the descriptors that are open now. One that another thread opens before the child
    /// starts is inherited if it is not marked close-on-exec, which all of kvik's own are.
    fn close_each(&mut self, from: RawFd) -> Result<()> {
        for entry in std::fs::read_dir("/proc/self/fd")? {
            let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(fd) = number.filter(|fd| *fd >= from) {
                // SAFETY: the actions are initialised. Closing the folder's own descriptor, which
                // is no longer open then, is no error.
                code(unsafe { libc::posix_spawn_file_actions_addclose(&mut self.0, fd) })?;
            }
        }
        Ok(())
    }
}

/// Signals 32 and 33 in the first word of a set.
const OF_C_LIBRARY: u64 = 0b11 << 31;

impl Attributes {
    /// No signal blocked, none ignored but those that OTP's programs find ignored, a session of its
    /// own.
    fn new() -> Result<Attributes> {
        let mut a = MaybeUninit::uninit();
        let mut set = MaybeUninit::uninit();
        // SAFETY: `init` fills the structures; the others work on ones that are initialised. A
        // `sigset_t` is an array of words, the first of which `sigfillset` has written. Of the C
        // library's signals only the child's dispositions change: it shares this process's memory,
        // but has its own table of handlers (`clone` without `CLONE_SIGHAND`), and consists of one
        // thread that blocks all signals until it runs the program. So no thread here loses the
        // handler through which the C library cancels threads and changes their user.
        unsafe {
            code(libc::posix_spawnattr_init(a.as_mut_ptr()))?;
            let mut a = Attributes(a.assume_init());
            libc::sigemptyset(set.as_mut_ptr());
            code(libc::posix_spawnattr_setsigmask(&mut a.0, set.as_ptr()))?;
            libc::sigfillset(set.as_mut_ptr());
            libc::sigdelset(set.as_mut_ptr(), libc::SIGKILL);
            libc::sigdelset(set.as_mut_ptr(), libc::SIGSTOP);
            for ignored in [libc::SIGPIPE, libc::SIGFPE] {
                libc::sigdelset(set.as_mut_ptr(), ignored);
            }
            // The C library's own two signals, which its functions on sets leave out: what is not
            // set to its default here would be ignored in the program.
            *set.as_mut_ptr().cast::<u64>() |= OF_C_LIBRARY;
            code(libc::posix_spawnattr_setsigdefault(&mut a.0, set.as_ptr()))?;
            let flags = libc::POSIX_SPAWN_SETSIGMASK as i16
                | libc::POSIX_SPAWN_SETSIGDEF as i16
                | libc::POSIX_SPAWN_SETSID;
            code(libc::posix_spawnattr_setflags(&mut a.0, flags))?;
            Ok(a)
        }
    }
}

fn pointers(v: &[CString]) -> Vec<*mut libc::c_char> {
    v.iter().map(|s| s.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// Duplicates the descriptors whose numbers are among the child's, so that no `dup2` overwrites one
/// that a later `dup2` needs.
fn move_up(p: &Program<'_>) -> Result<Vec<Option<OwnedFd>>> {
    let top = p.fds.iter().map(|(_, to)| to + 1).max().unwrap_or(0).max(p.close_from);
    let up = |from| {
        // SAFETY: the new descriptor is ours.
        unsafe {
            let fd = check(libc::fcntl(from, libc::F_DUPFD_CLOEXEC, top))?;
            Ok(OwnedFd::from_raw_fd(fd))
        }
    };
    p.fds.iter().map(|&(from, _)| (from < top).then(|| up(from)).transpose()).collect()
}

/// Ends this program at once: no destructors, no exit handlers, no output that is still buffered.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: no memory is involved.
    unsafe { libc::_exit(code) }
}

/// Starts a program and returns its process id. An error in the child before exec is returned here.
pub fn spawn(p: &Program<'_>) -> Result<i32> {
    let moved = move_up(p)?;
    start(p, &Actions::new(p, &moved)?)
}

fn start(p: &Program<'_>, actions: &Actions) -> Result<i32> {
    let attributes = Attributes::new()?;
    let (argv, envp) = (pointers(p.args), pointers(p.env));
    let mut pid = 0;
    call(SyscallCounter::Spawn);
    // SAFETY: the vectors end in null and live, with their strings, for the call.
    code(unsafe {
        libc::posix_spawn(
            &mut pid,
            p.path.as_ptr(),
            &actions.0,
            &attributes.0,
            argv.as_ptr(),
            envp.as_ptr(),
        )
    })?;
    Ok(pid)
}

impl ChildProcess {
    /// Watches for the end of a started program. If that is not possible, the program is killed.
    pub fn watch(pid: i32) -> Result<ChildProcess> {
        let end = match pidfd(pid) {
            Err(Errno::NOSYS | Errno::PERM) => watch(pid),
            r => r,
        };
        if end.is_err() {
            // SAFETY: no memory is involved.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        Ok(ChildProcess { pid, pidfd: end? })
    }
}

fn pidfd(pid: i32) -> Result<OwnedFd> {
    // Only this program reaps the child: the process id remains the child's until `reap`.
    // SAFETY: the descriptor is ours.
    unsafe {
        let fd = syscall_counters::check(
            SyscallCounter::Spawn,
            libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32,
        )?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Replaces a pidfd if the system (older than Linux 5.3, or a sandbox) has none: the read end of a
/// pipe whose other end a thread closes when the program has ended.
fn watch(pid: i32) -> Result<OwnedFd> {
    let (end, open) = fd::pipe()?;
    let wait = move || {
        let options = libc::WEXITED | libc::WNOWAIT;
        let mut info = MaybeUninit::uninit();
        // SAFETY: there is room for what the call writes. It leaves the child to `reap`.
        let call =
            || check(unsafe { libc::waitid(libc::P_PID, pid as u32, info.as_mut_ptr(), options) });
        // An error says that there is no such child any more: it has ended, too.
        let _ = retry(call);
        drop(open);
    };
    std::thread::Builder::new()
        .name("child".into())
        .stack_size(64 << 10)
        .spawn(kvik_state::inherit(wait))?;
    Ok(end)
}

/// How a program ended: its exit status, or 128 plus the signal that killed it. `None` while it
/// runs.
pub fn reap(pid: i32) -> Option<i32> {
    let mut status = 0;
    call(SyscallCounter::Spawn);
    // SAFETY: the status is ours to write.
    match unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } {
        0 => None,
        n if n < 0 => Some(0),
        _ if libc::WIFSIGNALED(status) => Some(128 + libc::WTERMSIG(status)),
        _ => Some(libc::WEXITSTATUS(status)),
    }
}

/// Makes a program start in a session of its own, without a terminal that could send it signals.
pub fn in_its_own_session(c: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let begin = || {
        // SAFETY: no memory is involved.
        let r = unsafe { libc::setsid() };
        check(r).map(drop).map_err(|e| std::io::Error::from_raw_os_error(e.0))
    };
    // SAFETY: what runs between fork and exec is one system call.
    unsafe { c.pre_exec(begin) };
}

/// Makes a program start in a copy of this one's memory, instead of sharing it as `vfork` does. The
/// system counts a program's peak memory from that of the memory it starts in: with a copy, from
/// the current size, and not from this program's own peak.
pub fn from_a_copy(c: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: nothing runs between fork and exec. That something might run keeps the library from
    // using vfork.
    unsafe { c.pre_exec(|| Ok(())) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(s: &str) -> CString {
        CString::new(s).unwrap()
    }

    type Start = fn(&Program<'_>) -> Result<i32>;

    fn run(script: &str, dir: Option<&CStr>) -> (String, i32) {
        run_by(spawn, script, dir)
    }

    fn run_by(start: Start, script: &str, dir: Option<&CStr>) -> (String, i32) {
        let (r, w) = fd::pipe().unwrap();
        let sh = c("/bin/sh");
        let program = Program {
            path: &sh,
            args: &[c("sh"), c("-c"), c(script)],
            env: &[c("HELLO=there"), c("PATH=/bin:/usr/bin")],
            dir,
            fds: &[(w.as_raw_fd(), 1)],
            close_from: 3,
        };
        let child = ChildProcess::watch(start(&program).unwrap()).unwrap();
        drop(w);
        let mut out = String::new();
        std::io::Read::read_to_string(&mut std::fs::File::from(r), &mut out).unwrap();
        fd::wait_ready(child.pidfd.as_raw_fd(), false, 5000).unwrap();
        (out, reap(child.pid).unwrap())
    }

    #[test]
    fn runs_programs() {
        assert_eq!(run("echo $HELLO; exit 3", None), ("there\n".into(), 3));
        assert_eq!(run("pwd", Some(c"/usr")), ("/usr\n".into(), 0));
        assert_eq!(run("kill -9 $$", None), (String::new(), 137));
        // Input, output, errors, and the directory that `ls` reads: no other descriptor was
        // inherited.
        assert_eq!(run("ls /proc/self/fd | wc -l", None).0.trim(), "4");
    }

    #[test]
    fn closes_each_descriptor_without_closefrom() {
        fn spawn_by_list(p: &Program<'_>) -> Result<i32> {
            // Not marked close-on-exec, as a descriptor that a NIF library opened.
            // SAFETY: the copy is ours.
            let _open = unsafe { OwnedFd::from_raw_fd(check(libc::dup(2))?) };
            let mut actions = Actions::empty()?;
            // SAFETY: the actions are initialised.
            code(unsafe { libc::posix_spawn_file_actions_adddup2(&mut actions.0, p.fds[0].0, 1) })?;
            actions.close_each(p.close_from)?;
            start(p, &actions)
        }
        assert_eq!(run_by(spawn_by_list, "ls /proc/self/fd | wc -l", None).0.trim(), "4");
    }

    #[test]
    fn the_end_is_seen_without_a_pidfd() {
        let sh = c("/bin/sh");
        let args = [c("sh"), c("-c"), c("read line; exit 7")];
        let (r, w) = fd::pipe().unwrap();
        let fds = &[(r.as_raw_fd(), 0)];
        let p = Program { path: &sh, args: &args, env: &[], dir: None, fds, close_from: 3 };
        let pid = spawn(&p).unwrap();
        let end = watch(pid).unwrap();
        assert!(!fd::wait_ready(end.as_raw_fd(), false, 0).unwrap());
        drop(w);
        assert!(fd::wait_ready(end.as_raw_fd(), false, 5000).unwrap());
        assert_eq!(reap(pid), Some(7));
    }

    #[test]
    fn errors_come_back() {
        let p = c("/nonexistent/program");
        let r = spawn(&Program {
            path: &p,
            args: std::slice::from_ref(&p),
            env: &[],
            dir: None,
            fds: &[],
            close_from: 3,
        });
        assert_eq!(r.unwrap_err(), Errno::NOENT);
    }
}
