//! Unanswered spawn requests, and the replies that parents get.

use std::collections::BTreeMap;

use kvik_bifs::process::spawn::SpawnReply;
use kvik_heap::OwnedTerm;
use kvik_proc::links_monitors::MonitorOptions;
use kvik_proc::signal::{deliver, message, Signal};
use kvik_proc::{Proc, RefId, RemotePid};
use kvik_term::{am, Atom, Term};

/// An unanswered spawn request of a local process.
pub struct Spawn {
    pub parent: u32,
    pub reply: SpawnReply,
    /// The monitor to create on success.
    pub monitor: Option<MonitorOptions>,
    pub link: bool,
    pub priority_link: bool,
    /// The parent ended with this reason, or gave the request up.
    pub ended: Option<OwnedTerm>,
    /// Set if the reply came after the parent ended, but before its exit reason was known.
    pub child: Option<RemotePid>,
}

/// Sends `{Tag, Ref, error, Why}` to the parent and undoes what was prepared for success.
pub fn tell_failure(
    p: &Proc,
    id: RefId,
    s: &Spawn,
    why: Atom,
    from: Term<'static>,
    token: Option<OwnedTerm>,
) {
    let alias = s.monitor.as_ref().and_then(|m| m.alias);
    p.with_cold(|x| {
        x.end_alias(&id);
    });
    if s.reply.error {
        answer(p, (id, alias.is_some()), &s.reply, (from, token), am::error, |_| why.into());
    }
}
pub fn answer(
    p: &Proc,
    (id, alias): (RefId, bool),
    reply: &SpawnReply,
    (from, token): (Term<'static>, Option<OwnedTerm>),
    what: Atom,
    value: impl for<'h> FnOnce(&'h kvik_heap::Heap) -> Term<'h>,
) {
    let m = message(|h| {
        let tag = reply.tag.as_ref().map_or(am::spawn_reply.into(), |t| h.copy(t.term()));
        let r = match alias {
            true => h.alias_ref_of_numbers(id.0, p.pid()),
            false => id.term(h),
        };
        h.tuple(&[tag, r, what.into(), value(h)])
    });
    match token {
        Some(token) => p.put_tokened_from(from, m, token),
        None => p.put_from(from, m),
    }
}

/// Fails all these requests.
pub fn failed(all: BTreeMap<RefId, Spawn>, why: Atom) {
    for (id, s) in all {
        if s.ended.is_some() {
            continue;
        }
        let parent = s.parent;
        let tell = move |p: Option<&Proc>| {
            let Some(p) = p else { return };
            if p.with_rare(|x| x.spawning.remove(&id)) {
                tell_failure(p, id, &s, why, am::system.into(), None);
            }
        };
        deliver(parent, Signal::Run(Box::new(tell)));
    }
}
