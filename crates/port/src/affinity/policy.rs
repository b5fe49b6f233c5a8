//! Has a program that answers at once run on the processor that its scheduler runs on.
//!
//! Who writes to a sleeping program is about to sleep himself, and so will the program be when it has
//! answered. The kernel does not know that: it wakes the program on a processor that is idle, where
//! there is one, and that one wakes the first; each wake-up goes across, and takes several times what
//! both do for a line. Here they take turns on one processor, without interrupts and with warm caches.
//!
//! Only one is kept here (`pinned_child.rs`) that is worth it: it has long answered each write before the
//! next, with little work; its answers are heard here; and this scheduler does nothing but wait for
//! few such programs, on a processor where no other one does (`placement.rs`). One that
//! still owes an answer to an earlier write is at work, and better so at the same time as we are; of
//! one that leaves a write without an answer we think so for good. And only one that cannot tell
//! (`eligibility.rs`): it starts nothing that would have to stay where it is, and never asks where that is.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use kvik_env::place::{cpu_nanos_of, Processors};

use crate::affinity::eligibility;
use crate::affinity::pinned_child::{keeps, Kept};
use crate::poll;

/// Exchanges in a row, one write and then an answer, before its work is looked at, and again until it
/// is seen to be little.
pub(crate) const ROW: u32 = 8;
/// Exchanges before it has been put where it stays as long as all processors are in use.
const SETTLED: u32 = 2;
/// Exchanges from one look to the next after that.
const LOOK: u32 = 64;
/// Processor time of the program for an exchange: less than the two wake-ups across processors take.
/// Half of it may be that of waking us.
const LIGHT_NS: i64 = 40_000;
/// Events of one wait. Where there are more, enough is under way to keep all processors awake.
const FEW: usize = 8;
/// The same where there are more processors than schedulers: three programs have enough to do together
/// to be better off on one that would be idle.
const FEW_SCHEDULERS: usize = 2;

thread_local! {
    /// The scheduler that this thread is, if it has waited for events, of which few came, and has
    /// done little since.
    static WAITS: Cell<Option<usize>> = const { Cell::new(None) };
    /// More came when it looked last.
    static MANY: Cell<bool> = const { Cell::new(false) };
}
/// One of these two, from when it is asked first.
fn few() -> usize {
    kvik_state::vm_state! {
        static SEEN: OnceLock<usize> = OnceLock::new();
    }
    *SEEN.get_or_init(|| match Processors::of(0) {
        Ok(all) if all.count() as usize > poll::count() => FEW_SCHEDULERS,
        _ => FEW,
    })
}
/// So many events came to the thread, which waited for them or only looked.
pub(crate) fn heard(scheduler: usize, events: usize, waited: bool) {
    MANY.set(events > FEW);
    if waited && events <= few() {
        WAITS.set(Some(scheduler));
    } else {
        goes_on(scheduler);
    }
}
/// It has other things to do.
fn goes_on(scheduler: usize) {
    WAITS.set(None);
    keeps(scheduler).into_iter().for_each(|k| k.let_go());
}

/// What is known of a program.
#[derive(Default)]
pub(crate) struct Program {
    /// Exchanges without one that was no exchange, up to the next look.
    row: u32,
    /// It has not answered the last write.
    asked: bool,
    /// Writes that it had not answered when the next came: it has work before it, and does not sleep.
    owes: u32,
    /// The processor time it had used at the last look.
    used: Option<i64>,
    /// It was seen to do little.
    light: bool,
    /// Whether it starts no others, once that was looked at.
    plain: Option<bool>,
    /// Somebody else says where it runs, or we may not: it is left alone for good.
    alone: bool,
    kept: Option<Arc<Kept>>,
    /// It has come to where it stays, as far as it is known; and may have been moved since that was
    /// looked at.
    settled: bool,
    moved: bool,
}

