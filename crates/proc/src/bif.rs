//! The BIF interface: a BIF is a function from a process and its arguments to a term, or to a mark
//! that an exception or a trap was noted in the process.
//!
//! A BIF may allocate freely: allocation never moves a term, and nothing is collected before the
//! BIF has returned. Long work counts reductions (`p.heap.bump_reductions`); when none are left,
//! the BIF suspends ([`Proc::again`]) and continues in the process's next time slice
//! ([`Proc::resumed`]).

use kvik_heap::roots::Root;
use kvik_heap::SuspendedState;
pub use kvik_release::Span;
use kvik_term::{am, Export, Term};

use crate::process::flag;
use crate::Proc;

/// An exception or trap was noted in the process: return `Err` of this at once.
#[derive(Debug)]
pub struct Raised(());

pub type BifResult<'h> = Result<Term<'h>, Raised>;
pub type Bif = for<'h> fn(&'h Proc, &[Term<'h>]) -> BifResult<'h>;

/// One line of a registration table.
#[derive(Copy, Clone)]
pub struct BifEntry {
    pub module: &'static str,
    pub name: &'static str,
    pub arity: u8,
    pub f: Bif,
    /// It makes large binaries: before each call, the garbage made since its last call is freed, so
    /// that its memory is available for the next binary.
    pub sheds: bool,
    /// The releases that have it.
    pub releases: Span,
}

/// `bif!("lists", "reverse", 2, reverse_2)`, `bif!("ets", "next_lookup", 2, next_lookup_2, since 27)`
#[macro_export]
macro_rules! bif {
    ($module:literal, $name:literal, $arity:literal, $f:path) => {
        $crate::BifEntry::of($module, $name, $arity, $f)
    };
    ($module:literal, $name:literal, $arity:literal, $f:path, sheds) => {
        $crate::BifEntry { sheds: true, ..$crate::bif!($module, $name, $arity, $f) }
    };
    ($m:literal, $name:literal, $arity:literal, $f:path, sheds until $until:literal) => {
        $crate::BifEntry { sheds: true, ..$crate::bif!($m, $name, $arity, $f, until $until) }
    };
    ($module:literal, $name:literal, $arity:literal, $f:path, since $release:literal) => {
        $crate::BifEntry {
            releases: $crate::bif::Span::since($release),
            ..$crate::bif!($module, $name, $arity, $f)
        }
    };
    ($m:literal, $name:literal, $arity:literal, $f:path, since $since:literal until $until:literal) => {
        $crate::BifEntry {
            releases: $crate::bif::Span::between($since, $until),
            ..$crate::bif!($m, $name, $arity, $f)
        }
    };
    ($module:literal, $name:literal, $arity:literal, $f:path, until $release:literal) => {
        $crate::BifEntry {
            releases: $crate::bif::Span::until($release),
            ..$crate::bif!($module, $name, $arity, $f)
        }
    };
}

/// Reductions by which a send shortens the time slice.
const SEND: i64 = 4;

impl BifEntry {
    /// A table entry for every release.
    pub const fn of(module: &'static str, name: &'static str, arity: u8, f: Bif) -> BifEntry {
        BifEntry { module, name, arity, f, sheds: false, releases: Span::ALL }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ErrorClass {
    Error = 0,
    Exit = 1,
    Throw = 2,
    /// Not an exception: call the export in `Proc::trap_to` with the arguments in `Root::Trap`
    /// instead; its value is the BIF's.
    Trap = 3,
    /// `erlang:raise/3` and friends: `Root::ExcTrace` holds the trace to use as it is.
    ErrorWithTrace = 4,
    ExitWithTrace = 5,
    ThrowWithTrace = 6,
    /// Not an exception: the process must end (`Proc::is_exiting`). Leave native code at once, with
    /// nothing to save; the outcome is `Wait`.
    Leave = 7,
    /// Not an exception: drop the stack, and when a message comes call the function in
    /// `Root::Trap`, `{M, F, Args}` (see [`Proc::hibernate`]).
    Hibernate = 8,
    /// Not an exception: the time slice is over, and the BIF is called again in the next one (see
    /// [`Proc::again`]).
    Again = 9,
    /// Not an exception: the BIF has returned the term in `Root::Trap`. Its time slice is over, since
    /// a long collection is due.
    ReturnsLate = 10,
}

impl Proc {
    fn raise<'h>(&'h self, class: ErrorClass, value: Term<'h>) -> Raised {
        self.heap.set_exc_class(class as u8);
        // A resumed BIF may fail before it takes its state.
        self.heap.forget_suspended();
        self.cause.set(None);
        self.heap.set_root(Root::ExcValue, value);
        self.heap.set_root(Root::ExcTrace, Term::NIL);
        Raised(())
    }
    /// `error(Reason)`: `badarg`, `{badkey, K}` …
    pub fn error<'h>(&'h self, reason: impl Into<Term<'h>>) -> Raised {
        self.raise(ErrorClass::Error, reason.into())
    }
    pub fn exit<'h>(&'h self, reason: impl Into<Term<'h>>) -> Raised {
        self.raise(ErrorClass::Exit, reason.into())
    }
    pub fn throw<'h>(&'h self, value: Term<'h>) -> Raised {
        self.raise(ErrorClass::Throw, value)
    }
    /// An exception with a given stack trace (already in the form `[{M, F, A, Info}]`).
    pub fn raise_with_trace<'h>(
        &'h self,
        class: ErrorClass,
        value: Term<'h>,
        trace: Term<'h>,
    ) -> Raised {
        let class = match class {
            ErrorClass::Error => ErrorClass::ErrorWithTrace,
            ErrorClass::Exit => ErrorClass::ExitWithTrace,
            ErrorClass::Throw => ErrorClass::ThrowWithTrace,
            c => c,
        };
        let r = self.raise(class, value);
        self.heap.set_root(Root::ExcTrace, trace);
        r
    }
    #[cold]
    pub fn badarg(&self) -> Raised {
        self.error(am::badarg)
    }
    /// `badarg` with the `cause` that `error_info` passes to the module that explains it.
    #[cold]
    pub fn badarg_because(&self, cause: kvik_term::Atom) -> Raised {
        let r = self.badarg();
        self.cause.set(Some(cause));
        r
    }
    #[cold]
    pub fn badarith(&self) -> Raised {
        self.error(am::badarith)
    }
    #[cold]
    pub fn system_limit(&self) -> Raised {
        self.error(am::system_limit)
    }
    #[cold]
    pub fn notsup(&self) -> Raised {
        self.error(am::notsup)
    }
    /// `{Tag, Value}` as an error: `{badkey, K}`, `{badmap, M}` …
    #[cold]
    pub fn error_pair<'h>(&'h self, tag: kvik_term::Atom, value: Term<'h>) -> Raised {
        self.error(self.heap.tuple(&[tag.into(), value]))
    }
    /// Calls another function instead; its value is the BIF's. To continue later with its own
    /// state, a BIF traps to an export of itself.
    pub fn trap<'h>(&'h self, to: &'static Export, args: &[Term<'h>]) -> Raised {
        self.trap_to.set(Some(to));
        let args = self.heap.tuple(args);
        self.heap.set_exc_class(ErrorClass::Trap as u8);
        self.heap.set_root(Root::Trap, args);
        Raised(())
    }
    /// The same in the process's next time slice: this one is over. OTP's native code does so with
    /// every trap, which shows in the order in which processes run.
    pub fn trap_in_next_turn<'h>(&'h self, to: &'static Export, args: &[Term<'h>]) -> Raised {
        self.give_up_turn();
        self.trap(to, args)
    }
    /// Whether [`Proc::collected_for`] must be called.
    #[inline]
    pub fn may_collect_for(&self, bytes: usize) -> bool {
        self.flag(flag::COLLECTED) || self.heap.worth_collecting(bytes)
    }
    /// To be called before a BIF makes an off-heap binary of that many bytes: if that would trigger
    /// a collection, the process is collected first and the BIF, which has this name, is called
    /// again.
    pub fn collected_for<'h>(
        &'h self,
        bytes: usize,
        (module, function): (kvik_term::Atom, kvik_term::Atom),
        args: &[Term<'h>],
    ) -> Result<(), Raised> {
        if self.set_flag(flag::COLLECTED, false) {
            self.heap.expect_off_heap(bytes);
            return Ok(());
        }
        if !self.heap.worth_collecting(bytes) {
            return Ok(());
        }
        self.set_flag(flag::COLLECTED, true);
        self.heap.ask_for_gc();
        Err(self.trap(kvik_code::export(module, function, args.len() as u32), args))
    }
    /// Suspends a BIF: it is called again with the same arguments in the process's next time slice,
    /// where [`Proc::resumed`] returns `state`; nothing is collected until then. To others the
    /// process is in the BIF, or in `shown`, all the time, and an exception belongs to the original
    /// call.
    pub fn again<'h, K: SuspendedState>(
        &'h self,
        state: K::In<'h>,
        shown: Option<&'static Export>,
    ) -> Raised {
        self.heap.suspend_with::<K>(state);
        self.trap_to.set(shown);
        self.heap.set_exc_class(ErrorClass::Again as u8);
        Raised(())
    }
    /// The same with the state the BIF was suspended with before.
    pub fn again_as_before(&self) -> Raised {
        self.trap_to.set(None);
        self.heap.set_exc_class(ErrorClass::Again as u8);
        Raised(())
    }
    /// The state this BIF was suspended with; `None` in its first time slice.
    pub fn resumed<K: SuspendedState>(&self) -> Option<K::In<'_>> {
        self.heap.resume_with::<K>()
    }
    /// Steps a BIF may take in this time slice, at `a_reduction` per reduction; at least one.
    pub fn steps(&self, a_reduction: usize) -> usize {
        (self.heap.reductions_left().max(1) as usize).saturating_mul(a_reduction)
    }
    /// Sets the reductions left from the steps left.
    pub fn steps_left(&self, left: usize, a_reduction: usize) {
        self.heap.set_reductions(left.div_ceil(a_reduction) as i64);
    }
    /// Uses up the time slice, all of which counts as used: what OTP's BIFs do that go on in another
    /// turn after a fixed amount of work.
    pub fn use_up_turn(&self) {
        self.heap.set_reductions(self.heap.reductions_left().min(0));
    }
    /// The same where OTP's BIF goes on in a function of its own, whose call counts too.
    pub fn use_up_turn_to_trap(&self) {
        self.use_up_turn();
        self.reductions.set(self.reductions.get().wrapping_add(1));
    }
    /// Shortens the time slice for a send, beyond the reduction that its call costs. As in OTP this
    /// does not count as used.
    pub fn shorten_for_send(&self) {
        self.reductions.set(self.reductions.get().wrapping_sub(SEND as u64));
        self.heap.set_reductions(self.heap.reductions_left() - SEND);
    }
    /// Gives up the rest of the time slice, which does not count as used.
    pub fn give_up_turn(&self) {
        let left = self.heap.reductions_left().max(0);
        self.reductions.set(self.reductions.get().wrapping_sub(left as u64));
        self.heap.set_reductions(0);
    }
    /// Leaves native code for good if the process must end. To be called after anything that may
    /// have sent the process an exit signal of its own.
    pub fn check_exit(&self) -> Result<(), Raised> {
        if self.is_exiting() {
            self.heap.set_exc_class(ErrorClass::Leave as u8);
            return Err(Raised(()));
        }
        Ok(())
    }
    /// Waits for a message, then calls `m:f(args…)` with an empty stack.
    pub fn hibernate<'h>(&'h self, m: Term<'h>, f: Term<'h>, args: Term<'h>) -> Raised {
        let t = self.heap.tuple(&[m, f, args]);
        self.heap.set_exc_class(ErrorClass::Hibernate as u8);
        self.heap.set_root(Root::Trap, t);
        Raised(())
    }
    /// Whether the time slice is used up.
    pub fn out_of_reductions(&self) -> bool {
        self.heap.reductions_left() <= 0
    }
}
