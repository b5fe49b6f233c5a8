//! Alignment of the kernel's copies to user memory. The kernel copies by one instruction (`rep
//! movsb`), which on AMD's CPUs takes three to six times as long if the destination lies 1 to 31
//! bytes behind the source, modulo a page. The offset in a page of the page cache is that in the
//! file; so kvik moves the destination, and copies once more into place, which takes a third of a
//! copy (file-memory.md).

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::__cpuid;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use crate::BinRef;

/// Shorter copies are not displaced.
const MIN_ALIGNED_BYTES: usize = 4096;
const PAGE: usize = 4096;
/// Distance in bytes by which a copy that would be slow is displaced.
const STEP: usize = 64;

/// Whether a copy from `from` to `to` is slow. Only the offsets in a page matter.
#[inline]
fn is_slow(from: usize, to: usize) -> bool {
    (1..32).contains(&(to.wrapping_sub(from) % PAGE))
}

/// Whether the CPU copies more than 16 KB faster to a destination at a cache line. AMD's do from
/// Zen 5 on: 64 KB out of the page cache takes a fifth longer everywhere else. The answer never
/// changes.
#[inline]
pub(crate) fn goes_by_lines() -> bool {
    static SEEN: OnceLock<bool> = OnceLock::new();
    *SEEN.get_or_init(|| amd_family().is_some_and(|family| family >= ZEN_5))
}
const ZEN_5: u32 = 0x1a;

/// The CPU family in AMD's numbering. `None`: another manufacturer, or Miri, which has no `cpuid`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn amd_family() -> Option<u32> {
    let (id, version) = (__cpuid(0), __cpuid(1).eax);
    let is_amd = [id.ebx, id.edx, id.ecx] == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes);
    is_amd.then_some((version >> 8 & 0xf) + (version >> 20 & 0xff))
}
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn amd_family() -> Option<u32> {
    None
}

impl BinRef {
    /// [`BinRef::fill`] by a kernel copy whose source begins at this offset in a page.
    #[inline]
    pub fn fill_from<E>(
        from: usize,
        cap: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Option<Result<BinRef, E>> {
        let b = BinRef::try_allocate(cap)?;
        if cap >= MIN_ALIGNED_BYTES && is_slow(from, b.data() as usize) {
            drop(b);
            return BinRef::fill_aligned(from, cap, fill);
        }
        Some(b.filled(0, cap, fill))
    }
    #[cold]
    fn fill_aligned<E>(
        from: usize,
        cap: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Option<Result<BinRef, E>> {
        let b = BinRef::try_allocate(cap.checked_add(STEP)?)?;
        let aside = if is_slow(from, b.data() as usize) { STEP } else { 0 };
        Some(b.filled(aside, cap, fill))
    }

    /// Whether the kernel's copy of bytes placed like these to `to` is slow. See
    /// [`BinRef::copy_for`].
    #[inline]
    pub fn copies_slowly(bytes: &[u8], to: usize) -> bool {
        bytes.len() >= MIN_ALIGNED_BYTES && is_slow(bytes.as_ptr() as usize, to)
    }
    /// A binary that ends with a copy of `bytes`, at an offset from which the kernel copies them to
    /// `to` at full speed; and that offset. `None`: there is no memory for it.
    pub fn copy_for(bytes: &[u8], to: usize) -> Option<(BinRef, usize)> {
        let b = BinRef::try_allocate(bytes.len().checked_add(2 * STEP)?)?;
        // This copy is made by the same instruction.
        let slow = |aside| {
            let place = b.data() as usize + aside;
            is_slow(bytes.as_ptr() as usize, place) || is_slow(place, to)
        };
        let aside = [0, STEP, 2 * STEP].into_iter().find(|n| !slow(*n))?;
        let copied = b.gathered(aside + bytes.len(), |g| {
            g.push(&[0; 2 * STEP][..aside]);
            g.push(bytes);
        });
        Some((copied.0, aside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn copies_are_the_same_wherever_they_come_from() {
        let bytes: Vec<u8> = (0..9000).map(|i| (i % 251) as u8).collect();
        let step = if cfg!(miri) { 9 } else { 1 };
        for (from, len) in
            (0..70).step_by(step).flat_map(|from| [0, 1, 4096, 8000].map(|len| (from, len)))
        {
            let b = BinRef::fill_from(from, 8192, |room| {
                assert!(room.len() == 8192 && !is_slow(from, room.as_ptr() as usize));
                // SAFETY: `len` bytes are written, and only those are answered.
                unsafe {
                    let to = room.as_mut_ptr().cast::<u8>();
                    ptr::copy_nonoverlapping(bytes[from..].as_ptr(), to, len);
                    Ok::<_, ()>(std::slice::from_raw_parts_mut(to, len))
                }
            });
            let b = b.unwrap().unwrap();
            assert!(b.bytes() == &bytes[from..from + len] && b.capacity() >= 8192);
        }
        let failed = BinRef::fill_from(7, 5000, |_| Err(9));
        assert_eq!(failed.map(|r| r.err()), Some(Some(9)));
    }

    #[test]
    fn writes_are_aligned_only_where_that_pays() {
        let bytes: Vec<u8> = (0..70_000).map(|i| (i % 251) as u8).collect();
        let from = bytes.as_ptr() as usize;
        // Miri copies unaligned data byte by byte.
        let (step, longest) = if cfg!(miri) { (31, 5000) } else { (1, 69_000) };
        for (shift, len) in (0..100).step_by(step).flat_map(|n| [4096, longest].map(|len| (n, len)))
        {
            let piece = &bytes[shift..shift + len];
            for to in (0..100).step_by(step) {
                let slow = is_slow(from + shift, from + to);
                assert_eq!(BinRef::copies_slowly(piece, from + to), slow);
                let (b, at) = BinRef::copy_for(piece, from + to).unwrap();
                assert!(&b.bytes()[at..] == piece);
                assert!(!is_slow(b.bytes()[at..].as_ptr() as usize, from + to));
            }
        }
        assert!(!BinRef::copies_slowly(&bytes[..4095], from + 1));
    }
}
