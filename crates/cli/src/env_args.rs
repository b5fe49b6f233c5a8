//! Arguments from the environment (`ERL_AFLAGS`, `ERL_FLAGS`, `ERL_ZFLAGS`) and from `-args_file`,
//! combined with those of the command line in the same order as `erl`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use kvik_release::Release;

/// Splits a string into arguments, separated by blanks. A backslash escapes the next byte outside of quotes
/// and is an ordinary byte inside of either kind. The end of the text closes an open quote.
pub fn split(text: &[u8], comments: bool) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut it = text.iter().copied().peekable();
    while let Some(c) = it.peek().copied() {
        if c.is_ascii_whitespace() || c == 0x0B {
            it.next();
        } else if c == b'#' && comments {
            while it.next_if(|c| *c != b'\n').is_some() {}
        } else {
            out.push(word(&mut it, comments));
        }
    }
    out
}

fn word(it: &mut std::iter::Peekable<impl Iterator<Item = u8>>, comments: bool) -> OsString {
    let mut w = Vec::new();
    let mut quote = None;
    while let Some(c) = it.peek().copied() {
        match (quote, c) {
            (None, b'#') if comments => break,
            (None, c) if c.is_ascii_whitespace() || c == 0x0B => break,
            (None, b'"' | b'\'') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            (None, b'\\') => {
                it.next();
                match it.peek() {
                    Some(e) => w.push(*e),
                    None => break,
                }
            }
            (_, c) => w.push(c),
        }
        it.next();
    }
    OsString::from_vec(w)
}

/// Replaces `-S` on the command line. What follows it stands behind all other arguments.
pub const START: &str = "++S";
/// `--` behind `-S`, as OTP's `init` reads it.
const ESCAPED_END: &str = "\\--";

/// Takes `-S` and what follows it off the command line, and ends the arguments before it.
fn take_start(own: &mut Vec<OsString>) -> Vec<OsString> {
    let file = |i: usize| i > 0 && own[i - 1] == "-args_file";
    let ends = |i: &usize| (own[*i] == "-S" || own[*i] == "-extra") && !file(*i);
    let Some(at) = (0..own.len()).find(ends).filter(|at| own[*at] == "-S") else { return vec![] };
    let mut start = own.split_off(at);
    own.push("--".into());
    start[0] = START.into();
    start.iter_mut().filter(|a| *a == "--").for_each(|a| *a = ESCAPED_END.into());
    start
}

/// All arguments in order of evaluation, those after `-extra` and after `-S` last. Until the release is
/// known, `-S` is taken for the flag that it is in newer ones. `--` ends each source, so that a flag gets
/// no arguments from the next.
pub fn gather(
    command_line: Vec<OsString>,
    env: impl Fn(&str) -> Option<OsString>,
    release: Option<&Release>,
) -> Result<Vec<OsString>, String> {
    let has_start = release.is_none_or(Release::has_start_flag);
    let from_env = |name: &str| {
        env(name).map(|v| split_ended(v.as_bytes(), false, has_start)).unwrap_or_default()
    };
    let of_release = release.map(|r| from_env(&flags_of(r))).unwrap_or_default();
    let mut sources = vec![of_release, from_env("ERL_AFLAGS")];
    let zflags = [from_env("ERL_FLAGS"), from_env("ERL_ZFLAGS")];
    let mut own = command_line;
    let mut start = if has_start { take_start(&mut own) } else { Vec::new() };
    let others = sources.iter().chain(&zflags).any(|s| !s.is_empty());
    let ended = !own.is_empty() && (has_start || others || has_file(&own));
    sources.push(own);
    sources.extend(ended.then(|| vec!["--".into()]));
    sources.extend(zflags);
    let (mut args, mut extra) = (Vec::new(), Vec::new());
    for s in sources {
        let ends = has_start && has_extra(&s);
        expand(s, &mut args, &mut extra, has_start, 0)?;
        args.extend(ends.then(|| "--".into()));
    }
    if !extra.is_empty() {
        args.push("-extra".into());
        args.append(&mut extra);
    }
    args.append(&mut start);
    Ok(args)
}

/// Splits a source and ends its arguments with `--`. `-extra` makes that needless, but releases without
/// `-S` add it there too, as one more plain argument.
fn split_ended(text: &[u8], comments: bool, has_start: bool) -> Vec<OsString> {
    let mut all = split(text, comments);
    let is_ended = all.is_empty() || has_start && has_extra(&all);
    if !is_ended {
        all.push("--".into());
    }
    all
}

