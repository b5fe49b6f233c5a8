//! What `kvik` prints before it starts a VM.

use std::process::{Command, Output};

fn kvik(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kvik")).args(args).output().expect("kvik starts")
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn help_in_every_spelling() {
    let help = kvik(&["--help"]);
    assert!(help.status.success() && help.stderr.is_empty());
    for command in ["run", "erlc", "shims", "sched", "bench", "--version"] {
        assert!(text(&help.stdout).contains(&format!("kvik {command}")), "{command}");
    }
    assert_eq!(kvik(&["-h"]).stdout, help.stdout);
    assert_eq!(kvik(&["help"]).stdout, help.stdout);
    assert_eq!(kvik(&["help", "help"]).stdout, help.stdout);
}

#[test]
fn help_of_a_command() {
    for command in ["run", "shims", "sched", "bench"] {
        let by_option = kvik(&[command, "--help"]);
        assert!(by_option.status.success(), "{command}");
        assert!(text(&by_option.stdout).starts_with(&format!("usage: kvik {command}")));
        assert_eq!(kvik(&["help", command]).stdout, by_option.stdout);
    }
}

#[test]
fn version_names_both() {
    let version = kvik(&["--version"]);
    assert!(version.status.success());
    let first = format!("kvik {}", env!("CARGO_PKG_VERSION"));
    assert!(text(&version.stdout).starts_with(&first));
    assert!(text(&version.stdout).contains("OTP 25"));
}

#[test]
fn refuses_an_unknown_command() {
    let typo = kvik(&["bnech"]);
    assert_eq!(typo.status.code(), Some(1));
    assert!(text(&typo.stderr).contains("did you mean `kvik bench`?"));
    assert!(text(&kvik(&["help", "bnech"]).stderr).contains("kvik bench"));
}

#[test]
fn shims_writes_into_no_folder_named_like_an_option() {
    let refused = kvik(&["shims", "--halp"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!std::path::Path::new("--halp").exists());
}
