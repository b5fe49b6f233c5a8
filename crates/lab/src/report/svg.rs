//! Charts as inline SVG: horizontal bars with whiskers, and lines over a log axis.
//!
//! Colours are CSS classes (`p-ID` for a peer), so one drawing serves light and dark mode.

use super::escape::escape;
use crate::stats::Spread;
use crate::table::number;
use std::fmt::Write;

pub struct Bar<'a> {
    pub peer: &'a str,
    pub label: &'a str,
    pub spread: Spread,
}

/// Width of a chart in its own units: small enough to be legible on a page of 400 pixels.
pub const WIDTH: f64 = 570.0;
/// Distance from a chart's right edge to the labels.
const TIE: f64 = 20.0;

/// A bar for each peer, from zero; a thin line spans the lowest to the highest round. Published
/// figures are faint lines below.
pub fn bars(title: &str, unit: &str, bars: &[Bar], then: &[(&str, f64)]) -> String {
    const LEFT: f64 = 132.0;
    const RIGHT: f64 = 168.0;
    const STEP: f64 = 26.0;
    const TOP: f64 = 26.0;
    const STEP_THEN: f64 = 19.0;
    let all = bars.iter().map(|b| b.spread.max).chain(then.iter().map(|t| t.1));
    let most = all.fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - LEFT - RIGHT) / most;
    let below = TOP + STEP * bars.len() as f64;
    let height = below + STEP_THEN * then.len() as f64 + 4.0;
    let mut out = open(title, height);
    let _ = write!(out, "<text class='unit' x='{LEFT}' y='17'>{}</text>", escape(unit));
    for (i, bar) in bars.iter().enumerate() {
        let middle = TOP + STEP * i as f64 + STEP / 2.0;
        let end = LEFT + bar.spread.median * scale;
        let (low, high) = (LEFT + bar.spread.min * scale, LEFT + bar.spread.max * scale);
        let width = (end - LEFT).max(1.0);
        let _ = write!(
            out,
            "<text class='name' x='{:.0}' y='{:.1}' text-anchor='end'>{}</text>\
             <rect class='fill p-{}' x='{LEFT}' y='{:.1}' width='{width:.1}' height='16' rx='3'/>\
             <path class='whisker' d='M{low:.1} {middle:.1}H{high:.1}'/>\
             <text class='value' x='{:.1}' y='{:.1}'>{} <tspan class='span-text'>{}</tspan></text>",
            LEFT - 10.0,
            middle + 4.5,
            escape(bar.label),
            bar.peer,
            middle - 8.0,
            end.max(high) + 8.0,
            middle + 4.5,
            number(bar.spread.median),
            span(&bar.spread),
        );
    }
    for (i, (label, value)) in then.iter().enumerate() {
        let middle = below + STEP_THEN * (i as f64 + 0.5);
        let end = LEFT + (value * scale).max(1.0);
        let _ = write!(
            out,
            "<text class='then' x='{:.0}' y='{:.1}' text-anchor='end'>{}</text>\
             <path class='line p-then then-bar' d='M{LEFT} {middle:.1}H{end:.1}'/>\
             <text class='then' x='{:.1}' y='{:.1}'>{}</text>",
            LEFT - 10.0,
            middle + 4.0,
            escape(label),
            end + 8.0,
            middle + 4.0,
            number(*value),
        );
    }
    out.push_str("</svg>");
    out
}

/// The range of the rounds, if there are several.
fn span(spread: &Spread) -> String {
    match spread.count {
        0 | 1 => String::new(),
        _ => format!("{}–{}", number(spread.min), number(spread.max)),
    }
}

pub struct ChartLine {
    /// CSS classes for colour and pattern.
    pub class: String,
    pub label: String,
    pub points: Vec<(f64, Spread)>,
}

pub struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl Frame {
    /// Both axes are logarithmic: costs and sizes span powers of ten.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let part = |v: f64, (low, high): (f64, f64)| {
            if high > low {
                (v.ln() - low.ln()) / (high.ln() - low.ln())
            } else {
                0.5
            }
        };
        let across = self.left + part(x, self.x) * (self.right - self.left);
        let up = self.bottom - part(y, self.y) * (self.bottom - self.top);
        (across, up)
    }
}

/// A line for each series over a logarithmic axis, with its name at its end.
pub fn lines(title: &str, x_unit: &str, y_unit: &str, series: &[ChartLine]) -> String {
    let Some(frame) = frame(series) else { return String::new() };
    let mut out = open(title, 300.0);
    let _ = write!(out, "<text class='unit' x='4' y='17'>{}</text>", escape(y_unit));
    y_grid(&mut out, &frame);
    x_axis(&mut out, &frame, series, x_unit);
    for line in series {
        draw(&mut out, &frame, line);
    }
    end_labels(&mut out, &frame, series);
    out.push_str("</svg>");
    out
}

fn frame(series: &[ChartLine]) -> Option<Frame> {
    let points = || series.iter().flat_map(|l| l.points.iter());
    let low = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
    let high = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
    let x = (low(&mut points().map(|p| p.0))?, high(&mut points().map(|p| p.0))?);
    let y = (low(&mut points().map(|p| p.1.min))?, high(&mut points().map(|p| p.1.max))?);
    // The axis ends at 1, 2 or 5 times a power of ten.
    let y = (round_down(y.0), round_up(y.1));
    Some(Frame { left: 56.0, right: WIDTH - 152.0, top: 26.0, bottom: 254.0, x, y })
}

