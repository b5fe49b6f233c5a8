//! [`SlotTable`]: maps numbers to tasks, read without locks and without counting.
//!
//! A number's slot is the number modulo the table's size. Numbers are assigned in sequence; one
//! whose slot is occupied is skipped. A removed task stays in memory until every thread that may
//! have looked it up has dropped its [`Guard`] (epochs).

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_epoch as epoch;

use crate::guard::{pin, put_off, Guard};
use crate::single_threaded::{who, Who};

/// Waits until every thread that holds a [`Guard`] now has dropped it. The caller must not hold
/// one.
pub fn wait_for_all() {
    let over = Arc::new(AtomicBool::new(false));
    let note = over.clone();
    epoch::pin().defer(move || note.store(true, Ordering::Release));
    let mut pause = Duration::from_micros(10);
    loop {
        // Each iteration advances the epoch by one, unless a thread lags behind.
        epoch::pin().flush();
        if over.load(Ordering::Acquire) {
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// An entry of a table; it knows its number.
pub trait Numbered {
    fn number(&self) -> u32;
    /// False for an entry that is about to end: only [`SlotTable::get_any`] finds it.
    fn is_shown(&self) -> bool {
        true
    }
}

pub struct SlotTable<T> {
    /// Each holds a count of an `Arc`, or null.
    slots: Box<[AtomicPtr<T>]>,
    limit: usize,
    number_mask: u32,
    /// The next number to try: how many were, unless it was set.
    next: Apart<AtomicU64>,
    next_was_set: AtomicBool,
    count: Apart<AtomicU64>,
}

/// Puts a value in cache lines of its own (CPUs fetch two at a time): what changes with each
/// process is kept away from what every sender reads.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Prefetches all of something that is used soon. It may be freed by now: it is not read.
#[inline]
fn fetch<T>(at: *const T) {
    use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
    const LINE: usize = 64;
    for line in (0..size_of::<T>()).step_by(LINE) {
        // SAFETY: a hint, which does nothing for what is no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>().wrapping_add(line)) }
    }
}

/// Adds to a counter; returns the old value.
#[inline]
fn add(counter: &AtomicU64, n: i64) -> u64 {
    if who() != Who::Me {
        return counter.fetch_add(n as u64, Ordering::Relaxed);
    }
    let was = counter.load(Ordering::Relaxed);
    counter.store(was.wrapping_add(n as u64), Ordering::Relaxed);
    was
}
/// Replaces `from` by `to` in a slot. False: `from` is not there.
#[inline]
fn exchange<T>(slot: &AtomicPtr<T>, from: *mut T, to: *mut T) -> bool {
    if who() != Who::Me {
        return slot.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    }
    let is_there = slot.load(Ordering::Relaxed) == from;
    if is_there {
        slot.store(to, Ordering::Release);
    }
    is_there
}

impl<T> Drop for SlotTable<T> {
    fn drop(&mut self) {
        let all = self.slots.iter_mut().map(|s| *s.get_mut());
        // SAFETY: each slot that is not null holds a count, which nobody else will take.
        all.filter(|p| !p.is_null()).for_each(|p| drop(unsafe { Arc::from_raw(p) }));
    }
}

impl<T: Numbered + Send + Sync + 'static> SlotTable<T> {
    /// Room for `limit` tasks, with numbers of `bits` bits.
    pub fn new(limit: usize, bits: u32) -> SlotTable<T> {
        let size = limit.next_power_of_two().min(1 << bits);
        // Fresh memory is zero already: only used pages become present.
        let slots = Box::<[AtomicPtr<T>]>::new_zeroed_slice(size);
        // SAFETY: a null pointer is all zeros.
        let slots = unsafe { slots.assume_init() };
        SlotTable {
            slots,
            next: Apart(AtomicU64::new(0)),
            next_was_set: AtomicBool::new(false),
            count: Apart(AtomicU64::new(0)),
            limit: limit.min(size),
            number_mask: ((1u64 << bits) - 1) as u32,
        }
    }
    /// Makes the memory of a table present in which nothing is yet.
    pub fn make_present(&mut self) {
        const A_PAGE: usize = 512;
        self.slots
            .iter_mut()
            .step_by(A_PAGE)
            .for_each(|s| s.store(ptr::null_mut(), Ordering::Relaxed));
    }
    #[inline]
    fn slot(&self, number: u32) -> &AtomicPtr<T> {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
    /// Assigns a number and inserts what `make` makes for it. `None`: the table is full.
    pub fn insert<R>(&self, make: impl FnOnce(u32) -> (Arc<T>, R)) -> Option<R> {
        if add(&self.count, 1) >= self.limit as u64 {
            add(&self.count, -1);
            return None;
        }
        let number = self.free_number();
        let (task, r) = make(number);
        let (slot, task) = (self.slot(number), Arc::into_raw(task).cast_mut());
        // Another thread whose number has the same slot may have come first. `make` has already
        // used this number, so wait until the other entry is gone.
        while !exchange(slot, ptr::null_mut(), task) {
            std::thread::yield_now();
        }
        Some(r)
    }
    fn free_number(&self) -> u32 {
        loop {
            let n = add(&self.next, 1) as u32 & self.number_mask;
            if self.slot(n).load(Ordering::Relaxed).is_null() {
                return n;
            }
        }
    }
    #[inline]
    pub fn get<'g>(&self, number: u32, guard: &'g Guard) -> Option<&'g T> {
        self.get_any(number, guard).filter(|t| t.is_shown())
    }
    /// The same, whether shown or not.
    #[inline]
    pub fn get_any<'g>(&self, number: u32, _guard: &'g Guard) -> Option<&'g T> {
        // SAFETY: a removed entry is freed when the guards of that time are gone, and this guard is
        // held.
        let task = unsafe { self.slot(number).load(Ordering::Acquire).as_ref() }?;
        (task.number() == number).then_some(task)
    }
    /// Prefetches the entry of a number that is used soon; a hint.
    #[inline]
    pub fn fetch(&self, number: u32) {
        fetch(self.slot(number).load(Ordering::Relaxed))
    }
    /// Removes an entry. True if it was there.
    pub fn remove(&self, number: u32) -> bool {
        let guard = pin();
        let Some(task) = self.get_any(number, &guard) else { return false };
        let task = ptr::from_ref(task).cast_mut();
        if !exchange(self.slot(number), task, ptr::null_mut()) {
            return false;
        }
        add(&self.count, -1);
        // SAFETY: it is out of the table, whose count this is; later look-ups cannot find it.
        let free = kvik_state::bind(move || unsafe { drop(Arc::from_raw(task)) });
        // SAFETY: as above; nothing else is in it.
        unsafe { epoch::pin().defer_unchecked(free) };
        put_off();
        true
    }
    /// Every number in use, in no particular order.
    pub fn numbers(&self) -> Vec<u32> {
        self.numbers_in(0, usize::MAX, usize::MAX).0
    }
    /// At most `most` numbers in up to `slots` slots from slot `from` on, and the slot behind them;
    /// 0 after the last part.
    pub fn numbers_in(&self, from: usize, slots: usize, most: usize) -> (Vec<u32>, usize) {
        let _guard = pin();
        let used = self.used_slots();
        let mut end = from.saturating_add(slots).min(used);
        let part = self.slots.get(from..end).unwrap_or(&[]);
        let all = part.iter().map(|s| s.load(Ordering::Acquire)).zip(from + 1..);
        // SAFETY: as in `get`.
        let there = all.filter_map(|(p, behind)| Some((unsafe { p.as_ref() }?, behind)));
        let mut numbers = Vec::new();
        for (t, behind) in there.filter(|(t, _)| t.is_shown()) {
            numbers.push(t.number());
            if numbers.len() == most {
                end = behind;
                break;
            }
        }
        (numbers, if end == used { 0 } else { end })
    }
    /// The slots from here on have never had an entry: numbers are assigned in sequence, and a table
    /// of a million slots is mostly empty.
    fn used_slots(&self) -> usize {
        let tried = self.next.load(Ordering::Relaxed);
        match self.next_was_set.load(Ordering::Relaxed) {
            true => self.slots.len(),
            false => self.slots.len().min(tried.try_into().unwrap_or(usize::MAX)),
        }
    }
    /// The next number to try, and a way to set it: for tests.
    pub fn next_number(&self) -> u32 {
        self.next.load(Ordering::Relaxed) as u32 & self.number_mask
    }
    pub fn set_next_number(&self, n: u32) {
        self.next_was_set.store(true, Ordering::Relaxed);
        self.next.store((n & self.number_mask) as u64, Ordering::Relaxed)
    }
    /// Number of slots: a power of two. A number's slot is the number modulo this.
    pub fn size(&self) -> usize {
        self.slots.len()
    }
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed) as usize
    }
    pub fn limit(&self) -> usize {
        self.limit
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    impl Numbered for u32 {
        fn number(&self) -> u32 {
            *self
        }
    }

    #[test]
    fn numbers_are_not_reused_soon() {
        let t: SlotTable<u32> = SlotTable::new(4, 28);
        let put = |t: &SlotTable<u32>| t.insert(|n| (Arc::new(n), n));
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
        let (mut some, next) = t.numbers_in(0, 3, 9);
        assert_eq!((some.len(), next), (3, 3));
        assert_eq!(t.numbers_in(1, 3, 1).1, 2);
        let (rest, end) = t.numbers_in(next, 3, 9);
        some.extend(rest);
        some.sort();
        assert_eq!((some, end), (n, 0));
        assert_eq!(t.numbers_in(9, 3, 9), (vec![], 0));
    }

    #[test]
    fn lists_entries_in_any_used_slot() {
        let t: SlotTable<u32> = SlotTable::new(8, 28);
        let put = || t.insert(|n| (Arc::new(n), n));
        assert_eq!(t.numbers_in(0, 3, 9), (vec![], 0));
        (0..4).for_each(|n| assert_eq!(put(), Some(n)));
        assert_eq!((t.used_slots(), t.numbers_in(0, 3, 9)), (4, (vec![0, 1, 2], 3)));
        assert_eq!(t.numbers_in(3, 3, 9), (vec![3], 0));
        (4..8).for_each(|n| assert!(put() == Some(n) && t.remove(n - 4)));
        (8..12).for_each(|n| assert_eq!(put(), Some(n)));
        assert_eq!((t.used_slots(), t.numbers().len()), (8, 8));
        // Back to a number whose slot lies before others that are in use.
        t.set_next_number(1);
        assert!(t.remove(9));
        assert_eq!((put(), t.numbers().len()), (Some(1), 8));
    }

    #[test]
    fn threads_put_in_and_take_out() {
        let t: Arc<SlotTable<u32>> = Arc::new(SlotTable::new(1024, 28));
        let each = if cfg!(miri) { 30 } else { 5_000 };
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let t = t.clone();
                std::thread::spawn(move || {
                    for _ in 0..each {
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
