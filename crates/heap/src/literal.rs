//! Literals: terms that belong to a module (or to `persistent_term`) and are shared by all
//! processes. They live in one address range, so that a single comparison recognises them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use kvik_term::word::TAG_BOXED;
use kvik_term::{cmp, Term};

use crate::binary::{each_resource, release_off_heap, MagicResource};
use crate::copy;

/// The range is fixed, so that the collector compares with constants.
pub const BASE: usize = 0x3000_0000_0000;
pub const SIZE: usize = 4 << 30;

#[inline(always)]
pub fn is_literal(p: *const u64) -> bool {
    (p as usize).wrapping_sub(BASE) < SIZE
}

/// Literals that are to be freed: address ranges that do not overlap.
pub struct Leaving {
    /// Starts and ends, in order.
    all: Vec<(usize, usize)>,
    lo: usize,
    len: usize,
}

impl Leaving {
    /// From addresses and lengths in bytes.
    pub fn new(ranges: impl Iterator<Item = (usize, usize)>) -> Leaving {
        let mut all: Vec<_> = ranges.filter(|r| r.1 > 0).map(|(at, len)| (at, at + len)).collect();
        all.sort_unstable();
        let lo = all.first().map_or(0, |r| r.0);
        let end = all.last().map_or(0, |r| r.1);
        Leaving { all, lo, len: end - lo }
    }
    /// Whether an address, or a tagged pointer, lies in one of them.
    #[inline]
    pub(crate) fn has(&self, w: u64) -> bool {
        (w as usize).wrapping_sub(self.lo) < self.len && self.has_inside(w as usize)
    }
    fn has_inside(&self, at: usize) -> bool {
        let i = self.all.partition_point(|r| r.0 <= at);
        i > 0 && self.all.get(i - 1).is_some_and(|r| at < r.1)
    }
    /// Words in total.
    pub(crate) fn words(&self) -> usize {
        self.all.iter().map(|(at, end)| (end - at) / 8).sum()
    }
}

/// Which literals a copy shares with its original. Determined once for each copy, so that the
/// computed size and the copy agree.
#[derive(Clone)]
pub enum Sharing {
    All,
    /// All but those that are to be freed.
    But(Arc<Leaving>),
    /// None, for what may be kept for long.
    Nothing,
}

kvik_state::vm_state! {
    /// Literals about to be freed, if any.
    static LEAVING: RwLock<Option<Arc<Leaving>>> = RwLock::new(None);
    static ANY_LEAVING: AtomicBool = AtomicBool::new(false);
}

impl Sharing {
    /// The setting at this moment.
    #[inline(always)]
    pub fn now() -> Sharing {
        if ANY_LEAVING.load(Ordering::Relaxed) {
            return Sharing::but_leaving();
        }
        Sharing::All
    }
    #[cold]
    fn but_leaving() -> Sharing {
        let leaving = LEAVING.read().unwrap_or_else(|e| e.into_inner());
        leaving.clone().map_or(Sharing::All, Sharing::But)
    }
    #[inline(always)]
    pub(crate) fn shares(&self, p: *const u64) -> bool {
        is_literal(p)
            && match self {
                Sharing::All => true,
                Sharing::But(l) => !l.has(p as u64),
                Sharing::Nothing => false,
            }
    }
}

/// From now on copies share none of these literals. Copies in progress may still.
pub fn set_leaving(leaving: Option<Arc<Leaving>>) {
    let any = leaving.is_some();
    *LEAVING.write().unwrap_or_else(|e| e.into_inner()) = leaving;
    ANY_LEAVING.store(any, Ordering::SeqCst);
}

/// Free stretches of the range as (offset, length) in words, by offset.
struct Space {
    free: Vec<(usize, usize)>,
    /// Nothing behind this has been written to since it was last returned.
    touched: usize,
    /// Bytes of the range.
    size: usize,
}

impl Space {
    /// Takes the first free range of so many words off the list. `None`: there is none.
    fn take(&mut self, words: usize) -> Option<usize> {
        let i = self.free.iter().position(|(_, n)| *n >= words)?;
        let (offset, n) = self.free[i];
        self.touched = self.touched.max(offset + words);
        match n - words {
            0 => drop(self.free.remove(i)),
            rest => self.free[i] = (offset + words, rest),
        }
        Some(offset)
    }
}

