//! Parses the command line as `erlexec` does: `+` flags for the VM, the rest for `init`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The parsed command line.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Flags of the VM without the `+`, with their value if they take one.
    pub vm: Vec<(String, Option<String>)>,
    /// Arguments that `init` gets after the standard ones.
    pub init: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub root: Option<OsString>,
    /// `--otp 27`: the release to look for.
    pub otp: Option<OsString>,
    pub detached: bool,
    /// `-name` or `-sname`, and no `-start_epmd false`.
    pub needs_epmd: bool,
    pub version: bool,
    pub print_args: bool,
    /// `-emu_args`: print the emulator's arguments before the start.
    pub show_args: bool,
}

/// `+` flags that take a value: the next argument, or the rest of the same word.
const WITH_VALUE: &[&str] = &[
    "a", "A", "C", "e", "i", "n", "P", "Q", "t", "T", "R", "W", "K", "IOt", "IOp", "IOPt", "IOPp",
    "IOs", "JPcover", "JPperf", "JDdump", "JMsingle", "S", "SP", "SDcpu", "SDPcpu", "SDio", "sbt",
    "sbwtdcpu", "sbwtdio", "sbwt", "scl", "sct", "secio", "sfwi", "stbt", "swct", "swtdcpu",
    "swtdio", "swt", "sws", "sss", "sssdcpu", "sssdio", "spp", "sub", "hms", "hmbs", "hpds",
    "hmax", "hmaxk", "hmaxel", "hmaxib", "hmqd", "pad", "h", "rg", "pc", "zdbbl", "zdntgc",
    "zebwt", "zhft", "zosrl", "web", "Dibpl",
];
/// Whatever begins with this takes a value.
const INSTRUMENTATION: &str = "Di";
/// A flag whose value is a directory.
const DIRECTORY: &str = "JPperfdirectory";
/// `+` flags without a value.
const BARE: &[&str] = &[
    "B", "Bi", "Bc", "Bd", "c", "d", "ec", "r", "v", "V", "H", "L", "ssrct", "fnl", "fnlw", "fnli",
    "fnle", "fnu", "fna", "fnui", "fnue", "fnuw", "fnai", "fnae", "fnaw", "We", "Ww", "Wi", "ns",
    "na", "nd", "D",
];
/// Flags whose value must be in the same word.
const WITH_VALUE_BEHIND: &[&str] = &["dcg"];
/// Settings of OTP's allocators: the text after `+M` and an allocator's letter (`u`: all).
const ALLOCATOR: &[&str] = &[
    "as", "asbcst", "atags", "acul", "acnl", "acfml", "acful", "cp", "e", "t", "lmbcs", "mbcgs",
    "mbsd", "mmbcs", "mmmbc", "mmsbc", "msbclt", "ramv", "rmbcmt", "rsbcmt", "rsbcst", "sbct",
    "smbcs",
];
const ALLOCATORS: &str = "uBIDEFHLRSTZ";
/// Other memory settings: the text after `+M`.
const MEMORY: &[&str] = &[
    "ea", "ummc", "uycs", "usac", "im", "is", "lpm", "Mamcbf", "Mrmcbf", "Mmcs", "Mscs", "Mscrfsd",
    "Msco", "Mscrpm", "Mlp", "umadtn", "Ye", "Ym", "Ytp", "Ytt", "Iscs", "Xscs", "dai",
];

/// A VM flag as words of a command line.
pub fn words(flag: &str, value: Option<&str>) -> Vec<String> {
    match value {
        Some(v) if WITH_VALUE_BEHIND.contains(&flag) => vec![format!("+{flag}{v}")],
        _ => std::iter::once(format!("+{flag}")).chain(value.map(str::to_owned)).collect(),
    }
}

/// The options that select an OTP, and the variables that do the same.
pub const SELECTORS: [(&str, &str); 2] = [("--otp", "KVIK_OTP"), ("--root", "KVIK_OTP_ROOT")];

/// An option of [`SELECTORS`], and its value if that is in the same word: `--otp=27`.
pub fn selector(word: &OsStr) -> Option<(&'static str, Option<&OsStr>)> {
    SELECTORS.into_iter().find_map(|(option, _)| {
        match word.as_bytes().strip_prefix(option.as_bytes())? {
            [] => Some((option, None)),
            [b'=', value @ ..] => Some((option, Some(OsStr::from_bytes(value)))),
            _ => None,
        }
    })
}

