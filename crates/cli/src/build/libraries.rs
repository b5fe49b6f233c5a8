//! The shared libraries that NIF libraries, drivers and epmd depend on, as crypto on OpenSSL: they go
//! along, and are used where the system has none of that name.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use kvik_env::fs;
use kvik_env::process::{self, Command, Stdio};
use kvik_image::{Builder, EntryKind};

/// Parts of the C library: of these every system has its own, and a program can have but one.
const OF_SYSTEM: [&str; 12] = [
    "linux-vdso.so",
    "ld-linux",
    "libc.so",
    "libm.so",
    "libmvec.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libresolv.so",
    "libutil.so",
    "libanl.so",
    "libgcc_s.so",
];

/// The note with the names of what epmd depends on.
pub const OF_EPMD: &str = "libraries_of_epmd";

/// Adds to an image what its libraries and its epmd depend on, as `libraries/NAME`: `work` has the
/// list of its files that `plan.erl` has written. A slim image goes without what epmd depends on:
/// returns how many libraries that are.
pub fn add(image: &mut Builder, work: &Path, slim: bool) -> io::Result<usize> {
    let list = fs::read_to_string(work.join("files"))?;
    let (mut needed, mut left_out) = (BTreeSet::new(), 0);
    for (inside, file) in list.lines().filter_map(|l| l.split_once('\t')) {
        let epmd = inside.starts_with("root/erts-") && inside.ends_with("/bin/epmd");
        if !epmd && !inside.ends_with(".so") {
            continue;
        }
        let of_file = needs(Path::new(file))?;
        if epmd && slim {
            left_out = of_file.len();
            continue;
        }
        if epmd {
            let names: String = of_file.iter().map(|(name, _)| format!("{name}\0")).collect();
            image.note(OF_EPMD, &names);
        }
        needed.extend(of_file);
    }
    for (name, path) in needed {
        image.file(&format!("libraries/{name}"), EntryKind::File, fs::read(path)?);
    }
    Ok(left_out)
}

/// The names and paths of the libraries that one depends on, also by others. None where the system
/// cannot tell.
fn needs(file: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut c = Command::new("ldd");
    c.arg(file).stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
    let output = match process::start(&mut c) {
        Ok(child) => child.wait_with_output()?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(dependency).collect())
}

/// `NAME => PATH (ADDRESS)`.
fn dependency(line: &str) -> Option<(String, PathBuf)> {
    let (name, rest) = line.trim().split_once(" => ")?;
    let path = rest.rsplit_once(" (0x")?.0;
    let of_system = OF_SYSTEM.iter().any(|prefix| name.starts_with(prefix));
    (!of_system && path.starts_with('/')).then(|| (name.into(), path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ldd_prints() {
        let of = |line| dependency(line).map(|(name, path)| format!("{name} {}", path.display()));
        let crypto = "\tlibcrypto.so.3 => /lib/a b/libcrypto.so.3 (0x00007f)";
        assert_eq!(of(crypto).as_deref(), Some("libcrypto.so.3 /lib/a b/libcrypto.so.3"));
        assert_eq!(of("\tlibc.so.6 => /lib/libc.so.6 (0x00007f)"), None);
        assert_eq!(of("\tlinux-vdso.so.1 (0x00007ffc)"), None);
        assert_eq!(of("\tlibz.so.1 => not found"), None);
    }
}
