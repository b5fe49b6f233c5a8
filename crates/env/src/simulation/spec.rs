//! Faults as text: `NAME:EFFECT[:WHEN]`, several with commas between.
//!
//! EFFECT is an error's name in small letters, `short`, a time (`+1h`, `-5s`, `20ms`) or a number.
//! WHEN is `nth=N`, `after=N`, or `p=0.1` with `seed=N` behind it; without it every call is struck.

use super::When;
use crate::faults::{Effect, Fault, Kind};
use crate::Errno;

pub fn parse(text: &str) -> Result<Vec<(Fault, Effect, When)>, String> {
    let parts = text.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| one(p).ok_or_else(|| format!("{p}: {}", usage(p)))).collect()
}

/// What would be valid instead.
fn usage(part: &str) -> String {
    let name = part.split(':').next().unwrap_or_default();
    match Fault::ALL.iter().find(|(_, n, _)| *n == name) {
        Some((_, _, effects)) => {
            format!("not {name}:EFFECT[:WHEN], where EFFECT is of {effects:?}")
        }
        None => {
            let names: Vec<&str> = Fault::ALL.iter().map(|(_, n, _)| *n).collect();
            format!("not one of {}", names.join(" "))
        }
    }
}

fn one(part: &str) -> Option<(Fault, Effect, When)> {
    let mut fields = part.split(':');
    let name = fields.next()?;
    let (fault, _, effects) = Fault::ALL.iter().find(|(_, n, _)| *n == name)?;
    let text = fields.next()?;
    let effect = effects.iter().find_map(|k| effect(*k, text))?;
    Some((*fault, effect, when(fields)?))
}

fn effect(kind: Kind, text: &str) -> Option<Effect> {
    match kind {
        Kind::Fail => Errno::named(text).map(Effect::Fail),
        Kind::Short => (text == "short").then_some(Effect::Short),
        Kind::Jump => nanos(text).map(Effect::Jump),
        Kind::Value => text.parse().ok().map(Effect::Value),
    }
}

fn nanos(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 4] = [
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == &text[digits.len()..])?;
    digits.parse::<i64>().ok()?.checked_mul(*unit)
}

fn when<'a>(fields: impl Iterator<Item = &'a str>) -> Option<When> {
    let mut when = When::Always;
    for field in fields {
        let (key, value) = field.split_once('=')?;
        when = match (key, when) {
            ("nth", When::Always) => When::Nth(value.parse().ok().filter(|n| *n > 0)?),
            ("after", When::Always) => When::After(value.parse().ok()?),
            ("p", When::Always) => {
                let p = value.parse().ok().filter(|p| (0.0..=1.0).contains(p))?;
                When::Probability { p, seed: 0 }
            }
            ("seed", When::Probability { p, .. }) => {
                When::Probability { p, seed: value.parse().ok()? }
            }
            _ => return None,
        };
    }
    Some(when)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_should() {
        let text = "file_write:enospc:after=3, pipe_write:short:nth=2,spawn:eagain,\
                    file_read:eio:p=0.5:seed=9,clock_jump:-5s,clock_jump:+1h,random:7";
        let all = parse(text).unwrap();
        assert_eq!(
            all,
            [
                (Fault::FileWrite, Effect::Fail(Errno::named("enospc").unwrap()), When::After(3)),
                (Fault::PipeWrite, Effect::Short, When::Nth(2)),
                (Fault::Spawn, Effect::Fail(Errno::AGAIN), When::Always),
                (
                    Fault::FileRead,
                    Effect::Fail(Errno::named("eio").unwrap()),
                    When::Probability { p: 0.5, seed: 9 }
                ),
                (Fault::ClockJump, Effect::Jump(-5_000_000_000), When::Always),
                (Fault::ClockJump, Effect::Jump(3_600_000_000_000), When::Always),
                (Fault::Random, Effect::Value(7), When::Always),
            ]
        );
        assert!(parse(" ").unwrap().is_empty());
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "file",
            "file_write",
            "file_write:",
            "file_write:enothing",
            "file_open:short",
            "file_write:enospc:nth=0",
            "file_write:enospc:nth=1:after=2",
            "file_write:enospc:nth",
            "file_write:enospc:p=2",
            "file_write:enospc:seed=2",
            "clock_jump:enospc",
            "clock_jump:5",
            "clock_jump:99999999999h",
            "random:short",
            "spawn:eagain,x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("x:y").unwrap_err().contains("file_open"));
    }
}
