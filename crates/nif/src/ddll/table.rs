//! The table of linked-in drivers, their users, and the processes notified of loading and
//! unloading.
//!
//! A driver exists as long as a process that loaded it, or a port that uses it. While there are
//! such processes, the table holds its library. When the last one has released it (or it is to be
//! reloaded), the table keeps a weak reference, so the library is closed when its last port drops
//! it. Closing calls [`closed`], which notifies watchers, and reloads the library if that was
//! requested.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use kvik_heap::{build::next_ref, Heap, OwnedTerm};
use kvik_port::driver::{Driver as PortDriver, Exit};
use kvik_proc::{signal, Proc};
use kvik_term::{am, Atom, Term};

use crate::driver::callback::Linked;
use crate::driver::interface::Entry;
use crate::driver::library::{DriverLibrary, DriverPorts};
use crate::driver::load::{load, DriverLoadError};
use crate::lock::lock;

/// The number of the first text about a library that could not be opened.
pub const FIRST_TEXT: i64 = -10;

/// The holder of a driver's library.
pub enum LibraryHolder {
    Table(Arc<DriverLibrary>),
    /// Only its ports. Without ports, it is being closed or opened. An upgraded reference may
    /// become the last one at any time, so it must not be dropped while the table is locked.
    Ports(Weak<DriverLibrary>),
}

/// What happens to a driver next.
pub enum DriverState {
    Stays,
    /// Closed when its last port is. Forced: no new ports until then.
    Unloading {
        forced: bool,
    },
    /// Like `Unloading`, then loaded from `path`.
    Reloading {
        path: Vec<u8>,
        kill_ports: bool,
        forced: bool,
    },
    /// The driver has made itself permanent.
    Permanent,
    /// Added by a program, without a library.
    Added,
}

#[derive(Copy, Clone, PartialEq)]
pub enum Awaits {
    Load,
    Unload,
    /// An unloading; no notification if it is cancelled.
    UnloadOnly,
}
pub struct LoadWatcher {
    pub pid: u32,
    pub reference: [u32; 3],
    pub awaits: Awaits,
}

pub struct DriverEntry {
    pub name: String,
    /// The library's path without `.so`.
    pub path: Vec<u8>,
    pub holder: LibraryHolder,
    pub state: DriverState,
    /// Close its ports when the last process has released it.
    pub kill_ports: bool,
    /// The processes that loaded it: one entry for each load, last first.
    pub users: Vec<u32>,
    /// Last first.
    pub watchers: Vec<LoadWatcher>,
    /// The ports that use its library.
    pub ports: Arc<DriverPorts>,
}

impl DriverEntry {
    pub fn new(name: String, path: Vec<u8>, state: DriverState) -> DriverEntry {
        let (kill_ports, users, watchers, ports) = Default::default();
        let holder = LibraryHolder::Ports(Weak::new());
        DriverEntry { name, path, holder, state, kill_ports, users, watchers, ports }
    }
    pub fn opened(&mut self, lib: Arc<DriverLibrary>) {
        self.ports = lib.ports.clone();
        self.holder = LibraryHolder::Table(lib);
    }
    pub fn library(&self) -> Option<Arc<DriverLibrary>> {
        match &self.holder {
            LibraryHolder::Table(lib) => Some(lib.clone()),
            LibraryHolder::Ports(lib) => lib.upgrade(),
        }
    }
    pub fn has(&self, library: *const DriverLibrary) -> bool {
        match &self.holder {
            LibraryHolder::Table(lib) => std::ptr::eq(Arc::as_ptr(lib), library),
            LibraryHolder::Ports(lib) => std::ptr::eq(lib.as_ptr(), library),
        }
    }
    pub fn is_in_between(&self) -> bool {
        matches!(&self.holder, LibraryHolder::Ports(lib) if lib.strong_count() == 0)
    }
    pub fn is_forced(&self) -> bool {
        match self.state {
            DriverState::Unloading { forced } | DriverState::Reloading { forced, .. } => forced,
            _ => false,
        }
    }
    /// Makes the ports the only holders. The caller drops the returned library after unlocking the
    /// table.
    pub fn let_go(&mut self) -> Option<Arc<DriverLibrary>> {
        let LibraryHolder::Table(lib) = &self.holder else { return None };
        let weak = LibraryHolder::Ports(Arc::downgrade(lib));
        match std::mem::replace(&mut self.holder, weak) {
            LibraryHolder::Table(lib) => Some(lib),
            LibraryHolder::Ports(_) => None,
        }
    }
    pub fn watch(&mut self, pid: u32, awaits: Awaits) -> [u32; 3] {
        let reference = next_ref();
        self.watchers.insert(0, LoadWatcher { pid, reference, awaits });
        reference
    }
    /// Notifies and removes the watchers that wait for one of these.
    pub fn notify(&mut self, awaits: &[Awaits], tag: Atom, what: &dyn MessagePart) {
        let all = std::mem::take(&mut self.watchers);
        let (hear, left) = all.into_iter().partition(|w| awaits.contains(&w.awaits));
        self.watchers = left;
        let hear: Vec<LoadWatcher> = hear;
        let name = Atom::intern(&self.name).unwrap_or(am::undefined);
        hear.iter().for_each(|w| tell(w.pid, w.reference, tag, &name, what));
    }
    /// Cancels reloading; the driver is only unloaded.
    pub fn unload(&mut self) {
        if matches!(self.state, DriverState::Reloading { .. }) {
            self.notify(&[Awaits::Load], am::DOWN, &am::load_cancelled);
        }
        self.state = DriverState::Unloading { forced: false };
    }
    /// Forbids new ports; returns the existing ones, which the caller closes after unlocking the
    /// table.
    pub fn force(&mut self) -> Vec<u32> {
        if let DriverState::Unloading { forced } | DriverState::Reloading { forced, .. } =
            &mut self.state
        {
            *forced = true;
        }
        lock(&self.ports).clone()
    }
}

