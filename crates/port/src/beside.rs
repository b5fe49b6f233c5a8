//! Has a program that answers at once woken on the processor that its scheduler runs on.
//!
//! Who writes to a sleeping program is about to sleep himself, and so will the program be when it has
//! answered. The kernel does not know that: it wakes the program on a processor that is idle, where
//! there is one, and that one wakes the first; each wake-up goes across, and takes several times what
//! both do for a line. Here they take turns on one processor, without interrupts and with warm caches.
//!
//! For the length of the write that wakes it the program may run here only; it is queued here then,
//! and may run anywhere again before it runs at all. It stays where it is until the kernel has a
//! reason to move it. Only one is moved that is worth it: it has long answered each write before the
//! next, with little work; and this scheduler does nothing but wait for few such programs. One that
//! still owes an answer to an earlier write is at work, and better so at the same time as we are; of
//! one that leaves a write without an answer we think so for good.

use std::cell::Cell;

use kvik_sys::place::{cpu_nanos_of, Processors};

/// Exchanges in a row, one write and then an answer, before its work is looked at.
pub(crate) const ROW: u32 = 16;
/// Exchanges from one look to the next.
const LOOK: u32 = 64;
/// Processor time of the program for an exchange: less than a wake-up across processors takes.
const LIGHT_NS: i64 = 20_000;
/// Events of one wait. Where there are more, enough is under way to keep all processors awake.
const FEW: usize = 8;

thread_local! {
    /// This thread has waited for events, of which few came, and has done little since.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}
/// The thread waited, and so many events came.
pub(crate) fn waited(events: usize) {
    WAITS.set(events <= FEW);
}
/// It has other things to do, and only looked for events.
pub(crate) fn goes_on() {
    WAITS.set(false);
}

/// What is known of a program.
#[derive(Default)]
pub(crate) struct Program {
    /// Exchanges without one that was no exchange, up to [`ROW`] and then [`LOOK`].
    row: u32,
    /// It has not answered the last write.
    asked: bool,
    /// Writes that it had not answered when the next came: it has work before it, and does not sleep.
    owes: u32,
    /// The processor time it had used at the last look.
    used: Option<i64>,
    /// It is worth it, and may run on these.
    light: Option<Processors>,
    /// It is to be left alone for good: somebody says where it runs, or we may not.
    alone: bool,
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
    /// It is to be written to: it will be woken here until what this answers is dropped.
    pub fn wakes(&mut self, pid: i32) -> Option<Here> {
        if std::mem::replace(&mut self.asked, true) {
            self.owes = self.owes.saturating_add(1);
            (self.row, self.used, self.light) = (0, None, None);
            return None;
        }
        if self.owes > 0 {
            return None;
        }
        self.row += 1;
        if self.row >= if self.used.is_some() { LOOK } else { ROW } {
            self.look(pid);
        }
        if !WAITS.get() {
            return None;
        }
        let all = self.light?;
        let here = Here::keep(pid, all);
        if here.is_none() {
            (self.light, self.alone) = (None, true);
        }
        here
    }
    #[cold]
    fn look(&mut self, pid: i32) {
        let exchanges = i64::from(self.row);
        self.row = 0;
        let Some(now) = cpu_nanos_of(pid).ok().filter(|_| !self.alone) else { return };
        let spent = self.used.replace(now).map(|before| now - before);
        let is_light = spent.is_some_and(|ns| ns < LIGHT_NS * exchanges);
        let many = || Processors::of(pid).ok().filter(|p| p.count() > 1);
        self.light = if is_light { self.light.or_else(many) } else { None };
    }
}

/// A program that may run here only, until this is dropped.
pub(crate) struct Here {
    pid: i32,
    all: Processors,
}
impl Here {
    /// None where it may not run here anyway, or on others than are known.
    fn keep(pid: i32, all: Processors) -> Option<Here> {
        let here = Processors::here().filter(|here| all.has(here))?;
        if Processors::of(pid) != Ok(all) {
            return None;
        }
        here.keep(pid).ok()?;
        Some(Here { pid, all })
    }
}
impl Drop for Here {
    fn drop(&mut self) {
        // The program may have ended, by which nothing is lost.
        let _ = self.all.keep(self.pid);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// A program that does nothing, and has come to that. One that has just been started still works:
    /// it finds its libraries.
    fn stopped() -> Child {
        let program = Command::new("/bin/sh").args(["-c", "kill -STOP $$"]).spawn().unwrap();
        let stat = format!("/proc/{}/stat", program.id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
            std::thread::yield_now();
        }
        program
    }
    /// Exchanges with a program that does nothing.
    fn exchange(p: &mut Program, pid: i32, times: u32) -> u32 {
        (0..times)
            .filter(|_| {
                p.answers();
                p.wakes(pid).is_some()
            })
            .count() as u32
    }

    #[test]
    fn only_who_answers_each_time_with_little_work() {
        let mut stopped = stopped();
        let pid = stopped.id() as i32;
        let all = Processors::of(pid).unwrap();
        let mut p = Program::default();
        waited(1);
        exchange(&mut p, pid, ROW - 1);
        assert!(!p.owes_one());
        let mut p = Program::default();
        // With one processor there is nothing to choose.
        let some = u32::from(all.count() > 1);
        assert_eq!(exchange(&mut p, pid, ROW + LOOK - 1), 0);
        assert_eq!(exchange(&mut p, pid, 2 * LOOK), some * 2 * LOOK);
        goes_on();
        assert_eq!(exchange(&mut p, pid, LOOK), 0);
        waited(FEW + 1);
        assert_eq!(exchange(&mut p, pid, LOOK), 0);
        waited(FEW);
        assert_eq!(exchange(&mut p, pid, LOOK), some * LOOK);
        // It may run where it might before, and runs here only meanwhile.
        assert_eq!(Processors::of(pid), Ok(all));
        p.answers();
        let here = p.wakes(pid);
        assert_eq!(Processors::of(pid).unwrap().count(), 1.max(all.count() * (1 - some)));
        drop(here);
        assert_eq!(Processors::of(pid), Ok(all));
        // A second write before the answer: it begins anew when it has answered both.
        assert!(p.owes_one());
        assert!(p.wakes(pid).is_none());
        assert!(!p.owes_one());
        assert_eq!(exchange(&mut p, pid, 4 * LOOK), 0);
        p.answers();
        assert_eq!(exchange(&mut p, pid, ROW + LOOK - 1), 0);
        assert_eq!(exchange(&mut p, pid, 1), some);
        // Somebody else says where it runs.
        Processors::here().unwrap().keep(pid).unwrap();
        assert_eq!(exchange(&mut p, pid, 4 * LOOK), 0);
        assert_eq!(Processors::of(pid).unwrap().count(), 1);
        stopped.kill().unwrap();
        stopped.wait().unwrap();
    }

    #[test]
    fn who_works_is_left_alone() {
        let me = std::process::id() as i32;
        let mut p = Program::default();
        waited(1);
        for _ in 0..3 {
            assert_eq!(exchange(&mut p, me, ROW), 0);
            let from = cpu_nanos_of(me).unwrap();
            while cpu_nanos_of(me).unwrap() - from < LIGHT_NS * i64::from(2 * LOOK) {}
            assert_eq!(exchange(&mut p, me, LOOK), 0);
        }
    }
}
