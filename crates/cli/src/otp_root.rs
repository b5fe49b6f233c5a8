//! Finds OTP's libraries and determines their release.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kvik_env::fs;
use kvik_release::Release;

/// Where installations of OTP lie.
const SYSTEM: [&str; 3] = ["/usr/lib/erlang", "/usr/local/lib/erlang", "/opt/erlang"];
/// Name of the root directory that `kvik shims` writes next to the programs.
pub const ROOT: &str = "root";
/// The preloaded modules in that root: next to the programs, since a release copies that directory.
pub const PRELOADED: &str = "bin/preloaded";
/// Locations of the preloaded modules: the path before `erts-VSN` and after it.
const PRELOADED_PATHS: [(&str, &str); 3] = [("lib", "ebin"), ("", "ebin"), ("", PRELOADED)];

/// An OTP installation.
pub struct Otp {
    pub root: PathBuf,
    pub release: &'static Release,
    /// The directory of the `erts` programs: `$BINDIR`.
    pub bindir: PathBuf,
    /// The version of its `erts`.
    pub erts: String,
    /// The directory of the preloaded modules' files.
    pub preloaded: PathBuf,
    /// Why it is this one.
    pub reason: &'static str,
}

/// Result of examining a directory.
enum Found {
    Otp(Otp),
    /// The version of an OTP whose release is unsupported or not the requested one.
    Other(String),
    Nothing,
}

/// An executable that `kvik build` made has its own. Others search in the order of docs/USING.md:
/// `--root`, `$KVIK_OTP_ROOT`, next to the name of this
/// program (where `kvik shims` writes), `$ROOTDIR`, then the newest release in the system's
/// `lib/erlang` and in `.otp/` next to the program or in the current directory. As `erlexec`, the
/// caller's environment comes first, then the program's location. `--otp` or `$KVIK_OTP` skips
/// other releases.
pub fn find(
    given: Option<&OsString>,
    release: Option<&OsString>,
    name: &Path,
) -> Result<Otp, String> {
    if let Some(otp) = crate::built::otp() {
        return Ok(otp);
    }
    let wanted = wanted(release)?;
    let in_environment = || std::env::var_os("KVIK_OTP_ROOT").filter(|v| !v.is_empty());
    let named = given.cloned().map(|dir| (dir, "named by --root"));
    if let Some((dir, reason)) =
        named.or_else(|| in_environment().map(|dir| (dir, "named by $KVIK_OTP_ROOT")))
    {
        let shown = dir.to_string_lossy();
        return match at(Path::new(&dir), wanted) {
            Found::Otp(otp) => Ok(Otp { reason, ..otp }),
            Found::Other(version) => Err(refusal(&format!("{version} in {shown}"), wanted)),
            Found::Nothing => Err(format!("no OTP in {shown}")),
        };
    }
    let told = from_environment().filter(|otp| wanted.is_none_or(|w| w == otp.release));
    if let (Some(otp), true) = (told, name.ends_with("erlexec")) {
        return Ok(otp);
    }
    let rootdir = std::env::var_os("ROOTDIR").map(PathBuf::from);
    let mut tried = Vec::new();
    let mut look = |dir: PathBuf| {
        let shown = dir.to_string_lossy();
        match at(&dir, wanted) {
            Found::Otp(otp) => return Some(otp),
            Found::Other(version) => tried.push(format!("{shown}: OTP {version}")),
            Found::Nothing => tried.push(shown.into_owned()),
        }
        None
    };
    if let Some(otp) = beside(name).into_iter().find_map(&mut look) {
        return Ok(Otp { reason: "beside this program", ..otp });
    }
    if let Some(otp) = rootdir.and_then(&mut look) {
        return Ok(Otp { reason: "named by $ROOTDIR", ..otp });
    }
    let found = installed_or_unpacked().filter_map(look);
    if let Some(otp) = newest(found) {
        let reason = match wanted {
            Some(_) => "of the release that was asked for",
            None => "the newest that was found",
        };
        return Ok(Otp { reason, ..otp });
    }
    let what = wanted.map_or("OTP".to_string(), |w| format!("OTP {}", w.name));
    Err(format!(
        "no {what} found (looked in {}, .otp): `make deps` fetches one, or name one by --root DIR \
         (supported: {})",
        tried.join(", "),
        kvik_release::supported()
    ))
}

