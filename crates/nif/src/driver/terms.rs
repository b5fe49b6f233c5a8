//! Terms that linked-in drivers build and send.

use std::ffi::c_int;

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::{self, Signal};
use kvik_term::Term;

use crate::driver::binaries::BinaryPtr;
use crate::driver::callback::{in_callback, with};
use crate::driver::interface::{port_number, Data};
use crate::driver::ports;
use crate::pointers::{Array, CStrPtr, CTerm, Word};
use crate::process::is_alive;

crate::address::by_address! {
    driver_mk_atom,
    driver_mk_port,
    driver_mk_term_nil,
    driver_output_term,
    driver_send_term,
    erl_drv_output_term,
    erl_drv_send_term,
}

/// The same as `driver_mk_term_nil()`.
#[allow(non_upper_case_globals)]
#[no_mangle]
#[used]
pub static driver_term_nil: Word = kvik_term::word::NIL;

#[no_mangle]
pub extern "C" fn driver_mk_term_nil() -> Word {
    Term::NIL.word()
}
#[no_mangle]
pub extern "C" fn driver_mk_atom(name: CStrPtr) -> Word {
    Term::atom(name.atom()).word()
}
/// Nil if it is not a port.
#[no_mangle]
pub extern "C" fn driver_mk_port(port: Data) -> Word {
    port_number(port).map_or(Term::NIL, Term::local_port).word()
}

/// `ErlDrvTermData` tags.
const NIL: u64 = 1;
const ATOM: u64 = 2;
const INT: u64 = 3;
const PORT: u64 = 4;
const BINARY: u64 = 5;
const STRING: u64 = 6;
const TUPLE: u64 = 7;
const LIST: u64 = 8;
const STRING_CONS: u64 = 9;
const PID: u64 = 10;
const FLOAT: u64 = 11;
const EXT2TERM: u64 = 12;
const UINT: u64 = 13;
const BUF2BINARY: u64 = 14;
const INT64: u64 = 15;
const UINT64: u64 = 16;
const MAP: u64 = 17;

/// # Safety
/// At least `n` bytes at `at` are valid while the result is used.
unsafe fn bytes_at<'b>(at: *const u8, n: usize) -> &'b [u8] {
    match n {
        0 => &[],
        // SAFETY: as the caller says.
        n => unsafe { std::slice::from_raw_parts(at, n) },
    }
}

/// The unread part of a driver's term description, and the terms built so far.
struct Builder<'a, 'h> {
    heap: &'h Heap,
    words: std::slice::Iter<'a, Word>,
    stack: Vec<Term<'h>>,
}

impl<'h> Builder<'_, 'h> {
    fn word(&mut self) -> Option<Word> {
        self.words.next().copied()
    }
    /// Reads a count of terms, which must be on the stack.
    fn count(&mut self, each: usize) -> Option<usize> {
        let n = usize::try_from(self.word()? as c_int).ok()?.checked_mul(each)?;
        (n <= self.stack.len()).then_some(n)
    }
    /// Reads a pointer to a number.
    fn number<T: Copy>(&mut self) -> Option<T> {
        let at = self.word()? as *const T;
        // SAFETY: the interface's contract: the argument points to one.
        (!at.is_null()).then(|| unsafe { at.read() })
    }
    /// Reads bytes by address and count.
    fn bytes<'b>(&mut self) -> Option<&'b [u8]> {
        let (at, n) = (self.word()? as *const u8, self.word()? as usize);
        // SAFETY: the interface's contract: so many bytes are at that address.
        (!at.is_null() || n == 0).then(|| unsafe { bytes_at(at, n) })
    }
    /// Reads a string; OTP rejects null pointers even for empty strings.
    fn string<'b>(&mut self) -> Option<&'b [u8]> {
        let (at, n) = (self.word()? as *const u8, self.word()?);
        // SAFETY: as above.
        (!at.is_null() && n as c_int >= 0).then(|| unsafe { bytes_at(at, n as usize) })
    }
    fn part_of_binary(&mut self) -> Option<Term<'h>> {
        let (b, n, at) = (self.word()?, self.word()?, self.word()?);
        // SAFETY: the interface's contract: null, or a binary that the driver has a reference to.
        let b = unsafe { BinaryPtr::new(b as *mut _) };
        if b.is_null() {
            return None;
        }
        let end = n.checked_add(at)?;
        Some(self.heap.binary(b.bytes().get(at as usize..end as usize)?))
    }
    /// Reads a term that must be an immediate.
    fn immediate(&mut self, is: impl Fn(&Term<'h>) -> bool) -> Option<Term<'h>> {
        // SAFETY: the interface's contract: a term of the driver's. It is used only if it is one that
        // refers to nothing.
        Some(unsafe { Term::from_word(self.word()?) }).filter(is)
    }
    /// Builds the next term; `None` if the description is malformed.
    fn next(&mut self, tag: Word) -> Option<Term<'h>> {
        let h = self.heap;
        Some(match tag {
            NIL => Term::NIL,
            ATOM => self.immediate(|t| t.as_atom().is_some())?,
            PORT => self.immediate(|t| t.as_local_port().is_some())?,
            PID => self.immediate(|t| t.as_local_pid().is_some())?,
            INT => h.integer(self.word()? as i64),
            UINT => h.unsigned(self.word()?),
            INT64 => h.integer(self.number()?),
            UINT64 => h.unsigned(self.number()?),
            FLOAT => h.float(self.number::<f64>().filter(|f| f.is_finite())?),
            BINARY => self.part_of_binary()?,
            BUF2BINARY => h.binary(self.bytes()?),
            STRING => h.byte_list(self.string()?),
            STRING_CONS => {
                let bytes = self.string()?;
                h.bytes_with_tail(bytes, self.stack.pop()?)
            }
            TUPLE => {
                let n = self.count(1)?;
                let at = self.stack.len() - n;
                h.tuple(&self.stack.split_off(at))
            }
            LIST => {
                let n = self.count(1).filter(|n| *n > 0)?;
                let at = self.stack.len() - n;
                let mut items = self.stack.split_off(at);
                let tail = items.pop()?;
                h.list_with_tail(&items, tail)
            }
            MAP => {
                let n = self.count(2)?;
                let at = self.stack.len() - n;
                let items = self.stack.split_off(at);
                let pairs: Vec<_> = items.chunks_exact(2).map(|p| (p[0], p[1])).collect();
                let map = h.map(&pairs);
                // A duplicate key is an error.
                map.as_map().filter(|m| m.len() == pairs.len()).map(|_| map)?
            }
            EXT2TERM => {
                let bytes = self.string().filter(|b| !b.is_empty())?;
                kvik_etf::decode(bytes, h, kvik_etf::DecodeOpts::default()).ok()?.0
            }
            _ => return None,
        })
    }
}

