//! zlib's streams: stock zlib itself, so that its output is byte for byte that of other programs.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use libmimalloc_sys as mi;
use libz_sys as z;

extern "C" {
    fn inflateGetDictionary(strm: z::z_streamp, dictionary: *mut u8, length: *mut z::uInt)
        -> c_int;
}

/// A zlib return code other than success.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Status {
    Ok,
    StreamEnd,
    NeedDict,
    StreamError,
    DataError,
    MemError,
    BufError,
    VersionError,
    Unknown,
}

fn code(r: c_int) -> Status {
    match r {
        z::Z_OK => Status::Ok,
        z::Z_STREAM_END => Status::StreamEnd,
        z::Z_NEED_DICT => Status::NeedDict,
        z::Z_STREAM_ERROR => Status::StreamError,
        z::Z_DATA_ERROR => Status::DataError,
        z::Z_MEM_ERROR => Status::MemError,
        z::Z_BUF_ERROR => Status::BufError,
        z::Z_VERSION_ERROR => Status::VersionError,
        _ => Status::Unknown,
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum StreamKind {
    Deflate,
    Inflate,
}

/// A compressing or decompressing stream. zlib keeps its address, hence the box.
pub struct ZlibStream {
    z: Box<z::z_stream>,
    kind: StreamKind,
    ended: bool,
}

// SAFETY: a z_stream has no ties to a thread.
unsafe impl Send for ZlibStream {}

// A stream that compresses takes 270 KB, which the C library gives back to the system each time.
extern "C" fn allocate(_: z::voidpf, items: z::uInt, size: z::uInt) -> z::voidpf {
    // SAFETY: mi_mallocn may be called with any numbers; zlib initialises what it reads.
    unsafe { mi::mi_mallocn(items as usize, size as usize) }
}
extern "C" fn release(_: z::voidpf, p: z::voidpf) {
    // SAFETY: zlib gives back what `allocate` gave.
    unsafe { mi::mi_free(p) }
}

fn fresh() -> Box<z::z_stream> {
    Box::new(z::z_stream {
        next_in: ptr::null_mut(),
        avail_in: 0,
        total_in: 0,
        next_out: ptr::null_mut(),
        avail_out: 0,
        total_out: 0,
        msg: ptr::null_mut(),
        state: ptr::null_mut(),
        zalloc: allocate,
        zfree: release,
        opaque: ptr::null_mut(),
        data_type: z::Z_BINARY,
        adler: 0,
        reserved: 0,
    })
}
const SIZE: c_int = size_of::<z::z_stream>() as c_int;

/// The result of one call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ZlibStep {
    pub code: Status,
    pub consumed: usize,
    pub produced: usize,
}

/// Output buffer of a stream; it need not be initialised.
pub struct ZlibOutput<'a> {
    room: &'a mut [MaybeUninit<u8>],
    written: usize,
}

impl<'a> ZlibOutput<'a> {
    pub fn new(room: &'a mut [MaybeUninit<u8>]) -> ZlibOutput<'a> {
        ZlibOutput { room, written: 0 }
    }
    /// The part that streams have written.
    pub fn written(self) -> &'a mut [u8] {
        // SAFETY: zlib wrote the first `written` bytes.
        unsafe { std::slice::from_raw_parts_mut(self.room.as_mut_ptr().cast(), self.written) }
    }
}

impl ZlibStream {
    pub fn deflate(
        level: i32,
        method: i32,
        window_bits: i32,
        mem_level: i32,
        strategy: i32,
    ) -> Result<ZlibStream, Status> {
        let mut s = fresh();
        // SAFETY: the stream is initialised as zlib wants it; other arguments are checked there.
        let r = unsafe {
            z::deflateInit2_(
                &mut *s,
                level,
                method,
                window_bits,
                mem_level,
                strategy,
                z::zlibVersion(),
                SIZE,
            )
        };
        ZlibStream::made(s, StreamKind::Deflate, r)
    }
    pub fn inflate(window_bits: i32) -> Result<ZlibStream, Status> {
        let mut s = fresh();
        // SAFETY: as above.
        let r = unsafe { z::inflateInit2_(&mut *s, window_bits, z::zlibVersion(), SIZE) };
        ZlibStream::made(s, StreamKind::Inflate, r)
    }
    fn made(z: Box<z::z_stream>, kind: StreamKind, r: c_int) -> Result<ZlibStream, Status> {
        match code(r) {
            Status::Ok => Ok(ZlibStream { z, kind, ended: false }),
            e => Err(e),
        }
    }
    pub fn kind(&self) -> StreamKind {
        self.kind
    }
    pub fn adler(&self) -> u32 {
        self.z.adler as u32
    }

