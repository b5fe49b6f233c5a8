//! Pairs of roots (key and value), with a hash index on the key.

use std::mem::offset_of;

/// The pairs, as words. Native code reads the first two fields: the address of the pairs, and how
/// many bytes of them to search linearly, 0 if there is an index. Each pair is `key`, `value`.
#[repr(C)]
pub struct RootPairs {
    first: *mut [u64; 2],
    bytes: usize,
    pub(crate) all: Vec<[u64; 2]>,
    pub(crate) index: Index,
}

impl RootPairs {
    pub const FIRST: usize = offset_of!(RootPairs, first);
    pub const BYTES: usize = offset_of!(RootPairs, bytes);

    /// Updates the fields that native code reads.
    pub(crate) fn settle(&mut self) {
        self.first = self.all.as_mut_ptr();
        self.bytes = if self.index.is_empty() { size_of_val(&self.all[..]) } else { 0 };
    }
}
impl Default for RootPairs {
    fn default() -> RootPairs {
        let (all, index) = Default::default();
        RootPairs { first: std::ptr::null_mut(), bytes: 0, all, index }
    }
}

/// Maps hashes to numbers `0..len()`: open addressing; the slot of a removed number is refilled at
/// once.
#[derive(Default)]
pub struct Index {
    /// Number + 1, or 0. The length is a power of two; a quarter of the slots stay free.
    slots: Vec<u32>,
    hashes: Vec<u32>,
}

impl Index {
    pub fn len(&self) -> usize {
        self.hashes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
    pub fn clear(&mut self) {
        *self = Index::default();
    }
    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
    /// The number with that hash for which `is` is true.
    pub fn find(&self, hash: u32, is: impl Fn(usize) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            let i = (self.slots[at] as usize).checked_sub(1)?;
            if self.hashes[i] == hash && is(i) {
                return Some(i);
            }
            at = self.after(at);
        }
    }
    /// Adds the next number, with that hash.
    pub fn push(&mut self, hash: u32) {
        self.hashes.push(hash);
        if self.hashes.len() * 4 <= self.slots.len() * 3 {
            return self.place(self.hashes.len() - 1);
        }
        self.slots = vec![0; (2 * self.slots.len()).max(64)];
        (0..self.hashes.len()).for_each(|i| self.place(i));
    }
    fn place(&mut self, i: usize) {
        let mut at = self.home(self.hashes[i]);
        while self.slots[at] != 0 {
            at = self.after(at);
        }
        self.slots[at] = i as u32 + 1;
    }
    fn slot_of(&self, i: usize) -> usize {
        let mut at = self.home(self.hashes[i]);
        while self.slots[at] != i as u32 + 1 {
            at = self.after(at);
        }
        at
    }
    /// Removes number `i`; the last number takes its place.
    pub fn swap_remove(&mut self, i: usize) {
        let mask = self.slots.len() - 1;
        let mut hole = self.slot_of(i);
        let mut at = self.after(hole);
        while self.slots[at] != 0 {
            let home = self.home(self.hashes[self.slots[at] as usize - 1]);
            // The entry may move if that does not put it before its home slot.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = self.after(at);
        }
        self.slots[hole] = 0;
        let last = self.hashes.len() - 1;
        if i != last {
            let at = self.slot_of(last);
            self.slots[at] = i as u32 + 1;
        }
        self.hashes.swap_remove(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_list_finds() {
        let (mut index, mut list) = (Index::default(), Vec::<u32>::new());
        let mut seed = 1u32;
        for step in 0..if cfg!(miri) { 100 } else { 20_000 } {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (seed >> 16) % 700;
            // Few different hashes, so that many collide.
            let hash = key % 90;
            let found = index.find(hash, |i| list[i] == key);
            assert_eq!(found, list.iter().position(|k| *k == key), "step {step}");
            match found {
                Some(i) => {
                    index.swap_remove(i);
                    list.swap_remove(i);
                }
                None => {
                    index.push(hash);
                    list.push(key);
                }
            }
            assert_eq!(index.len(), list.len());
        }
    }
}
