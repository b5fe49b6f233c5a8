//! Processes as controllers of connections: `erlang:dist_ctrl_*`. They transport the bytes.

use std::sync::Arc;

use kvik_port::iodata;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Term};

use crate::connect;
use crate::node::{handle, Controller, RemoteNode};
use crate::receive;

/// The connection that the caller controls.
fn own(p: &Proc, t: Term<'_>) -> Result<(Arc<RemoteNode>, u32), Raised> {
    let controls = |n: &Arc<RemoteNode>| n.lock().controller == Some(Controller::Process(p.pid()));
    if !crate::node::all().iter().any(controls) {
        return Err(p.notsup());
    }
    let (node, id) = handle(t).ok_or_else(|| p.badarg())?;
    let is = controls(&node) && node.lock_up(id).is_some();
    is.then_some((node, id)).ok_or_else(|| p.badarg())
}

/// The connection of a handle, if the caller controls it or no process does.
fn carried(p: &Proc, t: Term<'_>) -> Result<(Arc<RemoteNode>, u32), Raised> {
    let (node, id) = handle(t).ok_or_else(|| p.notsup())?;
    let others = match node.lock_up(id).and_then(|s| s.controller) {
        Some(Controller::Process(pid)) => pid != p.pid(),
        Some(Controller::Port(_)) => false,
        None => true,
    };
    if others {
        return Err(p.badarg());
    }
    Ok((node, id))
}

/// Requests `dist_data` when there is something to send.
pub fn data_notification<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = own(p, a[0])?;
    if let Some(mut s) = node.lock_up(id) {
        s.process.wants_data = true;
    }
    // Data may have been queued meanwhile.
    node.kick();
    Ok(am::ok.into())
}
/// Returns a packet as a list of binaries, with its size if the option is set, or `none`.
pub fn get_data<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = own(p, a[0])?;
    let sized = node.lock_up(id).is_some_and(|s| s.process.get_size);
    let Some((header, body)) = node.next(id) else { return Ok(am::none.into()) };
    let size = header.len() + body.len();
    p.heap.bump_reductions(1 + size as i64 / 1024);
    let parts = [p.heap.binary(&header), p.heap.binary(&body)];
    let data = p.heap.list(if body.is_empty() { &parts[..1] } else { &parts });
    Ok(match sized {
        true => p.heap.tuple(&[p.heap.unsigned(size as u64), data]),
        false => data,
    })
}
/// Delivers a packet from the other node.
pub fn put_data<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    put(p, a).inspect_err(|_| {
        if a[1].as_cons().is_some() {
            // In OTP an Erlang function converts lists to binaries, and raises without
            // `error_info`.
            p.cause.set(Some(am::undef));
        }
    })
}
fn put<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bytes = iodata::bytes(a[1]);
    let handle_first = kvik_release::current().judges_dist_handles_first();
    if bytes.is_none() && (a[1].is_list() || !handle_first) {
        return Err(p.badarg());
    }
    let (node, id) = handle(a[0]).ok_or_else(|| p.badarg())?;
    let from = node.lock_up(id).and_then(|s| match (s.process.input, s.controller) {
        (Some(pid), _) | (None, Some(Controller::Process(pid))) => Some((pid, s.controller)),
        _ => None,
    });
    let Some((_, controller)) = from.filter(|f| f.0 == p.pid()) else { return Err(p.notsup()) };
    let bytes = bytes.ok_or_else(|| p.badarg())?;
    p.heap.bump_reductions(1 + bytes.len() as i64 / 1024);
    if !receive::packet(&node, id, &bytes) {
        if let Some(c) = controller {
            connect::kill(c, am::kill);
        }
        p.check_exit()?;
    }
    Ok(am::ok.into())
}
pub fn input_handler<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = match kvik_release::current().judges_dist_handles_first() {
        true => carried(p, a[0])?,
        false => own(p, a[0])?,
    };
    let pid = a[1].as_local_pid().ok_or_else(|| p.badarg())?;
    if let Some(mut s) = node.lock_up(id) {
        s.process.input = Some(pid);
    }
    Ok(am::ok.into())
}
pub fn get_opt<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = own(p, a[0])?;
    let sized = node.lock_up(id).filter(|_| a[1] == am::get_size).map(|s| s.process.get_size);
    sized.map(Term::bool).ok_or_else(|| p.badarg())
}
/// Returns the option's previous value.
pub fn set_opt<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (node, id) = own(p, a[0])?;
    let on = a[2].as_bool().filter(|_| a[1] == am::get_size).ok_or_else(|| p.badarg())?;
    let before = node.lock_up(id).map(|mut s| std::mem::replace(&mut s.process.get_size, on));
    before.map(Term::bool).ok_or_else(|| p.badarg())
}
