//! Modules that are prepared before anybody asks for them.
//!
//! Nearly all the time of a start goes into preparing modules. They are asked for one after the
//! other, each when the one before has called it; but which they will be is known from the first, and
//! there is a thread that has nothing to do. What it has made is handed over when
//! `prepare_loading/2` gets a file with the very same code. So nobody can tell but by the time, and a
//! module that is wrong, or another one of that name, is loaded or refused as ever.
//!
//! Each module is made once: who asks for one that is under way waits for it, and one that was not
//! begun yet is left to who asks.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use kvik_beam::Container;
use kvik_code::Instance;
use kvik_env::fs::File;
use kvik_env::thread;
use kvik_term::atom::{self, without_ranks, Unranked};
use kvik_term::Atom;

/// When nobody has asked for anything for so long, what is left is dropped.
pub const KEPT: Duration = Duration::from_secs(2);
/// Files of so many bytes in all are prepared ahead, without what tools read.
const MOST: usize = 512 << 10;

/// One that is or will be made.
struct Wanted {
    name: String,
    state: State,
}
enum State {
    /// Not yet begun; its file.
    Waiting(PathBuf),
    /// The processes that wait for it.
    UnderWay(Vec<u32>),
    Made(Made),
}
struct Made {
    /// All of its file that it depends on.
    essence: Vec<u8>,
    instance: Box<Instance>,
    /// Those that loading it is the first to name.
    atoms: Vec<Atom>,
}

kvik_state::vm_state! {
    /// In the order in which they are made. Empty but while the machine starts.
    static WANTED: Mutex<Vec<Wanted>> = Mutex::new(Vec::new());
    /// One was taken out.
    static TAKEN: Condvar = Condvar::new();
}

fn wanted() -> MutexGuard<'static, Vec<Wanted>> {
    WANTED.lock().unwrap_or_else(|e| e.into_inner())
}

/// What there is for who asks.
pub(crate) enum Taken {
    /// Nothing: to be made by who asks.
    Nothing,
    Made(Box<Instance>),
    /// The process has to be suspended by itself, and is resumed when the module was made.
    UnderWay,
}

/// Takes out what was made of a file.
pub(crate) fn take(name: &str, file: &[u8], pid: u32) -> Taken {
    let mut all = wanted();
    let Some(i) = all.iter().position(|w| w.name == name) else { return Taken::Nothing };
    if let State::UnderWay(waiting) = &mut all[i].state {
        waiting.push(pid);
        return Taken::UnderWay;
    }
    let found = all.remove(i);
    drop(all);
    TAKEN.notify_one();
    let State::Made(made) = found.state else { return Taken::Nothing };
    match Container::parse(file) {
        Ok(c) if c.has_essence(&made.essence) => {
            atom::named(&made.atoms);
            Taken::Made(made.instance)
        }
        _ => Taken::Nothing,
    }
}

/// Makes modules, given by name and file, until all are made or taken by others. Files that can't be
/// prepared are passed over. Returns when what is left is of no use any more.
pub fn work(modules: Vec<(String, PathBuf)>) {
    let waiting = |(name, path)| Wanted { name, state: State::Waiting(path) };
    wanted().extend(modules.into_iter().map(waiting));
    thread::scope(|s| {
        // Processes wait for what is under way, and schedulers have little to do then. Where no
        // thread can be had the one does all.
        let _ = thread::spawn_scoped(s, "ahead", make_all);
        make_all();
    });
    drop(wait_until(|all| all.is_empty()));
    let left = std::mem::take(&mut *wanted());
    drop(left);
}

fn make_all() {
    let mut file = Vec::new();
    while let Some((under_way, path)) = UnderWay::next() {
        let made = make(&under_way.0, &path, &mut file);
        under_way.end(made);
    }
}

/// Waits until what there is is as asked for. `None`: nothing was taken for too long.
fn wait_until(asked: fn(&[Wanted]) -> bool) -> Option<MutexGuard<'static, Vec<Wanted>>> {
    let mut all = wanted();
    while !asked(&all) {
        let (woken, timed_out) = thread::wait_timeout(&TAKEN, all, KEPT);
        if timed_out {
            return None;
        }
        all = woken;
    }
    Some(all)
}
/// Is there room for more?
fn has_room(all: &[Wanted]) -> bool {
    let bytes = |w: &Wanted| match &w.state {
        State::Made(made) => made.essence.len(),
        _ => 0,
    };
    all.iter().map(bytes).sum::<usize>() < MOST
}

/// The file is read into memory that is used again and again.
fn make(name: &str, path: &Path, file: &mut Vec<u8>) -> Option<Made> {
    read(path, file).ok()?;
    let essence = Container::parse(file).ok()?.essence();
    // Its atoms are named when the program loads it. Where its maps depend on that, so does all of it.
    let Unranked { made, atoms, complete } = without_ranks(|| kvik_jit::prepare(file));
    let instance = made.ok()?;
    (complete && instance.name.name() == name).then(|| Made {
        essence,
        instance: Box::new(instance),
        atoms,
    })
}

/// All of a file, into memory that may have been used before.
pub fn read(path: &Path, to: &mut Vec<u8>) -> std::io::Result<()> {
    to.clear();
    File::open(path)?.read_to_end(to).map(drop)
}

/// The name of the one under way. Whatever becomes of it, nobody waits for it for ever.
struct UnderWay(String);

impl UnderWay {
    fn next() -> Option<(UnderWay, PathBuf)> {
        let mut all = wait_until(has_room)?;
        all.iter_mut().find_map(|w| match &mut w.state {
            State::Waiting(path) => {
                let path = std::mem::take(path);
                w.state = State::UnderWay(Vec::new());
                Some((UnderWay(w.name.clone()), path))
            }
            _ => None,
        })
    }
    fn end(&self, made: Option<Made>) {
        let mut all = wanted();
        let under_way = |w: &Wanted| matches!(w.state, State::UnderWay(_)) && w.name == self.0;
        let Some(i) = all.iter().position(under_way) else { return };
        let was = match made {
            Some(made) => std::mem::replace(&mut all[i].state, State::Made(made)),
            None => all.remove(i).state,
        };
        drop(all);
        let State::UnderWay(waiting) = was else { return };
        waiting.into_iter().for_each(|pid| kvik_proc::handle::resume(pid, pid));
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

    /// A module of OTP's, where that is installed.
    fn installed(name: &str) -> Option<PathBuf> {
        let dirs = std::fs::read_dir("/usr/lib/erlang/lib").ok()?;
        let file = format!("ebin/{name}.beam");
        dirs.flatten().map(|d| d.path().join(&file)).find(|p| p.is_file())
    }
    /// The file with one more chunk.
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
    fn what_was_made_is_for_a_file_with_the_same_code_only() {
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
        // Each is given once, and one not begun is left to who asks.
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        wanted().push(Wanted { name: "queue".into(), state: State::Waiting(path.clone()) });
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        assert!(UnderWay::next().is_none());
        // Who asks for one under way has to wait; one that fails is not there afterwards.
        let under_way = begin("queue", &path);
        assert!(matches!(take("queue", &file, 0), Taken::UnderWay));
        under_way.end(make("other", &path, &mut Vec::new()));
        assert!(matches!(take("queue", &file, 0), Taken::Nothing));
        drop(begin("queue", Path::new("/nowhere")));
        assert!(wanted().is_empty());
    }
}
