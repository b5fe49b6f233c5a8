//! `kvik help --man`: the manual page, from the help texts.

use std::fmt::Write;

use super::entries::entries;
use super::{text, COMMANDS, HELP};

/// Besides the help texts: what a manual page is expected to say.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("KVIK_OTP_ROOT", "Where OTP is: as --root."),
    ("KVIK_OTP", "Which release of OTP to look for: as --otp."),
    ("ROOTDIR", "Where OTP is if nothing else says so."),
    (
        "KVIK_CODE_CACHE",
        "Where native code is kept from one start to the next, if not in ~/.cache/kvik; off: nowhere.",
    ),
    ("ERL_FLAGS, ERL_AFLAGS, ERL_ZFLAGS", "Further arguments, as for erl."),
];

/// A text for troff: no control lines, no escapes, hyphens that can be searched for.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        if line.starts_with(['.', '\'']) {
            out.push_str("\\&");
        }
        for c in line.chars() {
            match c {
                '\\' => out.push_str("\\e"),
                '-' => out.push_str("\\-"),
                '\'' => out.push_str("\\(aq"),
                '`' => out.push_str("\\(ga"),
                '^' => out.push_str("\\(ha"),
                '~' => out.push_str("\\(ti"),
                c if c.is_ascii() => out.push(c),
                c => {
                    let _ = write!(out, "\\[u{:04X}]", u32::from(c));
                }
            }
        }
    }
    out
}

/// A list of what is explained.
fn list<'a>(page: &mut String, items: impl Iterator<Item = (&'a str, &'a str)>) {
    for (head, text) in items {
        let _ = writeln!(page, ".TP\n.B {}\n{}", escaped(head), escaped(text));
    }
}

pub fn page() -> String {
    let (title, _) = HELP.split_once("\n\n").unwrap_or((HELP, ""));
    let title = title.replace('\n', " ");
    let title = title.strip_prefix("kvik: ").unwrap_or(&title);
    let (name, about) = title.split_once(". ").unwrap_or((title, ""));
    let mut page = format!(".TH KVIK 1 \"\" \"kvik {}\"\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(page, ".SH NAME\nkvik \\- {}", escaped(name));
    let listed = entries(HELP);
    page.push_str(".SH SYNOPSIS\n.nf\n");
    let is_command = |head: &str| head == "kvik" || head.starts_with("kvik ");
    for entry in listed.iter().filter(|entry| is_command(&entry.head)) {
        let _ = writeln!(page, ".B {}", escaped(&entry.head));
    }
    let _ = writeln!(page, ".fi\n.SH DESCRIPTION\n{}", escaped(about));
    page.push_str(".SH COMMANDS\n");
    let heads = listed.iter().filter(|entry| is_command(&entry.head));
    list(&mut page, heads.map(|entry| (entry.head.as_str(), entry.text.as_str())));
    page.push_str(".SH OPTIONS\nBesides those of\n.BR erl (1):\n");
    let options = listed.iter().filter(|entry| entry.option().is_some());
    list(&mut page, options.map(|entry| (entry.head.as_str(), entry.text.as_str())));
    page.push_str(".SH ENVIRONMENT\n");
    list(&mut page, ENVIRONMENT.iter().copied());
    page.push_str(".SH EACH COMMAND\n");
    for (command, _) in COMMANDS {
        if let Some(text) = text(command) {
            let _ = writeln!(page, ".SS kvik {command}\n.nf\n{}\n.fi", escaped(text));
        }
    }
    let front_ends = COMMANDS.iter().filter(|(name, _)| text(name).is_none());
    let names: Vec<&str> = front_ends.map(|(name, _)| *name).collect();
    let _ = writeln!(page, ".SS kvik {}", names.join(", kvik "));
    page.push_str("The options of OTP's programs of these names.\n");
    if let Some((_, example)) = HELP.split_once("\nExample: ") {
        let _ = writeln!(page, ".SH EXAMPLE\n.nf\n{}\n.fi", escaped(example));
    }
    page.push_str(".SH SEE ALSO\n.BR erl (1),\n.BR erlc (1),\n.BR escript (1)\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::entries::commands;

    #[test]
    fn says_every_help_text() {
        let page = page();
        for (name, _) in COMMANDS {
            assert!(page.contains(&format!("kvik {name}")), "{name}");
            if let Some(text) = text(name) {
                assert!(page.contains(&escaped(text)), "{name}");
            }
        }
        for (name, entry) in commands(HELP) {
            assert!(page.contains(&escaped(&entry.text)), "{name}");
        }
        assert!(page.is_ascii());
    }

    #[test]
    fn lines_are_no_requests_of_troff() {
        assert_eq!(escaped(".x -y \\ 'z'\n'a"), "\\&.x \\-y \\e \\(aqz\\(aq\n\\&\\(aqa");
    }
}
