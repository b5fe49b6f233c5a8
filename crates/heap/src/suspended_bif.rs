//! State of a BIF that yields and is resumed later: Rust values with terms in them. The heap is not
//! collected until the BIF takes them back, so the terms do not move.

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::{GcStats, Heap};

/// A family of types that borrow a heap, named without the heap's lifetime.
pub trait SuspendedState: 'static {
    type In<'h>: Send;
}

pub(crate) type Suspended = Box<dyn Any + Send>;

/// Converts `T` to `U`, which differs only in lifetimes.
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

struct Held<K: SuspendedState>(K::In<'static>);

impl Heap {
    /// Stores a value, and the terms in it, until [`Heap::resume_with`].
    pub fn suspend_with<'h, K: SuspendedState>(&'h self, value: K::In<'h>) {
        // SAFETY: it is given back with the lifetime of the same heap, and dropped before it.
        let value: K::In<'static> = unsafe { other_lifetime(value) };
        self.pinned.set(Some(Box::new(Box::new(Held::<K>(value)))));
    }
    /// Takes the stored value, if it is of that type. Then the heap may be collected again.
    pub fn resume_with<K: SuspendedState>(&self) -> Option<K::In<'_>> {
        match self.pinned.take()?.downcast::<Held<K>>() {
            // SAFETY: it was left with this heap, which has moved no term since.
            Ok(held) => Some(unsafe { other_lifetime::<K::In<'static>, K::In<'_>>(held.0) }),
            Err(other) => {
                self.pinned.set(Some(Box::new(other)));
                None
            }
        }
    }
    /// Drops a value that will not be resumed.
    pub fn forget_suspended(&self) {
        self.pinned.take();
    }
    /// Whether a value waits for `resume_with`.
    pub fn is_suspended(&self) -> bool {
        let pinned = self.pinned.take();
        let there = pinned.is_some();
        self.pinned.set(pinned);
        there
    }
    /// Called instead of a collection while a BIF is suspended: defers it.
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
    impl SuspendedState for Two {
        type In<'h> = (Vec<Term<'h>>, usize);
    }

    #[test]
    fn terms_of_a_suspended_bif_stay() {
        let mut h = Heap::new(100);
        {
            let t = h.tuple(&[Term::int(1), h.list(&[Term::int(2), Term::int(3)])]);
            h.suspend_with::<Two>((vec![t], 7));
        }
        h.collect_parked(true);
        assert!(h.gc_due() && h.is_suspended());
        let (terms, n) = h.resume_with::<Two>().unwrap();
        assert_eq!((terms.len(), n), (1, 7));
        let [first, list] = terms[0].as_tuple_n().unwrap();
        let len = list.list_to_vec().map(|v| v.len());
        assert_eq!((first.as_small(), len), (Some(1), Some(2)));
        assert!(!h.is_suspended());
        h.suspend_with::<Two>((Vec::new(), 0));
    }
}