/// Where OTP may be if nothing says where.
fn installed_or_unpacked() -> impl Iterator<Item = PathBuf> {
    SYSTEM.iter().map(PathBuf::from).chain(unpacked())
}

/// The OTP in a release's own folder. An error if that is of a release which is not supported.
pub fn of_release(dir: &Path) -> Result<Option<Otp>, String> {
    let is_supported = || {
        erts_versions(dir).iter().any(|erts| kvik_release::by_erts(erts).is_some())
            || installed(dir).iter().any(|(name, _)| kvik_release::by_name(name).is_some())
    };
    match at(dir, None) {
        Found::Otp(otp) => Ok(Some(Otp { reason: "part of the release", ..otp })),
        Found::Other(version) if !is_supported() => {
            Err(refusal(&format!("{version} in {}", dir.display()), None))
        }
        Found::Other(_) | Found::Nothing => Ok(None),
    }
}

/// The OTP release that a release was made with, as its start scripts find it: the version of
/// `erts` is the first word of this file.
pub fn release_made_with(dir: &Path) -> Option<&'static Release> {
    let data = fs::read_to_string(dir.join("releases/start_erl.data")).ok()?;
    kvik_release::by_erts(data.split_whitespace().next()?)
}

/// Those that `--otp` could select instead.
pub fn unused(used: &Otp) -> Vec<Otp> {
    let mut others: Vec<Otp> = Vec::new();
    for dir in installed_or_unpacked() {
        let Found::Otp(otp) = at(&dir, None) else { continue };
        let seen = |known: &Otp| known.root == otp.root || known.release == otp.release;
        if !seen(used) && !others.iter().any(seen) {
            others.push(otp);
        }
    }
    others
}

/// The release requested by `--otp` or `$KVIK_OTP`.
fn wanted(given: Option<&OsString>) -> Result<Option<&'static Release>, String> {
    let from_environment = || std::env::var_os("KVIK_OTP").filter(|v| !v.is_empty());
    let Some(name) = given.cloned().or_else(from_environment) else { return Ok(None) };
    let name = name.to_string_lossy();
    let release = kvik_release::by_name(&name);
    release.map(Some).ok_or_else(|| refusal(&name, None))
}

fn refusal(version: &str, wanted: Option<&Release>) -> String {
    match wanted {
        Some(wanted) => format!("OTP {version}, not OTP {}", wanted.name),
        None => {
            let supported = kvik_release::supported();
            format!("OTP {version} is not supported (supported: {supported})")
        }
    }
}

/// The OTP set by a release's start script: its own root, and the `erts` that it uses.
fn from_environment() -> Option<Otp> {
    let dir = |name| std::env::var_os(name).map(PathBuf::from);
    let (root, bindir) = (dir("ROOTDIR")?, dir("BINDIR")?);
    let erts_dir = bindir.parent()?;
    let erts = erts_dir.file_name()?.to_str()?.strip_prefix("erts-")?.to_string();
    let release = kvik_release::by_erts(&erts)?;
    let preloaded = preloaded(&[&root, erts_dir.parent()?], &erts)?;
    Some(Otp { root, release, bindir, erts, preloaded, reason: "named by $ROOTDIR" })
}

/// Where a program lies that was started by this name.
pub fn directory_of(name: &Path) -> Option<PathBuf> {
    match name.parent() {
        Some(dir) if dir != Path::new("") => Some(dir.to_path_buf()),
        _ => std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).find(|dir| fs::is_file(dir.join(name)))),
    }
}

