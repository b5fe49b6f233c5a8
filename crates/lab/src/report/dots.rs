//! Further charts: ratios as dots, one per line, and a histogram.

use super::escape::escape;
use super::svg::{open, round_down, round_up, short, ticks_between, Frame, WIDTH};
use crate::stats::{Ratio, Spread};
use crate::table::number;
use std::fmt::Write;

/// A line for each row: a dot at its ratio, with its confidence interval. Right of the line at 1 is
/// better.
pub fn ratios(title: &str, rows: &[(&str, Ratio)]) -> String {
    const LEFT: f64 = 216.0;
    const RIGHT: f64 = 124.0;
    const STEP: f64 = 21.0;
    const TOP: f64 = 30.0;
    if rows.is_empty() {
        return String::new();
    }
    let low = rows.iter().map(|r| r.1.low).fold(0.5, f64::min);
    let high = rows.iter().map(|r| r.1.high).fold(2.0, f64::max);
    let bottom = TOP + STEP * rows.len() as f64;
    let frame = Frame {
        left: LEFT,
        right: WIDTH - RIGHT,
        top: TOP,
        bottom,
        x: (round_down(low), round_up(high)),
        y: (1.0, 1.0),
    };
    let mut out = open(title, bottom + 8.0);
    for tick in ticks_between(frame.x.0, frame.x.1) {
        let (x, _) = frame.at(tick, 1.0);
        let class = if (tick - 1.0).abs() < 1e-9 { "one" } else { "grid" };
        let _ = write!(
            out,
            "<path class='{class}' d='M{x:.1} {TOP}V{bottom}'/>\
             <text class='tick' x='{x:.1}' y='{}' text-anchor='middle'>{}</text>",
            TOP - 8.0,
            short(tick)
        );
    }
    for (i, (label, ratio)) in rows.iter().enumerate() {
        let y = TOP + STEP * (i as f64 + 0.5);
        let at = |v: f64| frame.at(v, 1.0).0;
        let _ = write!(
            out,
            "<text class='name' x='{:.0}' y='{:.1}' text-anchor='end'>{}</text>\
             <path class='span {class}' d='M{:.1} {y:.1}H{:.1}'/>\
             <circle class='dot {class}' cx='{:.1}' cy='{y:.1}' r='4.2'/>\
             <text class='value' x='{:.0}' y='{:.1}'>{:.2} \
             <tspan class='span-text'>{:.2}–{:.2}</tspan></text>",
            LEFT - 10.0,
            y + 4.5,
            escape(label),
            at(ratio.low),
            at(ratio.high),
            at(ratio.median),
            frame.right + 10.0,
            y + 4.5,
            ratio.median,
            ratio.low,
            ratio.high,
            class = judged(ratio),
        );
    }
    out.push_str("</svg>");
    out
}

/// CSS class of a ratio, by its confidence interval.
pub fn judged(ratio: &Ratio) -> &'static str {
    if ratio.is_better() {
        "better"
    } else if ratio.is_worse() {
        "worse"
    } else {
        "even"
    }
}

/// Times in nanoseconds: each bucket spans a factor of two, with its count per second, on a
/// logarithmic axis. Marks are reference times.
pub fn histogram(
    title: &str,
    unit: &str,
    peer: &str,
    buckets: &[(f64, Spread)],
    marks: &[(&str, f64)],
) -> String {
    let ends = buckets.iter().map(|b| b.0).chain(marks.iter().map(|m| m.1));
    let (first, last) = ends.fold((f64::MAX, 0.0), |(a, b): (f64, f64), x| (a.min(x), b.max(x)));
    let most = buckets.iter().map(|b| b.1.median).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let least = buckets.iter().map(|b| b.1.median).fold(most, f64::min);
    let frame = Frame {
        left: 56.0,
        right: WIDTH - 24.0,
        top: 58.0,
        bottom: 254.0,
        x: (first, last * 2.0),
        y: (round_down(least) / 2.0, round_up(most)),
    };
    let mut out = open(title, 300.0);
    let _ = write!(out, "<text class='unit' x='4' y='17'>{}</text>", escape(unit));
    super::svg::y_grid(&mut out, &frame);
    for (shortest, spread) in buckets {
        let (left, top) = frame.at(*shortest, spread.median);
        let (right, _) = frame.at(shortest * 2.0, spread.median);
        let _ = write!(
            out,
            "<rect class='fill p-{peer}' x='{:.1}' y='{top:.1}' width='{:.1}' height='{:.1}' \
             rx='2'><title>{}: {}/s</title></rect>",
            left + 1.0,
            right - left - 2.0,
            frame.bottom - top,
            time(*shortest),
            number(spread.median)
        );
    }
    let doubles = (0..64).map(|i| 2f64.powi(i)).filter(|t| *t >= first && *t <= last * 2.0);
    for tick in doubles.step_by(4) {
        let (x, _) = frame.at(tick, frame.y.0);
        let _ = write!(
            out,
            "<text class='tick' x='{x:.1}' y='{:.0}' text-anchor='middle'>{}</text>",
            frame.bottom + 18.0,
            time(tick)
        );
    }
    for (i, (label, at)) in marks.iter().enumerate() {
        let (x, _) = frame.at(*at, frame.y.0);
        let y = 28.0 + 15.0 * i as f64;
        let _ = write!(
            out,
            "<path class='line p-then' d='M{x:.1} {:.1}V{:.0}'/>\
             <text class='end p-then' x='{:.1}' y='{y:.0}'>{}</text>",
            y - 8.0,
            frame.bottom,
            x + 6.0,
            escape(label)
        );
    }
    out.push_str("</svg>");
    out
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{} s", short(ns / 1e9)),
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_judged_by_its_interval() {
        let of = |low, high| judged(&Ratio { median: 1.0, low, high, rounds: 5 });
        assert_eq!([of(1.1, 1.2), of(0.9, 1.2), of(0.8, 0.9)], ["better", "even", "worse"]);
    }

    #[test]
    fn better_stands_to_the_right() {
        let ratio = |median| Ratio { median, low: median * 0.9, high: median * 1.1, rounds: 5 };
        let svg = ratios("t", &[("a", ratio(0.5)), ("b", ratio(30.0))]);
        let at = |nth| {
            let x = svg.split("cx='").nth(nth).and_then(|s| s.split('\'').next());
            x.and_then(|x| x.parse::<f64>().ok()).unwrap()
        };
        assert!(at(1) < at(2) && at(2) < WIDTH && svg.contains(">a<") && !svg.contains("NaN"));
        assert_eq!(ratios("t", &[]), "");
    }

    #[test]
    fn buckets_stand_side_by_side() {
        let spread = |v| Spread { median: v, min: v, max: v, count: 3 };
        let buckets = [(16.0, spread(5.0)), (32.0, spread(4e6))];
        let svg = histogram("t", "times/s", "kvik", &buckets, &[("then", 500.0)]);
        assert!(svg.matches("<rect").count() == 2 && svg.contains(">then<"));
        assert!(!svg.contains("NaN"));
        assert_eq!(histogram("t", "", "kvik", &[], &[]), "");
    }
}
