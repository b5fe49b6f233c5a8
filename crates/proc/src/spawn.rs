//! Making processes.

use kvik_heap::roots::Root;
use kvik_heap::Heap;
use kvik_term::{Atom, Term};

use crate::hooks::hooks;
use crate::limits::{next_heap_size, Defaults, MaxHeap};
use crate::links_monitors::{
    AliasKind, Link, LinkState, MonitorOptions, MonitoredBy, Monitoring, Target,
};
use crate::process::{flag, table, Priority, RunToken, Shared, Task};
use crate::signal_types::{ByAge, RefId};
use crate::{sched, Proc, RemotePid};

pub struct SpawnOptions {
    pub link: bool,
    /// The parent gets the exit signal over the link as a priority message.
    pub priority_link: bool,
    pub monitor: Option<MonitorOptions>,
    pub priority: Priority,
    pub min_heap_size: Option<usize>,
    pub min_bin_vheap_size: Option<usize>,
    pub fullsweep_after: Option<usize>,
    pub max_heap_size: Option<MaxHeap>,
    pub off_heap_queue: Option<bool>,
    pub async_dist: Option<bool>,
    /// Bound to this scheduler, counted from 1; 0 for none.
    pub scheduler: usize,
    /// The spawn request as reported by sequential tracing.
    pub request: Option<crate::seq_trace::SpawnTrace>,
    /// Not shown to users as one of theirs (`erts_internal:spawn_system_process/3`).
    pub system: bool,
}

impl Default for SpawnOptions {
    fn default() -> Self {
        SpawnOptions {
            link: false,
            priority_link: false,
            monitor: None,
            priority: Priority::Normal,
            min_heap_size: None,
            min_bin_vheap_size: None,
            fullsweep_after: None,
            max_heap_size: None,
            off_heap_queue: None,
            async_dist: None,
            scheduler: 0,
            request: None,
            system: false,
        }
    }
}

impl SpawnOptions {
    /// Fills options that are not set with the defaults `d`.
    fn begin_with(&mut self, d: &Defaults) {
        self.min_heap_size.get_or_insert(d.min_heap_size);
        self.min_bin_vheap_size.get_or_insert(d.min_bin_vheap_size);
        self.fullsweep_after.get_or_insert(d.fullsweep_after);
        self.max_heap_size.get_or_insert(d.max_heap);
        self.off_heap_queue.get_or_insert(d.off_heap_queue);
        self.async_dist.get_or_insert(d.async_dist);
    }
}

impl SpawnOptions {
    /// Whether the initial heap is within `max_heap_size`.
    pub fn heap_fits(&self) -> bool {
        if self.min_heap_size.is_none() && self.max_heap_size.is_none() {
            return true;
        }
        let d = Defaults::get();
        let most = self.max_heap_size.unwrap_or(d.max_heap).size;
        let least = |n: usize| next_heap_size(n.max(d.min_heap_size));
        most == 0 || self.min_heap_size.map_or(d.min_heap_size, least) <= most
    }
}

/// A new process, which is not running yet.
pub struct Spawned {
    pub pid: u32,
    /// The reference of its monitor.
    pub monitor: Option<RefId>,
    /// The reference of the request, if it is reported to a tracer.
    pub request: Option<RefId>,
    run_token: RunToken,
}

impl Spawned {
    pub fn proc(&self) -> &Proc {
        self.run_token.private()
    }
    /// Records that another node's process spawned it, and the function it is shown to begin with.
    pub fn asked_for_abroad(&self, by: RemotePid, leader: Term<'_>, call: (Atom, Atom, u8)) {
        let p = self.proc();
        p.set_initial_call(call);
        p.heap.set_root(Root::GroupLeader, p.heap.copy(leader));
        p.with_rare(|x| x.remote_parent = Some(by));
    }
    /// Traces it as a new process, and reports the spawn by another node's process.
    pub fn trace_spawned_abroad(
        &self,
        by: RemotePid,
        first: (Atom, Atom),
        args: Term<'_>,
        link: bool,
    ) {
        if crate::tracing_on::on() {
            self.proc().trace_spawned_abroad(by, first, args, link);
            self.proc().profile(true);
        }
    }
    /// Lets it run.
    pub fn go(self) {
        sched::enqueue(self.run_token);
    }
}

