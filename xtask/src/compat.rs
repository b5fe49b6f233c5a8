//! The list of natives that kvik lacks, in docs/COMPATIBILITY.md and for `kvik doctor`: what OTP's libraries expect
//! (tests/otp/imports.tsv) without what the tables of BIFs hold, and who uses it (users.tsv).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use kvik_release::{Release, RELEASES};

const FILE: &str = "docs/COMPATIBILITY.md";
/// What `kvik doctor` knows of them: a line for each function that is missing in some release.
const LINES: &str = "crates/cli/src/doctor/missing.txt";
const BEGIN: &str = "<!-- natives:begin -->\n";
const END: &str = "<!-- natives:end -->";

/// A function that OTP's libraries expect from the machine.
struct Native {
    module: String,
    name: String,
    arity: u8,
    kind: String,
}

impl Native {
    fn key(&self) -> (&str, &str, u8) {
        (&self.module, &self.name, self.arity)
    }
    /// It belongs to the emulator and is no function of a library.
    fn is_part(&self) -> bool {
        matches!(&*self.kind, "bif" | "guard_bif" | "nif")
    }
}

/// Writes the section anew.
pub fn write(root: &Path) -> Result<(), String> {
    let new = with_section(root)?.1;
    fs::write(root.join(FILE), new).map_err(|e| format!("{FILE}: {e}"))?;
    fs::write(root.join(LINES), lines(root)?).map_err(|e| format!("{LINES}: {e}"))
}

/// Is the section as it would be written?
pub fn check(root: &Path) -> Result<(), String> {
    let (old, new) = with_section(root)?;
    let files = [(FILE, old == new), (LINES, read(root, LINES)? == lines(root)?)];
    match files.iter().find(|(_, current)| !current) {
        Some((file, _)) => Err(format!("{file} is out of date: cargo xtask compat")),
        None => Ok(()),
    }
}

/// The file as it is and as it should be.
fn with_section(root: &Path) -> Result<(String, String), String> {
    let old = read(root, FILE)?;
    let lacks = || format!("{FILE}: lacks the markers of the natives");
    let (head, rest) = old.split_once(BEGIN).ok_or_else(lacks)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lacks)?;
    let section = sections(root)?;
    let new = [head, BEGIN, &section, END, tail].concat();
    Ok((old, new))
}

fn read(root: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"))
}

/// Each release with the natives that its libraries expect, of those whose files were read for what
/// they import.
fn expected(root: &Path) -> Result<Vec<(&'static Release, Vec<Native>)>, String> {
    let mut all = vec![(&RELEASES[0], natives(root, "tests/otp/imports.tsv")?)];
    for release in &RELEASES[1..] {
        let list = format!("tests/otp/imports{}.tsv", release.name);
        if root.join(&list).exists() {
            all.push((release, natives(root, &list)?));
        }
    }
    Ok(all)
}

fn lines(root: &Path) -> Result<String, String> {
    let mut missing = BTreeSet::new();
    for (release, all) in expected(root)? {
        let have = bound(release);
        let lacking = all.iter().filter(|n| n.is_part() && !have.contains(&n.key()));
        missing.extend(lacking.map(|n| format!("{}:{}/{}\n", n.module, n.name, n.arity)));
    }
    Ok(missing.into_iter().collect())
}

/// The oldest release in full, then what each later one has besides.
fn sections(root: &Path) -> Result<String, String> {
    let users = users(root)?;
    let all = expected(root)?;
    let mut out = String::new();
    for (i, (release, natives)) in all.iter().enumerate() {
        out += &match i.checked_sub(1) {
            None => section(release, natives, &users),
            Some(before) => later_section(release, natives, &all[before].1),
        };
    }
    Ok(out)
}

