//! A stack for walks over terms: the first few entries need no memory of their own.

const FEW: usize = 8;

pub(crate) struct Stack<T> {
    few: [T; FEW],
    len: usize,
    more: Vec<T>,
}

impl<T: Copy> Stack<T> {
    /// An empty one; `any` fills the places that hold nothing.
    #[inline]
    pub fn new(any: T) -> Stack<T> {
        Stack { few: [any; FEW], len: 0, more: Vec::new() }
    }
    #[inline]
    pub fn push(&mut self, t: T) {
        match self.few.get_mut(self.len) {
            Some(place) => {
                *place = t;
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
        self.few.get(self.len).copied()
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
        let mut s = Stack::new(0);
        s.extend(0..20);
        assert!((0..20).rev().all(|n| s.pop() == Some(n)));
        assert_eq!(s.pop(), None);
        s.push(7);
        assert_eq!((s.pop(), s.pop()), (Some(7), None));
    }
}
