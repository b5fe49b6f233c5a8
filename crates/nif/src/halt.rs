//! What NIF libraries do when the VM halts: callbacks, and calls for which it waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};

use kvik_bifs::system::HaltHooks;
use kvik_env::thread;

use crate::library::NifLibrary;

pub const HOOKS: HaltHooks = HaltHooks { begin, wait };

struct Calls {
    /// No more calls begin, and those that end do not return.
    halting: bool,
    under_way: usize,
}

kvik_state::vm_state! {
    /// Libraries with a callback, in the order of loading.
    static LIBRARIES: Mutex<Vec<Weak<NifLibrary>>> = Mutex::new(Vec::new());
    /// Calls into libraries that delay halting.
    static CALLS: Mutex<Calls> = Mutex::new(Calls { halting: false, under_way: 0 });
    static ENDED: Condvar = Condvar::new();
}

fn libraries() -> MutexGuard<'static, Vec<Weak<NifLibrary>>> {
    LIBRARIES.lock().unwrap_or_else(|e| e.into_inner())
}
fn calls() -> MutexGuard<'static, Calls> {
    CALLS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Registers the callback of a library that was loaded.
pub fn register(lib: &Arc<NifLibrary>) {
    if lib.options().on_halt.is_some() {
        let mut all = libraries();
        all.retain(|l| l.strong_count() > 0);
        all.push(Arc::downgrade(lib));
    }
}

/// The VM begins to halt: calls the callbacks, the newest library's first, and lets no more calls
/// begin that delay it. What was registered since then is called by the next `begin`.
fn begin() {
    let all = std::mem::take(&mut *libraries());
    for lib in all.iter().rev().filter_map(Weak::upgrade) {
        if let Some(callback) = lib.options().on_halt {
            // SAFETY: the function of a library that is open.
            unsafe { callback(lib.data()) }
        }
    }
    calls().halting = true;
}

/// Waits until no call that delays halting is under way.
fn wait() {
    let left = ENDED.wait_while(calls(), |calls| calls.under_way > 0);
    drop(left.unwrap_or_else(|e| e.into_inner()));
}

/// A call into a library that delays halting.
pub struct DelayingCall(());

impl DelayingCall {
    /// Begins such a call; does not return while the VM halts.
    pub fn begin() -> DelayingCall {
        let mut calls = calls();
        if calls.halting {
            drop(calls);
            park_forever()
        }
        calls.under_way += 1;
        DelayingCall(())
    }
}
impl Drop for DelayingCall {
    fn drop(&mut self) {
        let mut calls = calls();
        calls.under_way -= 1;
        if calls.halting {
            ENDED.notify_all();
            drop(calls);
            park_forever()
        }
    }
}

fn park_forever() -> ! {
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn halting_waits_for_calls_under_way_and_stops_new_ones() {
        kvik_state::Vm::new().enter(|| {
            drop(DelayingCall::begin());
            let (go, ready) = mpsc::channel();
            let (begun, has_begun) = mpsc::channel();
            let call = kvik_state::inherit(move || {
                let call = DelayingCall::begin();
                begun.send(()).unwrap();
                ready.recv().unwrap();
                drop(call);
            });
            std::thread::spawn(call);
            has_begun.recv().unwrap();
            begin();
            assert_eq!(calls().under_way, 1);
            let (late, is_late) = mpsc::channel();
            let new = kvik_state::inherit(move || {
                late.send(()).unwrap();
                drop(DelayingCall::begin());
                late.send(()).unwrap();
            });
            std::thread::spawn(new);
            is_late.recv().unwrap();
            go.send(()).unwrap();
            wait();
            assert_eq!(calls().under_way, 0);
            assert!(is_late.try_recv().is_err(), "a call has begun while the VM halts");
        });
    }
}
