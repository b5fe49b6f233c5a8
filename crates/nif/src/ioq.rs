//! Vectors of bytes, and queues of them, as `writev` takes them.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ptr;

use kvik_heap::BinRef;
use kvik_term::Term;
use libc::iovec;

use crate::abi::Binary;
use crate::binaries::take;
use crate::env::{env, heap, Env};
use crate::iovec::{free, Part, Parts, Vector, MADE};
use crate::pointers::{c_bytes, put, term, Word};

/// A binary's bytes: shared where they lie outside the heap.
fn part(e: Option<*mut Env>, t: Term<'_>) -> Option<Part> {
    let bits = t.as_bits().filter(|b| b.is_binary())?;
    let shared = e.and_then(|e| heap(e).off_heap_of(t)).filter(|(_, at, _)| at % 8 == 0);
    Some(match shared {
        Some((binary, at, len)) => Part { binary, at: at / 8, len: len / 8 },
        None => {
            let bytes = bits.to_bytes();
            Part { binary: BinRef::from_bytes(&bytes), at: 0, len: bytes.len() }
        }
    })
}

#[no_mangle]
pub extern "C" fn enif_free_iovec(v: *mut Vector) {
    if !v.is_null() {
        free(v)
    }
}

/// The binaries of a list, at most `max` of them, and the rest of the list.
#[no_mangle]
pub extern "C" fn enif_inspect_iovec(
    e: *mut Env,
    max: usize,
    list: Word,
    tail: *mut Word,
    to: *mut *mut Vector,
) -> c_int {
    let (mut parts, mut rest) = (Vec::new(), term(list));
    let of = (!e.is_null()).then_some(e);
    while let Some(c) = rest.as_cons().filter(|_| parts.len() < max) {
        let Some(p) = part(of, c.head()) else { return 0 };
        parts.push(p);
        rest = c.tail();
    }
    if !rest.is_list() {
        return 0;
    }
    put(tail, rest.word());
    let mut vectors: Vec<iovec> = parts.iter().map(Part::vector).collect();
    let size = parts.iter().map(|p| p.len).sum();
    // SAFETY: the caller's place, with null or a structure of its own in it.
    unsafe {
        let made = (*to).is_null();
        if made {
            *to = Box::into_raw(Box::new(std::mem::zeroed::<Vector>()));
        }
        let v = &mut **to;
        v.flags = if made { MADE } else { 0 };
        v.count = vectors.len() as c_int;
        v.size = size;
        v.iov = vectors.as_mut_ptr();
        v.parts = Box::into_raw(Box::new(Parts { parts, vectors }));
        if !e.is_null() {
            env(e).vectors.0.push(v);
        }
    }
    1
}

/// `ErlNifIOQueue`
#[derive(Default)]
pub struct Queue {
    parts: VecDeque<Part>,
    size: usize,
    /// What `peek` has given.
    vectors: Vec<iovec>,
}
impl Queue {
    /// Adds what is left of some parts behind the first `skip` bytes.
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
fn queue<'a>(q: *mut Queue) -> &'a mut Queue {
    // SAFETY: the interface's contract: `enif_ioq_create` made it.
    unsafe { &mut *q }
}

/// The one option there is is 1.
#[no_mangle]
pub extern "C" fn enif_ioq_create(opts: c_int) -> *mut Queue {
    match opts {
        1 => Box::into_raw(Box::default()),
        _ => ptr::null_mut(),
    }
}
#[no_mangle]
pub extern "C" fn enif_ioq_destroy(q: *mut Queue) {
    // SAFETY: as above; nobody uses it any more.
    drop(unsafe { Box::from_raw(q) })
}
#[no_mangle]
pub extern "C" fn enif_ioq_enq_binary(q: *mut Queue, b: *mut Binary, skip: usize) -> c_int {
    // SAFETY: the interface's contract: a binary that was inspected or allocated.
    let b = unsafe { &mut *b };
    if skip > b.size {
        return 0;
    }
    let len = b.size;
    let binary = take(b).unwrap_or_else(|| BinRef::from_bytes(c_bytes(b.data, len)));
    queue(q).add(std::iter::once(Part { binary, at: 0, len }), skip);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_enqv(q: *mut Queue, v: *mut Vector, skip: usize) -> c_int {
    // SAFETY: as above.
    let v = unsafe { &*v };
    // SAFETY: null, or what `enif_inspect_iovec` has put there.
    let Some(parts) = (unsafe { v.parts.as_ref() }).filter(|_| skip <= v.size) else { return 0 };
    debug_assert_eq!(parts.vectors.len(), parts.parts.len());
    let copy = |p: &Part| Part { binary: p.binary.clone(), at: p.at, len: p.len };
    queue(q).add(parts.parts.iter().map(copy), skip);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_size(q: *mut Queue) -> usize {
    queue(q).size
}
#[no_mangle]
pub extern "C" fn enif_ioq_deq(q: *mut Queue, count: usize, left: *mut usize) -> c_int {
    let q = queue(q);
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
    put(left, q.size);
    1
}
#[no_mangle]
pub extern "C" fn enif_ioq_peek(q: *mut Queue, len: *mut c_int) -> *mut iovec {
    let q = queue(q);
    q.vectors = q.parts.iter().map(Part::vector).collect();
    put(len, q.vectors.len() as c_int);
    q.vectors.as_mut_ptr()
}
/// The first part as a binary.
#[no_mangle]
pub extern "C" fn enif_ioq_peek_head(
    e: *mut Env,
    q: *mut Queue,
    size: *mut usize,
    to: *mut Word,
) -> c_int {
    let Some(p) = queue(q).parts.front() else { return 0 };
    let h = heap(e);
    let all = h.refc_binary(p.binary.clone(), p.binary.capacity());
    let part = h.sub_binary(all, p.at * 8, p.len * 8).unwrap_or(all);
    put(size, p.len);
    put(to, part.word());
    1
}
