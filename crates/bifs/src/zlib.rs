//! `zlib`: streams behind a magic reference, with an input queue. `zlib.erl` calls `deflate_nif`
//! and `inflate_nif` repeatedly, a chunk at a time.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use kvik_heap::{BinRef, Heap, OwnedTerm};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::zlib::{adler32, crc32, Status, StreamKind, ZlibOutput, ZlibStream};
use kvik_term::{am, Term};

use crate::buffer::Queue;

pub const BIFS: &[BifEntry] = &[
    bif!("zlib", "open_nif", 0, open_0),
    bif!("zlib", "close_nif", 1, close_1),
    bif!("zlib", "set_controller_nif", 2, set_controller_2),
    bif!("zlib", "deflateInit_nif", 6, deflate_init_6),
    bif!("zlib", "deflateSetDictionary_nif", 2, deflate_set_dictionary_2),
    bif!("zlib", "deflateReset_nif", 1, deflate_reset_1),
    bif!("zlib", "deflateEnd_nif", 1, deflate_end_1),
    bif!("zlib", "deflateParams_nif", 3, deflate_params_3),
    bif!("zlib", "deflate_nif", 4, deflate_4),
    bif!("zlib", "inflateInit_nif", 3, inflate_init_3),
    bif!("zlib", "inflateSetDictionary_nif", 2, inflate_set_dictionary_2),
    bif!("zlib", "inflateGetDictionary_nif", 1, inflate_get_dictionary_1),
    bif!("zlib", "inflateReset_nif", 1, inflate_reset_1),
    bif!("zlib", "inflateEnd_nif", 1, inflate_end_1),
    bif!("zlib", "inflate_nif", 4, inflate_4),
    bif!("zlib", "crc32_nif", 1, crc32_1, until 27),
    bif!("zlib", "getBufSize_nif", 1, get_buf_size_1, until 27),
    bif!("zlib", "setBufSize_nif", 2, set_buf_size_2, until 27),
    bif!("zlib", "enqueue_nif", 2, enqueue_2),
    bif!("zlib", "getStash_nif", 1, get_stash_1),
    bif!("zlib", "setStash_nif", 2, set_stash_2),
    bif!("zlib", "clearStash_nif", 1, clear_stash_1),
];

/// zlib's `Z_NO_FLUSH`.
const NO_FLUSH: i32 = 0;
/// Input bytes per reduction.
const BYTES_PER_REDUCTION: usize = 64;

/// How `inflate` treats input after the end of a stream (`zlib.erl`'s numbers).
const EOS_ERROR: i32 = 0;
const EOS_RESET: i32 = 1;

struct State {
    stream: Option<ZlibStream>,
    closed: bool,
    /// The only process that may use the stream.
    owner: u64,
    input: Queue,
    eos_behavior: i32,
    eos_seen: bool,
    raw: bool,
    input_crc: Option<u32>,
    output_crc: Option<u32>,
    stash: Option<OwnedTerm>,
    buffer_size: i32,
}

struct Zlib(Mutex<State>);

impl State {
    fn reset_input(&mut self) {
        self.input = Queue::default();
        self.stash = None;
    }
}

/// Runs `f` on a stream that the running process owns.
fn with<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&mut State) -> Result<R, Raised>,
) -> Result<R, Raised> {
    let z = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<Zlib>());
    let z = z.ok_or_else(|| p.badarg())?;
    let mut s = z.0.lock().unwrap_or_else(|e| e.into_inner());
    if s.owner != p.self_pid().word() {
        return Err(p.error(am::not_on_controlling_process));
    }
    f(&mut s)
}

/// Like [`with`], for a stream that compresses (or decompresses).
fn with_stream<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    kind: StreamKind,
    f: impl FnOnce(&mut State) -> Result<R, Raised>,
) -> Result<R, Raised> {
    with(p, t, |s| match &s.stream {
        Some(stream) if stream.kind() == kind => f(s),
        _ => Err(p.error(am::not_initialized)),
    })
}

fn int(p: &Proc, t: Term<'_>) -> Result<i32, Raised> {
    t.as_i64().and_then(|n| i32::try_from(n).ok()).ok_or_else(|| p.badarg())
}

