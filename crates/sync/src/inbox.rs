//! [`Inbox`]: many producers, one consumer, one atomic operation for each push.
//!
//! Producers push onto a stack; the consumer takes the whole stack with one operation and reverses
//! it, so that each producer's items come in the order in which they were pushed. The head also
//! encodes the consumer's state:
//!
//! | head | meaning |
//! |---|---|
//! | `EMPTY` | no items; the consumer is awake and will check again before it waits |
//! | `PARKED` | no items; the consumer waits, and the thread that replaces this wakes it |
//! | `CLOSED` | the consumer is gone for good: nothing can be pushed |
//! | else | the item pushed last |
//!
//! In single-threaded mode (see [`crate::single_threaded`]) the operations `…_alone` do the same
//! without atomic read-modify-write operations, which would be a tenth of the cost of a message.

use std::ptr;

use crate::atomic::{last, AtomicPtr, Ordering};

/// A queued item. Allocated before the push, so that the push itself cannot run out of memory.
pub struct InboxNode<T> {
    next: *mut InboxNode<T>,
    item: T,
}

// SAFETY: a node is owned by one holder at a time; its link is only followed by that holder.
unsafe impl<T: Send> Send for InboxNode<T> {}

impl<T> InboxNode<T> {
    pub fn new(item: T) -> Box<InboxNode<T>> {
        Box::new(InboxNode { next: ptr::null_mut(), item })
    }
    #[allow(clippy::boxed_local)]
    pub fn into_item(self: Box<Self>) -> T {
        self.item
    }
}

/// The result of a push.
pub enum Push<T> {
    Queued,
    /// The consumer was parked, and the pusher has to wake it.
    WasParked,
    Closed(Box<InboxNode<T>>),
}

pub struct Inbox<T> {
    head: AtomicPtr<InboxNode<T>>,
}

const EMPTY: usize = 0;
const PARKED: usize = 1;
const CLOSED: usize = 2;

fn mark<T>(m: usize) -> *mut InboxNode<T> {
    ptr::without_provenance_mut(m)
}
fn is_mark<T>(p: *mut InboxNode<T>) -> bool {
    p.addr() <= CLOSED
}