/// `selects`: whether the options that select an OTP are among the flags; behind a `--` they are the
/// program's own.
pub fn parse(args: Vec<OsString>, mut selects: bool) -> Result<CommandLine, String> {
    let mut c = CommandLine::default();
    let (mut distributed, mut epmd) = (false, true);
    let mut it = args.into_iter().peekable();
    while let Some(a) = it.next() {
        let mut value = |flag: &str| {
            it.next_if(|v| v != "--").ok_or(format!("Missing argument(s) for '{flag}'."))
        };
        if let Some((option, given)) = selector(&a).filter(|_| selects) {
            let given = given.map_or_else(|| value(option), |v| Ok(v.to_owned()))?;
            match option {
                "--otp" => c.otp = Some(given),
                _ => c.root = Some(given),
            }
            continue;
        }
        match a.as_bytes() {
            b"--" => {
                selects = false;
                c.init.push(a);
            }
            b"-extra" => {
                c.init.push(a);
                c.init.extend(it.by_ref());
            }
            // `-S`: see `env_args::START`.
            b"++S" => {
                c.init.extend(["-noshell".into(), "-S".into()]);
                c.init.extend(it.by_ref());
            }
            b"-env" => {
                let name = value("-env")?;
                c.env.push((name, value("-env")?));
            }
            b"-root" => c.root = Some(value("-root")?),
            b"-detached" => {
                c.detached = true;
                c.init.extend(["-noshell".into(), "-noinput".into()]);
            }
            b"-noinput" => c.init.extend(["-noshell".into(), "-noinput".into()]),
            b"-compile" => {
                c.init.extend(["-noshell", "-noinput", "-s", "c", "lc_batch"].map(OsString::from))
            }
            b"-make" => {
                c.init.extend(
                    ["-noshell", "-noinput", "-s", "make", "all_or_nothing"].map(OsString::from),
                );
                c.init.extend(["-s", "erlang", "halt"].map(OsString::from));
                break;
            }
            b"-name" | b"-sname" => {
                distributed = true;
                let flag = a.to_string_lossy().into_owned();
                c.init.extend([a, value(&flag)?]);
            }
            b"-start_epmd" => {
                let on = value("-start_epmd")?;
                epmd = match on.as_bytes() {
                    b"true" => true,
                    b"false" => false,
                    _ => return Err("Expected boolean argument for '-start_epmd'.".into()),
                };
                c.init.extend([a, on]);
            }
            b"-version" => c.version = true,
            b"-emu_args_exit" => c.print_args = true,
            b"-emu_args" => c.show_args = true,
            b"-keep_window" => {}
            b"-smp" => {
                let mode = it.next_if(|v| matches!(v.as_bytes(), b"auto" | b"enable" | b"disable"));
                if mode.is_some_and(|m| m == "disable") {
                    c.vm.push(("S".into(), Some("1".into())));
                }
            }
            b"-smpdisable" => c.vm.push(("S".into(), Some("1".into()))),
            b"-smpauto" | b"-smpenable" => {}
            b"-emu_type" | b"-emu_flavor" | b"-epmd" => {
                value(&a.to_string_lossy())?;
            }
            b"-configfd" if it.peek().is_some_and(|v| v == "0") => {
                c.init.extend(["-noshell".into(), "-noinput".into(), a]);
            }
            [b'+', ..] => vm_flag(&a.to_string_lossy(), &mut it, &mut c)?,
            _ => c.init.push(a),
        }
    }
    c.needs_epmd = distributed && epmd;
    Ok(c)
}

