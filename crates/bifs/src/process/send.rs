//! `!` and `send/2,3`.

use kvik_proc::send::Sent;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "!", 2, send_2),
    bif!("erlang", "send", 2, send_2),
    bif!("erlang", "send", 3, send_3),
];

fn send_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.send(a[0], a[1])
}
fn send_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (mut no_connect, mut may_wait) = (false, true);
    let mut options = a[2].list();
    for o in options.by_ref() {
        match o.as_atom() {
            Some(am::nosuspend) => may_wait = false,
            Some(am::noconnect) => no_connect = true,
            _ => return Err(p.badarg_because(am::badopt)),
        }
    }
    if !options.rest.is_nil() {
        return Err(p.badarg_because(am::badopt));
    }
    match p.send_to(a[0], a[1], may_wait) {
        Sent::Ok => Ok(am::ok.into()),
        Sent::Remote if no_connect => Ok(am::noconnect.into()),
        Sent::Remote => Ok(am::ok.into()),
        Sent::Busy => Ok(am::nosuspend.into()),
        Sent::BadArg => Err(p.badarg()),
    }
}