pub fn ticks_between(low: f64, high: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut power = 10f64.powf(low.log10().floor());
    while power <= high * 1.0001 {
        ticks.extend([1.0, 2.0, 5.0].map(|m| m * power));
        power *= 10.0;
    }
    ticks.retain(|t| *t >= low * 0.9999 && *t <= high * 1.0001);
    if ticks.len() > 7 {
        ticks.retain(|t| (t.log10() - t.log10().round()).abs() < 1e-6);
    }
    ticks
}

pub fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0].iter().map(|m| m * power).find(|v| *v <= value).unwrap_or(power)
}

pub fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].iter().map(|m| m * power).find(|v| *v >= value).unwrap_or(power * 10.0)
}

pub fn y_grid(out: &mut String, frame: &Frame) {
    for tick in ticks_between(frame.y.0, frame.y.1) {
        let (_, y) = frame.at(frame.x.0, tick);
        let _ = write!(
            out,
            "<path class='grid' d='M{:.0} {y:.1}H{:.0}'/>\
             <text class='tick' x='{:.0}' y='{:.1}' text-anchor='end'>{}</text>",
            frame.left,
            frame.right,
            frame.left - 8.0,
            y + 4.0,
            short(tick),
        );
    }
}

fn x_axis(out: &mut String, frame: &Frame, series: &[ChartLine], unit: &str) {
    let mut marks: Vec<f64> = series.iter().flat_map(|l| l.points.iter().map(|p| p.0)).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    // Skip labels that would overlap.
    let mut free = f64::MIN;
    for mark in marks {
        let (x, _) = frame.at(mark, frame.y.0);
        if x < free {
            continue;
        }
        free = x + 36.0;
        let _ = write!(
            out,
            "<text class='tick' x='{x:.1}' y='{:.0}' text-anchor='middle'>{}</text>",
            frame.bottom + 18.0,
            short(mark)
        );
    }
    let _ = write!(
        out,
        "<text class='unit' x='{:.0}' y='{:.0}' text-anchor='middle'>{}</text>",
        (frame.left + frame.right) / 2.0,
        frame.bottom + 38.0,
        escape(unit)
    );
}

fn draw(out: &mut String, frame: &Frame, line: &ChartLine) {
    let mut path = String::new();
    let mut dots = String::new();
    for (i, (x, spread)) in line.points.iter().enumerate() {
        let (px, py) = frame.at(*x, spread.median);
        let _ = write!(path, "{}{px:.1} {py:.1}", if i == 0 { 'M' } else { 'L' });
        let (low, high) = (frame.at(*x, spread.min).1, frame.at(*x, spread.max).1);
        let _ = write!(
            dots,
            "<path class='span {0}' d='M{px:.1} {low:.1}V{high:.1}'/>\
             <circle class='dot {0}' cx='{px:.1}' cy='{py:.1}' r='3.2'><title>{1}: {2}</title></circle>",
            line.class,
            escape(&line.label),
            number(spread.median)
        );
    }
    let _ = write!(out, "<path class='line {}' d='{path}'/>{dots}", line.class);
}

/// Labels beside the lines' ends, moved apart so that they do not overlap; a thin line connects
/// each end at the chart's edge to its label.
fn end_labels(out: &mut String, frame: &Frame, series: &[ChartLine]) {
    let end = |l: &'_ ChartLine| l.points.last().map(|(x, s)| frame.at(*x, s.median));
    let mut labels: Vec<(f64, f64, &ChartLine)> =
        series.iter().filter_map(|l| end(l).map(|(x, y)| (x, y, l))).collect();
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut free = frame.top;
    let bottom_room = frame.bottom - 6.0 - 15.0 * labels.len() as f64;
    for (i, (x, y, line)) in labels.iter().enumerate() {
        let place = y.max(free).min(bottom_room + 15.0 * (i + 1) as f64);
        free = place + 15.0;
        if frame.right - x < 1.0 {
            let (from, to) = (frame.right + 4.0, frame.right + TIE - 3.0);
            let _ = write!(
                out,
                "<path class='tie {}' d='M{from:.0} {y:.1}L{to:.0} {place:.1}'/>",
                line.class
            );
        }
        let _ = write!(
            out,
            "<text class='end {}' x='{:.0}' y='{:.1}'>{}</text>",
            line.class,
            frame.right + TIE,
            place + 4.0,
            escape(&line.label)
        );
    }
}

pub fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} M", trim((v / 1e5).round() / 10.0)),
        v if v >= 1e4 => format!("{} k", trim((v / 100.0).round() / 10.0)),
        v => trim(v),
    }
}

fn trim(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub fn open(title: &str, height: f64) -> String {
    format!(
        "<svg viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{0}'><title>{0}</title>",
        escape(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(v: f64) -> Spread {
        Spread { median: v, min: v * 0.9, max: v * 1.1, count: 5 }
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!((round_down(0.23), round_up(0.23)), (0.2, 0.5));
        assert_eq!(round_up(7.0), 10.0);
        assert_eq!(ticks_between(1.0, 10.0), [1.0, 2.0, 5.0, 10.0]);
    }

    #[test]
    fn a_chart_names_every_line() {
        let line = |label: &str| ChartLine {
            class: "p-kvik".to_owned(),
            label: label.to_owned(),
            points: vec![(1.0, spread(0.2)), (1000.0, spread(0.3))],
        };
        let svg = lines("t", "processes", "µs", &[line("kvik"), line("OTP")]);
        assert!(svg.contains(">kvik<") && svg.contains(">OTP<") && svg.ends_with("</svg>"));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn one_point_is_drawn_too() {
        let line = ChartLine {
            class: String::new(),
            label: "x".to_owned(),
            points: vec![(5.0, spread(1.0))],
        };
        assert!(!lines("t", "", "", &[line]).contains("NaN"));
        assert_eq!(lines("t", "", "", &[]), "");
    }
}
