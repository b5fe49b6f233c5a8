//! Requests to other processes: system tasks, group leader, suspension, display.

use kvik_heap::roots::Root;
use kvik_heap::OwnedTerm;
use kvik_proc::hooks::hooks;
use kvik_proc::process::table;
use kvik_proc::remote::RemoteSignal;
use kvik_proc::signal::{
    control, deliver, deliver_from, give_task, inspect, message, Control, Signal,
};
use kvik_proc::system_tasks::SysTask;
use kvik_proc::{bif, sched, signal_handlers, BifEntry, BifResult, Priority, Proc};
use kvik_term::{am, Atom, PidTerm, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "request_system_task", 3, request_system_task_3),
    bif!("erts_internal", "request_system_task", 4, request_system_task_4),
    bif!("erts_internal", "check_process_code", 1, check_process_code_1),
    bif!("erts_internal", "check_dirty_process_code", 2, check_dirty_process_code_2),
    bif!("erts_internal", "is_process_executing_dirty", 1, is_process_executing_dirty_1),
    bif!("erts_internal", "dirty_process_handle_signals", 1, dirty_process_handle_signals_1),
    bif!("erts_internal", "group_leader", 2, group_leader_2),
    bif!("erts_internal", "group_leader", 3, group_leader_3),
    bif!("erts_internal", "suspend_process", 2, suspend_process_2),
    bif!("erlang", "resume_process", 1, resume_process_1),
    bif!("erts_internal", "process_display", 2, process_display_2),
];

#[derive(Copy, Clone)]
enum Task {
    Collect,
    CheckCode(Atom),
    /// Literals of purged code are copied when the process is collected.
    CopyLiterals,
    /// Does nothing; for tests.
    Test,
}

fn task(t: Term<'_>) -> Option<(Atom, OwnedTerm, Task)> {
    let e = t.as_tuple()?;
    let e = e.elements();
    let name = e.first()?.as_atom()?;
    let id = OwnedTerm::new(*e.get(1)?);
    let third = e.get(2);
    let task = match name {
        am::garbage_collect => {
            [am::major, am::minor].contains(&third?.as_atom()?).then_some(Task::Collect)?
        }
        am::check_process_code => Task::CheckCode(third?.as_atom()?),
        am::copy_literals => {
            third?.as_bool()?;
            Task::CopyLiterals
        }
        am::system_task_test => Task::Test,
        _ => return None,
    };
    Some((name, id, task))
}

fn run(p: Option<&Proc>, t: Task) -> Term<'static> {
    if let (Some(p), Task::CheckCode(_) | Task::CopyLiterals) = (p, t) {
        // Earlier signals may refer to the code or literals in question, or may end the process.
        p.handle_all_signals();
    }
    match (p.filter(|p| !p.is_exiting()), t) {
        (Some(_), Task::Collect | Task::Test) => Term::bool(true),
        (Some(p), Task::CheckCode(m)) => Term::bool((hooks().uses_old_code)(p, m)),
        (Some(p), Task::CopyLiterals) => {
            p.ask_for_gc(true);
            Term::atom(am::ok)
        }
        (None, Task::CopyLiterals) => Term::atom(am::ok),
        (None, _) => Term::bool(false),
    }
}

fn request<'h>(p: &'h Proc, from: u32, a: &[Term<'h>]) -> BifResult<'h> {
    let to = super::local(a[0]).ok_or_else(|| p.badarg())?;
    let priority = match a[1] == am::inherit {
        true => p.priority(),
        false => Priority::of(a[1]).ok_or_else(|| p.badarg())?,
    };
    let (name, id, t) = task(a[2]).ok_or_else(|| p.badarg())?;
    let done = move |of: Option<&Proc>| {
        let r = OwnedTerm::immediate(run(of, t));
        let m = message(|h| h.tuple(&[name.into(), h.copy(id.term()), h.copy(r.term())]));
        deliver_from(from, Term::local_pid(to), m);
    };
    let task = SysTask { from, collect: matches!(t, Task::Collect), run: Box::new(done) };
    if to == p.pid() {
        p.add_task(priority, task);
    } else {
        give_task(to, priority, task);
    }
    Ok(am::ok.into())
}
fn request_system_task_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    request(p, p.pid(), a)
}
fn request_system_task_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let from = super::local(a[0]).ok_or_else(|| p.badarg())?;
    request(p, from, &a[1..])
}
fn check_process_code_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = a[0].as_atom().ok_or_else(|| p.badarg())?;
    Ok((hooks().uses_old_code)(p, m).into())
}
/// Processes run on normal schedulers only, never on dirty ones.
fn check_dirty_process_code_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    super::local(a[0]).ok_or_else(|| p.badarg())?;
    a[1].as_atom().ok_or_else(|| p.badarg())?;
    Ok(am::normal.into())
}
fn is_process_executing_dirty_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    super::local(a[0]).ok_or_else(|| p.badarg())?;
    Ok(false.into())
}
fn dirty_process_handle_signals_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = super::local(a[0]).ok_or_else(|| p.badarg())?;
    let there = table().get(n, &kvik_sync::pin()).is_some();
    Ok(if there { am::normal.into() } else { am::noproc.into() })
}

