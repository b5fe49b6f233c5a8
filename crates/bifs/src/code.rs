//! Code loading: the BIFs that `code_server`, `init` and `erts_code_purger` call.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_code::{module, purging, CommitError, CoverageMode, DebuggerSwitches, LoadedModule};
use kvik_etf::DecodeOpts;
use kvik_heap::SuspendedState;
use kvik_jit::LoadError;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Export, Term};

use crate::funs::NIF_MODULES;
use crate::speculative_load::{self, Taken};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "prepare_loading", 2, prepare_loading),
    bif!("erts_internal", "beamfile_chunk", 2, beamfile_chunk),
    bif!("erts_internal", "beamfile_module_md5", 1, beamfile_module_md5),
    bif!("erts_internal", "purge_module", 2, purge_module),
    bif!("erlang", "has_prepared_code_on_load", 1, has_prepared_code_on_load),
    bif!("erlang", "finish_loading", 1, finish_loading),
    bif!("erlang", "call_on_load_function", 1, call_on_load_function),
    bif!("erlang", "finish_after_on_load", 2, finish_after_on_load),
    bif!("erlang", "load_nif", 2, load_nif),
    bif!("erlang", "module_loaded", 1, module_loaded),
    bif!("erlang", "loaded", 0, loaded),
    bif!("erlang", "pre_loaded", 0, pre_loaded),
    bif!("erlang", "delete_module", 1, delete_module),
    bif!("erlang", "check_old_code", 1, check_old_code),
    bif!("erlang", "function_exported", 3, function_exported),
    bif!("erlang", "get_module_info", 1, get_module_info),
    bif!("erlang", "get_module_info", 2, get_module_info_item),
];

/// Prepared code that is not yet committed, behind a magic reference.
type Prepared = Mutex<Option<LoadedModule>>;

kvik_state::vm_state! {
    /// The preloaded modules, in load order.
    static PRELOADED: Mutex<Vec<Atom>> = Mutex::new(Vec::new());
}

/// Installs a preloaded module.
pub fn preload(mut i: LoadedModule) -> Result<Atom, String> {
    let name = i.name;
    // OTP's preloaded modules have no line numbers, which shows in stack traces.
    i.lines = Default::default();
    kvik_code::commit(vec![i]).map_err(|e| format!("{e:?}"))?;
    // erl_init calls their `on_load` functions by name.
    module::enable(name);
    PRELOADED.lock().unwrap_or_else(|e| e.into_inner()).push(name);
    Ok(name)
}

fn pair<'h>(p: &'h Proc, tag: Atom, value: impl Into<Term<'h>>) -> Term<'h> {
    p.heap.tuple(&[tag.into(), value.into()])
}

/// The bytes of a binary; a bit string of partial bytes is not a code file.
fn whole_bytes(t: Term<'_>) -> Option<Cow<'_, [u8]>> {
    t.as_bits().filter(|b| b.is_binary()).map(|b| b.to_bytes())
}

/// State of a process that waits for a module which another thread prepares.
enum Ahead {}
impl SuspendedState for Ahead {
    type In<'h> = ();
}

fn prepare_loading<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.resumed::<Ahead>();
    let (Some(name), Some(bytes)) = (a[0].as_atom(), whole_bytes(a[1])) else {
        return Err(p.badarg());
    };
    let made = match speculative_load::take(name.name(), &bytes, p.pid()) {
        Taken::Made(i) if is_as_wanted(&i) => Ok(*i),
        Taken::Made(_) | Taken::Nothing => kvik_jit::prepare(&bytes),
        Taken::UnderWay => {
            p.suspend_for(p.pid());
            return Err(p.again::<Ahead>((), None));
        }
    };
    p.heap.bump_reductions(bytes.len() as i64 / 64);
    match made {
        Ok(i) if i.name == name => Ok(p.heap.magic_ref(Arc::new(Prepared::new(Some(i))))),
        Ok(i) => refused(
            p,
            name,
            am::badfile,
            &format!("module name in object code is {}", i.name.name()),
        ),
        // An exception would end code_server, and with it the node.
        Err(e @ LoadError::Full(_)) => refused(p, name, am::system_limit, &e.to_string()),
        Err(e) => refused(p, name, am::badfile, &e.to_string()),
    }
}
/// Whether code that was made before is as it would be made now.
fn is_as_wanted(i: &LoadedModule) -> bool {
    i.made_in_mode == CoverageMode::current() && i.debug.switches == DebuggerSwitches::current()
}
/// Tells the logger why a file was refused, as OTP does.
fn refused<'h>(p: &'h Proc, name: Atom, kind: Atom, why: &str) -> BifResult<'h> {
    let text = format!("Error loading module {}:\n  {why}\n", name.name());
    kvik_proc::exit::log_error(p, "~ts~n", |h| h.list(&[h.string(&text)]));
    Ok(pair(p, am::error, kind))
}

