//! The list of natives that kvik lacks, in docs/COMPATIBILITY.md: what OTP's libraries expect
//! (tests/otp/imports.tsv) without what the tables of BIFs hold, and who uses it (users.tsv).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

const FILE: &str = "docs/COMPATIBILITY.md";
const BEGIN: &str = "<!-- natives:begin -->\n";
const END: &str = "<!-- natives:end -->";

/// A function that OTP's libraries expect from the machine.
struct Native {
    module: String,
    name: String,
    arity: u8,
    kind: String,
}

/// Writes the section anew.
pub fn write(root: &Path) -> Result<(), String> {
    let new = with_section(root)?.1;
    fs::write(root.join(FILE), new).map_err(|e| format!("{FILE}: {e}"))
}

/// Is the section as it would be written?
pub fn check(root: &Path) -> Result<(), String> {
    let (old, new) = with_section(root)?;
    if old == new {
        Ok(())
    } else {
        Err(format!("{FILE} is out of date: cargo xtask compat"))
    }
}

/// The file as it is and as it should be.
fn with_section(root: &Path) -> Result<(String, String), String> {
    let old = read(root, FILE)?;
    let lacks = || format!("{FILE}: lacks the markers of the natives");
    let (head, rest) = old.split_once(BEGIN).ok_or_else(lacks)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lacks)?;
    let section = section(&natives(root)?, &users(root)?);
    let new = [head, BEGIN, &section, END, tail].concat();
    Ok((old, new))
}

fn read(root: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"))
}

fn natives(root: &Path) -> Result<Vec<Native>, String> {
    let text = read(root, "tests/otp/imports.tsv")?;
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

fn section(all: &[Native], users: &HashMap<String, String>) -> String {
    let have: HashSet<(&str, &str, u8)> = kvik_bifs::all()
        .into_iter()
        .chain([kvik_dist::BIFS, kvik_socket::BIFS])
        .flatten()
        .map(|b| (b.module, b.name, b.arity))
        .collect();
    let is_there = |n: &&Native| have.contains(&(&*n.module, &*n.name, n.arity));
    let counts = |kinds: &[&str]| {
        let of_kind = || all.iter().filter(|n| kinds.contains(&&*n.kind));
        (of_kind().filter(is_there).count(), of_kind().count())
    };
    let (bifs, all_bifs) = counts(&["bif", "guard_bif"]);
    let (nifs, all_nifs) = counts(&["nif"]);
    let mut out = format!(
        "Of the {all_bifs} BIFs that OTP 25 has, {bifs} are there; of the {all_nifs} NIFs that are \
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
