//! The functions of `erl_ddll`.

use std::sync::atomic::Ordering;
use std::sync::Weak;

use kvik_heap::{build::next_ref, OwnedTerm};
use kvik_proc::{signal, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::ddll::options::{load_options, name_of, unload_options, LoadOptions, PendingUsers};
use crate::ddll::table::{
    closed, end_ports, find, tell, Awaits, DriverEntry, DriverState, DriverTable, LibraryHolder,
    LoadWatcher, MessagePart, DRIVERS, FIRST_TEXT, TEXTS, USED,
};
use crate::driver::load::{self, FAULTS};
use crate::lock::lock;

fn is_built_in(name: &str) -> bool {
    kvik_port::drivers().any(|d| d == name)
}
fn error<'h>(p: &'h Proc, what: &str) -> BifResult<'h> {
    let what = Atom::intern(what).unwrap_or(am::error);
    Ok(p.heap.tuple(&[am::error.into(), what.into()]))
}
/// `{ok, What}`, or with the reference if the process requested a notification.
fn ok<'h>(p: &'h Proc, what: Atom, watch: Option<[u32; 3]>) -> BifResult<'h> {
    let mut parts = vec![am::ok.into(), what.into()];
    parts.extend(watch.map(|n| p.heap.ref_of_numbers(n)));
    Ok(p.heap.tuple(&parts))
}

/// `erl_ddll:try_load/3`
pub fn try_load<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let folder = kvik_bifs::filename::native(a[0]).filter(|_| a[0].as_atom().is_none());
    let parts = (folder, name_of(a[1]), load_options(a[2]));
    let (Some(mut path), Some(name), Some(o)) = parts else { return Err(p.badarg()) };
    while path.len() > 1 && path.last().is_some_and(|b| [b'/', b'\\'].contains(b)) {
        path.pop();
    }
    path.push(b'/');
    path.extend_from_slice(name.as_bytes());
    if is_built_in(&name) {
        return error(p, "linked_in_driver");
    }
    USED.store(true, Ordering::Release);
    let (lib, mut all, at) = find(&name);
    let Some(at) = at else {
        return if o.reload.is_some() {
            error(p, "not_loaded")
        } else {
            load(p, all, path, name, &o)
        };
    };
    let d = &mut all[at];
    let same = d.kill_ports == o.kill_ports;
    match (&d.state, o.reload) {
        (DriverState::Added, _) => error(p, "linked_in_driver"),
        (DriverState::Permanent, _) => error(p, "permanent"),
        (DriverState::Stays, Some(reload)) => start_reload(p, all, at, path, &o, reload),
        (DriverState::Stays | DriverState::Unloading { .. }, None) if d.path != path || !same => {
            error(p, "inconsistent")
        }
        (DriverState::Stays, None) => {
            d.users.insert(0, p.pid());
            ok(p, am::already_loaded, None)
        }
        (DriverState::Unloading { .. }, Some(_)) => error(p, "not_loaded_by_this_process"),
        (DriverState::Unloading { .. }, None) => {
            d.state = DriverState::Stays;
            d.holder = lib.map_or(LibraryHolder::Ports(Weak::new()), LibraryHolder::Table);
            d.notify(&[Awaits::Unload], am::UP, &am::unload_cancelled);
            d.users.insert(0, p.pid());
            ok(p, am::already_loaded, None)
        }
        (DriverState::Reloading { .. }, Some(_)) => error(p, "pending_reload"),
        (DriverState::Reloading { path: next, kill_ports, .. }, None) => {
            if *next != path || *kill_ports != o.kill_ports {
                return error(p, "inconsistent");
            }
            d.users.insert(0, p.pid());
            let watch = d.watch(p.pid(), Awaits::Load);
            ok(p, am::pending_driver, Some(watch))
        }
    }
}
/// Loads a driver that is not in the table. The table is unlocked meanwhile, as the library may use
/// it; other processes that ask for the driver wait.
fn load<'h>(
    p: &'h Proc,
    mut all: DriverTable,
    path: Vec<u8>,
    name: String,
    o: &LoadOptions,
) -> BifResult<'h> {
    all.push(DriverEntry::new(name.clone(), path.clone(), DriverState::Stays));
    drop(all);
    let loaded = load::load(&path, &name, closed);
    let mut all = lock(&DRIVERS);
    let Some(at) = all.iter().position(|d| d.name == name) else { return Err(p.badarg()) };
    match loaded {
        Ok(lib) => {
            let d = &mut all[at];
            d.opened(lib);
            (d.kill_ports, d.users) = (o.kill_ports, vec![p.pid()]);
            ok(p, am::loaded, None)
        }
        Err(why) => {
            all.remove(at);
            Ok(p.heap.tuple(&[am::error.into(), why.term(&p.heap)]))
        }
    }
}
fn start_reload<'h>(
    p: &'h Proc,
    mut all: DriverTable,
    at: usize,
    path: Vec<u8>,
    o: &LoadOptions,
    reload: PendingUsers,
) -> BifResult<'h> {
    let d = &mut all[at];
    if reload == PendingUsers::Driver && d.users != [p.pid()] {
        return error(p, "pending_process");
    }
    if d.kill_ports != o.kill_ports {
        return error(p, "inconsistent");
    }
    let Some(user) = d.users.iter().position(|u| *u == p.pid()) else {
        return error(p, "not_loaded_by_this_process");
    };
    let user = d.users.remove(user);
    d.users.insert(0, user);
    d.state = DriverState::Reloading { path, kill_ports: o.kill_ports, forced: false };
    let ports = if d.kill_ports { d.force() } else { Vec::new() };
    let watch = o.monitor.map(|_| d.watch(p.pid(), Awaits::Load));
    let lib = d.let_go();
    drop(all);
    end_ports(ports);
    drop(lib);
    let what =
        if reload == PendingUsers::Driver { am::pending_driver } else { am::pending_process };
    ok(p, what, watch)
}

