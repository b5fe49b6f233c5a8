//! Output of a report: as text, and as a line of JSON.

use std::fmt::Write;

use kvik_proc::sched::histogram::Histogram;
use kvik_proc::sched::metrics_page::{HistogramKind, Metrics, MetricsCounter, SchedulerMetrics};
use serde_json::{json, Value};

use super::options::SchedOptions;

/// Length of the longest bar.
const WIDTH: u64 = 50;

/// The process id of the VM, and the seconds that the report covers.
pub struct Shot {
    pub pid: u32,
    pub seconds: f64,
}

impl Shot {
    pub fn show(&self, o: &SchedOptions, before: &Metrics, now: &Metrics) -> String {
        let old = |i: usize| before.schedulers.get(i).cloned().unwrap_or_default();
        let each: Vec<SchedulerMetrics> =
            now.schedulers.iter().enumerate().map(|(i, v)| v.since(&old(i))).collect();
        let all = now.all().since(&before.all());
        if o.json {
            let mut value = self.json(&all, o.idle);
            if o.each {
                value["each"] = each.iter().map(|v| self.json(v, o.idle)).collect();
            }
            value["schedulers"] = each.len().into();
            return format!("{value}\n");
        }
        let mut text = String::new();
        let n = each.len();
        let of = format!("{n} scheduler{}", if n == 1 { "" } else { "s" });
        if o.each {
            for (i, v) in each.iter().enumerate() {
                self.text(&mut text, &format!("scheduler {} of {n}", i + 1), v, o.idle);
            }
        } else {
            self.text(&mut text, &of, &all, o.idle);
        }
        text
    }
    fn rate(&self, n: u64) -> u64 {
        (n as f64 / self.seconds.max(1e-9)).round() as u64
    }
    fn text(&self, to: &mut String, who: &str, v: &SchedulerMetrics, idle: bool) {
        let h = v.schedule(idle);
        let [run, wait, gc, mail] =
            [HistogramKind::Run, HistogramKind::Wait, HistogramKind::Gc, HistogramKind::Mail]
                .map(|k| v.histogram(k));
        let share = |ns: u64| format!("{:.1}%", 100.0 * ns as f64 / v.time.max(1) as f64);
        let idle = if idle { "" } else { " without sleep" };
        let lines = [
            format!("kvik {}, {who}, {:.2} s", self.pid, self.seconds),
            format!(
                "schedule{idle}: {} times, {} on average",
                digits(h.count()),
                duration(h.average())
            ),
            format!(
                "switches {}/s, reductions {}/s, given {}, sleeps {} (woken {})",
                digits(self.rate(v.count(MetricsCounter::Switches))),
                digits(self.rate(v.count(MetricsCounter::Reductions))),
                digits(v.count(MetricsCounter::Given)),
                digits(v.count(MetricsCounter::Sleeps)),
                digits(v.count(MetricsCounter::Woken)),
            ),
            format!("system calls: {}", in_a_second(v.calls(), self.seconds)),
            format!("bytes: {}", in_a_second(v.bytes(), self.seconds)),
            format!(
                "time: {} schedule, {} run, {} asleep",
                share(v.schedule(false).sum),
                share(run.sum),
                share(v.asleep)
            ),
            format!(
                "on average: turn {}, wait {}, message in the mailbox {}, collection {} ({})",
                duration(run.average()),
                duration(wait.average()),
                duration(mail.average()),
                duration(gc.average()),
                digits(gc.count())
            ),
        ];
        for line in lines {
            let _ = writeln!(to, "{line}");
        }
        bars(to, &h);
        to.push('\n');
    }
    fn json(&self, v: &SchedulerMetrics, idle: bool) -> Value {
        let mut value = json!({
            "pid": self.pid,
            "seconds": self.seconds,
            "time_ns": v.time,
            "asleep_ns": v.asleep,
            "schedule": histogram(&v.schedule(idle)),
            "run": histogram(&v.histogram(HistogramKind::Run)),
            "wait": histogram(&v.histogram(HistogramKind::Wait)),
            "gc": histogram(&v.histogram(HistogramKind::Gc)),
            "message_wait": histogram(&v.histogram(HistogramKind::Mail)),
        });
        value["calls"] = numbers(v.calls());
        value["bytes"] = numbers(v.bytes());
        for (name, n) in v.counts() {
            value[name] = n.into();
        }
        value
    }
}