fn vm_flag(
    flag: &str,
    it: &mut std::iter::Peekable<impl Iterator<Item = OsString>>,
    c: &mut CommandLine,
) -> Result<(), String> {
    let name = &flag[1..];
    let text = |v: OsString| v.to_string_lossy().into_owned();
    let with_value = WITH_VALUE.contains(&name) || name == DIRECTORY || is_allocator_flag(name);
    let value = if with_value || name.starts_with(INSTRUMENTATION) {
        let v = it.next_if(|v| v != "--").ok_or(format!("Missing argument(s) for '{flag}'."))?;
        Some(text(v))
    } else if let Some(value) = name.strip_prefix("fn").filter(|_| !BARE.contains(&name)) {
        return Err(wrong_names(value));
    } else if name == "c" {
        it.next_if(|v| v == "true" || v == "false").map(text)
    } else if name == "B" {
        it.next_if(|v| v == "i" || v == "c" || v == "d").map(text)
    } else if BARE.contains(&name) {
        None
    } else if name.starts_with(['M', 'D']) {
        // The value is part of the name, or the flag is unknown.
        None
    } else if let Some(short) = attached(name) {
        c.vm.push((short.into(), Some(name[short.len()..].into())));
        return Ok(());
    } else {
        return Err(format!("unknown flag -{name}"));
    };
    c.vm.push((name.into(), value));
    Ok(())
}

/// The flag of a word that includes its value: `+A32`, `+S1:1`, `+Ktrue` for `+K true`.
fn attached(name: &str) -> Option<&'static str> {
    let mut known: Vec<&'static str> =
        WITH_VALUE.iter().chain(WITH_VALUE_BEHIND).copied().collect();
    known.extend(["c", DIRECTORY]);
    known.sort_by_key(|f| std::cmp::Reverse(f.len()));
    known.into_iter().find(|f| name.len() > f.len() && name.starts_with(f))
}

/// Whether this is a memory setting `+M…` that takes the next argument as its value.
fn is_allocator_flag(name: &str) -> bool {
    let Some(setting) = name.strip_prefix('M') else { return false };
    let of_allocator = setting.chars().next().is_some_and(|c| ALLOCATORS.contains(c));
    MEMORY.contains(&setting) || of_allocator && ALLOCATOR.contains(&&setting[1..])
}
/// The error message for a wrong letter after `+fn`.
fn wrong_names(letters: &str) -> String {
    match letters.strip_prefix(['u', 'a']) {
        Some(kind) => format!("bad type of warnings for wrongly coded filename: {kind}"),
        None => format!(
            "bad filename encoding {letters}, can be (l,u or a, optionally followed by w, i or e)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn splits_vm_and_init_flags() {
        let c = parse(
            os(&["+S", "2", "-noshell", "-pa", "x", "+Bd", "--", "y", "-extra", "z", "+A", "3"]),
            true,
        )
        .unwrap();
        assert_eq!(c.vm, [("S".into(), Some("2".into())), ("Bd".into(), None)]);
        assert_eq!(c.init, os(&["-noshell", "-pa", "x", "--", "y", "-extra", "z", "+A", "3"]));
    }

    #[test]
    fn refuses_what_erl_refuses() {
        let parse = |words: &[&str]| parse(os(words), true);
        assert!(parse(&["+S"]).is_err());
        assert!(parse(&["+ö"]).is_err());
        assert_eq!(parse(&["-smp", "disable"]).unwrap().vm, [("S".into(), Some("1".into()))]);
    }

    #[test]
    fn options_that_select_an_otp() {
        let asked = |words: &[&str], selects| {
            let c = parse(os(words), selects).unwrap();
            (c.otp, c.root, c.init)
        };
        let both = (Some("27".into()), Some("/r".into()), os(&["-noshell"]));
        assert_eq!(asked(&["--otp", "27", "-noshell", "--root", "/r"], true), both);
        assert_eq!(asked(&["--otp=27", "-noshell", "--root=/r"], true), both);
        assert!(parse(os(&["--otp"]), true).is_err());
        let rest = &["--", "--root", "/srv", "--otp=1"];
        assert_eq!(asked(rest, true), (None, None, os(rest)));
        let by_another_name = &["--root", "/srv", "--otp=1", "--others"];
        assert_eq!(asked(by_another_name, false), (None, None, os(by_another_name)));
    }

    #[test]
    fn every_flag_is_in_the_documentation() {
        let text = include_str!("../../../docs/COMPATIBILITY.md");
        let missing =
            |f: &&&str| !text.contains(&format!("`+{f}`")) && !text.contains(&format!("`+{f} "));
        let all = WITH_VALUE.iter().chain(BARE);
        assert_eq!(all.filter(missing).collect::<Vec<_>>(), [&""; 0]);
    }
}
