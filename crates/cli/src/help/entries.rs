//! Reads help texts: what follows a usage line is a list of entries, each a head that begins in the
//! third column and a text after two blanks, which may go on in further lines.

/// An option or a command of a help text.
#[derive(Debug, PartialEq)]
pub struct HelpEntry {
    pub head: String,
    pub text: String,
}

/// What a word of a command line names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    Folder,
    File,
    Command,
    Shell,
    /// An OTP release.
    Release,
    Other,
}

impl HelpEntry {
    /// An option's name and the name of its value.
    pub fn option(&self) -> Option<(&str, Option<&str>)> {
        let mut words = self.head.split(' ');
        let name = words.next().filter(|w| w.len() > 2 && w.starts_with(['-', '+']))?;
        Some((name, words.next()))
    }
}

pub fn entries(text: &str) -> Vec<HelpEntry> {
    let mut found: Vec<HelpEntry> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let begins = line.starts_with("  ") && !line.starts_with("   ");
        match (begins.then(|| line[2..].split_once("  ")).flatten(), found.last_mut()) {
            (Some((head, text)), _) => {
                found.push(HelpEntry { head: head.to_owned(), text: text.trim().to_owned() });
                open = true;
            }
            (None, Some(last)) if open && line.starts_with("   ") => {
                last.text.push(' ');
                last.text.push_str(line.trim());
            }
            _ => open = false,
        }
    }
    found
}

/// What a command takes: the first word in capitals of its usage line.
pub fn operand(usage: &str) -> Option<Operand> {
    let line = usage.lines().next()?;
    let name = |word: &str| word.trim_matches(['[', ']', '.']).to_owned();
    let is_name = |word: &String| word.starts_with(|c: char| c.is_ascii_uppercase());
    line.split_whitespace().skip(3).map(name).find(is_name).map(|word| kind(&word))
}

/// What the name of a value or an operand stands for.
pub fn kind(name: &str) -> Operand {
    match name {
        "DIR" => Operand::Folder,
        "PATH" | "OLD" | "NEW" | "FILE" | "FILE.erl" | "TARGET" => Operand::File,
        "COMMAND" => Operand::Command,
        "SHELL" => Operand::Shell,
        "RELEASE" => Operand::Release,
        _ => Operand::Other,
    }
}

/// The commands that a help text lists, each with its line: `kvik NAME ARGS  text`.
pub fn commands(text: &str) -> Vec<(String, HelpEntry)> {
    let name = |entry: &HelpEntry| {
        let name = entry.head.strip_prefix("kvik ")?.split(' ').next()?;
        name.starts_with(|c: char| c.is_ascii_lowercase()).then(|| name.to_owned())
    };
    entries(text).into_iter().filter_map(|entry| Some((name(&entry)?, entry))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
usage: kvik x [DIR] [options]

  --out DIR      where it goes
  -- PROGRAM...  starts it
  --quick        fewer
                 (all: none)
Words that are no entry.
   nor these

  kvik x [DIR]   does it
  kvik --version  says it";

    #[test]
    fn reads_options_and_commands() {
        let entries = entries(TEXT);
        let options: Vec<_> = entries.iter().filter_map(HelpEntry::option).collect();
        assert_eq!(options, [("--out", Some("DIR")), ("--quick", None)]);
        assert_eq!(entries[2].text, "fewer (all: none)");
        let commands = commands(TEXT);
        assert_eq!((commands.len(), commands[0].1.text.as_str()), (1, "does it"));
        assert_eq!(operand(TEXT), Some(Operand::Folder));
        assert_eq!(operand("usage: kvik run FILE.erl [ARGS]"), Some(Operand::File));
    }
}
