//! Flags without effect here. Their values are checked, with the error messages of `erl`.

use kvik_proc::sched::online_cpus;

use super::numbers::{atoi, leading, strtol};
use super::{allocators, ensure, Read};

const BOOLEAN: &[&str] = &["true", "false"];
const WAIT: &[&str] = &["none", "very_short", "short", "medium", "long", "very_long"];
const TABLE_WAIT: &[&str] =
    &["none", "very_short", "short", "medium", "long", "very_long", "extremely_long"];
const EAGERNESS: &[&str] = &["very_lazy", "lazy", "medium", "eager", "very_eager"];
const THRESHOLD: &[&str] = &["very_high", "high", "medium", "low", "very_low"];
const BINDING: &[&str] = &["u", "ns", "ts", "ps", "s", "nnts", "nnps", "tnnps", "db"];

/// Flags with a choice of values, and the message for other values. `@`: the value.
const CHOICES: &[(&str, &[&str], &str)] = &[
    ("n", &["s", "a", "d"], "bad -n option @"),
    ("scl", BOOLEAN, "bad scheduler compact load value '@'"),
    ("sub", BOOLEAN, "bad scheduler utilization balancing  value '@'"),
    ("swct", EAGERNESS, "scheduler wake cleanup threshold: @"),
    ("swt", THRESHOLD, "scheduler wakeup threshold: @"),
    ("swtdcpu", THRESHOLD, "dirty CPU scheduler wakeup threshold: @"),
    ("swtdio", THRESHOLD, "dirty IO scheduler wakeup threshold: @"),
    ("sws", &["default", "legacy"], "scheduler wakeup strategy: @"),
    ("sbwtdcpu", WAIT, "bad dirty CPU scheduler busy wait threshold: @"),
    ("sbwtdio", WAIT, "bad dirty IO scheduler busy wait threshold: @"),
    ("sbt", BINDING, "setting scheduler bind type '@' failed: invalid type"),
    ("stbt", BINDING, "setting scheduler bind type '@' failed: invalid type"),
    ("zebwt", TABLE_WAIT, "Invalid ets busy wait threshold: @"),
    ("JDdump", BOOLEAN, "bad +JDdump flag @"),
    ("IOs", BOOLEAN, "bad +IOs boolean argument: @"),
];

/// Flags with a number, its range, and the message for other values. Missing digits count as 0.
const NUMBERS: &[(&str, i64, i64, &str)] = &[
    ("a", 16, 8192, "bad stack size for async threads @"),
    ("sss", 20, 8192, "bad stack size for scheduler threads @"),
    ("sssdcpu", 20, 8192, "bad stack size for dirty CPU scheduler threads @"),
    ("sssdio", 20, 8192, "bad stack size for dirty IO scheduler threads @"),
    ("sfwi", 0, i64::MAX - 1, "bad scheduler forced wakeup interval @"),
];

/// The same, but there must be a number.
const GIVEN_NUMBERS: &[(&str, i64, i64, &str)] = &[
    ("rg", 0, i64::MAX, "bad reader groups limit: @"),
    ("dcg", 0, i64::MAX, "bad decentralized counter groups limit: @"),
    ("IOt", 1, 1024, "bad I/O poll threads number: @"),
    ("IOp", 1, i64::MAX, "bad I/O pollset number: @"),
    ("IOPt", 0, 100, "bad I/O poll thread percentage number: @"),
    ("IOPp", 0, 100, "bad I/O pollset percentage number: @"),
];

pub fn check(name: &str, value: &str) -> Read {
    let told = |text: &str| text.replace('@', value);
    if let Some((_, choices, no)) = CHOICES.iter().find(|c| c.0 == name) {
        return ensure(choices.contains(&value), || told(no));
    }
    if let Some((_, low, high, no)) = NUMBERS.iter().find(|c| c.0 == name) {
        return ensure((*low..=*high).contains(&strtol(value).unwrap_or(i64::MAX)), || told(no));
    }
    if let Some((_, low, high, no)) = GIVEN_NUMBERS.iter().find(|c| c.0 == name) {
        let n = leading(value).filter(|n| (*low..=*high).contains(&n.0));
        return ensure(n.is_some(), || told(no));
    }
    match name {
        "JMsingle" if kvik_release::current().number < 26 => {
            Err("invalid JIT option -JMsingle".into())
        }
        "v" => {
            kvik_sys::complain_as_emulator(b"warning: -v (only in debug compiled code)\n");
            Ok(())
        }
        "H" => {
            kvik_sys::complain!("The undocumented +H option has been removed (R10B-6).\n");
            Ok(())
        }
        _ => match name.strip_prefix('M') {
            Some(setting) => allocators::check(setting, value),
            None => Ok(()),
        },
    }
}

/// Checks that there are at least as many poll threads as poll sets.
pub fn poll_sets(flags: &[(String, Option<String>)]) -> Read {
    let value = |name: &str| {
        let of = flags.iter().rev().find(|f| f.0 == name)?;
        Some(atoi(of.1.as_deref().unwrap_or_default())).filter(|n| *n != 0)
    };
    let share = |all: i64, percent: Option<i64>| percent.map_or(1, |p| (all * p / 100).max(1));
    let threads = value("IOt").unwrap_or_else(|| share(online_cpus() as i64, value("IOPt")));
    let sets = value("IOp").unwrap_or_else(|| share(threads, value("IOPp")));
    ensure(sets <= threads, || {
        format!(
            "number of IO poll threads has to be greater or equal to the number of \n\
             IO pollsets. Current values are set to: \n  -IOt {threads} -IOp {sets}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_and_refuses_what_erl_does() {
        let flags = [
            ("sbt", "db", "x"),
            ("swt", "very_low", "lowest"),
            ("a", "16", "15"),
            ("rg", "0", "x"),
            ("sfwi", "0", "-1"),
            ("MBas", "aobf", "x"),
        ];
        for (flag, good, bad) in flags {
            assert_eq!(check(flag, good), Ok(()));
            assert!(check(flag, bad).is_err(), "+{flag} {bad}");
        }
        let sets = |n: &str| poll_sets(&[("IOp".into(), Some(n.into()))]);
        assert!(sets("1").is_ok() && sets("2").is_err());
    }
}
