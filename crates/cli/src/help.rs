//! Help texts: `--help`, `--version`, and the message for an unknown command. The manual page and
//! what shells complete are made of these texts.

mod completions;
mod entries;
mod man_page;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::{launch, otp_root};

/// One screen: 24 lines of at most 80 columns.
pub const HELP: &str = "\
kvik: a virtual machine for Erlang. It takes erl's arguments and runs OTP's files.

  kvik [ARGS]                 as `erl ARGS`: without arguments, Erlang's shell
  kvik run FILE.erl [ARGS]    compile a file in memory and call its main/1
  kvik erlc FILE.erl          compile to .beam (also: escript, dialyzer, typer,
                              ct_run, each with OTP's own options)
  kvik build TARGET -o FILE   one executable of a module, escript, application, release
  kvik shims DIR              write erl, erlc, escript … into DIR, for rebar3, mix
                              and releases: PATH=DIR:$PATH
  kvik sched [-- CMD]         live histogram of what scheduling costs
  kvik bench [EXPERIMENT]     measure kvik beside OTP, Java, Go, tokio and C
  kvik doctor [DIR]           what OTP, limits and NIFs there are; with DIR, whether
                              the compiled code below it runs on kvik
  kvik help [COMMAND]         this text, or a command's
  kvik --version              version of kvik and of the OTP that it found

Options of kvik's own, besides erl's (`man erl`):
  --root DIR                  where OTP is; else $KVIK_OTP_ROOT, $ROOTDIR, the newest
                              in the system's lib/erlang and in .otp/
  --otp RELEASE               which OTP to look for there; else $KVIK_OTP
  +web IP:PORT                serve a live page of what the node does

Example: kvik -noshell -eval 'io:format(\"hello~n\"), halt().'";

const RUN_HELP: &str = "\
usage: kvik run FILE.erl [ARGS]

Compiles FILE.erl in memory and calls its main/1 with ARGS, a list of strings. The
status is 0, 127 where main/1 raises an exception, and 1 where FILE does not compile.";

const SHIMS_HELP: &str = "\
usage: kvik shims DIR

Writes erl, erlc, escript, dialyzer, typer and ct_run into DIR, links to this kvik, and
DIR/root, a root of OTP whose machine is kvik. Tools use them by PATH=DIR:$PATH.";

const HELP_HELP: &str = "\
usage: kvik help [COMMAND]

Prints what commands there are, or the help text of one.

  --man                 print the manual page, kvik(1)
  --completions SHELL   print what bash, zsh or fish needs to complete kvik's commands";

/// The commands of `kvik`, with the help text of those that do not print it themselves.
pub const COMMANDS: &[(&str, Option<&str>)] = &[
    ("bench", None),
    ("build", Some(crate::build::HELP)),
    ("ct_run", None),
    ("dialyzer", None),
    ("doctor", Some(crate::doctor::HELP)),
    ("erlc", None),
    ("escript", None),
    ("help", Some(HELP)),
    ("run", Some(RUN_HELP)),
    ("sched", None),
    ("shims", Some(SHIMS_HELP)),
    ("typer", None),
];

/// The text of `kvik COMMAND --help`, if it is in this table.
pub fn of(command: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(name, _)| *name == command).and_then(|(_, text)| *text)
}

/// The help text of any command that has one.
fn text(command: &str) -> Option<&'static str> {
    match command {
        "bench" => Some(kvik_lab::HELP),
        "help" => Some(HELP_HELP),
        "sched" => Some(crate::sched::HELP),
        _ => of(command),
    }
}

/// `kvik help --man`, `kvik help --completions SHELL`: the exit status, if it is one of these.
pub fn generate(args: &[OsString]) -> Option<i32> {
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
    let made = match words.as_slice() {
        ["--man"] => Some(man_page::page()),
        ["--completions", shell] => completions::script(shell),
        ["--completions"] => None,
        _ => return None,
    };
    let Some(text) = made else {
        kvik_sys::complain!("{HELP_HELP}");
        return Some(2);
    };
    kvik_sys::say!("{}", text.trim_end());
    Some(0)
}

pub fn asked(argument: Option<&impl AsRef<OsStr>>) -> bool {
    argument.is_some_and(|a| matches!(a.as_ref().to_str(), Some("--help" | "-h")))
}

/// `kvik --version`. If no OTP is found, prints that and still succeeds.
pub fn version(name: &Path) -> i32 {
    kvik_sys::say!("kvik {}{}", env!("CARGO_PKG_VERSION"), env!("KVIK_COMMIT"));
    match otp_root::find(None, None, name) {
        Ok(otp) => {
            let note = if otp.release.untested { ", untested" } else { "" };
            let (name, erts) = (otp.release.name, &otp.erts);
            kvik_sys::say!("Erlang/OTP {name} (erts {erts}{note}) in {}", otp.root.display());
            0
        }
        Err(fault) => launch::complain(&format!("kvik: {fault}")),
    }
}

/// The message for a first argument that is neither a flag nor a command.
pub fn unknown(word: &str) -> String {
    let hint = match suggestion(word) {
        Some(command) => format!("did you mean `kvik {command}`?"),
        None if word.ends_with(".erl") => format!("did you mean `kvik run {word}`?"),
        None => "`kvik help` lists the commands; `kvik -extra ARGS` passes plain arguments".into(),
    };
    format!("kvik: no command {word:?}; {hint}")
}

fn suggestion(word: &str) -> Option<&'static str> {
    let near = COMMANDS.iter().map(|(name, _)| (strsim::osa_distance(word, name), *name));
    near.filter(|(distance, name)| *distance <= name.len() / 3).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_one_screen() {
        for text in COMMANDS.iter().filter_map(|(_, text)| *text) {
            assert!(text.lines().count() <= 24);
            assert!(text.lines().all(|l| l.chars().count() <= 88), "{text}");
        }
    }

    #[test]
    fn suggests_the_nearest_command() {
        assert_eq!(suggestion("bnech"), Some("bench"));
        assert_eq!(suggestion("shim"), Some("shims"));
        assert_eq!(suggestion("rnu"), Some("run"));
        assert_eq!(suggestion("frobnicate"), None);
        assert!(unknown("hello.erl").contains("kvik run hello.erl"));
    }
}
