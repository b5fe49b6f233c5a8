//! Configuration of rebar3's releases: `sys.config` and `vm.args` are made of `sys.config.src` and
//! `vm.args.src`, or of themselves if `RELX_REPLACE_OS_VARS` says so, by putting in the values of
//! environment variables: `${NAME}`, and `${NAME:-DEFAULT}`.

use std::path::Path;

use kvik_image::{EntryKind, Image, ImageFile, Node};

/// Puts the files made of templates into the tree.
pub fn fill(image: &mut Image<'static>, executable: &Path) {
    let always = std::env::var("RELX_REPLACE_OS_VARS").is_ok_and(|v| v == "true");
    let names = image.note("template").unwrap_or_default();
    for name in names.split_terminator('\0') {
        let path = name.replace("{root}", "root");
        let source = match image.find(&format!("{path}.src")) {
            Node::File(_, source) => source,
            _ => match image.find(&path) {
                Node::File(_, source) if always => source,
                _ => continue,
            },
        };
        let word = |note: &str| image.note(note).map(|w| w.trim_end_matches('\0').to_owned());
        let variable = |name: &str| match (std::env::var(name), name) {
            (Ok(value), _) => Some(value),
            (Err(_), "RELEASE_NAME" | "REL_NAME") => word("name"),
            (Err(_), "RELEASE_VSN" | "REL_VSN") => word("version"),
            (Err(_), "RELEASE_ROOT_DIR") => Some(format!("{}/root", executable.display())),
            (Err(_), _) => None,
        };
        let made = replaced(&String::from_utf8_lossy(source.bytes), &variable);
        // Read until the program ends.
        let (path, bytes) = (path.leak(), made.into_bytes().leak());
        image.put(ImageFile { path, kind: EntryKind::File, bytes });
    }
}

fn replaced(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, after)) = behind.split_once('}') else {
            out.push_str("${");
            rest = behind;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, default),
            None => (inside, ""),
        };
        let value = variable(name).filter(|v| !v.is_empty());
        out.push_str(&value.unwrap_or_else(|| default.into()));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_variables_in() {
        let variable = |n: &str| (n == "A").then(|| "1".to_string());
        let of = |text| replaced(text, &variable);
        assert_eq!(of("x ${A}.y"), "x 1.y");
        assert_eq!(of("${B}|${B:-two}|${A:-two}"), "|two|1");
        assert_eq!(of("${A"), "${A");
    }
}
