//! Port state outside the port's lock: queue, port data lock, finished jobs, ended processes. A
//! driver's threads may use parts of it.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use kvik_port::poll::{self, Source};
use kvik_proc::RefId;

use crate::driver::interface::{port_number, Data, Entry};
use crate::driver::library::DriverLibrary;
use crate::driver::port_data_lock::PortDataLock;
use crate::driver::queue::DriverQueue;
use crate::lock::lock;

/// Limits of a port's message queue, as `erl_drv_busy_msgq_limits` reports them.
#[derive(Copy, Clone)]
pub struct MessageQueueLimits {
    pub low: usize,
    pub high: usize,
}
/// `ERL_DRV_BUSY_MSGQ_DISABLED`, `_READ_ONLY`
pub const DISABLED: usize = usize::MAX;
pub const READ_ONLY: usize = 0;
impl MessageQueueLimits {
    /// Sets limits that the driver gives. A new high limit lowers the low one to it; a new low limit
    /// alone raises the high one. Once disabled they stay so.
    pub fn set(&mut self, low: usize, high: usize) {
        if [low, high, self.low].contains(&DISABLED) {
            (self.low, self.high) = (DISABLED, DISABLED);
            return;
        }
        if low != READ_ONLY {
            self.low = low;
            self.high = self.high.max(low);
        }
        if high != READ_ONLY {
            self.high = high;
            self.low = self.low.min(high);
        }
    }
}
impl Default for MessageQueueLimits {
    fn default() -> Self {
        MessageQueueLimits { low: 4096, high: 8192 }
    }
}

pub type Invoke = unsafe extern "C" fn(*mut c_void);

/// A job; keeps its library and its port's lock alive.
pub struct AsyncJob {
    port: Arc<PortState>,
    library: Arc<DriverLibrary>,
    invoke: Option<Invoke>,
    free: Option<Invoke>,
    pub data: Pointer,
    _pdl: Option<Arc<PortDataLock>>,
}

impl AsyncJob {
    pub fn new(
        port: Arc<PortState>,
        library: Arc<DriverLibrary>,
        invoke: Option<Invoke>,
        free: Option<Invoke>,
        data: Pointer,
    ) -> AsyncJob {
        let pdl = port.pdl.get().cloned();
        AsyncJob { port, library, invoke, free, data, _pdl: pdl }
    }
    /// Discards the result: the driver may free its data.
    pub fn discard(self) {
        if let Some(free) = self.free {
            // SAFETY: the driver's own function, whose library the job keeps.
            unsafe { free(self.data.0) }
        }
        drop(self.library);
    }
    pub fn run(self) {
        if let Some(invoke) = self.invoke {
            // SAFETY: as above; the driver asked for it to be called on a thread of the pool.
            unsafe { invoke(self.data.0) }
        }
        let port = self.port.clone();
        if let Err(DriverEvent::AsyncReady(job)) = port.post(DriverEvent::AsyncReady(self)) {
            job.discard();
        }
    }
}

/// An event that the driver must be called for.
pub enum DriverEvent {
    AsyncReady(AsyncJob),
    ProcessExit(RefId),
}

pub struct PortState {
    pub id: u32,
    home: usize,
    pub entry: &'static Entry,
    pub queue: Mutex<DriverQueue>,
    pub pdl: OnceLock<Arc<PortDataLock>>,
    pub limits: Mutex<MessageQueueLimits>,
    /// `None` once the driver has stopped.
    events: Mutex<Option<VecDeque<DriverEvent>>>,
    pub monitors: Mutex<HashMap<RefId, u32>>,
}

kvik_state::vm_state! {
    static PORTS: RwLock<Option<HashMap<u32, Arc<PortState>>>> = RwLock::new(None);
}

/// The state of a port, from any thread.
pub fn get(port: Data) -> Option<Arc<PortState>> {
    by_id(port_number(port)?)
}
pub fn by_id(id: u32) -> Option<Arc<PortState>> {
    let all = PORTS.read().unwrap_or_else(PoisonError::into_inner);
    all.as_ref()?.get(&id).cloned()
}

impl PortState {
    /// Makes the state of a new port and enters it in the table.
    pub fn open(id: u32, home: usize, entry: &'static Entry) -> Arc<PortState> {
        let state = Arc::new(PortState {
            id,
            home,
            entry,
            queue: Mutex::default(),
            pdl: OnceLock::new(),
            limits: Mutex::default(),
            events: Mutex::new(Some(VecDeque::new())),
            monitors: Mutex::default(),
        });
        let mut all = PORTS.write().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().insert(id, state.clone());
        state
    }
    /// Removes it from the table. Returns the events that will not be delivered.
    pub fn close(&self) -> VecDeque<DriverEvent> {
        let mut all = PORTS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = all.as_mut() {
            all.remove(&self.id);
        }
        drop(all);
        lock(&self.queue).clear();
        lock(&self.events).take().unwrap_or_default()
    }
    /// Queues an event for the driver; returns it if the driver has stopped.
    pub fn post(&self, event: DriverEvent) -> Result<(), DriverEvent> {
        match lock(&self.events).as_mut() {
            Some(events) => events.push_back(event),
            None => return Err(event),
        }
        poll::again(self.home, Source::Driver, self.id);
        Ok(())
    }
    pub fn next_event(&self) -> Option<DriverEvent> {
        lock(&self.events).as_mut()?.pop_front()
    }
    pub fn queued(&self) -> usize {
        lock(&self.queue).len()
    }
}

/// Data passed with a job to another thread.
#[derive(Copy, Clone)]
pub struct Pointer(pub *mut c_void);
// SAFETY: the driver that gave it expects it on other threads.
unsafe impl Send for Pointer {}