fn group_leader_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_pid().is_none() {
        return Ok(am::badarg.into());
    }
    match super::local(a[1]) {
        Some(n) if n == p.pid() => {
            p.heap.set_root(Root::GroupLeader, a[0]);
            Ok(true.into())
        }
        Some(n) if table().get(n, &kvik_sync::pin()).is_none() => Ok(am::badarg.into()),
        Some(n) => {
            let set = |of: &Proc| {
                let now = of.is_undisturbed();
                if now {
                    of.heap.set_root(Root::GroupLeader, of.heap.copy(a[0]));
                }
                now
            };
            Ok((inspect(n, set) == Some(true)).into())
        }
        None if matches!(a[1].view(), View::Pid(PidTerm::External(_))) => {
            p.tell_abroad(RemoteSignal::GroupLeader(a[0], a[1]));
            Ok(true.into())
        }
        None => Ok(am::badarg.into()),
    }
}
fn group_leader_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let to = super::local(a[1]).filter(|_| a[0].as_pid().is_some()).ok_or_else(|| p.badarg())?;
    let (own, leader, id) = (p.pid(), OwnedTerm::new(a[0]), OwnedTerm::new(a[2]));
    let f = move |of: Option<&Proc>| {
        if let Some(of) = of {
            of.heap.set_root(Root::GroupLeader, of.heap.copy(leader.term()));
        }
        let r = if of.is_some() { am::true_ } else { am::badarg };
        super::reply(own, to, &id, &OwnedTerm::immediate(Term::atom(r)));
    };
    deliver(to, Signal::Run(Box::new(f)));
    sched::raise(to, p.priority());
    Ok(am::ok.into())
}

fn suspend_process_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(to) = super::local(a[0]).filter(|n| *n != p.pid()) else {
        return Ok(am::badarg.into());
    };
    let (mut unless, mut asynchronous, mut tag) = (false, false, None);
    let Some(options) = a[1].list_to_vec() else { return Ok(am::badopt.into()) };
    for o in options {
        match (o.as_atom(), o.as_tuple_n::<2>()) {
            (Some(am::unless_suspending), _) => unless = true,
            (Some(am::asynchronous), _) => asynchronous = true,
            (_, Some([k, t])) if k == am::asynchronous => {
                asynchronous = true;
                tag = Some(OwnedTerm::new(t));
            }
            _ => return Ok(am::badopt.into()),
        }
    }
    let own = p.pid();
    if table().get_any(to, &kvik_sync::pin()).is_none() {
        if let Some(tag) = &tag {
            super::reply(own, to, tag, &OwnedTerm::immediate(Term::atom(am::badarg)));
        }
        return Ok(if asynchronous { am::true_ } else { am::badarg }.into());
    }
    let already = p.rare(|x| x.suspending.contains_key(&to)).unwrap_or(false);
    let done = !(already && unless);
    if done {
        p.with_rare(|x| {
            let times = x.suspending.get(&to).map_or(1, |n| n + 1);
            x.suspending.insert(to, times);
        });
    }
    // If no earlier signal is pending, the process is suspended right here.
    let suspended = inspect(to, |of| match already {
        true => of.rare(|x| x.suspended_by.contains_key(&own)).unwrap_or(false),
        false if of.is_undisturbed() => {
            of.suspend_for_process(own);
            true
        }
        false => false,
    });
    let suspended = suspended == Some(true);
    if !already && !suspended {
        control(to, Control::Suspend { by: own });
    }
    if asynchronous && tag.is_none() || !asynchronous && suspended {
        return Ok(done.into());
    }
    let (answer, gone, r) = match &tag {
        Some(_) => (am::suspended, am::exited, None),
        None => (if done { am::true_ } else { am::false_ }, am::badarg, Some(p.heap.make_ref())),
    };
    let id = tag.unwrap_or_else(|| OwnedTerm::new(r.unwrap_or(Term::NIL)));
    if r.is_some() {
        p.fetch_messages();
    }
    let f = move |of: Option<&Proc>| {
        let what = if of.is_some() { answer } else { gone };
        super::reply(own, to, &id, &OwnedTerm::immediate(Term::atom(what)));
    };
    deliver(to, Signal::Run(Box::new(f)));
    sched::raise(to, p.priority());
    Ok(r.unwrap_or(done.into()))
}
fn resume_process_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let to = super::local(a[0]).ok_or_else(|| p.badarg())?;
    let had = p.with_rare(|x| {
        let n = x.suspending.get_mut(&to)?;
        *n -= 1;
        let last = *n == 0;
        if last {
            x.suspending.remove(&to);
        }
        Some(last)
    });
    // A process that has died in between is not suspended.
    let there = table().get(to, &kvik_sync::pin()).is_some();
    if had.filter(|_| there).ok_or_else(|| p.badarg())? {
        signal_handlers::resume(to, p.pid());
    }
    Ok(true.into())
}

fn show(p: &Proc, own: bool) {
    use std::io::Write;
    if !p.flag(kvik_proc::process::flag::SENSITIVE) {
        let _ = std::io::stderr().write_all(&super::backtrace::text(
            p,
            own.then_some((am::erts_internal, "process_display")),
        ));
    }
}
fn process_display_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[1] != am::backtrace {
        return Ok(am::badopt.into());
    }
    let Some(n) = super::local(a[0]) else { return Ok(am::badarg.into()) };
    if n == p.pid() {
        show(p, true);
        return Ok(true.into());
    }
    Err(super::ask(p, n, |of, _| {
        of.into_iter().for_each(|of| show(of, false));
        if of.is_some() { am::true_ } else { am::badarg }.into()
    }))
}
