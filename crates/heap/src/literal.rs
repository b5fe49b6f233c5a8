//! Literals: terms that belong to a module (or to `persistent_term`) and are shared by all
//! processes. They live in one range of addresses, so that one comparison tells them apart.

use std::sync::{Mutex, OnceLock};

use kvik_term::Term;

use crate::binary::release_off_heap;
use crate::copy;

/// The range is fixed: the collector compares with constants.
pub const BASE: usize = 0x3000_0000_0000;
pub const SIZE: usize = 4 << 30;

#[inline(always)]
pub fn is_literal(p: *const u64) -> bool {
    (p as usize).wrapping_sub(BASE) < SIZE
}

/// Free stretches of the range as (offset, length) in words, by offset.
struct Space {
    free: Vec<(usize, usize)>,
}

fn space() -> &'static Mutex<Space> {
    static SPACE: OnceLock<Mutex<Space>> = OnceLock::new();
    SPACE.get_or_init(|| {
        // SAFETY: a fresh mapping that replaces nothing.
        let p = unsafe {
            libc::mmap(
                BASE as *mut libc::c_void,
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE
                    | libc::MAP_ANONYMOUS
                    | libc::MAP_NORESERVE
                    | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        let free = if p as usize == BASE { vec![(0, SIZE / 8)] } else { Vec::new() };
        Mutex::new(Space { free })
    })
}

/// One owner's literals, freed together.
pub struct LiteralArea {
    offset: usize,
    words: usize,
    off_heap: *mut u64,
    roots: Vec<u64>,
}

// SAFETY: literals never change; the area is freed by whoever owns it once nobody uses it.
unsafe impl Send for LiteralArea {}
// SAFETY: as above.
unsafe impl Sync for LiteralArea {}

impl LiteralArea {
    /// Copies the terms into a new area. `None` when the range is full.
    pub fn new(terms: &[Term<'_>]) -> Option<LiteralArea> {
        let words: usize = terms.iter().map(|t| copy::size(*t)).sum();
        let mut area = LiteralArea {
            offset: 0,
            words,
            off_heap: std::ptr::null_mut(),
            roots: Vec::with_capacity(terms.len()),
        };
        if words > 0 {
            let mut s = space().lock().unwrap_or_else(|e| e.into_inner());
            let i = s.free.iter().position(|(_, n)| *n >= words)?;
            area.offset = s.free[i].0;
            s.free[i].0 += words;
            s.free[i].1 -= words;
            if s.free[i].1 == 0 {
                s.free.remove(i);
            }
        }
        let mut top = (BASE + area.offset * 8) as *mut u64;
        for t in terms {
            // SAFETY: the stretch has room for all of them and is ours alone.
            area.roots.push(unsafe { copy::copy(*t, &mut top, &mut area.off_heap) });
        }
        Some(area)
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
    /// The address range, for `check_process_code` and purging.
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
    }
}
