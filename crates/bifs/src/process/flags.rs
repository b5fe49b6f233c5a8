//! `process_flag/2,3`.

use kvik_heap::SuspendedState;
use kvik_proc::hooks::hooks;
use kvik_proc::limits::{next_heap_size, Defaults, MaxHeap};
use kvik_proc::process::flag;
use kvik_proc::saved_calls::MAX_CALLS;
use kvik_proc::{bif, sched, BifEntry, BifResult, Priority, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "process_flag", 2, process_flag_2),
    bif!("erts_internal", "process_flag", 3, process_flag_3),
];

fn process_flag_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0] == am::scheduler {
        return bind(p, a[1]);
    }
    // The flag may also be `{monitor_nodes, Options}`.
    let name = a[0].as_atom().or_else(|| a[0].as_tuple_n::<2>()?[0].as_atom());
    let known = match a[0].as_atom() {
        Some(name) => is_flag(name),
        None => name == Some(am::monitor_nodes),
    };
    // The cause of a wrong value for `async_dist` is a slip of the first releases that have it.
    let slips = !kvik_release::current().has_trace_sessions();
    let old = set(p, a[0], a[1]).ok_or_else(|| match a[0].as_atom() {
        Some(am::save_calls) => p.badarg_because(am::none),
        Some(am::async_dist) if slips => p.badarg_because(am::badopt),
        _ if known => p.badarg(),
        _ => p.badarg_because(am::badopt),
    })?;
    p.apply_limits();
    Ok(old)
}

/// A scheduler's number counted from 1, or 0 for any.
pub(super) fn scheduler(v: Term<'_>) -> Option<usize> {
    v.as_usize().filter(|n| *n <= crate::system::schedulers())
}
/// Which scheduler the process was bound to before, while it moves to another.
enum Moving {}
impl SuspendedState for Moving {
    type In<'h> = usize;
}
/// Binds the process to a scheduler, and continues there.
fn bind<'h>(p: &'h Proc, v: Term<'h>) -> BifResult<'h> {
    if let Some(before) = p.resumed::<Moving>() {
        return Ok(p.heap.integer(before as i64));
    }
    let n = scheduler(v).ok_or_else(|| p.badarg())?;
    let before = p.bind(n);
    if n == 0 || sched::current() == Some(n - 1) {
        return Ok(p.heap.integer(before as i64));
    }
    p.give_up_turn();
    Err(p.again::<Moving>(before, None))
}

fn is_flag(a: kvik_term::Atom) -> bool {
    const FLAGS: [kvik_term::Atom; 13] = [
        am::trap_exit,
        am::sensitive,
        am::async_dist,
        am::error_handler,
        am::priority,
        am::scheduler,
        am::fullsweep_after,
        am::min_heap_size,
        am::min_bin_vheap_size,
        am::max_heap_size,
        am::message_queue_data,
        am::save_calls,
        am::monitor_nodes,
    ];
    FLAGS.contains(&a)
}

fn set<'h>(p: &'h Proc, name: Term<'h>, v: Term<'h>) -> Option<Term<'h>> {
    let Some(name) = name.as_atom() else {
        let [k, options] = name.as_tuple_n()?;
        return (k == am::monitor_nodes).then(|| monitor_nodes(p, v, options)).flatten();
    };
    match name {
        am::trap_exit => boolean(p, flag::TRAP_EXIT, v),
        am::sensitive => {
            let before = p.set_sensitive(v.as_bool()?);
            p.use_up_turn();
            Some(before.into())
        }
        am::async_dist => {
            let new = v.as_bool()?;
            Some(p.with_rare(|x| std::mem::replace(&mut x.async_dist, new)).into())
        }
        am::error_handler => {
            let new = v.as_atom()?;
            Some(p.with_rare(|x| std::mem::replace(&mut x.error_handler, new)).into())
        }
        am::priority => {
            let new = Priority::of(v)?;
            let old = p.priority();
            if let Some(me) = p.me() {
                me.set_priority(new);
            }
            Some(old.atom().into())
        }
        am::fullsweep_after => {
            let n = v.as_usize()? as u16; // OTP keeps 16 bits of it.
            size(p, |x| std::mem::replace(&mut x.fullsweep_after, n.into()))
        }
        am::min_heap_size => {
            let n = next_heap_size(v.as_usize()?.max(Defaults::least_heap_size()));
            size(p, |x| std::mem::replace(&mut x.min_heap_size, n))
        }
        am::min_bin_vheap_size => {
            let n = next_heap_size(v.as_usize()?.max(Defaults::least_bin_vheap_size()));
            size(p, |x| std::mem::replace(&mut x.min_bin_vheap_size, n))
        }
        am::max_heap_size => {
            let (new, old) = (MaxHeap::read(v)?, MaxHeap::of(p));
            let least = p.rare(|x| x.min_heap_size).unwrap_or(0);
            (new.size == 0 || new.size >= least).then_some(())?;
            p.with_rare(|x| x.max_heap_size = Some(new));
            Some(old.map(&p.heap))
        }
        am::message_queue_data => {
            let off = queue_data(v)?;
            Some(queue_data_atom(p.set_flag(flag::OFF_HEAP_QUEUE, off)).into())
        }
        am::save_calls => {
            let n = v.as_usize().filter(|n| *n <= MAX_CALLS)?;
            let before = save_calls(p, n);
            p.give_up_turn();
            Some(p.heap.integer(before as i64))
        }
        am::monitor_nodes => monitor_nodes(p, v, Term::NIL),
        _ => None,
    }
}
/// Sets how many of the last calls are saved; returns the previous number.
fn save_calls(p: &Proc, n: usize) -> usize {
    if n > 0 {
        kvik_jit::breakpoints::notice_all_exports();
    }
    p.set_save_calls(n)
}
fn boolean<'h>(p: &'h Proc, f: u32, v: Term<'h>) -> Option<Term<'h>> {
    Some(p.set_flag(f, v.as_bool()?).into())
}
fn size<'h>(
    p: &'h Proc,
    f: impl FnOnce(&mut kvik_proc::process::RareState) -> usize,
) -> Option<Term<'h>> {
    Some(p.heap.integer(p.with_rare(f) as i64))
}
/// Returns how often it was switched on before, with these options.
fn monitor_nodes<'h>(p: &'h Proc, v: Term<'h>, options: Term<'h>) -> Option<Term<'h>> {
    let before = (hooks().node.monitor_nodes)(p, v.as_bool()?, options)?;
    Some(p.heap.integer(before as i64))
}
pub(super) fn queue_data(v: Term<'_>) -> Option<bool> {
    match v.as_atom()? {
        am::off_heap => Some(true),
        am::on_heap => Some(false),
        _ => None,
    }
}
pub(super) fn queue_data_atom(off: bool) -> kvik_term::Atom {
    if off {
        am::off_heap
    } else {
        am::on_heap
    }
}

/// `process_flag(Pid, save_calls, N)`. Returns atoms for errors: `badtype` if there is no such
/// process, `badarg` for another flag or value.
fn process_flag_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(pid) = super::local(a[0]) else { return Ok(am::badtype.into()) };
    let new = a[2].as_usize().filter(|n| *n <= MAX_CALLS && a[1] == am::save_calls);
    if pid == p.pid() {
        return Ok(match new {
            Some(n) => p.heap.integer(save_calls(p, n) as i64),
            None => am::badarg.into(),
        });
    }
    Err(super::ask(p, pid, move |p, h| match (p, new) {
        (Some(p), Some(n)) => h.integer(save_calls(p, n) as i64),
        (Some(_), None) => am::badarg.into(),
        (None, _) => am::badtype.into(),
    }))
}
