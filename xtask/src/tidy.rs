//! The rules of the house that a program can check: who may use whom, where `unsafe` lives, how
//! long a file may be, how many modules may use each other in a circle, and that no two crates give a
//! public type the same name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::type_names;

/// The crates from the bottom up. A crate may use those before it.
const LAYERS: &[&str] = &[
    "state", "release", "sys", "image", "env", "term", "sync", "heap", "isa", "beam", "etf",
    "code", "proc", "jit", "ets", "port", "bifs", "socket", "web", "dist", "nif", "vm", "lab",
    "cli",
];
/// The crates that may hold `unsafe` code.
const UNSAFE: &[&str] = &["state", "term", "heap", "sync", "sys", "jit", "nif"];
/// The most lines of a source file.
const LINES: usize = 700;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Every breach, a line each.
pub fn faults(root: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut names = type_names::Names::new();
    for name in crates(root) {
        let dir = root.join("crates").join(&name);
        match LAYERS.iter().position(|l| *l == name) {
            Some(layer) => layering(&dir, &name, layer, &mut out),
            None => {
                out.push(format!("crates/{name}: not in the list of layers (xtask/src/tidy.rs)"))
            }
        }
        unsafe_homes(&dir, &name, &mut out);
        lengths(root, &dir, &mut out);
        crate::cycles::check(&dir, &name, &mut out);
        type_names::collect(&dir.join("src"), &name, &mut names);
        crate::seam::check(root, &dir, &name, &mut out);
        if name != "release" {
            releases(root, &dir.join("src"), &mut out);
        }
    }
    out.extend(type_names::faults(&names));
    crate::statics::check(root, &crates(root), &mut out);
    documents(root, &mut out);
    page_lengths(root, &mut out);
    subjects(root, &mut out);
    out.extend(crate::headline::check(root).err());
    out
}

/// Every crate is on the code map, and links between documents lead to a file, and to a heading in it
/// where they name one.
fn documents(root: &Path, out: &mut Vec<String>) {
    let map = fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap_or_default();
    for name in crates(root).iter().filter(|n| !map.contains(&format!("| `{n}`"))) {
        out.push(format!("crates/{name}: not on the code map (docs/ARCHITECTURE.md)"));
    }
    for dir in [".", "docs", "docs/internals", "docs/lab-notes"].map(|d| root.join(d)) {
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        for path in entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let links = text.split("](").skip(1).filter_map(|l| l.split(')').next());
            for link in links.filter(|l| !l.contains("://") && !leads_somewhere(&path, l)) {
                out.push(format!("{}: no {link}", path.display()));
            }
        }
    }
}

/// The most words of a design page: what is measured goes to the lab notes.
const WORDS: usize = 1900;
/// Pages that have more, and how many. The numbers may only fall.
const LONGER: &[(&str, usize)] = &[("scheduling.md", 2_750)];
/// Written by a test of crate beam.
const GENERATED: &str = "verifier-reasons.md";

fn page_lengths(root: &Path, out: &mut Vec<String>) {
    let entries = fs::read_dir(root.join("docs/internals")).into_iter().flatten().flatten();
    for (name, path) in entries.map(|e| (e.file_name().to_string_lossy().into_owned(), e.path())) {
        let words = fs::read_to_string(path).unwrap_or_default().split_ascii_whitespace().count();
        let most = LONGER.iter().find(|(n, _)| *n == name).map_or(WORDS, |(_, words)| *words);
        if words > most && name != GENERATED {
            out.push(format!("docs/internals/{name}: {words} words, more than {most}"));
        }
    }
}

/// The most characters of a commit's subject.
const SUBJECT: usize = 72;
/// Commits that are looked at: those of before did not keep to it.
const COMMITS: &str = "-n200";

/// Whether the subjects of the last commits fit a line, where git knows them.
fn subjects(root: &Path, out: &mut Vec<String>) {
    let log = Command::new("git").args(["log", COMMITS, "--format=%s"]).current_dir(root).output();
    let text = log.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into_owned());
    let long = text.lines().filter(|s| s.chars().count() > SUBJECT);
    out.extend(long.map(|s| format!("more than {SUBJECT} characters in a commit's subject: {s}")));
}

