//! Speculative loading: modules are prepared before the code server asks for them.
//!
//! Nearly all of the startup time goes into preparing modules. The code server asks for them one by
//! one, each when the one before calls it, but the set is known from the start, and a thread is
//! idle. A prepared module is handed over when `prepare_loading/2` gets a file with exactly the
//! same code. So only the timing differs: a faulty module, or another one of that name, is loaded
//! or rejected as usual.
//!
//! Each module is prepared once: a caller that needs one in progress waits for it; one that was not
//! begun is left to the caller. Callers get their modules in the order in which they asked: since
//! OTP 26 the order of a map's keys tells which module named an atom first.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use kvik_beam::Container;
use kvik_code::LoadedModule;
use kvik_env::fs::{self, File};
use kvik_env::thread;
use kvik_term::atom::{self, without_ranks, Unranked};
use kvik_term::Atom;

/// When no module was taken for this long, the rest is dropped.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Limit on the bytes of prepared files that were not taken yet, not counting chunks that only
/// tools read.
const READ_AHEAD_BYTES: usize = 512 << 10;

/// A module that is or will be prepared.
struct Wanted {
    name: String,
    state: State,
}
enum State {
    /// Not begun; the path of its file.
    Waiting(PathBuf),
    UnderWay,
    Made(Made),
}
/// A suspended process that waits for a module, or for those that asked before it.
struct Caller {
    name: String,
    pid: u32,
}
struct Made {
    /// The parts of its file that the code depends on.
    essence: Vec<u8>,
    instance: Box<LoadedModule>,
    /// Atoms that loading this module names first.
    atoms: Vec<Atom>,
}

kvik_state::vm_state! {
    /// In the order of preparation. Empty except while the VM starts.
    static WANTED: Mutex<Vec<Wanted>> = Mutex::new(Vec::new());
    /// In the order in which they asked.
    static CALLERS: Mutex<VecDeque<Caller>> = Mutex::new(VecDeque::new());
    /// Signalled when a module was taken.
    static TAKEN: Condvar = Condvar::new();
}

fn wanted() -> MutexGuard<'static, Vec<Wanted>> {
    WANTED.lock().unwrap_or_else(|e| e.into_inner())
}

/// Locked while [`wanted`] is, never the other way round.
fn callers() -> MutexGuard<'static, VecDeque<Caller>> {
    CALLERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Result of [`take`].
pub(crate) enum Taken {
    /// Nothing: the caller prepares the module itself.
    Nothing,
    Made(Box<LoadedModule>),
    /// In progress: the caller suspends the process, which is resumed when it may ask again.
    UnderWay,
}

/// Takes the prepared module for a file.
pub(crate) fn take(name: &str, file: &[u8], pid: u32) -> Taken {
    let mut all = wanted();
    let found = all.iter().position(|w| w.name == name);
    let mut waiting = callers();
    let place = waiting.iter().position(|c| c.pid == pid);
    if found.is_none() && place.is_none() {
        return Taken::Nothing;
    }
    let under_way = found.is_some_and(|i| matches!(all[i].state, State::UnderWay));
    if under_way || place.unwrap_or(waiting.len()) > 0 {
        if place.is_none() {
            waiting.push_back(Caller { name: name.to_string(), pid });
        }
        return Taken::UnderWay;
    }
    let made = match found.map(|i| all.remove(i).state) {
        Some(State::Made(made)) if is_of_file(&made, file) => {
            atom::named(&made.atoms);
            Taken::Made(made.instance)
        }
        _ => Taken::Nothing,
    };
    if place.is_some() {
        waiting.pop_front();
        resume_first(&all, &waiting);
    }
    drop((waiting, all));
    TAKEN.notify_one();
    made
}

/// Whether a file has the code that the module was made from.
fn is_of_file(made: &Made, file: &[u8]) -> bool {
    Container::parse(file).is_ok_and(|c| c.has_essence(&made.essence))
}

/// Resumes the first caller unless its module is in progress.
fn resume_first(all: &[Wanted], waiting: &VecDeque<Caller>) {
    let Some(first) = waiting.front() else { return };
    let under_way = |w: &Wanted| w.name == first.name && matches!(w.state, State::UnderWay);
    if !all.iter().any(under_way) {
        kvik_proc::signal_handlers::resume(first.pid, first.pid);
    }
}

/// Prepares modules, given by name and file, until all are prepared or taken. Files that cannot be
/// prepared are skipped. Returns when the rest is of no use any more.
pub fn work(modules: Vec<(String, PathBuf)>) {
    let waiting = |(name, path)| Wanted { name, state: State::Waiting(path) };
    wanted().extend(modules.into_iter().map(waiting));
    thread::scope(|s| {
        // Two threads: processes wait for modules in progress, so the schedulers have little to do.
        // If no thread can be started, this one does all.
        let _ = thread::spawn_scoped(s, "ahead", make_all);
        make_all();
    });
    drop(wait_until(|all| all.is_empty()));
    let mut all = wanted();
    let left = std::mem::take(&mut *all);
    // A caller that ended before its turn holds up the others no longer.
    let waiting = std::mem::take(&mut *callers());
    drop(all);
    drop(left);
    waiting.iter().for_each(|c| kvik_proc::signal_handlers::resume(c.pid, c.pid));
}

