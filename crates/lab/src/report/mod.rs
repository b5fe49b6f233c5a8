//! The report: one self-contained HTML page, and the same as Markdown and JSON.

#[cfg(test)]
mod browser;
mod charts;
mod dots;
mod escape;
mod html;
mod json;
mod markdown;
mod svg;

use crate::compare::Comparison;
use crate::experiments::{Job, SLOW_PEERS};
use crate::machine::Machine;
use crate::options::LabOptions;
use crate::peers::{LineUp, PeerKind};
use crate::progress::MIN_SAMPLES;
use crate::rounds::Results;
use crate::summary::Summary;
use crate::table;
use serde_json::Value;
use std::path::PathBuf;

/// The data of a report.
pub struct Report<'a> {
    pub options: &'a LabOptions,
    pub machine: &'a Machine,
    pub line_up: &'a LineUp,
    pub jobs: &'a [Job],
    pub summary: &'a Summary,
    pub results: &'a Results,
}

impl Report<'_> {
    /// The jobs that fill the rows of an experiment.
    fn jobs_of(&self, subject: &str) -> Vec<&Job> {
        self.jobs.iter().filter(|job| job.experiment == subject).collect()
    }

    /// Missing peers, and tools that a job needs.
    fn missing(&self) -> Vec<String> {
        [self.line_up.missing.clone(), self.results.lacks()].concat()
    }

    /// The report as JSON.
    pub fn data(&self) -> Value {
        json::data(self)
    }

    pub fn write(&self, changes: Option<&Comparison>) -> Result<PathBuf, String> {
        let out = &self.options.out;
        let fault = |e: std::io::Error| format!("{}: {e}", out.display());
        std::fs::create_dir_all(out).map_err(fault)?;
        let page = out.join("index.html");
        std::fs::write(&page, html::page(self, changes)).map_err(fault)?;
        std::fs::write(out.join("report.md"), markdown::page(self, changes)).map_err(fault)?;
        let text = serde_json::to_string_pretty(&self.data()).map_err(|e| e.to_string())?;
        std::fs::write(out.join("report.json"), &text).map_err(fault)?;
        if self.options.json {
            kvik_sys::say!("{text}");
        }
        Ok(page)
    }
}

fn rounds(summary: &Summary) -> String {
    match summary.rounds {
        0 => "Part of one round".to_owned(),
        1 => "1 round".to_owned(),
        n => format!("{n} rounds"),
    }
}

/// Explains the figures.
fn lead(report: &Report) -> String {
    let summary = report.summary;
    let mut text = format!(
        "{} of everything in turn, each run in a fresh process. Figures are medians with the \
         span from the lowest round to the highest. Ratios are computed round by round, with the \
         interval in which their median lies at 95%, which of fewer than nine rounds is from the \
         lowest to the highest (of five it is 94%, of three 75%); above 1 kvik is better.",
        rounds(summary),
    );
    if summary.columns.len() > 2 {
        text.push_str(
            " Beside a peer that was run in two ways (on one thread and on all) kvik stands beside \
             the better.",
        );
    }
    if summary.rounds < MIN_SAMPLES {
        text.push_str(" There was time for so few rounds that their spread says little.");
    }
    if report.options.quick {
        text.push_str(" This is the quick form: smaller counts and sizes.");
    }
    if summary.interrupted {
        text.push_str(" The measuring was interrupted.");
    }
    text
}

/// Lists jobs that did not run in all rounds.
fn seldom(text: &mut String, report: &Report) {
    let all = report.summary.rounds;
    for rounds in 1..all {
        let names =
            |jobs: Vec<&Job>| jobs.into_iter().map(Job::name).collect::<Vec<_>>().join(", ");
        let few = names(report.jobs.iter().filter(|job| job.rounds == rounds).collect());
        if !few.is_empty() {
            text.push_str(&format!(" Only in the first {rounds} rounds: {few}."));
        }
    }
}

/// Lists peers that did less work in an experiment.
fn slow(text: &mut String, report: &Report) {
    let part = |(experiment, kind, part): &(&str, PeerKind, u64)| {
        let job = report.jobs.iter().find(|job| job.experiment == *experiment)?;
        let peer = report.line_up.peers.iter().rev().find(|peer| peer.kind == *kind)?;
        job.ask(peer)?;
        Some(format!("{} 1/{part} on {}", job.experiment, peer.label))
    };
    let less: Vec<String> = SLOW_PEERS.iter().filter_map(part).collect();
    if !less.is_empty() {
        text.push_str(&format!(
            " Who is slow passes fewer messages, at what each of them takes: {}.",
            less.join(", ")
        ));
    }
}

/// Describes the machine and configuration.
fn machine(report: &Report) -> String {
    let (machine, summary) = (report.machine, report.summary);
    let mut text = format!(
        "{} ({} cores, {:.1} GB), Linux {}, load {} before; {} in {:.0} s, {:.0} s of them \
         for repeating runs that others disturbed and {:.0} s to have memory at hand. One program at \
         a time, nothing pinned. Before the clock starts a tenth of the work is done in Java, in the \
         small programs, and where calls, crowds, short lives and opened ports are measured; \
         elsewhere nothing is warm but memory: as much as a program is going to take is held \
         present by the lab, and free when it starts.",
        machine.model,
        machine.cores,
        machine.memory_mb as f64 / 1024.0,
        machine.kernel,
        machine.load,
        rounds(summary),
        summary.seconds,
        report.results.repeating_seconds,
        report.results.warming_seconds,
    );
    if let Some(limit) = report.jobs.iter().find_map(Job::cell_limit) {
        text.push_str(&format!(
            " In the file charts each point is 100 MB, or what of it passed in {limit}."
        ));
    }
    seldom(&mut text, report);
    slow(&mut text, report);
    if let Some(note) = table::disturbed(summary) {
        text.push(' ');
        text.push_str(&note);
    }
    text
}
