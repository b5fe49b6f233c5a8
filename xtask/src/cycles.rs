//! Modules that use each other: how many of a crate's modules may hang together in one cycle.
//!
//! A module uses another where its code names it by a path that begins with `crate`, `self` or
//! `super`. A module and those in its own folder are not held against each other: `super::Item` is
//! no edge. Nor is what tests use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The most modules of which each reaches each other.
const MODULES: usize = 4;

/// What modules use, by name: those of `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The breaches in a crate, a line each.
pub fn check(dir: &Path, name: &str, out: &mut Vec<String>) {
    let components = components(&graph(&sources(&dir.join("src"))));
    out.extend(faults(name, &components));
}

fn faults(name: &str, components: &[Vec<String>]) -> Vec<String> {
    let too_large = components.iter().filter(|c| c.len() > MODULES);
    too_large
        .map(|c| {
            let (n, all) = (c.len(), c.join(", "));
            format!("crates/{name}: a cycle of {n} modules, more than {MODULES}: {all}")
        })
        .collect()
}

/// The text of each module of a crate, tests left out.
fn sources(src: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![(src.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()) {
            let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
            let name = match (stem, prefix.is_empty()) {
                ("mod", _) | ("lib" | "main", true) => prefix.clone(),
                (_, true) => stem.to_string(),
                _ => format!("{prefix}::{stem}"),
            };
            if path.is_dir() {
                folders.push((path, name));
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.insert(name, fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    out
}

fn graph(sources: &BTreeMap<String, String>) -> Graph {
    let code: BTreeMap<&str, Vec<&str>> =
        sources.iter().map(|(name, text)| (name.as_str(), without_tests(tokens(text)))).collect();
    let mut graph = Graph::new();
    for (name, tokens) in &code {
        let own: Vec<&str> = name.split("::").filter(|s| !s.is_empty()).collect();
        let paths = paths(tokens, &own);
        let used = paths.iter().filter_map(|p| module_of(p, &code));
        let used = used.filter(|u| u != name && !name.starts_with(&format!("{u}::")));
        graph.insert(name.to_string(), used.map(str::to_string).collect());
    }
    for tests in code.keys().flat_map(|name| test_modules(name, &sources[*name])) {
        graph.remove(&tests);
    }
    graph
}

/// The module with the longest name that a path begins with; none for the crate's root.
fn module_of<'a>(path: &[&str], all: &BTreeMap<&'a str, Vec<&str>>) -> Option<&'a str> {
    let prefixes = (1..=path.len()).rev().map(|n| path[..n].join("::"));
    prefixes.filter_map(|p| all.get_key_value(p.as_str()).map(|(name, _)| *name)).next()
}

/// The modules of files that are compiled for tests only.
fn test_modules(parent: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let declared = (0..tokens.len()).filter_map(|i| {
        let n = test_attribute(&tokens[i..])?;
        match tokens[i + n..] {
            ["mod", name, ";", ..] => Some(name),
            _ => None,
        }
    });
    let full = |name: &str| match parent {
        "" => name.to_string(),
        _ => format!("{parent}::{name}"),
    };
    declared.map(full).collect()
}

/// Mutually reachable modules, sorted, where they are two or more.
fn components(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (name.as_str(), reachable(graph, name))).collect();
    let mut out = BTreeSet::new();
    for (name, from) in &reach {
        let mutual = from.iter().filter(|to| reach[**to].contains(name));
        let component: Vec<String> = mutual.map(|m| m.to_string()).collect();
        if component.len() > 1 {
            out.insert(component);
        }
    }
    out.into_iter().collect()
}

fn reachable<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(name) = left.pop() {
        for (to, _) in graph[name].iter().filter_map(|to| graph.get_key_value(to)) {
            if seen.insert(to.as_str()) {
                left.push(to);
            }
        }
    }
    seen
}

/// The length of an attribute before what is compiled for tests only: `#[cfg(test)]`, or with other
/// conditions `#[cfg(all(test, …))]`.
fn test_attribute(tokens: &[&str]) -> Option<usize> {
    let alone = ["#", "[", "cfg", "(", "test", ")"];
    let among = ["#", "[", "cfg", "(", "all", "(", "test"];
    let is = tokens.starts_with(&alone) || tokens.starts_with(&among);
    tokens.iter().position(|t| is && *t == "]").map(|end| end + 1)
}

