//! [`Socket`]: its descriptor, its state, and the processes that wait for it.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use kvik_heap::build::{next_ref_of, RefKind};
use kvik_heap::{Heap, MagicResource, OwnedTerm};
use kvik_port::select::{self, EventMask};
use kvik_proc::signal::post;
use kvik_proc::{Proc, Raised};
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::answer::atom;
use crate::count;
use crate::counters::SocketCounters;
use crate::monitors::{self, SocketMonitor};
use crate::natives::natives;
use crate::register::register;
use crate::requests::{PendingRequest, RequestQueue};

/// State bits of a direction, as in `socket:info/1`.
pub mod state {
    pub const BOUND: u32 = 1 << 0;
    pub const LISTENING: u32 = 1 << 1;
    pub const ACCEPTING: u32 = 1 << 2;
    pub const CONNECTING: u32 = 1 << 3;
    pub const CONNECTED: u32 = 1 << 4;
    pub const SELECTED: u32 = 1 << 5;
    pub const CLOSING: u32 = 1 << 6;
    pub const CLOSED: u32 = 1 << 7;
}

/// Defaults of `{otp, rcvbuf}`, and of `{otp, rcvctrlbuf}` and `{otp, sndctrlbuf}`, in bytes.
pub const RECEIVE_BUFFER: usize = 8192;
pub const CONTROL_BUFFER: usize = 1024;

/// Settings by options at level `otp`, which accepted sockets inherit.
#[derive(Clone)]
pub struct SocketSettings {
    pub receive_buffer: usize,
    /// How many full buffers one call may read; 0 means one, and differs because `getopt` returns
    /// it.
    pub receive_times: u32,
    pub receive_control: usize,
    pub send_control: usize,
    pub counters_wrap: bool,
    pub debug: bool,
    pub in_register: bool,
}

/// The process that closes the socket.
pub struct Closer {
    pub pid: u32,
    /// `None` for the owner, which is monitored anyway.
    pub monitor: Option<SocketMonitor>,
}

/// The part of a socket that its lock guards.
pub struct SocketState {
    fd: Option<OwnedFd>,
    pub read_state: u32,
    pub write_state: u32,
    pub owner: Option<u32>,
    pub owner_monitor: Option<SocketMonitor>,
    pub closer: Option<Closer>,
    /// The process that is connecting the socket.
    pub connector: Option<PendingRequest>,
    pub readers: RequestQueue,
    pub writers: RequestQueue,
    pub acceptors: RequestQueue,
    pub counters: SocketCounters,
    pub settings: SocketSettings,
    /// Reads of the current call that have filled their buffer.
    pub buffers_filled: u32,
    /// What a receive has read that waits for more (V2).
    pub kept: Vec<u8>,
    /// `{otp, select_read}`: a receive that has got data selects the descriptor again.
    pub select_read: bool,
    /// `{otp, meta}`
    pub meta: OwnedTerm,
    /// The file that `sendfile` is sending.
    pub file: Option<OwnedFd>,
    /// The descriptor belongs to other code, and is not closed here.
    pub borrowed: bool,
}

pub struct Socket {
    state: Mutex<SocketState>,
    /// The numbers of its magic reference, the same each time that is built.
    reference: [u32; 3],
    me: Weak<Socket>,
    pub natives: SocketNatives,
    pub domain: i32,
    pub kind: i32,
    pub protocol: i32,
    /// The descriptor it was made from, if it was not opened here.
    pub original: Option<RawFd>,
}

/// Arguments of [`Socket::new`].
pub struct Parts {
    pub fd: OwnedFd,
    pub domain: i32,
    pub kind: i32,
    pub protocol: i32,
    pub original: Option<RawFd>,
    pub borrowed: bool,
    pub settings: SocketSettings,
}

