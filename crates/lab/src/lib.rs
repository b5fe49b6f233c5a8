//! The laboratory: runs the experiments on kvik and its peers in turn, and reports.
//!
//! `options` parses the command line, `peers` finds the peers, `experiments` defines what is run
//! and parses its output, `run` does one run, `rounds` interleaves runs, `stats` computes
//! statistics, `summary` and `headline` compare peers, `servers` names servers to measure, `compare`
//! compares reports, `table` and `report` produce output. The lab knows kvik only as a program to
//! start.
#![forbid(unsafe_code)]

mod compare;
mod experiments;
mod headline;
mod jdk;
mod machine;
mod memory_warmup;
mod options;
mod peers;
mod programs;
mod progress;
mod report;
mod rounds;
mod run;
mod servers;
mod stats;
mod summary;
mod system_load;
mod table;

pub use compare::FORMAT;
use options::LabOptions;
pub use options::HELP;
use std::io::Write;

/// `kvik bench ARGS…`: the exit status.
pub fn main(args: Vec<String>) -> i32 {
    match LabOptions::parse(&args) {
        Ok(options) if options.help => {
            kvik_sys::say!("{}", options::HELP);
            0
        }
        Ok(options) => bench(&options).unwrap_or_else(|fault| {
            kvik_sys::complain!("kvik bench: {fault}");
            1
        }),
        Err(fault) => {
            kvik_sys::complain!("kvik bench: {fault}\n\n{}", options::HELP);
            2
        }
    }
}

fn bench(options: &LabOptions) -> Result<i32, String> {
    // Checked before any measurement, so that a wrong file name costs no time.
    let old = options.compare.as_deref().map(compare::read).transpose()?;
    if let (Some(old), Some(new)) = (&old, options.with.as_deref()) {
        print("", &compare::Comparison::of(old, &compare::read(new)?).text());
        return Ok(0);
    }
    let mut line_up = peers::find(options)?;
    let jobs = experiments::chosen(options)?;
    if !jobs.iter().any(|job| line_up.peers.iter().any(|peer| job.ask(peer).is_some())) {
        return Err("none of these peers can run these experiments".to_owned());
    }
    let work = programs::prepare(&mut line_up)?;
    if jobs.iter().any(|job| job.driven) {
        line_up.load_generator = programs::load_generator()?;
    }
    for missing in &line_up.missing {
        kvik_sys::say!("missing: {missing}");
    }
    run::heed_interrupts();
    let machine = machine::Machine::look();
    let results = rounds::measure(&line_up, &jobs, &work, options);
    let summary = summary::Summary::of(&line_up, &jobs, &results);
    print("", &table::text(&summary));
    let report = report::Report {
        options,
        machine: &machine,
        line_up: &line_up,
        jobs: &jobs,
        summary: &summary,
        results: &results,
    };
    results.notes.iter().for_each(|note| kvik_sys::say!("note: {note}"));
    results.lacks().iter().for_each(|lack| kvik_sys::say!("missing: {lack}"));
    let changes = old.map(|old| compare::Comparison::of(&old, &report.data()));
    if let Some(changes) = &changes {
        print("\nwhat changed\n", &changes.text());
    }
    kvik_sys::say!("\nreport: {}", report.write(changes.as_ref())?.display());
    Ok(i32::from(summary.kvik_failed()))
}

/// `print!` without the panic.
fn print(title: &str, text: &str) {
    let _ = write!(std::io::stdout(), "{title}{text}");
}
