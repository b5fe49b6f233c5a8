//! What `kvik` prints before it starts a VM.

use std::os::unix::process::CommandExt;
use std::path::Path;
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
    for command in ["run", "erlc", "shims", "sched", "bench", "doctor", "--version"] {
        assert!(text(&help.stdout).contains(&format!("kvik {command}")), "{command}");
    }
    assert_eq!(kvik(&["-h"]).stdout, help.stdout);
    assert_eq!(kvik(&["help"]).stdout, help.stdout);
    assert_eq!(kvik(&["help", "help"]).stdout, help.stdout);
}

#[test]
fn help_of_a_command() {
    for command in ["run", "shims", "sched", "bench", "doctor"] {
        let by_option = kvik(&[command, "--help"]);
        assert!(by_option.status.success(), "{command}");
        assert!(text(&by_option.stdout).starts_with(&format!("usage: kvik {command}")));
        assert_eq!(kvik(&["help", command]).stdout, by_option.stdout);
    }
}

#[test]
fn version_names_both() {
    let version = kvik(&["--otp", "25", "--version"]);
    assert!(version.status.success());
    let first = format!("kvik {}", env!("CARGO_PKG_VERSION"));
    assert!(text(&version.stdout).starts_with(&first));
    assert!(text(&version.stdout).contains("OTP 25"));
}

/// An OTP as far as it is looked for: a version, and the first module that is loaded.
fn pretend_otp(root: &Path, release: &str, erts: &str) {
    let ebin = root.join(format!("lib/erts-{erts}/ebin"));
    std::fs::create_dir_all(&ebin).unwrap();
    std::fs::write(ebin.join("init.beam"), "").unwrap();
    let folder = root.join("releases").join(release);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("OTP_VERSION"), format!("{release}.0")).unwrap();
}

