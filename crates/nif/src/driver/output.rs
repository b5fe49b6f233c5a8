//! Output of linked-in drivers to their ports' owners, with optional header bytes.

use std::ffi::c_int;

use kvik_term::{am, Term};

use crate::driver::callback::with;

use crate::driver::binaries::BinaryPtr;
use crate::driver::interface::{Data, IoVec};
use crate::pointers::{Array, In};

crate::address::by_address! {
    driver_output,
    driver_output2,
    driver_output_binary,
    driver_outputv,
}

/// Sends `{Port, {data, [HeaderByte… | Parts]}}`. In a binary port the parts are binaries: a single
/// one is the tail, several form a list.
fn output(port: Data, header: &[u8], parts: &[&[u8]]) -> c_int {
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
                (_, []) => Term::NIL,
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
pub extern "C" fn driver_output(port: Data, at: Array<u8>, n: usize) -> c_int {
    output2(port, &[], at.bytes(n))
}
#[no_mangle]
pub extern "C" fn driver_output2(
    port: Data,
    header: Array<u8>,
    header_len: usize,
    at: Array<u8>,
    n: usize,
) -> c_int {
    output2(port, header.slice(header_len), at.bytes(n))
}
/// The tail of `None` is nil, in a binary port too.
fn output2(port: Data, header: &[u8], bytes: Option<&[u8]>) -> c_int {
    match bytes {
        Some(bytes) => output(port, header, &[bytes]),
        None => output(port, header, &[]),
    }
}
#[no_mangle]
pub extern "C" fn driver_output_binary(
    port: Data,
    header: Array<u8>,
    header_len: usize,
    b: BinaryPtr,
    at: usize,
    n: usize,
) -> c_int {
    let part = at.checked_add(n).and_then(|end| b.bytes().get(at..end));
    let Some(part) = part else { return -1 };
    output(port, header.slice(header_len), &[part])
}
#[no_mangle]
pub extern "C" fn driver_outputv(
    port: Data,
    header: Array<u8>,
    header_len: usize,
    v: In<IoVec>,
    mut skip: usize,
) -> c_int {
    let header = header.slice(header_len);
    let Some(v) = v.get().filter(|v| v.size() > skip) else { return output2(port, header, None) };
    let mut parts = Vec::new();
    for (part, _) in v.parts() {
        if parts.is_empty() && part.len() <= skip {
            skip -= part.len();
            continue;
        }
        parts.push(&part[std::mem::take(&mut skip)..]);
    }
    output(port, header, &parts)
}
