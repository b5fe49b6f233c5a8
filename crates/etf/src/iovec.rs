//! `term_to_iovec`: large binaries are shared instead of copied into the output.

use kvik_heap::Heap;
use kvik_term::{Bits, Term};

use crate::encode::{EncodeOpts, Encoding};

/// Binaries of more bits than this are shared.
const SHARED_BITS: usize = 64 * 8;

/// Binaries that are not part of the output, each with the position in it where its bytes belong.
#[derive(Default)]
pub(crate) struct SharedBinaries<'h> {
    all: Vec<(usize, Term<'h>)>,
    bytes: usize,
    /// Where else the output is split.
    cut: Option<usize>,
}

impl SharedBinaries<'_> {
    /// Whether a bit string is shared: it is large, and its bytes are byte-aligned.
    pub(crate) fn takes(b: Bits<'_>) -> bool {
        let bits = match kvik_release::current().shares_by_bits() {
            true => b.bit_len(),
            false => b.bit_len() / 8 * 8,
        };
        bits > SHARED_BITS && b.bit_offset() == 0
    }
    pub(crate) fn byte_size(&self) -> usize {
        self.bytes
    }
}

impl<'h> Encoding<'h> {
    /// An encoding for [`Encoding::finish_pieces`].
    pub fn in_pieces(t: Term<'h>, opts: EncodeOpts) -> Encoding<'h> {
        let mut e = Encoding::new(t, opts);
        // What only this node can read starts a piece of its own.
        let cut = if opts.local { Some(e.out.len()) } else { None };
        e.shared = Some(SharedBinaries { cut, ..SharedBinaries::default() });
        e
    }
    /// Writes the head of a bit string and the bits of its last, partial byte. Its whole bytes
    /// are shared.
    pub(crate) fn share(&mut self, t: Term<'h>, b: Bits<'h>) {
        self.bits_head(b);
        let (at, whole) = (self.out.len(), b.bit_len() / 8);
        if let Some(shared) = &mut self.shared {
            shared.all.push((at, t));
            shared.bytes += whole;
        }
        if !b.is_binary() {
            self.out.push_all([b.byte(whole)]);
        }
    }
    /// The output as a list of binaries.
    pub fn finish_pieces(self, heap: &'h Heap) -> Term<'h> {
        let (end, shared) = (self.out.len(), self.shared.unwrap_or_default());
        let written = self.out.finish(heap);
        let (mut pieces, mut from) = (Vec::with_capacity(2 * shared.all.len() + 1), 0);
        let part = |from: usize, to: usize| heap.sub_binary(written, from * 8, (to - from) * 8);
        if let Some(at) = shared.cut {
            pieces.extend(part(0, at));
            from = at;
        }
        for (at, t) in shared.all {
            pieces.extend(part(from, at));
            pieces.extend(heap.sub_binary(t, 0, t.as_bits().map_or(0, |b| b.bit_len() / 8 * 8)));
            from = at;
        }
        if from < end {
            pieces.extend(part(from, end));
        }
        heap.list(&pieces)
    }
}