/// Leaves out each item for tests: up to its closing brace, or to a semicolon before any.
fn without_tests(tokens: Vec<&str>) -> Vec<&str> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let Some(attribute) = test_attribute(&tokens[i..]) else {
            out.push(tokens[i]);
            i += 1;
            continue;
        };
        i += attribute;
        let mut depth = 0;
        for token in &tokens[i..] {
            i += 1;
            match *token {
                "{" => depth += 1,
                "}" if depth == 1 => break,
                "}" => depth -= 1,
                ";" if depth == 0 => break,
                _ => {}
            }
        }
    }
    out
}

/// The paths from the crate's root that the code of module `own` names.
fn paths<'a>(tokens: &[&'a str], own: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut out = Vec::new();
    for (i, head) in tokens.iter().enumerate() {
        // A path that goes on from another one is part of that.
        let within = i > 0 && tokens[i - 1] == "::";
        let rest = &tokens[i + 1..];
        if within || rest.first() != Some(&"::") {
            continue;
        }
        let base = match *head {
            "crate" => Vec::new(),
            "self" => own.to_vec(),
            "super" => parent(own),
            _ => continue,
        };
        tree(&rest[1..], base, &mut out);
    }
    out
}

fn parent<'a>(path: &[&'a str]) -> Vec<&'a str> {
    path.split_last().map_or(Vec::new(), |(_, p)| p.to_vec())
}

/// The paths that begin with `base` and go on with a name, or with a group of such in braces.
fn tree<'a>(tokens: &[&'a str], base: Vec<&'a str>, out: &mut Vec<Vec<&'a str>>) {
    let mut groups = Vec::new();
    let mut path = base;
    for pair in tokens.iter().zip(tokens.iter().skip(1).chain([&""])) {
        match pair {
            (&"{", _) => {
                groups.push(path.clone());
                continue;
            }
            (&",", _) => path = groups.last().cloned().unwrap_or_default(),
            (&"}", _) => {
                groups.pop();
            }
            (&"::", _) => {}
            (&"self", _) => out.push(path.clone()),
            (&"super", _) => path = parent(&path),
            (&name, &"::") => path.push(name),
            (&name, _) => {
                out.push([&path[..], &[name]].concat());
            }
        }
        if groups.is_empty() && pair.1 != &"::" && pair.0 != &"::" {
            return;
        }
    }
}

/// Names, numbers, `::` and single signs, without comments, strings and characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let n = blank(rest).unwrap_or(0);
        if n > 0 {
            rest = &rest[n..];
            continue;
        }
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let n = match word {
            0 if rest.starts_with("::") => 2,
            0 => c.len_utf8(),
            n => n,
        };
        out.push(&rest[..n]);
        rest = &rest[n..];
    }
    out
}

/// The length of what says nothing about modules, where the text begins with such.
fn blank(text: &str) -> Option<usize> {
    let spaces = text.len() - text.trim_start().len();
    if spaces > 0 {
        return Some(spaces);
    }
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    let prefix = text.len() - text.trim_start_matches(['b', 'c']).len();
    let raw = &text[prefix.min(1)..];
    if let Some(hashes) = raw.strip_prefix('r').and_then(|r| r.split_once('"')).map(|(h, _)| h) {
        if hashes.bytes().all(|b| b == b'#') {
            let begin = prefix.min(1) + 2 + hashes.len();
            let end = format!("\"{hashes}");
            return Some(text[begin..].find(&end).map_or(text.len(), |n| begin + n + end.len()));
        }
    }
    if let Some(string) = raw.strip_prefix('"') {
        return Some(prefix.min(1) + 1 + quoted(string, '"'));
    }
    let character = text.strip_prefix('\'')?;
    let escaped = character.starts_with('\\');
    let is_character = escaped || character.chars().nth(1) == Some('\'');
    // Otherwise it is a lifetime, whose name no path begins with.
    is_character.then(|| 1 + quoted(character, '\''))
}

