//! Module `code`, code coverage by the VM (since OTP 27); see `kvik_code::coverage`.

use std::collections::HashSet;
use std::sync::Arc;

use kvik_code::{module, Coverage, CoverageMode, LoadedModule};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::word::SMALL_MAX;
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("code", "coverage_support", 0, coverage_support_0, since 27),
    bif!("code", "get_coverage_mode", 0, get_coverage_mode_0, since 27),
    bif!("code", "get_coverage_mode", 1, get_coverage_mode_1, since 27),
    bif!("code", "set_coverage_mode", 1, set_coverage_mode_1, since 27),
    bif!("code", "get_coverage", 2, get_coverage_2, since 27),
    bif!("code", "reset_coverage", 1, reset_coverage_1, since 27),
];

fn atom<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    Atom::intern(name).map(Term::from).map_err(|_| p.system_limit())
}

fn coverage_support_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(true.into())
}
fn get_coverage_mode_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    atom(p, CoverageMode::current().name())
}
fn set_coverage_mode_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mode = a[0].as_atom().and_then(|m| CoverageMode::of_name(m.name()));
    atom(p, mode.ok_or_else(|| p.badarg())?.set().name())
}

fn loaded<'h>(p: &'h Proc, t: Term<'h>) -> Result<Arc<LoadedModule>, kvik_proc::Raised> {
    t.as_atom().and_then(module::current).ok_or_else(|| p.badarg())
}
fn get_coverage_mode_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mode = loaded(p, a[0])?.coverage.as_ref().map_or(CoverageMode::None, |c| c.mode);
    atom(p, mode.name())
}
fn reset_coverage_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    loaded(p, a[0])?.coverage.as_ref().ok_or_else(|| p.badarg())?.reset();
    Ok(am::ok.into())
}

fn get_coverage_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (what, i) = (a[0].as_atom().map(|w| w.name()), loaded(p, a[1])?);
    let coverage = i.coverage.as_ref().ok_or_else(|| p.badarg())?;
    match what {
        Some("function") => Ok(functions(p, &i, coverage)),
        Some("line") if coverage.mode.is_by_line() => Ok(lines(p, coverage, |c| c.line)),
        Some("cover_id_line") if coverage.mode == CoverageMode::LineCounters => {
            Ok(lines(p, coverage, |c| c.cover_id))
        }
        _ => Err(p.badarg()),
    }
}

fn small<'h>(p: &'h Proc, n: u64) -> Term<'h> {
    p.heap.unsigned(n.min(SMALL_MAX as u64))
}

/// `{{Name, Arity}, Count or whether it ran}`, without `module_info/0,1`, in which no line is
/// executable.
fn functions<'h>(p: &'h Proc, i: &LoadedModule, c: &Coverage) -> Term<'h> {
    let ran = |(at, point): (usize, &kvik_code::CoveragePoint)| {
        Some(point.function).filter(|_| c.count(at) > 0)
    };
    let by_line: HashSet<usize> = c.points.iter().enumerate().filter_map(ran).collect();
    let mut all = Vec::with_capacity(i.functions.len());
    for (at, f) in i.functions.iter().enumerate() {
        if f.function == am::module_info && f.arity <= 1 {
            continue;
        }
        let covered = match c.mode {
            CoverageMode::FunctionCounters => small(p, c.count(at)),
            CoverageMode::Function => Term::bool(c.count(at) > 0),
            _ => Term::bool(by_line.contains(&at)),
        };
        let id = p.heap.tuple(&[f.function.into(), p.heap.integer(f.arity.into())]);
        all.push(p.heap.tuple(&[id, covered]));
    }
    p.heap.bump_reductions(all.len() as i64);
    p.heap.list(&all)
}

/// `{Number, Count or whether it ran}` for each executable line of a known location.
fn lines<'h>(p: &'h Proc, c: &Coverage, of: impl Fn(&kvik_code::CoveragePoint) -> u32) -> Term<'h> {
    let known = c.points.iter().enumerate().filter(|(_, point)| point.line > 0);
    let line = |(at, point): (usize, &kvik_code::CoveragePoint)| {
        let covered = match c.mode.counts() {
            true => small(p, c.count(at)),
            false => Term::bool(c.count(at) > 0),
        };
        p.heap.tuple(&[p.heap.integer(of(point).into()), covered])
    };
    let all: Vec<_> = known.map(line).collect();
    p.heap.bump_reductions(all.len() as i64);
    p.heap.list(&all)
}
