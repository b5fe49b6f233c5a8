//! `zstd`, since OTP 28: streams behind a magic reference, which only the process that made them may
//! use. `zstd.erl` calls the stream functions repeatedly, a chunk of output at a time.

use std::sync::{Arc, Mutex};

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::zstd::{
    decompressed_size, dictionary_id, frame_dictionary_id, frame_header, Compress,
    CompressParameter as C, Decompress, DecompressParameter, Direction, EndDirective,
    ZstdDictionary, ZstdError, ZstdStream,
};
use kvik_term::{am, Atom, Term};

use crate::iolist::bytes_of;

pub const BIFS: &[BifEntry] = &[
    bif!("zstd", "init_compress_nif", 0, init_0::<Compress>, since 28),
    bif!("zstd", "init_decompress_nif", 0, init_0::<Decompress>, since 28),
    bif!("zstd", "load_compress_dictionary_nif", 2, load_2::<Compress>, since 28),
    bif!("zstd", "load_decompress_dictionary_nif", 2, load_2::<Decompress>, since 28),
    bif!("zstd", "ref_compress_dictionary_nif", 2, refer_2::<Compress>, since 28),
    bif!("zstd", "ref_decompress_dictionary_nif", 2, refer_2::<Decompress>, since 28),
    bif!("zstd", "set_compress_parameter_nif", 3, set_compress_parameter_3, since 28),
    bif!("zstd", "get_compress_parameter_nif", 2, get_compress_parameter_2, since 28),
    bif!("zstd", "set_decompress_parameter_nif", 3, set_decompress_parameter_3, since 28),
    bif!("zstd", "get_decompress_parameter_nif", 2, get_decompress_parameter_2, since 28),
    bif!("zstd", "set_pledged_src_size_nif", 2, set_pledged_src_size_2, since 28),
    bif!("zstd", "compress_stream_nif", 3, compress_stream_3, since 28),
    bif!("zstd", "decompress_stream_nif", 3, decompress_stream_3, since 28),
    bif!("zstd", "compress_reset_nif", 1, reset_1::<Compress>, since 28),
    bif!("zstd", "decompress_reset_nif", 1, reset_1::<Decompress>, since 28),
    bif!("zstd", "compress_close_nif", 1, close_1::<Compress>, since 28),
    bif!("zstd", "decompress_close_nif", 1, close_1::<Decompress>, since 28),
    bif!("zstd", "create_cdict_nif", 2, create_cdict_2, since 28),
    bif!("zstd", "create_ddict_nif", 1, create_ddict_1, since 28),
    bif!("zstd", "getDictId_fromCDict_nif", 1, id_of_dictionary_1::<Compress>, since 28),
    bif!("zstd", "getDictId_fromDDict_nif", 1, id_of_dictionary_1::<Decompress>, since 28),
    bif!("zstd", "getDictId_fromDict_nif", 1, id_of_bytes_1, since 28),
    bif!("zstd", "getDictId_fromFrame_nif", 1, id_of_frame_1, since 28),
    bif!("zstd", "get_frame_header_nif", 1, get_frame_header_1, since 28),
];

/// Input bytes for which a hundredth of a time slice is used up.
const BYTES_PER_PERCENT: usize = 1024;
/// Bytes of a dictionary per reduction.
const DICTIONARY_BYTES_PER_REDUCTION: usize = 64;