/// Whether a document's link is to a file, or to a heading of a document.
fn leads_somewhere(from: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let to = match (file, from.parent()) {
        ("", _) => from.to_path_buf(),
        (_, Some(dir)) => dir.join(file),
        (_, None) => return false,
    };
    if anchor.is_empty() || to.extension().is_none_or(|e| e != "md") {
        return to.exists();
    }
    fs::read_to_string(&to).is_ok_and(|text| anchors(&text).any(|a| a == anchor))
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> impl Iterator<Item = String> + '_ {
    let headings = text.lines().filter(|l| l.starts_with('#'));
    headings.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

fn crates(root: &Path) -> Vec<String> {
    let Ok(dir) = fs::read_dir(root.join("crates")) else { return Vec::new() };
    let mut names: Vec<String> =
        dir.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn layering(dir: &Path, name: &str, layer: usize, out: &mut Vec<String>) {
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
    let manifest = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    for line in manifest.lines() {
        let Some(used) = line.strip_prefix("kvik-").and_then(|l| l.split([' ', '.', '=']).next())
        else {
            continue;
        };
        if LAYERS.iter().position(|l| *l == used).is_none_or(|u| u >= layer) {
            out.push(format!("crates/{name} uses {used}, which is not below it"));
        }
    }
}

fn unsafe_homes(dir: &Path, name: &str, out: &mut Vec<String>) {
    if UNSAFE.contains(&name) {
        return;
    }
    for top in ["src/lib.rs", "src/main.rs"] {
        let Ok(text) = fs::read_to_string(dir.join(top)) else { continue };
        if !text.contains("#![forbid(unsafe_code)]") {
            out.push(format!("crates/{name}/{top}: lacks #![forbid(unsafe_code)]"));
        }
    }
}

/// A release is named in `crates/release` only: elsewhere code asks that table.
fn releases(root: &Path, dir: &Path, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        if path.is_dir() {
            releases(root, &path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            out.extend(release_names(&text).map(|n| format!("{short}:{n}: names an OTP release")));
        }
    }
}

/// The numbers of the lines of code, not of comments or tests, that name a release.
fn release_names(text: &str) -> impl Iterator<Item = usize> + '_ {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let names = |line: &str| {
        kvik_release::RELEASES.iter().any(|r| {
            let spellings = [
                format!("\"{}\"", r.name),
                format!("OTP {}", r.name),
                format!("OTP/{}", r.name),
                format!("OTP{}", r.name),
                format!("erts-{}.", r.erts_major),
                format!("\"{}.", r.erts_major),
            ];
            spellings.iter().any(|s| line.contains(s))
        })
    };
    let lines = code.lines().zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim_start().starts_with("//"));
    lines.filter(move |(line, _)| names(line)).map(|(_, n)| n)
}

fn lengths(root: &Path, dir: &Path, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        if path.is_dir() {
            lengths(root, &path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let lines = fs::read_to_string(&path).map_or(0, |t| t.lines().count());
            // A table of names is as long as it is.
            if lines > LINES && !path.ends_with("term/src/atoms.rs") {
                let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                out.push(format!("{short}: {lines} lines, more than {LINES}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_lines_of_code_that_name_a_release() {
        let text = "let a = \"25\";\n// OTP 25 has it\nlet b = 25;\nf(\"no OTP 25\");\n\
                    at(\"erts-13.1\");\n#[cfg(test)]\nlet c = \"25\";\n";
        assert_eq!(super::release_names(text).collect::<Vec<_>>(), [1, 4, 5]);
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let text = "# A (B), `c/1`\ntext\n## Where it-is_now\n";
        assert_eq!(super::anchors(text).collect::<Vec<_>>(), ["a-b-c1", "where-it-is_now"]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let from = super::root().join("docs/GLOSSARY.md");
        for link in [
            "ARCHITECTURE.md",
            "internals/",
            "ARCHITECTURE.md#overview-from-the-command-line-to-a-running-process",
            "#scheduling",
        ] {
            assert!(super::leads_somewhere(&from, link), "{link}");
        }
        for link in ["nothing.md", "ARCHITECTURE.md#nothing", "#nothing"] {
            assert!(!super::leads_somewhere(&from, link), "{link}");
        }
    }

    #[test]
    fn the_house_is_tidy() {
        let faults = super::faults(&super::root());
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }
}
