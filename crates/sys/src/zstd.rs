//! A safe interface to zstd: streams, their parameters and dictionaries, and frame headers.
//!
//! A digested dictionary is shared by the streams that refer to it, which keep it alive.

use std::ffi::CStr;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use zstd_sys as sys;

/// Parameters of compression, as zstd names them.
pub type CompressParameter = sys::ZSTD_cParameter;
/// Parameters of decompression.
pub type DecompressParameter = sys::ZSTD_dParameter;
/// What to do with input that zstd holds back.
pub type EndDirective = sys::ZSTD_EndDirective;

/// An error of zstd.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ZstdError(usize);

impl ZstdError {
    /// zstd's message.
    pub fn text(self) -> &'static str {
        // SAFETY: zstd gives a constant string for each number.
        unsafe { CStr::from_ptr(sys::ZSTD_getErrorName(self.0)) }.to_str().unwrap_or_default()
    }
}

/// The result of a function that may return an error as its number.
fn checked(n: usize) -> Result<usize, ZstdError> {
    // SAFETY: no memory is involved.
    match unsafe { sys::ZSTD_isError(n) } {
        0 => Ok(n),
        _ => Err(ZstdError(n)),
    }
}

/// The memory functions of the C library.
const MEMORY: sys::ZSTD_customMem =
    sys::ZSTD_customMem { customAlloc: None, customFree: None, opaque: ptr::null_mut() };

/// Progress of one call.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of input taken.
    pub taken: usize,
    /// What zstd returned: 0 if it holds nothing back.
    pub remaining: usize,
}

/// Compression or decompression, by zstd's functions.
///
/// # Safety
/// What `create` and `create_dictionary` return is null, or fit for the other functions.
pub unsafe trait Direction: Sized {
    type Raw;
    type RawDictionary;
    type Parameter: Copy;
    /// Output bytes for which zstd always finds use.
    fn chunk() -> usize;
    /// # Safety
    /// Each argument is alive and of this direction; a stream is used by this call alone.
    unsafe fn free(raw: *mut Self::Raw);
    /// # Safety
    /// As for `free`.
    unsafe fn free_dictionary(raw: *mut Self::RawDictionary);
    /// # Safety
    /// As for `free`.
    unsafe fn dictionary_id(raw: *const Self::RawDictionary) -> u32;
    fn create() -> *mut Self::Raw;
    fn create_dictionary(bytes: &[u8], level: i32) -> *mut Self::RawDictionary;
    /// # Safety
    /// As for `free`.
    unsafe fn reset(raw: *mut Self::Raw) -> usize;
    /// # Safety
    /// As for `free`.
    unsafe fn load(raw: *mut Self::Raw, bytes: &[u8]) -> usize;
    /// # Safety
    /// As for `free`; the dictionary is alive as long as the stream refers to it.
    unsafe fn refer(raw: *mut Self::Raw, dictionary: *const Self::RawDictionary) -> usize;
    /// # Safety
    /// As for `free`.
    unsafe fn set(raw: *mut Self::Raw, parameter: Self::Parameter, value: i32) -> usize;
    /// # Safety
    /// As for `free`.
    unsafe fn get(raw: *mut Self::Raw, parameter: Self::Parameter, value: &mut i32) -> usize;
    /// # Safety
    /// As for `free`; the buffers describe memory that is there.
    unsafe fn step(
        raw: *mut Self::Raw,
        to: &mut sys::ZSTD_outBuffer,
        from: &mut sys::ZSTD_inBuffer,
        end: EndDirective,
    ) -> usize;
}

pub enum Compress {}
pub enum Decompress {}

