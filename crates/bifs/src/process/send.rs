//! `!` and `send/2,3`.

use kvik_proc::send::{SendOptions, Sent};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "!", 2, send_2),
    bif!("erlang", "send", 2, send_2),
    bif!("erlang", "send", 3, send_3),
];

fn send_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let sent = p.send(a[0], a[1]);
    if sent.is_ok() {
        p.shorten_for_send();
    }
    sent
}
fn send_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut way = SendOptions::ANY;
    let mut options = a[2].list();
    for o in options.by_ref() {
        match o.as_atom() {
            Some(am::nosuspend) => way.may_wait = false,
            Some(am::noconnect) => way.may_connect = false,
            Some(am::priority) if kvik_release::current().has_priority_messages() => {
                way.priority = true
            }
            _ => return Err(p.badarg_because(am::badopt)),
        }
    }
    if !options.rest.is_nil() {
        return Err(p.badarg_because(am::badopt));
    }
    match p.send_to(a[0], a[1], way) {
        Sent::Ok => {
            p.shorten_for_send();
            Ok(am::ok.into())
        }
        Sent::NoConnection => Ok(am::noconnect.into()),
        Sent::Busy => Ok(am::nosuspend.into()),
        Sent::BadArg => Err(p.badarg()),
    }
}
