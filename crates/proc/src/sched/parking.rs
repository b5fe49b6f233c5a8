//! Sleep and wake-up of schedulers without a poll set.

use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Duration;

struct Spot {
    woken: Mutex<bool>,
    bell: Condvar,
}

fn spot(i: usize) -> &'static Spot {
    kvik_state::vm_state! {
        static ALL: OnceLock<Vec<Spot>> = OnceLock::new();
    }
    let make = || Spot { woken: Mutex::new(false), bell: Condvar::new() };
    &ALL.get_or_init(|| (0..1024).map(|_| make()).collect())[i % 1024]
}

pub fn poll(i: usize, timeout: Option<Duration>, woken: &mut dyn FnMut()) -> usize {
    if timeout != Some(Duration::ZERO) {
        wait(i, timeout);
    }
    woken();
    0
}
fn wait(i: usize, timeout: Option<Duration>) {
    let s = spot(i);
    let mut woken = s.woken.lock().unwrap_or_else(|e| e.into_inner());
    if !*woken {
        woken = match timeout {
            None => s.bell.wait(woken).unwrap_or_else(|e| e.into_inner()),
            Some(t) => kvik_env::thread::wait_timeout(&s.bell, woken, t).0,
        };
    }
    *woken = false;
}
pub fn wake(i: usize) {
    let s = spot(i);
    *s.woken.lock().unwrap_or_else(|e| e.into_inner()) = true;
    s.bell.notify_one();
}
