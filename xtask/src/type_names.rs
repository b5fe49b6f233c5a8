//! One word, one meaning: a public type has a name that no other crate gives to one of its own.
//!
//! An alias that gives another crate's type its parameters, `pub type Task = kvik_sync::Task<…>`, is
//! the same type. Types that are not public outside their crate may be called what they like.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Stand-ins for another crate's type, which must have its name: crate and type.
const STAND_INS: &[(&str, &str)] = &[("env", "Poller")];
const KINDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// For each name, the crates that define a public type of that name.
pub type Names = BTreeMap<String, Vec<String>>;

/// Notes the public types of a crate.
pub fn collect(src: &Path, name: &str, to: &mut Names) {
    for path in fs::read_dir(src).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, name, to);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            for defined in public_types(&text).filter(|t| !STAND_INS.contains(&(name, *t))) {
                let crates = to.entry(defined.to_string()).or_default();
                if crates.last().is_none_or(|last| last != name) {
                    crates.push(name.to_string());
                }
            }
        }
    }
}

/// A line for each name that two crates define.
pub fn faults(names: &Names) -> impl Iterator<Item = String> + '_ {
    let twice = names.iter().filter(|(_, crates)| crates.len() > 1);
    twice.map(|(name, crates)| format!("type `{name}` is public in {}", crates.join(", ")))
}

/// The names of the public types that a file defines outside its tests.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter_map(|line| public_type(line.trim_start()))
}

fn public_type(line: &str) -> Option<&str> {
    let item = line.strip_prefix("pub ")?;
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let (kind, rest) = item.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    // A macro's `$name` is none.
    (KINDS.contains(&kind) && !name.is_empty() && !renames(rest, name)).then_some(name)
}

/// Whether what follows an alias's name is a path to a type of that name.
fn renames(rest: &str, name: &str) -> bool {
    let path = rest.split_once("= ").map_or("", |(_, target)| target);
    let path = path.split(['<', ';']).next().unwrap_or_default();
    path.rsplit_once("::").is_some_and(|(_, last)| last == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_public_types_and_no_others() {
        let text = "pub struct A<T>(T);\npub(crate) struct B;\nenum C {}\n    pub enum D {\n\
                    pub unsafe trait E {}\npub type F = u32;\npub fn g() {}\npub use x::H;\npub struct $n;\n\
                    pub type I = kvik_x::y::I<u8>;\npub type J = kvik_x::K;\n// pub struct L;\n\
                    #[cfg(test)]\npub struct M;\n";
        assert_eq!(public_types(text).collect::<Vec<_>>(), ["A", "D", "E", "F", "J"]);
    }

    #[test]
    fn refuses_a_name_that_two_crates_define() {
        let crates = |all: &[&str]| all.iter().map(|c| c.to_string()).collect::<Vec<_>>();
        let names = Names::from([
            ("Place".to_string(), crates(&["code", "ets"])),
            ("Term".to_string(), crates(&["term"])),
        ]);
        assert_eq!(faults(&names).collect::<Vec<_>>(), ["type `Place` is public in code, ets"]);
    }
}