/// Candidate roots from a program's location: next to the shims, above `bin/`, above
/// `erts-VSN/bin/`; and next to the program itself, whatever link it was started by, where a package
/// with OTP's libraries has one.
fn beside(name: &Path) -> Vec<PathBuf> {
    let found = directory_of(name);
    let up = |dir: PathBuf| vec![dir.join(ROOT), dir.join(".."), dir.join("../..")];
    let packaged = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(ROOT)));
    found.map(up).unwrap_or_default().into_iter().chain(packaged).collect()
}

/// Of several, the first of the newest release.
fn newest(found: impl Iterator<Item = Otp>) -> Option<Otp> {
    found.reduce(|best, otp| if otp.release.number > best.release.number { otp } else { best })
}

/// Where `make deps` unpacks each OTP release: `.otp/RELEASE/usr/lib/erlang` in the current
/// directory or in one above the program.
fn unpacked() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let exe = std::env::current_exe().ok();
    let above = exe.iter().flat_map(|e| e.ancestors().skip(1).map(Path::to_path_buf));
    let of = |dir: PathBuf| {
        let root = |r: &Release| dir.join(".otp").join(r.name).join("usr/lib/erlang");
        kvik_release::RELEASES.iter().map(root).filter(|d| fs::exists(d)).collect::<Vec<_>>()
    };
    here.into_iter().chain(above).flat_map(of).collect()
}

/// The OTP with this root. `releases/*/OTP_VERSION` names its release; roots without it, as made by
/// release tools, are identified by their `erts` version.
fn at(dir: &Path, wanted: Option<&'static Release>) -> Found {
    let Ok(root) = fs::canonicalize(dir) else { return Found::Nothing };
    let installed = installed(&root);
    let is_installed =
        |r: &Release| installed.is_empty() || installed.iter().any(|i| i.0 == r.name);
    let mut found: Vec<(&Release, String, PathBuf)> = erts_versions(&root)
        .into_iter()
        .filter_map(|erts| {
            let release = kvik_release::by_erts(&erts).filter(|r| is_installed(r))?;
            let preloaded = preloaded(&[&root], &erts)?;
            wanted.is_none_or(|w| w == release).then_some((release, erts, preloaded))
        })
        .collect();
    found.sort_by(|a, b| (a.0.number, &a.1).cmp(&(b.0.number, &b.1)));
    if let Some((release, erts, preloaded)) = found.pop() {
        let bindir = root.join(format!("erts-{erts}")).join("bin");
        return Found::Otp(Otp { root, release, bindir, erts, preloaded, reason: "" });
    }
    let erts = || erts_versions(&root).pop().map(|erts| format!("with erts {erts}"));
    let version = installed.into_iter().map(|i| i.1).max().or_else(erts);
    version.map_or(Found::Nothing, Found::Other)
}

/// The releases in `releases/*/OTP_VERSION`: the folder's name and the version in the file.
fn installed(root: &Path) -> Vec<(String, String)> {
    let folders = fs::read_dir(root.join("releases")).into_iter().flatten().flatten();
    let one = |folder: fs::DirEntry| {
        let version = fs::read_to_string(folder.path().join("OTP_VERSION")).ok()?;
        Some((folder.file_name().into_string().ok()?, version.trim().to_string()))
    };
    folders.filter_map(one).collect()
}

/// The versions of `erts` in a root, sorted.
fn erts_versions(root: &Path) -> Vec<String> {
    let folders = [root.join("lib"), root.to_path_buf()];
    let entries = folders.iter().filter_map(|f| fs::read_dir(f).ok()).flatten().flatten();
    let version = |e: fs::DirEntry| {
        e.file_name().to_str().and_then(|n| n.strip_prefix("erts-")).map(str::to_string)
    };
    let mut versions: Vec<String> = entries.filter_map(version).collect();
    versions.sort();
    versions
}

fn preloaded(roots: &[&Path], erts: &str) -> Option<PathBuf> {
    let places = |root: &&Path| {
        PRELOADED_PATHS
            .map(|(before, after)| root.join(before).join(format!("erts-{erts}")).join(after))
    };
    roots.iter().flat_map(places).find(|d| fs::exists(d.join("init.beam")))
}
