//! An independent check of the verifier: before each instruction, native code asserts what the
//! verifier claims about the state and what the instruction's template relies on. The checks are
//! compiled in debug builds and with the feature `checked`; otherwise [`CHECKED`] is false and no
//! code is generated.
//!
//! Two descriptions are compared with the machine's state. [`StateClaim`] is the verifier's own.
//! [`Need`] is derived from the instruction alone: what its template does without a test. Registers
//! that the verifier claims are never read are overwritten with a word that is not a term, so that
//! a later read of them shows.

use std::sync::{Arc, OnceLock};

use kvik_beam::{Arg, Opcode, RegisterClaim, StateClaim, ValueKind};
use kvik_heap::region::MemoryRegion;
use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::*;
use kvik_term::Atom;

use crate::continuation::is_continuation;
use crate::rt::Operands;

pub use kvik_beam::CHECKED;

/// Whether modules that this thread makes assert that.
pub fn is_wanted() -> bool {
    #[cfg(test)]
    if UNWANTED.get() {
        return false;
    }
    CHECKED
}
#[cfg(test)]
thread_local! {
    /// Makes code as builds without checks do.
    pub static UNWANTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Neither a term nor a value that native code gives a meaning: a header word where no header can
/// be. Fits a sign-extended 32-bit immediate.
pub const POISON: u64 = -0x5EAD_0F1Ci64 as u64;
const _: () = assert!(is_header(POISON) && POISON != NONE);

/// How many x registers are overwritten if nothing reads them.
const POISONED_X: usize = 16;

/// The addresses of a module's labels, known once its code is in place.
pub type LabelAddresses = Arc<OnceLock<Box<[usize]>>>;

/// What an instruction's template assumes, independent of the verifier's claims.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    Tuple(Arg, usize),
    Cons(Arg),
    Float(Arg),
    Map(Arg),
    Record(Arg),
    MatchContext(Arg),
    /// The first x registers are terms.
    Live(u64),
    /// The word at this offset above the stack's top is a return address.
    Continuation(u64),
    CatchTag(Arg),
    HeapWords(usize),
}

/// The assertions before one instruction.
pub struct Checkpoint {
    pub(crate) module: Atom,
    pub(crate) function: Atom,
    pub(crate) arity: u32,
    pub(crate) at: usize,
    pub(crate) opcode: Opcode,
    pub(crate) claim: Option<StateClaim>,
    pub(crate) needs: Vec<Need>,
    pub(crate) labels: LabelAddresses,
}

/// Native code holds their addresses, so they must not move.
#[allow(clippy::vec_box)]
pub type Checkpoints = Vec<Box<Checkpoint>>;

/// The machine's state at a checkpoint.
struct Machine<'a> {
    p: &'a Proc,
    regs: &'a Regs,
    stack: &'a [u64],
}

/// A description of the violation, if any.
type Broken = Option<String>;

/// Called by native code before each instruction, with the checkpoint's address.
pub extern "C" fn check(p: &Proc, regs: &Regs, _: Operands, checkpoint: u64) -> u64 {
    // SAFETY: the module's code owns its checkpoints, and this is called by that code.
    let point = unsafe { &*(checkpoint as *const Checkpoint) };
    // SAFETY: native code waits for the answer; nothing changes the stack meanwhile.
    let machine = Machine { p, regs, stack: unsafe { p.heap.stack() } };
    if let Some(broken) = machine.breaks(point) {
        point.fail(&broken);
    }
    if let Some(claim) = point.claim.as_ref().filter(|c| !c.catches) {
        machine.poison(claim);
    }
    0
}

impl Checkpoint {
    fn fail(&self, broken: &str) -> ! {
        eprintln!(
            "VERIFIER CLAIM BROKEN: {}:{}/{}, instruction {} ({}): {broken}",
            self.module.name(),
            self.function.name(),
            self.arity,
            self.at,
            self.opcode.name(),
        );
        std::process::abort()
    }
}

