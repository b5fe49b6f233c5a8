//! Module `ets`: creating and deleting tables. Operations on objects, traversals and table
//! information are in this folder.

mod direct;
mod info;
mod insert;
mod options;
mod rows;
mod select;
mod update;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_oracle;

use std::sync::Arc;

use kvik_ets::{
    cooperative, find, registry, Access, DeferredFree, Heir, Protection, Table, TableRef,
    TableState, TurnSteps,
};
use kvik_heap::{OwnedTerm, SuspendedState};
use kvik_proc::process::flag;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sync::{pin, Guard, ReadGuard, WriteGuard};
use kvik_term::{am, Term};

use crate::process::{in_next_turn, Found};

pub const BIFS: &[&[BifEntry]] =
    &[TABLES, info::BIFS, insert::BIFS, rows::BIFS, select::BIFS, update::BIFS];

const TABLES: &[BifEntry] = &[
    bif!("ets", "new", 2, new_2),
    bif!("ets", "delete", 1, delete_1),
    bif!("ets", "rename", 2, rename_2),
    bif!("ets", "whereis", 1, whereis_1),
    bif!("ets", "give_away", 3, give_away_3),
    bif!("ets", "setopts", 2, setopts_2),
    bif!("ets", "safe_fixtable", 2, safe_fixtable_2),
    bif!("ets", "internal_request_all", 0, internal_request_all_0),
    bif!("erts_internal", "ets_super_user", 1, super_user_1),
];

/// The number of this process.
fn me(p: &Proc) -> u32 {
    p.self_pid().as_local_pid().unwrap_or(0)
}
/// The table, once no deferred work on it is pending. A BIF that suspends itself calls this before
/// it looks at its saved state.
fn table<'t>(p: &Proc, t: Term<'t>, pin: &'t Guard) -> Result<TableRef<'t>, Raised> {
    let t = find(t, pin).map_err(|r| p.badarg_because(r.atom()))?;
    if t.is_busy() {
        help(p, &t)?;
    }
    Ok(t)
}
/// Spends this time slice, and further ones if necessary, on the table's deferred work.
#[cold]
fn help(p: &Proc, t: &Table) -> Result<(), Raised> {
    let mut steps = TurnSteps::new(p.steps(cooperative::STEPS_PER_REDUCTION));
    let done = t.help(&mut steps);
    p.steps_left(steps.left(), cooperative::STEPS_PER_REDUCTION);
    match done {
        true => Ok(()),
        false => {
            p.give_up_turn();
            Err(p.again_as_before())
        }
    }
}
fn read<'t>(p: &Proc, t: &'t Table, a: Access) -> Result<ReadGuard<'t, TableState>, Raised> {
    let a = if p.flag(flag::ETS_SUPER_USER) { Access::Info } else { a };
    t.read(me(p), a).map_err(|r| p.badarg_because(r.atom()))
}
fn write<'t>(p: &Proc, t: &'t Table, a: Access) -> Result<WriteGuard<'t, TableState>, Raised> {
    t.write(me(p), a).map_err(|r| p.badarg_because(r.atom()))
}

fn new_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [name, opts] = *a else { return Err(p.badarg()) };
    let (Some(name), true) = (name.as_atom(), opts.is_list()) else {
        return Err(p.badarg());
    };
    let o = options::parse(opts).ok_or_else(|| p.badarg())?;
    let me = me(p);
    let t = Table::new(o.options, name, me, o.protection);
    let Some(t) = registry::register(t, name, me) else {
        return Err(p.badarg_because(am::already_exists));
    };
    if let (Some((pid, gift)), Ok(mut s)) = (o.heir, t.write(me, Access::Info)) {
        registry::set_heir(&t, &mut s, heir(me, pid, gift));
    }
    Ok(if t.options.named { name.into() } else { p.heap.magic_ref_of_numbers(t.id, t) })
}

/// A dead process cannot be heir: the table then has none.
fn heir(me: u32, pid: u32, gift: Option<Term<'_>>) -> Option<Heir> {
    (pid == me || registry::is_alive(pid)).then(|| (pid, gift.map(OwnedTerm::new)))
}

fn delete_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let remains = match p.resumed::<Freeing>() {
        Some((remains, _)) => remains,
        None => {
            let pin = pin();
            let t = table(p, t, &pin)?;
            drop(write(p, &t, Access::Write)?);
            registry::delete(&t)
        }
    };
    free(p, remains, 0)?;
    Ok(Term::bool(true))
}

/// State of freeing a deleted or emptied table: what is left, and how many objects there were.
pub(super) struct Freeing;
impl SuspendedState for Freeing {
    type In<'h> = (Option<DeferredFree>, usize);
}
/// Frees the contents, over several time slices if necessary.
pub(super) fn free(p: &Proc, remains: Option<DeferredFree>, count: usize) -> Result<(), Raised> {
    let Some(mut remains) = remains else { return Ok(()) };
    let turn = p.steps(cooperative::STEPS_PER_REDUCTION);
    let mut steps = turn;
    if !remains.free(&mut steps) {
        p.use_up_turn();
        return Err(p.again::<Freeing>((Some(remains), count), None));
    }
    p.heap.bump_reductions(((turn - steps) / cooperative::STEPS_PER_REDUCTION) as i64);
    Ok(())
}

