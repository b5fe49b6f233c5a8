//! Compiles a match specification to a [`MatchProgram`].

use std::sync::atomic::Ordering::Relaxed;

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::limits::BACKTRACE_DEPTH;
use kvik_release::current;
use kvik_term::{am, print, Atom, Term, View};

use super::guards::native;
use super::{Clause, Dialect, Expr, MatchProgram, Pat, TraceAction};
use crate::order::{self, wild, Wild};

/// Maximum nesting of patterns and expressions.
const MAX_DEPTH: usize = 2000;

#[derive(Debug, PartialEq, Eq)]
pub enum MatchSpecError {
    /// The messages that `ets:test_ms/2` reports.
    Bad(Vec<String>),
    TooDeep,
}

/// Tracing actions: name, action, arities, and whether guards may call it. The dialect decides
/// which actions are allowed: none in tables.
const ACTIONS: &[(Atom, TraceAction, &[usize], bool)] = &[
    (am::message, TraceAction::Message, &[1], false),
    (am::return_trace, TraceAction::ReturnTrace, &[0], false),
    (am::exception_trace, TraceAction::ExceptionTrace, &[0], false),
    (am::caller, TraceAction::Caller, &[0], false),
    (am::caller_line, TraceAction::CallerLine, &[0], false),
    (am::current_stacktrace, TraceAction::CurrentStacktrace, &[0, 1], false),
    (am::display, TraceAction::Display, &[1], false),
    (am::process_dump, TraceAction::ProcessDump, &[0], false),
    (am::enable_trace, TraceAction::EnableTrace, &[1, 2], false),
    (am::disable_trace, TraceAction::DisableTrace, &[1, 2], false),
    (am::trace, TraceAction::Trace, &[2, 3], false),
    (am::silent, TraceAction::Silent, &[1], false),
    (am::is_seq_trace, TraceAction::IsSeqTrace, &[0], true),
    (am::set_seq_token, TraceAction::SetSeqToken, &[2], false),
    (am::get_seq_token, TraceAction::GetSeqToken, &[0], false),
    (am::get_tcw, TraceAction::GetTcw, &[0], true),
    (am::set_tcw, TraceAction::SetTcw, &[1], false),
];

struct Compiler<'h> {
    heap: &'h Heap,
    dialect: Dialect,
    vars: Vec<u32>,
    in_guard: bool,
    errors: Vec<String>,
    too_deep: bool,
}

/// Compiles a match specification for a dialect.
pub fn compile(spec: Term<'_>, dialect: Dialect) -> Result<MatchProgram, MatchSpecError> {
    let heap = Heap::detached();
    let mut c = Compiler {
        heap: &heap,
        dialect,
        vars: Vec::new(),
        in_guard: false,
        errors: Vec::new(),
        too_deep: false,
    };
    let clauses = c.program(spec);
    if c.too_deep {
        return Err(MatchSpecError::TooDeep);
    }
    match clauses {
        Some(clauses) if c.errors.is_empty() => {
            Ok(MatchProgram { clauses, dialect, source: OwnedTerm::new(spec) })
        }
        _ => Err(MatchSpecError::Bad(c.errors)),
    }
}

/// The errors of a specification, in `ets:test_ms/2`'s words.
pub fn lint(spec: Term<'_>, dialect: Dialect) -> Vec<String> {
    match compile(spec, dialect) {
        Err(MatchSpecError::Bad(e)) => e,
        _ => Vec::new(),
    }
}

/// A term in an error message.
fn name(t: Term<'_>) -> String {
    String::from_utf8_lossy(&print::display(t)).into_owned()
}

impl<'h> Compiler<'h> {
    fn bad<R>(&mut self, what: impl Into<String>) -> Option<R> {
        self.errors.push(what.into());
        None
    }
    fn depth(&mut self, d: usize) -> Option<usize> {
        if d > MAX_DEPTH {
            self.too_deep = true;
            return None;
        }
        Some(d + 1)
    }

    fn program(&mut self, spec: Term<'h>) -> Option<Vec<Clause>> {
        if spec.as_cons().is_none() {
            return self.bad("Match programs are not in a list.");
        }
        let Some(items) = spec.list_to_vec() else {
            return self.bad("Match programs are not in a proper list.");
        };
        let mut parts = Vec::new();
        for t in items {
            match t.as_tuple_n::<3>() {
                Some(p) => parts.push(p),
                None => return self.bad("Match program part is not a tuple of arity 3."),
            }
        }
        let clauses: Vec<_> = parts.into_iter().map(|p| self.clause(p)).collect();
        clauses.into_iter().collect()
    }