/// Reserves the first so many bytes of the range.
fn reserve(size: usize) -> bool {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a fresh mapping that replaces nothing.
    let p = unsafe { libc::mmap(BASE as *mut libc::c_void, size, prot, flags, -1, 0) };
    p as usize == BASE
}

fn space() -> &'static Mutex<Space> {
    static SPACE: OnceLock<Mutex<Space>> = OnceLock::new();
    SPACE.get_or_init(|| {
        // Less where the program's address space is limited (`ulimit -v`).
        let size = [SIZE, SIZE / 4, SIZE / 16].into_iter().find(|size| reserve(*size)).unwrap_or(0);
        let free = if size > 0 { vec![(0, size / 8)] } else { Vec::new() };
        Mutex::new(Space { free, touched: 0, size })
    })
}

/// Bytes of literals in use.
pub fn bytes() -> usize {
    let s = space().lock().unwrap_or_else(|e| e.into_inner());
    let free: usize = s.free.iter().map(|f| f.1 * 8).sum();
    s.size.saturating_sub(free)
}

const PAGE: usize = 4096;
/// Areas of at least this size are returned to the system when they are freed.
const LARGE: usize = 64 << 10;
/// Bytes of smaller freed areas that may still be present.
static SMALL_FREED: AtomicUsize = AtomicUsize::new(0);

kvik_state::vm_state! {
    /// Called with the number of freed bytes, so that [`give_back`] is called in time.
    static COUNT_FREED: OnceLock<fn(usize)> = OnceLock::new();
}

/// Only the first call counts.
pub fn on_freed(count: fn(usize)) {
    let _ = COUNT_FREED.set(count);
}

/// Returns the whole pages of a free range, in words, to the system.
///
/// # Safety
/// Nothing uses the range, and nothing allocates it meanwhile.
unsafe fn release_pages((offset, words): (usize, usize)) {
    let start = (BASE + offset * 8).next_multiple_of(PAGE);
    let end = (BASE + (offset + words) * 8) & !(PAGE - 1);
    if start < end {
        // SAFETY: whole pages of the range that hold nothing, as the caller says.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
    }
}

/// Returns what small areas have left in free ranges, if that is worth it. For a thread that no
/// other waits for.
pub fn give_back() {
    if SMALL_FREED.load(Ordering::Relaxed) < LARGE {
        return;
    }
    SMALL_FREED.store(0, Ordering::Relaxed);
    let mut i = 0;
    loop {
        // The lock is held for one range at a time.
        let mut s = space().lock().unwrap_or_else(|e| e.into_inner());
        let Some((start, words)) = s.free.get(i).copied() else { return };
        let end = (start + words).min(s.touched);
        // SAFETY: free, and the lock keeps it so.
        unsafe { release_pages((start, end.saturating_sub(start))) };
        if end == s.touched {
            s.touched = start;
            return;
        }
        i += 1;
    }
}

/// One owner's literals, freed together.
pub struct LiteralArea {
    offset: usize,
    words: usize,
    off_heap: *mut u64,
    roots: Vec<u64>,
}

// SAFETY: literals never change; the owner of the area frees it once nothing uses it.
unsafe impl Send for LiteralArea {}
// SAFETY: as above.
unsafe impl Sync for LiteralArea {}

