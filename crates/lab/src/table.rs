//! The table on the terminal.

use crate::stats::{Cell, Ratio, Row, Summary};

pub fn text(summary: &Summary) -> String {
    let mut lines = vec![heading(summary)];
    for row in &summary.rows {
        lines.push(line(summary, row));
    }
    let mut out = align(&lines);
    out.push_str(&format!(
        "\n{} rounds in {:.0} s. Medians; × is how many times better kvik is than OTP run the \
         same way (or than C), computed run by run.\n",
        summary.rounds, summary.seconds
    ));
    for (name, fault) in faults(summary) {
        out.push_str(&format!("failed: {name}: {fault}\n"));
    }
    out
}

fn heading(summary: &Summary) -> Vec<String> {
    let mut cells = vec![String::new(), "unit".to_owned()];
    cells.extend(summary.peers.iter().map(|p| p.1.to_owned()));
    cells.extend(["× at +S 1".to_owned(), "× default".to_owned()]);
    cells.extend(summary.beside_c().then(|| "× C".to_owned()));
    cells
}

fn line(summary: &Summary, row: &Row) -> Vec<String> {
    let mut cells = vec![row.label.clone(), row.subject.unit.to_owned()];
    cells.extend(row.cells.iter().map(cell));
    cells.extend([ratio(row.single), ratio(row.default)]);
    cells.extend(summary.beside_c().then(|| ratio(row.c)));
    cells
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Value(spread) => number(spread.median),
        Cell::Failed(_) => "failed".to_owned(),
        Cell::NotRun => "–".to_owned(),
    }
}

pub fn ratio(ratio: Option<Ratio>) -> String {
    ratio.map_or("–".to_owned(), |r| format!("{:.2}", r.median))
}

/// Three or four digits that matter.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.2} M", value / 1e6),
        v if v >= 10_000.0 => format!("{:.1} k", value / 1e3),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

pub fn faults(summary: &Summary) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    for row in &summary.rows {
        for (cell, peer) in row.cells.iter().zip(&summary.peers) {
            if let Cell::Failed(why) = cell {
                faults.push((format!("{} on {}", row.label, peer.1), why.clone()));
            }
        }
    }
    faults
}

/// The first two columns to the left, figures to the right.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| lines.iter().filter_map(|l| l.get(c)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (column, (value, width)) in line.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - value.chars().count());
            match column {
                0 | 1 => text.push_str(&format!("{value}{pad}  ")),
                _ => text.push_str(&format!("{pad}{value}  ")),
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [18_400_000.0, 155_123.0, 2640.0, 89.27, 2.03, 0.2394].map(number);
        assert_eq!(all, ["18.40 M", "155.1 k", "2640", "89.3", "2.03", "0.239"]);
    }

    #[test]
    fn columns_line_up() {
        let lines = [["a", "u", "1"], ["bbb", "u", "222"]].map(|l| l.map(str::to_owned).to_vec());
        assert_eq!(align(&lines), "a    u    1\nbbb  u  222\n");
    }
}
