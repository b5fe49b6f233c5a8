//! Spawning processes on other nodes, and for them here.

use std::sync::Arc;

use kvik_bifs::process::spawn::{mfa, option, SpawnReply};
use kvik_heap::OwnedTerm;
use kvik_proc::links_monitors::{AliasKind, MonitorOptions, MonitoredBy, Monitoring, Target};
use kvik_proc::signal::ByAge;
use kvik_proc::signal::{deliver, message, Signal};
use kvik_proc::spawn::{spawn, SpawnOptions};
use kvik_proc::{seq_trace, BifResult, Proc, RefId, RemotePid, ABROAD};
use kvik_term::{am, Atom, Term};

use crate::connect::{self, ConnectError, From, ANSWER, CONTROL};
use crate::node::{self, NodeState, Phase, RemoteNode, RemoteRef};
use crate::sender::{send_demonitor, send_ended};
use crate::signal::{DistFlags, Outgoing, SignalKind};
use crate::spawn_request::{answer, tell_failure, Spawn};
use crate::watchers::{add_watcher, RemoteMonitor};

/// Reply flags: child is linked; parent monitors child.
const LINKED: u64 = 1;
const MONITORED: u64 = 2;

/// Parsed options, except those passed to the other node.
struct Asked<'h> {
    options: SpawnOptions,
    reply: SpawnReply,
    /// Options passed to the other node.
    theirs: Vec<Term<'h>>,
    good: bool,
}
fn asked<'h>(all: Vec<Term<'h>>) -> Asked<'h> {
    let (mut options, mut reply) = (SpawnOptions::default(), SpawnReply::default());
    let (mut theirs, mut good) = (Vec::new(), true);
    for t in all {
        // The other node checks values, except of options that it never gets.
        let known = option(&mut options, &mut Some(&mut reply), t).is_some();
        match t.as_tuple_n::<2>().and_then(|[k, _]| k.as_atom()) {
            Some(am::reply | am::reply_tag) => good &= known,
            Some(am::monitor) => {
                good &= known;
                theirs.push(am::monitor.into());
            }
            Some(am::link) if kvik_release::current().has_priority_messages() => {
                good &= known;
                theirs.push(am::link.into());
            }
            _ => theirs.push(t),
        }
    }
    Asked { options, reply, theirs, good }
}

/// `erts_internal:dist_spawn_request/4`. For `spawn_opt`, also returns whether the reference is a
/// monitor's.
pub fn request<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = a[0].as_atom().filter(|n| *n != kvik_proc::node::name());
    let m = a[1].as_tuple_n::<3>().and_then(|m| mfa(&m));
    let (Some(name), Some((m, f, args)), Some(all)) = (name, m, a[2].list_to_vec()) else {
        return Ok(am::badarg.into());
    };
    let own = |t: &Term<'_>| {
        let key = t.as_tuple_n::<2>().and_then(|[k, _]| k.as_atom());
        matches!(key, Some(am::reply | am::reply_tag))
    };
    let for_opt = a[3] == am::spawn_opt;
    let Asked { options, reply, theirs, good } = asked(all.clone());
    if for_opt && (!good || all.iter().any(own)) {
        return Ok(am::badarg.into());
    }
    let monitors = options.monitor.is_some();
    let alias = options.monitor.as_ref().and_then(|m| m.alias);
    let id = RefId::next_for(alias.is_some());
    let r = match alias {
        Some(_) => p.heap.alias_ref_of_numbers(id.0, p.pid()),
        None => id.term(&p.heap),
    };
    let s = Spawn {
        parent: p.pid(),
        reply,
        monitor: options.monitor,
        link: options.link,
        priority_link: options.priority_link,
        ended: None,
        child: None,
    };
    let failed = match good {
        false => Err(Box::new((s, am::badopt))),
        true => ask(p, name, id, s, (m, f, args), &theirs),
    };
    match failed {
        Ok(()) => p.with_cold(|x| {
            if let Some(kind) = alias {
                x.aliases.insert(id, kind == AliasKind::ReplyDemonitor);
            }
            x.rare.get_or_insert_default().spawning.insert(id);
        }),
        Err(failed) => tell_failure(p, id, &failed.0, failed.1, am::system.into(), None),
    }
    Ok(match for_opt {
        true => p.heap.tuple(&[r, monitors.into()]),
        false => r,
    })
}

