//! Where native code stays from one start to the next (docs/internals/code-cache.md): in a file for
//! each build of kvik and release of OTP, in a directory that only this user can write to, or in the
//! executable itself if `kvik build` made it.
//!
//! Modules are added as they are made and written together, when the VM has started or ends. The
//! file is replaced as a whole, so whoever has the old one open goes on with it.

mod pack;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use kvik_env::{embedded, fs};
use kvik_jit::{CodeCache, CodeKey};

use pack::{Identity, Pack, ROW};

/// Names the directory, or (`off`) says that nothing is kept.
pub const VARIABLE: &str = "KVIK_CODE_CACHE";
/// The file with the pack in an executable's own tree.
pub const CARRIED: &str = "kvik/code";
/// A file that would be larger is begun anew, with what this VM used.
const MOST_BYTES: u64 = 64 << 20;
/// New entries that are kept in memory until they are written.
const MOST_WAITING: usize = 32 << 20;
/// Fewer new modules than this, or than this part of what was found, are not worth a new file.
const FEWEST: usize = 4;
const SMALLEST_PART: usize = 8;
/// Files of this many builds and releases stay.
const MOST_FILES: usize = 8;

/// The code of this executable's own modules.
struct Carried(Pack);

impl CodeCache for Carried {
    fn find(&self, key: &CodeKey) -> Option<Cow<'_, [u8]>> {
        self.0.entry(key)
    }
    fn add(&self, _: CodeKey, _: Vec<u8>) {}
    fn save(&self) {}
}

/// The user's cache.
struct Cache {
    path: PathBuf,
    identity: Identity,
    pack: Option<Pack>,
    changing: Mutex<Changing>,
    /// Held while the file is written, so that a program that ends waits for it.
    writing: Mutex<()>,
}

#[derive(Default)]
struct Changing {
    found: HashSet<CodeKey>,
    added: HashMap<CodeKey, Vec<u8>>,
    /// Of what was added.
    bytes: usize,
}

/// Uses the executable's own code or the user's cache, if there may be one.
pub fn install() {
    if embedded::own_path().is_some() {
        let bytes = embedded::path(CARRIED).and_then(|p| fs::carried(p)?.ok());
        let identity = carried_identity(kvik_release::current().name);
        if let Some(pack) = bytes.and_then(|bytes| Pack::carried(bytes, &identity)) {
            kvik_jit::set_code_cache(Box::new(Carried(pack)));
        }
        return;
    }
    let (Some(directory), Some(build)) = (directory(), kvik_sys::own_image::build_id()) else {
        return;
    };
    let identity = identity(build, kvik_release::current().name);
    let path = directory.join(file_name(&identity));
    let pack = Pack::open(&path, &identity);
    let (changing, writing) = Default::default();
    kvik_jit::set_code_cache(Box::new(Cache { path, identity, pack, changing, writing }));
}

/// The directory that the environment names or that is usual; `None`: none, or there shall be none.
pub fn directory() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let caches = |name| variable(name).filter(|p| p.is_absolute());
    match variable(VARIABLE) {
        Some(named) => Some(named).filter(|named| named.as_os_str() != "off"),
        None => match caches("XDG_CACHE_HOME") {
            Some(caches) => Some(caches.join("kvik")),
            None => caches("HOME").map(|home| home.join(".cache/kvik")),
        },
    }
}

fn identity(build: &[u8], release: &str) -> Identity {
    let mut hasher = blake3::Hasher::new();
    hasher.update(build);
    hasher.update(release.as_bytes());
    *hasher.finalize().as_bytes()
}
/// An executable carries code that its own machine has made.
fn carried_identity(release: &str) -> Identity {
    identity(b"carried", release)
}

fn file_name(identity: &Identity) -> String {
    let digits: String = identity[..8].iter().map(|b| format!("{b:02x}")).collect();
    format!("code-{digits}")
}

