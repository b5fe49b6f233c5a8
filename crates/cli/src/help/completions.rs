//! `kvik help --completions SHELL`: what bash, zsh and fish complete, from the help texts.

use std::fmt::Write;

use super::entries::{commands, entries, kind, operand, HelpEntry, Operand};
use super::{text, COMMANDS, HELP};

pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// A command as a shell knows it; the one without a name is `kvik` before a command.
struct Completed {
    name: &'static str,
    summary: String,
    options: Vec<CompletedOption>,
    operand: Operand,
}

struct CompletedOption {
    name: String,
    /// What is behind it: the name in the help text, and what that stands for.
    value: Option<(String, Operand)>,
    text: String,
}

/// The script for a shell.
pub fn script(shell: &str) -> Option<String> {
    let known = known();
    match shell {
        "bash" => Some(bash(&known)),
        "zsh" => Some(zsh(&known)),
        "fish" => Some(fish(&known)),
        _ => None,
    }
}

fn known() -> Vec<Completed> {
    let listed = commands(HELP);
    let mut known = vec![Completed {
        name: "",
        summary: String::new(),
        options: options(HELP),
        operand: Operand::Command,
    }];
    for (name, _) in COMMANDS {
        let line = listed.iter().find(|(listed, _)| listed == name);
        let usage = text(name);
        known.push(Completed {
            name,
            summary: line.map_or_else(|| format!("OTP's {name}"), |(_, entry)| entry.text.clone()),
            options: usage.map(options).unwrap_or_default(),
            // OTP's programs mostly take files.
            operand: usage.map_or(Some(Operand::File), operand).unwrap_or(Operand::Other),
        });
    }
    known
}

fn options(text: &str) -> Vec<CompletedOption> {
    let version =
        |entry: &HelpEntry| entry.head.strip_prefix("kvik --").map(|name| format!("--{name}"));
    let option = |entry: HelpEntry| {
        let (name, value) = match version(&entry) {
            Some(name) => (name, None),
            None => entry.option().map(|(name, value)| (name.to_owned(), value))?,
        };
        let value = value.map(|value| (value.to_owned(), kind(value)));
        Some(CompletedOption { name, value, text: entry.text })
    };
    entries(text).into_iter().filter_map(option).collect()
}

/// What there is of something that can be listed.
fn choices(operand: Operand) -> Option<String> {
    let names: Vec<&str> = match operand {
        Operand::Command => COMMANDS.iter().map(|(name, _)| *name).collect(),
        Operand::Shell => SHELLS.to_vec(),
        Operand::Release => kvik_release::RELEASES.iter().map(|r| r.name).collect(),
        Operand::Folder | Operand::File | Operand::Other => return None,
    };
    Some(names.join(" "))
}

/// Ends a sentence early: a line of a menu has no room for all of it.
fn brief(text: &str) -> &str {
    let text = text.trim_start_matches(['.', ' ']);
    ["; ", ". ", " ("].iter().fold(text, |text, end| text.split(end).next().unwrap_or(text))
}

const BASH: &str = r#"# Completions of kvik for bash, written by `kvik help --completions bash`.
_kvik() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' words='' files='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      @SELECTORS@) i=$((i + 1)) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
@COMMANDS@    *) files=-f ;;
  esac
  case "$command $prev" in
@VALUES@  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; [ -z "$files" ] || compgen "$files" -- "$cur")
  [ -z "$files" ] || compopt -o filenames
}
complete -F _kvik kvik
"#;

fn bash(known: &[Completed]) -> String {
    let flag = |operand| match operand {
        Operand::Folder => "-d",
        Operand::File => "-f",
        _ => "",
    };
    let (mut arms, mut values) = (String::new(), String::new());
    for command in known {
        let names = command.options.iter().map(|option| option.name.clone());
        let words: Vec<String> = choices(command.operand).into_iter().chain(names).collect();
        let (name, files) = (command.name, flag(command.operand));
        let _ = writeln!(arms, "    '{name}') words='{}' files={files} ;;", words.join(" "));
        for CompletedOption { name: option, value, .. } in &command.options {
            let Some((_, operand)) = value else { continue };
            let words = choices(*operand).unwrap_or_default();
            let files = flag(*operand);
            let _ = writeln!(values, "    '{name} {option}') words='{words}' files={files} ;;");
        }
    }
    let selectors = crate::command_line::SELECTORS.map(|(option, _)| option).join("|");
    let script = BASH.replace("@SELECTORS@", &selectors);
    script.replace("@COMMANDS@", &arms).replace("@VALUES@", &values)
}

const ZSH: &str = r#"#compdef kvik
# Completions of kvik for zsh, written by `kvik help --completions zsh`.
_kvik() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands
  commands=(
@COMMANDS@  )
  _arguments -C @OPTIONS@ '1: :->command' '*:: :->arguments'
  case $state in
    command) _describe command commands ;;
    arguments)
      case $words[1] in
