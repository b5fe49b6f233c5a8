//! Output of linked-in drivers to their ports' owners, with bytes in front of it.

use std::ffi::{c_char, c_int};

use kvik_term::{am, Term};

use crate::driver::binaries::{bytes, Binary};
use crate::driver::callback::with;
use crate::driver::interface::{Data, IoVec};
use crate::pointers::c_bytes;

crate::address::by_address! {
    driver_output,
    driver_output2,
    driver_output_binary,
    driver_outputv,
}

/// Sends `{Port, {data, [Bytes of the header… | Parts]}}`. In a binary port the parts are binaries: one
/// alone is the tail, several a list.
fn output(port: Data, header: &[u8], parts: &[&[u8]], always_binary: bool) -> c_int {
    let n = header.len() + parts.iter().map(|p| p.len()).sum::<usize>();
    let sent = with(port, |_, core| {
        if !core.may_send() {
            return;
        }
        core.count_input(n);
        let binary = core.binary;
        let words = 16 + 2 * n.min(1 << 20) + 16 * parts.len();
        core.tell_owner(words, |h| {
            let data = match (binary, parts) {
                (true, []) if !always_binary && !header.is_empty() => Term::NIL,
                (true, []) => h.binary(&[]),
                (true, [one]) => h.binary(one),
                (true, _) => {
                    let (last, rest) =
                        parts.split_last().map_or((&[][..], parts), |(l, r)| (*l, r));
                    let cons = |tail, part: &&[u8]| h.cons(h.binary(part), tail);
                    rest.iter().rev().fold(h.binary(last), cons)
                }
                (false, _) => {
                    parts.iter().rev().fold(Term::NIL, |tail, p| h.bytes_with_tail(p, tail))
                }
            };
            h.tuple(&[am::data.into(), h.bytes_with_tail(header, data)])
        });
    });
    sent.map_or(-1, |()| 0)
}

#[no_mangle]
pub extern "C" fn driver_output(port: Data, at: *const c_char, n: usize) -> c_int {
    output2(port, &[], c_bytes(at.cast(), n))
}
#[no_mangle]
pub extern "C" fn driver_output2(
    port: Data,
    header: *const c_char,
    header_len: usize,
    at: *const c_char,
    n: usize,
) -> c_int {
    output2(port, c_bytes(header.cast(), header_len), c_bytes(at.cast(), n))
}
/// Without bytes behind a header there is no binary either.
fn output2(port: Data, header: &[u8], bytes: &[u8]) -> c_int {
    if bytes.is_empty() {
        return output(port, header, &[], false);
    }
    output(port, header, &[bytes], true)
}
#[no_mangle]
pub extern "C" fn driver_output_binary(
    port: Data,
    header: *const c_char,
    header_len: usize,
    b: *mut Binary,
    at: usize,
    n: usize,
) -> c_int {
    let part = at.checked_add(n).filter(|_| !b.is_null()).and_then(|end| bytes(b).get(at..end));
    let Some(part) = part else { return -1 };
    output(port, c_bytes(header.cast(), header_len), &[part], true)
}
#[no_mangle]
pub extern "C" fn driver_outputv(
    port: Data,
    header: *const c_char,
    header_len: usize,
    v: *const IoVec,
    mut skip: usize,
) -> c_int {
    let header = c_bytes(header.cast(), header_len);
    // SAFETY: the interface's contract: a vector, whose array has `vsize` elements.
    let (all, size) = unsafe {
        let n = usize::try_from((*v).vsize).unwrap_or(0);
        let iov = if n == 0 { &[] } else { std::slice::from_raw_parts((*v).iov, n) };
        (iov, (*v).size)
    };
    if size <= skip {
        return output2(port, header, &[]);
    }
    let mut parts = Vec::with_capacity(all.len());
    for part in all {
        let part = c_bytes(part.iov_base.cast(), part.iov_len);
        if parts.is_empty() && part.len() <= skip {
            skip -= part.len();
            // What is empty is stripped from the beginning only where something is skipped.
            if skip > 0 || part.is_empty() {
                continue;
            }
            continue;
        }
        parts.push(&part[std::mem::take(&mut skip)..]);
    }
    output(port, header, &parts, true)
}