/// A part of a message: the name as given or as an atom, and the event.
pub trait MessagePart {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h>;
}
impl MessagePart for Atom {
    fn term<'h>(&self, _: &'h Heap) -> Term<'h> {
        (*self).into()
    }
}
impl MessagePart for OwnedTerm {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        h.copy_owned(self)
    }
}
impl MessagePart for DriverLoadError {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        match self {
            DriverLoadError::Named(what) => Atom::intern(what).unwrap_or(am::error).into(),
            DriverLoadError::Open(text) => {
                let mut texts = lock(&TEXTS);
                let known = texts.iter().position(|t| t == text).unwrap_or_else(|| {
                    texts.push(text.clone());
                    texts.len() - 1
                });
                h.tuple(&[am::open_error.into(), h.integer(FIRST_TEXT - known as i64)])
            }
        }
    }
}
struct LoadFailure(DriverLoadError);
impl MessagePart for LoadFailure {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        h.tuple(&[am::load_failure.into(), self.0.term(h)])
    }
}

kvik_state::vm_state! {
    pub static DRIVERS: Mutex<Vec<DriverEntry>> = Mutex::new(Vec::new());
    /// Whether any driver was ever loaded. Exiting processes check this first.
    pub static USED: AtomicBool = AtomicBool::new(false);
    /// Error texts by number.
    pub static TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
}

pub type DriverTable = MutexGuard<'static, Vec<DriverEntry>>;
/// A driver's library, the locked table, and the driver's index in it, once no thread is opening or
/// closing the library. The library must be dropped after the table is unlocked, which a `let` of
/// all three ensures.
pub fn find(name: &str) -> (Option<Arc<DriverLibrary>>, DriverTable, Option<usize>) {
    loop {
        let all = lock(&DRIVERS);
        let Some(at) = all.iter().position(|d| d.name == name) else { return (None, all, None) };
        if let Some(lib) = all[at].library() {
            return (Some(lib), all, Some(at));
        }
        drop(all);
        kvik_env::thread::yield_now();
    }
}

/// `{'DOWN' or 'UP', Ref, driver, Name, MessagePart}`
pub fn tell(pid: u32, n: [u32; 3], tag: Atom, name: &dyn MessagePart, what: &dyn MessagePart) {
    let m = OwnedTerm::build(32, |h| {
        let parts =
            [tag.into(), h.ref_of_numbers(n), am::driver.into(), name.term(h), what.term(h)];
        h.tuple(&parts)
    });
    signal::deliver(pid, signal::Signal::Message(m));
}