/// Implements a direction by the functions of zstd that belong to it.
macro_rules! direction {
    ($name:ident, $raw:ident, $dictionary:ident, $parameter:ident, $chunk:ident, $create:ident,
     $free:ident, $reset:ident, $load:ident, $refer:ident, $set:ident, $get:ident,
     $free_dictionary:ident, $id:ident, $make:expr, $step:expr) => {
        // SAFETY: zstd's functions for one kind of stream.
        unsafe impl Direction for $name {
            type Raw = sys::$raw;
            type RawDictionary = sys::$dictionary;
            type Parameter = sys::$parameter;
            fn chunk() -> usize {
                // SAFETY: no memory is involved.
                unsafe { sys::$chunk() }
            }
            fn create() -> *mut sys::$raw {
                // SAFETY: null if there is no memory.
                unsafe { sys::$create() }
            }
            fn create_dictionary(bytes: &[u8], level: i32) -> *mut sys::$dictionary {
                let make: fn(&[u8], i32) -> *mut sys::$dictionary = $make;
                make(bytes, level)
            }
            unsafe fn free(raw: *mut sys::$raw) {
                // SAFETY: as the caller says.
                unsafe { sys::$free(raw) };
            }
            unsafe fn free_dictionary(raw: *mut sys::$dictionary) {
                // SAFETY: as the caller says.
                unsafe { sys::$free_dictionary(raw) };
            }
            unsafe fn dictionary_id(raw: *const sys::$dictionary) -> u32 {
                // SAFETY: as the caller says.
                unsafe { sys::$id(raw) }
            }
            unsafe fn reset(raw: *mut sys::$raw) -> usize {
                let session = sys::ZSTD_ResetDirective::ZSTD_reset_session_only;
                // SAFETY: as the caller says.
                unsafe { sys::$reset(raw, session) }
            }
            unsafe fn load(raw: *mut sys::$raw, bytes: &[u8]) -> usize {
                // SAFETY: as the caller says; zstd copies the bytes.
                unsafe { sys::$load(raw, bytes.as_ptr().cast(), bytes.len()) }
            }
            unsafe fn refer(raw: *mut sys::$raw, dictionary: *const sys::$dictionary) -> usize {
                // SAFETY: as the caller says.
                unsafe { sys::$refer(raw, dictionary) }
            }
            unsafe fn set(raw: *mut sys::$raw, p: sys::$parameter, value: i32) -> usize {
                // SAFETY: as the caller says.
                unsafe { sys::$set(raw, p, value) }
            }
            unsafe fn get(raw: *mut sys::$raw, p: sys::$parameter, value: &mut i32) -> usize {
                // SAFETY: as the caller says.
                unsafe { sys::$get(raw, p, value) }
            }
            unsafe fn step(
                raw: *mut sys::$raw,
                to: &mut sys::ZSTD_outBuffer,
                from: &mut sys::ZSTD_inBuffer,
                end: EndDirective,
            ) -> usize {
                type Step = unsafe fn(
                    *mut sys::$raw,
                    *mut sys::ZSTD_outBuffer,
                    *mut sys::ZSTD_inBuffer,
                    EndDirective,
                ) -> usize;
                let step: Step = $step;
                // SAFETY: as the caller says.
                unsafe { step(raw, to, from, end) }
            }
        }
    };
}
direction! {
    Compress, ZSTD_CCtx, ZSTD_CDict, ZSTD_cParameter, ZSTD_CStreamOutSize, ZSTD_createCCtx,
    ZSTD_freeCCtx, ZSTD_CCtx_reset, ZSTD_CCtx_loadDictionary, ZSTD_CCtx_refCDict,
    ZSTD_CCtx_setParameter, ZSTD_CCtx_getParameter, ZSTD_freeCDict, ZSTD_getDictID_fromCDict,
    // SAFETY: zstd copies the bytes; null if it cannot.
    |bytes, level| unsafe {
        sys::ZSTD_createCDict_advanced(
            bytes.as_ptr().cast(),
            bytes.len(),
            sys::ZSTD_dictLoadMethod_e::ZSTD_dlm_byCopy,
            sys::ZSTD_dictContentType_e::ZSTD_dct_auto,
            sys::ZSTD_getCParams(level, 0, bytes.len()),
            MEMORY,
        )
    },
    // SAFETY: as the caller says.
    |raw, to, from, end| unsafe { sys::ZSTD_compressStream2(raw, to, from, end) }
}
direction! {
    Decompress, ZSTD_DCtx, ZSTD_DDict, ZSTD_dParameter, ZSTD_DStreamOutSize, ZSTD_createDCtx,
    ZSTD_freeDCtx, ZSTD_DCtx_reset, ZSTD_DCtx_loadDictionary, ZSTD_DCtx_refDDict,
    ZSTD_DCtx_setParameter, ZSTD_DCtx_getParameter, ZSTD_freeDDict, ZSTD_getDictID_fromDDict,
    // SAFETY: as above.
    |bytes, _| unsafe {
        sys::ZSTD_createDDict_advanced(
            bytes.as_ptr().cast(),
            bytes.len(),
            sys::ZSTD_dictLoadMethod_e::ZSTD_dlm_byCopy,
            sys::ZSTD_dictContentType_e::ZSTD_dct_auto,
            MEMORY,
        )
    },
    // SAFETY: as the caller says.
    |raw, to, from, _| unsafe { sys::ZSTD_decompressStream(raw, to, from) }
}

/// A digested dictionary. It never changes, so any thread may use it.
pub struct ZstdDictionary<D: Direction>(NonNull<D::RawDictionary>);

// SAFETY: zstd only reads a dictionary once it is made.
unsafe impl<D: Direction> Send for ZstdDictionary<D> {}
// SAFETY: as above.
unsafe impl<D: Direction> Sync for ZstdDictionary<D> {}

