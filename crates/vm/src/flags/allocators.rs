//! `+M…`: settings of OTP's allocators. kvik has a single allocator without settings, but rejects
//! the same flags as OTP.

use kvik_release::Span;

use super::numbers::leading;
use super::{ensure, Read};

/// The valid values of a setting.
#[derive(Copy, Clone)]
enum Kind {
    Boolean,
    /// A number from 0 to this maximum.
    UpTo(i64),
    /// A percentage, or `de`.
    Utilisation,
    Strategy,
    /// A Boolean, or `code` in some releases.
    Tags,
    /// The letter of an allocator, `:` or `@`.
    Pool,
    OneOf(&'static [&'static str]),
}
use Kind::*;

const ANY: Kind = UpTo(i64::MAX);
const KILOBYTES: Kind = UpTo(i64::MAX >> 9);
const MEGABYTES: Kind = UpTo(1 << 44);

const STRATEGIES: &[&str] = &[
    "bf",
    "aobf",
    "gf",
    "af",
    "aoff",
    "aoffcbf",
    "aoffcaobf",
    "ageffcaoff",
    "ageffcbf",
    "ageffcaobf",
];

/// Settings per allocator. A name precedes every name that is a prefix of it.
const OF_ALLOCATOR: &[(&str, Kind)] = &[
    ("acul", Utilisation),
    ("acnl", ANY),
    ("acfml", ANY),
    ("acful", Utilisation),
    ("asbcst", KILOBYTES),
    ("as", Strategy),
    ("atags", Tags),
    ("cp", Pool),
    ("e", Boolean),
    ("lmbcs", KILOBYTES),
    ("mbcgs", ANY),
    ("mbsd", ANY),
    ("mmbcs", KILOBYTES),
    ("mmmbc", ANY),
    ("mmsbc", ANY),
    ("rsbcmt", ANY),
    ("rsbcst", ANY),
    ("rmbcmt", ANY),
    ("ramv", Boolean),
    ("sbct", KILOBYTES),
    ("smbcs", KILOBYTES),
    ("t", Boolean),
];
/// Other settings, keyed by the text after the M.
const OTHERS: &[(&str, Kind)] = &[
    ("Iscs", MEGABYTES),
    ("Mamcbf", KILOBYTES),
    ("Mrmcbf", ANY),
    ("Mmcs", ANY),
    ("Mscs", MEGABYTES),
    ("Mscrpm", Boolean),
    ("Mscrfsd", ANY),
    ("Msco", Boolean),
    ("Ytt", UpTo(i32::MAX as i64 / 1024)),
    ("Ytp", UpTo(i32::MAX as i64 / 1024)),
    ("Ye", OneOf(&["true"])),
    ("lpm", OneOf(&["all", "no"])),
    ("uycs", KILOBYTES),
    ("ummc", ANY),
    ("usac", Boolean),
];
/// The same for settings that not every release has.
const NEWER: &[(&str, Kind, Span)] =
    &[("Mlp", OneOf(&["on", "off"]), Span::since(27)), ("umadtn", Boolean, Span::since(29))];
/// The letters of the allocators; `u` stands for all.
const LETTERS: &str = "uBDEFHILRSTZ";
/// Allocators whose carriers cannot migrate and which cannot be disabled.
const FIXED: &str = "IT";

/// Checks a setting. `name` is the text after the M, perhaps with the value appended.
pub fn check(name: &str, value: &str) -> Read {
    // The value concerns only the program that starts the emulator.
    if name.starts_with("Ym") {
        return Ok(());
    }
    let newer = NEWER.iter().filter(|s| s.2.has(kvik_release::current()));
    let mut others = OTHERS.iter().copied().chain(newer.map(|s| (s.0, s.1)));
    if let Some((setting, kind)) = others.find(|s| name.starts_with(s.0)) {
        return kind.check(name, setting.len(), value);
    }
    if let Some(given) = name.strip_prefix("dai") {
        let v = if given.is_empty() { value } else { given };
        return ensure(v == "max" || UpTo(i64::MAX).takes(v), || bad_value("dai", v));
    }
    if let Some(given) = name.strip_prefix("ea") {
        let v = if given.is_empty() { value } else { given };
        let known = ["min", "max", "config", "r9c", "r10b", "r11b"];
        return ensure(known.contains(&v), || bad_parameter("ea"));
    }
    let Some(letter) = name.chars().next().filter(|c| LETTERS.contains(*c)) else {
        // Letters with settings of their own are part of the reported name.
        let known = name.starts_with(['M', 'Y', 'e', 'l', 'd']);
        return Err(bad_parameter(if known { &name[..1] } else { "" }));
    };
    let setting = OF_ALLOCATOR.iter().find(|s| name[1..].starts_with(s.0));
    let moves = |s: &str| s.starts_with("ac") || s == "cp";
    let setting = setting.filter(|s| !(FIXED.contains(letter) && moves(s.0)));
    let (setting, kind) = setting.ok_or_else(|| bad_parameter(&name[..1]))?;
    kind.check(name, 1 + setting.len(), value)?;
    let given = &name[1 + setting.len()..];
    let v = if given.is_empty() { value } else { given };
    let forbidden = *setting == "e" && FIXED.contains(letter) && v == "false"
        || *setting == "t" && letter == 'I' && v == "true";
    ensure(!forbidden, || bad_value(&name[..2], v))
}

fn bad_parameter(name: &str) -> String {
    format!("bad \"M{name}\" parameter")
}
fn bad_value(name: &str, value: &str) -> String {
    format!("bad \"M{name}\" value: {value}")
}

impl Kind {
    /// The first `length` characters of `name` are the setting. The value is the rest of `name`, or
    /// `value` if there is none.
    fn check(self, name: &str, length: usize, value: &str) -> Read {
        let (setting, given) = name.split_at(length);
        let v = if given.is_empty() { value } else { given };
        // OTP drops the last letter of a strategy's name in the message.
        let shown = if matches!(self, Strategy) { &setting[..length - 1] } else { setting };
        ensure(self.takes(v), || bad_value(shown, v))
    }
    fn takes(self, v: &str) -> bool {
        let number = || leading(v).map(|(n, _)| n);
        match self {
            Boolean => ["true", "false"].contains(&v),
            Tags => {
                ["true", "false"].contains(&v)
                    || v == "code" && kvik_release::current().tags_allocations_with_code()
            }
            UpTo(most) => number().is_some_and(|n| (0..=most).contains(&n)),
            Utilisation => v == "de" || number().is_some_and(|n| (0..=100).contains(&n)),
            Strategy => STRATEGIES.contains(&v),
            Pool => v.len() == 1 && "BDEFHLRS@:".contains(v),
            OneOf(all) => all.contains(&v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_wrong() {
        let bad = |name, value| check(name, value).unwrap_err();
        assert_eq!(bad("Bas", "x"), "bad \"MBa\" value: x");
        assert_eq!(bad("Hx", "2"), "bad \"MH\" parameter");
        assert_eq!(bad("Xx", "2"), "bad \"M\" parameter");
        assert_eq!(bad("Mmcs", "x"), "bad \"MMmcs\" value: x");
        assert_eq!(bad("Ie", "false"), "bad \"MIe\" value: false");
        assert_eq!(bad("Tacul", "0"), "bad \"MT\" parameter");
        assert_eq!(bad("", ""), "bad \"M\" parameter");
    }
    #[test]
    fn the_value_may_stand_in_the_same_word() {
        assert!(check("Mmcs", "").is_err());
        assert_eq!(check("Mmcs30", ""), Ok(()));
        assert_eq!(check("Basaobf", ""), Ok(()));
    }
}
