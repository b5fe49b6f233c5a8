//! Affinity policy: runs a program that answers at once on its scheduler's CPU.
//!
//! A scheduler that writes to a blocked program is about to block on its reply, and the program
//! blocks again after replying, so the two never need two CPUs at once. The kernel does not know
//! that: it wakes the program on an idle CPU, and the reply wakes the scheduler across CPUs again.
//! Each cross-CPU wake-up takes several times the work that both do for a line. On one CPU they
//! alternate without interrupts and with warm caches.
//!
//! A program is pinned (`pinned_child.rs`) only if it has answered each write well before the next,
//! with little CPU time; its answers arrive in this scheduler's poll set; and this scheduler only
//! waits for a few such programs, on a CPU that no other such scheduler uses (`placement.rs`). A
//! program that still owes an answer to an earlier write is busy and better runs in parallel with
//! us; one that leaves a write unanswered is assumed to do so for good. It must also be eligible
//! (`eligibility.rs`): it starts nothing that would inherit the pinning, and never asks for its
//! CPUs.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use kvik_env::cpu_affinity::{cpu_nanos_of, CpuSet};

use crate::affinity::eligibility;
use crate::affinity::pinned_child::{pinned_children, PinnedChild};
use crate::poll;

/// Consecutive exchanges (one write, then an answer) between checks of the program's CPU time,
/// until a check finds it small.
pub(crate) const EXCHANGES_BEFORE_CHECK: u32 = 8;
/// Exchanges after which the program runs where it stays as long as all CPUs are in use.
const CHECKS_BEFORE_SETTLED: u32 = 2;
/// Exchanges between checks after that.
const EXCHANGES_BETWEEN_CHECKS: u32 = 64;
/// Limit of the program's CPU time per exchange: less than two cross-CPU wake-ups cost. Waking us
/// may be half of it.
const REPLY_CPU_LIMIT_NS: i64 = 40_000;
/// Events of one wait. With more, enough is under way to keep all CPUs busy.
const MAX_EVENTS_PER_WAIT: usize = 8;
/// The same with more CPUs than schedulers: three programs together have enough work to be better
/// off on a CPU that would be idle.
const FEW_SCHEDULERS: usize = 2;

thread_local! {
    /// This thread's scheduler number, if its last wait for events brought few and it has done
    /// little since.
    static WAITING_SCHEDULER: Cell<Option<usize>> = const { Cell::new(None) };
    /// The last look for events brought more than [`MAX_EVENTS_PER_WAIT`].
    static MANY_EVENTS: Cell<bool> = const { Cell::new(false) };
}
/// One of these two limits, chosen at the first call.
fn few() -> usize {
    kvik_state::vm_state! {
        static SEEN: OnceLock<usize> = OnceLock::new();
    }
    *SEEN.get_or_init(|| match CpuSet::of(0) {
        Ok(all) if all.count() as usize > poll::count() => FEW_SCHEDULERS,
        _ => MAX_EVENTS_PER_WAIT,
    })
}
/// The thread got this many events. `waited`: it blocked for them, and did not only poll.
pub(crate) fn heard(scheduler: usize, events: usize, waited: bool) {
    MANY_EVENTS.set(events > MAX_EVENTS_PER_WAIT);
    if waited && events <= few() {
        WAITING_SCHEDULER.set(Some(scheduler));
    } else {
        goes_on(scheduler);
    }
}
/// The scheduler has other work: its pinned programs are unpinned.
fn goes_on(scheduler: usize) {
    WAITING_SCHEDULER.set(None);
    pinned_children(scheduler).into_iter().for_each(|k| k.let_go());
}

/// The policy's state for one program.
#[derive(Default)]
pub(crate) struct AffinityPolicy {
    /// Consecutive exchanges since the last check.
    row: u32,
    /// It has not answered the last write.
    asked: bool,
    /// Writes that were unanswered when the next one came: the program is busy and does not sleep.
    owes: u32,
    /// Its CPU time at the last check, in nanoseconds.
    used: Option<i64>,
    /// The last check found little CPU time per exchange.
    light: bool,
    /// Whether it is eligible, once that was checked.
    plain: Option<bool>,
    /// Its CPU affinity was set by others, or we may not set it: it is left alone for good.
    alone: bool,
    kept: Option<Arc<PinnedChild>>,
    /// `settled`: it runs where it is expected to stay. `moved`: it may have migrated since its CPU
    /// was last checked.
    settled: bool,
    moved: bool,
}

