//! Memory for native code: one region, mapped twice (writable here, executable there), from which
//! each module takes a stretch.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::target::FILL;

/// Bytes reserved. Untouched pages cost nothing.
const SIZE: usize = 256 << 20;
const PAGE: usize = 4096;
/// Granularity, in bytes, at which pages of the writable mapping are made present and dropped: each
/// time the system has to notify all CPUs that run a thread of the VM (TLB shootdown).
const AT_ONCE: usize = 256 << 10;

struct Region {
    exec: usize,
    write: usize,
    /// Free stretches (offset, length), by offset.
    free: Mutex<Vec<(usize, usize)>>,
    /// Offsets of the present pages of the writable mapping, apart from single pages.
    present: Mutex<Range<usize>>,
}

/// A new mapping of the region's size, at this address or (0) anywhere.
fn map(at: usize, prot: i32, flags: i32) -> Option<usize> {
    let fixed = if at == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    let flags = flags | fixed | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that replaces nothing.
    let p = unsafe { libc::mmap(at as *mut libc::c_void, SIZE, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        return None;
    }
    if at != 0 && p as usize != at {
        // SAFETY: the mapping just made.
        unsafe { libc::munmap(p, SIZE) };
        return None;
    }
    Some(p as usize)
}

fn region() -> Option<&'static Region> {
    static REGION: OnceLock<Option<Region>> = OnceLock::new();
    REGION.get_or_init(make).as_ref()
}

fn make() -> Option<Region> {
    // Anonymous, not a memfd: `perf` resolves JIT symbols only in memory without a file.
    let write = map(0, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED)?;
    // Near the program's own text, so that runtime functions are in reach of a rel32.
    let text = make as *const () as usize & !0xFFF_FFFF;
    let reserve = |at| map(at, libc::PROT_NONE, libc::MAP_PRIVATE);
    let near = (1..7)
        .map(|i| text.wrapping_sub(i << 28))
        .chain((1..6).map(|i| text.wrapping_add(i << 28)))
        .find_map(reserve);
    let exec = near.or_else(|| reserve(0))?;
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    let [from, to] = [write, exec].map(|p| p as *mut libc::c_void);
    // SAFETY: an old size of 0 maps the same shared pages once more, over what was reserved.
    let second = unsafe { libc::mremap(from, 0, SIZE, flags, to) };
    // SAFETY: the mapping just made.
    if second != to || unsafe { libc::mprotect(to, SIZE, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
        return None;
    }
    Some(Region { exec, write, free: Mutex::new(vec![(0, SIZE)]), present: Mutex::new(0..0) })
}

impl Region {
    fn present(&self) -> MutexGuard<'_, Range<usize>> {
        self.present.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Makes pages of the writable mapping present, with some that follow, and drops others.
    /// Dropped pages are seldom needed again and stay in the executable mapping; a page present in
    /// both is counted twice.
    fn make_present(&self, asked: Range<usize>) {
        let mut now = self.present();
        if now.contains(&asked.start) && asked.end <= now.end {
            return;
        }
        let goes_on = (now.start..=now.end).contains(&asked.start);
        if !goes_on || asked.start - now.start >= AT_ONCE {
            let passed = if goes_on { now.start..asked.start } else { now.clone() };
            self.advise(passed, libc::MADV_DONTNEED);
            *now = asked.start..if goes_on { now.end } else { asked.start };
        }
        let end = asked.end.max(now.end + AT_ONCE).min(SIZE);
        self.advise(now.end..end, libc::MADV_POPULATE_WRITE);
        now.end = end;
    }
    /// `madvise` for the writable mapping. An advice unknown to the system changes nothing.
    fn advise(&self, pages: Range<usize>, advice: libc::c_int) {
        let start = (self.write + pages.start) as *mut libc::c_void;
        // SAFETY: whole pages inside of the region. Of shared memory `MADV_DONTNEED` drops the
        // mapping's own table entries, and nothing that is written there.
        unsafe { libc::madvise(start, pages.len(), advice) };
    }
}

/// Code of at least this many bytes is returned to the system when freed.
const LARGE: usize = 16 << 10;

/// Released pages, without code and not executable: offsets, in order.
static RELEASED: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

fn released() -> MutexGuard<'static, Vec<Range<usize>>> {
    RELEASED.lock().unwrap_or_else(|e| e.into_inner())
}

impl Region {
    /// Returns the whole pages of a large stretch, not yet marked free, to the system, and says
    /// which. A stale jump there faults: the pages are not executable.
    fn release(&self, code: Range<usize>) -> Range<usize> {
        let pages = code.start.next_multiple_of(PAGE)..code.end & !(PAGE - 1);
        if code.len() < LARGE || !self.protect(&pages, libc::PROT_NONE) {
            return 0..0;
        }
        let start = (self.write + pages.start) as *mut libc::c_void;
        // SAFETY: whole pages inside of the region, which hold nothing that is used.
        if unsafe { libc::madvise(start, pages.len(), libc::MADV_REMOVE) } != 0 {
            self.protect(&pages, libc::PROT_READ | libc::PROT_EXEC);
            return 0..0;
        }
        let mut all = released();
        let at = all.partition_point(|r| r.start < pages.start);
        all.insert(at, pages.clone());
        pages
    }
    /// Makes a released stretch usable again.
    fn restore(&self, code: Range<usize>) {
        let mut all = released();
        while let Some(i) = all.iter().position(|r| r.start < code.end && code.start < r.end) {
            let pages = all.remove(i);
            self.protect(&pages, libc::PROT_READ | libc::PROT_EXEC);
        }
    }
    /// `mprotect` for the executable mapping. False if the system refuses.
    fn protect(&self, pages: &Range<usize>, protection: libc::c_int) -> bool {
        let start = (self.exec + pages.start) as *mut libc::c_void;
        // SAFETY: whole pages inside of the region that hold no code in use.
        unsafe { libc::mprotect(start, pages.len(), protection) == 0 }
    }
}

