//! `kvik doctor [DIR]`: says which OTP is used and why, what the machine limits, whether the NIF
//! libraries of OTP open, and, of the compiled code and the libraries below DIR, what would not run.

mod code;
mod files;
mod libraries;
mod limits;

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use kvik_env::fs;

use self::files::Files;
use crate::otp_root::{self, Otp};

pub const HELP: &str = "\
usage: kvik doctor [DIR]

Says which OTP kvik uses and why, how many processors, how much memory and how many
open files it has, and whether the NIF libraries of OTP open. With DIR, a release or a
folder of compiled code, it looks at every .beam file and every library below it:
files that kvik does not load, functions that are missing, libraries that do not open.
A release with an OTP of its own is examined with that.

The status is 0 if nothing is in the way, 1 if something is, 2 for wrong arguments.";

/// The argument of the process that opens one library.
const OPEN: &str = "--open";

/// What is printed: facts, and faults, which are counted.
#[derive(Default)]
struct Report {
    faults: usize,
}

impl Report {
    fn fact(&self, subject: &str, text: impl Display) {
        kvik_sys::say!("{subject:<11} {}", printable(&text.to_string()));
    }
    fn fault(&mut self, subject: &str, text: impl Display) {
        self.faults += 1;
        self.fact(subject, format_args!("FAULT: {text}"));
    }
}

/// A line of text: names of files may hold anything, a terminal's control sequences too.
fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

pub fn main(name: &Path, args: &[OsString]) -> i32 {
    let dir = match args {
        [] => None,
        [flag, file] if flag == OPEN => return libraries::open_here(Path::new(file)),
        [dir] if !dir.as_encoded_bytes().starts_with(b"-") => Some(PathBuf::from(dir)),
        _ => {
            kvik_sys::complain!("{HELP}");
            return 2;
        }
    };
    if let Some(dir) = dir.as_ref().filter(|d| !fs::is_dir(d)) {
        kvik_sys::complain!("kvik doctor: no folder {}", dir.display());
        return 2;
    }
    let mut report = Report::default();
    report.fact("kvik", format_args!("{}{}", env!("CARGO_PKG_VERSION"), env!("KVIK_COMMIT")));
    limits::tell(&mut report);
    match otp_of(dir.as_deref(), name) {
        Ok(otp) => examine(&mut report, &otp, dir.as_deref()),
        Err(e) => report.fault("OTP", e),
    }
    match report.faults {
        0 => kvik_sys::say!("nothing is in the way"),
        1 => kvik_sys::say!("1 fault"),
        n => kvik_sys::say!("{n} faults"),
    }
    i32::from(report.faults > 0)
}

/// The OTP that the code in a folder would run with: the folder's own if it has one, else one of
/// the release that the folder was made with, unless the user named another.
fn otp_of(dir: Option<&Path>, name: &Path) -> Result<Otp, String> {
    if let Some(own) = dir.map_or(Ok(None), otp_root::of_release)? {
        return Ok(own);
    }
    let is_set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let is_named = ["KVIK_OTP", "KVIK_OTP_ROOT"].into_iter().any(is_set);
    match dir.filter(|_| !is_named).and_then(otp_root::release_made_with) {
        Some(release) => otp_root::find(None, Some(&release.name.into()), name)
            .map(|otp| Otp { reason: "of the release that the folder was made with", ..otp }),
        None => otp_root::find(None, None, name),
    }
}

fn examine(report: &mut Report, otp: &Otp, dir: Option<&Path>) {
    let note = if otp.release.untested { ", untested" } else { "" };
    let (release, root) = (otp.release.name, otp.root.display());
    report
        .fact("OTP", format_args!("{release} (erts {}{note}) in {root}: {}", otp.erts, otp.reason));
    for other in otp_root::unused(otp) {
        let (release, root) = (other.release.name, other.root.display());
        report.fact("", format_args!("{release} in {root} is there too: --otp {release}"));
    }
    kvik_release::select(otp.release, &otp.erts);
    let lib = Files::below(&otp.root.join("lib"));
    libraries::examine(report, "NIFs", &lib, None);
    lib.tell_unreadable(report);
    if let Some(dir) = dir {
        let files = Files::below(dir);
        code::examine(report, &files);
        libraries::examine(report, "libraries", &files, Some(&lib.dir));
        files.tell_unreadable(report);
    }
}
