//! Match specifications: compiled once to a tree of patterns and expressions, then run against many
//! terms. Tables use them here; tracing matches argument lists with them.

mod compile;
pub mod direct;
mod guards;
mod run;

pub use compile::{compile, lint, MatchSpecError};
pub use run::{Effects, MatchInput, TestEffects};

use kvik_heap::OwnedTerm;
use kvik_term::Term;

/// Where a specification is used: decides which functions it may call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dialect {
    Table,
    /// Matches argument lists; functions with effects are allowed.
    Trace,
    /// Matches `[To, Message]`: functions about the traced call fail.
    Sent,
    /// Matches `[Node, From, Message]`: also, the receiver is not running.
    Received,
}

pub struct MatchProgram {
    pub(crate) clauses: Vec<Clause>,
    pub dialect: Dialect,
    /// The specification it was compiled from.
    pub source: OwnedTerm,
}

impl MatchProgram {
    /// A program that matches nothing.
    pub fn empty() -> MatchProgram {
        MatchProgram { clauses: Vec::new(), dialect: Dialect::Table, source: OwnedTerm::default() }
    }
}

pub(crate) struct Clause {
    pub head: Pat,
    /// The numbers of the variables, in order: a variable's slot is its index here.
    pub vars: Vec<u32>,
    pub guards: Vec<Expr>,
    pub body: Vec<Expr>,
}

pub(crate) enum Pat {
    Any,
    /// First occurrence of a variable.
    Bind(usize),
    /// Later occurrences.
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
    /// Actions, which only tracing has.
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
    CurrentStacktrace,
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