/// Runs `f` on the prepared code behind a reference.
fn with_prepared<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&mut Option<LoadedModule>) -> R,
) -> Option<R> {
    let r = p.heap.resource_of(t)?;
    let prepared = r.downcast_ref::<Prepared>()?;
    let mut guard = prepared.lock().unwrap_or_else(|e| e.into_inner());
    Some(f(&mut guard))
}

fn has_prepared_code_on_load<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match with_prepared(p, a[0], |i| i.as_ref().map(|i| i.on_load.is_some())).flatten() {
        Some(b) => Ok(Term::bool(b)),
        None => Err(p.badarg()),
    }
}

/// Commits all modules or none: returns `ok`, or the modules that prevent it.
fn finish_loading<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(answer) = p.resumed::<Replaced>() {
        return Ok(answer);
    }
    let Some(list) = a[0].list_to_vec() else { return Err(p.badarg()) };
    let prepared = |t: &Term<'h>| {
        with_prepared(p, *t, |i| i.as_ref().map(|i| (i.name, i.on_load.is_some()))).flatten()
    };
    let all: Option<Vec<(Atom, bool)>> = list.iter().map(prepared).collect();
    let all = all.ok_or_else(|| p.badarg())?;
    if list.len() > 1 && all.iter().any(|(_, on_load)| *on_load) {
        return Err(p.system_limit());
    }
    let (mut names, mut duplicated): (Vec<Atom>, Vec<Term>) = Default::default();
    for (name, _) in all {
        match names.contains(&name) {
            true => duplicated.push(name.into()),
            false => names.push(name),
        }
    }
    if !duplicated.is_empty() {
        // OTP lists the last one found first.
        duplicated.reverse();
        return Ok(pair(p, am::duplicated, p.heap.list(&duplicated)));
    }
    let in_the_way: Vec<Term> = names
        .iter()
        .filter(|n| module::old(**n).is_some() && module::current(**n).is_some())
        .map(|n| (*n).into())
        .collect();
    if !in_the_way.is_empty() {
        return Ok(pair(p, am::not_purged, p.heap.list(&in_the_way)));
    }
    let taken: Vec<LoadedModule> =
        list.iter().filter_map(|t| with_prepared(p, *t, Option::take).flatten()).collect();
    let waiting: Vec<Term> =
        taken.iter().filter(|i| i.on_load.is_some()).map(|i| i.name.into()).collect();
    let replaces = names.iter().any(|n| module::current(*n).is_some());
    if let Err(CommitError::NotPurged(m)) = kvik_code::commit(taken) {
        return Ok(pair(p, am::not_purged, p.heap.list(&[m.into()])));
    }
    names.iter().for_each(|n| crate::trace::changed(*n, waiting.is_empty()));
    let answer = match waiting.is_empty() {
        true => am::ok.into(),
        false => pair(p, am::on_load, p.heap.list(&waiting)),
    };
    loaded_code(p, replaces, answer)
}

