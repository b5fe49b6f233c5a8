//! What a BIF that stops in its middle keeps until it goes on: Rust values with terms in them. Until
//! they are taken back the heap is not collected, so that the terms stay where they are.

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::{GcStats, Heap};

/// A kind of values that borrow a heap, named without the heap's lifetime.
pub trait Pins: 'static {
    type In<'h>: Send;
}

pub(crate) type Pinned = Box<dyn Any + Send>;

/// `T` where it is `U` but for lifetimes.
///
/// # Safety
/// The types may differ in lifetimes only.
unsafe fn other_lifetime<T, U>(t: T) -> U {
    const { assert!(size_of::<T>() == size_of::<U>()) };
    let t = ManuallyDrop::new(t);
    let mut u = MaybeUninit::<U>::uninit();
    // SAFETY: one type but for lifetimes; what was moved is not dropped.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const t).cast::<U>(), u.as_mut_ptr(), 1);
        u.assume_init()
    }
}

struct Held<K: Pins>(K::In<'static>);

impl Heap {
    /// Keeps a value, and the terms in it, from here to [`Heap::unpin`].
    pub fn pin<'h, K: Pins>(&'h self, value: K::In<'h>) {
        // SAFETY: it is given back with the lifetime of the same heap, and dropped before it.
        let value: K::In<'static> = unsafe { other_lifetime(value) };
        self.pinned.set(Some(Box::new(Box::new(Held::<K>(value)))));
    }
    /// The value kept, where it is of that kind. Then the heap may be collected again.
    pub fn unpin<K: Pins>(&self) -> Option<K::In<'_>> {
        match self.pinned.take()?.downcast::<Held<K>>() {
            // SAFETY: it was pinned to this heap, which has moved no term since.
            Ok(held) => Some(unsafe { other_lifetime::<K::In<'static>, K::In<'_>>(held.0) }),
            Err(other) => {
                self.pinned.set(Some(Box::new(other)));
                None
            }
        }
    }
    /// Drops a value that nobody will ask for.
    pub fn forget_pinned(&self) {
        self.pinned.take();
    }
    /// Does a value wait for `unpin`?
    pub fn is_pinned(&self) -> bool {
        let pinned = self.pinned.take();
        let there = pinned.is_some();
        self.pinned.set(pinned);
        there
    }
    /// Instead of a collection of a heap with something pinned to it: later.
    pub(crate) fn not_now(&self) -> GcStats {
        self.ask_for_gc();
        GcStats::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::Term;

    struct Two;
    impl Pins for Two {
        type In<'h> = (Vec<Term<'h>>, usize);
    }

    #[test]
    fn pinned_terms_stay() {
        let mut h = Heap::new(100);
        {
            let t = h.tuple(&[Term::int(1), h.list(&[Term::int(2), Term::int(3)])]);
            h.pin::<Two>((vec![t], 7));
        }
        h.collect_parked(true);
        assert!(h.gc_due() && h.is_pinned());
        let (terms, n) = h.unpin::<Two>().unwrap();
        assert_eq!((terms.len(), n), (1, 7));
        let [first, list] = terms[0].as_tuple_n().unwrap();
        let len = list.list_to_vec().map(|v| v.len());
        assert_eq!((first.as_small(), len), (Some(1), Some(2)));
        assert!(!h.is_pinned());
        h.pin::<Two>((Vec::new(), 0));
    }
}
