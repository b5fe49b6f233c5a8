//! Runs a [`MatchProgram`].
//!
//! Guards work on terms in place: a table's objects are not copied before they are known to match.
//! Terms that calls build meanwhile are garbage on the process's heap. Only a body's value is
//! copied.

use kvik_proc::Proc;
use kvik_term::{am, Term};
use smallvec::SmallVec;

use super::{Clause, Expr, MatchProgram, Pat, TraceAction};
use crate::order;

/// The term that a program is matched against.
#[derive(Copy, Clone)]
pub enum MatchInput<'s> {
    Term(Term<'s>),
    /// A call's arguments.
    Args(&'s [Term<'s>]),
}

/// Side effects of programs, done by tracing.
pub trait Effects {
    /// The value of an action; `None` where it fails.
    fn act<'h>(&self, p: &'h Proc, action: TraceAction, args: &[Term<'h>]) -> Option<Term<'h>>;
}

/// Without tracing: actions fail.
struct NoEffects;
impl Effects for NoEffects {
    fn act<'h>(&self, _: &'h Proc, _: TraceAction, _: &[Term<'h>]) -> Option<Term<'h>> {
        None
    }
}

/// Most programs have no more, and need no memory for each object that they are matched against.
type Variables<'r> = SmallVec<[Option<Term<'r>>; 8]>;
type Arguments<'r> = SmallVec<[Term<'r>; 4]>;

struct Run<'r> {
    p: &'r Proc,
    subject: MatchInput<'r>,
    vars: Variables<'r>,
    effects: &'r dyn Effects,
    in_body: bool,
    /// The argument of `{message, M}`.
    message: std::cell::Cell<Option<Term<'r>>>,
}

impl MatchProgram {
    /// The value of the first clause that matches, on the process's heap.
    pub fn run<'h>(&self, p: &'h Proc, t: Term<'_>) -> Option<Term<'h>> {
        self.with_match(p, MatchInput::Term(t), &NoEffects, |run, body| run.value(p, body))
    }
    /// Whether the value is `true`.
    pub fn is_true(&self, p: &Proc, t: Term<'_>) -> bool {
        self.with_match(p, MatchInput::Term(t), &NoEffects, |run, body| {
            run.body(body).is_atom(am::true_)
        })
        .unwrap_or(false)
    }
    /// For tracing: `None` without a match; else `true`, or the argument of `{message, M}`.
    pub fn run_trace<'h>(
        &self,
        p: &'h Proc,
        args: &[Term<'_>],
        effects: &dyn Effects,
    ) -> Option<Term<'h>> {
        self.with_match(p, MatchInput::Args(args), effects, |run, body| {
            run.body(body);
            match run.message.get() {
                Some(t) => p.heap.copy(t),
                None => Term::bool(true),
            }
        })
    }

    fn with_match<'r, R>(
        &'r self,
        p: &'r Proc,
        subject: MatchInput<'r>,
        effects: &'r dyn Effects,
        then: impl FnOnce(&Run<'r>, &'r [Expr]) -> R,
    ) -> Option<R> {
        let mut run = Run {
            p,
            subject,
            vars: Variables::new(),
            effects,
            in_body: false,
            message: std::cell::Cell::new(None),
        };
        let clause = self.clauses.iter().find(|c| run.enter(c))?;
        run.in_body = true;
        Some(then(&run, &clause.body))
    }
}

/// Error value of a failed call.
struct Failed;
type Value<'r> = Result<Term<'r>, Failed>;

