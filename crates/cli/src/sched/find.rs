//! Finds running VMs and reads their metrics pages. A metrics page is an unnamed file that the VM
//! keeps open (`kvik_proc::sched::metrics_page`); the system lets only the same user read a
//! program's open files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::fs::{self, File, MetadataExt};
use kvik_env::thread::sleep;
use kvik_proc::sched::metrics_page::{Metrics, MOST_WORDS, NAME};

/// How long a metrics page may stay empty. Its VM may be descheduled just then.
const BEGINS: Duration = Duration::from_secs(2);

pub struct FoundVm {
    pub pid: u32,
    board: File,
    /// The path of the metrics page, and its inode number.
    path: PathBuf,
    inode: u64,
}

impl FoundVm {
    /// The contents of the metrics page, and the time of reading in monotonic nanoseconds.
    pub fn read(&self) -> Result<(u64, Metrics), String> {
        let fault = || format!("what process {} shows is from another version of kvik", self.pid);
        let bytes = self.board.metadata().map_or(0, |m| m.len());
        let words = usize::try_from(bytes / 8).ok().filter(|n| *n <= MOST_WORDS);
        let mut bytes = vec![0; words.ok_or_else(fault)? * 8];
        self.board.read_exact_at(&mut bytes, 0).map_err(|e| e.to_string())?;
        let now = kvik_env::clock::monotonic_nanos().unsigned_abs();
        let word = |b: &[u8]| b.try_into().map_or(0, u64::from_le_bytes);
        let words: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
        Ok((now, Metrics::of(&words, now).ok_or_else(fault)?))
    }
    pub fn lives(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|m| m.ino() == self.inode)
    }
}

fn files_of(pid: u32) -> io::Result<impl Iterator<Item = PathBuf>> {
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.filter_map(|e| Some(e.ok()?.path())))
}
fn is_board(path: &Path) -> bool {
    let at = fs::read_link(path).unwrap_or_default();
    at.to_str().and_then(|s| s.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")) == Some(NAME)
}
/// Whether the page is filled in: it exists before it has contents, and its type word is written
/// last.
fn is_begun(board: &File) -> bool {
    let mut what = [0; 8];
    board.read_exact_at(&mut what, 0).is_ok() && what != [0; 8]
}
/// The VM with this process id.
pub fn vm(pid: u32) -> Result<FoundVm, String> {
    let mut files = files_of(pid).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("there is no process {pid}"),
        io::ErrorKind::PermissionDenied => format!("process {pid} is another user's"),
        _ => format!("process {pid}: {e}"),
    })?;
    let path = files.find(|p| is_board(p));
    let path = path.ok_or_else(|| format!("process {pid} is no kvik"))?;
    let board = File::open(&path).map_err(|e| format!("process {pid}: {e}"))?;
    let since = Instant::now();
    while !is_begun(&board) {
        if since.elapsed() > BEGINS {
            return Err(format!("process {pid} is no kvik yet"));
        }
        sleep(Duration::from_millis(1));
    }
    let inode = board.metadata().map_or(0, |m| m.ino());
    Ok(FoundVm { pid, board, path, inode })
}
/// The only VM of this user.
pub fn only_vm() -> Result<FoundVm, String> {
    let entries = fs::read_dir("/proc").map_err(|e| format!("/proc: {e}"))?;
    let pids = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    let mut all: Vec<FoundVm> = pids.filter_map(|pid| vm(pid).ok()).collect();
    match (all.pop(), all.len()) {
        (Some(vm), 0) => Ok(vm),
        (None, _) => Err("no kvik runs here that is this user's".into()),
        (Some(last), _) => {
            let mut pids: Vec<u32> = all.iter().map(|v| v.pid).chain([last.pid]).collect();
            pids.sort_unstable();
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            Err(format!("there are several; choose with --pid one of {}", pids.join(", ")))
        }
    }
}
/// The VM with this process id, or one among its descendants.
pub fn among(pid: u32) -> Option<FoundVm> {
    fn search(pid: u32, depth: u32) -> Option<FoundVm> {
        if let Ok(vm) = vm(pid) {
            return Some(vm);
        }
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        let mut children = children.split_whitespace().filter_map(|c| c.parse().ok());
        if depth == 0 {
            return None;
        }
        children.find_map(|c| search(c, depth - 1))
    }
    search(pid, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_programs_that_are_no_vm() {
        let of = |pid| vm(pid).err().unwrap_or_default();
        let me = std::process::id();
        assert_eq!(of(me), format!("process {me} is no kvik"));
        assert_eq!(of(u32::MAX), format!("there is no process {}", u32::MAX));
        // A file with a metrics page's name but other contents: the name is not protected.
        let name = std::ffi::CString::new(NAME).unwrap();
        let (words, _file) = kvik_env::shared_memory::words(&name, 512).unwrap();
        let me = of(me);
        assert!(me.ends_with("is no kvik yet"), "{me}");
        words[0].store(7, std::sync::atomic::Ordering::Relaxed);
        let vm = vm(std::process::id()).unwrap();
        assert!(vm.lives() && vm.read().is_err());
    }
}
