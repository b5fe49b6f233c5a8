//! The table of linked-in drivers, who uses them, and who waits for them to come or go.
//!
//! A driver is there as long as a process that has loaded it, or a port that uses it. While processes
//! do, the table holds its library; when the last has given it up (or it is to be reloaded), the table
//! keeps a weak reference, so that the library is closed when its last port lets go of it. That calls
//! [`closed`], which tells those who wait, and loads the library anew where that is asked for.

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
use crate::driver::library::{Library, Ports};
use crate::driver::load::{load, Fault};
use crate::lock::lock;

/// The number of the first text of what could not be opened.
pub const FIRST_TEXT: i64 = -10;

/// Who holds the library of a driver.
pub enum Holder {
    Table(Arc<Library>),
    /// Its ports alone. Without any it is being closed, or opened. Such a reference may become the last
    /// one at any time, so nobody drops one while the table is locked.
    Ports(Weak<Library>),
}

/// What is to become of a driver.
pub enum State {
    Stays,
    /// To be closed when its last port is. Forced: there are no new ports until then.
    Unloading {
        forced: bool,
    },
    /// The same, and then loaded from `path`.
    Reloading {
        path: Vec<u8>,
        kill_ports: bool,
        forced: bool,
    },
    /// It has said itself that it stays for good.
    Permanent,
    /// Added by a program, without a library.
    Added,
}

#[derive(Copy, Clone, PartialEq)]
pub enum Awaits {
    Load,
    Unload,
    /// An unloading; that it is called off is no news.
    UnloadOnly,
}
pub struct Watcher {
    pub pid: u32,
    pub reference: [u32; 3],
    pub awaits: Awaits,
}

pub struct Driver {
    pub name: String,
    /// Its file without `.so`.
    pub path: Vec<u8>,
    pub holder: Holder,
    pub state: State,
    /// Its ports are ended when the last process has given it up.
    pub kill_ports: bool,
    /// Who has loaded it: once for each time, the last first.
    pub users: Vec<u32>,
    /// The last first.
    pub watchers: Vec<Watcher>,
    /// Those of its library.
    pub ports: Arc<Ports>,
}

impl Driver {
    pub fn new(name: String, path: Vec<u8>, state: State) -> Driver {
        let (kill_ports, users, watchers, ports) = Default::default();
        let holder = Holder::Ports(Weak::new());
        Driver { name, path, holder, state, kill_ports, users, watchers, ports }
    }
    pub fn opened(&mut self, lib: Arc<Library>) {
        self.ports = lib.ports.clone();
        self.holder = Holder::Table(lib);
    }
    pub fn library(&self) -> Option<Arc<Library>> {
        match &self.holder {
            Holder::Table(lib) => Some(lib.clone()),
            Holder::Ports(lib) => lib.upgrade(),
        }
    }
    pub fn has(&self, library: *const Library) -> bool {
        match &self.holder {
            Holder::Table(lib) => std::ptr::eq(Arc::as_ptr(lib), library),
            Holder::Ports(lib) => std::ptr::eq(lib.as_ptr(), library),
        }
    }
    pub fn is_in_between(&self) -> bool {
        matches!(&self.holder, Holder::Ports(lib) if lib.strong_count() == 0)
    }
    pub fn is_forced(&self) -> bool {
        match self.state {
            State::Unloading { forced } | State::Reloading { forced, .. } => forced,
            _ => false,
        }
    }
    /// Leaves the library to its ports. The caller drops what it gets when the table is unlocked.
    pub fn let_go(&mut self) -> Option<Arc<Library>> {
        let Holder::Table(lib) = &self.holder else { return None };
        let weak = Holder::Ports(Arc::downgrade(lib));
        match std::mem::replace(&mut self.holder, weak) {
            Holder::Table(lib) => Some(lib),
            Holder::Ports(_) => None,
        }
    }
    pub fn watch(&mut self, pid: u32, awaits: Awaits) -> [u32; 3] {
        let reference = next_ref();
        self.watchers.insert(0, Watcher { pid, reference, awaits });
        reference
    }
    /// Tells those who wait for that, and no longer do then.
    pub fn notify(&mut self, awaits: &[Awaits], tag: Atom, what: &dyn What) {
        let all = std::mem::take(&mut self.watchers);
        let (hear, left) = all.into_iter().partition(|w| awaits.contains(&w.awaits));
        self.watchers = left;
        let hear: Vec<Watcher> = hear;
        let name = Atom::intern(&self.name).unwrap_or(am::undefined);
        hear.iter().for_each(|w| tell(w.pid, w.reference, tag, &name, what));
    }
    /// It is not to be loaded again, but only unloaded.
    pub fn unload(&mut self) {
        if matches!(self.state, State::Reloading { .. }) {
            self.notify(&[Awaits::Load], am::DOWN, &am::load_cancelled);
        }
        self.state = State::Unloading { forced: false };
    }
    /// No new ports; those that there are, which the caller ends when the table is unlocked.
    pub fn force(&mut self) -> Vec<u32> {
        if let State::Unloading { forced } | State::Reloading { forced, .. } = &mut self.state {
            *forced = true;
        }
        lock(&self.ports).clone()
    }
}