/// Answers that code is loaded. Where it replaces other code, time slices under way come first: a
/// process whose slice ended at the entry of a function is in the old code until its next one, and
/// a purge that comes at once would end it. OTP waits with every load.
fn loaded_code<'h>(p: &'h Proc, replaces: bool, answer: Term<'h>) -> BifResult<'h> {
    match replaces {
        true => Err(crate::process::after_slices::<Replaced>(p, answer)),
        false => Ok(answer),
    }
}

enum Replaced {}
impl SuspendedState for Replaced {
    type In<'h> = Term<'h>;
}

/// Jumps to the module's `on_load` function, which is not exported.
fn call_on_load_function<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    let Some(at) = module::current(name).and_then(|i| i.on_load) else { return Err(p.badarg()) };
    let e = kvik_code::export(name, am::dollar_on_load, 0);
    e.code.set(at);
    Err(p.trap_in_next_turn(e, &[]))
}

fn finish_after_on_load<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(answer) = p.resumed::<Replaced>() {
        return Ok(answer);
    }
    let (Some(name), Some(keep)) = (a[0].as_atom(), a[1].as_bool()) else {
        return Err(p.badarg());
    };
    if module::current(name).is_none_or(|i| !i.waits()) {
        return Err(p.badarg());
    }
    if keep {
        module::enable(name);
        crate::trace::changed(name, true);
        return loaded_code(p, module::old(name).is_some(), am::true_.into());
    }
    // The purger asks for `prepare_on_load` next.
    module::fail(name);
    Ok(am::true_.into())
}

/// Loads a native library for the calling module: implements `load_nif/2`.
pub type NifLoader = for<'h> fn(&'h Proc, path: &[u8], info: Term<'h>) -> BifResult<'h>;
kvik_state::vm_state! {
    static NIF_LOADER: OnceLock<NifLoader> = OnceLock::new();
}

pub fn set_nif_loader(f: NifLoader) -> bool {
    NIF_LOADER.set(f).is_ok()
}

/// Callback with the load argument of a module whose natives are part of the VM.
type StaticLoad = (&'static str, fn(Term<'_>));
kvik_state::vm_state! {
    static STATIC_LOADS: Mutex<Vec<StaticLoad>> = Mutex::new(Vec::new());
}

fn static_loads() -> MutexGuard<'static, Vec<StaticLoad>> {
    STATIC_LOADS.lock().unwrap_or_else(|e| e.into_inner())
}
pub fn on_static_load(module: &'static str, f: fn(Term<'_>)) {
    static_loads().push((module, f));
}

kvik_state::vm_state! {
    /// The modules that have loaded native libraries.
    static TAINTS: Mutex<Vec<Atom>> = Mutex::new(Vec::new());
}

pub fn taint(m: Atom) {
    let mut all = TAINTS.lock().unwrap_or_else(|e| e.into_inner());
    if !all.contains(&m) {
        all.push(m);
    }
}
pub fn taints() -> Vec<Atom> {
    TAINTS.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

kvik_state::vm_state! {
    /// The process that holds OTP's code write permission (only its test suites take it), plus one;
    /// 0: none. Other processes that load libraries wait meanwhile.
    static WRITER: AtomicU32 = AtomicU32::new(0);
}

enum OtherWrites {}
impl SuspendedState for OtherWrites {
    type In<'h> = ();
}
/// Takes or releases the code write permission. False: another process holds it.
pub(crate) fn take_write_permission(p: &Proc, take: bool) -> bool {
    let me = p.pid() + 1;
    let (from, to) = if take { (0, me) } else { (me, 0) };
    WRITER.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

fn load_nif<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let path = crate::filename::native(a[0]).filter(|_| a[0].as_atom().is_none());
    let Some(path) = path else { return Err(p.badarg()) };
    p.resumed::<OtherWrites>();
    if ![0, p.pid() + 1].contains(&WRITER.load(Ordering::Relaxed)) {
        p.give_up_turn();
        return Err(p.again::<OtherWrites>((), None));
    }
    if kvik_release::current().has_static_nifs(&path) {
        let hears = static_loads().iter().find(|(name, _)| name.as_bytes() == &*path).copied();
        if let Some((_, f)) = hears {
            f(a[1]);
        }
        return Ok(am::ok.into());
    }
    NIF_LOADER.get().map_or_else(|| Err(p.notsup()), |load| load(p, &path, a[1]))
}

/// A module whose `on_load` function runs is not loaded yet: a caller goes through the code server,
/// which makes the caller wait.
fn module_loaded<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_atom() {
        Some(m) => Ok(Term::bool(module::current(m).is_some_and(|i| i.is_there()))),
        None => Err(p.badarg()),
    }
}

