//! `driver_async`: jobs of linked-in drivers on a pool of threads. Jobs with the same key run on the
//! same thread, in order.

use std::ffi::{c_long, c_uint, c_void};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, OnceLock};

use crate::driver::callback::with;
use crate::driver::interface::Data;
use crate::driver::ports::{self, AsyncJob, Invoke, Pointer};
use crate::lock::lock;

crate::address::by_address! {
    driver_async,
    driver_async_port_key,
}

/// The threads, created for the first job.
fn pool() -> &'static [Mutex<Sender<AsyncJob>>] {
    kvik_state::vm_state! {
        static POOL: OnceLock<Vec<Mutex<Sender<AsyncJob>>>> = OnceLock::new();
    }
    POOL.get_or_init(|| (1..=pool_size()).filter_map(thread).collect())
}
pub fn pool_size() -> usize {
    kvik_bifs::system::config().async_threads
}
fn thread(number: usize) -> Option<Mutex<Sender<AsyncJob>>> {
    let (to, jobs) = channel::<AsyncJob>();
    let run = move || jobs.into_iter().for_each(AsyncJob::run);
    kvik_env::thread::spawn(&format!("async_{number}"), None, run).ok()?;
    Some(Mutex::new(to))
}

/// Returns the job's number, or -1.
#[no_mangle]
pub extern "C" fn driver_async(
    port: Data,
    key: *mut c_uint,
    invoke: Option<Invoke>,
    data: *mut c_void,
    free: Option<Invoke>,
) -> c_long {
    kvik_state::vm_state! {
        static NEXT_JOB: AtomicI64 = AtomicI64::new(1);
        static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);
    }
    let library = with(port, |running, _| running.library.clone());
    let (Some(library), Some(state)) = (library, ports::get(port)) else { return -1 };
    let job = AsyncJob::new(state, library, invoke, free, Pointer(data));
    let threads = pool();
    if threads.is_empty() {
        // No thread could be created: run it synchronously, like OTP without async threads.
        job.run();
    } else {
        // SAFETY: null, or the caller's key.
        let at = match unsafe { key.as_mut() } {
            Some(key) => {
                *key %= threads.len() as c_uint;
                *key as usize
            }
            None => NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % threads.len(),
        };
        if let Err(unsent) = lock(&threads[at]).send(job) {
            unsent.0.discard();
            return -1;
        }
    }
    NEXT_JOB.fetch_add(1, Ordering::Relaxed)
}

/// A key under which all jobs of a port run on one thread.
#[no_mangle]
pub extern "C" fn driver_async_port_key(port: Data) -> c_uint {
    crate::driver::interface::port_number(port).unwrap_or(0)
}
