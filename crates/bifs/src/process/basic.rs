//! BIFs on the calling process (dictionary, yielding, hibernation), names, unique values.

use kvik_heap::roots::Root;
use kvik_heap::SuspendedState;
use kvik_proc::process::flag;
use kvik_proc::{bif, registry, trace, unique, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "make_ref", 0, make_ref_0),
    bif!("erlang", "unique_integer", 0, unique_integer_0),
    bif!("erlang", "unique_integer", 1, unique_integer_1),
    bif!("erlang", "register", 2, register_2),
    bif!("erlang", "unregister", 1, unregister_1),
    bif!("erlang", "whereis", 1, whereis_1),
    bif!("erlang", "registered", 0, registered_0),
    bif!("erlang", "put", 2, put_2),
    bif!("erlang", "get", 0, get_0),
    bif!("erlang", "get", 1, get_1),
    bif!("erlang", "erase", 0, erase_0),
    bif!("erlang", "erase", 1, erase_1),
    bif!("erlang", "get_keys", 0, get_keys_0),
    bif!("erlang", "get_keys", 1, get_keys_1),
    bif!("erlang", "group_leader", 0, group_leader_0),
    bif!("erlang", "hibernate", 3, hibernate_3),
    bif!("erlang", "bump_reductions", 1, bump_reductions_1),
    bif!("erlang", "yield", 0, yield_0),
    bif!("erts_internal", "garbage_collect", 1, garbage_collect_1),
];

fn make_ref_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.make_ref())
}

fn unique_integer_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(unique::integer(&p.heap, false, false))
}
fn unique_integer_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (mut monotonic, mut positive) = (false, false);
    for o in a[0].list_to_vec().ok_or_else(|| p.badarg())? {
        match o.as_atom() {
            Some(am::monotonic) => monotonic = true,
            Some(am::positive) => positive = true,
            _ => return Err(p.badarg()),
        }
    }
    Ok(unique::integer(&p.heap, monotonic, positive))
}

fn register_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let none = || p.badarg_because(am::none);
    let name = a[0].as_atom().filter(|n| *n != am::undefined).ok_or_else(none)?;
    let to = a[1].immediate().ok_or_else(none)?;
    let Some(pid) = to.as_local_pid() else {
        let done = kvik_port::table::find(to).is_some() && registry::register(name, to);
        if !done {
            return Err(none());
        }
        trace::tell_name(to, "register", name);
        return Ok(true.into());
    };
    let alive = pid == p.pid() || kvik_proc::process::table().get(pid, &kvik_sync::pin()).is_some();
    // A process has one name at most, which it keeps so that its exit can unregister it.
    if !alive {
        return Err(p.badarg_because(am::notalive));
    }
    if registry::name_of(to).is_some() {
        return Err(p.badarg_because(am::registered_name));
    }
    if !registry::register(name, to) {
        return Err(none());
    }
    trace::tell_name(to, "register", name);
    if pid == p.pid() {
        p.set_name(Some(name));
    } else {
        set_name_there(pid, name);
    }
    Ok(true.into())
}
/// Stores a new name in the process; if it has ended meanwhile, unregisters the name.
fn set_name_there(pid: u32, name: kvik_term::Atom) {
    if kvik_proc::signal::inspect(pid, |p| p.set_name(Some(name))).is_some() {
        return;
    }
    let f = move |p: Option<&Proc>| match p {
        Some(p) => p.set_name(Some(name)),
        None => {
            if registry::whereis_process(name) == Some(pid) {
                registry::unregister(name);
            }
        }
    };
    kvik_proc::deliver(pid, kvik_proc::Signal::Run(Box::new(f)));
}
fn unregister_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().ok_or_else(|| p.badarg())?;
    let old = registry::unregister(name).ok_or_else(|| p.badarg())?;
    trace::tell_name(old, "unregister", name);
    if old.same(p.self_pid()) {
        p.set_name(None);
    } else if let Some(pid) = old.as_local_pid() {
        let forget = move |p: &Proc| {
            if p.name() == Some(name) {
                p.set_name(None)
            }
        };
        if kvik_proc::signal::inspect(pid, forget).is_some() {
            return Ok(true.into());
        }
        let f = move |p: Option<&Proc>| p.into_iter().for_each(forget);
        kvik_proc::deliver(pid, kvik_proc::Signal::Run(Box::new(f)));
    }
    Ok(true.into())
}
fn whereis_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().ok_or_else(|| p.badarg())?;
    Ok(registry::whereis(name).unwrap_or(Term::atom(am::undefined)))
}
fn registered_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let names: Vec<Term<'h>> = registry::registered().into_iter().map(Into::into).collect();
    Ok(p.heap.list(&names))
}

fn put_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.dict_put(a[0], a[1]))
}
fn get_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.dict_get(a[0]))
}
fn erase_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.dict_erase(a[0]))
}
fn pairs<'h>(p: &'h Proc) -> Term<'h> {
    let all: Vec<Term<'h>> = p.dict_pairs().into_iter().map(|pair| p.heap.tuple(&pair)).collect();
    p.heap.list(&all)
}
fn get_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(pairs(p))
}
fn erase_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = pairs(p);
    p.dict_clear();
    Ok(all)
}
fn get_keys_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let keys: Vec<Term<'h>> = p.dict_pairs().into_iter().map(|[k, _]| k).collect();
    Ok(p.heap.list(&keys))
}
fn get_keys_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let all = p.dict_pairs().into_iter();
    let with_value = all.filter(|[_, v]| kvik_term::cmp::eq_exact(*v, a[0]));
    let keys: Vec<Term<'h>> = with_value.map(|[k, _]| k).collect();
    Ok(p.heap.list(&keys))
}

fn group_leader_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.root(Root::GroupLeader))
}
fn hibernate_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    /// The number of OTP's x registers.
    const MAX_ARGS: usize = 1024;
    if a[0].as_atom().is_none() || a[1].as_atom().is_none() {
        return Err(p.badarg());
    }
    let (mut rest, mut n) = (a[2], 0);
    while let Some(c) = rest.as_cons() {
        if n == MAX_ARGS {
            return Err(p.system_limit());
        }
        (rest, n) = (c.tail(), n + 1);
    }
    if !rest.is_nil() {
        return Err(p.badarg());
    }
    Err(p.hibernate(a[0], a[1], a[2]))
}
fn bump_reductions_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_small().filter(|n| *n >= 0).ok_or_else(|| p.badarg())?;
    p.heap.bump_reductions(n.min(4000));
    Ok(true.into())
}
/// The state of a process that yields: nothing.
struct Yielded;
impl SuspendedState for Yielded {
    type In<'h> = ();
}
fn yield_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    if p.resumed::<Yielded>().is_some() {
        return Ok(true.into());
    }
    p.give_up_turn();
    Err(p.again::<Yielded>((), None))
}
fn garbage_collect_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let full = match a[0].as_atom() {
        Some(am::major) => true,
        Some(am::minor) => false,
        _ => return Err(p.badarg()),
    };
    if p.set_flag(flag::COLLECTED, false) {
        return Ok(true.into());
    }
    p.fetch_for_collection();
    if p.collect_before(full) {
        p.set_flag(flag::COLLECTED, true);
        let again = kvik_code::export(am::erts_internal, am::garbage_collect, 1);
        return Err(p.trap_in_next_turn(again, a));
    }
    p.ask_for_gc(full);
    Ok(true.into())
}