impl Socket {
    /// Makes a socket with an owner. If the owner has ended by now, the socket is closed at once.
    pub fn new(parts: Parts, owner: u32) -> Arc<Socket> {
        let Parts { fd, domain, kind, protocol, original, borrowed, settings } = parts;
        count::opened(domain, kind, protocol);
        let socket = Arc::new_cyclic(|me| Socket {
            state: Mutex::new(SocketState {
                fd: Some(fd),
                read_state: 0,
                write_state: 0,
                owner: Some(owner),
                owner_monitor: None,
                closer: None,
                connector: None,
                readers: RequestQueue::default(),
                writers: RequestQueue::default(),
                acceptors: RequestQueue::default(),
                counters: SocketCounters::default(),
                settings,
                buffers_filled: 0,
                kept: Vec::new(),
                select_read: false,
                meta: OwnedTerm::immediate(am::undefined.into()),
                file: None,
                borrowed,
            }),
            reference: next_ref_of(RefKind::Magic),
            me: me.clone(),
            natives: natives(),
            domain,
            kind,
            protocol,
            original,
        });
        let mut s = socket.lock();
        s.owner_monitor = monitors::watch(&socket, owner);
        if s.owner_monitor.is_none() {
            socket.owner_ended(&mut s);
        }
        if s.settings.in_register {
            socket.tell_register("add");
        }
        drop(s);
        socket
    }
    pub fn lock(&self) -> MutexGuard<'_, SocketState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Another reference to it. `None` while it is being dropped.
    pub fn shared(&self) -> Option<Arc<Socket>> {
        self.me.upgrade()
    }
    /// Its magic reference.
    pub fn term<'h>(self: &Arc<Socket>, h: &'h Heap) -> Term<'h> {
        h.magic_ref_of_numbers(self.reference, self.clone())
    }
    pub fn is_stream(&self) -> bool {
        self.kind == libc::SOCK_STREAM
    }

    /// `{'$socket', {'$socket', SockRef}, Tag, Info}`
    fn message<'h>(self: &Arc<Socket>, h: &'h Heap, tag: &str, info: Term<'h>) -> Term<'h> {
        let name = atom("$socket");
        let socket = h.tuple(&[name, self.term(h)]);
        h.tuple(&[name, socket, atom(tag), info])
    }
    /// Tells a process that its operation is aborted.
    pub fn abort(&self, r: &PendingRequest, reason: Term<'_>) {
        let Some(me) = self.shared() else { return };
        post(r.pid, |h| {
            let info = h.tuple(&[h.copy(r.reference.term()), h.copy(reason)]);
            me.message(h, "abort", info)
        });
    }
    /// Sends the socket to the process that keeps the register of sockets.
    pub fn tell_register(&self, what: &str) {
        let (Some(keeper), Some(me)) = (register(), self.shared()) else { return };
        post(keeper, |h| {
            let socket = h.tuple(&[atom("$socket"), me.term(h)]);
            h.tuple(&[atom("$socket"), atom(what), socket])
        });
    }
    /// Sends a process a message when the socket is readable or writable. False: it cannot be
    /// polled.
    pub fn select(
        &self,
        s: &mut SocketState,
        which: EventMask,
        pid: u32,
        reference: Term<'_>,
    ) -> bool {
        let (Some(fd), Some(me)) = (s.fd(), self.shared()) else { return false };
        let m = kvik_proc::signal::message(|h| me.message(h, "select", h.copy(reference)));
        let fine = select::select(fd, &(me.clone() as MagicResource), which, pid, m);
        if fine {
            match which.read {
                true => s.read_state |= state::SELECTED,
                false => s.write_state |= state::SELECTED,
            }
        }
        fine
    }
    /// Cancels a selection. True if its message was not sent yet.
    pub fn unselect(&self, s: &SocketState, which: EventMask) -> bool {
        let (Some(fd), Some(me)) = (s.fd(), self.shared()) else { return false };
        select::cancel(fd, &(me as MagicResource), which) == which
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let s = self.state.get_mut().unwrap_or_else(|e| e.into_inner());
        monitors::forget_all(s);
        if s.read_state & state::CLOSED == 0 {
            count::closed(self.domain, self.kind, self.protocol);
            s.close_descriptor();
        }
    }
}

impl SocketState {
    pub fn fd(&self) -> Option<RawFd> {
        self.fd.as_ref().map(AsRawFd::as_raw_fd)
    }
    /// The descriptor of an open socket: none if it is closed or closing.
    pub fn open(&self) -> Option<RawFd> {
        self.fd().filter(|_| self.read_state & (state::CLOSED | state::CLOSING) == 0)
    }
    pub fn is_selected(&self) -> bool {
        (self.read_state | self.write_state) & state::SELECTED != 0
    }
    /// Takes the descriptor, to be closed by the caller; `None` if it belongs to other code.
    pub fn take_descriptor(&mut self) -> Option<OwnedFd> {
        let fd = self.fd.take()?;
        match self.borrowed {
            true => {
                let _ = fd.into_raw_fd();
                None
            }
            false => Some(fd),
        }
    }
    fn close_descriptor(&mut self) {
        drop(self.take_descriptor());
    }
}

/// The socket that a native's first argument refers to.
pub fn socket<'h>(p: &Proc, t: Term<'h>) -> Result<&'h Socket, Raised> {
    let r = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<Socket>());
    r.ok_or_else(|| p.badarg())
}