impl Program {
    /// It has said something.
    pub fn answers(&mut self) {
        if !std::mem::take(&mut self.asked) {
            self.owes = self.owes.saturating_sub(1);
        }
    }
    /// It has said nothing since it was written to last: it has something to do.
    pub fn is_silent(&self) -> bool {
        self.asked
    }
    /// It was written to last, and has long answered each write before the next.
    pub fn owes_one(&self) -> bool {
        self.asked && self.used.is_some()
    }
    /// Is it to be seen where it runs? As it answers, where more is under way than that it is kept.
    pub fn may_be_elsewhere(&mut self) -> bool {
        self.moved && MANY.get() && std::mem::take(&mut self.moved)
    }
    /// It is to be written to: has it wake here, if that is better and its answer is heard here.
    pub fn wakes(&mut self, pid: i32, home: usize) {
        if std::mem::replace(&mut self.asked, true) {
            self.owes = self.owes.saturating_add(1);
            self.goes_where_it_likes();
            return;
        }
        if self.owes > 0 {
            return;
        }
        self.row += 1;
        if self.row == SETTLED && !self.settled {
            (self.settled, self.moved) = (true, true);
        }
        if self.row >= self.until_look() {
            self.look(pid);
        }
        if let (true, Some(scheduler)) = (self.light, WAITS.get().filter(|s| *s == home)) {
            self.keep(pid, scheduler);
        }
    }
    /// Soon at first, so that it is kept soon.
    fn until_look(&self) -> u32 {
        if self.light || self.alone {
            LOOK
        } else {
            ROW
        }
    }
    fn keep(&mut self, pid: i32, scheduler: usize) {
        if self.kept.as_ref().is_some_and(|k| k.stays(scheduler)) {
            return;
        }
        self.kept.take().into_iter().for_each(|k| k.let_go());
        let is_plain = *self.plain.get_or_insert_with(|| eligibility::is_plain(pid));
        let all = Processors::of(pid).ok().filter(|all| is_plain && all.count() > 1);
        self.kept = all.and_then(|all| Kept::new(pid, all, scheduler));
        if self.kept.is_none() {
            (self.light, self.alone) = (false, true);
        }
    }
    /// It begins anew, and may run where it might before. So it does when it ends or its port.
    pub fn goes_where_it_likes(&mut self) {
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
        self.light = spent.is_some_and(|ns| ns < LIGHT_NS * exchanges);
        self.moved = self.light;
        if !self.light {
            self.kept.take().into_iter().for_each(|k| k.let_go());
        }
    }
}
impl Drop for Program {
    fn drop(&mut self) {
        self.goes_where_it_likes();
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use kvik_state::Vm;

    use super::*;

    /// A program that waits for a line, and has come to that: one that has just been started still
    /// works, as it finds its libraries.
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
    fn exchange(p: &mut Program, pid: i32, times: u32) {
        for _ in 0..times {
            p.answers();
            p.wakes(pid, 0);
        }
    }
    /// It may run where we may, whose child it is.
    fn is_free(pid: i32) -> bool {
        Processors::of(pid) == Processors::of(0)
    }
    /// Where there is one processor only, there is nothing to see.
    fn is_kept(pid: i32) -> bool {
        Processors::of(pid).unwrap().count() == 1
    }

    #[test]
    fn only_who_answers_each_time_with_little_work() {
        Vm::new().enter(|| {
            let cat = program("/bin/cat", &[]);
            let pid = cat.id() as i32;
            let mut p = Program::default();
            heard(0, 1, true);
            exchange(&mut p, pid, ROW - 1);
            assert!(!p.owes_one());
            exchange(&mut p, pid, ROW);
            assert!(p.owes_one() && is_free(pid));
            // It is written to from elsewhere than where it is heard.
            p.answers();
            p.wakes(pid, 1);
            assert!(is_free(pid));
            exchange(&mut p, pid, 1);
            assert!(is_kept(pid));
            // As long as it is so, and no longer.
            exchange(&mut p, pid, 3 * LOOK);
            assert!(is_kept(pid));
            heard(0, 0, false);
            assert!(is_free(pid));
            exchange(&mut p, pid, LOOK);
            assert!(is_free(pid));
            heard(0, few(), true);
            exchange(&mut p, pid, 1);
            assert!(is_kept(pid));
            heard(0, few() + 1, true);
            assert!(is_free(pid));
            heard(0, 0, true);
            exchange(&mut p, pid, 1);
            assert!(is_kept(pid));
            // A second write before the answer: it begins anew when it has answered both.
            p.wakes(pid, 0);
            assert!(!p.owes_one() && is_free(pid));
            exchange(&mut p, pid, 4 * LOOK);
            assert!(is_free(pid));
            p.answers();
            exchange(&mut p, pid, ROW + LOOK);
            assert!(is_kept(pid));
            // Its port ends.
            drop(p);
            assert!(is_free(pid));
            end(cat);
        })
    }

    #[test]
    fn who_is_kept_by_others_stays_there() {
        Vm::new().enter(|| {
            let cat = program("/bin/cat", &[]);
            let pid = cat.id() as i32;
            let all = Processors::of(pid).unwrap();
            let mut p = Program::default();
            heard(0, 1, true);
            exchange(&mut p, pid, ROW + LOOK);
            // Somebody says that it may run anywhere, which is not what we said.
            all.keep(pid).unwrap();
            exchange(&mut p, pid, LOOK);
            if all.count() > 1 {
                assert!(p.alone && !is_kept(pid));
            }
            // And that it may run on one processor only, before we say so.
            Processors::here().unwrap().keep(pid).unwrap();
            let mut p = Program::default();
            exchange(&mut p, pid, 4 * LOOK);
            drop(p);
            assert_eq!(Processors::of(pid).unwrap().count(), 1);
            end(cat);
        })
    }

    #[test]
    fn who_could_tell_is_left_alone() {
        Vm::new().enter(|| {
            let sh = program("/bin/sh", &["-c", "read line"]);
            let pid = sh.id() as i32;
            let mut p = Program::default();
            heard(0, 1, true);
            exchange(&mut p, pid, ROW + 4 * LOOK);
            assert!(p.owes_one() && is_free(pid));
            end(sh);
        })
    }

    #[test]
    fn who_works_is_left_alone() {
        Vm::new().enter(|| {
            let me = std::process::id() as i32;
            let mut p = Program::default();
            p.plain = Some(true);
            heard(0, 1, true);
            exchange(&mut p, me, ROW);
            for _ in 0..3 {
                let from = cpu_nanos_of(me).unwrap();
                while cpu_nanos_of(me).unwrap() - from < LIGHT_NS * i64::from(2 * ROW) {}
                exchange(&mut p, me, ROW);
                assert!(p.owes_one() && !p.light);
            }
        })
    }
}
