//! The laboratory: runs the five experiments on kvik and on its peers in turn, and reports.
//!
//! `options` reads the command line, `peers` finds who takes part, `experiments` says what is run
//! and how its output is read, `run` runs one of them once, `rounds` interleaves them, `stats`
//! condenses, `table` and `report` show. The lab knows kvik only as a program to start.
#![forbid(unsafe_code)]

mod experiments;
mod machine;
mod options;
mod peers;
mod programs;
mod report;
mod rounds;
mod run;
mod stats;
mod table;

use options::Options;

/// `kvik bench ARGS…`: the exit status.
pub fn main(args: Vec<String>) -> i32 {
    match Options::parse(&args) {
        Ok(options) if options.help => {
            println!("{}", options::HELP);
            0
        }
        Ok(options) => bench(&options).unwrap_or_else(|fault| {
            eprintln!("kvik bench: {fault}");
            1
        }),
        Err(fault) => {
            eprintln!("kvik bench: {fault}\n\n{}", options::HELP);
            2
        }
    }
}

fn bench(options: &Options) -> Result<i32, String> {
    let line_up = peers::find(options)?;
    let jobs = experiments::chosen(options)?;
    for missing in &line_up.missing {
        println!("missing: {missing}");
    }
    let folder = programs::prepare(&line_up)?;
    let machine = machine::Machine::look();
    let results = rounds::measure(&line_up, &jobs, folder.path(), options);
    let summary = stats::Summary::of(&line_up, &jobs, &results);
    print!("{}", table::text(&summary));
    let out = report::write(options, &machine, &line_up, &summary, &results)?;
    println!("\nreport: {}", out.display());
    Ok(i32::from(summary.kvik_failed()))
}