impl<D: Direction> ZstdDictionary<D> {
    /// `level`: of compression. `None`: it is no dictionary, or there is no memory.
    pub fn new(bytes: &[u8], level: i32) -> Option<ZstdDictionary<D>> {
        NonNull::new(D::create_dictionary(bytes, level)).map(ZstdDictionary)
    }
    /// Its number; 0 if it has none.
    pub fn id(&self) -> u32 {
        // SAFETY: it is alive.
        unsafe { D::dictionary_id(self.0.as_ptr()) }
    }
}
impl<D: Direction> Drop for ZstdDictionary<D> {
    fn drop(&mut self) {
        // SAFETY: nobody else uses it.
        unsafe { D::free_dictionary(self.0.as_ptr()) }
    }
}

/// A stream of frames.
pub struct ZstdStream<D: Direction> {
    raw: NonNull<D::Raw>,
    /// The dictionary that `raw` refers to.
    dictionary: Option<Arc<ZstdDictionary<D>>>,
}

// SAFETY: zstd's streams are bound to no thread.
unsafe impl<D: Direction> Send for ZstdStream<D> {}

impl<D: Direction> ZstdStream<D> {
    pub fn new() -> Option<ZstdStream<D>> {
        let raw = NonNull::new(D::create())?;
        Some(ZstdStream { raw, dictionary: None })
    }
    /// Forgets the frame that is under way; parameters and dictionary stay.
    pub fn reset(&mut self) {
        // SAFETY: it is ours. This always succeeds.
        unsafe { D::reset(self.raw.as_ptr()) };
    }
    /// Uses a copy of a dictionary, or none if there are no bytes.
    pub fn load_dictionary(&mut self, bytes: &[u8]) -> Result<(), ZstdError> {
        // SAFETY: it is ours.
        checked(unsafe { D::load(self.raw.as_ptr(), bytes) })?;
        self.dictionary = None;
        Ok(())
    }
    pub fn use_dictionary(&mut self, dictionary: Arc<ZstdDictionary<D>>) -> Result<(), ZstdError> {
        // SAFETY: it is ours, and keeps the dictionary.
        checked(unsafe { D::refer(self.raw.as_ptr(), dictionary.0.as_ptr()) })?;
        self.dictionary = Some(dictionary);
        Ok(())
    }
    pub fn set_parameter(&mut self, p: D::Parameter, value: i32) -> Result<(), ZstdError> {
        // SAFETY: it is ours.
        checked(unsafe { D::set(self.raw.as_ptr(), p, value) }).map(drop)
    }
    pub fn parameter(&mut self, p: D::Parameter) -> Result<i32, ZstdError> {
        let mut value = 0;
        // SAFETY: it is ours.
        checked(unsafe { D::get(self.raw.as_ptr(), p, &mut value) })?;
        Ok(value)
    }
    /// One step: takes input and appends output, until `to` has `most` bytes at most or no room.
    pub fn step(
        &mut self,
        from: &[u8],
        to: &mut Vec<u8>,
        most: usize,
        end: EndDirective,
    ) -> Result<Step, ZstdError> {
        let written = to.len();
        let room = to.spare_capacity_mut();
        let size = room.len().min(most.saturating_sub(written));
        let mut output = sys::ZSTD_outBuffer { dst: room.as_mut_ptr().cast(), size, pos: 0 };
        let mut input = sys::ZSTD_inBuffer { src: from.as_ptr().cast(), size: from.len(), pos: 0 };
        // SAFETY: it is ours, and the buffers are there for the call.
        let n = unsafe { D::step(self.raw.as_ptr(), &mut output, &mut input, end) };
        // SAFETY: zstd has written so many bytes, for which there was room.
        unsafe { to.set_len(written + output.pos) };
        Ok(Step { taken: input.pos, remaining: checked(n)? })
    }
}
impl ZstdStream<Compress> {
    /// Announces how many bytes the next frame will hold.
    pub fn pledge(&mut self, bytes: u64) -> Result<(), ZstdError> {
        // SAFETY: it is ours.
        checked(unsafe { sys::ZSTD_CCtx_setPledgedSrcSize(self.raw.as_ptr(), bytes) }).map(drop)
    }
}
impl<D: Direction> Drop for ZstdStream<D> {
    fn drop(&mut self) {
        // SAFETY: it is ours; it still keeps its dictionary.
        unsafe { D::free(self.raw.as_ptr()) }
    }
}

