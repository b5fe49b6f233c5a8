//! `send_after`, `start_timer`, `cancel_timer`, `read_timer`.

use kvik_heap::OwnedTerm;
use kvik_proc::signal::{deliver, message, RefId, Signal};
use kvik_proc::timer::{self, At, Dest, Timer};
use kvik_proc::{bif, clock, BifEntry, BifResult, Proc};
use kvik_term::{am, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "send_after", 3, send_after_3),
    bif!("erlang", "send_after", 4, send_after_4),
    bif!("erlang", "start_timer", 3, start_timer_3),
    bif!("erlang", "start_timer", 4, start_timer_4),
    bif!("erlang", "cancel_timer", 1, cancel_timer_1),
    bif!("erlang", "cancel_timer", 2, cancel_timer_2),
    bif!("erlang", "read_timer", 1, read_timer_1),
    bif!("erlang", "read_timer", 2, read_timer_2),
];

const MS: i64 = 1_000_000;

/// Deadline in nanoseconds of `clock::now`, for any time on Erlang's monotonic clock.
fn deadline(t: Term<'_>, absolute: bool) -> Option<At> {
    let ns = i128::from(t.as_i64()?) * i128::from(MS);
    let begin = i128::from(clock::begin());
    let at = match absolute {
        true => ns - begin,
        false if ns < 0 => return None,
        false => ns + i128::from(clock::now()),
    };
    let last = i128::from(crate::system::END_TIME) - begin;
    (0..=last).contains(&at).then(|| At::deadline(at as u64))
}

fn start<'h>(p: &'h Proc, a: &[Term<'h>], wrap: bool) -> BifResult<'h> {
    let mut absolute = false;
    if let Some(options) = a.get(3) {
        for o in options.list_to_vec().ok_or_else(|| p.badarg_because(am::badopt))? {
            match o.as_tuple_n::<2>().map(|[k, v]| (k.as_atom(), v.as_bool())) {
                Some((Some(am::abs), Some(b))) => absolute = b,
                _ => return Err(p.badarg_because(am::badopt)),
            }
        }
    }
    let deadline = deadline(a[0], absolute).ok_or_else(|| p.badarg_because(am::time))?;
    let dest = match (a[1].as_atom(), a[1].as_local_pid()) {
        (Some(name), _) => Dest::Name(name),
        (_, Some(pid)) => Dest::Process(pid),
        _ => return Err(p.badarg()),
    };
    let id = RefId::next();
    timer::start(id, Timer { deadline, dest, message: OwnedTerm::new(a[2]), wrap });
    Ok(id.term(&p.heap))
}
fn send_after_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    start(p, a, false)
}
fn send_after_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    start(p, a, false)
}
fn start_timer_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    start(p, a, true)
}
fn start_timer_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    start(p, a, true)
}

/// The options `{async, _}` and `{info, _}`.
fn options<'h>(
    p: &'h Proc,
    t: Term<'h>,
    with_info: bool,
) -> Result<(bool, bool), kvik_proc::Raised> {
    let (mut asynchronous, mut info) = (false, true);
    for o in t.list_to_vec().ok_or_else(|| p.badarg())? {
        match o.as_tuple_n::<2>().map(|[k, v]| (k.as_atom(), v.as_bool())) {
            Some((Some(am::async_), Some(b))) => asynchronous = b,
            Some((Some(am::info), Some(b))) if with_info => info = b,
            _ => return Err(p.badarg()),
        }
    }
    Ok((asynchronous, info))
}
/// Milliseconds left, or `false`.
fn left<'h>(p: &'h Proc, ns: Option<u64>) -> Term<'h> {
    match ns {
        Some(ns) => p.heap.integer(ns.div_ceil(MS as u64) as i64),
        None => false.into(),
    }
}
/// A timer's reference; `None` for another node's, which has no timer here.
fn id<'h>(p: &'h Proc, t: Term<'h>) -> Result<Option<RefId>, kvik_proc::Raised> {
    match t.view() {
        View::Ref(_) => Ok(RefId::of_term(t)),
        _ => Err(p.badarg()),
    }
}
/// Returns the result, or sends it as a message.
fn answer<'h>(
    p: &'h Proc,
    tag: kvik_term::Atom,
    r: Term<'h>,
    value: Term<'h>,
    o: (bool, bool),
) -> BifResult<'h> {
    match o {
        (false, true) => Ok(value),
        (true, true) => {
            let m = message(|h| h.tuple(&[tag.into(), h.copy(r), h.copy(value)]));
            deliver(p.pid(), Signal::Message(m));
            Ok(am::ok.into())
        }
        (_, false) => Ok(am::ok.into()),
    }
}
fn cancel_timer_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let ns = id(p, a[0])?.and_then(timer::cancel);
    Ok(left(p, ns))
}
fn cancel_timer_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (i, o) = (id(p, a[0])?, options(p, a[1], true)?);
    answer(p, am::cancel_timer, a[0], left(p, i.and_then(timer::cancel)), o)
}
fn read_timer_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let ns = id(p, a[0])?.and_then(timer::read);
    Ok(left(p, ns))
}
fn read_timer_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (i, o) = (id(p, a[0])?, options(p, a[1], false)?);
    answer(p, am::read_timer, a[0], left(p, i.and_then(timer::read)), o)
}