/// Parameters of compression, and the kind of their values.
const PARAMETERS: &[(&str, C, Kind)] = &[
    ("compressionLevel", C::ZSTD_c_compressionLevel, Kind::Integer),
    ("windowLog", C::ZSTD_c_windowLog, Kind::Integer),
    ("hashLog", C::ZSTD_c_hashLog, Kind::Integer),
    ("chainLog", C::ZSTD_c_chainLog, Kind::Integer),
    ("searchLog", C::ZSTD_c_searchLog, Kind::Integer),
    ("minMatch", C::ZSTD_c_minMatch, Kind::Integer),
    ("targetLength", C::ZSTD_c_targetLength, Kind::Integer),
    ("strategy", C::ZSTD_c_strategy, Kind::Strategy),
    ("targetCBlockSize", C::ZSTD_c_targetCBlockSize, Kind::Integer),
    ("enableLongDistanceMatching", C::ZSTD_c_enableLongDistanceMatching, Kind::Boolean),
    ("ldmHashLog", C::ZSTD_c_ldmHashLog, Kind::Integer),
    ("ldmMinMatch", C::ZSTD_c_ldmMinMatch, Kind::Integer),
    ("ldmBucketSizeLog", C::ZSTD_c_ldmBucketSizeLog, Kind::Integer),
    ("ldmHashRateLog", C::ZSTD_c_ldmHashRateLog, Kind::Integer),
    ("contentSizeFlag", C::ZSTD_c_contentSizeFlag, Kind::Boolean),
    ("checksumFlag", C::ZSTD_c_checksumFlag, Kind::Boolean),
    ("dictIDFlag", C::ZSTD_c_dictIDFlag, Kind::Boolean),
];
#[derive(Copy, Clone)]
enum Kind {
    Integer,
    Boolean,
    Strategy,
}
/// Strategies, by zstd's numbers.
const STRATEGIES: [&str; 10] = [
    "default", "fast", "dfast", "greedy", "lazy", "lazy2", "btlazy2", "btopt", "btultra",
    "btultra2",
];

/// A context of `zstd.erl`.
struct Context<D: Direction> {
    /// The only process that may use it.
    owner: u64,
    session: Mutex<Option<Session<D>>>,
}
struct Session<D: Direction> {
    stream: ZstdStream<D>,
    /// A decompression is under way.
    in_use: bool,
}

/// Runs `f` on a context that is open and that the running process owns.
fn with<'h, D: Direction + 'static, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&mut Option<Session<D>>) -> Result<R, Raised>,
) -> Result<R, Raised> {
    let context = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<Context<D>>());
    let context = context.ok_or_else(|| p.badarg())?;
    let mut session = context.session.lock().unwrap_or_else(|e| e.into_inner());
    if session.is_none() {
        return Err(p.badarg());
    }
    if context.owner != p.self_pid().word() {
        return Err(p.error(am::not_on_controlling_process));
    }
    f(&mut session)
}
fn with_stream<'h, D: Direction + 'static, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&mut Session<D>) -> Result<R, Raised>,
) -> Result<R, Raised> {
    with(p, t, |session| match session {
        Some(s) => f(s),
        None => Err(p.badarg()),
    })
}

fn atom(name: &str) -> Atom {
    Atom::intern(name).unwrap_or(am::error)
}
fn zstd_error(p: &Proc, e: ZstdError) -> Raised {
    let text = p.heap.binary(e.text().as_bytes());
    p.error(p.heap.tuple(&[atom("zstd_error").into(), text]))
}
fn ok<'h>(p: &'h Proc, r: Result<(), ZstdError>) -> BifResult<'h> {
    r.map(|()| am::ok.into()).map_err(|e| zstd_error(p, e))
}
fn int(t: Term<'_>) -> Option<i32> {
    t.as_small().and_then(|n| i32::try_from(n).ok())
}
fn bytes<'h>(p: &'h Proc, t: Term<'h>) -> Result<Vec<u8>, Raised> {
    bytes_of(t).map_err(|_| p.badarg())
}
/// A binary's bytes; its bits must be whole bytes.
fn binary<'h>(p: &'h Proc, t: Term<'h>) -> Result<std::borrow::Cow<'h, [u8]>, Raised> {
    let b = t.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?;
    Ok(b.to_bytes())
}

fn init_0<'h, D: Direction + 'static>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let stream = ZstdStream::new().ok_or_else(|| p.system_limit())?;
    let session = Mutex::new(Some(Session { stream, in_use: false }));
    let owner = p.self_pid().word();
    Ok(p.heap.magic_ref(Arc::new(Context::<D> { owner, session })))
}
fn close_1<'h, D: Direction + 'static>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with::<D, _>(p, a[0], |session| {
        *session = None;
        Ok(am::ok.into())
    })
}
fn reset_1<'h, D: Direction + 'static>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<D, _>(p, a[0], |s| {
        s.stream.reset();
        s.in_use = false;
        Ok(am::ok.into())
    })
}

