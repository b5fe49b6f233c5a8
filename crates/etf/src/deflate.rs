//! Compresses a finished encoding piece by piece.

use std::mem::MaybeUninit;

use kvik_heap::{Heap, Writer};
use kvik_sys::zlib::{Status, ZlibOutput, ZlibStream};
use kvik_term::Term;

use crate::tag;

/// zlib's method, window, memory and strategy as `compress2` sets them.
const DEFLATE: (i32, i32, i32, i32) = (8, 15, 8, 0);
const FINISH: i32 = 4;

/// A finished encoding being compressed.
pub struct Deflation {
    plain: Writer,
    /// Bytes compressed so far. The version byte is not compressed.
    done: usize,
    stream: ZlibStream,
    /// Compressed output; compression stops once it is as long as the plain form.
    out: Vec<u8>,
    code: Status,
}

/// Bytes passed to zlib, and taken from it, in one call.
const AT_ONCE: usize = 1 << 14;

impl Deflation {
    pub(crate) fn new(plain: Writer, level: u32) -> Result<Deflation, Writer> {
        let (method, window, memory, strategy) = DEFLATE;
        let size = u32::try_from(plain.len() - 1).ok().filter(|n| level > 0 && *n > 5);
        // A zlib stream takes 256 KB, so none is created without compression.
        let Some(size) = size else { return Err(plain) };
        let stream = ZlibStream::deflate(level as i32, method, window, memory, strategy);
        let Ok(stream) = stream else { return Err(plain) };
        let mut out = vec![tag::VERSION, tag::COMPRESSED];
        out.extend_from_slice(&size.to_be_bytes());
        Ok(Deflation { plain, done: 1, stream, out, code: Status::Ok })
    }
    /// Compresses up to `left` bytes. True: finished, or the result is not smaller.
    pub fn run(&mut self, left: &mut usize) -> bool {
        while *left > 0 && !self.is_done() {
            let end = self.plain.len().min(self.done + AT_ONCE);
            let flush = if end == self.plain.len() { FINISH } else { 0 };
            let room = (self.plain.len() - self.out.len()).min(AT_ONCE);
            let mut memory = [MaybeUninit::uninit(); AT_ONCE];
            let mut to = ZlibOutput::new(&mut memory[..room]);
            let step = self.stream.step(&self.plain.bytes()[self.done..end], &mut to, flush);
            self.out.extend_from_slice(to.written());
            self.done += step.consumed;
            self.code = step.code;
            *left = left.saturating_sub(step.consumed.max(1));
        }
        self.is_done()
    }
    /// Bytes of compressed output so far.
    pub fn written(&self) -> usize {
        self.out.len()
    }
    fn is_done(&self) -> bool {
        !matches!(self.code, Status::Ok | Status::BufError) || self.out.len() >= self.plain.len()
    }
    fn compressed(&self) -> Option<&[u8]> {
        (self.code == Status::StreamEnd).then_some(&self.out)
    }
    /// The shorter of compressed and plain form.
    pub(crate) fn shorter(&self) -> &[u8] {
        self.compressed().unwrap_or(self.plain.bytes())
    }
    /// `shorter` as a binary.
    pub fn finish(self, heap: &Heap) -> Term<'_> {
        match self.compressed() {
            Some(z) => heap.binary(z),
            None => self.plain.finish(heap),
        }
    }
}
