//! What comes in a packet, before and while it is decoded.

use std::cell::Cell;

use kvik_etf::{tag, DecodeOpts, Decoding};
use kvik_heap::{BinRef, Heap, OwnedTerm};
use kvik_term::{Atom, Term};

/// A received signal in encoded form.
#[derive(Copy, Clone)]
pub struct Encoded<'a> {
    pub bytes: &'a [u8],
    /// The atoms that its references stand for.
    pub atoms: &'a [Atom],
    /// Terms behind a distribution header have no version byte.
    pub header: bool,
    /// The binary that holds the bytes.
    pub source: Option<&'a BinRef>,
}

/// Initial heap words for a term of that many bytes; a larger term costs a copy.
fn words(bytes: usize) -> usize {
    bytes.min(512)
}

impl Encoded<'_> {
    /// Decodes the term at a position; also returns where it ends. Compressed terms are rejected:
    /// no node sends them, and their expanded size is not bounded by the input.
    pub fn term<'h>(&self, at: usize, h: &'h Heap) -> Option<(Term<'h>, usize)> {
        let at = match self.header {
            true => at,
            false if self.bytes.get(at) == Some(&tag::VERSION) => at + 1,
            false => return None,
        };
        let opts = DecodeOpts { atoms: self.atoms, source: self.source, ..DecodeOpts::default() };
        let mut d = Decoding::bare(at, opts);
        loop {
            if let Some(done) = d.run(self.bytes, h, &mut { usize::MAX }).ok()? {
                return Some(done);
            }
        }
    }
    fn owned(&self, at: usize) -> Option<OwnedTerm> {
        let mut good = false;
        let bytes = self.bytes.len().saturating_sub(at);
        let t = OwnedTerm::build(words(bytes), |h| match self.term(at, h) {
            Some((t, _)) => {
                good = true;
                t
            }
            None => Term::NIL,
        });
        good.then_some(t)
    }
}

/// The message or reason behind a signal.
pub struct Behind<'a> {
    encoded: Encoded<'a>,
    at: usize,
    /// Set when it could not be read: the process that it is for, if it is for one.
    corrupted: Cell<Option<Option<u32>>>,
}

impl<'a> Behind<'a> {
    pub fn new(encoded: Encoded<'a>, at: usize) -> Behind<'a> {
        Behind { encoded, at, corrupted: Cell::default() }
    }
    pub fn corrupted(&self) -> Option<Option<u32>> {
        self.corrupted.get()
    }
    pub fn read(&self, receiver: Option<u32>) -> Option<OwnedTerm> {
        let t = self.encoded.owned(self.at);
        if t.is_none() {
            self.corrupted.set(Some(receiver));
        }
        t
    }
}

/// A reason, in the operation or behind it.
pub enum SentReason<'a> {
    Term(Term<'a>),
    Behind(&'a Behind<'a>),
}

impl SentReason<'_> {
    pub fn read(self, receiver: u32) -> Option<OwnedTerm> {
        match self {
            SentReason::Term(t) => Some(OwnedTerm::new(t)),
            SentReason::Behind(b) => b.read(Some(receiver)),
        }
    }
}
