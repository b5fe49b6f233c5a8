//! `erlang:system_profile`: one process, or the driver of a port, is told when others become
//! runnable or cease to be, when ports work, and when schedulers sleep and wake.
//!
//! Messages about processes and ports are sent with one lock held across the event and its report,
//! so that a process is reported inactive before it can be woken. A scheduler that goes to sleep
//! must not find the profiler in its own queue, so a thread sends the messages about schedulers.
//! That thread also sends all messages to a port: the port's lock may be held by a thread that
//! waits for the lock here.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Term};

use crate::process::{flag, RunToken};
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
use crate::trace::Tracee;
use crate::tracing_on::{self, User};
use crate::{sched, trace, Proc};

/// What is profiled.
pub mod what {
    pub const PORTS: u32 = 1;
    pub const PROCS: u32 = 2;
    pub const SCHEDULERS: u32 = 4;
    /// A process does not count as active while it calls a port.
    pub const EXCLUSIVE: u32 = 8;
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The receiver of the messages.
    pub profiler: Tracee,
    /// Bits of [`what`].
    pub what: u32,
    /// The kind of time stamp: one of the bits of `trace::bit`.
    pub stamp: u32,
}

kvik_state::vm_state! {
    static SETTING: Mutex<Option<Setting>> = Mutex::new(None);
    /// `what` of the setting, or 0 if there is none.
    static WHAT: AtomicU32 = AtomicU32::new(0);
    /// Its profiler, if that is a process; changed with the lock held.
    static PROFILER: AtomicU32 = AtomicU32::new(NOBODY);
}

const NOBODY: u32 = u32::MAX;

fn setting() -> MutexGuard<'static, Option<Setting>> {
    SETTING.lock().unwrap_or_else(|e| e.into_inner())
}
pub fn get() -> Option<Setting> {
    let s = *setting();
    s.filter(|s| s.profiler.is_there())
}
pub fn set(to: Option<Setting>) {
    put(&mut setting(), to)
}
fn put(s: &mut Option<Setting>, to: Option<Setting>) {
    *s = to;
    let process = |s: Setting| match s.profiler {
        Tracee::Process(pid) => Some(pid),
        Tracee::Port(_) => None,
    };
    PROFILER.store(to.and_then(process).unwrap_or(NOBODY), Relaxed);
    WHAT.store(to.map_or(0, |s| s.what), Relaxed);
    tracing_on::update(User::SystemProfile, on);
}
pub(crate) fn on() -> bool {
    WHAT.load(Relaxed) != 0
}
fn watches(all: u32) -> bool {
    tracing_on::on() && WHAT.load(Relaxed) & all == all
}
/// A process or port has ended: if it is the profiler, profiling ends.
pub fn ended(who: Tracee) {
    if on() {
        let mut s = setting();
        if s.is_some_and(|s| s.profiler == who) {
            put(&mut s, None);
        }
    }
}

/// `{profile, Who, active | inactive, Where, Time}`.
fn event(
    s: Setting,
    who: Term<'static>,
    active: bool,
    at: impl for<'h> FnOnce(&'h Heap) -> Term<'h>,
) -> OwnedTerm {
    message(|h| {
        let at = at(h);
        h.tuple(&[am::profile.into(), who, state(active), at, time(h, s)])
    })
}
fn state(active: bool) -> Term<'static> {
    if active { am::active } else { am::inactive }.into()
}
fn time(h: &Heap, s: Setting) -> Term<'_> {
    trace::stamp(h, s.stamp).unwrap_or(Term::NIL)
}
/// Sends a message to the profiler; forgets the profiler if it is gone.
fn tell(s: &mut Option<Setting>, to: Tracee, m: OwnedTerm) {
    match to {
        Tracee::Process(pid) => {
            if !deliver(pid, Signal::Message(m)) {
                put(s, None);
            }
        }
        Tracee::Port(_) => have_told(to, m),
    }
}