fn rename_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [id, name] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, id, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    let name = name.as_atom().ok_or_else(|| p.badarg())?;
    if !registry::rename(&t, s.name, name) {
        return Err(p.badarg());
    }
    s.name = name;
    Ok(if t.options.named { name.into() } else { id })
}

fn whereis_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a.first().and_then(|t| t.as_atom()).ok_or_else(|| p.badarg())?;
    Ok(match registry::by_name(name, &pin()) {
        Some(t) => p.heap.magic_ref_of_numbers(t.id, t.clone()),
        None => am::undefined.into(),
    })
}

fn give_away_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, to, gift] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let owner = write(p, &t, Access::Write)?.owner;
    let alive = |n: &u32| *n == me(p) || registry::is_alive(*n);
    let to = to.as_local_pid().filter(alive).ok_or_else(|| p.badarg())?;
    if owner != me(p) {
        return Err(p.badarg_because(am::not_owner));
    }
    if owner == to {
        return Err(p.badarg_because(am::owner));
    }
    registry::transfer(&t, owner, to, Some(gift));
    Ok(Term::bool(true))
}

fn setopts_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, opts] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    let mut new_heir = None;
    let mut protection = None;
    let list = match opts.as_tuple() {
        Some(_) => vec![opts],
        None => opts.list_to_vec().ok_or_else(|| p.badarg())?,
    };
    for o in list {
        let parts = o.as_tuple().map_or(&[][..], |t| t.elements());
        match parts {
            [k, v] if k.is_atom(am::heir) && v.is_atom(am::none) && new_heir.is_none() => {
                new_heir = Some(None)
            }
            [k, ..] if k.is_atom(am::heir) && new_heir.is_none() => {
                let (pid, gift) = options::heir(parts).ok_or_else(|| p.badarg())?;
                new_heir = Some(heir(me(p), pid, gift));
            }
            [k, v] if k.is_atom(am::protection) && protection.is_none() => {
                let v = v.as_atom().and_then(Protection::of_atom);
                protection = Some(v.ok_or_else(|| p.badarg())?);
            }
            _ => return Err(p.badarg()),
        }
    }
    if s.owner != me(p) {
        return Err(p.badarg());
    }
    if let Some(h) = new_heir {
        registry::set_heir(&t, &mut s, h);
    }
    if let Some(v) = protection {
        s.protection = v;
    }
    Ok(Term::bool(true))
}

fn safe_fixtable_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, on] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    drop(read(p, &t, Access::Read)?);
    match on.as_bool() {
        Some(true) => registry::fix(&t, me(p)),
        Some(false) => registry::unfix(&t, me(p)),
        None => return Err(p.badarg()),
    }
    Ok(Term::bool(true))
}

/// Tables listed per reduction.
const NAMED: usize = 1;

/// State of listing all tables, with the handles collected so far.
struct Naming<'h> {
    tables: std::vec::IntoIter<Arc<Table>>,
    handles: Vec<Term<'h>>,
}
impl SuspendedState for Naming<'static> {
    type In<'h> = Naming<'h>;
}

/// Sends the caller one message per scheduler, as OTP does; the first holds all tables.
fn internal_request_all_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    if let Some(r) = p.resumed::<Found>() {
        return Ok(r);
    }
    let mut n = p
        .resumed::<Naming<'static>>()
        .unwrap_or_else(|| Naming { tables: registry::all().into_iter(), handles: Vec::new() });
    let mut left = p.steps(NAMED);
    while let Some(t) = n.tables.next() {
        n.handles.extend(registry::handle_of(&p.heap, t));
        left -= 1;
        if left == 0 {
            p.steps_left(0, NAMED);
            return Err(p.again::<Naming<'static>>(n, None));
        }
    }
    p.steps_left(left, NAMED);
    let r = p.heap.make_ref();
    let mut list = p.heap.list(&n.handles);
    for _ in 0..crate::system::schedulers() {
        let message = OwnedTerm::new(p.heap.tuple(&[r, list]));
        kvik_proc::deliver(me(p), kvik_proc::Signal::Message(message));
        list = Term::NIL;
    }
    // In OTP other schedulers answer when the turn is over.
    match crate::system::schedulers() {
        1 => Ok(r),
        _ => in_next_turn(p, r),
    }
}

/// Sets whether this process may access private tables of others.
fn super_user_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let on = a.first().and_then(|t| t.as_bool()).ok_or_else(|| p.badarg())?;
    p.set_flag(flag::ETS_SUPER_USER, on);
    Ok(am::ok.into())
}
