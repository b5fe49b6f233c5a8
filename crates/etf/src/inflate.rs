//! Decompresses a compressed term block by block.

use std::mem::MaybeUninit;

use kvik_sys::zlib::{Status, ZlibOutput, ZlibStream};

use crate::reader::Reader;
use crate::EtfError;

/// zlib's `Z_NO_FLUSH`, and the largest window.
const NO_FLUSH: i32 = 0;
const WINDOW: i32 = 15;
/// Output bytes taken from zlib in one call.
const AT_ONCE: usize = 1 << 14;
/// Output bytes that count as one step.
const BYTES_A_STEP: usize = 1;
/// Initial output buffer as a multiple of the input; it grows as needed.
const LIKELY: usize = 64;

/// The uncompressed size, followed by zlib data.
pub(crate) struct Inflation {
    stream: ZlibStream,
    size: usize,
    plain: Vec<u8>,
    /// Bytes read, including the size field.
    used: usize,
    done: bool,
}

impl Inflation {
    pub fn new(bytes: &[u8]) -> Result<Inflation, EtfError> {
        let mut r = Reader::new(bytes);
        let size = r.u32()? as usize;
        let plain = Vec::with_capacity(size.min(LIKELY * r.left()));
        let stream = ZlibStream::inflate(WINDOW).map_err(|_| EtfError::Malformed)?;
        Ok(Inflation { stream, size, plain, used: r.pos(), done: false })
    }
    /// Continues with the same bytes for at most `steps` steps. True when complete.
    pub fn run(&mut self, bytes: &[u8], steps: &mut usize) -> Result<bool, EtfError> {
        while !self.done && *steps > 0 {
            let mut memory = [MaybeUninit::uninit(); AT_ONCE];
            let mut to = ZlibOutput::new(&mut memory);
            let input = bytes.get(self.used..).ok_or(EtfError::Malformed)?;
            let step = self.stream.step(input, &mut to, NO_FLUSH);
            self.plain.extend_from_slice(to.written());
            self.used += step.consumed;
            self.done = step.code == Status::StreamEnd;
            let fails = !self.done && step.code != Status::Ok;
            if fails || self.plain.len() > self.size || self.done && self.plain.len() < self.size {
                return Err(EtfError::Malformed);
            }
            *steps = steps.saturating_sub(1 + step.produced / BYTES_A_STEP);
        }
        Ok(self.done)
    }
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }
    /// Bytes consumed.
    pub fn used(&self) -> usize {
        self.used
    }
}