/// A pack for an executable to carry: what the cache in a directory, which this kvik has filled
/// under a release, has of these files. `None` if there is none.
pub fn carry<'f>(
    directory: &Path,
    release: &str,
    files: impl Iterator<Item = &'f [u8]>,
) -> Option<Vec<u8>> {
    let identity = identity(kvik_sys::own_image::build_id()?, release);
    let pack = Pack::open(&directory.join(file_name(&identity)), &identity)?;
    let keys = files.filter_map(kvik_jit::code_key).collect::<std::collections::BTreeSet<_>>();
    let entries: Vec<_> = keys.iter().filter_map(|key| Some((*key, pack.entry(key)?))).collect();
    let mut out = Vec::new();
    pack::write(&mut out, &carried_identity(release), &entries).ok()?;
    Some(out)
}

impl CodeCache for Cache {
    fn find(&self, key: &CodeKey) -> Option<Cow<'_, [u8]>> {
        let entry = self.pack.as_ref()?.entry(key)?;
        self.changing().found.insert(*key);
        Some(entry)
    }
    fn add(&self, key: CodeKey, entry: Vec<u8>) {
        let mut now = self.changing();
        if now.bytes + entry.len() <= MOST_WAITING {
            now.bytes += entry.len();
            now.added.insert(key, entry);
        }
    }
    fn save(&self) {
        let _writing = self.writing.lock().unwrap_or_else(|e| e.into_inner());
        let added = {
            let mut now = self.changing();
            if now.added.len() < FEWEST.max(now.found.len() / SMALLEST_PART) {
                return;
            }
            now.bytes = 0;
            std::mem::take(&mut now.added)
        };
        // Without a cache all goes on as ever.
        let _ = self.write(&added);
    }
}

impl Cache {
    fn changing(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Replaces the file by one that has these entries, too.
    fn write(&self, added: &HashMap<CodeKey, Vec<u8>>) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        make_directory(directory)?;
        if !pack::is_trusted(&fs::metadata(directory)?) {
            return Ok(());
        }
        // What another VM has written meanwhile stays.
        let old = Pack::open(&self.path, &self.identity);
        let new: u64 = added.values().map(|entry| (entry.len() + ROW) as u64).sum();
        let all_fit = new + old.as_ref().map_or(0, Pack::size) <= MOST_BYTES;
        let used = self.changing().found.clone();
        let mut entries: Vec<(CodeKey, Cow<[u8]>)> =
            added.iter().map(|(key, entry)| (*key, Cow::from(&entry[..]))).collect();
        if let Some(old) = &old {
            let stays = |key: &&CodeKey| all_fit || used.contains(*key);
            let keys = old.keys().filter(|key| !added.contains_key(*key)).filter(stays);
            entries.extend(keys.filter_map(|key| Some((*key, old.entry(key)?))));
        }
        if entries.iter().map(|(_, entry)| (entry.len() + ROW) as u64).sum::<u64>() > MOST_BYTES {
            return Ok(());
        }
        let part = self.path.with_extension(format!("{}.part", std::process::id()));
        let written = pack::write_file(&part, &self.identity, &entries)
            .and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        remove_oldest(directory);
        written
    }
}

/// Makes the directory, and the one that it is in if that is missing too.
fn make_directory(path: &Path) -> io::Result<()> {
    if fs::is_dir(path) {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !fs::is_dir(above)) {
        fs::create_private_dir(above)?;
    }
    fs::create_private_dir(path)
}

/// Keeps the newest files.
fn remove_oldest(directory: &Path) {
    let Ok(all) = fs::read_dir(directory) else { return };
    let is_ours = |e: &fs::DirEntry| e.file_name().as_encoded_bytes().starts_with(b"code-");
    let all = all.filter_map(Result::ok).filter(is_ours);
    let mut all: Vec<_> =
        all.filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path()))).collect();
    all.sort();
    for (_, path) in all.iter().rev().skip(MOST_FILES) {
        let _ = fs::remove_file(path);
    }
}