// SAFETY: items go from pushing threads to the taking one.
unsafe impl<T: Send> Sync for Inbox<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Inbox<T> {}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Inbox { head: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl<T> Inbox<T> {
    pub fn push(&self, node: Box<InboxNode<T>>) -> Push<T> {
        let p = Box::into_raw(node);
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head.addr() == CLOSED {
                // SAFETY: `p` was not published.
                return Push::Closed(unsafe { Box::from_raw(p) });
            }
            // SAFETY: `p` is ours until the exchange succeeds.
            unsafe { (*p).next = if is_mark(head) { ptr::null_mut() } else { head } };
            match self.head.compare_exchange_weak(head, p, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(old) if old.addr() == PARKED => return Push::WasParked,
                Ok(_) => return Push::Queued,
                Err(h) => head = h,
            }
        }
    }
    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        is_mark(self.head.load(Ordering::Relaxed))
    }
    pub fn is_parked(&self) -> bool {
        self.head.load(Ordering::Relaxed).addr() == PARKED
    }
    pub fn is_closed(&self) -> bool {
        self.head.load(Ordering::Acquire).addr() == CLOSED
    }
    /// Takes everything, and passes each item to `see`, the last first. For the consumer, while it
    /// is not parked.
    #[inline]
    pub fn take(&self, see: impl FnMut(&T)) -> Chain<T> {
        if self.is_empty() {
            return Chain::default();
        }
        Chain::reversed(self.head.swap(mark(EMPTY), Ordering::AcqRel), see)
    }
    /// The items so far, the last first. They stay in the inbox.
    ///
    /// # Safety
    /// For the consumer, which takes nothing as long as it uses the result.
    pub(crate) unsafe fn items<'a>(&self) -> impl Iterator<Item = &'a T>
    where
        T: 'a,
    {
        // SAFETY: nodes that were pushed are changed and freed by the consumer only; the acquiring
        // load shows them as they were pushed.
        let at = |p: *mut InboxNode<T>| (!is_mark(p)).then(|| unsafe { &*p });
        std::iter::successors(at(self.head.load(Ordering::Acquire)), move |n| at(n.next))
            .map(|n| &n.item)
    }
    /// Parks the consumer, which is about to wait. False if there is something to take.
    pub fn park(&self) -> bool {
        self.head
            .compare_exchange(mark(EMPTY), mark(PARKED), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
    /// Ends a wait without an item. True for the one caller that ended it.
    #[inline]
    pub fn unpark(&self) -> bool {
        self.is_parked() && self.end_wait()
    }
    fn end_wait(&self) -> bool {
        self.head
            .compare_exchange(mark(PARKED), mark(EMPTY), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
    /// Closes the inbox for good. Returns the items that were still there.
    pub fn close(&self) -> Chain<T> {
        Chain::reversed(self.head.swap(mark(CLOSED), Ordering::AcqRel), |_| ())
    }
}

/// For the only thread that changes inboxes.
impl<T> Inbox<T> {
    /// # Safety
    /// No other thread calls this, or anything else that changes the inbox; so for all below.
    #[inline]
    unsafe fn replace(&self, new: *mut InboxNode<T>) -> *mut InboxNode<T> {
        let old = self.head.load(Ordering::Relaxed);
        self.head.store(new, Ordering::Relaxed);
        old
    }
    /// # Safety
    /// As for `replace`.
    #[inline]
    pub(crate) unsafe fn push_alone(&self, mut node: Box<InboxNode<T>>) -> Push<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head.addr() == CLOSED {
            return Push::Closed(node);
        }
        node.next = if is_mark(head) { ptr::null_mut() } else { head };
        self.head.store(Box::into_raw(node), Ordering::Relaxed);
        if head.addr() == PARKED {
            Push::WasParked
        } else {
            Push::Queued
        }
    }
    /// # Safety
    /// As for `replace`.
    #[inline]
    pub(crate) unsafe fn take_alone(&self, see: impl FnMut(&T)) -> Chain<T> {
        if self.is_empty() {
            return Chain::default();
        }
        // SAFETY: as the caller says.
        Chain::reversed(unsafe { self.replace(mark(EMPTY)) }, see)
    }
    /// # Safety
    /// As for `replace`.
    pub(crate) unsafe fn close_alone(&self) -> Chain<T> {
        // SAFETY: as the caller says.
        Chain::reversed(unsafe { self.replace(mark(CLOSED)) }, |_| ())
    }
    /// # Safety
    /// As for `replace`.
    #[inline]
    pub(crate) unsafe fn park_alone(&self) -> bool {
        let empty = self.head.load(Ordering::Relaxed).addr() == EMPTY;
        if empty {
            self.head.store(mark(PARKED), Ordering::Relaxed);
        }
        empty
    }
    /// # Safety
    /// As for `replace`.
    #[inline]
    pub(crate) unsafe fn unpark_alone(&self) -> bool {
        let parked = self.is_parked();
        if parked {
            self.head.store(mark(EMPTY), Ordering::Relaxed);
        }
        parked
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        drop(Chain::reversed(last(&mut self.head), |_| ()));
    }
}

/// Items in the order they came in.
pub struct Chain<T> {
    first: *mut InboxNode<T>,
    /// Dangles where there is none.
    last: *mut InboxNode<T>,
}

// SAFETY: its nodes are its own.
unsafe impl<T: Send> Send for Chain<T> {}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Chain { first: ptr::null_mut(), last: ptr::null_mut() }
    }
}