impl Machine<'_> {
    fn x(&self, n: usize) -> u64 {
        // SAFETY: register numbers are below the register file's size.
        unsafe { *self.regs.x_ptr().add(n) }
    }

    fn breaks(&self, point: &Checkpoint) -> Broken {
        let claimed = point.claim.as_ref().and_then(|c| self.breaks_claim(c, &point.labels));
        claimed.or_else(|| point.needs.iter().find_map(|need| self.breaks_need(*need)))
    }

    fn breaks_claim(&self, claim: &StateClaim, labels: &LabelAddresses) -> Broken {
        if let Some(size) = claim.frame_size.filter(|n| !self.is_continuation_at(*n)) {
            return Some(format!("no frame of {size} y registers"));
        }
        let x = claim.x.iter().enumerate().map(|(n, c)| ('x', n, *c, self.x(n)));
        let y = claim.y.iter().enumerate();
        let y = y.map(|(n, c)| ('y', n, *c, self.stack.get(n).copied().unwrap_or(POISON)));
        let broken = x.chain(y).filter(|(_, _, c, _)| !c.is_unset()).find_map(|(kind, n, c, w)| {
            let what = self.breaks_register(c, w, labels)?;
            Some(format!("{kind}{n} = {w:#x}: {what}"))
        });
        broken.or_else(|| self.breaks_rest(claim))
    }

    fn breaks_register(&self, claim: RegisterClaim, w: u64, labels: &LabelAddresses) -> Broken {
        let kind = match self.kind(w) {
            Ok(kind) => kind,
            Err(what) => return Some(what.into()),
        };
        if !claim.admits(kind) {
            return Some(format!("{kind:?} is not what was proved"));
        }
        let handler = claim.handler().and_then(|l| labels.get()?.get(l as usize).copied());
        if handler.is_some_and(|address| catch_address(w) != address as u64) {
            return Some("the tag names another handler".into());
        }
        let borrowed = !is_immediate(w)
            && self.p.heap.region_of((w & !7) as usize) == MemoryRegion::BorrowedMessage;
        (borrowed && !claim.may_borrow()).then(|| "an untracked reference to the message".into())
    }

    fn breaks_rest(&self, claim: &StateClaim) -> Broken {
        let finite = |n: usize| {
            // SAFETY: register numbers are below the register file's size.
            unsafe { *self.regs.f_ptr().add(n) }.is_finite()
        };
        if let Some(n) = (0..claim.floats.len()).find(|n| claim.floats[*n] && !finite(*n)) {
            return Some(format!("fr{n} is not finite"));
        }
        let [words, floats, funs] = claim.reserved.map(|n| n as usize);
        let reserved = words + FLOAT_WORDS * floats + 4 * funs;
        (reserved > 0 && !self.p.heap.has_room(reserved))
            .then(|| format!("{reserved} words were reserved, {} are free", self.p.heap.room()))
    }

    fn breaks_need(&self, need: Need) -> Broken {
        let wrong = |arg: Arg, fits: &dyn Fn(ValueKind) -> bool| {
            let kind = self.kind(self.register(arg)?);
            (!kind.is_ok_and(fits)).then(|| format!("{need:?}: {kind:?}"))
        };
        match need {
            Need::Tuple(s, least) => wrong(s, &|k| matches!(k, ValueKind::Tuple(n) if n >= least)),
            Need::Cons(s) => wrong(s, &|k| k == ValueKind::Cons),
            Need::Float(s) => wrong(s, &|k| k == ValueKind::Float),
            Need::Record(s) => wrong(s, &|k| k == ValueKind::Record),
            Need::Map(s) => wrong(s, &|k| k == ValueKind::Map),
            Need::MatchContext(s) => wrong(s, &|k| k == ValueKind::MatchContext),
            Need::CatchTag(y) => wrong(y, &|k| k == ValueKind::CatchTag),
            Need::Live(live) => self.breaks_live(live as usize),
            Need::Continuation(at) => (!self.is_continuation_at(at as usize))
                .then(|| format!("{at} words above the stack's top is no continuation")),
            Need::HeapWords(words) => {
                (!self.p.heap.has_room(words)).then(|| format!("no {words} words are free"))
            }
        }
    }

    fn breaks_live(&self, live: usize) -> Broken {
        (0..live).find_map(|n| {
            let what = self.kind(self.x(n)).err()?;
            Some(format!("live x{n} = {:#x}: {what}", self.x(n)))
        })
    }

    /// The word in a register; `None` for constants.
    fn register(&self, arg: Arg) -> Option<u64> {
        match arg {
            Arg::X(n, _) => Some(self.x(n as usize)),
            Arg::Y(n, _) => Some(self.stack.get(n as usize).copied().unwrap_or(POISON)),
            _ => None,
        }
    }

    fn is_continuation_at(&self, at: usize) -> bool {
        self.stack
            .get(at)
            .is_some_and(|w| is_continuation(*w) && crate::mem::range().contains(&(*w as usize)))
    }

    /// The kind of a register's word, or why no register may hold it.
    fn kind(&self, w: u64) -> Result<ValueKind, &'static str> {
        Ok(match w & 15 {
            0 => ValueKind::Small,
            TAG_ATOM => ValueKind::Atom,
            TAG_PID | TAG_PORT => ValueKind::Identifier,
            15 if w == NIL => ValueKind::Nil,
            15 if is_catch_mark(w) => ValueKind::CatchTag,
            _ if is_list(w) => {
                let (head, tail) = (self.read(w - TAG_LIST, 0)?, self.read(w - TAG_LIST, 1)?);
                if is_header(head) || is_header(tail) {
                    return Err("no list cell");
                }
                ValueKind::Cons
            }
            _ if is_boxed(w) => self.boxed_kind(w - TAG_BOXED)?,
            _ if w == POISON => return Err("was never written, or is dead"),
            _ => return Err("no term"),
        })
    }

    fn boxed_kind(&self, at: u64) -> Result<ValueKind, &'static str> {
        let header = self.read(at, 0)?;
        if !is_header(header) {
            return Err("no object");
        }
        Ok(match header_subtag(header) {
            TUPLE => ValueKind::Tuple(header_words(header)),
            BIG_POS | BIG_NEG => ValueKind::Big,
            FLOAT => ValueKind::Float,
            FUN | EXPORT => ValueKind::Fun,
            REF | MAGIC_REF | EXT => ValueKind::Identifier,
            REFC_BIN | HEAP_BIN | SUB_BIN => ValueKind::BitString,
            RECORD => ValueKind::Record,
            FLAT_MAP | HAMT => ValueKind::Map,
            MATCH_CTX => self.context(at)?,
            _ => return Err("no object"),
        })
    }

    /// Checks that a match context's position is not past its end, nor the end past the bit
    /// string's.
    fn context(&self, at: u64) -> Result<ValueKind, &'static str> {
        let (position, end) = (self.read(at, 3)?, self.read(at, 4)?);
        match position <= end {
            true => Ok(ValueKind::MatchContext),
            false => Err("a match context's position is behind its end"),
        }
    }

    /// Word `n` of the object at an address.
    fn read(&self, at: u64, n: u64) -> Result<u64, &'static str> {
        if !at.is_multiple_of(8) || !(1 << 16..1 << 47).contains(&at) {
            return Err("no address");
        }
        if self.p.heap.region_of(at as usize) == MemoryRegion::FreeBlock {
            return Err("points to free memory");
        }
        // SAFETY: a pointer that a register holds leads to an object of this process, a message or
        // a literal. If that is violated, this read may crash the VM, which the check exists to
        // detect.
        Ok(unsafe { *((at + 8 * n) as *const u64) })
    }

    /// Overwrites the registers that no code may read.
    fn poison(&self, claim: &StateClaim) {
        for n in 0..POISONED_X.max(claim.x.len()) {
            if claim.x.get(n).is_none_or(|c| c.is_unset()) {
                // SAFETY: register numbers are below the register file's size, and no code reads this.
                unsafe { *self.regs.x_ptr().add(n) = POISON };
            }
        }
    }
}

