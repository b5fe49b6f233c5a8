//! Where OTP 25's libraries are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `kvik shims` calls the root it writes beside them.
pub const ROOT: &str = "root";
/// Where that has the preloaded modules: with the programs, since a release takes a copy of those.
pub const PRELOADED: &str = "bin/preloaded";
/// Where the preloaded modules are: what comes before `erts-VSN` and after it.
const PLACES: [(&str, &str); 3] = [("lib", "ebin"), ("", "ebin"), ("", PRELOADED)];

/// An installation.
pub struct Otp {
    pub root: PathBuf,
    /// The programs of `erts`: `$BINDIR`.
    pub bindir: PathBuf,
    /// The version of its `erts`.
    pub erts: String,
    /// Where the preloaded modules' files are.
    pub preloaded: PathBuf,
}

/// Looks in the order the README gives: `--root`, `$KVIK_OTP_ROOT`, beside the name we were started
/// under (what `kvik shims` writes), `$ROOTDIR`, the system's `lib/erlang`, `.otp/` beside the program
/// or here. `erlexec` is told by who starts it, and by its place otherwise.
pub fn find(given: Option<&OsString>, name: &Path) -> Result<Otp, String> {
    let mut tried = Vec::new();
    let named = given.cloned().or_else(|| std::env::var_os("KVIK_OTP_ROOT"));
    if let Some(dir) = named {
        return at(Path::new(&dir)).ok_or(format!("no OTP 25 in {}", dir.to_string_lossy()));
    }
    let told = from_environment();
    if let (Some(otp), true) = (told, name.ends_with("erlexec")) {
        return Ok(otp);
    }
    let rootdir = std::env::var_os("ROOTDIR").map(PathBuf::from);
    let system = ["/usr/lib/erlang", "/usr/local/lib/erlang", "/opt/erlang"].map(PathBuf::from);
    for dir in beside(name).into_iter().chain(rootdir).chain(system).chain(unpacked()) {
        if let Some(otp) = at(&dir) {
            return Ok(otp);
        }
        tried.push(dir.to_string_lossy().into_owned());
    }
    Err(format!(
        "no OTP 25 found (looked in {}): `make deps` fetches it, or name one by --root DIR",
        tried.join(", ")
    ))
}

/// What a release's start script says: its own root, and whose programs it uses.
fn from_environment() -> Option<Otp> {
    let dir = |name| std::env::var_os(name).map(PathBuf::from);
    let (root, bindir) = (dir("ROOTDIR")?, dir("BINDIR")?);
    let erts_dir = bindir.parent()?;
    let erts = erts_dir.file_name()?.to_str()?.strip_prefix("erts-13.")?;
    let erts = format!("13.{erts}");
    let preloaded = preloaded(&[&root, erts_dir.parent()?], &erts)?;
    Some(Otp { root, bindir, erts, preloaded })
}

/// The roots that a program's place may stand for: with the shims, in `bin/`, in `erts-VSN/bin/`.
fn beside(name: &Path) -> Vec<PathBuf> {
    let found = match name.parent() {
        Some(dir) if dir != Path::new("") => Some(dir.to_path_buf()),
        _ => std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).find(|dir| dir.join(name).is_file())),
    };
    let up = |dir: PathBuf| vec![dir.join(ROOT), dir.join(".."), dir.join("../..")];
    found.map(up).unwrap_or_default()
}

/// What `make deps` unpacks: `.otp/usr/lib/erlang` in this folder or one above the program.
fn unpacked() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let exe = std::env::current_exe().ok();
    let above = exe.iter().flat_map(|e| e.ancestors().skip(1).map(Path::to_path_buf));
    here.into_iter().chain(above).map(|d| d.join(".otp/usr/lib/erlang")).collect()
}

fn at(dir: &Path) -> Option<Otp> {
    let root = dir.canonicalize().ok()?;
    let mut versions: Vec<String> = std::fs::read_dir(root.join("lib"))
        .ok()?
        .chain(std::fs::read_dir(&root).ok()?)
        .filter_map(|e| {
            e.ok()?.file_name().to_str()?.strip_prefix("erts-13.").map(|v| format!("13.{v}"))
        })
        .collect();
    versions.sort();
    let erts = versions.pop()?;
    let preloaded = preloaded(&[&root], &erts)?;
    let bindir = root.join(format!("erts-{erts}")).join("bin");
    Some(Otp { root, bindir, erts, preloaded })
}

fn preloaded(roots: &[&Path], erts: &str) -> Option<PathBuf> {
    let places = |root: &&Path| {
        PLACES.map(|(before, after)| root.join(before).join(format!("erts-{erts}")).join(after))
    };
    roots.iter().flat_map(places).find(|d| d.join("init.beam").exists())
}