/// `erl_ddll:try_unload/2`
pub fn try_unload<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let parts = (name_of(a[0]), unload_options(a[1]));
    let (Some(name), Some(o)) = parts else { return Err(p.badarg()) };
    let (_lib, mut all, at) = find(&name);
    let Some(at) = at else {
        return error(p, if is_built_in(&name) { "linked_in_driver" } else { "not_loaded" });
    };
    let d = &mut all[at];
    match d.state {
        DriverState::Added => return error(p, "linked_in_driver"),
        DriverState::Permanent => return error(p, "permanent"),
        _ => {}
    }
    match d.users.iter().position(|u| *u == p.pid()) {
        Some(user) => drop(d.users.remove(user)),
        None if d.users.is_empty() => {}
        None => return error(p, "not_loaded_by_this_process"),
    }
    if !d.users.is_empty() {
        let wanted = o.monitor == Some(PendingUsers::Any);
        let watch = wanted.then(|| d.watch(p.pid(), Awaits::Unload));
        return ok(p, am::pending_process, watch);
    }
    d.unload();
    let ports = if o.kill_ports || d.kill_ports { d.force() } else { Vec::new() };
    let watch = o.monitor.map(|_| d.watch(p.pid(), Awaits::Unload));
    let lib = d.let_go();
    drop(all);
    end_ports(ports);
    drop(lib);
    ok(p, am::pending_driver, watch)
}
/// `erl_ddll:loaded_drivers/0`: including built-in drivers.
pub fn loaded_drivers<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = lock(&DRIVERS);
    let there = all.iter().filter(|d| !d.is_in_between());
    let names = there.map(|d| p.heap.string(&d.name));
    let names: Vec<_> = names.chain(kvik_port::drivers().map(|d| p.heap.string(d))).collect();
    Ok(p.heap.tuple(&[am::ok.into(), p.heap.list(&names)]))
}

/// `erl_ddll:info/2`
pub fn info<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    const ITEMS: [Atom; 7] = [
        am::processes,
        am::driver_options,
        am::port_count,
        am::linked_in_driver,
        am::permanent,
        am::awaiting_load,
        am::awaiting_unload,
    ];
    let item = a[1].as_atom().filter(|item| ITEMS.contains(item));
    let (Some(name), Some(item)) = (name_of(a[0]), item) else { return Err(p.badarg()) };
    let (_lib, all, at) = find(&name);
    let d = at.map(|at| &all[at]);
    let Some(d) = d.filter(|d| !matches!(d.state, DriverState::Added)) else {
        if at.is_none() && !is_built_in(&name) {
            return Err(p.badarg());
        }
        return Ok(match item {
            am::permanent => am::false_,
            am::linked_in_driver => am::true_,
            _ => am::linked_in_driver,
        }
        .into());
    };
    let permanent = matches!(d.state, DriverState::Permanent);
    let waiting =
        |load: bool| d.watchers.iter().filter(move |w| (w.awaits == Awaits::Load) == load);
    Ok(match item {
        am::permanent => Term::bool(permanent),
        am::linked_in_driver => Term::bool(false),
        am::driver_options if d.kill_ports => p.heap.list(&[am::kill_ports.into()]),
        am::driver_options => Term::NIL,
        _ if permanent => am::permanent.into(),
        am::port_count => p.heap.integer(lock(&d.ports).len() as i64),
        am::processes => counts(p, d.users.iter().copied()),
        _ => counts(p, waiting(item == am::awaiting_load).map(|w| w.pid)),
    })
}
/// `[{Pid, Count}]`, in reverse order of first occurrence.
fn counts(p: &Proc, all: impl Iterator<Item = u32>) -> Term<'_> {
    let mut counts: Vec<(u32, i64)> = Vec::new();
    for pid in all {
        match counts.iter_mut().find(|c| c.0 == pid) {
            Some(c) => c.1 += 1,
            None => counts.push((pid, 1)),
        }
    }
    let one = |c: &(u32, i64)| p.heap.tuple(&[Term::local_pid(c.0), p.heap.integer(c.1)]);
    p.heap.list(&counts.iter().rev().map(one).collect::<Vec<_>>())
}

