//! `erl_ddll`: loading libraries of linked-in drivers, and giving them up again.
//!
//! A driver stays as long as a process that has loaded it, or a port that uses it. Libraries are not
//! loaded anew while they are there (`reload`).

use std::ffi::{c_int, c_void, CStr, CString};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::{build::next_ref, OwnedTerm};
use kvik_port::driver::{Driver, Exit};
use kvik_proc::{signal, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::driver::{Entry, Linked, Waiting};
use crate::env::c_str;

/// What versions of the interface are understood.
const MARKER: u32 = 0xfeee_eeed;
const MAJORS: [c_int; 2] = [2, 3];
const MINOR: c_int = 3;
/// The number of the first text of what could not be opened.
const FIRST_TEXT: i64 = -10;

/// A library that is loaded.
pub struct Library {
    /// Null for an entry that a program has added itself.
    handle: *mut c_void,
    pub entry: &'static Entry,
    /// Held during callbacks of drivers that ask for that.
    pub lock: Mutex<()>,
    /// Callbacks that wait for it.
    pub waiting: Mutex<Waiting>,
    name: String,
    path: Vec<u8>,
    ports: Mutex<Vec<u32>>,
    /// Who hears when it is gone: process, reference.
    watchers: Mutex<Vec<(u32, [u32; 3])>>,
}
// SAFETY: the handle is only used to close it, and the entry does not change.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: no port uses it any more, and nobody else knows it.
        unsafe {
            if let Some(f) = self.entry.finish {
                f();
            }
            if !self.handle.is_null() {
                libc::dlclose(self.handle);
            }
        }
        for (pid, n) in std::mem::take(lock(&self.watchers).as_mut() as &mut Vec<_>) {
            tell(pid, n, am::DOWN, &self.name, am::unloaded);
        }
    }
}

impl Library {
    fn new(handle: *mut c_void, entry: &'static Entry, name: String, path: Vec<u8>) -> Library {
        let (lock, waiting, ports, watchers) = Default::default();
        Library { handle, entry, lock, waiting, name, path, ports, watchers }
    }
    pub fn opened(&self, port: u32) {
        lock(&self.ports).push(port);
    }
    pub fn closed(&self, port: u32) {
        lock(&self.ports).retain(|p| *p != port);
    }
}

/// A library in the table: what it is there for.
struct Loaded {
    lib: Arc<Library>,
    /// Who has loaded it, how often.
    users: Vec<(u32, usize)>,
    kill_ports: bool,
    /// It stays for good.
    permanent: bool,
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
/// Texts of what went wrong, by their number.
static TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// `{'DOWN' or 'UP', Ref, driver, Name, What}`
fn tell(pid: u32, n: [u32; 3], tag: Atom, name: &str, what: Atom) {
    let m = OwnedTerm::build(16 + 2 * name.len(), |h| {
        let parts =
            [tag.into(), h.ref_of_numbers(n), am::driver.into(), h.string(name), what.into()];
        h.tuple(&parts)
    });
    signal::deliver(pid, signal::Signal::Message(m));
}

/// It is not unloaded any more. -1: it is being unloaded.
pub fn make_permanent(library: &Arc<Library>) -> c_int {
    let mut all = lock(&LOADED);
    match all.iter_mut().find(|l| Arc::ptr_eq(&l.lib, library)) {
        Some(l) => {
            l.permanent = true;
            0
        }
        None => -1,
    }
}
/// A driver that is part of a library loaded already.
pub fn add(entry: *const Entry) {
    if entry.is_null() {
        return;
    }
    // SAFETY: the interface's contract: an entry that stays until `remove_driver_entry`.
    let entry: &'static Entry = unsafe { &*entry };
    let name = String::from_utf8_lossy(c_str(entry.name)).into_owned();
    // SAFETY: the driver's own function.
    if entry.init.is_some_and(|f| unsafe { f() } != 0) {
        return;
    }
    let lib = Library::new(std::ptr::null_mut(), entry, name, Vec::new());
    let (users, kill_ports, permanent) = (Vec::new(), false, true);
    lock(&LOADED).push(Loaded { lib: Arc::new(lib), users, kill_ports, permanent });
}
pub fn remove(entry: *const Entry) -> bool {
    let mut all = lock(&LOADED);
    let is = |l: &Loaded| l.lib.handle.is_null() && std::ptr::eq(l.lib.entry, entry);
    let at = all.iter().position(is);
    let gone = at.map(|at| all.remove(at));
    drop(all);
    gone.is_some()
}

/// The driver for a port that is opened with that command.
pub fn make(command: &[u8]) -> Option<Box<dyn Driver>> {
    let word = command.split(|b| *b == b' ').next()?;
    let all = lock(&LOADED);
    let l = all.iter().find(|l| l.lib.name.as_bytes() == word)?;
    Some(Box::new(Linked::new(l.lib.clone(), command)))
}

fn name_of(t: Term<'_>) -> Option<String> {
    let bytes = kvik_bifs::filename::native(t)?;
    String::from_utf8(bytes).ok().filter(|n| !n.is_empty())
}
fn is_built_in(name: &str) -> bool {
    kvik_port::drivers().any(|d| d == name)
}
fn ok<'h>(p: &'h Proc, what: Atom) -> BifResult<'h> {
    Ok(p.heap.tuple(&[am::ok.into(), what.into()]))
}
fn error<'h>(p: &'h Proc, what: &str) -> BifResult<'h> {
    let what = Atom::intern(what).unwrap_or(am::error);
    Ok(p.heap.tuple(&[am::error.into(), what.into()]))
}

