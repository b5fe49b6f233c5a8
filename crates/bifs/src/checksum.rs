//! `erlang`: `md5`, `crc32`, `adler32` and their kin.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::Term;

use crate::iolist::{bytes_of, charge};
use crate::md5::Md5;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "md5", 1, md5_1),
    bif!("erlang", "md5_init", 0, md5_init_0),
    bif!("erlang", "md5_update", 2, md5_update_2),
    bif!("erlang", "md5_final", 1, md5_final_1),
    bif!("erlang", "crc32", 1, crc32_1),
    bif!("erlang", "crc32", 2, crc32_2),
    bif!("erlang", "crc32_combine", 3, crc32_combine_3),
    bif!("erlang", "adler32", 1, adler32_1),
    bif!("erlang", "adler32", 2, adler32_2),
    bif!("erlang", "adler32_combine", 3, adler32_combine_3),
];

fn data<'h>(p: &'h Proc, t: Term<'h>) -> Result<Vec<u8>, kvik_proc::Raised> {
    let bytes = bytes_of(t).map_err(|_| p.badarg())?;
    charge(p, bytes.len() * 4);
    Ok(bytes)
}
fn word<'h>(p: &'h Proc, t: Term<'h>) -> Result<u32, kvik_proc::Raised> {
    t.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| p.badarg())
}
fn context<'h>(p: &'h Proc, t: Term<'h>) -> Result<Md5, kvik_proc::Raised> {
    t.as_bits().and_then(|b| Md5::from_bytes(&b.to_bytes())).ok_or_else(|| p.badarg())
}

fn md5_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut m = Md5::new();
    m.update(&data(p, a[0])?);
    Ok(p.heap.binary(&m.finish()))
}
fn md5_init_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.binary(&Md5::new().to_bytes()))
}
fn md5_update_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut m = context(p, a[0])?;
    m.update(&data(p, a[1])?);
    Ok(p.heap.binary(&m.to_bytes()))
}
fn md5_final_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = context(p, a[0])?;
    Ok(p.heap.binary(&m.finish()))
}

fn crc32<'h>(p: &'h Proc, start: u32, t: Term<'h>) -> BifResult<'h> {
    let mut h = crc32fast::Hasher::new_with_initial(start);
    h.update(&data(p, t)?);
    Ok(p.heap.unsigned(h.finalize() as u64))
}
fn crc32_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    crc32(p, 0, a[0])
}
fn crc32_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    crc32(p, word(p, a[0])?, a[1])
}
fn crc32_combine_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (first, second) = (word(p, a[0])?, word(p, a[1])?);
    let len = a[2].as_u64().ok_or_else(|| p.badarg())?;
    let mut h = crc32fast::Hasher::new_with_initial(first);
    h.combine(&crc32fast::Hasher::new_with_initial_len(second, len));
    Ok(p.heap.unsigned(h.finalize() as u64))
}

const ADLER: u64 = 65_521;

fn adler32<'h>(p: &'h Proc, start: u32, t: Term<'h>) -> BifResult<'h> {
    let (mut lo, mut hi) = ((start & 0xFFFF) as u64, (start >> 16) as u64);
    // So many bytes that the sums cannot overflow before they are reduced.
    for chunk in data(p, t)?.chunks(1 << 20) {
        for b in chunk {
            lo += *b as u64;
            hi += lo;
        }
        lo %= ADLER;
        hi %= ADLER;
    }
    Ok(p.heap.unsigned(hi << 16 | lo))
}
fn adler32_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    adler32(p, 1, a[0])
}
fn adler32_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    adler32(p, word(p, a[0])?, a[1])
}
fn adler32_combine_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (x, y) = (word(p, a[0])? as u64, word(p, a[1])? as u64);
    let n = a[2].as_u64().ok_or_else(|| p.badarg())? % ADLER;
    let (xl, xh, yl, yh) = (x & 0xFFFF, x >> 16, y & 0xFFFF, y >> 16);
    let lo = (xl + yl + ADLER - 1) % ADLER;
    let hi = (xh + yh + n * xl + ADLER - n) % ADLER;
    Ok(p.heap.unsigned(hi << 16 | lo))
}
