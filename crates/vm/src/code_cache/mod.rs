//! Where native code stays from one start to the next (docs/internals/code-cache.md): in a file for
//! each build of kvik and release of OTP, in a directory that only this user can write to, or in the
//! executable itself if `kvik build` made it.
//!
//! Modules are added as they are made and written together: when the VM has started, whenever many
//! were made since and no more follow, and when the VM ends. The file is replaced as a whole, so whoever has the old one open goes on with it.

mod pack;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use kvik_env::embedded;
use kvik_env::fs::{self, MetadataExt};
use kvik_env::thread::{self, Thread};
use kvik_jit::{CodeCache, CodeKey};

use pack::{Identity, Pack, PackEntry};

/// Names the directory, or (`off`) says that nothing is kept.
pub const VARIABLE: &str = "KVIK_CODE_CACHE";
/// The file with the pack in an executable's own tree.
pub const CARRIED: &str = "kvik/code";
/// A file that would be larger is begun anew, with what this VM used.
const MOST_BYTES: u64 = 64 << 20;
/// Bytes of new entries that are kept in memory until they are written.
const MOST_WAITING: usize = 32 << 20;
/// While the VM runs, so many bytes are worth a new file, or this part of the file if that is more:
/// the rest of it is written again each time.
const WORTH_BYTES: usize = 2 << 20;
const WORTH_PART: u64 = 8;
/// They are written once none was added for this time, or after so many such times.
const PAUSE: Duration = Duration::from_secs(2);
const MOST_PAUSES: usize = 10;
/// Fewer new modules than this, or than this part of what was found, are not worth a new file.
const FEWEST: usize = 4;
const SMALLEST_PART: usize = 8;
/// Files of this many builds and releases stay.
const MOST_FILES: usize = 8;
/// The end of the name of a file that is not whole yet; after this time nobody writes it any more.
const PART: &str = "part";
const OLD_PART: Duration = Duration::from_secs(3600);

/// The code of this executable's own modules.
struct Carried(Pack);

impl CodeCache for Carried {
    fn find<'a>(&'a self, key: &CodeKey, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        self.0.entry(key, room)
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

struct Changing {
    /// Entries of the file that this VM has used or written.
    used: HashSet<CodeKey>,
    added: HashMap<CodeKey, Vec<u8>>,
    /// Of what was added.
    bytes: usize,
    /// From so many on they are written while the VM runs.
    worth: usize,
    /// The thread that does that.
    keeper: Option<Thread>,
    /// The file cannot be written.
    refused: bool,
}

impl Default for Changing {
    fn default() -> Changing {
        let (used, added, bytes, keeper, refused) = Default::default();
        Changing { used, added, bytes, worth: WORTH_BYTES, keeper, refused }
    }
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
        Some(named) if named.as_os_str() == "off" => None,
        // The program may change its directory.
        Some(named) => std::path::absolute(named).ok(),
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
    let known = keys.iter().filter(|key| pack.has(key));
    let entries: Vec<_> = known.map(|key| (*key, PackEntry::Of(&pack))).collect();
    let mut out = Vec::new();
    pack::write(&mut out, &carried_identity(release), &entries).ok()?;
    Some(out)
}

impl CodeCache for Cache {
    fn find<'a>(&'a self, key: &CodeKey, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let entry = self.pack.as_ref()?.entry(key, room)?;
        self.changing().used.insert(*key);
        Some(entry)
    }
    fn add(&self, key: CodeKey, entry: Vec<u8>) {
        let mut now = self.changing();
        if now.refused || now.bytes + entry.len() > MOST_WAITING {
            return;
        }
        now.bytes += entry.len();
        now.added.insert(key, entry);
        if now.bytes >= now.worth {
            now.keeper.iter().for_each(Thread::unpark);
        }
    }
    fn save(&self) {
        let is_worth =
            |now: &Changing| now.added.len() >= FEWEST.max(now.used.len() / SMALLEST_PART);
        self.write_if(is_worth);
    }
    fn keep_up(&self) {
        self.changing().keeper = Some(thread::current());
        loop {
            self.wait_until_worth();
            self.write_if(|now| now.bytes >= now.worth);
        }
    }
}

