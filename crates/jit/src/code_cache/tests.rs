//! Entries that one VM has written become, in another with other addresses and other numbers of
//! atoms, the code that this would have made itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use kvik_beam::Container;
use kvik_code::LoadedModule;
use kvik_term::{cmp, Atom, Term};

use super::format::EntryReader;
use super::*;

/// What a process that a test has started does, and the file with the entries.
const STEP: &str = "KVIK_TEST_STEP";
const ENTRIES: &str = "KVIK_TEST_ENTRIES";

#[derive(Default)]
struct Memory {
    /// What `find` knows.
    known: Mutex<HashMap<Key, Vec<u8>>>,
    added: Mutex<HashMap<Key, Vec<u8>>>,
}
impl CodeCache for Arc<Memory> {
    fn find<'a>(&'a self, key: &Key, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        room.clone_from(self.known.lock().unwrap().get(key)?);
        Some(room)
    }
    fn add(&self, key: Key, entry: Vec<u8>) {
        self.added.lock().unwrap().insert(key, entry);
    }
    fn save(&self) {}
}

/// Files of the installed OTP.
fn files() -> Vec<PathBuf> {
    let below = |dir: &Path| {
        let all = std::fs::read_dir(dir).into_iter().flatten().flatten();
        all.map(|e| e.path()).collect::<Vec<_>>()
    };
    let is_part = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ["stdlib-", "kernel-", "erts-"].iter().any(|part| name.starts_with(part))
    };
    let parts = below(Path::new("/usr/lib/erlang/lib")).into_iter().filter(is_part);
    let files = parts.flat_map(|p| below(&p.join("ebin")));
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "beam")).collect();
    files.sort();
    files
}

fn set_up() -> Arc<Memory> {
    kvik_etf::set_hooks(kvik_etf::EtfHooks {
        node: || (kvik_term::am::nonode_nohost, 0),
        export: |m, f, a| Some(kvik_code::export(m, f, a as u32)),
        is_known: |_, _, _| false,
        fun: |_| None,
        record: |_, _, _| None,
        local_ref: |h, n| Some(h.ref_of_numbers(n.try_into().ok()?)),
    });
    assert!(crate::init());
    crate::checked::UNWANTED.set(true);
    let memory = Arc::new(Memory::default());
    set_code_cache(Box::new(memory.clone()));
    memory
}

fn write_entries(to: &Path) {
    let memory = set_up();
    for file in files() {
        crate::prepare(&std::fs::read(file).unwrap()).unwrap();
    }
    let mut out = Vec::new();
    for (key, entry) in memory.added.lock().unwrap().iter() {
        out.extend(key);
        out.extend((entry.len() as u32).to_le_bytes());
        out.extend(entry);
    }
    std::fs::write(to, out).unwrap();
}

fn read_entries(bytes: &[u8]) -> HashMap<Key, Vec<u8>> {
    let mut r = EntryReader::new(bytes);
    let mut all = HashMap::new();
    while !r.is_at_end() {
        let key = *r.bytes(32).unwrap().first_chunk().unwrap();
        all.insert(key, r.blob().unwrap().to_vec());
    }
    all
}

/// Numbers of the files' atoms that no other process gives them.
fn name_atoms_backwards(files: &[PathBuf]) {
    for file in files.iter().rev() {
        let bytes = std::fs::read(file).unwrap();
        let container = Container::parse(&bytes).unwrap();
        let mut names = kvik_beam::Module::atoms(&container).unwrap();
        names.reverse();
        Atom::intern_all(&names).unwrap();
    }
}

fn code(m: &LoadedModule) -> &[u8] {
    // SAFETY: the module's code, which can be read and lives as long as the module.
    unsafe { std::slice::from_raw_parts(m.start as *const u8, m.size) }
}
fn eight(m: &LoadedModule, at: usize) -> u64 {
    u64::from_le_bytes(*code(m)[at..].first_chunk().unwrap())
}