@ARGUMENTS@        *) _files ;;
      esac ;;
  esac
}
_kvik "$@"
"#;

fn zsh(known: &[Completed]) -> String {
    let escaped = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
        text.replace(':', "\\:").replace('\'', "'\\''")
    };
    let action = |operand| match (choices(operand), operand) {
        (Some(words), _) => format!("({words})"),
        (None, Operand::Folder) => "_directories".to_owned(),
        (None, Operand::File) => "_files".to_owned(),
        (None, _) => " ".to_owned(),
    };
    let option = |option: &CompletedOption| {
        let value = option.value.as_ref();
        let value = value.map(|(name, kind)| format!(":{}:{}", escaped(name), action(*kind)));
        let text = escaped(brief(&option.text));
        format!("'{}[{text}]{}'", option.name, value.unwrap_or_default())
    };
    let specs = |command: &Completed| command.options.iter().map(option).collect::<Vec<_>>();
    let (mut list, mut arguments, mut own) = (String::new(), String::new(), String::new());
    for command in known {
        let (name, specs) = (command.name, specs(command).join(" "));
        if name.is_empty() {
            own = specs;
            continue;
        }
        let _ = writeln!(list, "    '{name}:{}'", escaped(brief(&command.summary)));
        let operand = action(command.operand);
        let _ = writeln!(arguments, "        {name}) _arguments {specs} '*: :{operand}' ;;");
    }
    let script = ZSH.replace("@COMMANDS@", &list).replace("@OPTIONS@", &own);
    script.replace("@ARGUMENTS@", &arguments)
}

fn fish(known: &[Completed]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let argument = |operand| match (choices(operand), operand) {
        (Some(words), _) => format!(" -x -a {}", quoted(&words)),
        (None, Operand::Folder) => " -x -a '(__fish_complete_directories)'".to_owned(),
        (None, Operand::File) => " -r -F".to_owned(),
        (None, _) => " -x".to_owned(),
    };
    let mut script = "# Completions of kvik for fish, written by `kvik help --completions fish`.\n\
                      complete -c kvik -f\n"
        .to_owned();
    for command in known {
        let name = command.name;
        let place = match name {
            "" => "__fish_use_subcommand".to_owned(),
            name => format!("'__fish_seen_subcommand_from {name}'"),
        };
        let place = format!("complete -c kvik -n {place}");
        if !name.is_empty() {
            let text = quoted(brief(&command.summary));
            let _ =
                writeln!(script, "complete -c kvik -n __fish_use_subcommand -a {name} -d {text}");
            let operand = match command.operand {
                Operand::Folder => " -a '(__fish_complete_directories)'".to_owned(),
                Operand::File => " -F".to_owned(),
                kind => choices(kind).map(|w| format!(" -a {}", quoted(&w))).unwrap_or_default(),
            };
            if !operand.is_empty() {
                let _ = writeln!(script, "{place}{operand}");
            }
        }
        for option in &command.options {
            let text = quoted(brief(&option.text));
            // fish knows no options that begin with a plus: these are words to it.
            let (word, value) = match option.name.strip_prefix("--") {
                Some(long) => (format!("-l {long}"), option.value.as_ref().map(|v| argument(v.1))),
                None => (format!("-a {}", quoted(&option.name)), None),
            };
            let _ = writeln!(script, "{place} {word}{} -d {text}", value.unwrap_or_default());
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_option_is_in_every_script() {
        let known = known();
        for script in SHELLS.map(|shell| script(shell).unwrap()) {
            for command in &known {
                assert!(script.contains(command.name), "{}", command.name);
                for option in &command.options {
                    assert!(
                        script.contains(option.name.trim_start_matches('-')),
                        "{}",
                        option.name
                    );
                }
            }
            assert!(!script.contains('@') || script.contains("\"$@\""));
        }
        assert_eq!(script("csh"), None);
    }

    #[test]
    fn descriptions_are_short() {
        assert_eq!(brief("compile to .beam (also: x. y)"), "compile to .beam");
        assert_eq!(brief("... up to NEW; z"), "up to NEW");
    }

    #[test]
    fn options_come_from_the_help_texts() {
        let names = |name: &str| {
            let command = known().into_iter().find(|command| command.name == name).unwrap();
            command.options.into_iter().map(|option| option.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(""), "--version --root --otp +web");
        assert_eq!(names("sched"), "--pid --no-idle --each --every --count --json");
        assert!(names("bench").starts_with("--quick --rounds --budget --limit --out --json --vm"));
        assert_eq!(names("help"), "--man --completions");
        assert_eq!(names("erlc"), "");
    }

    #[test]
    fn sched_knows_the_options_of_its_help_text() {
        for option in options(text("sched").unwrap()) {
            let args = [option.name.clone(), "1".to_owned()].map(Into::into);
            let taken = &args[..1 + usize::from(option.value.is_some())];
            assert!(crate::sched::SchedOptions::parse(taken).is_ok(), "{}", option.name);
        }
    }
}