fn make_all() {
    let mut file = Vec::new();
    while let Some((under_way, path)) = UnderWay::next() {
        let made = make(&under_way.0, &path, &mut file);
        under_way.end(made);
    }
}

/// Waits until `asked` holds. `None`: no module was taken within the timeout.
fn wait_until(asked: fn(&[Wanted]) -> bool) -> Option<MutexGuard<'static, Vec<Wanted>>> {
    let mut all = wanted();
    while !asked(&all) {
        let (woken, timed_out) = thread::wait_timeout(&TAKEN, all, IDLE_TIMEOUT);
        if timed_out {
            return None;
        }
        all = woken;
    }
    Some(all)
}
/// Whether the limit allows preparing another module.
fn has_room(all: &[Wanted]) -> bool {
    let bytes = |w: &Wanted| match &w.state {
        State::Made(made) => made.essence.len(),
        _ => 0,
    };
    all.iter().map(bytes).sum::<usize>() < READ_AHEAD_BYTES
}

/// Prepares a module; `file` is a reusable buffer.
fn make(name: &str, path: &Path, file: &mut Vec<u8>) -> Option<Made> {
    read(path, file).ok()?;
    let essence = Container::parse(file).ok()?.essence();
    // Its atoms are named when the program loads it. If its maps depend on atom order, it cannot be
    // prepared early.
    let Unranked { made, atoms, complete } = without_ranks(|| kvik_jit::prepare(file));
    let instance = made.ok()?;
    (complete && instance.name.name() == name).then(|| Made {
        essence,
        instance: Box::new(instance),
        atoms,
    })
}

/// Reads a whole file into a reusable buffer.
pub fn read(path: &Path, to: &mut Vec<u8>) -> std::io::Result<()> {
    to.clear();
    match fs::carried(path) {
        Some(bytes) => to.extend(bytes?),
        None => drop(File::open(path)?.read_to_end(to)?),
    }
    Ok(())
}

/// The name of the module in progress. Dropping it resumes the waiting processes in any case.
struct UnderWay(String);

impl UnderWay {
    fn next() -> Option<(UnderWay, PathBuf)> {
        let mut all = wait_until(has_room)?;
        all.iter_mut().find_map(|w| match &mut w.state {
            State::Waiting(path) => {
                let path = std::mem::take(path);
                w.state = State::UnderWay;
                Some((UnderWay(w.name.clone()), path))
            }
            _ => None,
        })
    }
    fn end(&self, made: Option<Made>) {
        let mut all = wanted();
        let under_way = |w: &Wanted| matches!(w.state, State::UnderWay) && w.name == self.0;
        let Some(i) = all.iter().position(under_way) else { return };
        match made {
            Some(made) => all[i].state = State::Made(made),
            None => drop(all.remove(i)),
        }
        let waiting = callers();
        if waiting.front().is_some_and(|c| c.name == self.0) {
            resume_first(&all, &waiting);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.end(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of the installed OTP, if there is one.
    fn installed(name: &str) -> Option<PathBuf> {
        let dirs = std::fs::read_dir("/usr/lib/erlang/lib").ok()?;
        let file = format!("ebin/{name}.beam");
        dirs.flatten().map(|d| d.path().join(&file)).find(|p| p.is_file())
    }
    /// The file with an additional chunk.
    fn with(file: &[u8], id: &[u8; 4]) -> Vec<u8> {
        let mut more = file.to_vec();
        more.extend_from_slice(id);
        more.extend_from_slice(&[0, 0, 0, 4, 1, 2, 3, 4]);
        let size = more.len() as u32 - 8;
        more[4..8].copy_from_slice(&size.to_be_bytes());
        more
    }
    fn begin(name: &str, path: &Path) -> UnderWay {
        let state = State::Waiting(path.to_path_buf());
        wanted().push(Wanted { name: name.into(), state });
        UnderWay::next().unwrap().0
    }

    #[test]
    fn prepared_module_matches_only_a_file_with_the_same_code() {
        let Some(path) = installed("queue") else { return };
        assert!(kvik_jit::init());
        let file = std::fs::read(&path).unwrap();
        let made = |file: &[u8]| {
            begin("queue", &path).end(make("queue", &path, &mut Vec::new()));
            matches!(take("queue", file, 0), Taken::Made(i) if i.name.name() == "queue")
        };
        assert!(made(&file));
        assert!(made(&with(&file, b"Docs")));
        assert!(!made(&with(&file, b"New ")));
        assert!(!made(&file[..file.len() - 4]));
        // A module is handed out once, and one not begun is left to the caller.
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        wanted().push(Wanted { name: "queue".into(), state: State::Waiting(path.clone()) });
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        assert!(UnderWay::next().is_none());
        // A caller that needs one in progress has to wait; one that fails is removed.
        let under_way = begin("queue", &path);
        assert!(matches!(take("queue", &file, 0), Taken::UnderWay));
        under_way.end(make("other", &path, &mut Vec::new()));
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        drop(begin("queue", Path::new("/nowhere")));
        assert!(wanted().is_empty());
    }
}
