//! State of other nodes, and the signals queued for them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use kvik_env::thread;
use kvik_etf::{ReceiveCache, SendCache};
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::post;
use kvik_proc::signal_handlers::resume;
use kvik_proc::{RefId, RemotePid};
use kvik_term::{am, Atom, Term};

use crate::fragments::{IncomingMessages, LargeMessages, OutgoingSignal};
use crate::packet::Packet;
use crate::signal::{DistFlags, HeldSignal};
use crate::spawn_request::Spawn;

kvik_state::vm_state! {
    /// Queued bytes for a node at which its senders are suspended.
    static BUSY_LIMIT: AtomicUsize = AtomicUsize::new(1 << 20);
}

/// `+zdbbl`, in bytes.
pub fn set_busy_limit(bytes: usize) {
    BUSY_LIMIT.store(bytes, Relaxed);
}
pub fn busy_limit() -> usize {
    BUSY_LIMIT.load(Relaxed)
}

/// Fragments encoded each time a packet leaves.
const FRAGMENTS_AT_ONCE: usize = 2;

#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub enum Phase {
    /// No connection.
    #[default]
    Idle,
    /// A connection is being made; signals are held meanwhile.
    Pending,
    Up,
}

/// The port or process that transports the bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Controller {
    Port(u32),
    Process(u32),
}
impl Controller {
    pub fn term(self) -> Term<'static> {
        match self {
            Controller::Port(n) => Term::local_port(n),
            Controller::Process(n) => Term::local_pid(n),
        }
    }
}

/// A reference of the other node that names its monitor of ours: creation and numbers.
pub type RemoteRef = (u32, Vec<u32>);

pub struct RemoteNode {
    pub name: Atom,
    state: Mutex<NodeState>,
}

#[derive(Default)]
pub struct NodeState {
    pub phase: Phase,
    /// Number of the current or last connection.
    pub id: u32,
    /// Numbers of the reference in the connection's handle.
    pub handle: [u32; 3],
    pub flags: DistFlags,
    pub creation: u32,
    pub controller: Option<Controller>,
    pub held: Vec<HeldSignal>,
    pub queue: VecDeque<Packet>,
    /// Large messages with fragments still to encode.
    pub large: LargeMessages,
    pub incoming: IncomingMessages,
    pub send_cache: SendCache,
    pub receive_cache: ReceiveCache,
    /// Bytes in `held` or `queue`.
    pub bytes: usize,
    /// Set when `bytes` reaches the limit, and cleared when the carrier has drained the queue.
    /// Senders are suspended while it is set, even if `bytes` is below the limit again.
    pub busy: bool,
    /// Processes suspended until `busy` is cleared.
    pub suspended: Vec<u32>,
    /// Links between its processes and ours.
    pub links: BTreeSet<(u32, RemotePid)>,
    /// Our processes that monitor something there.
    pub monitors: BTreeMap<RefId, u32>,
    /// Local reference of each monitor that the other node has here.
    pub watched: BTreeMap<RemoteRef, RefId>,
    /// Our processes that monitor the node, and how often.
    pub node_monitors: BTreeMap<u32, usize>,
    pub spawns: BTreeMap<RefId, Spawn>,
    /// Packets sent over this connection.
    pub sent: u64,
    pub received: u64,
    pub process: ProcessController,
}

/// Options that only a controlling process sets.
#[derive(Copy, Clone, Default)]
pub struct ProcessController {
    /// Notify it when there is something to send.
    pub wants_data: bool,
    /// Prefix packets with their sizes.
    pub get_size: bool,
    /// The process that delivers incoming packets, if not the controller.
    pub input: Option<u32>,
}

kvik_state::vm_state! {
    /// Nodes by the atom of their name.
    static NODES: Mutex<BTreeMap<u32, Arc<RemoteNode>>> = Mutex::new(BTreeMap::new());
}

fn nodes() -> MutexGuard<'static, BTreeMap<u32, Arc<RemoteNode>>> {
    NODES.lock().unwrap_or_else(|e| e.into_inner())
}
/// The node with that name, created if unknown.
pub fn of(name: Atom) -> Arc<RemoteNode> {
    nodes().entry(name.index()).or_insert_with(|| Arc::new(RemoteNode::new(name))).clone()
}
pub fn known(name: Atom) -> Option<Arc<RemoteNode>> {
    nodes().get(&name.index()).cloned()
}
/// Creation of the node's current or last connection.
pub fn creation(name: Atom) -> Option<u32> {
    known(name).map(|n| n.lock().creation)
}
pub fn controllers() -> Vec<(Atom, Term<'static>)> {
    let one = |n: Arc<RemoteNode>| {
        let c = n.lock().controller;
        c.map(|c| (n.name, c.term()))
    };
    all().into_iter().filter_map(one).collect()
}
pub fn all() -> Vec<Arc<RemoteNode>> {
    nodes().values().cloned().collect()
}

/// Locks what others hold for a moment only. `None`: it stays locked, perhaps by this thread, whose
/// memory has run out meanwhile.
pub fn lock_soon<T>(m: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    const TRIES: usize = 200;
    (0..TRIES).find_map(|i| {
        if i > 0 {
            thread::sleep(Duration::from_micros(100));
        }
        m.try_lock().ok()
    })
}

