//! `iolist_to_iovec/1`: the binaries of an I/O list.

use kvik_heap::{Heap, SuspendedState, Writer};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_release::IovecCost;
use kvik_term::Term;

use crate::iolist::{shown, BadList};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "iolist_to_iovec", 1, iolist_to_iovec_1)];

/// Binaries below this size are coalesced when an I/O vector is made.
const VECTOR_LIMIT: usize = 256;

/// Keeps large binaries as they are and coalesces the data between them.
fn iolist_to_iovec_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    vector(p, a[0])?.map_err(|BadList| p.badarg())
}

/// State of converting an I/O list to a list of binaries.
struct Vectoring<'h> {
    at: Term<'h>,
    later: Vec<Term<'h>>,
    /// Small pieces since the last large binary.
    small: Writer,
    binaries: Vec<Term<'h>>,
    /// Steps for the bytes copied in this turn.
    copied: usize,
}
impl SuspendedState for Vectoring<'static> {
    type In<'h> = Vectoring<'h>;
}

impl<'h> Vectoring<'h> {
    /// Continues for `left` steps and deducts those used. True at the end of the list.
    fn run(&mut self, h: &'h Heap, cost: &IovecCost, left: &mut usize) -> Result<bool, BadList> {
        // In registers: each step depends on the one before.
        let (mut at, mut steps) = (self.at, *left);
        let done = loop {
            if steps == 0 {
                break false;
            }
            if let Some(c) = at.as_cons() {
                let head = c.head();
                at = c.tail();
                if let Some(i) = head.as_small() {
                    self.small.push_all([u8::try_from(i).map_err(|_| BadList)?]);
                    steps = steps.saturating_sub(cost.byte);
                } else if head.as_cons().is_some() {
                    if at.is_nil() {
                        steps = steps.saturating_sub(cost.end);
                    } else {
                        self.later.push(at);
                    }
                    at = head;
                    steps = steps.saturating_sub(cost.list);
                } else if !head.is_nil() {
                    let copied = self.binary(h, head)? / cost.bytes_a_step;
                    self.copied += copied;
                    steps = steps.saturating_sub(cost.binary + copied);
                }
                continue;
            }
            if !at.is_nil() {
                let tail = std::mem::replace(&mut at, Term::NIL);
                let copied = self.binary(h, tail)? / cost.bytes_a_step;
                self.copied += copied;
                steps = steps.saturating_sub(copied);
                continue;
            }
            steps = steps.saturating_sub(cost.end);
            match self.later.pop() {
                Some(t) => at = t,
                None => break true,
            }
        };
        (self.at, *left) = (at, steps);
        Ok(done)
    }
    /// Adds a binary; the number of bytes copied.
    #[inline(always)]
    fn binary(&mut self, h: &'h Heap, t: Term<'h>) -> Result<usize, BadList> {
        let b = t.as_bits().filter(|b| b.is_binary()).ok_or(BadList)?;
        let n = b.byte_size();
        if n >= VECTOR_LIMIT {
            self.close(h);
            self.binaries.push(t);
            return Ok(0);
        }
        match b.as_bytes() {
            Some(bytes) => self.small.push(bytes),
            None => self.small.push(&b.to_bytes()),
        }
        Ok(n)
    }
    /// Ends a run of small pieces.
    fn close(&mut self, h: &'h Heap) {
        if self.small.is_empty() {
            return;
        }
        let small = if self.small.len() < REUSED_BUFFER {
            let binary = h.binary(self.small.bytes());
            self.small.truncate(0);
            binary
        } else {
            std::mem::take(&mut self.small).finish(h)
        };
        self.binaries.push(small);
    }
}

/// The buffer of runs below this size is used again, which takes a copy.
const REUSED_BUFFER: usize = 4096;

/// The binaries of an I/O list; small pieces are coalesced.
pub(crate) fn vector<'h>(p: &'h Proc, t: Term<'h>) -> Result<Result<Term<'h>, BadList>, Raised> {
    if t.as_bits().is_some_and(|b| b.is_binary() && b.bit_len() > 0) {
        return Ok(Ok(p.heap.cons(t, Term::NIL)));
    }
    let mut v = p.resumed::<Vectoring<'static>>().unwrap_or_else(|| Vectoring {
        at: t,
        later: Vec::new(),
        small: Writer::default(),
        binaries: Vec::new(),
        copied: 0,
    });
    let cost = kvik_release::current().iovec_cost();
    let most = p.steps(cost.steps_per_reduction);
    let mut left = most;
    v.copied = 0;
    let done = match v.run(&p.heap, cost, &mut left) {
        Ok(done) => done,
        Err(bad) => return Ok(Err(bad)),
    };
    let lone = t.as_cons().is_some_and(|c| c.tail().is_nil() && c.head().as_bits().is_some());
    if !lone {
        p.heap.bump_reductions(cost.reductions(most - left, v.copied) as i64);
    }
    if !done {
        return Err(p.again::<Vectoring<'static>>(v, Some(shown())));
    }
    v.close(&p.heap);
    Ok(Ok(p.heap.list(&v.binaries)))
}
