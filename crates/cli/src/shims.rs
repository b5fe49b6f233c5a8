//! `kvik shims DIR`: writes replacements of OTP's programs that run kvik, and an OTP root with kvik
//! as its emulator, for programs that use the root instead of the path, such as a release's start
//! script. Release tools copy the programs of `erts` and keep symbolic links as they are, so those
//! programs are regular files: a release must run where neither kvik nor OTP is installed.

use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use kvik_env::fs::{self, symlink};

use crate::front::FRONT_ENDS;
use crate::launch::complain;
use crate::otp_root::{self, Otp, PRELOADED, ROOT};

/// The programs of `erts` that are kvik here: the emulator and its starter. Other programs start
/// `erl` from their own directory and are copied, as is `dyn_erl`, which starts `erlexec`.
const OURS: &[&str] = &["erlexec", "erl"];
/// Not copied: running it would start OTP's emulator. `erl.src`, from which release tools make a
/// target system's `erl`, starts the `erlexec` of that system.
const LEFT_OUT: &[&str] = &["beam.smp"];

pub fn main(args: &[OsString]) -> i32 {
    let dir = match args {
        [dir] if !dir.as_bytes().starts_with(b"-") => dir,
        _ => return complain("usage: kvik shims DIR"),
    };
    let otp = match otp_root::find(None, None, Path::new("")) {
        Ok(o) => o,
        Err(e) => return complain(&format!("kvik: {e}")),
    };
    match std::env::current_exe().and_then(|exe| write(Path::new(dir), &exe, &otp)) {
        Ok(()) => 0,
        Err(e) => complain(&format!("kvik: {}: {e}", OsStr::new(dir).to_string_lossy())),
    }
}

fn write(dir: &Path, exe: &Path, otp: &Otp) -> Result<()> {
    fs::create_dir_all(dir)?;
    let names = FRONT_ENDS.iter().map(|(n, _)| *n).chain(["erl"]);
    for name in names {
        link(exe, &dir.join(name))?;
    }
    root(&dir.join(ROOT), exe, otp)
}

/// Writes the root: `lib` and everything in `bin` and `erts-VSN` except the emulator are OTP's own.
fn root(root: &Path, exe: &Path, otp: &Otp) -> Result<()> {
    // OTP itself, even if its root was written by `kvik shims`.
    let lib = fs::canonicalize(otp.root.join("lib"))?;
    let from = lib.parent().ok_or(Error::from(ErrorKind::NotFound))?;
    let erts = format!("erts-{}", otp.erts);
    let bin = root.join(&erts).join("bin");
    let preloaded = root.join(&erts).join(PRELOADED);
    for d in [&root.join("bin"), &bin, &preloaded] {
        fs::create_dir_all(d)?;
    }
    link_all(from, root, &["bin", &erts])?;
    link_all(&from.join(&erts), &root.join(&erts), &["bin"])?;
    copy_all(&from.join(&erts).join("bin"), &bin, &[LEFT_OUT, OURS].concat())?;
    link_all(&from.join("bin"), &root.join("bin"), LEFT_OUT)?;
    copy_all(&fs::canonicalize(&otp.preloaded)?, &preloaded, &[])?;
    let [machine, others @ ..] = OURS else {
        return Ok(());
    };
    install_executable(exe, &bin.join(machine))?;
    for name in others {
        link(Path::new(machine), &bin.join(name))?;
    }
    link(exe, &root.join("bin/erl"))
}

/// Installs the emulator as a regular file: a hard link if the file system allows it, else a copy.
fn install_executable(exe: &Path, at: &Path) -> Result<()> {
    remove(at)?;
    let exe = fs::canonicalize(exe)?;
    fs::hard_link(&exe, at).or_else(|_| fs::copy(&exe, at).map(drop))
}

/// Copies the files of a folder, except those named in `but`.
fn copy_all(from: &Path, to: &Path, but: &[&str]) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        let source = from.join(&name);
        if fs::is_file(&source) && !but.iter().any(|b| name == *b) {
            remove(&to.join(&name))?;
            fs::copy(&source, to.join(&name))?;
        }
    }
    Ok(())
}

/// Links to the entries of a folder, except those named in `but`.
fn link_all(from: &Path, to: &Path, but: &[&str]) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if !but.iter().any(|b| name == *b) {
            link(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

fn link(to: &Path, at: &Path) -> Result<()> {
    remove(at)?;
    symlink(to, at)
}

fn remove(at: &Path) -> Result<()> {
    match fs::remove_file(at) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