#[derive(Default)]
struct Options {
    kill_ports: bool,
    monitor: bool,
    /// Also where other processes, or further loads, keep the driver.
    of_processes: bool,
}
/// `None`: `badarg`.
fn options(t: Term<'_>) -> Option<Options> {
    let mut o = Options::default();
    for item in t.list_to_vec()? {
        if item == am::kill_ports {
            o.kill_ports = true;
            continue;
        }
        let [tag, value] = item.as_tuple_n()?;
        match tag.as_atom()? {
            am::driver_options => {
                let all = value.list_to_vec()?;
                o.kill_ports = !all.is_empty();
                all.iter().all(|t| *t == am::kill_ports).then_some(())?;
            }
            am::monitor | am::reload => {
                o.monitor = [am::pending, am::pending_driver].contains(&value.as_atom()?);
                o.monitor.then_some(())?;
                o.of_processes = value == am::pending;
            }
            _ => return None,
        }
    }
    Some(o)
}

/// `erl_ddll:try_load/3`
pub fn try_load<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let parts = (kvik_bifs::filename::native(a[0]), name_of(a[1]), options(a[2]));
    let (Some(path), Some(name), Some(o)) = parts else { return Err(p.badarg()) };
    if is_built_in(&name) {
        return error(p, "linked_in_driver");
    }
    let mut all = lock(&LOADED);
    if let Some(l) = all.iter_mut().find(|l| l.lib.name == name) {
        if l.lib.path != path || l.kill_ports != o.kill_ports && !l.users.is_empty() {
            return error(p, "inconsistent");
        }
        use_once_more(l, p.pid());
        return ok(p, am::already_loaded);
    }
    match load(path, name) {
        Ok(lib) => {
            let users = vec![(p.pid(), 1)];
            let (kill_ports, permanent) = (o.kill_ports, false);
            all.push(Loaded { lib: Arc::new(lib), users, kill_ports, permanent });
            ok(p, am::loaded)
        }
        Err(Fault::Named(what)) => error(p, what),
        Err(Fault::Open(text)) => {
            let mut texts = lock(&TEXTS);
            texts.push(text);
            let n = FIRST_TEXT + 1 - texts.len() as i64;
            let why = p.heap.tuple(&[am::open_error.into(), p.heap.integer(n)]);
            Ok(p.heap.tuple(&[am::error.into(), why]))
        }
    }
}
fn use_once_more(l: &mut Loaded, pid: u32) {
    match l.users.iter_mut().find(|u| u.0 == pid) {
        Some(u) => u.1 += 1,
        None => l.users.push((pid, 1)),
    }
}

