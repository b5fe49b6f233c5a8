//! The report: one HTML page that needs nothing else, and the same as JSON.

mod html;
mod json;
mod svg;

use crate::machine::Machine;
use crate::options::Options;
use crate::peers::LineUp;
use crate::rounds::Results;
use crate::stats::Summary;
use std::path::PathBuf;

pub fn write(
    options: &Options,
    machine: &Machine,
    line_up: &LineUp,
    summary: &Summary,
    results: &Results,
) -> Result<PathBuf, String> {
    let fault = |e: std::io::Error| format!("{}: {e}", options.out.display());
    std::fs::create_dir_all(&options.out).map_err(fault)?;
    let page = options.out.join("index.html");
    std::fs::write(&page, html::page(options, machine, line_up, summary)).map_err(fault)?;
    let data = json::data(options, machine, line_up, summary, results);
    let text = serde_json::to_string_pretty(&data).map_err(|e| e.to_string())?;
    std::fs::write(options.out.join("report.json"), &text).map_err(fault)?;
    if options.json {
        println!("{text}");
    }
    Ok(page)
}