/// Converts a zlib status code to a return value or an exception.
fn value<'h>(p: &'h Proc, c: Status) -> BifResult<'h> {
    Ok(match c {
        Status::Ok => am::ok,
        Status::StreamEnd => am::stream_end,
        Status::StreamError => return Err(p.error(am::stream_error)),
        Status::DataError => return Err(p.error(am::data_error)),
        Status::MemError => am::mem_error,
        Status::BufError => am::buf_error,
        Status::VersionError => am::version_error,
        Status::NeedDict | Status::Unknown => am::unknown_error,
    }
    .into())
}

fn open_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.magic_ref(Arc::new(Zlib(Mutex::new(State {
        stream: None,
        closed: false,
        owner: p.self_pid().word(),
        input: Queue::default(),
        eos_behavior: 2,
        eos_seen: false,
        raw: false,
        input_crc: None,
        output_crc: None,
        stash: None,
        buffer_size: 4000,
    })))))
}

fn close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| {
        if std::mem::replace(&mut s.closed, true) {
            return Err(p.error(am::not_initialized));
        }
        s.stream = None;
        s.reset_input();
        Ok(am::ok.into())
    })
}

fn set_controller_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_local_pid().ok_or_else(|| p.badarg())?;
    with(p, a[0], |s| {
        s.owner = a[1].word();
        Ok(am::ok.into())
    })
}

fn begin<'h>(
    p: &'h Proc,
    z: Term<'h>,
    window_bits: i32,
    eos_behavior: i32,
    make: impl FnOnce() -> Result<ZlibStream, Status>,
) -> BifResult<'h> {
    with(p, z, |s| {
        if s.stream.is_some() || s.closed {
            return Err(p.error(am::already_initialized));
        }
        let stream = match make() {
            Ok(stream) => stream,
            Err(c) => return value(p, c),
        };
        s.raw = window_bits < 0;
        let crc = s.raw.then_some(0);
        (s.input_crc, s.output_crc) = match stream.kind() {
            StreamKind::Deflate => (crc, None),
            StreamKind::Inflate => (None, crc),
        };
        s.stream = Some(stream);
        s.eos_seen = false;
        s.eos_behavior = eos_behavior;
        Ok(am::ok.into())
    })
}

fn deflate_init_6<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (level, method, window) = (int(p, a[1])?, int(p, a[2])?, int(p, a[3])?);
    let (mem, strategy) = (int(p, a[4])?, int(p, a[5])?);
    begin(p, a[0], window, 2, || ZlibStream::deflate(level, method, window, mem, strategy))
}

fn inflate_init_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (window, eos) = (int(p, a[1])?, int(p, a[2])?);
    begin(p, a[0], window, eos, || ZlibStream::inflate(window))
}

/// A dictionary's checksum.
fn checksum(h: &Heap, sum: u32) -> Term<'_> {
    match kvik_release::current().has_signed_checksums() {
        true => Term::int(sum as i32),
        false => h.unsigned(sum.into()),
    }
}
fn dictionary<'h>(p: &'h Proc, a: &[Term<'h>], kind: StreamKind) -> BifResult<'h> {
    let d = kvik_port::iodata::bytes(a[1]).ok_or_else(|| p.badarg())?;
    with_stream(p, a[0], kind, |s| {
        let Some(stream) = &mut s.stream else {
            return Err(p.badarg());
        };
        match stream.set_dictionary(&d) {
            Status::Ok if kind == StreamKind::Deflate => {
                // A raw stream has no checksum of its own.
                let sum = if s.raw { adler32(0, &d) } else { stream.adler() };
                Ok(checksum(&p.heap, sum))
            }
            c => value(p, c),
        }
    })
}
fn deflate_set_dictionary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    dictionary(p, a, StreamKind::Deflate)
}
fn inflate_set_dictionary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    dictionary(p, a, StreamKind::Inflate)
}
fn inflate_get_dictionary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream(p, a[0], StreamKind::Inflate, |s| match s.stream.as_mut().map(|z| z.dictionary()) {
        Some(Ok(d)) => Ok(p.heap.binary(&d)),
        Some(Err(c)) => value(p, c),
        None => Err(p.badarg()),
    })
}

fn reset<'h>(p: &'h Proc, z: Term<'h>, kind: StreamKind) -> BifResult<'h> {
    with_stream(p, z, kind, |s| {
        let c = s.stream.as_mut().map_or(Status::StreamError, |z| z.reset());
        s.input_crc = s.input_crc.map(|_| 0);
        s.output_crc = s.output_crc.map(|_| 0);
        s.eos_seen = false;
        s.reset_input();
        value(p, c)
    })
}
fn deflate_reset_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    reset(p, a[0], StreamKind::Deflate)
}
fn inflate_reset_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    reset(p, a[0], StreamKind::Inflate)
}