    /// One call of `deflate` or `inflate`.
    pub fn step(&mut self, input: &[u8], output: &mut ZlibOutput<'_>, flush: i32) -> ZlibStep {
        let rest = &mut output.room[output.written..];
        let n_in = input.len().min(u32::MAX as usize);
        let n_out = rest.len().min(u32::MAX as usize);
        let s = &mut *self.z;
        s.next_in = if input.is_empty() { ptr::null_mut() } else { input.as_ptr().cast_mut() };
        s.avail_in = n_in as u32;
        s.next_out = rest.as_mut_ptr().cast();
        s.avail_out = n_out as u32;
        // SAFETY: the stream was initialised and not ended; the buffers live for the call, and zlib
        // only reads the input.
        let r = unsafe {
            match self.kind {
                StreamKind::Deflate => z::deflate(s, flush),
                StreamKind::Inflate => z::inflate(s, flush),
            }
        };
        let step = ZlibStep {
            code: code(r),
            consumed: n_in - s.avail_in as usize,
            produced: n_out - s.avail_out as usize,
        };
        output.written += step.produced;
        s.next_in = ptr::null_mut();
        s.next_out = ptr::null_mut();
        (s.avail_in, s.avail_out) = (0, 0);
        step
    }
    pub fn reset(&mut self) -> Status {
        // SAFETY: the stream was initialised.
        code(unsafe {
            match self.kind {
                StreamKind::Deflate => z::deflateReset(&mut *self.z),
                StreamKind::Inflate => z::inflateReset(&mut *self.z),
            }
        })
    }
    pub fn set_dictionary(&mut self, d: &[u8]) -> Status {
        let (p, n) = (d.as_ptr(), d.len().min(u32::MAX as usize) as u32);
        // SAFETY: the stream was initialised; the dictionary lives for the call.
        code(unsafe {
            match self.kind {
                StreamKind::Deflate => z::deflateSetDictionary(&mut *self.z, p, n),
                StreamKind::Inflate => z::inflateSetDictionary(&mut *self.z, p, n),
            }
        })
    }
    /// The window of an inflating stream.
    pub fn dictionary(&mut self) -> Result<Vec<u8>, Status> {
        let mut d = vec![0u8; 32_768];
        let mut n = 0;
        // SAFETY: room for the largest window.
        match code(unsafe { inflateGetDictionary(&mut *self.z, d.as_mut_ptr(), &mut n) }) {
            Status::Ok => {
                d.truncate(n as usize);
                Ok(d)
            }
            e => Err(e),
        }
    }
    /// Changes level and strategy; everything written before must have been flushed.
    pub fn set_params(&mut self, level: i32, strategy: i32) -> Status {
        let mut dummy = 0u8;
        self.z.next_out = &mut dummy;
        self.z.avail_out = 1;
        // SAFETY: the stream was initialised; one byte of room.
        let r = unsafe { z::deflateParams(&mut *self.z, level, strategy) };
        let full = self.z.avail_out == 0;
        self.z.next_out = ptr::null_mut();
        self.z.avail_out = 0;
        if full {
            Status::StreamError
        } else {
            code(r)
        }
    }
    /// Ends the stream; an early end of a compressing one is a data error.
    pub fn end(mut self) -> Status {
        self.finish()
    }
    fn finish(&mut self) -> Status {
        if std::mem::replace(&mut self.ended, true) {
            return Status::Ok;
        }
        // SAFETY: the stream was initialised and is ended once.
        code(unsafe {
            match self.kind {
                StreamKind::Deflate => z::deflateEnd(&mut *self.z),
                StreamKind::Inflate => z::inflateEnd(&mut *self.z),
            }
        })
    }
}

impl Drop for ZlibStream {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The CRC-32 of more bytes after those that gave `crc`.
pub fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    bytes.chunks(1 << 30).fold(crc, |c, b| {
        // SAFETY: the bytes are readable for their length.
        unsafe { z::crc32(c as z::uLong, b.as_ptr(), b.len() as u32) as u32 }
    })
}
pub fn adler32(adler: u32, bytes: &[u8]) -> u32 {
    bytes.chunks(1 << 30).fold(adler, |c, b| {
        // SAFETY: the bytes are readable for their length.
        unsafe { z::adler32(c as z::uLong, b.as_ptr(), b.len() as u32) as u32 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(s: &mut ZlibStream, input: &[u8], flush: i32) -> (Vec<u8>, ZlibStep) {
        let mut out = [MaybeUninit::uninit(); 1000];
        let mut out = ZlibOutput::new(&mut out);
        let step = s.step(input, &mut out, flush);
        (out.written().to_vec(), step)
    }

    #[test]
    fn there_and_back() {
        let text = b"hello hello hello hello".repeat(20);
        let mut d = ZlibStream::deflate(-1, 8, 15, 8, 0).unwrap();
        let (packed, step) = run(&mut d, &text, 4);
        assert_eq!((step.code, step.consumed), (Status::StreamEnd, text.len()));
        assert_eq!(d.end(), Status::Ok);
        let mut i = ZlibStream::inflate(15).unwrap();
        let (back, step) = run(&mut i, &packed, 0);
        assert_eq!((back, step.code), (text, Status::StreamEnd));
        let mut i = ZlibStream::inflate(15).unwrap();
        assert_eq!(run(&mut i, b"rubbish", 0).1.code, Status::DataError);
        assert_eq!(ZlibStream::inflate(99).err(), Some(Status::StreamError));
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
    }
}