impl<'r> Run<'r> {
    fn enter(&mut self, c: &'r Clause) -> bool {
        self.vars.clear();
        self.vars.resize(c.vars.len(), None);
        let matches = match self.subject {
            MatchInput::Term(t) => fits(&c.head, t, &mut self.vars),
            MatchInput::Args(args) => match &c.head {
                Pat::Any => true,
                Pat::Bind(slot) => {
                    let list = self.p.heap.list(args);
                    bind(&mut self.vars, *slot, list)
                }
                Pat::Tuple(ps) => all_fit(ps, args, &mut self.vars),
                Pat::Const(t) => t.term().as_tuple().is_some_and(|t| {
                    t.len() == args.len()
                        && t.elements().iter().zip(args).all(|(a, b)| order::same(*a, *b))
                }),
                _ => false,
            },
        };
        matches && c.guards.iter().all(|g| matches!(self.eval(g), Ok(t) if t.is_atom(am::true_)))
    }

    /// Returns the last expression's value; the others are run for their effects.
    fn body(&self, body: &'r [Expr]) -> Term<'r> {
        body.iter().fold(Term::bool(true), |_, e| self.eval(e).unwrap_or(am::UP_EXIT.into()))
    }
    fn value<'h>(&self, p: &'h Proc, body: &'r [Expr]) -> Term<'h> {
        match body.split_last() {
            Some((last, before)) => {
                self.body(before);
                self.build(p, last)
            }
            None => Term::bool(true),
        }
    }
    /// Builds a value on the process's heap: new terms are built there directly, matched ones
    /// copied.
    fn build<'h>(&self, p: &'h Proc, e: &'r Expr) -> Term<'h> {
        let all =
            |es: &'r [Expr]| -> Vec<Term<'h>> { es.iter().map(|e| self.build(p, e)).collect() };
        match e {
            Expr::Tuple(es) => p.heap.tuple(&all(es)),
            Expr::List(es, tail) => p.heap.list_with_tail(&all(es), self.build(p, tail)),
            _ => p.heap.copy(self.eval(e).unwrap_or(am::UP_EXIT.into())),
        }
    }

    fn all(&self, es: &'r [Expr]) -> Result<Arguments<'r>, Failed> {
        let mut all = Arguments::new();
        for e in es {
            all.push(self.eval(e)?);
        }
        Ok(all)
    }
    /// In a body, a call that fails has the value `'EXIT'`.
    fn settle(&self, v: Option<Term<'r>>) -> Value<'r> {
        match v {
            Some(t) => Ok(t),
            None if self.in_body => Ok(am::UP_EXIT.into()),
            None => Err(Failed),
        }
    }
    fn eval(&self, e: &'r Expr) -> Value<'r> {
        let heap = &self.p.heap;
        Ok(match e {
            Expr::Const(t) => t.term(),
            Expr::Var(slot) => self.vars.get(*slot).copied().flatten().ok_or(Failed)?,
            Expr::Whole => match self.subject {
                MatchInput::Term(t) => t,
                MatchInput::Args(a) => heap.list(a),
            },
            Expr::Bindings => heap.list(&self.vars.iter().copied().flatten().collect::<Vec<_>>()),
            Expr::Tuple(es) => heap.tuple(&self.all(es)?),
            Expr::List(es, tail) => heap.list_with_tail(&self.all(es)?, self.eval(tail)?),
            Expr::Map(pairs) => {
                let mut kvs = Vec::with_capacity(pairs.len());
                for (k, v) in pairs {
                    kvs.push((self.eval(k)?, self.eval(v)?));
                }
                order::make_map(heap, &kvs)
            }
            Expr::And(es) => return self.junction(es, true),
            Expr::Or(es) => return self.junction(es, false),
            Expr::AndAlso(es) => return self.short(es, true),
            Expr::OrElse(es) => return self.short(es, false),
            Expr::Myself => self.p.self_pid(),
            Expr::Native(f, args) => return self.settle(f(self.p, &self.all(args)?)),
            Expr::Action(a, args) => return self.action(*a, args),
        })
    }
    /// `and` and `or` evaluate all their arguments.
    fn junction(&self, es: &'r [Expr], unit: bool) -> Value<'r> {
        let mut value = Some(unit);
        for v in self.all(es)? {
            match v.as_bool() {
                Some(b) if b != unit => value = value.map(|_| b),
                Some(_) => {}
                None => value = None,
            }
        }
        self.settle(value.map(Term::bool))
    }
    /// `andalso` and `orelse` stop at the first argument that decides; the last may have any value.
    fn short(&self, es: &'r [Expr], unit: bool) -> Value<'r> {
        let Some((last, before)) = es.split_last() else {
            return Ok(Term::bool(unit));
        };
        for e in before {
            match self.eval(e)?.as_bool() {
                Some(b) if b == unit => {}
                Some(b) => return Ok(Term::bool(b)),
                None => return self.settle(None),
            }
        }
        self.eval(last)
    }
    fn action(&self, a: TraceAction, args: &'r [Expr]) -> Value<'r> {
        let args = self.all(args)?;
        if a == TraceAction::Message {
            self.message.set(args.first().copied());
            return Ok(Term::bool(true));
        }
        self.settle(self.effects.act(self.p, a, &args))
    }
}

fn bind<'r>(vars: &mut [Option<Term<'r>>], slot: usize, t: Term<'r>) -> bool {
    match vars.get_mut(slot) {
        Some(v) => {
            *v = Some(t);
            true
        }
        None => false,
    }
}
fn all_fit<'r>(ps: &'r [Pat], ts: &[Term<'r>], vars: &mut [Option<Term<'r>>]) -> bool {
    ps.len() == ts.len() && ps.iter().zip(ts).all(|(p, t)| fits(p, *t, vars))
}

/// Whether a term matches a pattern; binds variables.
fn fits<'r>(p: &'r Pat, t: Term<'r>, vars: &mut [Option<Term<'r>>]) -> bool {
    match p {
        Pat::Any => true,
        Pat::Bind(slot) => bind(vars, *slot, t),
        Pat::Same(slot) => {
            matches!(vars.get(*slot), Some(Some(v)) if order::same(*v, t))
        }
        Pat::Const(c) => order::same(c.term(), t),
        Pat::Tuple(ps) => t.as_tuple().is_some_and(|t| all_fit(ps, t.elements(), vars)),
        Pat::List(ps, tail) => {
            let mut rest = t;
            for p in ps {
                match rest.as_cons() {
                    Some(c) if fits(p, c.head(), vars) => rest = c.tail(),
                    _ => return false,
                }
            }
            fits(tail, rest, vars)
        }
        Pat::Map(ps) => t.as_map().is_some_and(|m| {
            ps.iter().all(|(k, p)| order::map_get(m, k.term()).is_some_and(|v| fits(p, v, vars)))
        }),
    }
}

/// Actions in `match_spec_test`: nothing is traced, so they do nothing.
pub struct TestEffects;
impl Effects for TestEffects {
    fn act<'h>(&self, _: &'h Proc, action: TraceAction, _: &[Term<'h>]) -> Option<Term<'h>> {
        Some(match action {
            TraceAction::Caller | TraceAction::CallerLine => am::undefined.into(),
            TraceAction::CurrentStacktrace => Term::NIL,
            TraceAction::IsSeqTrace => Term::bool(false),
            TraceAction::GetSeqToken => Term::NIL,
            TraceAction::GetTcw | TraceAction::SetTcw => Term::int(0),
            TraceAction::Display | TraceAction::ProcessDump => return None,
            _ => Term::bool(true),
        })
    }
}

impl MatchProgram {
    /// Further trace flags that a matching call enables.
    pub fn trace_flags(&self) -> Vec<kvik_term::Atom> {
        let has = |action: TraceAction| {
            self.clauses
                .iter()
                .any(|c| c.body.iter().any(|e| matches!(e, Expr::Action(a, _) if *a == action)))
        };
        let mut flags = Vec::new();
        if has(TraceAction::ReturnTrace) {
            flags.push(am::return_trace);
        }
        if has(TraceAction::ExceptionTrace) {
            flags.push(am::exception_trace);
        }
        flags
    }
}