fn end<'h>(p: &'h Proc, z: Term<'h>, kind: StreamKind) -> BifResult<'h> {
    with_stream(p, z, kind, |s| {
        let c = s.stream.take().map_or(Status::StreamError, |z| z.end());
        let early = kind == StreamKind::Inflate && !s.eos_seen || s.input.len() > 0;
        s.reset_input();
        value(p, if c == Status::Ok && early { Status::DataError } else { c })
    })
}
fn deflate_end_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    end(p, a[0], StreamKind::Deflate)
}
fn inflate_end_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    end(p, a[0], StreamKind::Inflate)
}

fn deflate_params_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (level, strategy) = (int(p, a[1])?, int(p, a[2])?);
    with_stream(p, a[0], StreamKind::Deflate, |s| {
        let c = s.stream.as_mut().map_or(Status::StreamError, |z| z.set_params(level, strategy));
        value(p, c)
    })
}

/// The result of one chunk.
struct Chunk {
    code: Status,
    consumed: usize,
    produced: usize,
}

/// Feeds about `limit` bytes of the queue at most, and flushes the stream when the queue is empty.
fn feed<'o>(
    s: &mut State,
    limit: usize,
    out: &'o mut [MaybeUninit<u8>],
    flush: i32,
) -> (Chunk, &'o mut [u8]) {
    let room = out.len();
    let mut c = Chunk { code: Status::Ok, consumed: 0, produced: 0 };
    let mut out = ZlibOutput::new(out);
    let Some(stream) = &mut s.stream else {
        return (c, out.written());
    };
    for piece in s.input.pieces() {
        if c.code != Status::Ok || c.consumed >= limit {
            break;
        }
        let block = &piece[..piece.len().min(limit)];
        let step = stream.step(block, &mut out, NO_FLUSH);
        s.input_crc = s.input_crc.map(|crc| crc32(crc, &block[..step.consumed]));
        c.code = step.code;
        c.consumed += step.consumed;
        c.produced += step.produced;
        if step.consumed < block.len() {
            break;
        }
    }
    s.input.skip(c.consumed);
    if c.code == Status::Ok && s.input.len() == 0 && c.produced < room {
        let step = stream.step(&[], &mut out, flush);
        c.code = step.code;
        c.produced += step.produced;
    }
    (c, out.written())
}

fn codec<'h>(p: &'h Proc, s: &mut State, a: &[Term<'h>]) -> BifResult<'h> {
    let (limit, room, flush) = (int(p, a[1])?, int(p, a[2])?, int(p, a[3])?);
    let (Ok(limit), Ok(room)) = (usize::try_from(limit), usize::try_from(room)) else {
        return Err(p.badarg());
    };
    let mut chunk = None;
    let out = BinRef::fill(room, |out| {
        let (c, written) = feed(s, limit.max(1), out, flush);
        chunk = Some(c);
        Ok::<_, ()>(written)
    });
    let (Some(Ok(out)), Some(c)) = (out, chunk) else {
        return value(p, Status::MemError);
    };
    p.heap.bump_reductions(((c.consumed + c.produced) / BYTES_PER_REDUCTION + 10) as i64);
    match c.code {
        Status::Ok | Status::StreamEnd | Status::NeedDict | Status::BufError => {}
        e => return value(p, e),
    }
    s.eos_seen |= c.code == Status::StreamEnd;
    s.output_crc = s.output_crc.map(|crc| crc32(crc, out.bytes()));
    let left = s.input.len();
    if c.consumed == 0 && c.produced == 0 && left != 0 && c.code != Status::NeedDict {
        return value(p, Status::DataError);
    }
    let h = &p.heap;
    let list = match c.produced {
        0 => Term::NIL,
        n if n > 64 && n > room / 2 => h.list(&[h.refc_binary(out, n)]),
        _ => h.list(&[h.binary(out.bytes())]),
    };
    Ok(if left == 0 && c.produced < room && c.code != Status::NeedDict {
        h.tuple(&[am::finished.into(), list])
    } else if c.code != Status::NeedDict {
        h.tuple(&[am::continue_.into(), list])
    } else {
        let adler = s.stream.as_ref().map_or(0, |z| z.adler());
        h.tuple(&[am::need_dictionary.into(), checksum(h, adler), list])
    })
}

fn deflate_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream(p, a[0], StreamKind::Deflate, |s| codec(p, s, a))
}

