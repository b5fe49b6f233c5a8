//! In which poll set a program's answers are waited for.

use std::os::fd::AsRawFd;

use kvik_env::place::cpu_of;
use kvik_env::poll::Interest;
use kvik_proc::sched::current;

use super::Pipes;
use crate::affinity::{policy, scheduler_load};
use crate::poll::{self, Source};
use crate::port::state::Core;

/// Writes from another scheduler, one after the other, before the input goes to that one's poll set:
/// by then it is known who answers each of them, and what each set is owed.
const AWAY: u32 = 2 * policy::ROW;

/// Is there less under way where a port may go than where it is? By what either is owed, this port's
/// answer being among it or not.
fn lighter(there: usize, here: usize, counted: bool) -> bool {
    there < here + usize::from(!counted)
}

impl Pipes {
    /// Who writes from another scheduler each time would be woken there by the one, run here, and
    /// write from here: the answer is then waited for where he writes. Not so where that set is owed
    /// as many answers as this one: chains that all went one way would leave a processor idle.
    pub(super) fn follow(&mut self, core: &Core) {
        let Some(here) = current().filter(|i| *i != self.home) else {
            return self.away = 0;
        };
        self.away += 1;
        if self.away < AWAY {
            return;
        }
        self.away = 0;
        if lighter(scheduler_load::owed(here), scheduler_load::owed(self.home), self.owed.is_some())
        {
            self.go(core, here);
        }
    }
    /// Where much is under way nobody sleeps for long, and the kernel leaves each program where it
    /// ran last: the answers are waited for by who runs there too, so that neither is woken across.
    pub(super) fn go_to_program(&mut self, core: &Core) {
        let Some(child) = self.child.as_ref().filter(|_| self.away == 0) else { return };
        let there = cpu_of(child.pid).and_then(|cpu| scheduler_load::on(cpu, self.home));
        there.into_iter().for_each(|there| self.go(core, there));
    }
    /// The input goes to another poll set.
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
        // What is there by now is told by the new one.
        if add(to).is_ok() {
            self.home = to;
            self.owed = self.owed.take().map(|_| scheduler_load::Owed::to(to));
        } else {
            let _ = add(self.home);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_spread() {
        // Alone, whether it is known to answer or not.
        assert!(lighter(0, 1, true) && lighter(0, 0, false));
        // As much there as here, or more.
        assert!(!lighter(4, 4, true) && !lighter(5, 3, true) && !lighter(1, 0, false));
        assert!(lighter(3, 5, true));
    }
}