enum Fault {
    Named(&'static str),
    Open(String),
}

fn load(path: Vec<u8>, name: String) -> Result<Library, Fault> {
    let file = CString::new([path.as_slice(), b"/", name.as_bytes(), b".so"].concat());
    let file = file.map_err(|_| Fault::Open("a zero in the name".into()))?;
    let handle = crate::library::open(file.as_ptr());
    if handle.is_null() {
        // SAFETY: null, or a string that stays until the next call of its kind on this thread.
        let why = c_str(unsafe { libc::dlerror() });
        return Err(Fault::Open(String::from_utf8_lossy(why).into_owned()));
    }
    let fail = |what| {
        // SAFETY: nothing of it is used.
        unsafe { libc::dlclose(handle) };
        Err(Fault::Named(what))
    };
    const INIT: &CStr = c"driver_init";
    // SAFETY: the handle is open.
    let init = unsafe { libc::dlsym(handle, INIT.as_ptr()) };
    if init.is_null() {
        return fail("no_driver_init");
    }
    type Init = unsafe extern "C" fn() -> *const Entry;
    // SAFETY: that is the function's type by the interface, and the library's own function.
    let entry = unsafe { std::mem::transmute::<*mut c_void, Init>(init)() };
    if entry.is_null() {
        return fail("driver_init_failed");
    }
    // SAFETY: the library's description of itself, as long as it is open.
    let entry: &'static Entry = unsafe { &*entry };
    let version = MAJORS.contains(&entry.major) && (entry.major < 3 || entry.minor <= MINOR);
    if entry.marker as u32 != MARKER || !version {
        return fail("driver_incorrect_version");
    }
    if c_str(entry.name) != name.as_bytes() {
        return fail("bad_driver_name");
    }
    // SAFETY: the library's own function.
    if entry.init.is_some_and(|f| unsafe { f() } != 0) {
        return fail("driver_init_failed");
    }
    Ok(Library::new(handle, entry, name, path))
}

/// `erl_ddll:try_unload/2`
pub fn try_unload<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(name), Some(o)) = (name_of(a[0]), options(a[1])) else { return Err(p.badarg()) };
    if is_built_in(&name) {
        return error(p, "linked_in_driver");
    }
    let mut all = lock(&LOADED);
    let Some(at) = all.iter().position(|l| l.lib.name == name) else {
        return error(p, "not_loaded");
    };
    let l = &mut all[at];
    if l.permanent {
        return error(p, "permanent");
    }
    let Some(user) = l.users.iter().position(|u| u.0 == p.pid()) else {
        return error(p, "not_loaded_by_this_process");
    };
    l.users[user].1 -= 1;
    if l.users[user].1 == 0 {
        l.users.swap_remove(user);
    }
    if !l.users.is_empty() {
        return pending(p, &l.lib, am::pending_process, o.monitor && o.of_processes);
    }
    let l = all.remove(at);
    drop(all);
    if o.kill_ports || l.kill_ports {
        end_ports(&l.lib);
    }
    if lock(&l.lib.ports).is_empty() {
        return ok(p, am::unloaded);
    }
    pending(p, &l.lib, am::pending_driver, o.monitor)
}
/// `{ok, What}`, or with a reference where it is to be told when the library is gone.
fn pending<'h>(p: &'h Proc, lib: &Library, what: Atom, monitor: bool) -> BifResult<'h> {
    if !monitor {
        return ok(p, what);
    }
    let n = next_ref();
    lock(&lib.watchers).push((p.pid(), n));
    Ok(p.heap.tuple(&[am::ok.into(), what.into(), p.heap.ref_of_numbers(n)]))
}
fn end_ports(lib: &Library) {
    let ports = lock(&lib.ports).clone();
    let why = Exit::Reason(am::driver_unloaded);
    ports.into_iter().filter_map(kvik_port::table::get).for_each(|port| port.fail(why));
}

