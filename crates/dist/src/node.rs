//! What is known of other nodes, and the signals that wait to go there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_etf::{ReceiveCache, SendCache};
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::handle::resume;
use kvik_proc::signal::post;
use kvik_proc::{RefId, RemotePid};
use kvik_term::{am, Atom, Term};

use crate::fragments::{IncomingMessages, LargeMessages, Signal};
use crate::packet::Packet;
use crate::signal::{Flags, Held};
use crate::spawn_request::Spawn;

kvik_state::vm_state! {
    /// Bytes that wait for a node from which on their senders wait too.
    static BUSY_LIMIT: AtomicUsize = AtomicUsize::new(1 << 20);
}

/// `+zdbbl`, in bytes.
pub fn set_busy_limit(bytes: usize) {
    BUSY_LIMIT.store(bytes, Relaxed);
}
pub fn busy_limit() -> usize {
    BUSY_LIMIT.load(Relaxed)
}

/// Fragments that are encoded when a packet leaves.
const FRAGMENTS_AT_ONCE: usize = 2;

#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There is no connection.
    #[default]
    Idle,
    /// One is being made; what is sent meanwhile is held.
    Pending,
    Up,
}

/// What moves the bytes.
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

/// A reference of the node, as it names a monitor of ours: creation and numbers.
pub type RemoteRef = (u32, Vec<u32>);

pub struct Node {
    pub name: Atom,
    state: Mutex<State>,
}

#[derive(Default)]
pub struct State {
    pub phase: Phase,
    /// Of the connection there is, or was last.
    pub id: u32,
    /// The numbers of the reference that stands for it.
    pub handle: [u32; 3],
    pub flags: Flags,
    pub creation: u32,
    pub controller: Option<Controller>,
    pub held: Vec<Held>,
    pub queue: VecDeque<Packet>,
    /// Those of which fragments are still to be encoded.
    pub large: LargeMessages,
    pub incoming: IncomingMessages,
    pub send_cache: SendCache,
    pub receive_cache: ReceiveCache,
    /// Bytes in `held` or `queue`.
    pub bytes: usize,
    /// Set when `bytes` reaches the limit. It stays set until the carrier has taken what waits, also
    /// while `bytes` is below the limit: until then senders are suspended.
    pub busy: bool,
    /// Processes that are suspended until it is no longer busy.
    pub suspended: Vec<u32>,
    /// Its processes and ours that are linked.
    pub links: BTreeSet<(u32, RemotePid)>,
    /// Our processes that watch something there.
    pub monitors: BTreeMap<RefId, u32>,
    /// By which reference of ours a monitor of theirs is known here.
    pub watched: BTreeMap<RemoteRef, RefId>,
    /// Our processes that watch the node, how often.
    pub node_monitors: BTreeMap<u32, usize>,
    pub spawns: BTreeMap<RefId, Spawn>,
    /// Packets, since the connection is there.
    pub sent: u64,
    pub received: u64,
    pub process: ProcessController,
}

/// What only a process that controls a connection asks for.
#[derive(Copy, Clone, Default)]
pub struct ProcessController {
    /// It is to be told when there is something to send.
    pub wants_data: bool,
    /// It gets packets with their sizes.
    pub get_size: bool,
    /// Whom packets are taken from, where that is not the controller.
    pub input: Option<u32>,
}

kvik_state::vm_state! {
    /// By the name's atom.
    static NODES: Mutex<BTreeMap<u32, Arc<Node>>> = Mutex::new(BTreeMap::new());
}

fn nodes() -> MutexGuard<'static, BTreeMap<u32, Arc<Node>>> {
    NODES.lock().unwrap_or_else(|e| e.into_inner())
}
/// A node, known from now on.
pub fn of(name: Atom) -> Arc<Node> {
    nodes().entry(name.index()).or_insert_with(|| Arc::new(Node::new(name))).clone()
}
pub fn known(name: Atom) -> Option<Arc<Node>> {
    nodes().get(&name.index()).cloned()
}
/// Of its connection, or the last one.
pub fn creation(name: Atom) -> Option<u32> {
    known(name).map(|n| n.lock().creation)
}
pub fn controllers() -> Vec<(Atom, Term<'static>)> {
    let one = |n: Arc<Node>| {
        let c = n.lock().controller;
        c.map(|c| (n.name, c.term()))
    };
    all().into_iter().filter_map(one).collect()
}
pub fn all() -> Vec<Arc<Node>> {
    nodes().values().cloned().collect()
}

impl Node {
    fn new(name: Atom) -> Node {
        Node { name, state: Mutex::default() }
    }
    /// Nothing is delivered while it is locked.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// The same while that connection is there.
    pub fn lock_up(&self, id: u32) -> Option<MutexGuard<'_, State>> {
        Some(self.lock()).filter(|s| s.phase == Phase::Up && s.id == id)
    }
    /// There is something to send.
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
    /// Is it connected, and not to be hidden?
    pub fn visible(&self) -> Option<bool> {
        let s = self.lock();
        (s.phase == Phase::Up).then(|| s.flags.published())
    }
}

impl State {
    /// Puts a signal of a process into the queue, or behind its large message there. Who may go on is
    /// added to `resumed`.
    pub fn push(&mut self, from: Option<u32>, signal: Signal, resumed: &mut Vec<u32>) {
        let Some(signal) = self.large.hold_back(from, signal) else { return };
        match signal {
            Signal::Packet(packet) => self.enqueue(packet),
            Signal::Large(m) => {
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
    /// Encodes fragments, at most so many, until the connection is busy.
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
        // A port asks until there is nothing left; a process need not.
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
    pub fn hold(&mut self, h: Held) {
        self.count(h.bytes());
        self.held.push(h);
    }
    /// What stands for the connection: `{Id, Reference}`.
    pub fn handle<'h>(&self, h: &'h Heap, of: &Arc<Node>) -> Term<'h> {
        let r = Arc::new(Handle { node: of.clone(), id: self.id });
        h.tuple(&[h.unsigned(self.id as u64), h.magic_ref_of_numbers(self.handle, r)])
    }
}

/// A connection, as Erlang code holds it.
pub struct Handle {
    pub node: Arc<Node>,
    pub id: u32,
}

pub fn handle(t: Term<'_>) -> Option<(Arc<Node>, u32)> {
    let [_, r] = t.as_tuple_n()?;
    let h = Heap::resource_ref(r)?.downcast_ref::<Handle>()?;
    Some((h.node.clone(), h.id))
}

/// `noconnection`, of the many that hear it.
pub fn noconnection() -> OwnedTerm {
    OwnedTerm::immediate(Term::atom(am::noconnection))
}
