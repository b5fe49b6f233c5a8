//! A stack for walks over terms: the first few entries are stored inline.

use std::mem::MaybeUninit;

const INLINE_ENTRIES: usize = 8;

pub(crate) struct Stack<T> {
    /// The first `len` are initialised.
    few: [MaybeUninit<T>; INLINE_ENTRIES],
    len: usize,
    more: Vec<T>,
}

impl<T: Copy> Stack<T> {
    #[inline]
    pub fn new() -> Stack<T> {
        Stack { few: [const { MaybeUninit::uninit() }; INLINE_ENTRIES], len: 0, more: Vec::new() }
    }
    #[inline]
    pub fn push(&mut self, t: T) {
        match self.few.get_mut(self.len) {
            Some(place) => {
                place.write(t);
                self.len += 1;
            }
            None => self.more.push(t),
        }
    }
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if let Some(t) = self.more.pop() {
            return Some(t);
        }
        self.len = self.len.checked_sub(1)?;
        // SAFETY: it was written when it was pushed.
        self.few.get(self.len).map(|t| unsafe { t.assume_init() })
    }
    #[inline]
    pub fn extend(&mut self, items: impl Iterator<Item = T>) {
        items.for_each(|t| self.push(t));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_in_first_out() {
        let mut s = Stack::new();
        s.extend(0..20);
        assert!((0..20).rev().all(|n| s.pop() == Some(n)));
        assert_eq!(s.pop(), None);
        s.push(7);
        assert_eq!((s.pop(), s.pop()), (Some(7), None));
    }
}