/// Called when a library was closed because its last reference was dropped.
pub fn closed(name: &str) {
    let mut all = lock(&DRIVERS);
    let Some(at) = all.iter().position(|d| d.name == name) else { return };
    all[at].notify(&[Awaits::Unload, Awaits::UnloadOnly], am::DOWN, &am::unloaded);
    let DriverState::Reloading { path, kill_ports, .. } = &all[at].state else {
        all.remove(at);
        return;
    };
    let (path, kill_ports) = (path.clone(), *kill_ports);
    drop(all);
    // Meanwhile the driver is in between, and others wait.
    let loaded = load(&path, name, closed);
    let mut all = lock(&DRIVERS);
    let Some(at) = all.iter().position(|d| d.name == name) else { return };
    let d = &mut all[at];
    match loaded {
        Ok(lib) => {
            (d.path, d.kill_ports) = (path, kill_ports);
            d.opened(lib);
            d.state = DriverState::Stays;
            d.notify(&[Awaits::Load], am::UP, &am::loaded);
            if d.users.is_empty() {
                // The last user has ended meanwhile.
                d.unload();
                let lib = d.let_go();
                drop(all);
                drop(lib);
            }
        }
        Err(why) => {
            d.notify(&[Awaits::Load], am::DOWN, &LoadFailure(why));
            all.remove(at);
        }
    }
}

/// Makes a driver permanent. -1: it is being unloaded.
pub fn make_permanent(library: &Arc<DriverLibrary>) -> c_int {
    let mut all = lock(&DRIVERS);
    let Some(d) = all.iter_mut().find(|d| d.has(Arc::as_ptr(library))) else { return -1 };
    if matches!(d.state, DriverState::Added) {
        return 0;
    }
    d.holder = LibraryHolder::Table(library.clone());
    d.notify(&[Awaits::Load], am::UP, &am::permanent);
    d.notify(&[Awaits::Unload], am::UP, &am::permanent);
    d.notify(&[Awaits::UnloadOnly], am::UP, &am::permanent);
    d.users.clear();
    d.state = DriverState::Permanent;
    0
}
/// Adds a driver that is part of an already loaded library.
pub fn add(entry: *const Entry) {
    if entry.is_null() {
        return;
    }
    // SAFETY: the interface's contract: an entry that stays until `remove_driver_entry`.
    let entry: &'static Entry = unsafe { &*entry };
    let name = String::from_utf8_lossy(entry.name.bytes()).into_owned();
    // SAFETY: the driver's own function.
    if entry.init.is_some_and(|f| unsafe { f() } != 0) {
        return;
    }
    let lib = Arc::new(DriverLibrary::new(ptr::null_mut(), entry, &name, closed));
    let mut d = DriverEntry::new(name, Vec::new(), DriverState::Added);
    d.opened(lib);
    USED.store(true, Ordering::Release);
    lock(&DRIVERS).push(d);
}
pub fn remove(entry: *const Entry) -> bool {
    let mut all = lock(&DRIVERS);
    let is = |d: &DriverEntry| {
        let its = |lib: &DriverLibrary| std::ptr::eq(lib.entry, entry);
        matches!(d.state, DriverState::Added)
            && matches!(&d.holder, LibraryHolder::Table(lib) if its(lib))
    };
    let at = all.iter().position(is);
    let gone = at.map(|at| all.remove(at));
    drop(all);
    gone.is_some()
}

/// The driver for a port opened with that command.
pub fn make(command: &[u8]) -> Option<Box<dyn PortDriver>> {
    if !USED.load(Ordering::Acquire) {
        return None;
    }
    let word = std::str::from_utf8(command.split(|b| *b == b' ').next()?).ok()?;
    let (lib, all, at) = find(word);
    if all[at?].is_forced() {
        return None;
    }
    Some(Box::new(Linked::new(lib?, command)))
}

pub fn end_ports(ports: Vec<u32>) {
    let why = Exit::Reason(am::driver_unloaded);
    ports.into_iter().filter_map(kvik_port::table::get).for_each(|port| port.fail(why));
}

/// Removes the loads and watches of a process that ends.
pub fn forget(p: &Proc) {
    if !USED.load(Ordering::Acquire) {
        return;
    }
    let pid = p.pid();
    let mut all = lock(&DRIVERS);
    let (mut ports, mut libraries) = (Vec::new(), Vec::new());
    for d in all.iter_mut() {
        d.watchers.retain(|w| w.pid != pid);
        let before = d.users.len();
        d.users.retain(|u| *u != pid);
        if d.users.len() == before || !d.users.is_empty() {
            continue;
        }
        d.unload();
        if d.kill_ports {
            ports.append(&mut d.force());
        }
        libraries.push(d.let_go());
    }
    drop(all);
    end_ports(ports);
    drop(libraries);
}