impl Cache {
    fn changing(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until much was added, and until no more follows.
    fn wait_until_worth(&self) {
        let waiting = || {
            let now = self.changing();
            (now.bytes, now.bytes >= now.worth)
        };
        while !waiting().1 {
            thread::park();
        }
        for _ in 0..MOST_PAUSES {
            let before = waiting().0;
            thread::sleep(PAUSE);
            if waiting().0 == before {
                return;
            }
        }
    }

    /// Writes what was added, on a condition. If that fails nothing more is added: without a cache
    /// all goes on as ever.
    fn write_if(&self, worth: impl FnOnce(&Changing) -> bool) {
        let _writing = self.writing.lock().unwrap_or_else(|e| e.into_inner());
        let added = {
            let mut now = self.changing();
            if !worth(&now) {
                return;
            }
            now.bytes = 0;
            std::mem::take(&mut now.added)
        };
        let written = self.write(&added);
        let mut now = self.changing();
        match written {
            Ok(size) => {
                let part = usize::try_from(size / WORTH_PART).unwrap_or(usize::MAX);
                now.worth = part.max(WORTH_BYTES);
                now.used.extend(added.into_keys());
            }
            Err(_) => {
                now.refused = true;
                now.added = HashMap::new();
                now.bytes = 0;
            }
        }
    }

    /// Replaces the file by one that has these entries, too; returns its size.
    fn write(&self, added: &HashMap<CodeKey, Vec<u8>>) -> io::Result<u64> {
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        make_directory(directory)?;
        if !pack::is_trusted(&fs::metadata(directory)?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // What another VM has written meanwhile stays.
        let old = Pack::open(&self.path, &self.identity);
        let mut entries: Vec<(CodeKey, PackEntry)> =
            added.iter().map(|(key, entry)| (*key, PackEntry::New(entry))).collect();
        let new = entries.len();
        if let Some(old) = &old {
            let keys = old.keys().filter(|key| !added.contains_key(*key));
            entries.extend(keys.map(|key| (*key, PackEntry::Of(old))));
        }
        if pack::file_size(&entries) > MOST_BYTES {
            let used = self.changing().used.clone();
            let mut at = 0;
            entries.retain(|(key, _)| {
                at += 1;
                at <= new || used.contains(key)
            });
        }
        // A larger file than the limit allows ends the program by a signal.
        let size = pack::file_size(&entries);
        if size > MOST_BYTES.min(kvik_env::file::size_limit()) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let part = format!("{:016x}.{PART}", kvik_env::random::number());
        let part = self.path.with_extension(part);
        let mut file = pack::create(&part)?;
        let written = pack::write(&mut file, &self.identity, &entries)
            .and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        self.remove_oldest(directory);
        written.map(|()| size)
    }

    /// Keeps the newest packs, this one among them, and removes what ended VMs have left half
    /// written.
    fn remove_oldest(&self, directory: &Path) {
        let Ok(all) = fs::read_dir(directory) else { return };
        let mut packs = Vec::new();
        for file in all.filter_map(Result::ok) {
            let (path, name) = (file.path(), file.file_name());
            let Some((pack, is_part)) = name.to_str().and_then(parts_of_name) else { continue };
            let info = file.metadata().ok().filter(|info| info.is_file());
            let Some(modified) = info.and_then(|info| info.modified().ok()) else { continue };
            match is_part {
                true if modified.elapsed().is_ok_and(|age| age > OLD_PART) => {
                    let _ = fs::remove_file(path);
                }
                false if !self.path.ends_with(pack) => packs.push((modified, path)),
                _ => {}
            }
        }
        packs.sort();
        for (_, path) in packs.iter().rev().skip(MOST_FILES - 1) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The name of a pack in that of a file of ours, and whether the file is not whole yet.
fn parts_of_name(name: &str) -> Option<(&str, bool)> {
    let (pack, rest) = name.split_at_checked("code-0123456789abcdef".len())?;
    let digits = pack.strip_prefix("code-")?;
    let is_ours = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let is_part = rest.ends_with(&format!(".{PART}"));
    (is_ours && (rest.is_empty() || is_part)).then_some((pack, is_part))
}

/// Makes the directory, and the one that it is in if that is missing too, unless that would be in a
/// directory of another user's: root may have that user's HOME.
fn make_directory(path: &Path) -> io::Result<()> {
    if fs::is_dir(path) {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new("/"));
    if !fs::is_dir(above) {
        make_own(above)?;
    }
    make_own(path)
}
fn make_own(path: &Path) -> io::Result<()> {
    let above = fs::metadata(path.parent().unwrap_or(Path::new("/")))?;
    let (user, _) = kvik_env::file::effective_ids();
    // In a directory for all, such as /tmp, a named one may be made.
    if above.uid() != user && above.mode() & 0o1002 != 0o1002 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    fs::create_private_dir(path)
}
