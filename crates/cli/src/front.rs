//! OTP's front ends. In OTP they are separate programs that prepend arguments and start `erl`; here
//! a table holds a function for each.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;

/// The arguments that a front end passes to `erl`, and the value of `$ESCRIPT_NAME` if it is not
/// the program's own name.
#[derive(Debug, Default, PartialEq)]
pub struct Start {
    pub args: Vec<OsString>,
    pub script: Option<OsString>,
}

type FrontEnd = fn(Vec<OsString>) -> Result<Start, String>;

pub const FRONT_ENDS: &[(&str, FrontEnd)] = &[
    ("erlc", erlc),
    ("escript", escript),
    ("dialyzer", dialyzer),
    ("typer", typer),
    ("ct_run", ct_run),
];

pub fn named(name: &str) -> Option<FrontEnd> {
    FRONT_ENDS.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

fn words(w: &[&str]) -> Vec<OsString> {
    w.iter().map(OsString::from).collect()
}
fn start(args: Vec<OsString>) -> Result<Start, String> {
    Ok(Start { args, script: None })
}

/// `erlc` starts `erl` with the module that parses its options. Code paths come before that module;
/// there is no compile server.
fn erlc(args: Vec<OsString>) -> Result<Start, String> {
    let (mut v, mut rest) = (Vec::new(), Vec::new());
    let mut it = args.into_iter();
    while let Some(a) = it.next() {
        let s = a.to_string_lossy();
        match &*s {
            "-pa" | "-pz" => {
                v.push(a.clone());
                v.extend(it.next());
            }
            _ if s.starts_with("-pa") || s.starts_with("-pz") => {
                v.push(s[..3].into());
                v.push(s[3..].into());
            }
            "-smp" | "-no-server" | "-server" => {}
            _ => rest.push(a),
        }
    }
    v.extend(words(&["+S1", "+sbtu", "+A0", "-noinput", "-mode", "minimal"]));
    v.extend(words(&["-boot", "no_dot_erlang", "-s", "erl_compile", "compile_cmdline", "-extra"]));
    v.extend(rest);
    start(v)
}

/// `escript OPTIONS FILE ARGS`; the file's `%%!` line holds arguments for `erl`.
fn escript(mut args: Vec<OsString>) -> Result<Start, String> {
    let is_option = |a: &&OsString| a.to_string_lossy().starts_with('-');
    let rest = args.split_off(args.iter().take_while(is_option).count());
    let script = rest.first().cloned().ok_or("escript: Missing filename\n")?;
    let text = match kvik_env::fs::read(&script) {
        Ok(text) => text,
        // It can be opened; `escript` says what is wrong with it.
        Err(e) if e.kind() == ErrorKind::IsADirectory => Vec::new(),
        Err(_) => {
            return Err(format!("escript: Failed to open file: {}", script.to_string_lossy()))
        }
    };
    let mut v = words(&["+B", "-boot", "no_dot_erlang", "-noshell"]);
    v.extend(emu_args(&text));
    v.extend(words(&["-run", "escript", "start"]));
    v.extend(args.iter().map(|o| OsString::from(&o.to_string_lossy()[1..])));
    v.push("-extra".into());
    v.extend(rest);
    Ok(Start { args: v, script: Some(script) })
}

/// The arguments in the `%%!` line of a script: what lies between blanks, quotes included.
fn emu_args(text: &[u8]) -> Vec<OsString> {
    let head = text.split(|b| *b == b'\n').take(3).filter_map(|l| l.strip_prefix(b"%%!"));
    let is_blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0B;
    let words = head.flat_map(|l| l.split(is_blank)).filter(|w| !w.is_empty());
    words.map(|w| OsString::from_vec(w.to_vec())).collect()
}

/// Common part of `dialyzer` and `typer`: no input unless `--shell` is given.
fn plain(before: Vec<OsString>, run: [&str; 2], args: Vec<OsString>) -> Result<Start, String> {
    let shell = |a: &OsString| a == "--shell";
    let mut v = if args.iter().any(shell) { Vec::new() } else { words(&["-noinput"]) };
    v.extend(before);
    v.extend(words(&["+B", "-boot", "no_dot_erlang", "-run", run[0], run[1], "-extra"]));
    v.extend(args.into_iter().filter(|a| !shell(a)));
    start(v)
}

/// Removes `-smp`, then flags with a value, from the front, in that order.
fn leading(args: &mut Vec<OsString>, flags: &[&str]) -> Vec<OsString> {
    let mut taken = Vec::new();
    if args.first().is_some_and(|a| a == "-smp") {
        args.remove(0);
        taken.push("-smpauto".into());
    }
    for flag in flags {
        if args.len() > 1 && args[0] == *flag {
            taken.extend(args.drain(..2));
        }
    }
    taken
}

/// Raises the process limit to a million, since dialyzer may start that many.
fn dialyzer(mut args: Vec<OsString>) -> Result<Start, String> {
    let mut before = leading(&mut args, &["+S", "+P", "+sbt"]);
    if !before.iter().any(|a| a == "+P") {
        before.extend(words(&["+P", "1000000"]));
    }
    plain(before, ["dialyzer", "plain_cl"], args)
}

fn typer(mut args: Vec<OsString>) -> Result<Start, String> {
    let before = leading(&mut args, &[]);
    plain(before, ["typer", "start"], args)
}

/// Flags of Common Test that `erl` would otherwise interpret itself.
const CT_FLAGS: &[(&str, &str)] = &[
    ("-config", "-ct_config"),
    ("-decrypt_key", "-ct_decrypt_key"),
    ("-decrypt_file", "-ct_decrypt_file"),
];

/// The mode of `ct_run`: a node that ends after the tests, or one with a shell.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Normal,
    Vts,
    Shell,
    /// `-ctmaster`, `-ctname`: starts only the node.
    Node,
}