fn loaded<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let names: Vec<Term> = module::loaded().into_iter().map(Term::atom).collect();
    Ok(p.heap.list(&names))
}

fn pre_loaded<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let names = PRELOADED.lock().unwrap_or_else(|e| e.into_inner());
    let names: Vec<Term> = names.iter().map(|n| (*n).into()).collect();
    Ok(p.heap.list(&names))
}

fn delete_module<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(m) = a[0].as_atom() else { return Err(p.badarg()) };
    if p.resumed::<Paused>().is_none() && module::current(m).is_some() {
        return Err(crate::process::after_slices::<Paused>(p, ()));
    }
    match module::delete(m) {
        None => Ok(am::undefined.into()),
        Some(true) => {
            crate::trace::changed(m, false);
            Ok(am::true_.into())
        }
        Some(false) => {
            let text = format!("Module {} must be purged before deleting", m.name());
            kvik_proc::exit::log_error(p, "~ts~n", |h| h.list(&[h.string(&text)]));
            Err(p.badarg())
        }
    }
}

/// A deletion waits for the time slices in which processes may just have become runnable in the
/// module: they may depend on this process, and get to run first.
enum Paused {}
impl SuspendedState for Paused {
    type In<'h> = ();
}

fn check_old_code<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_atom() {
        Some(m) => Ok(Term::bool(module::old(m).is_some())),
        None => Err(p.badarg()),
    }
}

/// The steps by which `erts_code_purger` removes old code.
fn purge_module<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(m), Some(step)) = (a[0].as_atom(), a[1].as_atom()) else { return Err(p.badarg()) };
    let done = match step {
        am::prepare_on_load if !module::stage_failed(m) => false,
        am::prepare | am::prepare_on_load => purging::begin(m, p.pid(), kvik_jit::no_fun()),
        am::abort => {
            end_purge(m, true);
            false
        }
        am::complete => {
            let old = module::purge(m, kvik_jit::no_fun());
            end_purge(m, false);
            let there = old.is_some();
            old.into_iter().for_each(|i| {
                i.drop_library();
                crate::literals::retire_module(i)
            });
            there
        }
        _ => return Err(p.badarg()),
    };
    Ok(done.into())
}
/// Resumes processes that called funs of the old code during the purge.
fn end_purge(m: Atom, stays: bool) {
    let Some((by, waiting)) = purging::end(m, stays) else { return };
    waiting.into_iter().for_each(|pid| kvik_proc::signal_handlers::resume(pid, by));
}

fn function_exported<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(m), Some(f), Some(n)) = (a[0].as_atom(), a[1].as_atom(), a[2].as_small()) else {
        return Err(p.badarg());
    };
    let n = u32::try_from(n).ok();
    Ok(Term::bool(n.is_some_and(|n| kvik_code::find_export(m, f, n).is_some())))
}

fn get_module_info<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(i) = a[0].as_atom().and_then(module::current) else { return Err(p.badarg()) };
    let keys = [am::module, am::exports, am::attributes, am::compile, am::md5];
    let items: Vec<Term> =
        keys.iter().filter_map(|k| Some(pair(p, *k, info(p, &i, *k)?))).collect();
    Ok(p.heap.list(&items))
}

fn get_module_info_item<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let i = a[0].as_atom().and_then(module::current);
    let item = i.zip(a[1].as_atom()).and_then(|(i, k)| info(p, &i, k));
    item.ok_or_else(|| p.badarg())
}

