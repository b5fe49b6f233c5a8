//! What a run mutates is declared by `vm_state!`; statics that are not stand in the table of
//! docs/internals/vm-state.md, each with a reason, and that table names no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/internals/vm-state.md";

/// A file as the documents name it (`proc/clock.rs`), and a static in it.
type Static = (String, String);

pub fn check(root: &Path, crates: &[String], out: &mut Vec<String>) {
    let mut found = BTreeSet::new();
    for name in crates {
        let manifest = root.join("crates").join(name).join("Cargo.toml");
        if enables_isolated(&fs::read_to_string(manifest).unwrap_or_default()) {
            out.push(format!("crates/{name}: only dev-dependencies enable kvik-state's isolated"));
        }
        sources(&root.join("crates").join(name).join("src"), name, &mut found);
    }
    let table = rows(&fs::read_to_string(root.join(PAGE)).unwrap_or_default());
    for (file, name) in found.difference(&table) {
        out.push(format!("{file}: static {name} is not in vm_state!, nor in the table of {PAGE}"));
    }
    for (file, name) in table.difference(&found) {
        out.push(format!("{PAGE}: there is no static {name} in {file} outside of vm_state!"));
    }
}

/// Whether a manifest gives more than tests the state of several VMs.
fn enables_isolated(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let names = line.contains("\"isolated\"") || line.contains("kvik-state/isolated");
        section != "[dev-dependencies]" && names && !line.trim_start().starts_with('#')
    })
}

fn sources(dir: &Path, short: &str, found: &mut BTreeSet<Static>) {
    for path in fs::read_dir(dir).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let short = format!("{short}/{name}");
        if path.is_dir() {
            sources(&path, &short, found);
        } else if name.ends_with(".rs") && !TESTS.contains(&name.as_str()) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            found.extend(statics(&text).into_iter().map(|s| (short.clone(), s)));
        }
    }
}

/// Files that are built for tests only.
const TESTS: &[&str] = &["tests.rs", "models.rs"];

/// The statics of a file that are neither a VM's nor a table of constants nor a test's.
fn statics(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut all = Vec::new();
    // The indentation of the `vm_state!` that a line is in.
    let mut within = None;
    let mut before = "";
    for line in code.lines() {
        let indent = line.len() - line.trim_start().len();
        match within {
            Some(at) if line.trim() == "}" && indent == at => within = None,
            Some(_) => {}
            None if line.trim_end().ends_with("vm_state! {") => within = Some(indent),
            None if before.trim() == "#[cfg(test)]" => {}
            None => all.extend(declared(line)),
        }
        before = line;
    }
    all
}

/// The static that a line declares, unless it is a reference to what can't change.
fn declared(line: &str) -> Option<String> {
    let line = line.trim_start().trim_start_matches("thread_local!(");
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let rest = line.strip_prefix("static ")?;
    let (name, kind) = rest.trim_start_matches("ref ").split_once(": ")?;
    let is_constant = kind.starts_with("&[") || kind.starts_with("&str");
    (!is_constant).then(|| name.to_string())
}

/// What the rows ``| `file` | `A`, `B` | why |`` name.
fn rows(page: &str) -> BTreeSet<Static> {
    let mut all = BTreeSet::new();
    for row in page.lines().filter(|l| l.starts_with("| `")) {
        let mut cells = row.split('|').skip(1);
        let (Some(file), Some(names)) = (cells.next(), cells.next()) else { continue };
        let names = names.split('`').skip(1).step_by(2);
        all.extend(names.map(|n| (file.trim().trim_matches('`').to_string(), n.to_string())));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_outside_of_vm_state_are_found() {
        let text =
            "pub(crate) static A: AtomicBool = x;\nkvik_state::vm_state! {\n    /// Doc\n    \
                    static B: Mutex<()> = x;\n}\nfn f() {\n    static C: OnceLock<u8> = x;\n    \
                    kvik_state::vm_state! {\n        static D: u8 = 0;\n    }\n    \
                    thread_local!(static E: Cell<u8> = x);\n}\nstatic F: &[u8] = &[];\n\
                    #[cfg(test)]\npub static G: Mutex<()> = x;\npub static ref H: u8 = 0;\n\
                    #[cfg(test)]\nmod tests {\n    static I: u8 = 0;\n}\n";
        assert_eq!(statics(text), ["A", "C", "E", "H"]);
    }

    #[test]
    fn only_tests_may_have_several_vms() {
        let line = "kvik-state = { path = \"../state\", features = [\"isolated\"] }\n";
        assert!(enables_isolated(&format!("[dependencies]\n{line}")));
        assert!(enables_isolated("[features]\nx = [\"kvik-state/isolated\"]\n"));
        assert!(!enables_isolated(&format!(
            "[dependencies]\na = \"1\"\n[dev-dependencies]\n{line}"
        )));
    }

    #[test]
    fn rows_name_files_and_statics() {
        let page =
            "# A\n| file | statics | why |\n|---|---|---|\n| `sys/a.rs` | `A`, `B` | `x` |\n";
        let expected = ["A", "B"].map(|n| ("sys/a.rs".to_string(), n.to_string()));
        assert_eq!(rows(page), BTreeSet::from(expected));
    }
}
