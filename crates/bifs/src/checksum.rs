//! `erlang`: `md5`, `crc32`, `adler32` and related functions.

use std::marker::PhantomData;

use crc32fast::Hasher;
use kvik_heap::SuspendedState;
use kvik_proc::sched::REDUCTIONS;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{Bits, Term};

use crate::iolist::{BadList, IoListPiece, Pieces, CELLS_WITHOUT_PIECE};
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

/// State of a checksum: the rest of the I/O list, the current binary with the number of its bytes
/// that are summed, and pending single bytes of the list.
struct Summing<'h, S> {
    pieces: Pieces<'h>,
    binary: Option<(Bits<'h>, usize)>,
    bytes: Vec<u8>,
    sum: S,
}
struct SummingOf<S>(PhantomData<S>);
impl<S: Send + 'static> SuspendedState for SummingOf<S> {
    type In<'h> = Summing<'h, S>;
}

/// What a sum costs, as in OTP: bytes per reduction, and bytes summed in a turn.
#[derive(Copy, Clone)]
struct Cost {
    bytes: usize,
    turn: usize,
}

const CRC32: Cost = Cost { bytes: 10, turn: 10 * REDUCTIONS as usize };
const ADLER32: Cost = CRC32;

/// A byte costs a whole reduction, which hurries nobody: until OTP 27 100 bytes end the turn.
fn cost_of_md5(p: &Proc) -> Cost {
    let turn = match kvik_release::current().has_slow_md5() {
        true => 100,
        false => p.steps(4).max(64) & !63,
    };
    Cost { bytes: 1, turn }
}

/// Pieces of an I/O list that are looked at in a turn, whatever they hold.
const PIECES: usize = 200_000;

/// Sums all bytes of an I/O list, some of them in each turn.
fn sum<'h, S: Send + 'static>(
    p: &'h Proc,
    t: Term<'h>,
    cost: Cost,
    start: S,
    add: fn(&mut S, &[u8]),
) -> Result<S, Raised> {
    let mut s = p.resumed::<SummingOf<S>>().unwrap_or_else(|| Summing {
        pieces: Pieces::of(t),
        binary: None,
        bytes: Vec::new(),
        sum: start,
    });
    let mut left = cost.turn;
    let done = s.run(add, &mut left);
    match done {
        Ok(true) => {
            p.heap.bump_reductions(((cost.turn - left) / cost.bytes) as i64);
            Ok(s.sum)
        }
        Ok(false) => {
            p.use_up_turn();
            Err(p.again::<SummingOf<S>>(s, None))
        }
        Err(BadList) => Err(p.badarg()),
    }
}
impl<S> Summing<'_, S> {
    /// Continues for `left` bytes. True when all bytes are summed.
    fn run(&mut self, add: fn(&mut S, &[u8]), left: &mut usize) -> Result<bool, BadList> {
        let mut pieces = PIECES;
        loop {
            if let Some((b, at)) = &mut self.binary {
                let n = (b.byte_size() - *at).min(*left);
                add(&mut self.sum, &b.slice(*at * 8, n * 8).to_bytes());
                *left -= n;
                *at += n;
                if *at < b.byte_size() {
                    return Ok(false);
                }
                self.binary = None;
            }
            if *left == 0 && !self.pieces.is_empty() || pieces == 0 {
                add(&mut self.sum, &self.bytes);
                self.bytes.clear();
                return Ok(false);
            }
            pieces -= 1;
            match self.pieces.next().transpose()? {
                Some(IoListPiece::Byte(b)) => {
                    self.bytes.push(b);
                    *left -= 1;
                    continue;
                }
                Some(IoListPiece::Bits(b, _)) if !b.is_binary() => return Err(BadList),
                Some(IoListPiece::Bits(b, _)) => self.binary = Some((b, 0)),
                Some(IoListPiece::Nothing) => {
                    pieces = pieces.saturating_sub(CELLS_WITHOUT_PIECE);
                    continue;
                }
                None => {}
            }
            add(&mut self.sum, &self.bytes);
            self.bytes.clear();
            if self.binary.is_none() {
                return Ok(true);
            }
        }
    }
}
fn word<'h>(p: &'h Proc, t: Term<'h>) -> Result<u32, Raised> {
    t.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| p.badarg())
}
fn context<'h>(p: &'h Proc, t: Term<'h>) -> Result<Md5, Raised> {
    t.as_bits().and_then(|b| Md5::from_bytes(&b.to_bytes())).ok_or_else(|| p.badarg())
}

fn md5_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = sum(p, a[0], cost_of_md5(p), Md5::new(), Md5::update)?;
    Ok(p.heap.binary(&m.finish()))
}
fn md5_init_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.binary(&Md5::new().to_bytes()))
}
fn md5_update_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = sum(p, a[1], cost_of_md5(p), context(p, a[0])?, Md5::update)?;
    Ok(p.heap.binary(&m.to_bytes()))
}
fn md5_final_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = context(p, a[0])?;
    Ok(p.heap.binary(&m.finish()))
}

fn crc32<'h>(p: &'h Proc, start: u32, t: Term<'h>) -> BifResult<'h> {
    let h = sum(p, t, CRC32, Hasher::new_with_initial(start), Hasher::update)?;
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
    let len = word(p, a[2])? as u64;
    if len == 0 {
        // As zlib has it, whatever the second sum is.
        return Ok(p.heap.unsigned((first ^ second) as u64));
    }
    let mut h = Hasher::new_with_initial(first);
    h.combine(&Hasher::new_with_initial_len(second, len));
    Ok(p.heap.unsigned(h.finalize() as u64))
}

const ADLER: u64 = 65_521;

fn add_adler((lo, hi): &mut (u64, u64), bytes: &[u8]) {
    // Chunks are small enough that the sums cannot overflow before they are reduced.
    for chunk in bytes.chunks(1 << 20) {
        for b in chunk {
            *lo += *b as u64;
            *hi += *lo;
        }
        *lo %= ADLER;
        *hi %= ADLER;
    }
}
fn adler32<'h>(p: &'h Proc, start: u32, t: Term<'h>) -> BifResult<'h> {
    let start = ((start & 0xFFFF) as u64, (start >> 16) as u64);
    let (lo, hi) = sum(p, t, ADLER32, start, add_adler)?;
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
    let n = match word(p, a[2])? as u64 {
        0 => return Ok(p.heap.unsigned(x)),
        n => n % ADLER,
    };
    // As zlib reduces them: what is no checksum may leave more than the modulus.
    let less = |n: u64, by: u64| if n >= by { n - by } else { n };
    let (xl, xh, yl, yh) = (x & 0xFFFF, x >> 16, y & 0xFFFF, y >> 16);
    let lo = less(less(xl + yl + ADLER - 1, ADLER), ADLER);
    let hi = less(less(n * xl % ADLER + xh + yh + ADLER - n, 2 * ADLER), ADLER);
    Ok(p.heap.unsigned(hi << 16 | lo))
}