impl Proc {
    /// Whether another process is told of its time slices. A process whose work a thread does stays
    /// active.
    fn is_profiled(&self, s: Option<Setting>) -> Option<Setting> {
        let told =
            |s: &Setting| s.what & what::PROCS != 0 && s.profiler != Tracee::Process(self.pid());
        s.filter(told).filter(|_| !self.flag(flag::HANDED_OFF))
    }
    fn runnable_event(&self, s: Setting, active: bool) -> OwnedTerm {
        event(s, self.self_pid(), active, |h| {
            if self.flag(flag::ENDING) {
                Term::int(0)
            } else {
                self.place(h)
            }
        })
    }
    /// Reports that the process can run, or (if it ends) never will again. Only for the holder of
    /// its run token.
    #[cold]
    pub(crate) fn profile(&self, active: bool) {
        // The profiler itself is skipped: it is woken with the lock held.
        if !watches(what::PROCS) || PROFILER.load(Relaxed) == self.pid() {
            return;
        }
        let mut guard = setting();
        if let Some(s) = self.is_profiled(*guard) {
            let m = self.runnable_event(s, active);
            tell(&mut guard, s.profiler, m);
        }
    }
    /// The process does not wait any more. If it is suspended, it is not active for that.
    #[cold]
    pub(crate) fn profile_woken(&self) {
        let suspended = self.flag(flag::SUSPENDED);
        self.set_flag(flag::TOLD_INACTIVE, suspended);
        if !suspended {
            self.profile(true);
        }
    }
    /// A time slice begins, perhaps of a process that was suspended until now.
    pub(crate) fn profile_turn(&self) {
        if self.set_flag(flag::TOLD_INACTIVE, false) {
            self.profile(true);
        }
    }
    /// Calls a port from a function of `erts_internal`, as inactive meanwhile if the setting says
    /// so.
    #[inline]
    pub fn calls_port<R>(&self, function: Atom, arity: i32, call: impl FnOnce() -> R) -> R {
        if !watches(what::PROCS | what::EXCLUSIVE) {
            return call();
        }
        let tell = |active| {
            let mut guard = setting();
            if let Some(s) = self.is_profiled(*guard) {
                let m = event(s, self.self_pid(), active, |h| {
                    h.tuple(&[am::erts_internal.into(), function.into(), Term::int(arity)])
                });
                tell(&mut guard, s.profiler, m);
            }
        };
        tell(false);
        let r = call();
        tell(true);
        r
    }
}

/// Lets a process wait, as `RunToken::park` does, and reports it if it does wait.
#[cold]
pub(crate) fn park(t: RunToken) -> Option<RunToken> {
    if !watches(what::PROCS) {
        return t.park();
    }
    let mut guard = setting();
    let Some(s) = t.private().is_profiled(*guard) else { return t.park() };
    if t.private().set_flag(flag::TOLD_INACTIVE, true) {
        return t.park();
    }
    let m = t.private().runnable_event(s, false);
    let t = t.park();
    match &t {
        None => tell(&mut guard, s.profiler, m),
        Some(t) => {
            t.private().set_flag(flag::TOLD_INACTIVE, false);
        }
    }
    t
}

/// Whether the work of ports is reported.
#[inline]
pub fn watches_ports() -> bool {
    watches(what::PORTS)
}
/// Reports that a port begins or ends its work.
#[cold]
pub fn port(id: u32, active: bool) {
    let mut guard = setting();
    let told = |s: &Setting| s.what & what::PORTS != 0 && s.profiler != Tracee::Port(id);
    if let Some(s) = guard.filter(told) {
        let m = event(s, Term::local_port(id), active, |_| Term::int(0));
        tell(&mut guard, s.profiler, m);
    }
}

/// A scheduler sleeps or wakes: `{profile, scheduler, Id, Microstate, Awake, Time}`.
#[inline]
pub(crate) fn scheduler(id: usize, active: bool) {
    if watches(what::SCHEDULERS) {
        tell_of_scheduler(id, active);
    }
}
#[cold]
fn tell_of_scheduler(id: usize, active: bool) {
    let guard = setting();
    let Some(s) = guard.filter(|s| s.what & what::SCHEDULERS != 0) else { return };
    let awake = sched::all().iter().filter(|s| s.counters.asleep.load(Relaxed) == 0).count();
    let m = message(|h| {
        let (id, awake) = (h.integer(id as i64 + 1), h.integer(awake as i64));
        let time = time(h, s);
        h.tuple(&[am::profile.into(), am::scheduler.into(), id, state(active), awake, time])
    });
    have_told(s.profiler, m);
}
/// Sends the profiler a message through the thread.
fn have_told(profiler: Tracee, m: OwnedTerm) {
    if let Some(teller) = teller() {
        let _ = teller.send((profiler, m));
    }
}
type Teller = Sender<(Tracee, OwnedTerm)>;

/// The thread that sends messages, started when first needed.
fn teller() -> Option<&'static Teller> {
    kvik_state::vm_state! {
        static TELLER: OnceLock<Option<Teller>> = OnceLock::new();
    }
    let start = || {
        let (to, from) = channel::<(Tracee, OwnedTerm)>();
        let tell = move || {
            for (who, m) in from {
                if !who.hear(m) {
                    ended(who);
                }
            }
        };
        let started = kvik_env::thread::spawn("profile", None, tell);
        started.is_ok().then_some(to)
    };
    TELLER.get_or_init(start).as_ref()
}