impl AffinityPolicy {
    /// It has answered.
    pub fn answers(&mut self) {
        if !std::mem::take(&mut self.asked) {
            self.owes = self.owes.saturating_sub(1);
        }
    }
    /// It has not answered the last write: it is busy.
    pub fn is_silent(&self) -> bool {
        self.asked
    }
    /// The last write is unanswered, and it has answered each earlier write before the next.
    pub fn owes_one(&self) -> bool {
        self.asked && self.used.is_some()
    }
    /// Whether to re-check the program's CPU: when it replies, with too many events for pinning.
    pub fn may_be_elsewhere(&mut self) -> bool {
        self.moved && MANY_EVENTS.get() && std::mem::take(&mut self.moved)
    }
    /// Called before a write: pins it here if that pays and its answer arrives here.
    pub fn wakes(&mut self, pid: i32, home: usize) {
        if std::mem::replace(&mut self.asked, true) {
            self.owes = self.owes.saturating_add(1);
            self.unpin();
            return;
        }
        if self.owes > 0 {
            return;
        }
        self.row += 1;
        if self.row == CHECKS_BEFORE_SETTLED && !self.settled {
            (self.settled, self.moved) = (true, true);
        }
        if self.row >= self.until_look() {
            self.look(pid);
        }
        if let (true, Some(scheduler)) =
            (self.light, WAITING_SCHEDULER.get().filter(|s| *s == home))
        {
            self.pin(pid, scheduler);
        }
    }
    /// Exchanges until the next check: few at first, so that pinning starts early.
    fn until_look(&self) -> u32 {
        if self.light || self.alone {
            EXCHANGES_BETWEEN_CHECKS
        } else {
            EXCHANGES_BEFORE_CHECK
        }
    }
    fn pin(&mut self, pid: i32, scheduler: usize) {
        if self.kept.as_ref().is_some_and(|k| k.stays(scheduler)) {
            return;
        }
        self.kept.take().into_iter().for_each(|k| k.let_go());
        let is_plain = *self.plain.get_or_insert_with(|| eligibility::is_eligible(pid));
        let all = CpuSet::of(pid).ok().filter(|all| is_plain && all.count() > 1);
        self.kept = all.and_then(|all| PinnedChild::new(pid, all, scheduler));
        if self.kept.is_none() {
            (self.light, self.alone) = (false, true);
        }
    }
    /// Starts the policy anew and restores the program's CPU set. Also done when it or its port
    /// ends.
    pub fn unpin(&mut self) {
        (self.row, self.used, self.light) = (0, None, false);
        self.kept.take().into_iter().for_each(|k| k.let_go());
    }
    #[cold]
    fn look(&mut self, pid: i32) {
        let exchanges = i64::from(self.row);
        self.row = 0;
        self.alone |= self.kept.as_ref().is_some_and(|k| !k.is_ours());
        let now = cpu_nanos_of(pid).ok().filter(|_| !self.alone);
        let spent = now.and_then(|now| self.used.replace(now).map(|before| now - before));
        self.light = spent.is_some_and(|ns| ns < REPLY_CPU_LIMIT_NS * exchanges);
        self.moved = self.light;
        if !self.light {
            self.kept.take().into_iter().for_each(|k| k.let_go());
        }
    }
}
impl Drop for AffinityPolicy {
    fn drop(&mut self) {
        self.unpin();
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use kvik_state::Vm;

    use super::*;

    /// A program that waits for a line. Returns once it sleeps: a program that has just been
    /// started still works, loading its libraries.
    fn program(path: &str, args: &[&str]) -> Child {
        let program = Command::new(path).args(args).stdin(Stdio::piped()).spawn().unwrap();
        let stat = format!("/proc/{}/stat", program.id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        program
    }
    fn end(mut program: Child) {
        drop(program.stdin.take());
        program.wait().unwrap();
    }
    fn exchange(p: &mut AffinityPolicy, pid: i32, times: u32) {
        for _ in 0..times {
            p.answers();
            p.wakes(pid, 0);
        }
    }
    /// It may run on the same CPUs as we may, since it is our child.
    fn is_free(pid: i32) -> bool {
        CpuSet::of(pid) == CpuSet::of(0)
    }
    /// Always true on a machine with one CPU.
    fn is_pinned(pid: i32) -> bool {
        CpuSet::of(pid).unwrap().count() == 1
    }

    #[test]
    fn pins_only_programs_that_answer_with_little_work() {
        Vm::new().enter(|| {
            let cat = program("/bin/cat", &[]);
            let pid = cat.id() as i32;
            let mut p = AffinityPolicy::default();
            heard(0, 1, true);
            exchange(&mut p, pid, EXCHANGES_BEFORE_CHECK - 1);
            assert!(!p.owes_one());
            exchange(&mut p, pid, EXCHANGES_BEFORE_CHECK);
            assert!(p.owes_one() && is_free(pid));
            // It is written to from another scheduler than the one that gets its answers.
            p.answers();
            p.wakes(pid, 1);
            assert!(is_free(pid));
            exchange(&mut p, pid, 1);
            assert!(is_pinned(pid));
            // It stays pinned until the scheduler has other work.
            exchange(&mut p, pid, 3 * EXCHANGES_BETWEEN_CHECKS);
            assert!(is_pinned(pid));
            heard(0, 0, false);
            assert!(is_free(pid));
            exchange(&mut p, pid, EXCHANGES_BETWEEN_CHECKS);
            assert!(is_free(pid));
            heard(0, few(), true);
            exchange(&mut p, pid, 1);
            assert!(is_pinned(pid));
            heard(0, few() + 1, true);
            assert!(is_free(pid));
            heard(0, 0, true);
            exchange(&mut p, pid, 1);
            assert!(is_pinned(pid));
            // A second write before the answer: the policy starts anew when both are answered.
            p.wakes(pid, 0);
            assert!(!p.owes_one() && is_free(pid));
            exchange(&mut p, pid, 4 * EXCHANGES_BETWEEN_CHECKS);
            assert!(is_free(pid));
            p.answers();
            exchange(&mut p, pid, EXCHANGES_BEFORE_CHECK + EXCHANGES_BETWEEN_CHECKS);
            assert!(is_pinned(pid));
            // Its port ends.
            drop(p);
            assert!(is_free(pid));
            end(cat);
        })
    }

    #[test]
    fn program_pinned_by_others_keeps_its_cpu() {
        Vm::new().enter(|| {
            let cat = program("/bin/cat", &[]);
            let pid = cat.id() as i32;
            let all = CpuSet::of(pid).unwrap();
            let mut p = AffinityPolicy::default();
            heard(0, 1, true);
            exchange(&mut p, pid, EXCHANGES_BEFORE_CHECK + EXCHANGES_BETWEEN_CHECKS);
            // Its CPU set becomes all CPUs, which is not what we set.
            all.keep(pid).unwrap();
            exchange(&mut p, pid, EXCHANGES_BETWEEN_CHECKS);
            if all.count() > 1 {
                assert!(p.alone && !is_pinned(pid));
            }
            // Its CPU set becomes one CPU, before we set it.
            CpuSet::here().unwrap().keep(pid).unwrap();
            let mut p = AffinityPolicy::default();
            exchange(&mut p, pid, 4 * EXCHANGES_BETWEEN_CHECKS);
            drop(p);
            assert_eq!(CpuSet::of(pid).unwrap().count(), 1);
            end(cat);
        })
    }

    #[test]
    fn ineligible_program_is_not_pinned() {
        Vm::new().enter(|| {
            let sh = program("/bin/sh", &["-c", "read line"]);
            let pid = sh.id() as i32;
            let mut p = AffinityPolicy::default();
            heard(0, 1, true);
            exchange(&mut p, pid, EXCHANGES_BEFORE_CHECK + 4 * EXCHANGES_BETWEEN_CHECKS);
            assert!(p.owes_one() && is_free(pid));
            end(sh);
        })
    }

    #[test]
    fn busy_program_is_not_pinned() {
        Vm::new().enter(|| {
            let me = std::process::id() as i32;
            let mut p = AffinityPolicy::default();
            p.plain = Some(true);
            heard(0, 1, true);
            exchange(&mut p, me, EXCHANGES_BEFORE_CHECK);
            for _ in 0..3 {
                let from = cpu_nanos_of(me).unwrap();
                while cpu_nanos_of(me).unwrap() - from
                    < REPLY_CPU_LIMIT_NS * i64::from(2 * EXCHANGES_BEFORE_CHECK)
                {}
                exchange(&mut p, me, EXCHANGES_BEFORE_CHECK);
                assert!(p.owes_one() && !p.light);
            }
        })
    }
}