fn numbers(all: impl Iterator<Item = (&'static str, u64)>) -> Value {
    all.map(|(name, n)| (name.to_string(), Value::from(n))).collect()
}

fn histogram(h: &Histogram) -> Value {
    let rows: Vec<Value> = h
        .rows()
        .into_iter()
        .map(|(from, to, n)| json!({"from": from, "to": to, "count": n}))
        .collect();
    json!({"count": h.count(), "sum_ns": h.sum, "average_ns": h.average(), "buckets": rows})
}

/// The nonzero counters as rates.
fn in_a_second(all: impl Iterator<Item = (&'static str, u64)>, seconds: f64) -> String {
    let rate = |n: u64| digits((n as f64 / seconds.max(1e-9)).round() as u64);
    let some: Vec<_> =
        all.filter(|a| a.1 > 0).map(|(name, n)| format!("{name} {}/s", rate(n))).collect();
    if some.is_empty() {
        "none".into()
    } else {
        some.join(", ")
    }
}

fn bars(to: &mut String, h: &Histogram) {
    let rows = h.rows();
    let most = rows.iter().map(|r| r.2).max().unwrap_or(0).max(1);
    for (from, _, n) in rows {
        // A dot marks a small number, as opposed to none.
        let bar = match (n as u128 * WIDTH as u128 / most as u128) as usize {
            0 if n > 0 => ".".to_string(),
            long => "#".repeat(long),
        };
        let line = format!("{:>9} {:>13} {bar}", duration(from), digits(n));
        let _ = writeln!(to, "{}", line.trim_end());
    }
}

/// A duration in the unit that keeps it short.
fn duration(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(one, _)| ns >= *one) {
        None => format!("{ns} ns"),
        Some((one, unit)) if ns >= 10 * one => format!("{:.0} {unit}", ns as f64 / one as f64),
        Some((one, unit)) => format!("{:.1} {unit}", ns as f64 / one as f64),
    }
}
/// A number with thousands separators.
fn digits(n: u64) -> String {
    let all = n.to_string();
    let mut text = String::new();
    for (i, c) in all.chars().enumerate() {
        if i > 0 && (all.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let of = [0, 999, 1_000, 1_048_576, 16_777_216, 2_147_483_648];
        let text = of.map(duration);
        assert_eq!(text, ["0 ns", "999 ns", "1.0 us", "1.0 ms", "17 ms", "2.1 s"]);
        assert_eq!([0, 100, 1_000, 21_036_114].map(digits), ["0", "100", "1,000", "21,036,114"]);
    }
    #[test]
    fn bars_are_as_long_as_what_they_stand_for() {
        let mut words = [0; 48];
        (words[6], words[7], words[9]) = (1000, 500, 1);
        let mut text = String::new();
        bars(&mut text, &Histogram::of(&words));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("    16 ns         1,000 {}", "#".repeat(50)));
        assert_eq!(lines[1], format!("    32 ns           500 {}", "#".repeat(25)));
        assert_eq!(lines[2], "    64 ns             0");
        assert_eq!(lines[3], "   128 ns             1 .");
    }
    #[test]
    fn json_is_json() {
        let o = SchedOptions::parse(&["--json".into(), "--each".into()]).unwrap();
        let p = Metrics {
            schedulers: vec![SchedulerMetrics::default(), SchedulerMetrics::default()],
            ..Metrics::default()
        };
        let text = Shot { pid: 7, seconds: 1.0 }.show(&o, &p, &p);
        let v: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&v["pid"], &v["schedulers"]), (&json!(7), &json!(2)));
        assert_eq!(v["each"].as_array().map(Vec::len), Some(2));
        assert_eq!(v["schedule"]["buckets"], json!([]));
    }
}