fn load_2<'h, D: Direction + 'static>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<D, _>(p, a[0], |s| {
        let dictionary = bytes(p, a[1])?;
        charge_dictionary(p, dictionary.len());
        ok(p, s.stream.load_dictionary(&dictionary))
    })
}
fn refer_2<'h, D: Direction + 'static>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<D, _>(p, a[0], |s| {
        let found = Heap::resource_ref(a[1]).cloned().and_then(|r| r.downcast().ok());
        let dictionary: Arc<ZstdDictionary<D>> = found.ok_or_else(|| p.badarg())?;
        ok(p, s.stream.use_dictionary(dictionary))
    })
}
fn charge_dictionary(p: &Proc, bytes: usize) {
    p.heap.bump_reductions((bytes / DICTIONARY_BYTES_PER_REDUCTION) as i64);
}

/// `{badarg, {What, Value}}`
fn invalid<'h>(p: &'h Proc, what: &str, value: Term<'h>) -> Raised {
    let pair = p.heap.tuple(&[atom(what).into(), value]);
    p.error(p.heap.tuple(&[am::badarg.into(), pair]))
}
fn parameter<'h>(p: &'h Proc, key: Term<'h>) -> Result<(C, Kind), Raised> {
    let name = key.as_atom().map(|a| a.name());
    let found = PARAMETERS.iter().find(|(n, ..)| Some(*n) == name);
    found.map(|(_, c, kind)| (*c, *kind)).ok_or_else(|| invalid(p, "invalid_key", key))
}
fn set_compress_parameter_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Compress, _>(p, a[0], |s| {
        let (c, kind) = parameter(p, a[1])?;
        let name = || a[2].as_atom().map(|a| a.name());
        let value = match kind {
            Kind::Integer => int(a[2]),
            Kind::Boolean => a[2].as_bool().map(i32::from),
            Kind::Strategy => {
                let at = STRATEGIES.iter().position(|s| Some(*s) == name());
                at.map(|i| i as i32)
            }
        };
        let value = value.ok_or_else(|| invalid(p, "invalid_value", a[2]))?;
        ok(p, s.stream.set_parameter(c, value))
    })
}
fn get_compress_parameter_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Compress, _>(p, a[0], |s| {
        let (c, kind) = parameter(p, a[1])?;
        let value = s.stream.parameter(c).map_err(|e| zstd_error(p, e))?;
        match kind {
            Kind::Integer => Ok(Term::int(value)),
            // As in OTP, which looks at the status of the question instead of its answer.
            Kind::Boolean => Ok(am::false_.into()),
            Kind::Strategy => {
                let name = usize::try_from(value).ok().and_then(|i| STRATEGIES.get(i));
                name.map(|n| atom(n).into()).ok_or_else(|| p.badarg())
            }
        }
    })
}
fn decompress_parameter<'h>(p: &'h Proc, key: Term<'h>) -> Result<DecompressParameter, Raised> {
    match key.as_atom().map(|a| a.name()) {
        Some("windowLogMax") => Ok(DecompressParameter::ZSTD_d_windowLogMax),
        _ => Err(invalid(p, "invalid_key", key)),
    }
}
fn set_decompress_parameter_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Decompress, _>(p, a[0], |s| {
        let value = int(a[2]).ok_or_else(|| p.badarg())?;
        let parameter = decompress_parameter(p, a[1])?;
        ok(p, s.stream.set_parameter(parameter, value))
    })
}
fn get_decompress_parameter_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Decompress, _>(p, a[0], |s| {
        let parameter = decompress_parameter(p, a[1])?;
        let value = s.stream.parameter(parameter).map_err(|e| zstd_error(p, e))?;
        Ok(Term::int(value))
    })
}
fn set_pledged_src_size_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Compress, _>(p, a[0], |s| {
        let size = a[1].as_u64().ok_or_else(|| p.badarg())?;
        ok(p, s.stream.pledge(size))
    })
}