fn ask(
    p: &Proc,
    name: Atom,
    id: RefId,
    s: Spawn,
    (m, f, args): (Atom, Atom, Term<'_>),
    options: &[Term<'_>],
) -> Result<(), Box<(Spawn, Atom)>> {
    let node = node::of(name);
    let knows = |s: &NodeState| s.phase != Phase::Up || s.flags.has(DistFlags::SPAWN);
    if !knows(&node.lock()) {
        return Err(Box::new((s, am::notsup)));
    }
    let arity = args.list().count() as i64;
    let scratch = kvik_heap::Heap::detached();
    let call = scratch.tuple(&[m.into(), f.into(), scratch.integer(arity)]);
    let options: Vec<_> = options.iter().map(|t| scratch.copy(*t)).collect();
    let leader = scratch.copy(p.heap.root(kvik_heap::roots::Root::GroupLeader));
    let options = scratch.list(&options);
    let args = scratch.copy(args);
    let parts = [id.term(&scratch), p.self_pid(), leader, call, options];
    let token = seq_trace::on().then(|| {
        let mut told = vec![am::spawn_request.into()];
        told.extend(parts);
        p.seq_send(name.into(), scratch.tuple(&told));
        p.seq_send(name.into(), args)
    });
    let token = token.filter(|t| !t.term().is_nil());
    let token = token.as_ref().map(OwnedTerm::term);
    let o = Outgoing { kind: SignalKind::SpawnRequest, parts: &parts, payload: Some(args), token };
    let mut s = Some(s);
    let sent = connect::send(&node, &o, CONTROL, Some(p.pid()), |state| {
        s.take().map(|s| state.spawns.insert(id, s));
    });
    if sent.is_ok_and(|gone| gone.wait) {
        p.wait_for_connection();
    }
    match (sent, s) {
        (Err(ConnectError::NoConnection | ConnectError::Busy), Some(s)) => {
            Err(Box::new((s, am::noconnection)))
        }
        _ => Ok(()),
    }
}

/// The other node's reply.
pub struct Answer {
    pub flags: u64,
    pub result: Result<RemotePid, Atom>,
    /// Sequential tracing token, or an empty list.
    pub token: OwnedTerm,
}
pub fn replied(from: &From<'_>, id: RefId, parent: u32, Answer { flags, result, token }: Answer) {
    {
        let Some(mut s) = from.node.lock_up(from.id) else { return };
        if s.spawns.get(&id).is_none_or(|s| s.parent != parent) {
            return;
        }
        if let Ok(child) = result {
            if flags & LINKED != 0 {
                s.links.insert((parent, child));
            }
            if flags & MONITORED != 0 {
                s.monitors.insert(id, parent);
            }
        }
    }
    let (node, conn) = (from.node.clone(), from.id);
    let tell = move |p: Option<&Proc>| {
        let waits = |p: &&Proc| p.rare(|x| x.spawning.contains(&id)).unwrap_or(false);
        match p.filter(waits) {
            Some(p) => {
                // Missing if the connection was lost meanwhile: then `failed`, which runs later,
                // reports it.
                let Some(s) = node.lock().spawns.remove(&id) else { return };
                p.with_rare(|x| x.spawning.remove(&id));
                succeed(p, node.name.into(), id, s, Answer { flags, result, token })
            }
            None => nobody_waits(&node, conn, id, parent, flags, result),
        }
    };
    deliver(parent, Signal::Run(Box::new(tell)));
}
fn succeed(p: &Proc, from: Term<'static>, id: RefId, s: Spawn, r: Answer) {
    let Answer { flags, result, token } = r;
    let child = match result {
        Ok(child) => child,
        Err(why) => return tell_failure(p, id, &s, why, from, Some(token)),
    };
    let alias = s.monitor.as_ref().and_then(|m| m.alias);
    if flags & LINKED != 0 {
        p.linked_remote(child);
        p.prioritize_link(child.owned().term(), s.priority_link);
    }
    if let (Some(MonitorOptions { tag, alias, priority }), true) =
        (s.monitor, flags & MONITORED != 0)
    {
        let target = Target::Remote(child.owned());
        p.with_cold(|x| x.monitoring.insert(id, Monitoring { target, tag, alias }));
        if priority {
            p.prioritize_monitor(id);
        }
    }
    if s.reply.success {
        answer(p, (id, alias.is_some()), &s.reply, (from, Some(token)), am::ok, |h| child.term(h));
    }
}
/// Undoes a spawn whose parent has ended or has abandoned the request.
fn nobody_waits(
    node: &Arc<RemoteNode>,
    conn: u32,
    id: RefId,
    parent: u32,
    flags: u64,
    result: Result<RemotePid, Atom>,
) {
    let Ok(child) = result else {
        node.lock().spawns.remove(&id);
        return;
    };
    let (reason, watched) = {
        let Some(mut s) = node.lock_up(conn) else { return };
        s.links.remove(&(parent, child));
        let watched = s.monitors.remove(&id).is_some();
        let reason = match s.spawns.get_mut(&id) {
            Some(spawn) if spawn.ended.is_none() && flags & LINKED != 0 => {
                spawn.child = Some(child);
                None
            }
            _ => s.spawns.remove(&id).and_then(|s| s.ended),
        };
        (reason, watched)
    };
    if watched {
        send_demonitor(node, parent, id, child.owned().term());
    }
    if let Some(reason) = reason.filter(|_| flags & LINKED != 0) {
        send_ended(node, parent, child, reason.term(), None);
    }
}
/// The parent has ended before the reply came.
pub fn spawner_ended(parent: u32, id: RefId, reason: &OwnedTerm) -> bool {
    give_up(parent, id, reason)
}
fn give_up(parent: u32, id: RefId, reason: &OwnedTerm) -> bool {
    for node in node::all() {
        let child = {
            let mut s = node.lock();
            let Some(spawn) = s.spawns.get_mut(&id) else { continue };
            match (spawn.child, spawn.link) {
                (None, _) => {
                    spawn.ended = Some(reason.clone());
                    return true;
                }
                (Some(child), _) => {
                    s.spawns.remove(&id);
                    child
                }
            }
        };
        return send_ended(&node, parent, child, reason.term(), None);
    }
    false
}
/// `spawn_request_abandon/1`
pub fn abandon<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_ref().ok_or_else(|| p.badarg())?;
    let Some(id) = RefId::of_term(a[0]) else { return Ok(false.into()) };
    let waits = p.rare(|x| x.spawning.contains(&id)).unwrap_or(false);
    if !waits {
        return Ok(false.into());
    }
    p.with_cold(|x| {
        x.end_alias(&id);
        x.rare.get_or_insert_default().spawning.remove(&id)
    });
    Ok(give_up(p.pid(), id, &OwnedTerm::immediate(am::abandoned.into())).into())
}

/// A spawn request from another node.
pub struct RemoteSpawn<'a> {
    pub key: RemoteRef,
    pub reference: Term<'a>,
    pub parent: RemotePid,
    pub leader: Term<'a>,
    pub call: Term<'a>,
    pub options: Term<'a>,
    pub token: Option<OwnedTerm>,
}

