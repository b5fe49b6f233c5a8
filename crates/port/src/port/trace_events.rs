//! Ports as tracers: each trace event is output to the port's driver, in the external term format.
//!
//! An event may come from any thread, even from one that holds this port's lock or is in a callback
//! of its driver. So it is queued, and the lock's holder outputs it, in the order of the events and
//! before any other request to the port.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kvik_etf::EncodeOpts;
use kvik_heap::OwnedTerm;

use crate::poll::{self, Source};
use crate::port::lock::PortGuard;
use crate::{table, Port};

#[derive(Default)]
pub(crate) struct TraceEvents {
    waiting: Mutex<Vec<Vec<u8>>>,
    some: AtomicBool,
}

thread_local! {
    /// This thread is in a callback of a driver that allows only one at a time.
    static CALLED_BACK: Cell<bool> = const { Cell::new(false) };
}
/// Runs such a callback: events that it causes reach their ports later.
pub fn calling_back<R>(f: impl FnOnce() -> R) -> R {
    let before = CALLED_BACK.replace(true);
    let r = f();
    CALLED_BACK.set(before);
    r
}

impl TraceEvents {
    fn push(&self, event: Vec<u8>) {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(event);
        self.some.store(true, Ordering::Release);
    }
    fn take(&self) -> Vec<Vec<u8>> {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.some.store(false, Ordering::Relaxed);
        std::mem::take(&mut all)
    }
    #[inline]
    pub fn any(&self) -> bool {
        self.some.load(Ordering::Acquire)
    }
}

impl Port {
    /// Queues an event for the driver. False: the port is closed.
    pub fn hear(&self, event: &OwnedTerm) -> bool {
        if !table::is_open(self.id) {
            return false;
        }
        self.events.push(kvik_etf::encode(event.term(), EncodeOpts::default(), 0));
        match CALLED_BACK.get() {
            true => poll::again(0, Source::Events, self.id),
            false => self.fetch(),
        }
        true
    }
    /// Outputs the queued events to the driver.
    pub(crate) fn output_events(&self, g: &mut PortGuard<'_>) {
        for event in self.events.take() {
            if !g.is_open() {
                return;
            }
            g.core.count_output(event.len());
            self.run(g, |driver, core| driver.output(core, &event));
        }
    }
}
