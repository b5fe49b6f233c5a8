//! Receive markers: positions in a mailbox before which a reference cannot occur.

use crate::signal_types::RefId;

/// With more markers, the oldest are dropped (a receive then examines every message).
const MAX_MARKERS: usize = 8;

/// The markers of a mailbox, the newest last.
#[derive(Default)]
pub(crate) struct Markers {
    next: u64,
    len: usize,
    all: [Marker; MAX_MARKERS],
}
#[derive(Copy, Clone, Default)]
struct Marker {
    what: Marked,
    at: u64,
}
#[derive(Copy, Clone, PartialEq, Eq)]
enum Marked {
    /// For a reference that will be made.
    Reserved(u64),
    Bound(RefId),
}
impl Default for Marked {
    fn default() -> Self {
        Marked::Reserved(0)
    }
}

impl Markers {
    /// A marker at that position, for a reference that will be made.
    #[inline]
    pub fn reserve(&mut self, at: u64) -> u64 {
        self.next += 1;
        self.push(Marker { what: Marked::Reserved(self.next), at });
        self.next
    }
    #[inline]
    pub fn bind(&mut self, marker: u64, id: RefId) {
        if let Some(i) = self.find(Marked::Reserved(marker)) {
            self.all[i].what = Marked::Bound(id);
        }
    }
    #[inline]
    pub fn unbind(&mut self, id: RefId) {
        self.remove(Marked::Bound(id))
    }
    #[inline]
    pub fn unreserve(&mut self, marker: u64) {
        self.remove(Marked::Reserved(marker))
    }
    #[inline]
    pub fn position_of(&self, id: RefId) -> Option<u64> {
        self.find(Marked::Bound(id)).map(|i| self.all[i].at)
    }
    /// The end of the mailbox has moved down to `end`.
    pub fn lower(&mut self, end: u64) {
        self.all.iter_mut().for_each(|m| m.at = end.min(m.at));
    }
    /// The index of a marker. Mostly the newest is looked up.
    #[inline]
    fn find(&self, what: Marked) -> Option<usize> {
        self.all.iter().take(self.len).rposition(|m| m.what == what)
    }
    #[inline]
    fn push(&mut self, m: Marker) {
        if self.len == MAX_MARKERS {
            self.remove_at(0);
        }
        if let Some(free) = self.all.get_mut(self.len) {
            *free = m;
            self.len += 1;
        }
    }
    #[inline]
    fn remove(&mut self, what: Marked) {
        if let Some(i) = self.find(what) {
            self.remove_at(i);
        }
    }
    #[inline]
    fn remove_at(&mut self, i: usize) {
        if i + 1 != self.len {
            self.all.copy_within(i + 1..self.len, i);
        }
        self.len -= 1;
    }
}