/// The term that a driver describes.
fn build(data: Array<Word>, n: c_int) -> Option<OwnedTerm> {
    let words = data.slice(usize::try_from(n).ok()?).iter();
    let heap = Heap::detached();
    let mut b = Builder { heap: &heap, words, stack: Vec::new() };
    while let Some(tag) = b.word() {
        let t = b.next(tag)?;
        b.stack.push(t);
    }
    match b.stack[..] {
        [t] => Some(OwnedTerm::message(t)),
        _ => None,
    }
}

/// Returns 1, 0 if there is no such process, -1 if the description is malformed.
fn send(port: Option<u32>, to: Option<u32>, data: Array<Word>, n: c_int) -> c_int {
    let Some(message) = build(data, n) else { return -1 };
    let Some(pid) = to else { return 0 };
    // Sends from a driver's own threads are not traced.
    if let Some(port) = port.filter(|_| in_callback()) {
        kvik_port::trace_sent(port, pid, &message);
    }
    if !is_alive(pid) {
        return 0;
    }
    signal::deliver(pid, Signal::Message(message)) as c_int
}
/// A port's state by its term, on any thread: 1 if open, 0 if closing, -1 if there is none.
fn state_of(port: CTerm) -> (Option<u32>, c_int) {
    let id = port.term().as_local_port();
    let is_there = id.and_then(ports::by_id).is_some();
    match id {
        Some(id) if kvik_port::table::is_open(id) => (Some(id), 1),
        _ => (None, if is_there { 0 } else { -1 }),
    }
}

#[no_mangle]
pub extern "C" fn erl_drv_send_term(port: CTerm, to: CTerm, data: Array<Word>, n: c_int) -> c_int {
    match state_of(port) {
        (Some(id), _) => send(Some(id), to.term().as_local_pid(), data, n),
        (None, answer) => answer,
    }
}
#[no_mangle]
pub extern "C" fn erl_drv_output_term(port: CTerm, data: Array<Word>, n: c_int) -> c_int {
    let (Some(id), _) = state_of(port) else { return state_of(port).1 };
    // This thread may hold the port's lock and must not take it again.
    let mine = with(crate::driver::interface::port_pointer(id), |_, core| core.owner());
    let owner = mine.or_else(|| kvik_port::table::get(id)?.owner());
    owner.map_or(-1, |pid| send(Some(id), Some(pid), data, n))
}
#[no_mangle]
pub extern "C" fn driver_output_term(port: Data, data: Array<Word>, n: c_int) -> c_int {
    match with(port, |_, core| (core.may_send(), core.id, core.owner())) {
        None => -1,
        Some((false, ..)) => 0,
        Some((true, id, pid)) => send(Some(id), Some(pid), data, n),
    }
}
#[no_mangle]
pub extern "C" fn driver_send_term(port: Data, to: CTerm, data: Array<Word>, n: c_int) -> c_int {
    match with(port, |_, core| (core.may_send(), core.id)) {
        // Also on the driver's own threads, which run no callback.
        None => send(None, to.term().as_local_pid(), data, n),
        Some((false, _)) => 0,
        Some((true, id)) => send(Some(id), to.term().as_local_pid(), data, n),
    }
}