/// The exports of a module, including natives without code in its file, such as `erlang:'=='/2`.
/// Local functions that a native replaced stay local. The newest export comes first, as in OTP: for
/// a module that was not referenced before it was loaded, that is source order, in which EUnit runs
/// tests.
fn exported(i: &LoadedModule) -> Vec<&'static Export> {
    let mut local: HashSet<_> = i.functions.iter().map(|f| (f.function, f.arity)).collect();
    for e in i.exports.iter().map(|(e, _)| e).chain(&i.natives) {
        local.remove(&(e.function, e.arity));
    }
    // The code that runs once at load time has its own export.
    let once = |e: &Export| i.on_load.is_some() && e.function == am::dollar_on_load;
    let ours = |e: &&'static Export| {
        e.module == i.name
            && kvik_code::is_defined(e)
            && !local.contains(&(e.function, e.arity))
            && !once(e)
    };
    let mut all: Vec<_> = kvik_code::exports().into_iter().filter(ours).collect();
    all.sort_unstable_by_key(|e| std::cmp::Reverse(e.index.get()));
    all
}

/// Functions of the module that are NIFs in OTP and BIFs here.
fn built_in_nifs(i: &LoadedModule) -> impl Iterator<Item = (Atom, u32)> + '_ {
    let name = i.name.name();
    let ours = crate::bound().filter(move |b| b.module == name && NIF_MODULES.contains(&name));
    let names: HashSet<(&str, u32)> = ours.map(|b| (b.name, b.arity as u32)).collect();
    let all = i.functions.iter().map(|f| (f.function, f.arity));
    all.filter(move |(f, n)| names.contains(&(f.name(), *n)))
}

fn info<'h>(p: &'h Proc, i: &LoadedModule, key: Atom) -> Option<Term<'h>> {
    let h = &p.heap;
    let fa = |f: Atom, n: u32| h.tuple(&[f.into(), Term::int(n as i32)]);
    let external = |bytes: &[u8]| {
        kvik_etf::decode(bytes, h, DecodeOpts::default()).map_or(Term::NIL, |(t, _)| t)
    };
    Some(match key {
        am::module => i.name.into(),
        am::exports => {
            let all = exported(i);
            h.list(&all.iter().map(|e| fa(e.function, e.arity)).collect::<Vec<_>>())
        }
        am::functions => {
            let all: Vec<Term> = i.functions.iter().map(|f| fa(f.function, f.arity)).collect();
            h.list(&all)
        }
        am::attributes => external(&i.attributes),
        am::compile => external(&i.compile),
        am::md5 => h.binary(&i.md5),
        am::native => am::false_.into(),
        am::nifs | am::native_addresses => {
            let taken = i.nifs.iter().filter(|n| n.entry.load(Ordering::Acquire) != 0);
            let mut all: Vec<Term> = taken.map(|n| fa(n.function, n.arity)).collect();
            if key == am::nifs {
                all.extend(built_in_nifs(i).map(|(f, n)| fa(f, n)));
            }
            h.list(&all)
        }
        _ => return None,
    })
}

fn beamfile_chunk<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let id: Option<Vec<u8>> = a[1]
        .list_to_vec()
        .and_then(|v| v.iter().map(|t| t.as_small().and_then(|c| u8::try_from(c).ok())).collect());
    let (Some(bytes), Some(Ok(id))) = (whole_bytes(a[0]), id.map(<[u8; 4]>::try_from)) else {
        return Err(p.badarg());
    };
    let chunk =
        kvik_beam::Container::parse(&bytes).ok().and_then(|c| c.chunk(&id).map(<[u8]>::to_vec));
    Ok(chunk.map_or(am::undefined.into(), |c| p.heap.binary(&c)))
}

fn beamfile_module_md5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(bytes) = whole_bytes(a[0]) else { return Err(p.badarg()) };
    let md5 = kvik_beam::Container::parse(&bytes)
        .ok()
        .and_then(|c| kvik_beam::Module::parse(&c).ok().map(|m| m.md5));
    Ok(md5.map_or(am::undefined.into(), |m| p.heap.binary(&m)))
}