/// `erl_ddll:monitor/2`: reports at once what is already the case.
pub fn monitor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let parts = a[1].as_tuple_n::<2>().filter(|_| a[0] == am::driver);
    let Some((given, name, when)) = parts.and_then(|[n, w]| Some((n, name_of(n)?, w.as_atom()?)))
    else {
        return Err(p.badarg());
    };
    let awaits = match when {
        am::loaded => Awaits::Load,
        am::unloaded => Awaits::Unload,
        am::unloaded_only => Awaits::UnloadOnly,
        _ => return Err(p.badarg()),
    };
    let (_lib, mut all, at) = find(&name);
    let d = at.map(|at| &mut all[at]);
    let now = match (d.as_ref().map(|d| &d.state), awaits) {
        (None, _) if is_built_in(&name) => Some((am::UP, am::permanent)),
        (None, _) => Some((am::DOWN, am::unloaded)),
        (Some(DriverState::Permanent | DriverState::Added), _) => Some((am::UP, am::permanent)),
        (Some(DriverState::Stays), Awaits::Load) => Some((am::UP, am::loaded)),
        (Some(DriverState::Unloading { .. }), Awaits::Load) => Some((am::DOWN, am::load_cancelled)),
        _ => None,
    };
    let reference = match (now, d) {
        (None, Some(d)) => d.watch(p.pid(), awaits),
        (now, _) => {
            let n = next_ref();
            drop(all);
            if let Some((tag, what)) = now {
                tell(p.pid(), n, tag, &OwnedTerm::new(given), &what);
            }
            n
        }
    };
    Ok(p.heap.ref_of_numbers(reference))
}

/// `erl_ddll:demonitor/1`
pub fn demonitor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = match a[0].view() {
        kvik_term::View::Ref(kvik_term::Ref::Local(r)) => signal::RefId::of(r).0,
        _ => return Err(p.badarg()),
    };
    let its = |w: &LoadWatcher| w.pid == p.pid() && w.reference == n;
    lock(&DRIVERS).iter_mut().for_each(|d| d.watchers.retain(|w| !its(w)));
    Ok(am::true_.into())
}

/// Error reasons of `try_load/3` and `try_unload/2`, and their texts.
const REFUSALS: [(Atom, &str); 9] = [
    (
        am::inconsistent,
        "Driver name and/or driver options are inconsistent with currently loaded driver",
    ),
    (am::linked_in_driver, "Driver is statically linked and cannot be loaded/unloaded"),
    (am::permanent, "DDLL driver is permanent an cannot be unloaded/loaded"),
    (am::not_loaded, "DDLL driver is not loaded"),
    (am::not_loaded_by_this_process, "DDLL driver was not loaded by this process"),
    (am::not_pending, "DDLL load not pending for this driver name"),
    (am::already_loaded, "DDLL driver is already loaded successfully"),
    (am::pending_reload, "Driver reloading is already pending"),
    (
        am::pending_process,
        "Driver is loaded by others when attempting option {reload, pending_driver}",
    ),
];

/// `erl_ddll:format_error_int/1`
pub fn format_error<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let named = |what: Atom| {
        let refused = REFUSALS.iter().find(|r| r.0 == what).map(|r| r.1);
        refused.or_else(|| FAULTS.iter().find(|f| f.0 == what.name()).map(|f| f.1))
    };
    let numbered = |n: i64| lock(&TEXTS).get(usize::try_from(FIRST_TEXT - n).ok()?).cloned();
    let text = match (a[0].as_atom(), a[0].as_tuple_n()) {
        (Some(what), _) => named(what).map(str::to_string),
        (_, Some([tag, n])) if tag == am::open_error => n.as_small().and_then(numbered),
        _ => None,
    };
    match text {
        Some(text) => Ok(p.heap.string(&text)),
        None => Err(p.badarg()),
    }
}
