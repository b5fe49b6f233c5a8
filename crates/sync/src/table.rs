//! [`Table`]: numbers to tasks, read without locks and without counting.
//!
//! A number's slot is the number modulo the table's size. Numbers are given in sequence; one whose
//! slot is taken is skipped. A task taken out stays in memory until every thread that may have
//! looked it up has let go of its [`Guard`] (epochs).

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_epoch as epoch;

use crate::guard::{pin, put_off, Guard};
use crate::solo::{who, Who};

/// Waits until every thread that holds a [`Guard`] now has let go of it. Not for a thread that holds
/// one itself.
pub fn wait_for_all() {
    let over = Arc::new(AtomicBool::new(false));
    let note = over.clone();
    epoch::pin().defer(move || note.store(true, Ordering::Release));
    let mut pause = Duration::from_micros(10);
    loop {
        // Each time the epoch moves on by one, if nobody is behind.
        epoch::pin().flush();
        if over.load(Ordering::Acquire) {
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// What stands in a table knows its number.
pub trait Numbered {
    fn number(&self) -> u32;
    /// False for one that is about to end: only [`Table::get_any`] finds it.
    fn is_shown(&self) -> bool {
        true
    }
}

pub struct Table<T> {
    /// Each holds a count of an `Arc`, or null.
    slots: Box<[AtomicPtr<T>]>,
    limit: usize,
    number_mask: u32,
    /// The next number to try.
    next: Apart<AtomicU64>,
    count: Apart<AtomicU64>,
}

/// In cache lines of its own (processors fetch two at a time): what changes with each process is
/// kept away from what every sender reads.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Has the processor fetch all of something that is looked at soon. It may be gone by now: it is not
/// read.
#[inline]
fn fetch<T>(at: *const T) {
    use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
    const LINE: usize = 64;
    for line in (0..size_of::<T>()).step_by(LINE) {
        // SAFETY: a hint, which does nothing for what is no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>().wrapping_add(line)) }
    }
}

/// Adds to a counter; what it was.
#[inline]
fn add(counter: &AtomicU64, n: i64) -> u64 {
    if who() != Who::Me {
        return counter.fetch_add(n as u64, Ordering::Relaxed);
    }
    let was = counter.load(Ordering::Relaxed);
    counter.store(was.wrapping_add(n as u64), Ordering::Relaxed);
    was
}
/// Puts one in a slot in place of another. False: that one is not there.
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

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        let all = self.slots.iter_mut().map(|s| *s.get_mut());
        // SAFETY: each slot that is not null holds a count, which nobody else will take.
        all.filter(|p| !p.is_null()).for_each(|p| drop(unsafe { Arc::from_raw(p) }));
    }
}

/// Who asks for a table of more places will have as many processes, and should not wait for its memory
/// when they are made.
const USUAL: usize = 1 << 18;

impl<T: Numbered + Send + Sync + 'static> Table<T> {
    /// Room for `limit` tasks, with numbers of `bits` bits.
    pub fn new(limit: usize, bits: u32) -> Table<T> {
        let size = limit.next_power_of_two().min(1 << bits);
        // Fresh memory is zero already: only what is used becomes present.
        let slots = Box::<[AtomicPtr<T>]>::new_zeroed_slice(size);
        // SAFETY: a null pointer is all zeros.
        let slots = unsafe { slots.assume_init() };
        if size > USUAL {
            const A_PAGE: usize = 512;
            slots.iter().step_by(A_PAGE).for_each(|s| s.store(ptr::null_mut(), Ordering::Relaxed));
        }
        Table {
            slots,
            next: Apart(AtomicU64::new(0)),
            count: Apart(AtomicU64::new(0)),
            limit: limit.min(size),
            number_mask: ((1u64 << bits) - 1) as u32,
        }
    }
    #[inline]
    fn slot(&self, number: u32) -> &AtomicPtr<T> {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
    /// Gives a number and puts in what `make` makes for it. `None`: the table is full.
    pub fn insert<R>(&self, make: impl FnOnce(u32) -> (Arc<T>, R)) -> Option<R> {
        if add(&self.count, 1) >= self.limit as u64 {
            add(&self.count, -1);
            return None;
        }
        let number = self.free_number();
        let (task, r) = make(number);
        let (slot, task) = (self.slot(number), Arc::into_raw(task).cast_mut());
        // Another thread whose number wraps onto the same slot may have come first: `make` has
        // named the task already, so wait until that one is gone.
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
    /// The same, shown or not.
    #[inline]
    pub fn get_any<'g>(&self, number: u32, _guard: &'g Guard) -> Option<&'g T> {
        // SAFETY: what is taken out is let go of when guards of that time are gone, and this one
        // is held.
        let task = unsafe { self.slot(number).load(Ordering::Acquire).as_ref() }?;
        (task.number() == number).then_some(task)
    }
    /// Has the processor fetch what stands there, which is looked at soon; a hint.
    #[inline]
    pub fn fetch(&self, number: u32) {
        fetch(self.slot(number).load(Ordering::Relaxed))
    }
    /// Takes one out. True when it was there.
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
        self.numbers_in(0, usize::MAX).0
    }
    /// The same of a part: those in at most so many places from that one on, and the place behind
    /// them; 0 where that was the last part.
    pub fn numbers_in(&self, from: usize, most: usize) -> (Vec<u32>, usize) {
        let _guard = pin();
        let end = from.saturating_add(most).min(self.slots.len());
        let part = self.slots.get(from..end).unwrap_or(&[]);
        let all = part.iter().map(|s| s.load(Ordering::Acquire));
        // SAFETY: as in `get`.
        let shown = all.filter_map(|p| unsafe { p.as_ref() }).filter(|t| t.is_shown());
        let numbers = shown.map(|t| t.number()).collect();
        (numbers, if end == self.slots.len() { 0 } else { end })
    }
    /// The number that is tried next, and a way to set it: for tests.
    pub fn next_number(&self) -> u32 {
        self.next.load(Ordering::Relaxed) as u32 & self.number_mask
    }
    pub fn set_next_number(&self, n: u32) {
        self.next.store((n & self.number_mask) as u64, Ordering::Relaxed)
    }
    /// How many places there are: a power of two. A number's place is what is left of it modulo that.
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
        let (mut some, next) = t.numbers_in(0, 3);
        assert_eq!((some.len(), next), (3, 3));
        let (rest, end) = t.numbers_in(next, 3);
        some.extend(rest);
        some.sort();
        assert_eq!((some, end), (n, 0));
        assert_eq!(t.numbers_in(9, 3), (vec![], 0));
    }

    #[test]
    fn threads_put_in_and_take_out() {
        let t: Arc<Table<u32>> = Arc::new(Table::new(1024, 28));
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