impl RemoteSpawn<'_> {
    /// `None`: the request is malformed.
    pub fn run(self, from: &From<'_>, args: OwnedTerm) -> Option<()> {
        self.leader.as_pid()?;
        let [m, f, arity] = self.call.as_tuple_n()?;
        let arity = u8::try_from(arity.as_usize()?).ok();
        let (m, f) = (m.as_atom()?, f.as_atom()?);
        let all = self.options.list_to_vec()?;
        let mut o = SpawnOptions::default();
        let good = all.into_iter().all(|t| option(&mut o, &mut None, t).is_some());
        if !good || !o.heap_fits() || arity.is_none() {
            return self.refuse(from, am::badopt);
        }
        let (link, monitor) = (std::mem::take(&mut o.link), o.monitor.take().is_some());
        // The arguments arrive as its first message, as in OTP, so that its stack looks the same.
        let run = message(|h| h.list(&[h.copy(self.call)]));
        let init = (am::erts_internal, am::dist_spawn_init);
        let Some(s) = spawn(None, init.0, init.1, run.term(), o) else {
            return self.refuse(from, am::system_limit);
        };
        s.asked_for_abroad(self.parent, self.leader, (m, f, arity.unwrap_or(0)));
        s.trace_spawned_abroad(self.parent, init, run.term(), link);
        let pid = s.pid;
        let w = |id| MonitoredBy { pid: ABROAD, name: id };
        if monitor {
            let watch = RemoteMonitor {
                watcher: self.parent,
                key: self.key.clone(),
                reference: self.reference,
                watched: Term::local_pid(pid),
                pid,
            };
            if let Some(id) = add_watcher(from.node, from.id, watch) {
                s.proc().with_cold(|x| x.monitored_by.insert(ByAge(id), w(None)));
            }
        }
        if link {
            if let Some(mut state) = from.node.lock_up(from.id) {
                state.links.insert((pid, self.parent));
                s.proc().linked_remote(self.parent);
            }
        }
        let flags = (link as u64 * LINKED) | (monitor as u64 * MONITORED);
        let child = Term::local_pid(pid);
        let told = self.token.as_ref().map(|token| {
            self.told(|request, _| s.proc().seq_requested(token, request));
            let answer = self.answer(&[am::ok.into(), child]);
            s.proc().seq_send(self.parent.owned().term(), answer.term())
        });
        self.reply(from, flags, child, told);
        let token = self.token.unwrap_or_default();
        s.proc().put_with_token(args, token);
        if kvik_release::current().has_spawn_init_message() {
            // `erts_internal:dist_spawn_init/1` waits for it behind the arguments.
            let init = OwnedTerm::immediate(am::dist_spawn_init.into());
            s.proc().put_from_system(init);
        }
        s.go();
        Some(())
    }
    fn refuse(&self, from: &From<'_>, why: Atom) -> Option<()> {
        let told = self.token.as_ref().map(|token| {
            let answer = self.answer(&[am::error.into(), why.into()]);
            self.told(|request, parent| seq_trace::refused(token, request, parent, answer.term()))
        });
        self.reply(from, 0, why.into(), told);
        Some(())
    }
    /// Gives `f` the terms that sequential tracing reports for request and reply.
    fn told<R>(&self, f: impl FnOnce(Term<'_>, Term<'_>) -> R) -> R {
        let h = kvik_heap::Heap::detached();
        let parent = self.parent.term(&h);
        let parts = [self.reference, parent, self.leader, self.call, self.options];
        let mut all = vec![am::spawn_request.into()];
        all.extend(parts.map(|t| h.copy(t)));
        f(h.tuple(&all), parent)
    }
    fn answer(&self, what: &[Term<'static>]) -> OwnedTerm {
        message(|h| {
            let mut all = vec![am::spawn_reply.into(), h.copy(self.reference)];
            all.extend_from_slice(what);
            h.tuple(&all)
        })
    }
    fn reply(&self, from: &From<'_>, flags: u64, result: Term<'static>, token: Option<OwnedTerm>) {
        let parent = self.parent.owned();
        let parts = [self.reference, parent.term(), Term::int(flags as i32), result];
        let token = token.as_ref().map(OwnedTerm::term).filter(|t| !t.is_nil());
        let o = Outgoing { kind: SignalKind::SpawnReply, parts: &parts, payload: None, token };
        let _ = connect::send(from.node, &o, ANSWER, None, |_| ());
    }
}
