//! The files that this executable carries (docs/internals/build.md): a directory tree that is found
//! below the executable's own path, for reading only. `kvik build` makes such executables.
//!
//! The functions of `file`, `path`, `fs` and `process` that take names ask here first. A file that
//! is opened becomes a file in memory, so that everything that works with descriptors goes on as
//! ever; so does a program that is started and a library that is loaded, which keep theirs.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use kvik_image::{EntryKind, Image, ImageFault, ImageFile, Node, MAGIC};
use kvik_sys::file::{self, FileInfo, FileKind, OpenMode};
use kvik_sys::{own_image, Errno, Result};

/// An executable with its tree.
struct Mounted {
    image: Image<'static>,
    /// The executable's path, with a slash behind.
    above: Vec<u8>,
    executable: PathBuf,
    info: Option<FileInfo>,
    /// The files in memory of programs and libraries, by the number of their entry.
    kept: Mutex<HashMap<usize, OwnedFd>>,
}

/// Longer paths are for the system to refuse.
const PATH_MAX: usize = 4096;

static MOUNTED: OnceLock<Mounted> = OnceLock::new();

/// Looks for a tree in this executable, and makes its files visible once `prepare` has added what
/// is only known now. `Ok(false)`: it has none.
pub fn mount(
    prepare: impl FnOnce(&mut Image<'static>, &Path),
) -> std::result::Result<bool, ImageFault> {
    let own = match own_image::find(MAGIC) {
        Ok(Some(own)) => own,
        Ok(None) => return Ok(false),
        Err(_) => return Err(ImageFault::Cut),
    };
    let mut image = Image::read(own.data, &own.program)?;
    // The checksum has read all of it, the program needs a part.
    own.unmap_pages();
    let executable = executable();
    prepare(&mut image, &executable);
    let above = [executable.as_os_str().as_bytes(), b"/"].concat();
    let path = CString::new(executable.as_os_str().as_bytes()).ok();
    let info = path.and_then(|path| file::stat(&path, true).ok());
    let kept = Mutex::new(HashMap::new());
    Ok(MOUNTED.set(Mounted { image, above, executable, info, kept }).is_ok())
}

/// The path of this program's file: without `/proc`, what the system was asked to start.
fn executable() -> PathBuf {
    std::env::current_exe()
        .ok()
        .or_else(|| own_image::started_as().map(as_given))
        .unwrap_or_default()
}
fn as_given(name: OsString) -> PathBuf {
    let path = std::env::current_dir().unwrap_or_default().join(name);
    path.canonicalize().unwrap_or(path)
}

/// What `kvik build` has noted under this name. `None`, too, where this executable has no tree.
pub fn note(key: &str) -> Option<&'static str> {
    MOUNTED.get()?.image.note(key)
}

/// The path of a file of the tree, and that of the executable itself.
pub fn path(inside: &str) -> Option<PathBuf> {
    let mounted = MOUNTED.get()?;
    Some(PathBuf::from(OsString::from_vec([&mounted.above, inside.as_bytes()].concat())))
}
pub fn own_path() -> Option<&'static Path> {
    MOUNTED.get().map(|m| m.executable.as_path())
}

/// What a path names, if it is one below the executable.
#[inline]
fn find(path: &[u8]) -> Option<Node<'static>> {
    MOUNTED.get()?.find(path)
}

