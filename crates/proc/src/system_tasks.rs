//! System tasks: work that a process does for others between its time slices, by priority.

use std::collections::VecDeque;

use kvik_sync::pin;

use crate::process::{flag, table};
use crate::signal_types::Closure;
use crate::{Priority, Proc};

pub struct SysTask {
    /// The requester.
    pub from: u32,
    /// Whether the heap is collected first.
    pub collect: bool,
    /// Called with the process, or with `None` if it has ended instead.
    pub run: Closure,
}

/// Which tasks an ending process left undone.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Dropped {
    None,
    /// Only tasks without a living requester other than the process itself.
    Unheard,
    Heard,
}

/// Normal tasks that run before a waiting low one.
const NORMAL_BEFORE_LOW: u32 = 8;

#[derive(Default)]
pub struct SysTasks {
    by_priority: [VecDeque<SysTask>; 4],
    /// Normal tasks taken since the last low one.
    passed: u32,
    /// Collections that must wait.
    later: Vec<(Priority, SysTask)>,
}

impl SysTasks {
    fn add(&mut self, p: Priority, t: SysTask) {
        self.by_priority[p as usize].push_back(t);
    }
    fn take(&mut self) -> Option<(Priority, SysTask)> {
        use Priority::*;
        let low_is_due = self.passed >= NORMAL_BEFORE_LOW;
        let order = if low_is_due { [Max, High, Low, Normal] } else { Priority::ALL };
        let p = order.into_iter().find(|p| !self.by_priority[*p as usize].is_empty())?;
        match p {
            Low => self.passed = 0,
            Normal => self.passed += 1,
            _ => {}
        }
        self.by_priority[p as usize].pop_front().map(|t| (p, t))
    }
}

impl Proc {
    /// Adds a task, to be done before the process runs again.
    pub fn add_task(&self, p: Priority, t: SysTask) {
        self.with_rare(|x| x.tasks.get_or_insert_default().add(p, t));
        self.set_flag(flag::TASKS, true);
    }
    /// Whether the heap may be collected on request. (A heap with a suspended BIF is collected
    /// after that has ended.)
    fn may_collect(&self) -> bool {
        !self.flag(flag::GC_OFF)
    }
    /// Adds a task that was taken, as the first to be done.
    pub(crate) fn put_task_back(&self, p: Priority, t: SysTask) {
        self.with_rare(|x| x.tasks.get_or_insert_default().by_priority[p as usize].push_front(t));
        self.set_flag(flag::TASKS, true);
    }
    /// The next task that can be done now, and its priority.
    pub(crate) fn next_task(&self) -> Option<(Priority, SysTask)> {
        let all = || self.with_rare(|x| x.tasks.as_deref_mut().and_then(SysTasks::take));
        while let Some((p, t)) = all() {
            if !t.collect || self.may_collect() {
                return Some((p, t));
            }
            self.with_rare(|x| x.tasks.get_or_insert_default().later.push((p, t)));
            self.set_flag(flag::CHORES_LATER, true);
        }
        self.set_flag(flag::TASKS, false);
        None
    }
    /// Moves postponed tasks back, once they can be done. True if some are left.
    pub(crate) fn take_up_tasks(&self) -> bool {
        let later = |x: &SysTasks| !x.later.is_empty();
        if self.rare(|x| x.tasks.as_deref().is_some_and(later)) != Some(true) {
            return false;
        }
        if !self.may_collect() {
            return true;
        }
        let later = self.with_rare(|x| std::mem::take(&mut x.tasks.get_or_insert_default().later));
        later.into_iter().for_each(|(p, t)| self.add_task(p, t));
        false
    }
    /// The process ends: answers all its tasks without doing them.
    pub(crate) fn drop_tasks(&self) -> Dropped {
        if !self.set_flag(flag::TASKS, false) && !self.flag(flag::CHORES_LATER) {
            return Dropped::None;
        }
        let Some(mut all) = self.with_rare(|x| x.tasks.take()) else { return Dropped::None };
        let later = std::mem::take(&mut all.later);
        let mut dropped = Dropped::None;
        for (_, t) in std::iter::from_fn(|| all.take()).chain(later) {
            let hears = t.from != self.pid() && table().get(t.from, &pin()).is_some();
            match (hears, dropped) {
                (true, _) | (_, Dropped::Heard) => dropped = Dropped::Heard,
                _ => dropped = Dropped::Unheard,
            }
            (t.run)(None);
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_tasks_go_between_normal_ones() {
        let p = Proc::new(1, 100);
        let done = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let add = |prio, c: char| {
            let done = done.clone();
            let run = Box::new(move |_: Option<&Proc>| done.lock().unwrap().push(c));
            p.add_task(prio, SysTask { from: 2, collect: false, run });
        };
        "ab".chars().for_each(|c| add(Priority::Low, c));
        "0123456789".chars().for_each(|c| add(Priority::Normal, c));
        add(Priority::Max, 'M');
        while let Some((_, t)) = p.next_task() {
            (t.run)(Some(&p));
        }
        assert_eq!(*done.lock().unwrap(), "M01234567a89b");
        assert!(!p.flag(flag::TASKS));
    }
}
