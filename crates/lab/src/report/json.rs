//! The measurements as JSON: every round's value, so that others can compute their own figures.

use crate::machine::Machine;
use crate::options::Options;
use crate::peers::LineUp;
use crate::rounds::Results;
use crate::stats::{Cell, Ratio, Summary};
use serde_json::{json, Value};

pub fn data(
    options: &Options,
    machine: &Machine,
    line_up: &LineUp,
    summary: &Summary,
    results: &Results,
) -> Value {
    let peers: Vec<Value> = line_up
        .peers
        .iter()
        .map(|p| json!({"id": p.id, "label": p.label, "command": p.line()}))
        .collect();
    let rows: Vec<Value> = summary
        .rows
        .iter()
        .map(|row| {
            let cells: serde_json::Map<String, Value> = row
                .cells
                .iter()
                .enumerate()
                .map(|(peer, cell)| {
                    let rounds = results.values.get(&row.id).and_then(|v| v.get(&peer));
                    (line_up.peers[peer].id.to_owned(), cell_data(cell, rounds))
                })
                .collect();
            json!({
                "id": row.id, "label": row.label, "unit": row.subject.unit, "peers": cells,
                "ratio_single": ratio(row.single), "ratio_default": ratio(row.default),
                "ratio_c": ratio(row.c),
            })
        })
        .collect();
    let runs: Vec<Value> = results
        .peak_kb
        .iter()
        .map(|((job, peer), peak)| {
            let busy = results.busy_cores.get(&(job.clone(), *peer));
            json!({"job": job, "peer": line_up.peers[*peer].id, "peak_kb": peak, "busy_cores": busy})
        })
        .collect();
    json!({
        "quick": options.quick, "rounds": summary.rounds, "seconds": summary.seconds,
        "machine": {
            "cores": machine.cores, "model": machine.model, "kernel": machine.kernel,
            "memory_mb": machine.memory_mb, "load_before": machine.load,
        },
        "peers": peers, "missing": line_up.missing, "rows": rows, "runs": runs,
    })
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

fn ratio(ratio: Option<Ratio>) -> Value {
    ratio.map_or(Value::Null, |r| json!({"median": r.median, "low": r.low, "high": r.high}))
}
