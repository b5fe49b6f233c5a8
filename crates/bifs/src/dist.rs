//! Natives of distribution while the node is not alive: there are no channels, so whoever names
//! one names it wrong.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "dist_ctrl_get_data", 1, badarg),
    bif!("erlang", "dist_ctrl_get_data_notification", 1, badarg),
    bif!("erlang", "dist_ctrl_get_opt", 2, badarg),
    bif!("erlang", "dist_ctrl_input_handler", 2, badarg),
    bif!("erlang", "dist_ctrl_put_data", 2, badarg),
    bif!("erlang", "dist_ctrl_set_opt", 3, badarg),
    bif!("erts_internal", "abort_pending_connection", 2, abort_pending_connection_2),
    bif!("erts_internal", "create_dist_channel", 3, badarg),
    bif!("erts_internal", "new_connection", 1, new_connection_1),
    bif!("erlang", "monitor_node", 2, monitor_node),
    bif!("erlang", "monitor_node", 3, monitor_node),
];

fn badarg<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.badarg())
}
fn abort_pending_connection_2<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(false))
}
fn new_connection_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a.first().and_then(|t| t.as_atom()) {
        Some(_) => Err(p.notsup()),
        None => Err(p.badarg()),
    }
}
/// A node that is not alive can watch none but itself.
fn monitor_node<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(node), Some(on)) = (a.first(), a.get(1)) else {
        return Err(p.badarg());
    };
    let options = a.get(2).copied().unwrap_or(Term::NIL);
    let known = |o: Term<'_>| o.is_atom(am::allow_passive_connect);
    let fine = node.as_atom().is_some()
        && on.as_bool().is_some()
        && options.list_to_vec().is_some_and(|l| l.into_iter().all(known));
    if !fine {
        return Err(p.badarg());
    }
    // Our own node is always there.
    if node.is_atom(kvik_proc::node::name()) {
        return Ok(Term::bool(true));
    }
    if kvik_proc::node::is_alive() {
        return Err(p.notsup());
    }
    Err(p.error(am::notalive))
}
