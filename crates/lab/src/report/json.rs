//! The measurements as JSON, with every round's value, so that others can compute their own
//! statistics.

use super::Report;
use crate::compare::FORMAT;
use crate::experiments::Job;
use crate::peers::PeerKind;
use crate::rounds::Run;
use crate::stats::Ratio;
use crate::summary::{self, fills, Cell, SummaryRow};
use serde_json::{json, Map, Value};

pub fn data(report: &Report) -> Value {
    let Report { options, machine, line_up, summary, results, .. } = report;
    let peers: Vec<Value> = line_up
        .peers
        .iter()
        .map(|p| json!({"id": p.id, "label": p.label, "command": p.line(), "version": p.version}))
        .collect();
    let rows: Vec<Value> = summary.rows.iter().map(|row| row_data(report, row)).collect();
    let itself: Vec<Value> = summary
        .itself
        .iter()
        .map(|i| json!({"label": i.label, "peers": by_peer(report, &i.cells, |r| ratio(*r))}))
        .collect();
    let runs: Vec<Value> = results
        .runs
        .iter()
        .map(|((job, peer), runs)| {
            let command = results.commands.get(&(job.clone(), *peer));
            let runs: Vec<Value> = runs.iter().map(run_data).collect();
            json!({
                "job": job, "peer": line_up.peers[*peer].id, "command": command, "runs": runs,
            })
        })
        .collect();
    let columns: Vec<&str> = summary.columns.iter().map(|c| c.label).collect();
    let faults: Vec<Value> =
        summary.faults.iter().map(|f| json!({"what": f.name, "why": f.why})).collect();
    json!({
        "format": FORMAT, "quick": options.quick, "rounds": summary.rounds, "seconds": summary.seconds,
        "interrupted": summary.interrupted, "day": machine.day,
        "machine": {
            "cores": machine.cores, "model": machine.model, "kernel": machine.kernel,
            "memory_mb": machine.memory_mb, "load_before": machine.load,
        },
        "columns": columns, "headline": headline(report), "peers": peers, "missing": report.missing(), "rows": rows, "failed": faults, "notes": results.notes, "itself": itself, "runs": runs,
    })
}

fn headline(report: &Report) -> Vec<Value> {
    let columns = || report.summary.columns.iter().map(|c| c.label.to_owned());
    let line = |line: &crate::headline::HeadlineRow| {
        let beside: Map<String, Value> =
            columns().zip(line.ratios.iter().map(|r| ratio(*r))).collect();
        json!({"label": line.label, "rows": line.rows, "beside": beside})
    };
    report.summary.headline.iter().map(line).collect()
}

fn row_data(report: &Report, row: &SummaryRow) -> Value {
    let rounds = report.results.values.get(&row.id);
    // The Erlang command: only rows with the same work can be compared.
    let work = report.jobs.iter().find(|job| fills(job, &row.id)).map(Job::work);
    let cells: Map<String, Value> = row
        .cells
        .iter()
        .enumerate()
        .map(|(peer, cell)| {
            let id = report.line_up.peers[peer].id.to_owned();
            (id, cell_data(cell, rounds.and_then(|v| v.get(&peer))))
        })
        .collect();
    let columns = report.summary.columns.iter().zip(&row.ratios);
    let beside: Map<String, Value> =
        columns.map(|(column, r)| (column.label.to_owned(), ratio(*r))).collect();
    json!({
        "id": row.id, "label": row.label, "unit": row.subject.unit, "work": work, "peers": cells,
        "beside": beside, "ratios": ratios(report, row),
    })
}

/// Ratios of each kvik to each other peer, by their ids.
fn ratios(report: &Report, row: &SummaryRow) -> Value {
    let Some(values) = report.results.values.get(&row.id) else { return Value::Null };
    let peers = || report.line_up.peers.iter().enumerate();
    let of = |ours: usize| -> Map<String, Value> {
        peers()
            .filter(|(_, p)| p.kind != PeerKind::Kvik)
            .filter_map(|(theirs, p)| {
                let found = summary::ratio(values, ours, theirs, row.subject.better)?;
                Some((p.id.to_owned(), ratio(Some(found))))
            })
            .collect()
    };
    let ours = peers().filter(|(_, p)| p.kind == PeerKind::Kvik);
    ours.map(|(index, p)| (p.id.to_owned(), Value::Object(of(index)))).collect::<Map<_, _>>().into()
}

fn by_peer<T>(report: &Report, cells: &[T], data: impl Fn(&T) -> Value) -> Map<String, Value> {
    let peers = report.line_up.peers.iter();
    peers.zip(cells).map(|(p, cell)| (p.id.to_owned(), data(cell))).collect()
}

fn cell_data(cell: &Cell, rounds: Option<&Vec<Option<f64>>>) -> Value {
    match cell {
        Cell::Value(s) => {
            json!({"median": s.median, "min": s.min, "max": s.max, "n": s.count, "rounds": rounds})
        }
        Cell::Failed(why) => json!({"failed": why}),
        Cell::NotRun => Value::Null,
    }
}

fn run_data(run: &Run) -> Value {
    json!({
        "wall_seconds": run.wall_seconds, "cpu_seconds": run.cpu_seconds, "peak_kb": run.peak_kb,
        "context_switches": run.switches, "outside_cores": run.outside_cores,
        "disturbed": run.disturbed, "repeats": run.repeats,
    })
}

fn ratio(ratio: Option<Ratio>) -> Value {
    ratio.map_or(
        Value::Null,
        |r| json!({"median": r.median, "low": r.low, "high": r.high, "rounds": r.rounds}),
    )
}
