//! The command line of `kvik bench`.

use std::path::PathBuf;

pub const HELP: &str = "\
usage: kvik bench [EXPERIMENT...] [options]

  --quick        fewer peers, messages and sizes, and as many rounds as fit the time
  --rounds N     rounds of everything (default 7; quick: 5)
  --budget S     begin no round that ends after S seconds
                 (default 1490; quick: 175, of servers 50)
  --limit S      a run that takes longer has failed (default: 120 to 400, by experiment)
  --out DIR      where the report goes (default: report)
  --json         print the JSON too
  --vm PATH      the kvik to measure (default: this one)
  --erl PATH     the erl to measure beside it (default: the one found); once for each version
  --compare OLD  say what changed since OLD, a report.json, in the rows that both have
  --with NEW     ... up to NEW, another report.json: nothing is measured
  --peers LIST   of kvik1,otp1,kvik,otp,go1,go,tokio1,tokio,jvirtual,jthreads,c,cblocking
                 (default: all that are found; quick: without go1, tokio1, jthreads)

Files are written in $TMPDIR. The programs are built into $XDG_CACHE_HOME/kvik-bench.
^C ends it with a report of what was measured.

experiments: oneway pingpong ring spawn memory calls senders pairs lives pipes oneport
             portlines portopen manyports files readfile lines compile scheduling start
             loading codesize work programs
             servers (servers/http/plain: one workload; only if named)
Named they run in full and in every round: 'files' passes all of 100 MB by blocks of each size,
'lines' is 1,000,000, 'programs' counts the words of 100 MB and takes all of stdlib.";

/// Time budget in seconds, in full and in quick mode.
const BUDGET: u64 = 1490;
const QUICK_BUDGET: u64 = 175;
/// The same where one server is named.
const QUICK_SERVER_BUDGET: u64 = 50;

#[derive(Debug, Clone, PartialEq)]
pub struct LabOptions {
    pub help: bool,
    pub quick: bool,
    pub json: bool,
    pub rounds: usize,
    pub budget: Option<u64>,
    pub limit: Option<u64>,
    pub out: PathBuf,
    pub vm: Option<PathBuf>,
    pub erl: Vec<PathBuf>,
    pub compare: Option<PathBuf>,
    pub with: Option<PathBuf>,
    pub peers: Vec<String>,
    pub experiments: Vec<String>,
}

impl Default for LabOptions {
    fn default() -> Self {
        LabOptions {
            help: false,
            quick: false,
            json: false,
            rounds: 7,
            budget: None,
            limit: None,
            out: PathBuf::from("report"),
            vm: None,
            erl: Vec::new(),
            compare: None,
            with: None,
            peers: Vec::new(),
            experiments: Vec::new(),
        }
    }
}

impl LabOptions {
    pub fn parse(args: &[String]) -> Result<LabOptions, String> {
        let mut options = LabOptions::default();
        let mut rounds = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let mut value = || rest.next().cloned().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--help" | "-h" => options.help = true,
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--rounds" => rounds = Some(number(&value()?)?),
                "--budget" => options.budget = Some(number(&value()?)? as u64),
                "--limit" => options.limit = Some(number(&value()?)? as u64),
                "--out" => options.out = PathBuf::from(value()?),
                "--vm" => options.vm = Some(PathBuf::from(value()?)),
                "--erl" => options.erl.push(PathBuf::from(value()?)),
                "--compare" => options.compare = Some(PathBuf::from(value()?)),
                "--with" => options.with = Some(PathBuf::from(value()?)),
                "--peers" => options.peers = value()?.split(',').map(str::to_owned).collect(),
                name if !name.starts_with('-') => options.experiments.push(name.to_owned()),
                other => return Err(format!("unknown option {other}")),
            }
        }
        if options.with.is_some() && options.compare.is_none() {
            return Err("--with needs --compare".to_owned());
        }
        let (usual, budget) =
            if options.quick { (5, QUICK_BUDGET) } else { (options.rounds, BUDGET) };
        options.rounds = rounds.unwrap_or(usual);
        // A quick look at one server is a look.
        let of_servers = |name: &String| name.starts_with("servers");
        let one = options.experiments.iter().all(of_servers) && options.experiments.len() == 1;
        let budget = if one && options.quick { QUICK_SERVER_BUDGET } else { budget };
        // In full mode an explicit number of rounds has no default time budget.
        if rounds.is_none() || options.quick {
            options.budget = options.budget.or(Some(budget));
        }
        Ok(options)
    }
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("not a positive number: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<LabOptions, String> {
        LabOptions::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn reads_options_and_names() {
        let o = parse("pingpong --rounds 3 ring --out x --peers kvik,otp").unwrap();
        assert_eq!((o.rounds, o.out), (3, PathBuf::from("x")));
        assert_eq!(o.experiments, ["pingpong", "ring"]);
        assert_eq!(o.peers, ["kvik", "otp"]);
    }

    #[test]
    fn quick_has_a_budget() {
        assert_eq!(parse("--quick").unwrap().budget, Some(QUICK_BUDGET));
        assert_eq!((parse("").unwrap().budget, parse("").unwrap().rounds), (Some(BUDGET), 7));
        assert!(HELP.contains(&format!(
            "(default {BUDGET}; quick: {QUICK_BUDGET}, of servers {QUICK_SERVER_BUDGET})"
        )));
        assert_eq!(parse("ring --rounds 9").unwrap().budget, None);
        assert_eq!(parse("--quick --budget 60").unwrap().budget, Some(60));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(parse("--fast").is_err());
        assert!(parse("--rounds").is_err());
        assert!(parse("--rounds none").is_err());
        assert!(parse("--with new.json").is_err());
        assert!(parse("--with new.json --compare old.json").is_ok());
    }
}