impl Mounted {
    fn inside(&self, path: &[u8]) -> Option<String> {
        if path.len() >= PATH_MAX {
            return None;
        }
        let inside = path.strip_prefix(self.above.as_slice())?;
        let mut parts = Vec::new();
        for part in std::str::from_utf8(inside).ok()?.split('/') {
            match part {
                "" | "." => {}
                // Above the top is what the system makes of it.
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
    #[cold]
    fn find(&self, path: &[u8]) -> Option<Node<'static>> {
        self.inside(path).map(|inside| self.image.find(&inside))
    }

    fn info(&self, node: Node<'static>) -> Result<FileInfo> {
        let (kind, size, mode, inode) = match node {
            Node::File(n, ImageFile { kind: EntryKind::File, bytes, .. }) => {
                (FileKind::Regular, bytes.len() as u64, libc_mode::FILE, n as u64 + 2)
            }
            Node::File(n, e) => {
                (FileKind::Regular, e.bytes.len() as u64, libc_mode::PROGRAM, n as u64 + 2)
            }
            Node::Directory => (FileKind::Directory, 0, libc_mode::DIRECTORY, 1),
            Node::BelowFile => return Err(Errno::NOTDIR),
            Node::Nothing => return Err(Errno::NOENT),
        };
        let around = self.info;
        let time = |f: fn(&FileInfo) -> i64| around.as_ref().map_or(0, f);
        Ok(FileInfo {
            kind,
            size,
            mode,
            links: 1,
            device: around.map_or(0, |i| i.device),
            raw_device: 0,
            inode,
            uid: around.map_or(0, |i| i.uid),
            gid: around.map_or(0, |i| i.gid),
            accessed: time(|i| i.modified),
            modified: time(|i| i.modified),
            changed: time(|i| i.changed),
        })
    }

    /// A path under which the system finds a program or library of the tree, as long as this
    /// program runs.
    fn real_path(&self, node: Node<'static>) -> Result<CString> {
        let (n, entry) = match node {
            Node::File(_, ImageFile { kind: EntryKind::Executable, .. }) => {
                return CString::new(self.executable.as_os_str().as_bytes())
                    .map_err(|_| Errno::INVAL)
            }
            Node::File(n, entry) => (n, entry),
            Node::Directory => return Err(Errno::ACCES),
            Node::BelowFile => return Err(Errno::NOTDIR),
            Node::Nothing => return Err(Errno::NOENT),
        };
        let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
        let fd: RawFd = match kept.get(&n) {
            Some(fd) => fd.as_raw_fd(),
            None => {
                let fd = in_memory(entry)?;
                kept.entry(n).or_insert(fd).as_raw_fd()
            }
        };
        let path = format!("/proc/{}/fd/{fd}", std::process::id());
        CString::new(path).map_err(|_| Errno::INVAL)
    }
}

/// Modes of what is in the tree.
mod libc_mode {
    pub const FILE: u32 = 0o100_444;
    pub const PROGRAM: u32 = 0o100_555;
    pub const DIRECTORY: u32 = 0o040_555;
}

fn in_memory(entry: ImageFile<'static>) -> Result<OwnedFd> {
    let name = entry.path.rsplit('/').next().unwrap_or_default();
    let name = CString::new(name).unwrap_or_default();
    own_image::memory_file(&name, entry.bytes, entry.kind != EntryKind::File)
}

// `None` from each of these: the path is for the system.

pub(crate) fn open(path: &CStr, mode: OpenMode) -> Option<Result<OwnedFd>> {
    Some(match find(path.to_bytes())? {
        Node::File(..) if mode.directory => Err(Errno::NOTDIR),
        Node::File(..) if mode.exclusive => Err(Errno::EXIST),
        Node::File(..) | Node::Nothing if mode.write => Err(Errno::ROFS),
        Node::File(_, entry) => in_memory(entry),
        // A descriptor that could do nothing but be closed.
        Node::Directory => Err(if mode.directory { Errno::NOTSUP } else { Errno::ISDIR }),
        Node::BelowFile => Err(Errno::NOTDIR),
        Node::Nothing => Err(Errno::NOENT),
    })
}
/// The bytes of a whole file, where they are.
pub fn contents(path: &CStr) -> Option<Result<&'static [u8]>> {
    Some(match find(path.to_bytes())? {
        Node::File(_, entry) => Ok(entry.bytes),
        Node::Directory => Err(Errno::ISDIR),
        Node::BelowFile => Err(Errno::NOTDIR),
        Node::Nothing => Err(Errno::NOENT),
    })
}
pub(crate) fn stat(path: &CStr) -> Option<Result<FileInfo>> {
    let node = find(path.to_bytes())?;
    Some(MOUNTED.get()?.info(node))
}
pub(crate) fn list(path: &CStr, mut each: impl FnMut(&[u8])) -> Option<Result<()>> {
    let mounted = MOUNTED.get()?;
    Some(match mounted.find(path.to_bytes())? {
        Node::Directory => {
            let inside = mounted.inside(path.to_bytes())?;
            mounted.image.list(&inside).into_iter().for_each(|name| each(name.as_bytes()));
            Ok(())
        }
        Node::File(..) | Node::BelowFile => Err(Errno::NOTDIR),
        Node::Nothing => Err(Errno::NOENT),
    })
}
/// The error of changing anything in the tree.
pub(crate) fn change(path: &CStr) -> Option<Result<()>> {
    Some(Err(match find(path.to_bytes())? {
        Node::BelowFile => Errno::NOTDIR,
        _ => Errno::ROFS,
    }))
}
/// The error of making something there.
pub(crate) fn create(path: &CStr) -> Option<Result<()>> {
    Some(Err(match find(path.to_bytes())? {
        Node::File(..) | Node::Directory => Errno::EXIST,
        Node::BelowFile => Errno::NOTDIR,
        Node::Nothing => Errno::ROFS,
    }))
}
pub(crate) fn may_execute(path: &CStr) -> Option<Result<()>> {
    Some(match find(path.to_bytes())? {
        Node::File(_, ImageFile { kind: EntryKind::File, .. }) => Err(Errno::ACCES),
        Node::File(..) | Node::Directory => Ok(()),
        Node::BelowFile => Err(Errno::NOTDIR),
        Node::Nothing => Err(Errno::NOENT),
    })
}
/// The path under which the system finds a program or library of the tree, as long as this program
/// runs.
pub fn real_path(path: &CStr) -> Option<Result<CString>> {
    let node = find(path.to_bytes())?;
    Some(MOUNTED.get()?.real_path(node))
}

/// A command that begins with a program of the tree.
pub enum OwnCommand {
    /// Without anything that a shell is needed for: path and arguments.
    Program(CString, Vec<CString>),
    /// For the shell, with a path for the program that it finds.
    Shell(Vec<u8>),
}

/// What of a command is more than words.
const FOR_SHELL: &[u8] = b"$\"'`&|;<>()*?[]{}~#!\\\n";

/// Looks for the program of a command in the tree. A name without a slash is one of OTP's own
/// programs, whose directory comes first in `PATH`.
pub fn command(command: &[u8]) -> Option<OwnCommand> {
    let mounted = MOUNTED.get()?;
    let (word, rest) = first_word(command)?;
    let path = match word.contains(&b'/') {
        true => word.to_vec(),
        false => {
            let erts = mounted.image.note("erts")?.trim_end_matches('\0');
            [&mounted.above, format!("root/erts-{erts}/bin/").as_bytes(), word].concat()
        }
    };
    let node = mounted.find(&path)?;
    let real = mounted.real_path(node).ok()?;
    if !rest.iter().any(|b| FOR_SHELL.contains(b)) {
        let words = rest.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let args = [path.as_slice()].into_iter().chain(words).map(CString::new);
        return Some(OwnCommand::Program(
            CString::new(path.as_slice()).ok()?,
            args.collect::<std::result::Result<_, _>>().ok()?,
        ));
    }
    let quoted = [b"'", real.to_bytes().replace_quotes().as_slice(), b"'"].concat();
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    Some(OwnCommand::Shell(match node {
        // The name says what it is to act as; the shell cannot say it by the first argument.
        Node::File(_, ImageFile { kind: EntryKind::Executable, .. }) => {
            [ACT_AS.as_bytes(), b"=", name, b" exec ", &quoted, rest].concat()
        }
        _ => [b"exec ", quoted.as_slice(), rest].concat(),
    }))
}
/// The first word of a command, which may be quoted, and what follows it. `None`: only a shell can tell.
fn first_word(command: &[u8]) -> Option<(&[u8], &[u8])> {
    let command = command.trim_ascii_start();
    let command = command.strip_prefix(b"exec ").unwrap_or(command).trim_ascii_start();
    let (word, rest) = match *command.first()? {
        quote @ (b'"' | b'\'') => {
            let inside = &command[1..];
            let end = inside.iter().position(|b| *b == quote)?;
            (&inside[..end], &inside[end + 1..])
        }
        _ => {
            let blank = |b: &u8| b.is_ascii_whitespace();
            command.split_at(command.iter().position(blank).unwrap_or(command.len()))
        }
    };
    let whole = rest.first().is_none_or(u8::is_ascii_whitespace);
    (whole && !word.iter().any(|b| b"$`\\".contains(b))).then_some((word, rest))
}

/// The variable that says as which program an executable with a tree is to act.
pub const ACT_AS: &str = "KVIK_ACT_AS";

trait ReplaceQuotes {
    /// For the inside of a word in single quotes.
    fn replace_quotes(&self) -> Vec<u8>;
}
impl ReplaceQuotes for [u8] {
    fn replace_quotes(&self) -> Vec<u8> {
        self.split(|b| *b == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_word_of_a_command() {
        let of = |c: &'static str| {
            let (word, rest) = first_word(c.as_bytes())?;
            Some((String::from_utf8_lossy(word), String::from_utf8_lossy(rest)))
        };
        let is = |word: &'static str, rest: &'static str| Some((word.into(), rest.into()));
        assert_eq!(of("/a/b c d"), is("/a/b", " c d"));
        assert_eq!(of("  exec  prog"), is("prog", ""));
        assert_eq!(of("\"/a b/c\" 'd'"), is("/a b/c", " 'd'"));
        assert_eq!(of("'/a/b'"), is("/a/b", ""));
        for shell in ["", "  ", "'open", "\"a\"b c", "$HOME/x", "a\\ b"] {
            assert_eq!(of(shell), None, "{shell}");
        }
    }
}