/// Asserts that the roots of a collection are terms.
pub fn check_roots(p: &Proc, regs: &Regs, live: usize) {
    if !CHECKED {
        return;
    }
    // SAFETY: native code waits for the answer.
    let machine = Machine { p, regs, stack: unsafe { p.heap.stack() } };
    let stack = machine.stack.iter().enumerate().filter(|(_, w)| *w & 7 != 0);
    let broken = machine.breaks_live(live).or_else(|| {
        stack.into_iter().find_map(|(n, w)| {
            Some(format!("word {n} of the stack = {w:#x}: {}", machine.kind(*w).err()?))
        })
    });
    if let Some(broken) = broken {
        eprintln!("VERIFIER CLAIM BROKEN: at a collection with {live} live x registers: {broken}");
        std::process::abort()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a need is violated with this word in x0.
    fn broken(p: &Proc, regs: &Regs, need: Need, x0: u64) -> bool {
        // SAFETY: there are more registers than one.
        unsafe { *regs.x_ptr() = x0 };
        Machine { p, regs, stack: &[NIL, POISON] }.breaks_need(need).is_some()
    }

    #[test]
    fn tells_what_a_template_relies_on() {
        let (p, regs, x0) = (Proc::new(1, 64), Regs::new(), Arg::X(0, 0));
        let h = &p.heap;
        let pair = h.tuple(&[kvik_term::Term::NIL; 2]).word();
        let cell = h.cons(kvik_term::Term::NIL, kvik_term::Term::NIL).word();
        let fits = |need, w| !broken(&p, &regs, need, w);
        assert!(fits(Need::Tuple(x0, 2), pair) && !fits(Need::Tuple(x0, 3), pair));
        assert!(fits(Need::Cons(x0), cell) && !fits(Need::Cons(x0), pair));
        assert!(!fits(Need::Float(x0), pair) && !fits(Need::MatchContext(x0), pair));
        assert!(fits(Need::Live(1), cell) && !fits(Need::Live(1), POISON));
        assert!(!fits(Need::CatchTag(Arg::Y(0, 0)), NIL));
        assert!(!fits(Need::Continuation(0), NIL) && !fits(Need::Continuation(7), NIL));
        assert!(fits(Need::HeapWords(1), NIL) && !fits(Need::HeapWords(1 << 20), NIL));
        // The block's free memory holds no object.
        let free = pair + 64;
        assert!(!fits(Need::Live(1), free));
    }
}
