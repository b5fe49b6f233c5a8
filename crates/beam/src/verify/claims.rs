//! The verifier's claims about the state before each instruction. They are kept only in builds that
//! check them at run time: debug builds, and those with the feature `checked`.

use super::state::{Frame, State, NORMAL};
use super::ty::Ty;

/// Whether this build keeps claims.
pub const CHECKED: bool = cfg!(any(debug_assertions, feature = "checked"));

/// The kind of a word at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    Atom,
    BitString,
    Cons,
    Float,
    Fun,
    Small,
    Big,
    Map,
    Nil,
    /// A pid, port or reference, local or of another node.
    Identifier,
    Tuple(usize),
    Record,
    MatchContext,
    CatchTag,
}

/// The claim about one register.
#[derive(Clone, Copy)]
pub struct RegisterClaim(Ty);

impl RegisterClaim {
    /// No code may read the register: it may never have been written.
    pub fn is_unset(self) -> bool {
        self.0.has(Ty::UNINIT)
    }

    /// It may hold a part of a message that has not been taken from the mailbox.
    pub fn may_borrow(self) -> bool {
        self.0.is_borrowed()
    }

    /// The label of the handler, if it is a catch tag with one known handler.
    pub fn handler(self) -> Option<u32> {
        Some(self.0.handler()).filter(|label| *label != 0 && self.0.is(Ty::TAG))
    }

    /// Whether the claim allows a value of that kind.
    pub fn admits(self, kind: ValueKind) -> bool {
        let types = match kind {
            ValueKind::Atom => Ty::ATOM,
            ValueKind::BitString => Ty::BITSTRING,
            ValueKind::Cons => Ty::CONS,
            ValueKind::Float => Ty::FLOAT,
            ValueKind::Fun => Ty::FUN,
            ValueKind::Small => Ty::SMALL,
            ValueKind::Big => Ty::BIG,
            ValueKind::Map => Ty::MAP,
            ValueKind::Nil => Ty::NIL,
            ValueKind::Identifier => Ty::PID.or(Ty::PORT).or(Ty::REF),
            ValueKind::Tuple(arity) => return self.admits_tuple(arity),
            ValueKind::Record => Ty::RECORD,
            ValueKind::MatchContext => Ty::CONTEXT,
            ValueKind::CatchTag => Ty::TAG,
        };
        self.0.has(types)
    }

    fn admits_tuple(self, arity: usize) -> bool {
        let least = self.0.arity();
        self.0.has(Ty::TUPLE) && (arity == least || arity > least && !self.0.is_exact())
    }
}

/// The claim about a point of a function: a description of the states that may occur there.
#[derive(Clone)]
pub struct StateClaim {
    /// The x registers; those beyond the end are unset. Nothing is claimed of x registers if an
    /// exception may arrive here.
    pub x: Vec<RegisterClaim>,
    /// The y registers; where frames of different sizes met, the ones common to all of them.
    pub y: Vec<RegisterClaim>,
    /// Which float registers hold finite numbers.
    pub floats: Vec<bool>,
    /// Words between the stack's top and the continuation: none if frames of different sizes met.
    pub frame_size: Option<usize>,
    /// Words, floats and funs that are reserved on the heap.
    pub reserved: [u32; 3],
    /// An exception may arrive here: nothing is claimed of what x and float registers hold.
    pub catches: bool,
}

impl StateClaim {
    pub(crate) fn of(state: &State) -> StateClaim {
        let claims = |types: &[Ty]| types.iter().copied().map(RegisterClaim).collect();
        let catches = state.how != NORMAL;
        let floats = |types: &[Ty]| types.iter().map(|t| t.is(Ty::FLOAT)).collect();
        StateClaim {
            x: if catches { Vec::new() } else { claims(&state.x) },
            y: claims(&state.y),
            floats: if catches { Vec::new() } else { floats(&state.f) },
            frame_size: Some(state.y.len()).filter(|_| state.frame != Frame::Unsure),
            reserved: [state.heap.words, state.heap.floats, state.heap.funs],
            catches,
        }
    }
}

/// The claims about a module's code, by instruction; empty in builds that keep none.
#[derive(Default)]
pub(crate) struct Claims(Vec<Option<Box<StateClaim>>>);

impl Claims {
    pub(crate) fn new(count: usize) -> Claims {
        let mut all = Vec::new();
        if CHECKED {
            all.resize_with(count, || None);
        }
        Claims(all)
    }

    /// The last record of an instruction counts: the walk that made it started from the final
    /// states at labels.
    #[inline]
    pub(crate) fn record(&mut self, at: usize, state: &State) {
        if CHECKED {
            if let Some(slot) = self.0.get_mut(at) {
                *slot = Some(Box::new(StateClaim::of(state)));
            }
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&StateClaim> {
        self.0.get(at)?.as_deref()
    }
}
