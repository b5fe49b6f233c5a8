//! Where OTP 25's libraries are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An installation: its root and the version of its `erts`.
pub struct Otp {
    pub root: PathBuf,
    pub erts: String,
}

impl Otp {
    pub fn bindir(&self) -> PathBuf {
        self.root.join(format!("erts-{}", self.erts)).join("bin")
    }
    /// Where the preloaded modules' files are.
    pub fn preloaded(&self) -> Option<PathBuf> {
        let lib = self.root.join("lib").join(format!("erts-{}", self.erts)).join("ebin");
        let erts = self.root.join(format!("erts-{}", self.erts)).join("ebin");
        [lib, erts].into_iter().find(|d| d.join("init.beam").exists())
    }
}

/// Looks in the order the README gives: `--root`, `$KVIK_OTP_ROOT`, `$ROOTDIR`, the system's
/// `lib/erlang`, `.otp/` beside the program or here.
pub fn find(given: Option<&OsString>) -> Result<Otp, String> {
    let mut tried = Vec::new();
    let named = given.cloned().or_else(|| std::env::var_os("KVIK_OTP_ROOT"));
    if let Some(dir) = named {
        return at(Path::new(&dir)).ok_or(format!("no OTP 25 in {}", dir.to_string_lossy()));
    }
    let rootdir = std::env::var_os("ROOTDIR").map(PathBuf::from);
    let system = ["/usr/lib/erlang", "/usr/local/lib/erlang", "/opt/erlang"].map(PathBuf::from);
    for dir in rootdir.into_iter().chain(system).chain(unpacked()) {
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

/// What `make deps` unpacks: `.otp/usr/lib/erlang` in this folder or one above the program.
fn unpacked() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let exe = std::env::current_exe().ok();
    let above = exe.iter().flat_map(|e| e.ancestors().skip(1).map(Path::to_path_buf));
    here.into_iter().chain(above).map(|d| d.join(".otp/usr/lib/erlang")).collect()
}

fn at(dir: &Path) -> Option<Otp> {
    let dir = dir.canonicalize().ok()?;
    let mut versions: Vec<String> = std::fs::read_dir(dir.join("lib"))
        .ok()?
        .chain(std::fs::read_dir(&dir).ok()?)
        .filter_map(|e| {
            e.ok()?.file_name().to_str()?.strip_prefix("erts-13.").map(|v| format!("13.{v}"))
        })
        .collect();
    versions.sort();
    let otp = Otp { root: dir, erts: versions.pop()? };
    otp.preloaded()?;
    Some(otp)
}