/// What a later release expects and kvik lacks, without what is missing in the release before.
fn later_section(release: &Release, all: &[Native], before: &[Native]) -> String {
    let known: HashSet<_> = before.iter().map(Native::key).collect();
    let have = bound(release);
    let new = || all.iter().filter(|n| n.is_part()).filter(|n| !known.contains(&n.key()));
    let missing: Vec<String> = new()
        .filter(|n| !have.contains(&n.key()))
        .map(|n| format!("`{}:{}/{}`", n.module, n.name, n.arity))
        .collect();
    let said = match missing.len() {
        0 => "none of them is missing here".into(),
        n => format!("{n} of them are missing here: {}", missing.join(", ")),
    };
    format!(
        "\n### {release}\n{} BIFs and NIFs are there that the release above does not have; {said}.\n",
        new().count()
    )
}

fn natives(root: &Path, file: &str) -> Result<Vec<Native>, String> {
    let text = read(root, file)?;
    let line = |l: &str| {
        let mut fields = l.split('\t').map(str::to_string);
        Some(Native {
            module: fields.next()?,
            name: fields.next()?,
            arity: fields.next()?.parse().ok()?,
            kind: fields.next()?,
        })
    };
    Ok(text.lines().skip(1).filter_map(line).collect())
}

/// Applications by `module:function/arity`, or by module for NIFs.
fn users(root: &Path) -> Result<HashMap<String, String>, String> {
    let text = read(root, "tests/otp/users.tsv")?;
    let line = |l: &str| match l.split('\t').collect::<Vec<_>>()[..] {
        [m, "*", "0", apps] => Some((m.to_string(), apps.to_string())),
        [m, f, a, apps] => Some((format!("{m}:{f}/{a}"), apps.to_string())),
        _ => None,
    };
    Ok(text.lines().filter_map(line).collect())
}

/// What the tables hold for a release.
fn bound(release: &Release) -> HashSet<(&'static str, &'static str, u8)> {
    let all = kvik_bifs::all().into_iter().chain([kvik_dist::BIFS, kvik_socket::BIFS]).flatten();
    all.filter(|b| b.releases.has(release)).map(|b| (b.module, b.name, b.arity)).collect()
}

fn section(release: &Release, all: &[Native], users: &HashMap<String, String>) -> String {
    let have = bound(release);
    let is_there = |n: &&Native| have.contains(&n.key());
    let counts = |kinds: &[&str]| {
        let of_kind = || all.iter().filter(|n| kinds.contains(&&*n.kind));
        (of_kind().filter(is_there).count(), of_kind().count())
    };
    let (bifs, all_bifs) = counts(&["bif", "guard_bif"]);
    let (nifs, all_nifs) = counts(&["nif"]);
    let mut out = format!(
        "Of the {all_bifs} BIFs that {release} has, {bifs} are there; of the {all_nifs} NIFs that are \
         part of its emulator, {nifs}. These are missing; calling one raises `undef`.\n\n\
         | missing | used by |\n|---|---|\n"
    );
    for n in all.iter().filter(|n| n.kind.ends_with("bif")).filter(|n| !is_there(n)) {
        let name = format!("{}:{}/{}", n.module, n.name, n.arity);
        let by = users.get(&name).map_or("-", |u| u);
        out += &format!("| `{name}` | {by} |\n");
    }
    for (module, (there, names)) in nif_modules(all, &is_there) {
        let by = users.get(module).map_or("-", |u| u);
        let what = match there {
            0 => format!("all {} NIFs", names.len()),
            _ => names.join(", "),
        };
        out += &format!("| `{module}`: {what} | {by} |\n");
    }
    out
}

/// Modules with NIFs that are missing: how many are there, and the missing ones' names.
fn nif_modules<'a>(
    all: &'a [Native],
    is_there: &impl Fn(&&Native) -> bool,
) -> BTreeMap<&'a str, (usize, Vec<String>)> {
    let mut modules: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for n in all.iter().filter(|n| n.kind == "nif") {
        let (there, missing) = modules.entry(&n.module).or_default();
        if is_there(&n) {
            *there += 1;
        } else {
            missing.push(format!("`{}/{}`", n.name, n.arity));
        }
    }
    modules.retain(|_, (_, missing)| !missing.is_empty());
    modules
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_of_natives_is_up_to_date() {
        super::check(&crate::tidy::root()).unwrap();
    }
}
