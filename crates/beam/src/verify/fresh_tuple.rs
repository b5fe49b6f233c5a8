//! Tracks the registers that hold the tuple that `erlang:setelement/3` has just made.
//!
//! `set_tuple_element` changes a tuple in place. That is sound while no term contains the tuple (it
//! could come to contain itself), there is no other reference to it, and no collection has moved it
//! to a generation that must not point to younger terms. All this holds right behind the call, and
//! behind instructions that only copy registers and read elements: those of [`FreshTuple::step`].

use crate::code::Arg;
use kvik_isa::Opcode;

#[derive(Default)]
pub(crate) struct FreshTuple {
    /// All registers that hold the tuple; empty if there is no such tuple.
    holders: Vec<Arg>,
}

impl FreshTuple {
    /// The call returns; its result is in x0 only.
    pub(crate) fn made(&mut self) {
        self.holders.clear();
        self.holders.push(Arg::X(0, 0));
    }

    pub(crate) fn forget(&mut self) {
        self.holders.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    pub(crate) fn holds(&self, arg: Arg) -> bool {
        self.holders.contains(&register(arg))
    }

    /// Applies an instruction. OTP's compiler puts just these between the call and
    /// `set_tuple_element`; none of them collects, raises or builds a term.
    #[inline]
    pub(crate) fn step(&mut self, opcode: Opcode, args: &[Arg]) {
        if self.holders.is_empty() {
            return;
        }
        match (opcode, args) {
            (Opcode::Line | Opcode::SetTupleElement, _) => {}
            (Opcode::Move, [from, to]) => self.set(*to, self.holds(*from)),
            (Opcode::Swap, [a, b]) => {
                let (of_a, of_b) = (self.holds(*a), self.holds(*b));
                self.set(*a, of_b);
                self.set(*b, of_a);
            }
            // An element is never the tuple itself.
            (Opcode::GetTupleElement, [_, _, to]) => self.set(*to, false),
            _ => self.forget(),
        }
    }

    fn set(&mut self, arg: Arg, holds: bool) {
        let arg = register(arg);
        self.holders.retain(|held| *held != arg);
        if holds {
            self.holders.push(arg);
        }
    }
}

/// A register without the file's type index.
fn register(arg: Arg) -> Arg {
    match arg {
        Arg::X(x, _) => Arg::X(x, 0),
        Arg::Y(y, _) => Arg::Y(y, 0),
        other => other,
    }
}
