//! Compiled code: files that are refused, and calls of functions that are missing.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use kvik_beam::{verify_in, BeamError, Code, Container, Module, ReadBuffers};

use super::files::{self, Files};
use super::Report;

/// Larger files are not examined: no compiler writes them.
const MAX_MEGABYTES: u64 = 256;

/// Functions of OTP's emulator that kvik lacks, one on each line. `cargo xtask compat` writes it
/// beside docs/COMPATIBILITY.md.
const MISSING: &str = include_str!("missing.txt");

/// Functions that are there and answer otherwise than OTP's.
const DIFFERENT: [(&str, &str); 1] =
    [("instrument", "raises notsup: OTP's allocators are not here")];

/// What is found out about all files below a folder.
#[derive(Default)]
struct Findings {
    refused: Vec<(PathBuf, String)>,
    missing: BTreeSet<(PathBuf, &'static str)>,
    different: BTreeSet<(&'static str, &'static str)>,
}

pub fn examine(report: &mut Report, files: &Files) {
    let mut findings = Findings::default();
    let (mut buffers, mut bytes) = (ReadBuffers::default(), Vec::new());
    let mut count = 0;
    for file in files.with_extension("beam") {
        count += 1;
        let done = read(file, &mut bytes).and_then(|()| {
            findings.examine(file, &bytes, &mut buffers).map_err(|e| format!("is refused: {e}"))
        });
        findings.refused.extend(done.err().map(|why| (file.to_path_buf(), why)));
    }
    let loads = count - findings.refused.len();
    report.fact("code", format_args!("{loads} of {count} .beam files load"));
    let archives = files.with_extension("ez").count();
    if archives > 0 {
        report.fact("", format_args!("{archives} archives (.ez) were not opened"));
    }
    for (file, why) in &findings.refused {
        report.fault("", format_args!("{} {why}", files.shown(file)));
    }
    for (file, function) in &findings.missing {
        report.fault("", format_args!("{} calls {function}, which is missing", files.shown(file)));
    }
    for (module, text) in &findings.different {
        report.fact("", format_args!("{module} is called: it {text}"));
    }
}

fn read(file: &Path, to: &mut Vec<u8>) -> Result<(), String> {
    to.clear();
    files::open(file, MAX_MEGABYTES)
        .and_then(|mut opened| opened.read_to_end(to).map_err(|e| e.to_string()))
        .map(drop)
        .map_err(|why| format!("cannot be read: {why}"))
}

impl Findings {
    fn examine(
        &mut self,
        path: &Path,
        bytes: &[u8],
        buffers: &mut ReadBuffers,
    ) -> Result<(), BeamError> {
        let file = Container::parse(bytes)?;
        let module = Module::parse_in(&file, buffers)?;
        let code = Code::decode(&module)?;
        verify_in(&module, &code, buffers)?;
        for import in &module.imports {
            let atom = |i: u32| module.atoms.get(i as usize).copied().unwrap_or_default();
            let (m, f) = (atom(import.module), atom(import.function));
            let name = format!("{m}:{f}/{}", import.arity);
            let missing = MISSING.lines().find(|line| *line == name);
            self.missing.extend(missing.map(|function| (path.to_path_buf(), function)));
            self.different.extend(DIFFERENT.iter().find(|d| d.0 == m));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_refused() {
        let mut f = Findings::default();
        let mut buffers = ReadBuffers::default();
        assert_eq!(f.examine(Path::new("x"), b"FOR1", &mut buffers), Err(BeamError::Header));
        assert!(MISSING.lines().all(|l| l.contains(':') && l.contains('/')), "{MISSING}");
    }
}
