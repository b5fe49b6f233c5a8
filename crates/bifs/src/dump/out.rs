//! The file of a dump, whose size may be limited.

use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use kvik_env::fs::File;

/// Bytes written so far, of all dumps.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

pub fn written() -> u64 {
    WRITTEN.load(Ordering::Relaxed)
}

pub struct DumpWriter {
    file: BufWriter<File>,
    /// Bytes that may still be written.
    left: u64,
}

/// The end of a dump that reached its size limit.
const STOPPED: &[u8] = b"\n=abort:CRASH DUMP SIZE LIMIT REACHED\n";

impl DumpWriter {
    pub fn new(file: File, limit: Option<u64>) -> DumpWriter {
        DumpWriter {
            file: BufWriter::with_capacity(1 << 16, file),
            left: limit.unwrap_or(u64::MAX),
        }
    }
}

impl Write for DumpWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let n = bytes.len();
        WRITTEN.fetch_add(n as u64, Ordering::Relaxed);
        if n as u64 <= self.left {
            self.left -= n as u64;
            self.file.write_all(bytes)?;
            return Ok(n);
        }
        self.file.write_all(&bytes[..self.left as usize])?;
        self.file.write_all(STOPPED)?;
        self.file.flush()?;
        Err(Error::from(ErrorKind::WriteZero))
    }
    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}