#[test]
fn takes_the_newest_otp_unless_told() {
    let folder = std::env::temp_dir().join(format!("kvik-commands.{}", std::process::id()));
    for (release, erts) in [("27", "15.0"), ("29", "17.0")] {
        pretend_otp(&folder.join(".otp").join(release).join("usr/lib/erlang"), release, erts);
    }
    let version = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kvik"));
        for name in ["KVIK_OTP", "KVIK_OTP_ROOT", "ROOTDIR"] {
            command.env_remove(name);
        }
        let output = command.current_dir(&folder).args(args).arg("--version").output();
        let output = output.expect("kvik starts");
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (newest, unknown) = (version(&[]), version(&["--otp", "24"]));
    let root = folder.join(".otp/27/usr/lib/erlang").display().to_string();
    let joined = format!("--root={root}");
    let older: [&[&str]; 4] = [&["--otp", "27"], &["--otp=27"], &["--root", &root], &[&joined]];
    let older = older.map(version);
    let nowhere = version(&["--root", "/nowhere"]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(newest.0 == Some(0) && newest.1.contains("OTP 29 (erts 17.0"), "{newest:?}");
    for v in older {
        assert!(v.0 == Some(0) && v.1.contains("OTP 27 (erts 15.0"), "{v:?}");
    }
    for (fault, why) in
        [(unknown, "OTP 24 is not supported (supported: OTP 25"), (nowhere, "no OTP in /nowhere")]
    {
        assert!(fault.0 == Some(1) && fault.1.contains(why), "{fault:?}");
    }
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

#[test]
fn doctor_names_what_is_in_the_way() {
    let folder = std::env::temp_dir().join(format!("kvik-doctor.{}", std::process::id()));
    let (root, code) = (folder.join("otp"), folder.join("code"));
    pretend_otp(&root, "27", "15.0");
    std::fs::create_dir_all(&code).unwrap();
    let doctor = |dir: &Path| {
        let (root, dir) = (root.to_str().unwrap(), dir.to_str().unwrap());
        let mut asked = Command::new(env!("CARGO_BIN_EXE_kvik"));
        asked.args(["--root", root, "doctor", dir]).env_remove("KVIK_OTP");
        let asked = asked.output().expect("kvik starts");
        (asked.status.code(), text(&asked.stdout))
    };
    let (status, clean) = doctor(&code);
    assert_eq!(status, Some(0), "{clean}");
    assert!(clean.contains("OTP         27 (erts 15.0"), "{clean}");
    assert!(clean.contains("named by $KVIK_OTP_ROOT"), "{clean}");
    assert!(clean.ends_with("nothing is in the way\n"), "{clean}");

    let source = "-module(calls). -export([f/0]). f() -> erts_debug:lcnt_clear().";
    std::fs::write(folder.join("calls.erl"), source).unwrap();
    let out = format!("-o{}", code.display());
    kvik(&["--otp", "25", "erlc", &out, folder.join("calls.erl").to_str().unwrap()]);
    std::fs::write(code.join("cut.beam"), "FOR1").unwrap();
    std::fs::write(code.join("cut.so"), "\x7fELF nif_init").unwrap();
    std::fs::write(code.join("plain.so"), "another library").unwrap();
    let (status, said) = doctor(&code);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(status, Some(1), "{said}");
    for what in [
        "1 of 2 .beam files load",
        "FAULT: cut.beam is refused: ",
        "FAULT: calls.beam calls erts_debug:lcnt_clear/0, which is missing",
        "0 of 1 libraries open",
        "FAULT: cut.so does not open: ",
        "3 faults",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert_eq!(doctor(&folder).0, Some(2));
    assert_eq!(kvik(&["doctor", "--all"]).status.code(), Some(2));
}

/// Libraries whose initialisation does something, by the name of their file.
const INITIALISATIONS: [(&str, &str); 5] = [
    ("prints", "printf(\"hello\\n\"); fflush(stdout);"),
    ("crashes", "printf(\"hello\\n\"); fflush(stdout); abort();"),
    ("ends", "exit(0);"),
    ("forks", "if (fork() == 0) { sleep(20); _exit(0); }"),
    ("sleeps", "for (;;) pause();"),
];

fn compile_library(file: &Path, initialisation: &str) {
    let source = file.with_extension("c");
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         void *nif_init(void) {{ return 0; }}\n\
         __attribute__((constructor)) static void f(void) {{ {initialisation} }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    let status = cc.args(["-shared", "-fPIC", "-o"]).arg(file).arg(&source).status();
    assert!(status.expect("cc starts").success(), "{initialisation}");
}

/// It waits for no file and for no library, and says of each what is so.
#[test]
fn doctor_survives_what_it_finds() {
    let folder = std::env::temp_dir().join(format!("kvik-doctor-files.{}", std::process::id()));
    let (root, code) = (folder.join("otp"), folder.join("code"));
    pretend_otp(&root, "27", "15.0");
    std::fs::create_dir_all(code.join("folder.beam")).unwrap();
    for (name, initialisation) in INITIALISATIONS {
        compile_library(&code.join(name).with_extension("so"), initialisation);
    }
    std::fs::create_dir(folder.join("priv")).unwrap();
    std::fs::rename(code.join("prints.so"), folder.join("priv/prints.so")).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, code.join(name)).unwrap();
    for (to, name) in [("../priv", "priv"), ("..", "up"), (".", "self"), ("loop", "loop")] {
        link(to, name);
    }
    for (to, name) in [("nowhere", "gone.beam"), ("nowhere", "gone.so"), ("/dev/zero", "zero.so")] {
        link(to, name);
    }
    let fifos = ["fifo.beam", "fifo.so"].map(|name| code.join(name));
    assert!(Command::new("mkfifo").args(&fifos).status().expect("mkfifo starts").success());
    let huge = std::fs::File::create(code.join("huge.beam")).unwrap();
    huge.set_len(1 << 40).unwrap();
    std::fs::write(code.join("red \x1b[31m\n.beam"), "FOR1").unwrap();

    let mut asked = Command::new(env!("CARGO_BIN_EXE_kvik"));
    asked.arg("--root").arg(&root).arg("doctor").arg(&code).env_remove("KVIK_OTP");
    let asked = asked.output().expect("kvik starts");
    std::fs::remove_dir_all(&folder).unwrap();
    let said = text(&asked.stdout);
    assert_eq!(asked.status.code(), Some(1), "{said}");
    assert!(!said.contains("hello") && !said.contains("folder.beam"), "{said}");
    for what in [
        "0 of 4 .beam files load",
        "FAULT: fifo.beam cannot be read: it is not a regular file",
        "FAULT: gone.beam cannot be read: ",
        "FAULT: huge.beam cannot be read: it has more than 256 MB",
        "FAULT: red \\u{1b}[31m\\n.beam is refused: ",
        "2 of 5 libraries open",
        "FAULT: crashes.so does not open: it ends the process (signal: 6",
        "FAULT: ends.so does not open: it ends the process (exit status: 0)",
        "FAULT: sleeps.so does not open: its initialisation is not over after 10 s",
        "FAULT: fifo.so cannot be read: it is not a regular file",
        "FAULT: gone.so cannot be read: ",
        "FAULT: zero.so cannot be read: it is not a regular file",
        "\n10 faults\n",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
}

/// A release says in a file which OTP it was made with.
#[test]
fn doctor_takes_the_otp_that_a_release_was_made_with() {
    let folder = std::env::temp_dir().join(format!("kvik-doctor-otp.{}", std::process::id()));
    for (release, erts) in [("27", "15.0"), ("29", "17.0")] {
        pretend_otp(&folder.join(".otp").join(release).join("usr/lib/erlang"), release, erts);
    }
    let doctor = |erts: &str, release: &str| {
        let dir = folder.join("release");
        std::fs::create_dir_all(dir.join("releases")).unwrap();
        std::fs::create_dir_all(dir.join(format!("erts-{erts}/bin"))).unwrap();
        std::fs::write(dir.join("releases/start_erl.data"), format!("{erts} 0.1.0")).unwrap();
        let mut asked = Command::new(env!("CARGO_BIN_EXE_kvik"));
        for name in ["KVIK_OTP_ROOT", "ROOTDIR"] {
            asked.env_remove(name);
        }
        asked.env("KVIK_OTP", release).current_dir(&folder).args(["doctor", "release"]);
        let said = text(&asked.output().expect("kvik starts").stdout);
        std::fs::remove_dir_all(&dir).unwrap();
        said
    };
    let (same, named) = (doctor("15.2", ""), doctor("15.2", "29"));
    let (old, unknown) = (doctor("12.3", ""), doctor("15.2", "99"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(same.contains("27 (erts 15.0"), "{same}");
    assert!(same.contains("of the release that the folder was made with"), "{same}");
    assert!(named.contains("29 (erts 17.0"), "{named}");
    assert!(old.contains("FAULT: OTP with erts 12.3 in release is not supported"), "{old}");
    assert!(unknown.contains("FAULT: OTP 99 is not supported"), "{unknown}");
}

/// The second start of a detached node must not take the program's flags for kvik's own.
#[test]
fn leaves_a_detached_program_its_flags() {
    let file = std::env::temp_dir().join(format!("kvik-detached.{}", std::process::id()));
    let written = format!("{}.part", file.display());
    let program = format!(
        "Own = [V || {{F, V}} <- init:get_arguments(), F =:= list_to_atom(\"-root\")],
         ok = file:write_file({written:?}, io_lib:format(\"~p\", [Own])),
         ok = file:rename({written:?}, {file:?}), halt()."
    );
    let mut detached = Command::new(env!("CARGO_BIN_EXE_kvik"));
    detached.arg0("erl").env("KVIK_OTP", "25").args(["-detached", "-eval", &program]);
    assert!(detached.args(["--root", "/srv"]).status().expect("kvik starts").success());
    let begin = std::time::Instant::now();
    while !file.exists() && begin.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let said = std::fs::read_to_string(&file).expect("the detached node writes it");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(said, "[[\"/srv\"]]");
}