/// `ct_run OPTIONS -erl_args ARGS`: a node named `ct`, unless another name is given.
fn ct_run(args: Vec<OsString>) -> Result<Start, String> {
    let (mut mode, mut kind, mut name) = (Mode::Normal, "-sname", OsString::from("ct"));
    let (mut browser, mut own, mut rest) = (None, true, Vec::new());
    let mut it = args.into_iter().peekable();
    while let Some(a) = it.next() {
        let text = a.to_string_lossy().into_owned();
        match &*text {
            "-erl_args" => {
                own = false;
                rest.push("-ct_erl_args".into());
                continue;
            }
            "-sname" | "-name" => {
                kind = if text == "-name" { "-name" } else { "-sname" };
                name = it.next().ok_or(format!("ct_run: no value for {text}"))?;
                continue;
            }
            "-vts" if own => mode = Mode::Vts,
            "-shell" if own => mode = Mode::Shell,
            "-browser" if own => browser = it.peek().cloned(),
            "-ctmaster" if own => (mode, name) = (Mode::Node, "ct_master".into()),
            "-ctname" if own => {
                mode = Mode::Node;
                name = it.peek().cloned().unwrap_or(name);
            }
            _ => {}
        }
        let theirs = CT_FLAGS.iter().find(|(f, _)| own && *f == text).map(|(_, ct)| ct.into());
        rest.push(theirs.unwrap_or(a));
    }
    let mut v = vec![kind.into(), name];
    if mode == Mode::Vts {
        v.extend(words(&["-s", "ct_webtool", "script_start", "vts"]));
        v.extend(browser);
    }
    if mode != Mode::Node {
        v.extend(words(&["-s", "ct_run", "script_start"]));
    }
    if mode == Mode::Normal {
        v.extend(words(&["-s", "erlang", "halt"]));
    }
    v.extend(rest);
    start(v)
}

/// Compiles the file given as the first plain argument and calls its `main/1` with the rest.
const RUN: &str = r#"
    [File | Args] = init:get_plain_arguments(),
    case compile:file(File, [binary, report]) of
        {ok, Module, Code} ->
            {module, Module} = code:load_binary(Module, File, Code),
            process_flag(trap_exit, false),
            try Module:main(Args) of
                _ -> halt(0)
            catch
                Class:Reason:Stack ->
                    Text = erl_error:format_exception(Class, Reason, Stack),
                    io:put_chars(standard_error, ["kvik: ", Text, $\n]),
                    halt(127)
            end;
        _ ->
            halt(1)
    end.
"#;

/// `kvik run FILE.erl ARGS`.
pub fn run(args: &[OsString]) -> Result<Start, String> {
    let file = args.first().ok_or("usage: kvik run FILE.erl [ARGS]")?;
    let mut v = words(&["+B", "-boot", "no_dot_erlang", "-noshell", "-eval", RUN, "-extra"]);
    v.extend(args.iter().cloned());
    Ok(Start { args: v, script: Some(file.clone()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, args: &[&str]) -> String {
        let start = named(name).unwrap()(words(args)).unwrap();
        start.args.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn dialyzer_as_otp() {
        let tail = "+B -boot no_dot_erlang -run dialyzer plain_cl -extra";
        assert_eq!(made("dialyzer", &["x"]), format!("-noinput +P 1000000 {tail} x"));
        let given = made("dialyzer", &["+S", "2", "+P", "9", "--shell", "x", "+S", "1"]);
        assert_eq!(given, format!("+S 2 +P 9 {tail} x +S 1"));
    }

    #[test]
    fn typer_as_otp() {
        let tail = "+B -boot no_dot_erlang -run typer start -extra";
        assert_eq!(made("typer", &["-smp", "f"]), format!("-noinput -smpauto {tail} f"));
    }

    #[test]
    fn ct_run_as_otp() {
        let normal = "-s ct_run script_start -s erlang halt";
        assert_eq!(made("ct_run", &["-dir", "t"]), format!("-sname ct {normal} -dir t"));
        let named = made("ct_run", &["-name", "a@b", "-config", "c", "-erl_args", "-config", "d"]);
        assert_eq!(named, format!("-name a@b {normal} -ct_config c -ct_erl_args -config d"));
        let shell = made("ct_run", &["-shell", "-erl_args", "-shell"]);
        assert_eq!(shell, "-sname ct -s ct_run script_start -shell -ct_erl_args -shell");
        let node = made("ct_run", &["-ctname", "n"]);
        assert_eq!(node, "-sname n -ctname n");
    }

    #[test]
    fn escript_arguments_are_words_between_blanks() {
        let script =
            b"#!/usr/bin/env escript\n%% -*- erlang -*-\n%%! -y \"a b\"\t'c'  d\\ e\r\n%%! -z";
        assert_eq!(emu_args(script), ["-y", "\"a", "b\"", "'c'", "d\\", "e"].map(OsString::from));
        assert!(emu_args(b"main(_) -> ok.\n").is_empty());
    }
}