/// Steps until the input is used up or a chunk of output is full.
fn stream<'h, D: Direction>(
    p: &'h Proc,
    s: &mut Session<D>,
    a: &[Term<'h>],
    chunk: usize,
) -> BifResult<'h> {
    let end = match int(a[2]) {
        Some(0) => EndDirective::ZSTD_e_continue,
        Some(1) => EndDirective::ZSTD_e_flush,
        Some(2) => EndDirective::ZSTD_e_end,
        _ => return Err(p.badarg()),
    };
    let input = binary(p, a[1])?;
    let mut output = Vec::new();
    output.try_reserve_exact(chunk).map_err(|_| p.badarg())?;
    let mut taken = 0;
    let remaining = loop {
        let step = s.stream.step(&input[taken..], &mut output, chunk, end);
        let step = step.map_err(|e| zstd_error(p, e))?;
        taken += step.taken;
        if taken == input.len() || output.len() == chunk {
            break step.remaining;
        }
    };
    let percent = (taken / BYTES_PER_PERCENT).clamp(1, 100) as i64;
    p.heap.bump_reductions(kvik_proc::sched::REDUCTIONS * percent / 100);
    let h = &p.heap;
    let made = h.binary(&output);
    if taken < input.len() {
        let rest = h.sub_binary(a[1], taken * 8, (input.len() - taken) * 8);
        let rest = rest.unwrap_or_else(|| h.binary(&input[taken..]));
        return Ok(h.tuple(&[am::continue_.into(), rest, made]));
    }
    let tag = match end {
        EndDirective::ZSTD_e_continue => am::continue_,
        _ if output.len() == chunk && remaining > 0 => am::flush,
        _ => atom("done"),
    };
    Ok(h.tuple(&[tag.into(), made]))
}
fn compress_stream_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Compress, _>(p, a[0], |s| {
        stream(p, s, a, Compress::chunk()).inspect_err(|_| s.stream.reset())
    })
}
fn decompress_stream_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with_stream::<Decompress, _>(p, a[0], |s| {
        let mut chunk = Decompress::chunk();
        if !s.in_use {
            let size = decompressed_size(&binary(p, a[1])?);
            let smaller = size.filter(|n| *n < chunk as u64);
            chunk = smaller.map_or(chunk, |n| n as usize);
            s.in_use = true;
        }
        stream(p, s, a, chunk).inspect_err(|_| {
            s.stream.reset();
            s.in_use = false;
        })
    })
}

fn create_cdict_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let level = int(a[1]);
    let content = binary(p, a[0])?;
    let level = level.ok_or_else(|| p.badarg())?;
    dictionary::<Compress>(p, &content, level, "invalid_compress_dict")
}
fn create_ddict_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    dictionary::<Decompress>(p, &binary(p, a[0])?, 0, "invalid_decompress_dict")
}
fn dictionary<'h, D: Direction + 'static>(
    p: &'h Proc,
    content: &[u8],
    level: i32,
    why: &str,
) -> BifResult<'h> {
    charge_dictionary(p, content.len());
    Ok(match ZstdDictionary::<D>::new(content, level) {
        Some(d) => p.heap.magic_ref(Arc::new(d)),
        None => p.heap.tuple(&[am::error.into(), atom(why).into()]),
    })
}
fn id_of_dictionary_1<'h, D: Direction + 'static>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let d = Heap::resource_ref(a[0]).and_then(|r| r.downcast_ref::<ZstdDictionary<D>>());
    Ok(p.heap.unsigned(d.ok_or_else(|| p.badarg())?.id().into()))
}
fn id_of_bytes_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.unsigned(dictionary_id(&bytes(p, a[0])?).into()))
}
fn id_of_frame_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.unsigned(frame_dictionary_id(&bytes(p, a[0])?).into()))
}

fn get_frame_header_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let header = frame_header(&bytes(p, a[0])?).map_err(|e| zstd_error(p, e))?;
    let h = &p.heap;
    let number = |n: u64| h.unsigned(n);
    let kind = if header.is_skippable { "ZSTD_skippableFrame" } else { "ZSTD_frame" };
    let fields = [
        ("frameContentSize", header.content_size.map_or(am::undefined.into(), number)),
        ("windowSize", number(header.window_size)),
        ("blockSizeMax", number(header.block_size_max.into())),
        ("frameType", atom(kind).into()),
        ("headerSize", number(header.header_size.into())),
        ("dictID", number(header.dictionary_id.into())),
        ("checksumFlag", Term::bool(header.has_checksum)),
    ];
    let pairs: Vec<(Term<'h>, Term<'h>)> =
        fields.iter().map(|(name, value)| (atom(name).into(), *value)).collect();
    Ok(h.tuple(&[am::ok.into(), h.map(&pairs)]))
}
