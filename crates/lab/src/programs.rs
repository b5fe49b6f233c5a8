//! The programs, carried inside the lab; the Erlang ones are compiled once for all peers.

use crate::peers::{on_path, Kind, LineUp};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCES: &[(&str, &str)] = &[
    ("ipctest.erl", include_str!("../../../experiments/ipctest.erl")),
    ("zog.erl", include_str!("../../../experiments/zog.erl")),
    ("pipe_ring.erl", include_str!("../../../experiments/pipe_ring.erl")),
    ("file_matrix.erl", include_str!("../../../experiments/file_matrix.erl")),
    ("waiting.erl", include_str!("../../../lab/erlang/waiting.erl")),
    ("switches.erl", include_str!("../../../lab/erlang/switches.erl")),
];

/// Experiment 4 for the peer in C.
const FILES_IN_C: &str = include_str!("../../../lab/c/files.c");

/// A folder that goes when the lab is done.
pub struct Folder(PathBuf);

impl Folder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind in the system's folder for such things hurts nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn prepare(line_up: &LineUp) -> Result<Folder, String> {
    let path = std::env::temp_dir().join(format!("kvik-bench.{}", std::process::id()));
    let folder = Folder(path);
    let fault = |e: std::io::Error| format!("{}: {e}", folder.path().display());
    std::fs::create_dir_all(folder.path()).map_err(fault)?;
    for (name, text) in SOURCES {
        std::fs::write(folder.path().join(name), text).map_err(fault)?;
    }
    let mut compile = compiler(line_up)?;
    compile.arg("-W0").args(SOURCES.iter().map(|(name, _)| name)).current_dir(folder.path());
    said_well(compile.output())?;
    if let Some(c) = line_up.peers.iter().find(|p| p.kind == Kind::C) {
        std::fs::write(folder.path().join("files.c"), FILES_IN_C).map_err(fault)?;
        let mut compile = Command::new(&c.program);
        compile.args(["-O2", "-o", "files", "files.c"]).current_dir(folder.path());
        said_well(compile.output())?;
    }
    Ok(folder)
}

fn said_well(compiler: std::io::Result<Output>) -> Result<(), String> {
    let output = compiler.map_err(|e| format!("the compiler does not start: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [&output.stdout, &output.stderr].map(|s| String::from_utf8_lossy(s).into_owned());
    Err(format!("the programs do not compile:\n{}", said.concat()))
}

/// OTP's compiler where it is installed, so that all peers run the same files whatever the state
/// of kvik; otherwise the same compiler on kvik.
fn compiler(line_up: &LineUp) -> Result<Command, String> {
    if let Some(erlc) = on_path("erlc") {
        return Ok(Command::new(erlc));
    }
    let kvik = line_up.kvik().ok_or("no erlc found to compile the programs with")?;
    let mut command = Command::new(&kvik.program);
    command.arg("erlc");
    Ok(command)
}