/// Bytes that all frames together hold, if their headers say so.
pub fn decompressed_size(frames: &[u8]) -> Option<u64> {
    const UNKNOWN: u64 = sys::ZSTD_CONTENTSIZE_UNKNOWN as u64;
    const ERROR: u64 = sys::ZSTD_CONTENTSIZE_ERROR as u64;
    // SAFETY: the bytes are there for the call.
    match unsafe { sys::ZSTD_findDecompressedSize(frames.as_ptr().cast(), frames.len()) } {
        UNKNOWN | ERROR => None,
        n => Some(n),
    }
}
/// The number of a dictionary's bytes; 0 if it has none.
pub fn dictionary_id(bytes: &[u8]) -> u32 {
    // SAFETY: the bytes are there for the call.
    unsafe { sys::ZSTD_getDictID_fromDict(bytes.as_ptr().cast(), bytes.len()) }
}
/// The number of the dictionary that a frame needs; 0 if it names none.
pub fn frame_dictionary_id(frame: &[u8]) -> u32 {
    // SAFETY: the bytes are there for the call.
    unsafe { sys::ZSTD_getDictID_fromFrame(frame.as_ptr().cast(), frame.len()) }
}

/// What a frame's header says. All is 0 if the header is not complete.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameHeader {
    pub content_size: Option<u64>,
    pub window_size: u64,
    pub block_size_max: u32,
    pub is_skippable: bool,
    pub header_size: u32,
    pub dictionary_id: u32,
    pub has_checksum: bool,
}
pub fn frame_header(frame: &[u8]) -> Result<FrameHeader, ZstdError> {
    let mut h = sys::ZSTD_FrameHeader {
        frameContentSize: 0,
        windowSize: 0,
        blockSizeMax: 0,
        frameType: sys::ZSTD_FrameType_e::ZSTD_frame,
        headerSize: 0,
        dictID: 0,
        checksumFlag: 0,
        _reserved1: 0,
        _reserved2: 0,
    };
    // SAFETY: the bytes and the header are there for the call.
    let n = unsafe { sys::ZSTD_getFrameHeader(&mut h, frame.as_ptr().cast(), frame.len()) };
    checked(n)?;
    let unknown = h.frameContentSize == sys::ZSTD_CONTENTSIZE_UNKNOWN as u64;
    Ok(FrameHeader {
        content_size: (!unknown).then_some(h.frameContentSize),
        window_size: h.windowSize,
        block_size_max: h.blockSizeMax,
        is_skippable: h.frameType == sys::ZSTD_FrameType_e::ZSTD_skippableFrame,
        header_size: h.headerSize,
        dictionary_id: h.dictID,
        has_checksum: h.checksumFlag != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<D: Direction>(s: &mut ZstdStream<D>, mut from: &[u8]) -> Result<Vec<u8>, ZstdError> {
        let mut out = Vec::new();
        loop {
            out.reserve(D::chunk());
            let step = s.step(from, &mut out, usize::MAX, EndDirective::ZSTD_e_end)?;
            from = &from[step.taken..];
            if from.is_empty() && step.remaining == 0 {
                return Ok(out);
            }
        }
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let data: Vec<u8> = (0..300_000_u32).flat_map(|i| (i % 1000).to_le_bytes()).collect();
        let mut c = ZstdStream::<Compress>::new().unwrap();
        c.set_parameter(CompressParameter::ZSTD_c_checksumFlag, 1).unwrap();
        let frame = all(&mut c, &data).unwrap();
        assert!(frame.len() < data.len() / 10);
        let h = frame_header(&frame).unwrap();
        assert!(h.has_checksum && !h.is_skippable);
        let mut d = ZstdStream::<Decompress>::new().unwrap();
        assert_eq!(all(&mut d, &frame).unwrap(), data);
        let e = all(&mut d, b"no frame at all").unwrap_err();
        assert!(!e.text().is_empty());
        d.reset();
        assert_eq!(all(&mut d, &frame).unwrap(), data);
    }

    #[test]
    fn streams_keep_their_dictionary() {
        let content = b"words that come again and again, words that come";
        let c_dict = Arc::new(ZstdDictionary::<Compress>::new(content, 3).unwrap());
        let mut c = ZstdStream::<Compress>::new().unwrap();
        c.use_dictionary(c_dict.clone()).unwrap();
        assert_eq!(Arc::strong_count(&c_dict), 2);
        let frame = all(&mut c, b"again and again, words that come").unwrap();
        let mut d = ZstdStream::<Decompress>::new().unwrap();
        let d_dict = ZstdDictionary::<Decompress>::new(content, 0).unwrap();
        d.use_dictionary(Arc::new(d_dict)).unwrap();
        assert_eq!(all(&mut d, &frame).unwrap(), b"again and again, words that come");
        c.load_dictionary(b"").unwrap();
        assert_eq!(Arc::strong_count(&c_dict), 1);
        assert_eq!((c_dict.id(), dictionary_id(content), frame_dictionary_id(&frame)), (0, 0, 0));
    }
}
