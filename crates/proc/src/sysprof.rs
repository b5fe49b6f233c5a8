//! `erlang:system_profile`: one process, or the driver of a port, hears when others become runnable
//! and cease to be, when ports are at work, and when schedulers sleep and wake.
//!
//! What is told of processes and ports is told under one lock, together with what happened: a
//! process is told to be inactive before anybody can have woken it. A scheduler that goes to sleep
//! must not find the profiler in its own queue, so of those a thread tells; and it tells a port of
//! all, whose own lock may be held by who would wait for the one here.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Term};

use crate::process::{flag, Ticket};
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
use crate::trace::Tracee;
use crate::tracing_on::{self, User};
use crate::{sched, trace, Proc};

/// What is told of.
pub mod what {
    pub const PORTS: u32 = 1;
    pub const PROCS: u32 = 2;
    pub const SCHEDULERS: u32 = 4;
    /// A process that calls a port is not active meanwhile.
    pub const EXCLUSIVE: u32 = 8;
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Who hears of it.
    pub profiler: Tracee,
    /// Bits of [`what`].
    pub what: u32,
    /// How time is told: one of the bits of `trace::bit`.
    pub stamp: u32,
}

kvik_state::vm_state! {
    static SETTING: Mutex<Option<Setting>> = Mutex::new(None);
    /// `what` of the setting, or 0 where there is none.
    static WHAT: AtomicU32 = AtomicU32::new(0);
    /// Its profiler, where that is a process; changed with the lock held.
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
/// A process or port has ended.
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
/// To the profiler, which is forgotten where it is gone.
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
    /// Is somebody else told of that process's turns? One whose work a thread does stays active.
    fn is_profiled(&self, s: Option<Setting>) -> Option<Setting> {
        let told =
            |s: &Setting| s.what & what::PROCS != 0 && s.profiler != Tracee::Process(self.pid());
        s.filter(told).filter(|_| !self.flag(flag::HANDED_OFF))
    }
    fn runnable_event(&self, s: Setting, active: bool) -> OwnedTerm {
        event(s, self.self_pid(), active, |h| {
            if self.flag(flag::ENDING) {
                Term::int(0)
            } else if self.is_hibernating() {
                h.tuple(&[am::erlang.into(), am::hibernate.into(), Term::int(3)])
            } else {
                self.place(h)
            }
        })
    }
    /// The process can run, or (where it ends) never will again. To be called by whoever may run it.
    #[cold]
    pub(crate) fn profile(&self, active: bool) {
        // Who tells the profiler wakes it with the lock held.
        if !watches(what::PROCS) || PROFILER.load(Relaxed) == self.pid() {
            return;
        }
        let mut guard = setting();
        if let Some(s) = self.is_profiled(*guard) {
            let m = self.runnable_event(s, active);
            tell(&mut guard, s.profiler, m);
        }
    }
    /// It does not wait any more. What is suspended is not active for that.
    #[cold]
    pub(crate) fn profile_woken(&self) {
        let suspended = self.flag(flag::SUSPENDED);
        self.set_flag(flag::TOLD_INACTIVE, suspended);
        if !suspended {
            self.profile(true);
        }
    }
    /// A turn begins, perhaps of a process that was suspended until now.
    pub(crate) fn profile_turn(&self) {
        if self.set_flag(flag::TOLD_INACTIVE, false) {
            self.profile(true);
        }
    }
    /// Calls a port from a function of `erts_internal`, and is not active meanwhile where that was
    /// asked for.
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

/// Has a process wait, as `Ticket::park` does, and tells of it where it does.
#[cold]
pub(crate) fn park(t: Ticket) -> Option<Ticket> {
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

/// Is somebody told when ports work?
#[inline]
pub fn watches_ports() -> bool {
    watches(what::PORTS)
}
/// A port begins or ends to work.
#[cold]
pub fn port(id: u32, active: bool) {
    let mut guard = setting();
    let told = |s: &Setting| s.what & what::PORTS != 0 && s.profiler != Tracee::Port(id);
    if let Some(s) = guard.filter(told) {
        let m = event(s, Term::local_port(id), active, |_| Term::int(0));
        tell(&mut guard, s.profiler, m);
    }
}

/// A scheduler sleeps or wakes: `{profile, scheduler, Id, State, Awake, Time}`.
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
/// Has the thread tell the profiler.
fn have_told(profiler: Tracee, m: OwnedTerm) {
    if let Some(teller) = teller() {
        let _ = teller.send((profiler, m));
    }
}
type Teller = Sender<(Tracee, OwnedTerm)>;

/// That thread, started when it is first needed.
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
