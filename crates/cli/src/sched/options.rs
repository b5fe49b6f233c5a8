//! The command line of `kvik sched`.

use std::ffi::OsString;
use std::time::Duration;

pub const HELP: &str = "\
usage: kvik sched [--pid OS-PID] [options]
       kvik sched [options] -- PROGRAM ARG...

  --pid OS-PID   the VM with that process id (default: the only one of this user)
  -- PROGRAM...  starts a program that is or starts kvik; pictures go to standard error
  --no-idle      without the time that schedulers sleep
  --each         each scheduler by itself
  --every S      seconds from one picture to the next (default 1)
  --count N      end after so many
  --json         each picture as a line of JSON";

#[derive(Clone, PartialEq, Debug)]
pub enum Whom {
    Any,
    Pid(u32),
    Program(Vec<OsString>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct SchedOptions {
    pub help: bool,
    pub whom: Whom,
    pub idle: bool,
    pub each: bool,
    pub json: bool,
    pub every: Duration,
    pub count: Option<u64>,
}

impl SchedOptions {
    pub fn parse(args: &[OsString]) -> Result<SchedOptions, String> {
        let mut o = SchedOptions {
            help: false,
            whom: Whom::Any,
            idle: true,
            each: false,
            json: false,
            every: Duration::from_secs(1),
            count: None,
        };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let mut value = || {
                let v =
                    rest.next().ok_or_else(|| format!("{} needs a value", arg.to_string_lossy()));
                v.map(|v| v.to_string_lossy().into_owned())
            };
            match arg.to_str().unwrap_or_default() {
                "--help" | "-h" => o.help = true,
                "--no-idle" => o.idle = false,
                "--each" => o.each = true,
                "--json" => o.json = true,
                "--pid" => o.whom = o.whom.or(pid(&value()?)?)?,
                "--every" => o.every = seconds(&value()?)?,
                "--count" => o.count = Some(count(&value()?)?),
                "--" => {
                    let words: Vec<OsString> = rest.by_ref().cloned().collect();
                    if words.is_empty() {
                        return Err("no program behind --".into());
                    }
                    o.whom = o.whom.or(Whom::Program(words))?;
                }
                _ => return Err(format!("what is {}?", arg.to_string_lossy())),
            }
        }
        Ok(o)
    }
}

impl Whom {
    fn or(&self, other: Whom) -> Result<Whom, String> {
        match self {
            Whom::Any => Ok(other),
            _ => Err("one VM at a time: --pid once, or a program".into()),
        }
    }
}
fn pid(text: &str) -> Result<Whom, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(Whom::Pid(n)),
        _ => Err(format!("--pid: {text} is no process id")),
    }
}
fn seconds(text: &str) -> Result<Duration, String> {
    let good = |s: &f64| (0.01..=86_400.0).contains(s);
    match text.parse().ok().filter(good) {
        Some(s) => Ok(Duration::from_secs_f64(s)),
        None => Err(format!("--every: {text} is no number of seconds from 0.01 to 86400")),
    }
}
fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("--count: {text} is no number from 1 on")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<SchedOptions, String> {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        SchedOptions::parse(&args)
    }

    #[test]
    fn options_are_read() {
        let o = parse("--pid 12 --no-idle --json --every 0.5 --count 3").unwrap();
        assert_eq!((o.whom, o.idle, o.json), (Whom::Pid(12), false, true));
        assert_eq!((o.every.as_millis(), o.count), (500, Some(3)));
        let o = parse("-- erl --pid 3").unwrap();
        assert_eq!(o.whom, Whom::Program(["erl", "--pid", "3"].map(OsString::from).to_vec()));
        assert_eq!(parse("").unwrap().whom, Whom::Any);
    }
    #[test]
    fn reports_errors() {
        let cases = [
            ("--pid", "--pid needs a value"),
            ("--pid x", "--pid: x is no process id"),
            ("--pid 0", "--pid: 0 is no process id"),
            ("--pid 99999999999", "--pid: 99999999999 is no process id"),
            ("--every 0", "--every: 0 is no number of seconds from 0.01 to 86400"),
            ("--every nan", "--every: nan is no number of seconds from 0.01 to 86400"),
            ("--count 0", "--count: 0 is no number from 1 on"),
            ("--", "no program behind --"),
            ("--pid 1 -- erl", "one VM at a time: --pid once, or a program"),
            ("--loud", "what is --loud?"),
            ("17", "what is 17?"),
        ];
        for (line, fault) in cases {
            assert_eq!(parse(line), Err(fault.to_string()), "{line}");
        }
    }
}