/// The length of a string or character behind its opening quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut i) = (0, 0);
    while let Some(two) = text.as_bytes().get(i..i + 2) {
        match two {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each module uses, of modules given with their texts.
    fn uses(modules: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let sources = modules.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
        let graph = graph(&sources).into_iter();
        graph.map(|(name, used)| (name, used.into_iter().collect())).collect()
    }
    /// What a module `x::y` with that text uses of `a`, `a::b`, `c`, `x` and `x::z`.
    fn used(text: &str) -> String {
        let all = [("", ""), ("a", ""), ("a::b", ""), ("c", ""), ("x", ""), ("x::z", "")];
        let all = [&all[..], &[("x::y", text)]].concat();
        let of = uses(&all).into_iter().find(|(name, _)| name == "x::y");
        of.map(|(_, used)| used.join(" ")).unwrap_or_default()
    }

    #[test]
    fn reads_plain_paths() {
        assert_eq!(used("use crate::c::Item;"), "c");
        assert_eq!(used("use crate::a::b::{self};"), "a::b");
        assert_eq!(used("fn f() { crate::a::f(); super::z::g() }"), "a x::z");
        assert_eq!(used("use super::super::c;"), "c");
        assert_eq!(used("use kvik_code::a::b; use c::d; use std::c;"), "");
    }

    #[test]
    fn reads_groups() {
        assert_eq!(used("use crate::{c, a::b::Item as Other};"), "a::b c");
        assert_eq!(used("use crate::{a::{b::{Deep, Deeper}, Item}, c::*};"), "a a::b c");
        assert_eq!(used("use crate::a::{self, b};\nuse crate::{c::{Item},};"), "a a::b c");
        assert_eq!(used("use super::{z, super::c::Item};"), "c x::z");
        assert_eq!(used("pub(crate) use crate::a::{\n    b::X, // crate::c\n};"), "a::b");
    }

    #[test]
    fn a_path_ends_where_it_ends() {
        assert_eq!(used("fn f() { crate::c::g(a, b); let a = crate::c::N }"), "c");
        assert_eq!(used("fn f() { g(crate::a::N, b) }"), "a");
        assert_eq!(used("fn f() { self.a::<u8>(); self::g() }"), "");
        assert_eq!(used("match n { crate::c::N => { b } }"), "c");
    }

    #[test]
    fn an_own_parent_is_no_edge() {
        assert_eq!(used("use super::Item; use crate::x::Other;"), "");
        assert_eq!(used("use crate::Root;"), "");
    }

    #[test]
    fn comments_strings_and_characters_are_skipped() {
        assert_eq!(used("// crate::c::f\n/// [`crate::a`]\n/* crate::c /* a */ crate::c */"), "");
        assert_eq!(
            used(r##"f("crate::c \" crate::a", r#"" crate::c"#, b"\\"); crate::a::f()"##),
            "a"
        );
        assert_eq!(used("f('\"', '\\'', b'\"'); crate::c::f::<'a>('x')"), "c");
        assert_eq!(used("fn f<'a>(x: &'a str) { crate::a::b::f(x) } // \""), "a::b");
    }

    #[test]
    fn tests_do_not_count() {
        let inline = "#[cfg(test)]\nmod tests { fn f() { {} crate::a::f() } }\nuse crate::c::N;";
        assert_eq!(used(inline), "c");
        assert_eq!(used("#[cfg(test)]\nuse crate::a::N;\nuse crate::c::N;"), "c");
        assert_eq!(used("#[cfg(all(test, unix))] mod t { use crate::a; }"), "");
        assert_eq!(
            used("#[cfg(not(test))] use crate::a; #[cfg(any(test, unix))] use crate::c;"),
            "a c"
        );
        assert_eq!(
            used("#[cfg(test)] #[path = \"x\"] mod t { use crate::a; } use crate::c::N;"),
            "c"
        );
        let of_file =
            [("a", "#[cfg(test)]\nmod tests;\n"), ("a::tests", "use crate::c;"), ("c", "")];
        assert_eq!(uses(&of_file), [("a".to_string(), vec![]), ("c".to_string(), vec![])]);
    }

    #[test]
    fn finds_components() {
        let text = |to: &str| format!("use crate::{{{to}}};");
        let edges = [("a", "b"), ("b", "c, d"), ("c", "a"), ("d", "e"), ("e", "d"), ("f", "a")];
        let sources = edges.iter().map(|(n, to)| (n.to_string(), text(to))).collect();
        assert_eq!(components(&graph(&sources)), [vec!["a", "b", "c"], vec!["d", "e"]]);
    }

    #[test]
    fn no_more_than_four_modules_hang_together() {
        let five = [["a", "b", "c", "d", "e"].map(String::from).to_vec()];
        assert_eq!(faults("x", &five).len(), 1);
        assert_eq!(faults("x", &[five[0][1..].to_vec()]), Vec::<String>::new());
    }
}
