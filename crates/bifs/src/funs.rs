//! Funs: their properties, and `make_fun/3`.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use kvik_code::LoadedModule;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Fun, FunEntry, Term};

use crate::reference_scan::{self, Wanted};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "fun_info", 2, fun_info_2),
    bif!("erlang", "fun_info_mfa", 1, fun_info_mfa_1),
    bif!("erlang", "make_fun", 3, make_fun_3),
    bif!("erlang", "is_builtin", 3, is_builtin_3),
];

fn fun_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [f, what] = *a else { return Err(p.badarg()) };
    let (Some(f), Some(item)) = (f.as_fun(), what.as_atom()) else {
        return Err(p.badarg());
    };
    let value = match f.export() {
        Some(e) => match item {
            am::type_ => am::external.into(),
            am::module => e.module.into(),
            am::name => e.function.into(),
            am::arity => p.heap.integer(e.arity as i64),
            am::env => Term::NIL,
            am::pid | am::refc | am::index | am::new_index | am::new_uniq | am::uniq => {
                am::undefined.into()
            }
            _ => return Err(p.badarg()),
        },
        None if item == am::refc && kvik_release::current().counts_funs() => {
            return Err(count(p, f))
        }
        None => local(p, f, item).ok_or_else(|| p.badarg())?,
    };
    Ok(p.heap.tuple(&[what, value]))
}

fn local<'h>(p: &'h Proc, f: Fun<'h>, item: kvik_term::Atom) -> Option<Term<'h>> {
    let e = f.entry()?;
    let int = |n: u32| p.heap.integer(n as i64);
    Some(match item {
        am::type_ => am::local.into(),
        am::module => e.module.into(),
        am::name => name_of(e),
        am::arity => p.heap.integer(f.arity() as i64),
        am::env => p.heap.list(f.env()),
        am::pid => f.creator()?,
        am::index => int(e.old_index),
        am::new_index => int(e.index),
        am::refc => int(in_code(e) as u32),
        am::new_uniq => p.heap.binary(&e.uniq),
        am::uniq => int(e.old_uniq),
        _ => return None,
    })
}

/// The name of a fun; `[]` if its code is not loaded or about to be purged.
fn name_of(e: &FunEntry) -> Term<'static> {
    match e.code.get() == kvik_jit::no_fun() {
        true => Term::NIL,
        false => e.function.into(),
    }
}

/// How many versions of its module contain a fun.
fn in_code(e: &FunEntry) -> usize {
    let versions = [kvik_code::current(e.module), kvik_code::old(e.module)];
    let has = |i: &Arc<LoadedModule>| i.funs.iter().any(|(own, _)| std::ptr::eq(*own, e));
    versions.iter().flatten().filter(|i| has(i)).count()
}

/// `{refc, N}`: the funs of this entry plus the module versions that contain it.
fn count(p: &Proc, f: Fun<'_>) -> Raised {
    let Some(e) = f.entry() else { return p.badarg() };
    let in_code = in_code(e);
    reference_scan::ask_all(p, Wanted::Fun(e), move |h, found| {
        let n = in_code + found.values().sum::<usize>();
        h.tuple(&[am::refc.into(), h.integer(n as i64)])
    })
}

fn fun_info_mfa_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let f = a.first().and_then(|t| t.as_fun()).ok_or_else(|| p.badarg())?;
    let (m, name) = match (f.export(), f.entry()) {
        (Some(e), _) => (e.module, Term::from(e.function)),
        (_, Some(e)) => (e.module, name_of(e)),
        _ => return Err(p.badarg()),
    };
    Ok(p.heap.tuple(&[m.into(), name, p.heap.integer(f.arity() as i64)]))
}

/// Maximum arity of a function.
const MAX_ARITY: i64 = 255;

fn make_fun_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [m, f, n] = *a else { return Err(p.badarg()) };
    match (m.as_atom(), f.as_atom(), n.as_small()) {
        (Some(m), Some(f), Some(n @ 0..=MAX_ARITY)) => {
            Ok(p.heap.export_fun(kvik_code::staged_export(m, f, n as u32)))
        }
        _ => Err(p.badarg()),
    }
}

/// Modules whose natives are static NIFs in OTP, not BIFs.
pub const NIF_MODULES: [&str; 8] = [
    "erl_tracer",
    "prim_buffer",
    "prim_file",
    "prim_net",
    "prim_socket",
    "prim_tty",
    "socket",
    "zlib",
];

/// Natives here that are Erlang code in OTP, and natives of OTP that have no table entry here.
const ERLANG_IN_OTP: &[(&str, &str, u8)] = &[
    ("erlang", "alias", 0),
    ("erlang", "memory", 0),
    ("erlang", "memory", 1),
    ("io_lib", "collect_line_bin", 4),
];
/// Erlang code until OTP 26, where they may stand in guards.
const BUILTIN_AS_GUARDS: &[(&str, &str, u8)] = &[("erlang", "max", 2), ("erlang", "min", 2)];
const ALSO_BUILTIN: &[(&str, &str, u8)] = &[
    ("erlang", "apply", 2),
    ("erlang", "apply", 3),
    ("prim_file", "internal_name2native", 1),
    ("prim_file", "internal_native2name", 1),
    ("prim_file", "internal_normalize_utf8", 1),
    ("prim_file", "is_translatable", 1),
];

fn is_builtin_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    kvik_state::vm_state! {
        static ALL: OnceLock<HashSet<(&'static str, &'static str, u8)>> = OnceLock::new();
    }
    let all = ALL.get_or_init(|| {
        let guards = kvik_release::current().number >= 26;
        crate::bound()
            .filter(|b| !NIF_MODULES.contains(&b.module))
            .map(|b| (b.module, b.name, b.arity))
            .filter(|b| !ERLANG_IN_OTP.contains(b))
            .filter(|b| guards || !BUILTIN_AS_GUARDS.contains(b))
            .chain(ALSO_BUILTIN.iter().copied())
            .collect()
    });
    let [m, f, n] = *a else { return Err(p.badarg()) };
    match (m.as_atom(), f.as_atom(), n.as_small()) {
        (Some(m), Some(f), Some(n)) => {
            Ok(Term::bool(u8::try_from(n).is_ok_and(|n| all.contains(&(m.name(), f.name(), n)))))
        }
        _ => Err(p.badarg()),
    }
}
