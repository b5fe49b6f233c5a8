//! Vectors of bytes, and queues of them, in the form `writev` takes.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ptr;

use kvik_heap::{BinRef, Heap};
use kvik_term::Term;
use libc::iovec;

use crate::binaries::{take, NifBinary};
use crate::env::EnvPtr;
use crate::iovec::{make, Part, Vector};
use crate::pointers::{CTerm, In, InOut, OutPointer, Word};

/// A binary's bytes, shared if they are off-heap. Before 27 a few bits pass for an empty binary.
fn part(heap: Option<&Heap>, t: Term<'_>) -> Option<Part> {
    let passes = |n: usize| n < 8 && kvik_release::current().number < 27;
    let bits = t.as_bits().filter(|b| b.is_binary() || passes(b.bit_len()))?;
    let shared = heap.and_then(|h| h.off_heap_of(t)).filter(|(_, at, _)| at % 8 == 0);
    Some(match shared {
        Some((binary, at, len)) => Part { binary, at: at / 8, len: len / 8 },
        None => {
            let bytes = bits.slice(0, bits.bit_len() & !7).to_bytes();
            Part { binary: BinRef::from_bytes(&bytes), at: 0, len: bytes.len() }
        }
    })
}

/// Reads at most `max` binaries of a list, but always the first; returns the rest of the list. An
/// empty one has no part.
#[no_mangle]
pub extern "C" fn enif_inspect_iovec(
    mut e: EnvPtr,
    max: usize,
    list: CTerm,
    tail: OutPointer<Word>,
    mut to: InOut<*mut Vector>,
) -> c_int {
    let Some(to) = to.get() else { return 0 };
    let (mut parts, mut rest) = (Vec::new(), list.term());
    let heap = (!e.is_null()).then(|| e.heap());
    let mut left = max.max(1);
    while let Some(c) = rest.as_cons().filter(|_| left > 0) {
        let Some(p) = part(heap, c.head()) else { return 0 };
        parts.extend(Some(p).filter(|p| p.len > 0));
        left -= 1;
        rest = c.tail();
    }
    if !rest.is_list() {
        return 0;
    }
    tail.put(rest.word());
    match e.get() {
        Some(e) => e.vectors.make(to, parts),
        None => make(to, parts),
    }
    1
}

/// `ErlNifIOQueue`
#[derive(Default)]
pub struct IoQueue {
    parts: VecDeque<Part>,
    size: usize,
    /// The vectors that `peek` has returned.
    vectors: Vec<iovec>,
}
impl IoQueue {
    /// Adds the bytes of some parts after the first `skip`.
    fn add(&mut self, parts: impl Iterator<Item = Part>, mut skip: usize) {
        for mut p in parts {
            let n = skip.min(p.len);
            skip -= n;
            p.at += n;
            p.len -= n;
            if p.len > 0 {
                self.size += p.len;
                self.parts.push_back(p);
            }
        }
    }
}

/// The only valid option is 1.
#[no_mangle]
pub extern "C" fn enif_ioq_create(opts: c_int) -> InOut<IoQueue> {
    match opts {
        1 => InOut::boxed(IoQueue::default()),
        _ => InOut::NULL,
    }
}
#[no_mangle]
pub extern "C" fn enif_ioq_destroy(q: InOut<IoQueue>) {
    // SAFETY: the interface's contract: `enif_ioq_create` made it, and C gives it up.
    drop(unsafe { q.unbox() })
}
#[no_mangle]
pub extern "C" fn enif_ioq_enq_binary(
    mut q: InOut<IoQueue>,
    mut b: InOut<NifBinary>,
    skip: usize,
) -> c_int {
    let (Some(q), Some(b)) = (q.get(), b.get()) else { return 0 };
    let len = b.bytes().len();
    if skip > len {
        return 0;
    }
    let binary = take(b).unwrap_or_else(|| BinRef::from_bytes(b.bytes()));
    q.add(std::iter::once(Part { binary, at: 0, len }), skip);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_enqv(mut q: InOut<IoQueue>, v: In<Vector>, skip: usize) -> c_int {
    let parts = v.get().and_then(Vector::parts).filter(|(_, size)| skip <= *size);
    let (Some(q), Some((parts, _))) = (q.get(), parts) else { return 0 };
    let copy = |p: &Part| Part { binary: p.binary.clone(), at: p.at, len: p.len };
    q.add(parts.iter().map(copy), skip);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_size(mut q: InOut<IoQueue>) -> usize {
    q.get().map_or(0, |q| q.size)
}
#[no_mangle]
pub extern "C" fn enif_ioq_deq(
    mut q: InOut<IoQueue>,
    count: usize,
    left: OutPointer<usize>,
) -> c_int {
    let Some(q) = q.get() else { return 0 };
    if count > q.size {
        return 0;
    }
    let mut count = count;
    while let Some(p) = q.parts.front_mut().filter(|_| count > 0) {
        let n = count.min(p.len);
        count -= n;
        q.size -= n;
        p.at += n;
        p.len -= n;
        if p.len == 0 {
            q.parts.pop_front();
        }
    }
    left.put(q.size);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_peek(mut q: InOut<IoQueue>, len: OutPointer<c_int>) -> *mut iovec {
    let Some(q) = q.get() else { return ptr::null_mut() };
    q.vectors = q.parts.iter().map(Part::vector).collect();
    len.put(q.vectors.len() as c_int);
    q.vectors.as_mut_ptr()
}
/// Returns the first part as a binary.
#[no_mangle]
pub extern "C" fn enif_ioq_peek_head(
    e: EnvPtr,
    mut q: InOut<IoQueue>,
    size: OutPointer<usize>,
    to: OutPointer<Word>,
) -> c_int {
    let Some(p) = q.get().and_then(|q| q.parts.front()) else { return 0 };
    let h = e.heap();
    let all = h.refc_binary(p.binary.clone(), p.binary.bytes().len());
    let part = h.sub_binary(all, p.at * 8, p.len * 8).unwrap_or(all);
    size.put(p.len);
    to.put(part.word());
    1
}
