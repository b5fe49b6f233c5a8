//! `driver_select`: calls a linked-in driver's callbacks while a descriptor is ready.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_env::poll::Interest;
use kvik_port::driver::Ready;
use kvik_port::library_watch::LibraryWatch;
use kvik_port::poll::{self, Source};
use kvik_port::table;

use crate::driver::callback::with;
use crate::driver::interface::Data;

/// `enum ErlNifSelectFlags`, as drivers name them.
const READ: c_int = 1;
const WRITE: c_int = 2;
const USE: c_int = 4;
const NO_CALLBACK: c_int = 8;

crate::address::by_address! {
    driver_select,
}

/// A descriptor that a port has selected.
struct Selected {
    port: u32,
    read: bool,
    write: bool,
    watch: LibraryWatch,
    /// Always ready, as an ordinary file is: not polled, but reported again as long as it is selected.
    is_always_ready: bool,
}

fn selected() -> MutexGuard<'static, HashMap<c_int, Selected>> {
    kvik_state::vm_state! {
        static SELECTED: OnceLock<Mutex<HashMap<c_int, Selected>>> = OnceLock::new();
    }
    SELECTED.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

impl Selected {
    /// Updates the poll set to the wanted events. False: the descriptor cannot be polled.
    fn watch(&mut self, fd: c_int) -> bool {
        let i = Interest { read: self.read, write: self.write, edge: false };
        let wanted = self.read || self.write;
        if self.is_always_ready {
            if wanted {
                poll::again(fd as usize, Source::Library, fd as u32);
            }
            return true;
        }
        let set = self.watch.set(fd, wanted.then_some(i));
        self.is_always_ready = matches!(set, Ok(true));
        set.is_ok()
    }
}

/// A descriptor as `ErlDrvEvent`.
pub fn event(fd: c_int) -> *mut c_void {
    fd as isize as *mut c_void
}

/// Whether the port still waits for that event.
pub fn is_selected(port: u32, fd: c_int, output: bool) -> bool {
    let all = selected();
    let wanted = |s: &Selected| s.port == port && if output { s.write } else { s.read };
    all.get(&fd).is_some_and(wanted)
}

/// Handles readiness of a descriptor. False: it belongs to no driver.
pub fn ready(fd: c_int, read: bool, write: bool, hangup: bool) -> bool {
    let Some(port) = selected().get(&fd).map(|s| s.port) else { return false };
    let Some(port) = table::get(port) else { return true };
    for (output, is) in [(true, write || hangup), (false, read || hangup)] {
        if is {
            port.ready(Ready::Selected { fd, output }, &mut []);
        }
    }
    if selected().get(&fd).is_some_and(|s| s.is_always_ready && (s.read || s.write)) {
        poll::again(fd as usize, Source::Library, fd as u32);
    }
    true
}

/// Deselects the descriptors of a closed port.
pub fn forget(port: u32) {
    selected().retain(|fd, s| {
        if s.port == port {
            let _ = s.watch.set(*fd, None);
        }
        s.port != port
    });
}

/// Only for the port whose callback is running.
#[no_mangle]
pub extern "C" fn driver_select(port: Data, fd: *mut c_void, mode: c_int, on: c_int) -> c_int {
    let Ok(fd) = c_int::try_from(fd as isize) else { return -1 };
    let this = with(port, |running, core| (core.id, running.library.entry.stop_select));
    let Some((port, stop)) = this.filter(|_| fd >= 0) else { return -1 };
    if on != 0 {
        return select(port, fd, mode);
    }
    if !deselect(port, fd, mode) {
        return -1;
    }
    if let (USE, Some(stop)) = (mode & (USE | NO_CALLBACK), stop) {
        // SAFETY: the driver's own function, which may close the descriptor.
        unsafe { stop(event(fd), ptr::null_mut()) };
    }
    0
}
fn select(port: u32, fd: c_int, mode: c_int) -> c_int {
    let mut all = selected();
    let watch = LibraryWatch::default;
    let new =
        || Selected { port, read: false, write: false, watch: watch(), is_always_ready: false };
    let s = all.entry(fd).or_insert_with(new);
    // If it was another port's, that one has closed it and the number was reused.
    s.port = port;
    s.read |= mode & READ != 0;
    s.write |= mode & WRITE != 0;
    if s.watch(fd) {
        return 0;
    }
    all.remove(&fd);
    -1
}
fn deselect(port: u32, fd: c_int, mode: c_int) -> bool {
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return true };
    if s.port != port {
        // Nobody waits for it: its number may have been reused.
        return !s.read && !s.write;
    }
    // Ending the use of a descriptor also ends waiting for it.
    s.read &= mode & (READ | USE) == 0;
    s.write &= mode & (WRITE | USE) == 0;
    s.watch(fd);
    if mode & USE != 0 {
        all.remove(&fd);
    }
    true
}