impl LiteralArea {
    /// Copies the terms into a new area. `None` when the range is full.
    pub fn new(terms: &[Term<'_>]) -> Option<LiteralArea> {
        let mut area =
            LiteralArea::room(terms.iter().map(|t| copy::size(*t, &Sharing::Nothing)).sum())?;
        let mut top = area.start();
        for t in terms {
            // SAFETY: the stretch has room for all of them and is ours alone.
            let w = unsafe { copy::copy(*t, &Sharing::Nothing, &mut top, &mut area.off_heap) };
            area.roots.push(w);
        }
        Some(area)
    }
    /// Makes an element of a root that is a tuple the same object as another root, if it equals that.
    pub fn share(&mut self, tuple: usize, element: usize, root: usize) {
        let (Some(all), Some(shared)) = (self.get(tuple), self.get(root)) else { return };
        let elements = all.as_tuple().map_or(&[][..], |t| t.elements());
        if !elements.get(element).is_some_and(|e| cmp::eq_exact(*e, shared)) {
            return;
        }
        let (at, shared) = ((all.word() - TAG_BOXED) as *mut u64, shared.word());
        // SAFETY: the tuple has the element, and nobody else uses the area as long as `self` is
        // borrowed exclusively.
        unsafe { *at.add(1 + element) = shared }
    }
    /// The same for one term whose shared parts are copied once each.
    pub fn with_sharing(t: Term<'_>) -> Option<LiteralArea> {
        let seen = RefCell::default();
        let mut area = LiteralArea::room(copy::shared_size(t, &seen))?;
        let mut top = area.start();
        let mut seen = seen.into_inner();
        // SAFETY: the stretch has room for each part once and is ours alone.
        let w = unsafe { copy::copy_shared(t, &mut seen, &mut top, &mut area.off_heap) };
        area.roots.push(w);
        Some(area)
    }
    fn start(&self) -> *mut u64 {
        (BASE + self.offset * 8) as *mut u64
    }
    fn room(words: usize) -> Option<LiteralArea> {
        // The area is made once it has its range: dropping it gives that back.
        let offset = if words > 0 {
            space().lock().unwrap_or_else(|e| e.into_inner()).take(words)?
        } else {
            0
        };
        Some(LiteralArea { offset, words, off_heap: std::ptr::null_mut(), roots: Vec::new() })
    }
    pub fn len(&self) -> usize {
        self.roots.len()
    }
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
    pub fn words(&self) -> usize {
        self.words
    }
    pub fn get(&self, i: usize) -> Option<Term<'_>> {
        // SAFETY: the area lives as long as self.
        self.roots.get(i).map(|w| unsafe { Term::from_word(*w) })
    }
    /// The words of its objects.
    pub fn block(&self) -> &[u64] {
        // SAFETY: the stretch is ours alone and mapped as long as self; its words were written when
        // the terms were copied, and nobody writes them again.
        unsafe { std::slice::from_raw_parts(self.start(), self.words) }
    }
    /// Passes the resources that its references keep alive to `f`.
    pub fn each_resource(&self, f: &mut dyn FnMut(&MagicResource)) {
        // SAFETY: the objects of the area are live as long as self and do not change.
        unsafe { each_resource(self.off_heap, f) }
    }
    /// Address and length in bytes.
    pub fn range(&self) -> (usize, usize) {
        (BASE + self.offset * 8, self.words * 8)
    }
}

impl Drop for LiteralArea {
    fn drop(&mut self) {
        // SAFETY: the owner says that nobody uses the area any more.
        unsafe { release_off_heap(self.off_heap) };
        if self.words == 0 {
            return;
        }
        let large = self.words * 8 >= LARGE;
        if large {
            // SAFETY: nobody uses the area, and it isn't free yet.
            unsafe { release_pages((self.offset, self.words)) }
        }
        let mut s = space().lock().unwrap_or_else(|e| e.into_inner());
        let i = s.free.partition_point(|(o, _)| *o < self.offset);
        s.free.insert(i, (self.offset, self.words));
        if i + 1 < s.free.len() && s.free[i].0 + s.free[i].1 == s.free[i + 1].0 {
            s.free[i].1 += s.free[i + 1].1;
            s.free.remove(i + 1);
        }
        if i > 0 && s.free[i - 1].0 + s.free[i - 1].1 == s.free[i].0 {
            s.free[i - 1].1 += s.free[i].1;
            s.free.remove(i);
        }
        drop(s);
        if !large {
            SMALL_FREED.fetch_add(self.words * 8, Ordering::Relaxed);
        }
        if let Some(count) = COUNT_FREED.get() {
            count(self.words * 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_that_finds_no_room_frees_nothing() {
        let mut space = Space { free: vec![(0, 10)], touched: 0, size: 80 };
        assert_eq!(space.take(11), None);
        assert_eq!(space.take(4), Some(0));
        assert_eq!(space.take(6), Some(4));
        assert_eq!((space.take(1), space.free.len(), space.touched), (None, 0, 10));
        // More than the whole range has: before and after it the same is in use.
        let before = bytes();
        assert!(LiteralArea::room(SIZE / 8 + 1).is_none());
        assert_eq!(bytes(), before);
    }
}
