//! [`Guard`]: while one is held, what was looked up in a [`SlotTable`](crate::SlotTable) stays in
//! memory.
//!
//! A scheduler pins the memory of all tables for as long as it runs processes ([`EpochPin`]), and
//! renews the pin between two of them. A guard that is taken while the pin exists only counts.

use std::cell::Cell;
use std::marker::PhantomData;

use crossbeam_epoch as epoch;

thread_local! {
    /// Guards that rely on this thread's `EpochPin`, plus one for the pin itself; 0 without it.
    static NESTED_GUARDS: Cell<usize> = const { Cell::new(0) };
    /// Remaining checks for memory that can be freed.
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}
/// After so many checks, what this thread took out of tables has been freed, unless others pin it.
const LOOKS_PER_FLUSH: u32 = 64;

/// This thread has deferred a free.
#[inline]
pub(crate) fn put_off() {
    LOOKS.set(LOOKS_PER_FLUSH)
}

/// What has been looked up stays in memory while this is held.
pub struct Guard {
    /// `None`: the thread's `EpochPin` protects it.
    own: Option<epoch::Guard>,
    one_thread: PhantomData<*mut ()>,
}

#[inline]
pub fn pin() -> Guard {
    let held = NESTED_GUARDS.get();
    let own = match held {
        0 => Some(epoch::pin()),
        _ => {
            NESTED_GUARDS.set(held + 1);
            None
        }
    };
    Guard { own, one_thread: PhantomData }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if self.own.is_none() {
            NESTED_GUARDS.set(NESTED_GUARDS.get() - 1);
        }
    }
}

/// The pin of a thread that looks things up all the time.
pub struct EpochPin {
    epoch: Option<epoch::Guard>,
}

impl EpochPin {
    /// One is enough for a thread; a second has no effect.
    pub fn take() -> EpochPin {
        let mut hold = EpochPin { epoch: None };
        hold.resume();
        hold
    }
    fn resume(&mut self) {
        if NESTED_GUARDS.get() == 0 {
            self.epoch = Some(epoch::pin());
            NESTED_GUARDS.set(1);
        }
    }
    /// Unpins what was looked up until now, unless this thread holds a guard.
    #[inline]
    pub fn renew(&mut self) {
        if let Some(epoch) = self.epoch.as_mut().filter(|_| NESTED_GUARDS.get() == 1) {
            epoch.repin();
        }
    }
    /// Frees what no thread pins, if this thread has taken something out of a table lately: all
    /// threads share the list of deferred frees, and a check takes longer with each thread that
    /// makes one.
    #[inline]
    pub fn flush_some(&self) {
        let looks = LOOKS.get();
        if looks > 0 {
            LOOKS.set(looks - 1);
            self.flush();
        }
    }
    /// The same unconditionally.
    pub fn flush(&self) {
        if let Some(epoch) = &self.epoch {
            epoch.flush();
        }
    }
    /// Pins nothing while `f` runs, so that other threads' frees needn't wait for this one.
    pub fn released<R>(&mut self, f: impl FnOnce() -> R) -> R {
        self.let_go();
        let r = f();
        self.resume();
        r
    }
    fn let_go(&mut self) {
        if NESTED_GUARDS.get() == 1 && self.epoch.take().is_some() {
            NESTED_GUARDS.set(0);
        }
    }
}

impl Drop for EpochPin {
    fn drop(&mut self) {
        self.let_go();
        // Guards that rely on it are left: it has to stay.
        std::mem::forget(self.epoch.take());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn guards_nest_in_an_epoch_pin() {
        assert!(pin().own.is_some());
        let mut hold = EpochPin::take();
        let guard = pin();
        assert!(guard.own.is_none());
        assert!(epoch::is_pinned());
        hold.released(|| assert!(epoch::is_pinned(), "a guard is left"));
        drop(guard);
        hold.renew();
        hold.released(|| {
            assert!(!epoch::is_pinned());
            assert!(pin().own.is_some());
        });
        assert!(epoch::is_pinned());
        assert_eq!(NESTED_GUARDS.get(), 1);
        drop(hold);
        assert!(!epoch::is_pinned());
        let (hold, guard) = (EpochPin::take(), pin());
        drop(hold);
        assert!(epoch::is_pinned());
        drop(guard);
        assert!(epoch::is_pinned(), "nobody can tell any more");
    }
}