/// Compares two instances of a module; `entry` was written when `made` was.
fn compare(made: &LoadedModule, kept: &LoadedModule, entry: &[u8]) {
    let mut plain = [made, kept].map(|m| code(m).to_vec());
    let mut hide = |at: usize, n: usize| plain.iter_mut().for_each(|c| c[at..at + n].fill(0));
    let (symbols, branches) = write::symbols_of(entry);
    for [at, _] in symbols {
        let (kind, at) = (KINDS[(at & 15) as usize], (at >> KIND_BITS) as usize);
        if kind == WordKind::Atom {
            continue;
        }
        let [a, b] = [made, kept].map(|m| eight(m, at));
        match kind {
            WordKind::Literal => {
                // SAFETY: literals of the two, which live.
                let [a, b] = [a, b].map(|w| unsafe { Term::<'_>::from_word(w) });
                assert!(cmp::eq_exact(a, b), "{:?} at {at}", made.name);
            }
            WordKind::Export | WordKind::Fun | WordKind::Runtime | WordKind::Hash => {
                assert_eq!(a, b, "{kind:?} in {:?} at {at}", made.name)
            }
            _ => {}
        }
        hide(at, 8);
    }
    for [at, ..] in branches {
        let at = at as usize;
        let target = |m: &LoadedModule| {
            let distance = i32::from_le_bytes(*code(m)[at..].first_chunk().unwrap());
            m.start as i64 + at as i64 + i64::from(distance)
        };
        assert_eq!(target(made), target(kept));
        hide(at, 4);
    }
    let differ = |i: &usize| plain[0][*i] != plain[1][*i];
    if let Some(at) = (0..plain[0].len()).find(differ) {
        let function = made.function_at(made.start + at).map(|f| (f.function, f.arity));
        let [a, b] = plain.each_ref().map(|c| &c[at.saturating_sub(8)..(at + 8).min(c.len())]);
        panic!("{:?} {function:?} at {at}: {a:x?} {b:x?}", made.name);
    }
    let parts = |m: &LoadedModule| {
        let offset = |a: &kvik_term::CodeAddress| a.get() - m.start;
        (
            format!("{:?} {:?}", m.functions, m.places),
            m.exports.iter().map(|(e, a)| (e.function, e.arity, offset(a))).collect::<Vec<_>>(),
            m.funs.iter().map(|(f, a)| (f.index, offset(a))).collect::<Vec<_>>(),
            m.on_load.as_ref().map(offset),
            m.nifs.iter().map(|n| (n.function, n.arity)).collect::<Vec<_>>(),
            m.md5,
            (m.lines.clone(), m.files.clone(), m.literals.len(), m.literals.words()),
        )
    };
    assert_eq!(parts(made), parts(kept));
}

/// Runs a test in a process of its own, where no other test makes modules.
fn alone(test: &str, step: &str, entries: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.arg("--exact").arg(format!("code_cache::tests::{test}"));
    let out = child.env(STEP, step).env(ENTRIES, entries).output().unwrap();
    assert!(out.status.success(), "{step}: {}", String::from_utf8_lossy(&out.stdout));
}

#[test]
fn entries_become_the_code_that_this_vm_makes() {
    let entries = std::env::var_os(ENTRIES).map(PathBuf::from);
    match (std::env::var(STEP).as_deref(), entries) {
        (Ok("write"), Some(entries)) => write_entries(&entries),
        (Ok("compare"), Some(entries)) => compare_all(&entries),
        _ => {
            let entries = std::env::temp_dir().join(format!("kvik-entries-{}", std::process::id()));
            for step in ["write", "compare"] {
                alone("entries_become_the_code_that_this_vm_makes", step, &entries);
            }
            std::fs::remove_file(&entries).unwrap();
        }
    }
}

fn compare_all(entries: &Path) {
    let files = files();
    name_atoms_backwards(&files);
    let memory = set_up();
    let entries = read_entries(&std::fs::read(entries).unwrap());
    assert!(entries.len() >= files.len() * 9 / 10, "{} of {}", entries.len(), files.len());
    let mut compared = 0;
    for file in files {
        let file = std::fs::read(file).unwrap();
        let key = code_key(&file).unwrap();
        memory.known.lock().unwrap().clear();
        let made = crate::prepare(&file).unwrap();
        let Some(own) = memory.added.lock().unwrap().remove(&key) else { continue };
        memory.known.lock().unwrap().insert(key, entries[&key].clone());
        let kept = crate::prepare(&file).unwrap();
        // The same entry comes of the same file, unless keys of maps are in another order here.
        if memory.added.lock().unwrap().is_empty() {
            assert!(own == entries[&key], "{:?}", made.name);
            compare(&made, &kept, &own);
            compared += 1;
        }
        memory.added.lock().unwrap().clear();
    }
    // Of the others, keys of maps are in another order here.
    assert!(compared >= entries.len() * 8 / 10, "{compared} of {}", entries.len());
}

#[test]
fn a_cut_or_changed_entry_does_no_harm_to_the_loader() {
    match std::env::var(STEP).as_deref() {
        Ok(_) => spoil(),
        Err(_) => {
            alone("a_cut_or_changed_entry_does_no_harm_to_the_loader", "spoil", Path::new(""))
        }
    }
}

/// Whoever provides entries vouches for them; still none of them leads the loader out of bounds.
fn spoil() {
    let Some(file) = files().into_iter().find(|f| f.ends_with("lists.beam")) else { return };
    let memory = set_up();
    let file = std::fs::read(file).unwrap();
    let key = code_key(&file).unwrap();
    crate::prepare(&file).unwrap();
    let entry = memory.added.lock().unwrap()[&key].clone();
    for n in (0..entry.len()).step_by(499) {
        let mut changed = entry.clone();
        changed[n] ^= 0x55;
        for entry in [entry[..n].to_vec(), changed] {
            memory.known.lock().unwrap().insert(key, entry);
            assert!(crate::prepare(&file).is_ok());
        }
    }
}