    fn clause(&mut self, [head, guards, body]: [Term<'h>; 3]) -> Option<Clause> {
        self.vars.clear();
        let head = self.head(head)?;
        self.in_guard = true;
        let guards = self.exprs(guards);
        self.in_guard = false;
        if self.dialect == Dialect::Table && body.as_cons().is_none() {
            return self.bad("Body clause does not return anything.");
        }
        let body = self.exprs(body);
        Some(Clause { head, guards: guards?, body: body?, vars: std::mem::take(&mut self.vars) })
    }
    fn head(&mut self, head: Term<'h>) -> Option<Pat> {
        let of_table = self.dialect == Dialect::Table;
        let head = match (of_table, head.list_to_vec()) {
            (false, Some(args)) => self.heap.tuple(&args),
            (false, None) if head.is_list() => {
                return self
                    .bad(format!("Match expression part {} is not a proper list.", name(head)))
            }
            (false, None) if wild(head).is_none() && head.as_tuple().is_none() => {
                return self.bad("Match head is invalid in this context.")
            }
            _ => head,
        };
        self.collect_vars(head);
        let mut bound = vec![false; self.vars.len()];
        self.pat(head, &mut bound, 0)
    }
    /// Collects variables; slots are ordered by the variables' numbers.
    fn collect_vars(&mut self, head: Term<'h>) {
        let mut todo = vec![head];
        while let Some(mut t) = todo.pop() {
            while let Some(c) = t.as_cons() {
                todo.push(c.head());
                t = c.tail();
            }
            match t.view() {
                View::Atom(_) => self.vars.extend(order::variable(t)),
                View::Tuple(u) => todo.extend_from_slice(u.elements()),
                View::Map(m) => todo.extend(order::map_pairs(m).into_iter().map(|(_, v)| v)),
                _ => {}
            }
        }
        self.vars.sort_unstable();
        self.vars.dedup();
    }
    fn pat(&mut self, t: Term<'h>, bound: &mut [bool], d: usize) -> Option<Pat> {
        self.part(t, bound, d).map(|p| constant_or(p, t))
    }
    /// Compiles a pattern; `Some(None)` for a constant, which is copied only as a part of the
    /// largest constant around it.
    fn part(&mut self, t: Term<'h>, bound: &mut [bool], d: usize) -> Option<Option<Pat>> {
        if d > MAX_DEPTH && is_plain(t) {
            return Some(None);
        }
        let d = self.depth(d)?;
        match wild(t) {
            Some(Wild::Any) => return Some(Some(Pat::Any)),
            Some(Wild::Var(n)) => {
                let slot = self.vars.binary_search(&n).ok()?;
                let first = !std::mem::replace(bound.get_mut(slot)?, true);
                return Some(Some(if first { Pat::Bind(slot) } else { Pat::Same(slot) }));
            }
            None => {}
        }
        Some(match t.view() {
            View::Tuple(u) => self.parts(u.elements(), bound, d)?.map(Pat::Tuple),
            View::Cons(_) => {
                let mut items = t.list();
                let all: Vec<_> = items.by_ref().collect();
                let (ps, tail) = (self.parts(&all, bound, d)?, self.part(items.rest, bound, d)?);
                if ps.is_none() && tail.is_none() {
                    return Some(None);
                }
                let constants = || all.iter().map(|t| constant_or(None, *t)).collect();
                let tail = constant_or(tail, items.rest);
                Some(Pat::List(ps.unwrap_or_else(constants), Box::new(tail)))
            }
            View::Map(m) => {
                let mut ps = Vec::new();
                for (k, v) in order::map_pairs(m) {
                    match wild(k) {
                        Some(Wild::Var(_)) => return self.bad("Variable found in map key."),
                        Some(Wild::Any) => return self.bad("Underscore found in map key."),
                        None => ps.push((OwnedTerm::new(k), self.pat(v, bound, d)?)),
                    }
                }
                Some(Pat::Map(ps))
            }
            _ => None,
        })
    }
    /// Compiles patterns; `Some(None)` if all are constants.
    fn parts(&mut self, ts: &[Term<'h>], bound: &mut [bool], d: usize) -> Option<Option<Vec<Pat>>> {
        let ps: Option<Vec<_>> = ts.iter().map(|t| self.part(*t, bound, d)).collect();
        let ps = ps?;
        if ps.iter().all(Option::is_none) {
            return Some(None);
        }
        Some(Some(ps.into_iter().zip(ts).map(|(p, t)| constant_or(p, *t)).collect()))
    }

    fn exprs(&mut self, list: Term<'h>) -> Option<Vec<Expr>> {
        if !list.is_list() {
            return self.bad("Match expression is not a list.");
        }
        let mut it = list.list();
        let es: Vec<_> = it.by_ref().map(|e| self.expr(e, 0)).collect();
        if !it.rest.is_nil() {
            return self.bad("Match expression is not a proper list.");
        }
        es.into_iter().collect()
    }
    /// Compiles all expressions, even after an error, so that every error is reported.
    fn each(&mut self, ts: &[Term<'h>], d: usize) -> Option<Vec<Expr>> {
        let es: Vec<_> = ts.iter().map(|t| self.expr(*t, d)).collect();
        es.into_iter().collect()
    }
    /// Like `each`, last to first, as OTP visits the arguments of calls and elements of tuples:
    /// errors are reported in that order.
    fn each_back(&mut self, ts: &[Term<'h>], d: usize) -> Option<Vec<Expr>> {
        let mut es: Vec<_> = ts.iter().rev().map(|t| self.expr(*t, d)).collect();
        es.reverse();
        es.into_iter().collect()
    }
    fn expr(&mut self, t: Term<'h>, d: usize) -> Option<Expr> {
        let d = self.depth(d)?;
        match t.view() {
            View::Cons(_) => {
                let mut it = t.list();
                let items: Vec<_> = it.by_ref().collect();
                let (items, tail) = (self.each(&items, d), self.expr(it.rest, d));
                Some(self.fold_list(items?, tail?))
            }
            View::Map(m) => {
                let (ks, vs): (Vec<_>, Vec<_>) = order::map_pairs(m).into_iter().unzip();
                let (vs, ks) = (self.each_back(&vs, d), self.each_back(&ks, d));
                Some(fold_map(ks?.into_iter().zip(vs?).collect()))
            }
            View::Tuple(u) => self.call(t, u.elements(), d),
            View::Atom(a) => self.atom(t, a),
            _ => Some(Expr::Const(OwnedTerm::new(t))),
        }
    }
    fn atom(&mut self, t: Term<'h>, a: Atom) -> Option<Expr> {
        if let Some(n) = order::variable(t) {
            return match self.vars.binary_search(&n) {
                Ok(slot) => Some(Expr::Var(slot)),
                Err(_) => self.bad(format!("Variable ${n} is unbound.")),
            };
        }
        Some(match a {
            am::dollar_underscore => Expr::Whole,
            am::dollar_dollar => Expr::Bindings,
            _ => Expr::Const(OwnedTerm::new(t)),
        })
    }
    fn fold_list(&self, items: Vec<Expr>, tail: Expr) -> Expr {
        let consts: Option<Vec<_>> = items.iter().map(as_const).collect();
        match (consts, as_const(&tail)) {
            (Some(items), Some(tail)) => {
                let heap = Heap::detached();
                let items: Vec<_> = items.iter().map(|t| heap.copy(*t)).collect();
                let tail = heap.copy(tail);
                Expr::Const(OwnedTerm::new(heap.list_with_tail(&items, tail)))
            }
            _ => Expr::List(items, Box::new(tail)),
        }
    }

    fn call(&mut self, t: Term<'h>, elements: &[Term<'h>], d: usize) -> Option<Expr> {
        if let [one] = elements {
            if let Some(u) = one.as_tuple() {
                let es = self.each_back(u.elements(), d)?;
                if es.iter().all(|e| matches!(e, Expr::Const(_))) {
                    let heap = Heap::detached();
                    let es: Vec<_> = es.iter().filter_map(as_const).map(|t| heap.copy(t)).collect();
                    return Some(Expr::Const(OwnedTerm::new(heap.tuple(&es))));
                }
                return Some(Expr::Tuple(es));
            }
        }
        let f = elements.first().copied();
        match f.filter(|f| order::variable(*f).is_none()).and_then(Term::as_atom) {
            Some(f) => self.function(f, &elements[1..], d),
            None => self.bad(format!(
                "{} is neither a function call, nor a tuple (tuples are written {{{{ ... }}}}).",
                name(t)
            )),
        }
    }
    fn function(&mut self, f: Atom, args: &[Term<'h>], d: usize) -> Option<Expr> {
        let n = args.len();
        let junction: Option<fn(Vec<Expr>) -> Expr> = match f {
            am::and => Some(Expr::And),
            am::or => Some(Expr::Or),
            am::andalso | am::andthen => Some(Expr::AndAlso),
            am::orelse => Some(Expr::OrElse),
            _ => None,
        };
        if let Some(make) = junction {
            if n == 0 {
                let form = if f == am::andthen { am::andalso } else { f };
                return self.bad(format!(
                    "Special form '{}' called without arguments in {}.",
                    form.name(),
                    call_text(f, args)
                ));
            }
            let in_turn = matches!(f, am::andalso | am::andthen | am::orelse);
            let args = if in_turn { self.each(args, d) } else { self.each_back(args, d) };
            return args.map(make);
        }
        match (f, args) {
            (am::const_, [t]) => return Some(Expr::Const(OwnedTerm::new(*t))),
            (am::const_, _) => {
                let call = call_text(f, args);
                return self.bad(format!(
                    "Special form 'const' called with more than one argument in {call}."
                ));
            }
            (am::self_, []) => return Some(Expr::Myself),
            (am::self_, _) => {
                let call = call_text(f, args);
                return self.bad(format!("Special form 'self' called with arguments in {call}."));
            }
            _ => {}
        }
        let known = f != am::current_stacktrace || current().has_stacktrace_actions();
        if let Some((_, action, arities, guard)) = ACTIONS.iter().find(|a| a.0 == f && known) {
            return self.action(f, *action, arities, *guard, args, d);
        }
        if let Some(f) = native(f.name(), n) {
            return self.each_back(args, d).map(|a| Expr::Native(f, a));
        }
        self.bad(format!("Function {}/{n} does_not_exist.", f.name()))
    }
    fn action(
        &mut self,
        atom: Atom,
        action: TraceAction,
        arities: &[usize],
        in_guard: bool,
        args: &[Term<'h>],
        d: usize,
    ) -> Option<Expr> {
        let (n, f) = (args.len(), atom.name());
        if matches!(action, TraceAction::GetTcw | TraceAction::SetTcw) && !arities.contains(&n) {
            return self.bad(format!("Function {f}/{n} does_not_exist."));
        }
        use TraceAction::*;
        let fits = match self.dialect {
            Dialect::Table => false,
            Dialect::Trace => true,
            Dialect::Sent => !matches!(action, Caller | CallerLine | CurrentStacktrace),
            Dialect::Received => {
                matches!(action, Message | Display | GetTcw | SetTcw | ReturnTrace | ExceptionTrace)
            }
        };
        if !fits {
            return self.bad(match action {
                TraceAction::GetTcw | TraceAction::SetTcw => {
                    format!("Function {f}/{n} cannot be called in this context.")
                }
                _ => format!("Special form '{f}' used in wrong dialect."),
            });
        }
        if self.in_guard && !in_guard {
            return self.bad(format!("Special form '{f}' called in guard context."));
        }
        if !arities.contains(&n) {
            let what = if arities == [0] { "arguments" } else { "wrong number of arguments" };
            let call = call_text(atom, args);
            // As in OTP, this one text has no full stop.
            let stop = if action == CurrentStacktrace { "" } else { "." };
            return self.bad(format!("Special form '{f}' called with {what} in {call}{stop}"));
        }
        if action == CurrentStacktrace {
            return self.depth_of_trace(args).map(|a| Expr::Action(action, vec![a]));
        }
        self.each_back(args, d).map(|a| Expr::Action(action, a))
    }
    /// How many frames `current_stacktrace` shows: a number, not an expression.
    fn depth_of_trace(&mut self, args: &[Term<'h>]) -> Option<Expr> {
        let most = BACKTRACE_DEPTH.load(Relaxed);
        let depth = match args.first().map(|t| t.as_small()) {
            None => most,
            Some(Some(n)) if n >= 0 => most.min(n as usize),
            Some(n) => {
                let kind = if n.is_some() { "negative integer" } else { "non small" };
                let name = am::current_stacktrace.name();
                return self.bad(format!("Special form '{name}' called with {kind} argument."));
            }
        };
        Some(Expr::Const(OwnedTerm::immediate(Term::int(depth as i32))))
    }
}

/// A call in source form.
fn call_text(f: Atom, args: &[Term<'_>]) -> String {
    let mut parts = vec![name(f.into())];
    parts.extend(args.iter().map(|t| name(*t)));
    format!("{{{}}}", parts.join(","))
}

/// Whether the pattern matches exactly the equal term. (Maps also match terms with further keys.)
fn is_plain(t: Term<'_>) -> bool {
    let mut todo = vec![t];
    while let Some(mut t) = todo.pop() {
        while let Some(c) = t.as_cons() {
            todo.push(c.head());
            t = c.tail();
        }
        match t.view() {
            View::Tuple(u) => todo.extend_from_slice(u.elements()),
            View::Map(_) => return false,
            View::Atom(_) if wild(t).is_some() => return false,
            _ => {}
        }
    }
    true
}
fn constant_or(p: Option<Pat>, t: Term<'_>) -> Pat {
    p.unwrap_or_else(|| Pat::Const(OwnedTerm::new(t)))
}
fn fold_map(pairs: Vec<(Expr, Expr)>) -> Expr {
    let heap = Heap::detached();
    let copied = |e| as_const(e).map(|t| heap.copy(t));
    let consts: Option<Vec<_>> = pairs.iter().map(|(k, v)| copied(k).zip(copied(v))).collect();
    match consts {
        Some(consts) => Expr::Const(OwnedTerm::new(order::make_map(&heap, &consts))),
        None => Expr::Map(pairs),
    }
}
fn as_const(e: &Expr) -> Option<Term<'_>> {
    match e {
        Expr::Const(t) => Some(t.term()),
        _ => None,
    }
}