/// A process that had loaded drivers ends.
pub fn forget(p: &Proc) {
    let mut all = lock(&LOADED);
    if all.is_empty() {
        return;
    }
    let pid = p.pid();
    all.iter_mut().for_each(|l| l.users.retain(|u| u.0 != pid));
    let (gone, left) =
        std::mem::take(&mut *all).into_iter().partition(|l| l.users.is_empty() && !l.permanent);
    *all = left;
    drop(all);
    let gone: Vec<Loaded> = gone;
    gone.iter().filter(|l| l.kill_ports).for_each(|l| end_ports(&l.lib));
}

/// `erl_ddll:loaded_drivers/0`: those that are built in too.
pub fn loaded_drivers<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = lock(&LOADED);
    let names = all.iter().map(|l| p.heap.string(&l.lib.name));
    let names: Vec<_> = names.chain(kvik_port::drivers().map(|d| p.heap.string(d))).collect();
    Ok(p.heap.tuple(&[am::ok.into(), p.heap.list(&names)]))
}

/// `erl_ddll:info/2`
pub fn info<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(name), Some(item)) = (name_of(a[0]), a[1].as_atom()) else { return Err(p.badarg()) };
    let all = lock(&LOADED);
    let Some(l) = all.iter().find(|l| l.lib.name == name) else {
        if !is_built_in(&name) {
            return Err(p.badarg());
        }
        return Ok(match item {
            am::permanent => am::false_,
            am::linked_in_driver => am::true_,
            _ => am::linked_in_driver,
        }
        .into());
    };
    let h = &p.heap;
    Ok(match item {
        am::processes => {
            let one = |u: &(u32, usize)| h.tuple(&[Term::local_pid(u.0), h.integer(u.1 as i64)]);
            h.list(&l.users.iter().map(one).collect::<Vec<_>>())
        }
        am::driver_options if l.kill_ports => h.list(&[am::kill_ports.into()]),
        am::driver_options | am::awaiting_load | am::awaiting_unload => Term::NIL,
        am::port_count => h.integer(lock(&l.lib.ports).len() as i64),
        am::permanent => Term::bool(l.permanent),
        am::linked_in_driver => Term::bool(l.lib.handle.is_null()),
        _ => return Err(p.badarg()),
    })
}

/// `erl_ddll:monitor/2`: what is so already is told at once.
pub fn monitor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let parts = a[1].as_tuple_n::<2>().filter(|_| a[0] == am::driver);
    let Some((name, when)) = parts.and_then(|[n, w]| Some((name_of(n)?, w.as_atom()?))) else {
        return Err(p.badarg());
    };
    let n = next_ref();
    let all = lock(&LOADED);
    let there = all.iter().find(|l| l.lib.name == name);
    match (when, there) {
        (am::loaded, Some(_)) => tell(p.pid(), n, am::UP, &name, am::loaded),
        (am::loaded, None) => tell(p.pid(), n, am::DOWN, &name, am::load_cancelled),
        (am::unloaded | am::unloaded_only, Some(l)) => lock(&l.lib.watchers).push((p.pid(), n)),
        (am::unloaded | am::unloaded_only, None) => {
            tell(p.pid(), n, am::DOWN, &name, am::unloaded);
        }
        _ => return Err(p.badarg()),
    }
    Ok(p.heap.ref_of_numbers(n))
}

/// `erl_ddll:demonitor/1`
pub fn demonitor<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let numbers = |t: Term<'_>| match t.view() {
        kvik_term::View::Ref(kvik_term::Ref::Local(r)) => Some(signal::RefId::of(r).0),
        _ => None,
    };
    let Some(n) = numbers(a[0]) else { return Err(p.badarg()) };
    lock(&LOADED).iter().for_each(|l| lock(&l.lib.watchers).retain(|w| w.1 != n));
    Ok(am::true_.into())
}

/// `erl_ddll:format_error_int/1`, of what could not be opened.
pub fn format_error<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let code = match a[0].as_tuple_n() {
        Some([tag, code]) if tag == am::open_error => code.as_small(),
        _ => None,
    };
    let text = |n: i64| Some(lock(&TEXTS).get(usize::try_from(FIRST_TEXT - n).ok()?)?.clone());
    match code.and_then(text) {
        Some(text) => Ok(p.heap.string(&text)),
        None => Err(p.badarg()),
    }
}