impl RemoteNode {
    fn new(name: Atom) -> RemoteNode {
        RemoteNode { name, state: Mutex::default() }
    }
    /// Locks the state; nothing is delivered meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// The same, unless it stays locked.
    pub fn lock_soon(&self) -> Option<MutexGuard<'_, NodeState>> {
        lock_soon(&self.state)
    }
    /// Locks the state if that connection is still up.
    pub fn lock_up(&self, id: u32) -> Option<MutexGuard<'_, NodeState>> {
        Some(self.lock()).filter(|s| s.phase == Phase::Up && s.id == id)
    }
    /// Wakes the controller, as there is something to send.
    pub fn kick(&self) {
        let (controller, told) = {
            let mut s = self.lock();
            let some = !s.queue.is_empty() || !s.large.is_empty();
            let told = some && std::mem::take(&mut s.process.wants_data);
            (s.controller, told)
        };
        match controller {
            Some(Controller::Port(n)) => {
                if let Some(p) = kvik_port::table::get(n) {
                    p.fetch();
                }
            }
            Some(Controller::Process(pid)) if told => {
                post(pid, |_| am::dist_data.into());
            }
            _ => {}
        }
    }
    /// The next packet for the controller of that connection: its header and its body.
    pub fn next(&self, id: u32) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut resumed = Vec::new();
        let packet = self.lock_up(id)?.take_packet(&mut resumed);
        resumed.into_iter().for_each(|pid| resume(pid, pid));
        packet
    }
    /// Whether the node is visible; `None` if it is not connected.
    pub fn visible(&self) -> Option<bool> {
        let s = self.lock();
        (s.phase == Phase::Up).then(|| s.flags.published())
    }
}

impl NodeState {
    /// Queues a process's signal, or holds it behind that process's large message. Adds processes
    /// to resume to `resumed`.
    pub fn push(&mut self, from: Option<u32>, signal: OutgoingSignal, resumed: &mut Vec<u32>) {
        let Some(signal) = self.large.hold_back(from, signal) else { return };
        match signal {
            OutgoingSignal::Packet(packet) => self.enqueue(packet),
            OutgoingSignal::Large(m) => {
                self.large.add(m);
                self.encode_fragments(usize::MAX, resumed);
            }
        }
    }
    fn enqueue(&mut self, packet: Packet) {
        self.count(packet.len());
        self.queue.push_back(packet);
    }
    fn count(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.busy |= self.bytes >= busy_limit();
    }
    /// Encodes at most `most` fragments, until the connection is busy.
    pub fn encode_fragments(&mut self, most: usize, resumed: &mut Vec<u32>) {
        let mut packets = Vec::new();
        for _ in 0..most {
            if self.large.is_empty() || self.busy {
                return;
            }
            let mut all_encoded = Vec::new();
            self.large.next(&mut packets, &mut all_encoded);
            packets.drain(..).for_each(|p| self.enqueue(p));
            let waits = if self.busy { &mut self.suspended } else { &mut *resumed };
            waits.append(&mut all_encoded);
        }
    }
    fn take_packet(&mut self, resumed: &mut Vec<u32>) -> Option<(Vec<u8>, Vec<u8>)> {
        if self.queue.is_empty() {
            self.end_busy(resumed);
        }
        self.encode_fragments(FRAGMENTS_AT_ONCE, resumed);
        let packet = self.queue.pop_front()?;
        self.bytes -= packet.len();
        self.sent += 1;
        let header = packet.header(&mut self.send_cache);
        // A port drains its queue completely; a process need not.
        if matches!(self.controller, Some(Controller::Process(_))) && self.bytes < busy_limit() / 2
        {
            self.end_busy(resumed);
        }
        Some((header, packet.body))
    }
    pub fn end_busy(&mut self, resumed: &mut Vec<u32>) {
        self.busy = false;
        resumed.append(&mut self.suspended);
    }
    pub fn hold(&mut self, h: HeldSignal) {
        self.count(h.bytes());
        self.held.push(h);
    }
    /// The term for the connection: `{Id, Reference}`.
    pub fn handle<'h>(&self, h: &'h Heap, of: &Arc<RemoteNode>) -> Term<'h> {
        let r = Arc::new(Handle { node: of.clone(), id: self.id });
        h.tuple(&[h.unsigned(self.id as u64), h.magic_ref_of_numbers(self.handle, r)])
    }
}

/// A connection, as a resource that Erlang code holds.
pub struct Handle {
    pub node: Arc<RemoteNode>,
    pub id: u32,
}

pub fn handle(t: Term<'_>) -> Option<(Arc<RemoteNode>, u32)> {
    let [_, r] = t.as_tuple_n()?;
    let h = Heap::resource_ref(r)?.downcast_ref::<Handle>()?;
    Some((h.node.clone(), h.id))
}

/// A shared `noconnection`, as many processes receive it.
pub fn noconnection() -> OwnedTerm {
    OwnedTerm::immediate(Term::atom(am::noconnection))
}