impl<T> Chain<T> {
    #[inline]
    fn reversed(mut p: *mut InboxNode<T>, mut see: impl FnMut(&T)) -> Chain<T> {
        let (mut first, last) = (ptr::null_mut(), p);
        while !is_mark(p) {
            // SAFETY: the chain was taken whole; every node in it is ours.
            unsafe {
                see(&(*p).item);
                let next = (*p).next;
                (*p).next = first;
                first = p;
                p = next;
            }
        }
        Chain { first, last }
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_null()
    }
    /// Appends another chain.
    #[inline]
    pub fn append(&mut self, mut other: Chain<T>) {
        if self.is_empty() {
            std::mem::swap(self, &mut other);
        } else if !other.is_empty() {
            // SAFETY: the last node is one of ours.
            unsafe { (*self.last).next = other.first };
            self.last = other.last;
            other.first = ptr::null_mut();
        }
    }
    /// The first item.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        // SAFETY: null, or a node of ours.
        unsafe { self.first.as_ref() }.map(|n| &n.item)
    }
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        // SAFETY: as above.
        let at = |p: *mut InboxNode<T>| unsafe { p.as_ref() };
        std::iter::successors(at(self.first), move |n| at(n.next)).map(|n| &n.item)
    }
}

impl<T> Iterator for Chain<T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.first.is_null() {
            return None;
        }
        // SAFETY: the nodes of the chain are ours.
        let node = unsafe { Box::from_raw(self.first) };
        self.first = node.next;
        Some(node.item)
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        for item in self.by_ref() {
            drop(item);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn each_producers_order_is_kept() {
        let each = if cfg!(miri) { 50 } else { 20_000 };
        let inbox = Arc::new(Inbox::default());
        let threads: Vec<_> = (0..4u64)
            .map(|t| {
                let inbox = inbox.clone();
                std::thread::spawn(move || {
                    for i in 0..each {
                        assert!(!matches!(inbox.push(InboxNode::new((t, i))), Push::Closed(_)));
                    }
                })
            })
            .collect();
        let mut next = [0u64; 4];
        while next.iter().sum::<u64>() < 4 * each {
            for (t, i) in inbox.take(|_| ()) {
                assert_eq!(next[t as usize], i);
                next[t as usize] += 1;
            }
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(inbox.is_empty());
    }

    #[test]
    fn push_that_ends_a_wait_reports_it() {
        let inbox = Inbox::default();
        assert!(inbox.park());
        assert!(matches!(inbox.push(InboxNode::new(1)), Push::WasParked));
        assert!(matches!(inbox.push(InboxNode::new(2)), Push::Queued));
        assert!(!inbox.park());
        assert_eq!(inbox.take(|_| ()).collect::<Vec<_>>(), [1, 2]);
        inbox.push(InboxNode::new(3));
        assert_eq!(inbox.close().count(), 1);
        assert!(matches!(inbox.push(InboxNode::new(4)), Push::Closed(_)));
    }

    #[test]
    fn chains_are_joined() {
        let inbox = Inbox::default();
        let taken = |from: std::ops::Range<u32>| {
            from.for_each(|i| drop(inbox.push(InboxNode::new(i))));
            inbox.take(|_| ())
        };
        let mut c = taken(0..0);
        c.append(taken(1..4));
        c.append(taken(0..0));
        c.append(taken(4..6));
        assert_eq!(c.iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!((c.next(), c.first()), (Some(1), Some(&2)));
        assert_eq!(c.count(), 4);
    }

    #[test]
    fn single_threaded_operations_agree() {
        let inbox = Inbox::default();
        // SAFETY: one thread does everything.
        unsafe {
            assert!(inbox.park_alone());
            assert!(matches!(inbox.push_alone(InboxNode::new(1)), Push::WasParked));
            assert!(matches!(inbox.push_alone(InboxNode::new(2)), Push::Queued));
            assert!(!inbox.park_alone() && !inbox.unpark_alone());
            let mut seen = Vec::new();
            assert_eq!(inbox.take_alone(|i| seen.push(*i)).collect::<Vec<_>>(), [1, 2]);
            assert_eq!(seen, [2, 1]);
            assert!(inbox.park_alone() && inbox.unpark_alone());
            assert!(inbox.close_alone().is_empty());
            assert!(matches!(inbox.push_alone(InboxNode::new(4)), Push::Closed(_)));
        }
    }
}