/// Drops the writable mapping's pages, until something is written again.
pub(crate) fn settle() {
    let Some(r) = region() else { return };
    let mut now = r.present();
    let all = std::mem::replace(&mut *now, 0..0);
    r.advise(all, libc::MADV_DONTNEED);
}

/// A stretch of executable memory; given back when dropped.
#[derive(Debug)]
pub struct NativeCode {
    offset: usize,
    len: usize,
}

impl NativeCode {
    /// Takes a stretch of that many bytes, 64-aligned.
    pub fn alloc(len: usize) -> Option<NativeCode> {
        let len = len.div_ceil(64).max(1) * 64;
        let r = region()?;
        let mut free = r.free.lock().unwrap_or_else(|e| e.into_inner());
        let i = free.iter().position(|(_, n)| *n >= len)?;
        let offset = free[i].0;
        free[i].0 += len;
        free[i].1 -= len;
        if free[i].1 == 0 {
            free.remove(i);
        }
        r.restore(offset..offset + len);
        Some(NativeCode { offset, len })
    }
    /// The addresses that it takes.
    pub fn range(&self) -> Range<usize> {
        self.address()..self.address() + self.len
    }
    pub fn address(&self) -> usize {
        region().map_or(0, |r| r.exec) + self.offset
    }
    /// Writes the code, once.
    pub fn write(&self, bytes: &[u8]) {
        if let Some(r) = region() {
            let end = (self.offset + self.len).next_multiple_of(PAGE);
            r.make_present(self.offset & !(PAGE - 1)..end);
        }
        self.write_at(0, bytes);
    }
    pub fn write_at(&self, at: usize, bytes: &[u8]) {
        let Some(r) = region() else { return };
        if at + bytes.len() > self.len {
            return;
        }
        let p = (r.write + self.offset + at) as *mut u8;
        // SAFETY: the stretch is ours and long enough; nothing runs in it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len()) }
    }
}

/// Reads three bytes of the region, whether or not it is still code.
pub fn read(at: usize) -> Option<[u8; 3]> {
    let all = range();
    let r = region().filter(|_| all.contains(&at) && at + 3 <= all.end)?;
    // SAFETY: inside of the writable mapping, which stays.
    Some(unsafe { ((r.write + (at - r.exec)) as *const [u8; 3]).read() })
}
/// Atomically replaces two bytes of code that may be running, at an even address: other threads see
/// both or neither.
pub fn patch(at: usize, bytes: [u8; 2]) -> bool {
    let inside = range().contains(&at) && range().contains(&(at + 1)) && at.is_multiple_of(2);
    let Some(r) = region().filter(|_| inside) else { return false };
    let p = (r.write + (at - r.exec)) as *const std::sync::atomic::AtomicU16;
    // SAFETY: inside of the mapping, which is aligned as `exec` is; other threads only execute it.
    unsafe { &*p }.store(u16::from_le_bytes(bytes), std::sync::atomic::Ordering::SeqCst);
    true
}

impl Drop for NativeCode {
    fn drop(&mut self) {
        crate::entry_breakpoints::forget(self.range());
        let Some(r) = region() else { return };
        let released = r.release(self.offset..self.offset + self.len);
        if released.is_empty() {
            // Traps if anything still jumps here.
            self.write(&vec![FILL; self.len]);
        } else {
            for edge in [self.offset..released.start, released.end..self.offset + self.len] {
                self.write_at(edge.start - self.offset, &vec![FILL; edge.len()]);
            }
        }
        let mut free = r.free.lock().unwrap_or_else(|e| e.into_inner());
        let i = free.partition_point(|(o, _)| *o < self.offset);
        free.insert(i, (self.offset, self.len));
        if i + 1 < free.len() && free[i].0 + free[i].1 == free[i + 1].0 {
            free[i].1 += free[i + 1].1;
            free.remove(i + 1);
        }
        if i > 0 && free[i - 1].0 + free[i - 1].1 == free[i].0 {
            free[i - 1].1 += free[i].1;
            free.remove(i);
        }
    }
}

/// Bytes of code in use.
pub fn bytes() -> usize {
    let Some(r) = region() else { return 0 };
    let free = r.free.lock().unwrap_or_else(|e| e.into_inner());
    SIZE - free.iter().map(|f| f.1).sum::<usize>()
}

/// The whole executable region.
pub fn range() -> std::ops::Range<usize> {
    region().map_or(0..0, |r| r.exec..r.exec + SIZE)
}