/// A part of a message: the name as it was given or as an atom, and what has happened.
pub trait What {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h>;
}
impl What for Atom {
    fn term<'h>(&self, _: &'h Heap) -> Term<'h> {
        (*self).into()
    }
}
impl What for OwnedTerm {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        h.copy_owned(self)
    }
}
impl What for Fault {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        match self {
            Fault::Named(what) => Atom::intern(what).unwrap_or(am::error).into(),
            Fault::Open(text) => {
                let mut texts = lock(&TEXTS);
                texts.push(text.clone());
                let n = FIRST_TEXT + 1 - texts.len() as i64;
                h.tuple(&[am::open_error.into(), h.integer(n)])
            }
        }
    }
}
struct LoadFailure(Fault);
impl What for LoadFailure {
    fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        h.tuple(&[am::load_failure.into(), self.0.term(h)])
    }
}

kvik_state::vm_state! {
    pub static DRIVERS: Mutex<Vec<Driver>> = Mutex::new(Vec::new());
    /// Has anything ever been loaded? Exiting processes ask that first.
    pub static USED: AtomicBool = AtomicBool::new(false);
    /// Texts of what went wrong, by their number.
    pub static TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
}

pub type Table = MutexGuard<'static, Vec<Driver>>;
/// A driver's library, the table, and where the driver is in it, once no thread is opening or closing the
/// library. The library is to be dropped after the table is unlocked, as a `let` of all three does.
pub fn find(name: &str) -> (Option<Arc<Library>>, Table, Option<usize>) {
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

/// `{'DOWN' or 'UP', Ref, driver, Name, What}`
pub fn tell(pid: u32, n: [u32; 3], tag: Atom, name: &dyn What, what: &dyn What) {
    let m = OwnedTerm::build(32, |h| {
        let parts =
            [tag.into(), h.ref_of_numbers(n), am::driver.into(), name.term(h), what.term(h)];
        h.tuple(&parts)
    });
    signal::deliver(pid, signal::Signal::Message(m));
}

/// Called by the last who referred to a library, when that is closed.
pub fn closed(name: &str) {
    let mut all = lock(&DRIVERS);
    let Some(at) = all.iter().position(|d| d.name == name) else { return };
    all[at].notify(&[Awaits::Unload, Awaits::UnloadOnly], am::DOWN, &am::unloaded);
    let State::Reloading { path, kill_ports, .. } = &all[at].state else {
        all.remove(at);
        return;
    };
    let (path, kill_ports) = (path.clone(), *kill_ports);
    drop(all);
    // Others wait meanwhile: it is in between.
    let loaded = load(&path, name, closed);
    let mut all = lock(&DRIVERS);
    let Some(at) = all.iter().position(|d| d.name == name) else { return };
    let d = &mut all[at];
    match loaded {
        Ok(lib) => {
            (d.path, d.kill_ports) = (path, kill_ports);
            d.opened(lib);
            d.state = State::Stays;
            d.notify(&[Awaits::Load], am::UP, &am::loaded);
            if d.users.is_empty() {
                // The last has ended meanwhile.
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

/// It is not unloaded any more. -1: it is being unloaded.
pub fn make_permanent(library: &Arc<Library>) -> c_int {
    let mut all = lock(&DRIVERS);
    let Some(d) = all.iter_mut().find(|d| d.has(Arc::as_ptr(library))) else { return -1 };
    if matches!(d.state, State::Added) {
        return 0;
    }
    d.holder = Holder::Table(library.clone());
    d.notify(&[Awaits::Load], am::UP, &am::permanent);
    d.notify(&[Awaits::Unload], am::UP, &am::permanent);
    d.notify(&[Awaits::UnloadOnly], am::UP, &am::permanent);
    d.users.clear();
    d.state = State::Permanent;
    0
}
/// A driver that is part of a library loaded already.
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
    let lib = Arc::new(Library::new(ptr::null_mut(), entry, &name, closed));
    let mut d = Driver::new(name, Vec::new(), State::Added);
    d.opened(lib);
    USED.store(true, Ordering::Release);
    lock(&DRIVERS).push(d);
}
pub fn remove(entry: *const Entry) -> bool {
    let mut all = lock(&DRIVERS);
    let is = |d: &Driver| {
        let its = |lib: &Library| std::ptr::eq(lib.entry, entry);
        matches!(d.state, State::Added) && matches!(&d.holder, Holder::Table(lib) if its(lib))
    };
    let at = all.iter().position(is);
    let gone = at.map(|at| all.remove(at));
    drop(all);
    gone.is_some()
}

/// The driver for a port that is opened with that command.
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

/// A process that may have loaded drivers, or waits for them, ends.
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
