//! [`Inbox`]: many producers, one consumer, one atomic operation for each push.
//!
//! Producers push onto a stack; the consumer takes the whole stack with one operation and turns it
//! round, so that each producer's items come in the order they were pushed. The head also says what
//! the consumer does:
//!
//! | head | meaning |
//! |---|---|
//! | `EMPTY` | nothing there, the consumer is up and will look again before it waits |
//! | `PARKED` | nothing there, the consumer waits: who replaces this wakes it |
//! | `CLOSED` | the consumer is gone for good: nothing can be pushed |
//! | else | the item pushed last |

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// An item on its way. Made before the push so that the push itself cannot fail for memory.
pub struct Node<T> {
    next: *mut Node<T>,
    item: T,
}

// SAFETY: a node is owned by one holder at a time; its link is only followed by that holder.
unsafe impl<T: Send> Send for Node<T> {}

impl<T> Node<T> {
    pub fn new(item: T) -> Box<Node<T>> {
        Box::new(Node { next: ptr::null_mut(), item })
    }
    #[allow(clippy::boxed_local)]
    pub fn into_item(self: Box<Self>) -> T {
        self.item
    }
}

/// What became of a push.
pub enum Push<T> {
    Queued,
    /// The consumer was parked and is the pusher's to wake.
    WasParked,
    Closed(Box<Node<T>>),
}

pub struct Inbox<T> {
    head: AtomicPtr<Node<T>>,
}

const EMPTY: usize = 0;
const PARKED: usize = 1;
const CLOSED: usize = 2;

fn mark<T>(m: usize) -> *mut Node<T> {
    ptr::without_provenance_mut(m)
}
fn is_mark<T>(p: *mut Node<T>) -> bool {
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
    pub fn push(&self, node: Box<Node<T>>) -> Push<T> {
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
    /// Is there nothing to take?
    pub fn is_empty(&self) -> bool {
        is_mark(self.head.load(Ordering::Relaxed))
    }
    pub fn is_parked(&self) -> bool {
        self.head.load(Ordering::Relaxed).addr() == PARKED
    }
    pub fn is_closed(&self) -> bool {
        self.head.load(Ordering::Acquire).addr() == CLOSED
    }
    /// Takes everything. For the consumer, while it is up.
    pub fn take(&self) -> Chain<T> {
        if self.is_empty() {
            return Chain { first: ptr::null_mut() };
        }
        Chain::reversed(self.head.swap(mark(EMPTY), Ordering::AcqRel))
    }
    /// The consumer is about to wait. False when there is something to take.
    pub fn park(&self) -> bool {
        self.head
            .compare_exchange(mark(EMPTY), mark(PARKED), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
    /// Ends a wait without an item. True for the one who ended it.
    #[inline]
    pub fn unpark(&self) -> bool {
        self.is_parked() && self.end_wait()
    }
    fn end_wait(&self) -> bool {
        self.head
            .compare_exchange(mark(PARKED), mark(EMPTY), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
    /// The consumer goes for good. Gives what was still there.
    pub fn close(&self) -> Chain<T> {
        Chain::reversed(self.head.swap(mark(CLOSED), Ordering::AcqRel))
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        drop(Chain::reversed(*self.head.get_mut()));
    }
}

/// Items in the order they came in.
pub struct Chain<T> {
    first: *mut Node<T>,
}

impl<T> Chain<T> {
    fn reversed(mut p: *mut Node<T>) -> Chain<T> {
        let mut first = ptr::null_mut();
        while !is_mark(p) {
            // SAFETY: the chain was taken whole; every node in it is ours.
            unsafe {
                let next = (*p).next;
                (*p).next = first;
                first = p;
                p = next;
            }
        }
        Chain { first }
    }
    pub fn is_empty(&self) -> bool {
        self.first.is_null()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn each_producers_order_is_kept() {
        let inbox = Arc::new(Inbox::default());
        let threads: Vec<_> = (0..4u64)
            .map(|t| {
                let inbox = inbox.clone();
                std::thread::spawn(move || {
                    for i in 0..20_000u64 {
                        assert!(!matches!(inbox.push(Node::new((t, i))), Push::Closed(_)));
                    }
                })
            })
            .collect();
        let mut next = [0u64; 4];
        while next.iter().sum::<u64>() < 80_000 {
            for (t, i) in inbox.take() {
                assert_eq!(next[t as usize], i);
                next[t as usize] += 1;
            }
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(inbox.is_empty());
    }

    #[test]
    fn who_ends_a_wait_is_told() {
        let inbox = Inbox::default();
        assert!(inbox.park());
        assert!(matches!(inbox.push(Node::new(1)), Push::WasParked));
        assert!(matches!(inbox.push(Node::new(2)), Push::Queued));
        assert!(!inbox.park());
        assert_eq!(inbox.take().collect::<Vec<_>>(), [1, 2]);
        inbox.push(Node::new(3));
        assert_eq!(inbox.close().count(), 1);
        assert!(matches!(inbox.push(Node::new(4)), Push::Closed(_)));
    }
}
