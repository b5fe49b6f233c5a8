//! `kvik build TARGET -o FILE`: makes one executable of a program and all that it needs. OTP's own
//! modules say what that is (`plan.erl`); this puts it together (docs/internals/build.md).

pub mod libraries;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use kvik_env::fs::{self, MetadataExt, OpenOptions, OpenOptionsExt};
use kvik_env::process::{self, Command};
use kvik_image::{elf, Builder, EntryKind};
use kvik_vm::code_cache;

use crate::launch::complain;
use crate::otp_root::{self, Otp};

pub const HELP: &str = "\
usage: kvik build TARGET -o FILE [--slim]

Makes FILE, one executable that runs where neither Erlang nor kvik is installed.
TARGET is one of
  FILE.erl      a module with main/1, which gets the arguments as strings
  an escript    of source, of compiled code or with an archive
  a directory   of an application (ebin/*.app): FILE starts it, and what it needs
                of a release of rebar3 or mix: FILE COMMAND, as its start script

--slim          of stdlib only modules that the program's code can reach, no debug
                information, no libraries of epmd, and no native code, so that it
                starts later; says what is left out. For main/1.
-v              list what goes into FILE
--otp, --root   before `build`: which OTP goes into it (kvik help)

The files are found below FILE's own path, as FILE/root/lib/NAME-VSN/priv; they can
be read and not written. NIF libraries and programs are started from memory.";

const USAGE: &str = "usage: kvik build TARGET -o FILE [--slim]";

#[derive(Debug, Default, PartialEq)]
struct Options {
    target: PathBuf,
    output: PathBuf,
    slim: bool,
    verbose: bool,
}

fn options(args: &[OsString]) -> Result<Options, String> {
    let (mut o, mut it) = (Options::default(), args.iter());
    let once = |place: &mut PathBuf, value: &OsString| {
        let first = place.as_os_str().is_empty();
        *place = value.into();
        first.then_some(()).ok_or(USAGE.to_string())
    };
    while let Some(a) = it.next() {
        match a.to_str() {
            Some("-o") => once(&mut o.output, it.next().ok_or(USAGE)?)?,
            Some("--slim") => o.slim = true,
            Some("-v") => o.verbose = true,
            Some(flag) if flag.starts_with('-') => {
                return Err(format!("kvik build: no option {flag}; {USAGE}"))
            }
            _ => once(&mut o.target, a)?,
        }
    }
    match o.target.as_os_str().is_empty() || o.output.as_os_str().is_empty() {
        true => Err(USAGE.into()),
        false => Ok(o),
    }
}

pub fn main(name: &Path, args: &[OsString]) -> i32 {
    let result = options(args).and_then(|o| build(name, &o).map_err(|e| e.unwrap_or_default()));
    match result {
        Ok(()) => 0,
        Err(e) if e.is_empty() => 1,
        Err(e) => complain(&e),
    }
}

/// An error that is yet to be printed; `None` has been.
type Failure = Option<String>;

fn build(name: &Path, o: &Options) -> Result<(), Failure> {
    let otp = find_otp(name, &o.target).map_err(|e| Some(format!("kvik build: {e}")))?;
    check_output(o)?;
    let work = Work::new()
        .map_err(|e| Some(format!("kvik build: {}: {e}", std::env::temp_dir().display())))?;
    plan(&work.0, o, &otp)?;
    let mut image = collect(&work.0, &otp)?;
    if !o.slim {
        add_native_code(&mut image, &work.0, &otp);
    }
    let of_epmd = libraries::add(&mut image, &work.0, o.slim)
        .map_err(|e| Some(format!("kvik build: {e}")))?;
    let own = std::env::current_exe().and_then(fs::read);
    let own = own.map_err(|e| Some(format!("kvik build: this executable: {e}")))?;
    let made = elf::with_image(&own, &image)
        .map_err(|e| Some(format!("kvik build: this executable cannot carry files: {e}")))?;
    write(&o.output, &made)
        .map_err(|e| Some(format!("kvik build: {}: {e}", o.output.display())))?;
    report(o, &work.0, &image, made.len());
    if of_epmd > 0 {
        kvik_sys::say!(
            "left out: {of_epmd} libraries of epmd, which distribution needs of the system"
        );
    }
    Ok(())
}

/// Only what is a file may be replaced, and not the target itself.
fn check_output(o: &Options) -> Result<(), Failure> {
    let Ok(old) = fs::metadata(&o.output) else { return Ok(()) };
    let identity = |m: &fs::Metadata| (m.dev(), m.ino());
    let what = if fs::metadata(&o.target).is_ok_and(|t| identity(&t) == identity(&old)) {
        "that is the target"
    } else if old.is_file() || old.is_dir() {
        return Ok(());
    } else {
        "not a file"
    };
    Err(Some(format!("kvik build: {}: {what}", o.output.display())))
}

/// For a release the OTP that it was made with.
fn find_otp(name: &Path, target: &Path) -> Result<Otp, String> {
    let release = otp_root::release_made_with(target).map(|r| OsString::from(r.name));
    otp_root::find(None, release.as_ref(), name)
}

/// A directory of its own, which is removed when it is dropped.
struct Work(PathBuf);
impl Work {
    fn new() -> std::io::Result<Work> {
        let name = format!("kvik-build-{:016x}", kvik_env::random::number());
        let dir = std::env::temp_dir().join(name);
        fs::create_private_dir(&dir)?;
        Ok(Work(dir))
    }
}
impl Drop for Work {
    fn drop(&mut self) {
        // What is left there is in the system's directory for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs `plan.erl` on this kvik.
fn plan(work: &Path, o: &Options, otp: &Otp) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Some(format!("kvik build: {e}"));
    let source = work.join("plan.erl");
    fs::write_new(&source, include_bytes!("plan.erl")).map_err(failed)?;
    fs::write_new(work.join("kvik_main.erl"), include_bytes!("kvik_main.erl")).map_err(failed)?;
    let exe = std::env::current_exe().map_err(failed)?;
    let mut c = Command::new(exe);
    c.arg("--otp").arg(otp.release.name).arg("--root").arg(&otp.root).arg("run").arg(&source);
    c.arg(&o.target).arg(work).arg(if o.slim { "slim" } else { "whole" });
    c.arg(&otp.erts).arg(&otp.preloaded).arg(&otp.bindir);
    for name in ["ERL_AFLAGS", "ERL_FLAGS", "ERL_ZFLAGS"] {
        c.env_remove(name);
    }
    // Names of files are UTF-8 in the tree, whatever the locale.
    c.env("ERL_AFLAGS", "+fnu");
    c.env(code_cache::VARIABLE, work.join(CODE));
    match process::status(&mut c).map_err(failed)?.success() {
        true => Ok(()),
        false => Err(None),
    }
}

/// Where the plan's machine leaves the native code of the modules that it has prepared.
const CODE: &str = "code";

/// Takes along the native code of what the program loads, so that it need not be made at each start.
fn add_native_code(image: &mut Builder, work: &Path, otp: &Otp) {
    let modules = image.contents().filter(|(path, _)| path.ends_with(".beam"));
    let code = code_cache::carry(&work.join(CODE), otp.release.name, modules.map(|m| m.1));
    if let Some(code) = code {
        image.file(code_cache::CARRIED, EntryKind::File, code);
    }
}

/// Reads what the plan lists.
fn collect(work: &Path, otp: &Otp) -> Result<Builder, Failure> {
    let of = |path: &Path, e: std::io::Error| Some(format!("kvik build: {}: {e}", path.display()));
    let mut image = Builder::default();
    let list = work.join("files");
    let lines = fs::read_to_string(&list).map_err(|e| of(&list, e))?;
    for (inside, source) in lines.lines().filter_map(|l| l.split_once('\t')) {
        if source.is_empty() {
            image.file(inside, EntryKind::EmptyDirectory, Vec::new());
            continue;
        }
        let source = Path::new(source);
        let info = fs::metadata(source).map_err(|e| of(source, e))?;
        if !info.is_file() {
            continue;
        }
        let kind = if info.mode() & 0o111 == 0 { EntryKind::File } else { EntryKind::Program };
        image.file(inside, kind, fs::read(source).map_err(|e| of(source, e))?);
    }
    image.file("root/bin/erl", EntryKind::Executable, Vec::new());
    image.note("otp", &format!("{}\0", otp.release.name));
    image.note("erts", &format!("{}\0", otp.erts));
    let notes = work.join("notes");
    for note in fs::read_dir(&notes).map_err(|e| of(&notes, e))? {
        let note = note.map_err(|e| of(&notes, e))?;
        let text = fs::read_to_string(note.path()).map_err(|e| of(&note.path(), e))?;
        image.note(&note.file_name().to_string_lossy(), &text);
    }
    Ok(image)
}

/// Writes the file under another name first: whoever runs FILE has the old one or the new one, and
/// where the disk is full there is no part of it.
fn write(to: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&part);
    let options = &mut OpenOptions::new();
    let mut file = fs::File::with(options.write(true).create_new(true).mode(0o777), part)?;
    let written = file.write_all(bytes).and_then(|()| file.flush());
    drop(file);
    let done = written.and_then(|()| fs::rename(part, to));
    if done.is_err() {
        let _ = fs::remove_file(part);
    }
    done
}

fn report(o: &Options, work: &Path, image: &Builder, size: usize) {
    if o.verbose {
        image.files().for_each(|(path, size)| kvik_sys::say!("{size:>10}  {path}"));
    }
    let files = image.files().count();
    kvik_sys::say!("{}: {:.1} MB, {files} files", o.output.display(), size as f64 / 1e6);
    if let Ok(left) = fs::read_to_string(work.join("left_out")) {
        let n = left.lines().count();
        kvik_sys::say!("left out: {n} modules of stdlib that the program cannot reach");
        if o.verbose {
            left.lines().for_each(|m| kvik_sys::say!("  {m}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &[&str]) -> Result<Options, String> {
        options(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn reads_options_in_any_order() {
        let o = of(&["-o", "out", "--slim", "x.erl"]).unwrap();
        assert_eq!((o.target, o.output, o.slim), ("x.erl".into(), "out".into(), true));
        for wrong in [&[][..], &["x.erl"], &["-o", "out"], &["x", "y", "-o", "z"], &["x", "-o"]] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
        assert!(of(&["x", "-o", "y", "--fat"]).unwrap_err().contains("--fat"));
    }
}