fn inflate_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream(p, a[0], StreamKind::Inflate, |s| {
        if s.eos_seen && s.input.len() > 0 {
            match s.eos_behavior {
                EOS_ERROR => return value(p, Status::DataError),
                EOS_RESET => {
                    let c = s.stream.as_mut().map_or(Status::StreamError, |z| z.reset());
                    if c != Status::Ok {
                        return value(p, c);
                    }
                    s.eos_seen = false;
                }
                _ => s.reset_input(),
            }
        }
        codec(p, s, a)
    })
}

fn crc32_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| match s.stream.as_ref().map(|z| z.kind()) {
        Some(StreamKind::Deflate) => Ok(p.heap.unsigned(s.input_crc.unwrap_or(0) as u64)),
        Some(StreamKind::Inflate) => Ok(p.heap.unsigned(s.output_crc.unwrap_or(0) as u64)),
        None => Err(p.error(am::not_initialized)),
    })
}

fn get_buf_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| Ok(Term::int(s.buffer_size)))
}
fn set_buf_size_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = int(p, a[1])?;
    with(p, a[0], |s| {
        s.buffer_size = n;
        Ok(am::ok.into())
    })
}

fn enqueue_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let items = a[1].list_to_vec().ok_or_else(|| p.badarg())?;
    with(p, a[0], |s| {
        if s.stream.is_none() {
            return Err(p.error(am::not_initialized));
        }
        if !items.iter().all(|t| t.as_bits().is_some_and(|b| b.is_binary())) {
            return Err(p.badarg());
        }
        for t in items {
            if let Some(b) = t.as_bits() {
                s.input.push(p, t, &b.to_bytes(), false);
            }
        }
        Ok(am::ok.into())
    })
}

fn get_stash_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| {
        Ok(match &s.stash {
            None => am::empty_.into(),
            Some(t) => p.heap.tuple(&[am::ok.into(), p.heap.copy(t.term())]),
        })
    })
}
fn set_stash_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| {
        if s.stash.is_some() {
            return Err(p.error(am::error));
        }
        s.stash = Some(OwnedTerm::new(a[1]));
        Ok(am::ok.into())
    })
}
fn clear_stash_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |s| match s.stash.take() {
        Some(_) => Ok(am::ok.into()),
        None => Err(p.error(am::error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let p = Proc::new(1, 1000);
        let h = &p.heap;
        let int = Term::int;
        let text = b"abcabcabcabd".repeat(3000);
        let z = open_0(&p, &[]).unwrap();
        let init = [z, int(-1), int(8), int(15), int(8), int(0)];
        deflate_init_6(&p, &init).unwrap();
        assert!(deflate_init_6(&p, &init).is_err());
        enqueue_2(&p, &[z, h.list(&[h.binary(&text)])]).unwrap();
        let r = deflate_4(&p, &[z, int(8192), int(8192), int(4)]).unwrap();
        let mut packed = Vec::new();
        let mut r = r.as_tuple_n::<2>().unwrap();
        loop {
            packed.extend(r[1].list().flat_map(|b| b.as_bytes().unwrap().to_vec()));
            if r[0] == am::finished {
                break;
            }
            r = deflate_4(&p, &[z, int(8192), int(8192), int(4)]).unwrap().as_tuple_n().unwrap();
        }
        assert!(deflate_end_1(&p, &[z]).unwrap() == am::ok);
        inflate_init_3(&p, &[z, int(15), int(2)]).unwrap();
        enqueue_2(&p, &[z, h.list(&[h.binary(&packed)])]).unwrap();
        let mut got = Vec::new();
        loop {
            let r = inflate_4(&p, &[z, int(8192), int(10_000), int(0)]).unwrap();
            let [tag, l] = r.as_tuple_n().unwrap();
            got.extend(l.list().flat_map(|b| b.as_bytes().unwrap().to_vec()));
            if tag == am::finished {
                break;
            }
        }
        assert_eq!(got, text);
        assert!(inflate_end_1(&p, &[z]).unwrap() == am::ok);
        close_1(&p, &[z]).unwrap();
        assert!(close_1(&p, &[z]).is_err());
    }
}
