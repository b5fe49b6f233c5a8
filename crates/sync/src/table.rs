//! [`Table`]: numbers to tasks, read without locks and without counting.
//!
//! A number's slot is the number modulo the table's size. Numbers are given in sequence; one whose
//! slot is taken is skipped. A task taken out stays in memory until every thread that may have
//! looked it up has let go of its [`Guard`] (epochs).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

use crossbeam_epoch as epoch;
use epoch::{Atomic, Owned};

/// What has been looked up stays in memory while this is held.
pub type Guard = epoch::Guard;

#[inline]
pub fn pin() -> Guard {
    epoch::pin()
}

pub struct Entry<T> {
    number: u32,
    task: Arc<T>,
}

pub struct Table<T> {
    slots: Box<[Atomic<Entry<T>>]>,
    /// The next number to try.
    next: AtomicU64,
    count: AtomicUsize,
    limit: usize,
    number_mask: u32,
}

impl<T: Send + Sync + 'static> Table<T> {
    /// Room for `limit` tasks, with numbers of `bits` bits.
    pub fn new(limit: usize, bits: u32) -> Table<T> {
        let size = limit.next_power_of_two().min(1 << bits);
        Table {
            slots: (0..size).map(|_| Atomic::null()).collect(),
            next: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            limit: limit.min(size),
            number_mask: ((1u64 << bits) - 1) as u32,
        }
    }
    #[inline]
    fn slot(&self, number: u32) -> &Atomic<Entry<T>> {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
    /// Gives a number and puts in what `make` makes for it. `None`: the table is full.
    pub fn insert<R>(&self, make: impl FnOnce(u32) -> (Arc<T>, R)) -> Option<R> {
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.limit {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let guard = &pin();
        let mut number = self.free_number(guard);
        let (task, r) = make(number);
        // Another thread whose number wraps onto the same slot may come first: `make` has named
        // the task already, so wait for nothing and take the number only where the slot is free.
        let mut new = Owned::new(Entry { number, task });
        loop {
            match self.slot(number).compare_exchange(
                epoch::Shared::null(),
                new,
                Ordering::AcqRel,
                Ordering::Acquire,
                guard,
            ) {
                Ok(_) => return Some(r),
                Err(e) => {
                    new = e.new;
                    std::hint::spin_loop();
                    number = new.number;
                }
            }
        }
    }
    fn free_number(&self, guard: &Guard) -> u32 {
        loop {
            let n = self.next.fetch_add(1, Ordering::Relaxed) as u32 & self.number_mask;
            if self.slot(n).load(Ordering::Relaxed, guard).is_null() {
                return n;
            }
        }
    }
    #[inline]
    pub fn get<'g>(&self, number: u32, guard: &'g Guard) -> Option<&'g T> {
        self.arc(number, guard).map(|a| &**a)
    }
    #[inline]
    pub fn arc<'g>(&self, number: u32, guard: &'g Guard) -> Option<&'g Arc<T>> {
        let p = self.slot(number).load(Ordering::Acquire, guard);
        // SAFETY: entries are freed by epochs only, and the guard holds this one.
        let e = unsafe { p.as_ref() }?;
        (e.number == number).then_some(&e.task)
    }
    /// Takes one out. True when it was there.
    pub fn remove(&self, number: u32) -> bool {
        let guard = pin();
        let slot = self.slot(number);
        let p = slot.load(Ordering::Acquire, &guard);
        // SAFETY: as in `arc`.
        if unsafe { p.as_ref() }.is_none_or(|e| e.number != number) {
            return false;
        }
        let null = epoch::Shared::null();
        if slot.compare_exchange(p, null, Ordering::AcqRel, Ordering::Relaxed, &guard).is_err() {
            return false;
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it is out of the table; later look-ups cannot find it.
        unsafe { guard.defer_destroy(p) };
        true
    }
    /// Every number in use, in no particular order.
    pub fn numbers(&self) -> Vec<u32> {
        let guard = pin();
        let all = self.slots.iter().map(|s| s.load(Ordering::Acquire, &guard));
        // SAFETY: as in `arc`.
        all.filter_map(|p| unsafe { p.as_ref() }.map(|e| e.number)).collect()
    }
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
    pub fn limit(&self) -> usize {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_reused_soon() {
        let t: Table<u32> = Table::new(4, 28);
        let put = |t: &Table<u32>| t.insert(|n| (Arc::new(n), n));
        let all: Vec<_> = (0..4).filter_map(|_| put(&t)).collect();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(put(&t), None);
        assert!(t.remove(1) && !t.remove(1));
        assert_eq!(put(&t), Some(5));
        let g = pin();
        assert!(t.get(1, &g).is_none());
        assert_eq!(t.get(5, &g), Some(&5));
        let mut n = t.numbers();
        n.sort();
        assert_eq!(n, [0, 2, 3, 5]);
    }

    #[test]
    fn threads_put_in_and_take_out() {
        let t: Arc<Table<u32>> = Arc::new(Table::new(1024, 28));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let t = t.clone();
                std::thread::spawn(move || {
                    for _ in 0..5_000 {
                        let n = t.insert(|n| (Arc::new(n), n)).unwrap();
                        assert_eq!(t.get(n, &pin()), Some(&n));
                        assert!(t.remove(n));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|h| h.join().unwrap());
        assert_eq!(t.count(), 0);
    }
}
