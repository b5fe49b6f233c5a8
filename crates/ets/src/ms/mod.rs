//! Match specifications: compiled once to a tree of patterns and expressions, run against many
//! terms. Tables use them here; tracing uses the same machine with an argument list to match.

mod compile;
mod guards;
mod run;

pub use compile::{compile, lint, MatchSpecError};
pub use run::{Effects, MatchInput, TestEffects};

use kvik_heap::OwnedTerm;
use kvik_term::Term;

/// Where a specification is used: that decides which functions it may call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dialect {
    Table,
    /// Matches argument lists; functions with effects are allowed.
    Trace,
    /// Matches `[To, Message]`: no call is there to be asked about.
    Sent,
    /// Matches `[Node, From, Message]`: and whoever receives does not run.
    Received,
}

pub struct MatchProgram {
    pub(crate) clauses: Vec<Clause>,
    pub dialect: Dialect,
    /// What it was made from.
    pub source: OwnedTerm,
}

impl MatchProgram {
    /// A program nothing matches.
    pub fn empty() -> MatchProgram {
        MatchProgram { clauses: Vec::new(), dialect: Dialect::Table, source: OwnedTerm::default() }
    }
}

pub(crate) struct Clause {
    pub head: Pat,
    /// The numbers of the variables, in order: a variable's slot is its place here.
    pub vars: Vec<u32>,
    pub guards: Vec<Expr>,
    pub body: Vec<Expr>,
}

pub(crate) enum Pat {
    Any,
    /// A variable's first place.
    Bind(usize),
    /// Its later places.
    Same(usize),
    Const(OwnedTerm),
    Tuple(Vec<Pat>),
    List(Vec<Pat>, Box<Pat>),
    Map(Vec<(OwnedTerm, Pat)>),
}

pub(crate) enum Expr {
    Const(OwnedTerm),
    Var(usize),
    /// `$_`
    Whole,
    /// `$$`
    Bindings,
    Tuple(Vec<Expr>),
    List(Vec<Expr>, Box<Expr>),
    Map(Vec<(Expr, Expr)>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    AndAlso(Vec<Expr>),
    OrElse(Vec<Expr>),
    Myself,
    Native(Native, Vec<Expr>),
    /// What only tracing has.
    Action(TraceAction, Vec<Expr>),
}

/// `None`: the call fails.
pub(crate) type Native = for<'h> fn(&'h kvik_proc::Proc, &[Term<'h>]) -> Option<Term<'h>>;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TraceAction {
    Message,
    ReturnTrace,
    ExceptionTrace,
    Caller,
    CallerLine,
    Display,
    ProcessDump,
    EnableTrace,
    DisableTrace,
    Trace,
    Silent,
    IsSeqTrace,
    SetSeqToken,
    GetSeqToken,
    GetTcw,
    SetTcw,
}
