//! `cargo xtask notices FILE`: what is in the program beside kvik's own code, and under which
//! licences. A crate whose licence is nowhere in its files is a fault, not left out.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const PROGRAM: &str = "kvik-cli";
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Beginnings of the names of files that hold licences.
const NAMES: &[&str] = &["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Licences of parts that are not built into kvik, or that kvik does not choose.
const LEFT_OUT: &[(&str, &str)] = &[
    ("libz-sys", "src/zlib-ng"),
    ("libz-sys", "src/zlib/contrib"),
    // zstd is under either of two licences.
    ("zstd-sys", "zstd/COPYING"),
];
/// Sources whose first comment is the licence of a library that brings no file with it.
const COMMENTS: &[(&str, &str)] = &[
    ("pcre2-sys", "upstream/src/pcre2_compile.c"),
    ("pcre2-sys", "upstream/deps/sljit/sljit_src/sljitLir.c"),
];
const STANDARD_LIBRARY: &str = "\
The program also holds the standard library of Rust (https://www.rust-lang.org), whose parts are
under MIT or Apache-2.0, as the crate libc below, which is of the same authors.";

/// A crate that is in the program.
struct Crate {
    name: String,
    version: String,
    licence: String,
    home: String,
    dir: PathBuf,
}

pub fn write(root: &Path, file: &Path) -> Result<(), String> {
    fs::write(file, text(root)?).map_err(|e| format!("{}: {e}", file.display()))
}

fn text(root: &Path) -> Result<String, String> {
    let crates = crates(root)?;
    let own = fs::read_to_string(root.join("LICENSE")).map_err(|e| format!("LICENSE: {e}"))?;
    // Each text once, with all that it is the licence of.
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    add(&mut texts, &own, "kvik".to_owned());
    let mut out = format!(
        "kvik is under the Apache License 2.0. Its program contains the libraries below.\n\n\
         {STANDARD_LIBRARY}\n\n"
    );
    for one in &crates {
        let Crate { name, version, licence, home, .. } = one;
        out.push_str(&format!("{name} {version}: {licence}\n    {home}\n"));
        let licences = licences(one)?;
        if licences.is_empty() {
            return Err(format!("{name} {version}: no licence among its files"));
        }
        for (file, text) in licences {
            add(&mut texts, &text, format!("{name} {version} ({file})"));
        }
    }
    let mut sections: Vec<(String, Vec<String>)> = texts.into_values().collect();
    sections.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, of) in sections {
        let rule = "-".repeat(80);
        out.push_str(&format!("\n{rule}\n{}:\n\n{}\n", of.join(",\n"), text.trim_end()));
    }
    Ok(out)
}

fn add(texts: &mut BTreeMap<String, (String, Vec<String>)>, text: &str, of: String) {
    let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
    texts.entry(key).or_insert_with(|| (text.to_owned(), Vec::new())).1.push(of);
}

/// All crates that the program depends on, its own left out, by name.
fn crates(root: &Path) -> Result<Vec<Crate>, String> {
    let metadata = metadata(root)?;
    let packages = list(&metadata["packages"]);
    let by_id = |id: &str| packages.iter().find(|p| p["id"] == *id);
    let program = packages.iter().find(|p| p["name"] == PROGRAM).ok_or("no kvik-cli")?;
    let mut found = BTreeSet::new();
    let mut next = vec![string(&program["id"])];
    while let Some(id) = next.pop() {
        if found.insert(id.clone()) {
            let node = list(&metadata["resolve"]["nodes"]).iter().find(|n| n["id"] == *id);
            let dependencies = node.map(|n| list(&n["deps"])).unwrap_or_default();
            // What is only built with (`build`) or tested with (`dev`) is not in the program.
            let is_normal = |d: &&Value| list(&d["dep_kinds"]).iter().any(|k| k["kind"].is_null());
            next.extend(dependencies.iter().filter(is_normal).map(|d| string(&d["pkg"])));
        }
    }
    let foreign = found.iter().filter_map(|id| by_id(id)).filter(|p| !p["source"].is_null());
    let mut crates: Vec<Crate> = foreign
        .map(|p| Crate {
            name: string(&p["name"]),
            version: string(&p["version"]),
            licence: string(&p["license"]),
            home: string(if p["repository"].is_null() { &p["homepage"] } else { &p["repository"] }),
            dir: Path::new(&string(&p["manifest_path"])).parent().unwrap_or(root).to_owned(),
        })
        .collect();
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

fn metadata(root: &Path) -> Result<Value, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]);
    let output = cargo.current_dir(root).output().map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The files of a crate that hold licences, and their texts.
fn licences(of: &Crate) -> Result<Vec<(String, String)>, String> {
    let read = |file: &str| {
        let bytes = fs::read(of.dir.join(file)).map_err(|e| format!("{} {file}: {e}", of.name))?;
        Ok::<String, String>(String::from_utf8_lossy(&bytes).replace('\r', ""))
    };
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(of.dir.join(&folder));
        for entry in entries.map_err(|e| format!("{}: {e}", of.name))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if LEFT_OUT.contains(&(of.name.as_str(), path.as_str())) {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(path);
            } else if NAMES.iter().any(|begin| name.to_uppercase().starts_with(begin)) {
                found.push((path.clone(), read(&path)?));
            }
        }
    }
    for (_, file) in COMMENTS.iter().filter(|(name, _)| *name == of.name) {
        let text = read(file)?;
        let comment = comments(&text);
        if !comment.contains("Redistribution") {
            return Err(format!("{} {file}: no licence in its first comments", of.name));
        }
        found.push(((*file).to_owned(), comment));
    }
    found.sort();
    Ok(found)
}

/// The comments that a C file begins with.
fn comments(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some((comment, behind)) = rest.strip_prefix("/*").and_then(|r| r.split_once("*/")) {
        let bare = |line: &str| line.trim_start_matches([' ', '*']).trim_end().to_owned();
        out.extend(comment.lines().map(bare));
        rest = behind.trim_start();
    }
    out.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_that_cargo_tree_names_is_in_the_notices() {
        let root = crate::tidy::root();
        let notices = text(&root).unwrap();
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap());
        cargo.args(["tree", "--locked", "-p", PROGRAM, "--edges", "normal", "--target", TARGET]);
        let output = cargo.args(["--prefix", "none"]).current_dir(&root).output().unwrap();
        let tree = String::from_utf8(output.stdout).unwrap();
        let mut foreign = 0;
        for line in tree.lines().filter(|line| !line.contains("(/")) {
            let mut words = line.split_whitespace();
            let (name, version) = (words.next().unwrap(), words.next().unwrap());
            let version = version.trim_start_matches('v');
            assert!(notices.contains(&format!("\n{name} {version}: ")), "{name} {version}");
            foreign += 1;
        }
        assert!(foreign > 20, "{tree}");
    }

    #[test]
    fn reads_a_licence_from_a_comment() {
        assert_eq!(comments("/* A\n * b */\n\n/***/\nint c; /* d */"), "A\nb");
        assert_eq!(comments("int c;"), "");
    }

    #[test]
    fn one_text_of_many_is_there_once() {
        let mut texts = BTreeMap::new();
        add(&mut texts, "a  b", "x".into());
        add(&mut texts, "a\nb\n", "y".into());
        assert_eq!(texts.into_values().next().unwrap().1, ["x", "y"]);
    }
}