/// The arguments in a file, up to the first zero byte. Opening and reading fail with messages of their own.
fn from_file(name: &OsStr, has_start: bool) -> Result<Vec<OsString>, String> {
    let reason = |e: io::Error| {
        let text = e.to_string();
        text.split_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_owned())
    };
    let shown = name.to_string_lossy();
    let mut text = kvik_env::fs::read(name).map_err(|e| {
        if e.kind() == io::ErrorKind::IsADirectory {
            return format!("Failed to read arguments file \"{shown}\": {}", reason(e));
        }
        let folder = std::env::current_dir().unwrap_or_default();
        let folder = folder.display();
        format!("Failed to open arguments file \"{shown}\" at \"{folder}\": {}", reason(e))
    })?;
    text.truncate(text.iter().position(|b| *b == 0).unwrap_or(text.len()));
    Ok(split_ended(&text, true, has_start))
}

/// Whether `-extra` ends the arguments of a source.
fn has_extra(source: &[OsString]) -> bool {
    (0..source.len()).any(|i| source[i] == "-extra" && (i == 0 || source[i - 1] != "-args_file"))
}

/// Whether arguments come from a file.
fn has_file(source: &[OsString]) -> bool {
    source.iter().take_while(|a| *a != "-extra").any(|a| a == "-args_file")
}

/// The name of the variable with arguments for one release: `ERL_OTP27_FLAGS`.
pub fn flags_of(release: &Release) -> String {
    format!("ERL_OTP{}_FLAGS", release.name)
}

fn expand(
    source: Vec<OsString>,
    args: &mut Vec<OsString>,
    extra: &mut Vec<OsString>,
    has_start: bool,
    depth: u32,
) -> Result<(), String> {
    let mut it = source.into_iter();
    while let Some(a) = it.next() {
        if a == "-args_file" {
            let file = it.next().ok_or("Missing argument(s) for '-args_file'.")?;
            if depth > 64 {
                return Err("-args_file: too deeply nested".into());
            }
            expand(from_file(&file, has_start)?, args, extra, has_start, depth + 1)?;
        } else if a == "-extra" {
            extra.extend(it.by_ref());
        } else {
            args.push(a);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_like_a_shell() {
        let words = split(br#"-a "b c" d\ e 'f "g' # no"#, true);
        assert_eq!(words, ["-a", "b c", "d e", "f \"g"].map(OsString::from));
        let words = split(br##""a\n b"'c\' \'d\# "" e#f "open\"##, false);
        assert_eq!(words, ["a\\n bc\\", "'d#", "", "e#f", "open\\"].map(OsString::from));
    }

    #[test]
    fn puts_start_flag_last_where_the_release_has_it() {
        let env = |n: &str| (n == "ERL_ZFLAGS").then(|| "-last".into());
        let own = ["-b", "-S", "m", "--", "-S", "+x"].map(OsString::from).to_vec();
        let [old, new] = [&kvik_release::RELEASES[0], &kvik_release::RELEASES[1]];
        let args = gather(own.clone(), env, Some(new)).unwrap();
        let expected = ["-b", "--", "--", "-last", "--", "++S", "m", "\\--", "-S", "+x"];
        assert_eq!(args, expected.map(OsString::from));
        let args = gather(own, env, Some(old)).unwrap();
        assert_eq!(args[..3], ["-b", "-S", "m"].map(OsString::from));
        let of_file = ["-args_file", "-S"].map(OsString::from);
        assert_eq!(take_start(&mut of_file.to_vec()), [""; 0]);
        let behind_extra = ["-extra", "-S"].map(OsString::from);
        assert_eq!(take_start(&mut behind_extra.to_vec()), [""; 0]);
    }

    #[test]
    fn orders_sources() {
        let env = |n: &str| match n {
            "ERL_AFLAGS" => Some("-first".into()),
            "ERL_ZFLAGS" => Some("-last -extra y".into()),
            _ => None,
        };
        let args = gather(vec!["-mid".into(), "-extra".into(), "x".into()], env, None).unwrap();
        let release = &kvik_release::RELEASES[0];
        let flags = |n: &str| (n == flags_of(release)).then(|| "-of release".into());
        let own = gather(vec!["x".into()], flags, Some(release)).unwrap();
        assert_eq!(own, ["-of", "release", "--", "x", "--"].map(OsString::from));
        let expected = ["-first", "--", "-mid", "--", "--", "-last", "--", "-extra", "x", "y"];
        assert_eq!(args, expected.map(OsString::from));
        let plain = |n: &str| ["ERL_AFLAGS", "ERL_FLAGS"].contains(&n).then(|| "a".into());
        let own = ["-m", "-extra", "x"].map(OsString::from).to_vec();
        let args = gather(own.clone(), plain, Some(release)).unwrap();
        assert_eq!(args, ["a", "--", "-m", "--", "a", "--", "-extra", "x"].map(OsString::from));
        assert_eq!(gather(own.clone(), |_| None, Some(release)).unwrap(), own);
    }
}
