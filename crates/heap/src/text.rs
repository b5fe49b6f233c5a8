//! Remembers which off-heap binaries are text: bytes that were validated as UTF-8 once need not be
//! validated again. A `&str` is the proof.

use std::sync::atomic::Ordering::Relaxed;

use kvik_term::word::*;
use kvik_term::Term;

use crate::binary::Binary;
use crate::Heap;

/// An off-heap binary and the range of it that a term refers to.
struct Part {
    binary: *const Binary,
    /// The binary's first byte.
    base: *const u8,
    from: usize,
    to: usize,
}

impl Part {
    fn of(t: Term<'_>) -> Option<Part> {
        let (h, p) = t.boxed()?;
        // SAFETY: the layouts of `word`.
        unsafe {
            let (whole, from, bits) = match header_subtag(h) {
                REFC_BIN => (p, 0, *p.add(1) as usize * 8),
                SUB_BIN => (
                    (*p.add(1) - TAG_BOXED) as *const u64,
                    small_value(*p.add(2)) as usize,
                    small_value(*p.add(3)) as usize,
                ),
                _ => return None,
            };
            if header_subtag(*whole) != REFC_BIN || from % 8 != 0 || bits % 8 != 0 {
                return None;
            }
            let (binary, base) = (*whole.add(3) as *const Binary, *whole.add(4) as *const u8);
            Some(Part { binary, base, from: from / 8, to: (from + bits) / 8 })
        }
    }
}

/// Whether text that ends with `s`, and may begin before it, ends with a whole character.
fn ends_whole(s: &[u8]) -> bool {
    let last = s.iter().rposition(|b| b & 0xc0 != 0x80);
    last.is_none_or(|i| {
        s.len() - i
            == match s[i] {
                ..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
            }
    })
}

impl Heap {
    /// The text of a binary, if it was validated before.
    pub fn known_text<'h>(&'h self, t: Term<'h>) -> Option<&'h str> {
        let part = Part::of(t)?;
        // SAFETY: the term holds a count on the binary for 'h; up to `text` its bytes were part of
        // a `str`, and don't change; both ends are between characters.
        unsafe {
            if part.to > (*part.binary).text.load(Relaxed) {
                return None;
            }
            let s = std::slice::from_raw_parts(part.base.add(part.from), part.to - part.from);
            let whole = s.first().is_none_or(|b| b & 0xc0 != 0x80)
                && ends_whole(&s[s.len().saturating_sub(4)..]);
            whole.then(|| std::str::from_utf8_unchecked(s))
        }
    }
    /// Records that these bytes of a binary are text.
    pub fn know_text(&self, t: Term<'_>, text: &str) {
        let Some(part) = Part::of(t) else { return };
        let from = (text.as_ptr() as usize).wrapping_sub(part.base as usize);
        // SAFETY: the term holds a count on the binary.
        let known = unsafe { &(*part.binary).text };
        let inside = from >= part.from && from + text.len() <= part.to;
        if inside && from <= known.load(Relaxed) {
            known.fetch_max(from + text.len(), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_utf8_stays_valid() {
        let h = Heap::new(64);
        let s = "aåä€𝄞".repeat(20);
        let t = h.binary(s.as_bytes());
        let sub = |from: usize, to: usize| h.sub_binary(t, from * 8, (to - from) * 8).unwrap();
        fn bytes(t: Term<'_>) -> &str {
            std::str::from_utf8(t.as_bits().unwrap().as_bytes().unwrap()).unwrap()
        }
        assert_eq!(h.known_text(t), None);
        // Other bytes, and bytes before which nothing is known.
        h.know_text(t, &s);
        let late = sub(3, 99);
        h.know_text(late, bytes(late));
        assert_eq!((h.known_text(t), h.known_text(late)), (None, None));
        let early = sub(0, 80);
        h.know_text(early, bytes(early));
        assert_eq!((h.known_text(early), h.known_text(t)), (Some(&s[..80]), None));
        h.know_text(late, bytes(late));
        h.know_text(t, bytes(t));
        assert_eq!(h.known_text(t), Some(&*s));
        let n = if cfg!(miri) { 6 } else { 30 };
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |n| (from, from + 70 + n))) {
            assert_eq!(h.known_text(sub(from, to)), s.get(from..to));
        }
    }
}
