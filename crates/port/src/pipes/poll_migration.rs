//! Moves a program's descriptors between the poll sets of schedulers.

use std::os::fd::AsRawFd;

use kvik_env::cpu_affinity::cpu_of;
use kvik_env::poll::Interest;
use kvik_proc::sched::current;

use super::Pipes;
use crate::affinity::{policy, scheduler_load};
use crate::poll::{self, Source};
use crate::port::state::Core;

/// Consecutive writes from another scheduler before the input moves to that one's poll set: by then
/// it is known whether the program answers each of them, and how many answers each set waits for.
const WRITES_BEFORE_MIGRATION: u32 = 2 * policy::EXCHANGES_BEFORE_CHECK;

/// Whether set `there` waits for fewer answers than set `here`, where the port is. `counted`: this
/// port's answer is included in `here`.
fn lighter(there: usize, here: usize, counted: bool) -> bool {
    there < here + usize::from(!counted)
}

impl Pipes {
    /// If each write comes from a scheduler other than `home`, each answer arrives at `home`, which
    /// wakes the process on the other one. The input then moves to the writer's poll set, but not
    /// if that set waits for as many answers as this one: chains that all moved one way would leave
    /// a CPU idle.
    pub(super) fn follow(&mut self, core: &Core) {
        let Some(here) = current().filter(|i| *i != self.home) else {
            return self.away = 0;
        };
        self.away += 1;
        if self.away < WRITES_BEFORE_MIGRATION {
            return;
        }
        self.away = 0;
        if lighter(
            scheduler_load::pending_answers(here),
            scheduler_load::pending_answers(self.home),
            self.owed.is_some(),
        ) {
            self.go(core, here);
        }
    }
    /// Under load no thread sleeps for long, and the kernel leaves each program on its last CPU:
    /// the scheduler on that CPU then awaits the answers too, so that no wake-up crosses CPUs.
    pub(super) fn go_to_program(&mut self, core: &Core) {
        let Some(child) = self.child.as_ref().filter(|_| self.away == 0) else { return };
        let there = cpu_of(child.pid).and_then(|cpu| scheduler_load::on(cpu, self.home));
        there.into_iter().for_each(|there| self.go(core, there));
    }
    /// Moves the input to another poll set.
    fn go(&mut self, core: &Core, to: usize) {
        let Some(input) = self.input.as_ref().filter(|_| self.edge && self.listens) else { return };
        if self.ended || to == self.home {
            return;
        }
        let add = |to| {
            let i = Interest { read: true, write: false, edge: true };
            poll::add(to, input.as_raw_fd(), Source::Input, core.id, i)
        };
        poll::remove(self.home, input.as_raw_fd());
        // The new set reports input that is there already.
        if add(to).is_ok() {
            self.home = to;
            self.owed = self.owed.take().map(|_| scheduler_load::PendingAnswer::to(to));
        } else {
            let _ = add(self.home);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chained_programs_spread_over_poll_sets() {
        // A program alone in its set, whether its answer is counted or not.
        assert!(lighter(0, 1, true) && lighter(0, 0, false));
        // As much there as here, or more.
        assert!(!lighter(4, 4, true) && !lighter(5, 3, true) && !lighter(1, 0, false));
        assert!(lighter(3, 5, true));
    }
}