/// Makes a process that calls `m:f` with `args`. `None`: there are too many processes.
pub fn spawn(
    parent: Option<&Proc>,
    m: Atom,
    f: Atom,
    args: Term<'_>,
    mut o: SpawnOptions,
) -> Option<Spawned> {
    spawn_with(parent, m, f, args, &mut o)
}
/// The same with the options by reference, as they are large. What they own is taken out.
pub fn spawn_with(
    parent: Option<&Proc>,
    m: Atom,
    f: Atom,
    args: Term<'_>,
    o: &mut SpawnOptions,
) -> Option<Spawned> {
    if let Some(usual) = Defaults::unusual() {
        o.begin_with(&usual);
    }
    let words = o.min_heap_size.unwrap_or(0).max(words_of(args) + 16);
    let run_token = table().insert(|n| {
        let shared = Shared::new(n, o.priority);
        // It runs here first, unless another scheduler is given it.
        shared.set_home(sched::current().unwrap_or(0) as u16);
        let t = Task::start(shared, |me, room| Proc::with(n, Heap::within(room, words), Some(me)));
        (t.task().clone(), t)
    });
    let Some(run_token) = run_token else {
        if let Some(parent) = parent {
            let text = "Too many processes\n";
            crate::exit::log_error(parent, "~s~n", |h| h.list(&[h.string(text)]));
        }
        return None;
    };
    let p = run_token.private();
    let (arity, given) = (args.list().count() as u8, args);
    p.set_initial_call((m, f, arity));
    p.heap.set_ip((hooks().start_ip)());
    let args = p.heap.copy_small(args, 16).unwrap_or_else(|| p.heap.copy(args));
    p.heap.save_args(&[m.into(), f.into(), args]);
    set_options(p, o);
    if let Some(parent) = parent {
        let leader = parent.heap.root(Root::GroupLeader);
        let local = leader.as_local_pid().map(Term::local_pid);
        let leader = local.unwrap_or_else(|| p.heap.copy(leader));
        p.heap.set_root(Root::GroupLeader, leader);
        p.with_parent(parent.pid());
    } else {
        p.heap.set_root(Root::GroupLeader, p.self_pid());
    }
    let has_alias = o.monitor.as_ref().is_some_and(|m| m.alias.is_some());
    let id = o.request.as_ref().map(|_| RefId::next_for(has_alias));
    if let (Some(parent), Some(r), Some(id)) = (parent, &o.request, id) {
        parent.seq_spawn(p, id.0, r, (m, f, arity), given);
    }
    if let Some(parent) = parent.filter(|_| crate::tracing_on::on()) {
        parent.trace_spawn(p, m, f, given, o.link);
        p.profile(true);
    }
    let monitor = parent.and_then(|parent| relate(parent, p, o, id));
    Some(Spawned { pid: p.pid(), monitor, request: id, run_token })
}

/// The words a copy of a function's arguments takes.
fn words_of(args: Term<'_>) -> usize {
    const FEW: usize = 4;
    let simple = args.list().take(FEW + 1).take_while(|t| t.is_immediate()).count();
    if simple <= FEW && args.list().nth(simple).is_none() {
        return 2 * simple;
    }
    kvik_heap::copy::size(args, &kvik_heap::literal::Sharing::now())
}

fn set_options(p: &Proc, o: &mut SpawnOptions) {
    if let (true, Some(me)) = (o.system, p.me()) {
        me.set_system();
    }
    p.set_flag(flag::OFF_HEAP_QUEUE, o.off_heap_queue.unwrap_or(false));
    if o.async_dist == Some(true) {
        p.with_rare(|x| x.async_dist = true);
    }
    if o.scheduler != 0 {
        p.bind(o.scheduler);
    }
    if let Some(n) = o.fullsweep_after {
        p.with_rare(|x| x.fullsweep_after = n);
    }
    if let Some(n) = o.min_heap_size {
        p.with_rare(|x| x.min_heap_size = next_heap_size(n.max(Defaults::least_heap_size())));
    }
    if let Some(n) = o.min_bin_vheap_size {
        p.with_rare(|x| {
            x.min_bin_vheap_size = next_heap_size(n.max(Defaults::least_bin_vheap_size()))
        });
    }
    if let Some(m) = o.max_heap_size.take() {
        p.with_rare(|x| x.max_heap_size = Some(m));
    }
    p.apply_limits();
}

/// Sets up link and monitor, both ends at once: the new process is not running yet.
fn relate(parent: &Proc, p: &Proc, o: &mut SpawnOptions, id: Option<RefId>) -> Option<RefId> {
    if o.link {
        let (a, b) = (parent.self_pid(), p.self_pid());
        let linked = |peer| Link { peer, state: LinkState::Linked };
        parent.with_cold(|x| x.links.insert(Link::key(b), linked(b)));
        p.with_cold(|x| x.links.insert(Link::key(a), linked(a)));
        parent.prioritize_link(b, o.priority_link);
    }
    let MonitorOptions { tag, alias, priority } = o.monitor.take()?;
    let id = id.unwrap_or_else(|| RefId::next_for(alias.is_some()));
    let target = Target::Process(p.pid());
    parent.with_cold(|x| {
        if let Some(kind) = alias {
            x.aliases.insert(id, kind == AliasKind::ReplyDemonitor);
        }
        x.monitoring.insert(id, Monitoring { target, tag, alias })
    });
    if priority {
        parent.prioritize_monitor(id);
    }
    p.with_cold(|x| {
        x.monitored_by.insert(ByAge(id), MonitoredBy { pid: parent.pid(), name: None })
    });
    Some(id)
}

impl Proc {
    fn with_parent(&self, pid: u32) {
        // Pid 0 is the ancestor of all processes; its children need no record.
        if pid != 0 {
            self.parent.set(pid);
        }
    }
}
