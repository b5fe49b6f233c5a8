//! The topology of processors as `+sct` writes it: `L0-3c0-3p0N0:L4-7c0-3p1N1`. Each part between
//! colons numbers logical processors (`L`), and their threads (`t`), cores (`c`), processors (`p`)
//! and nodes (`n`) from the inside to the outside, with as many numbers or with one for all.
//! A node before a processor is within it. Letters are case-insensitive.

use super::processors::{Cpu, CORE, LOGICAL, MAX_ID, NODE, PROCESSOR, PROCESSOR_NODE, THREAD};

/// The values of levels that are not given.
const UNSAID: Cpu = [-1, 0, -1, 0, 0, -1];

/// The error is `erl`'s reason.
pub(super) fn parse(text: &str) -> Result<Vec<Cpu>, &'static str> {
    if text.is_empty() {
        return Err("missing cpu topology");
    }
    let mut all = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, next) = rest.split_once(':').unwrap_or((rest, ""));
        add(part, &mut all)?;
        rest = next;
    }
    Ok(all)
}

fn add(part: &str, all: &mut Vec<Cpu>) -> Result<(), &'static str> {
    let mut ids: [Vec<i32>; LOGICAL + 1] = Default::default();
    // Levels come in order, from the inside to the outside.
    let mut last = LOGICAL + 1;
    let mut rest = part;
    while let Some(letter) = rest.chars().next() {
        let here = &rest[letter.len_utf8()..];
        let level = match letter {
            'L' => LOGICAL,
            't' | 'T' => THREAD,
            'c' | 'C' => CORE,
            'p' | 'P' => PROCESSOR,
            'n' | 'N' if last > PROCESSOR && here.contains(['p', 'P']) => PROCESSOR_NODE,
            'n' | 'N' => NODE,
            _ => return Err("invalid identifier type"),
        };
        if last <= level {
            return Err("invalid hierarchy");
        }
        last = level;
        (ids[level], rest) = numbers(here)?;
    }
    let count = ids[LOGICAL].len();
    if count == 0 {
        return Err("missing logical identifier");
    }
    for i in 0..count {
        let mut cpu = UNSAID;
        for (level, ids) in ids.iter().enumerate() {
            cpu[level] = match ids.len() {
                0 => UNSAID[level],
                1 => ids[0],
                n if n == count => ids[i],
                _ => return Err("invalid identifier range"),
            };
        }
        all.push(cpu);
    }
    Ok(())
}

/// Parses numbers and ranges (ascending or descending) between commas. Also returns the rest.
fn numbers(text: &str) -> Result<(Vec<i32>, &str), &'static str> {
    let mut ids = Vec::new();
    let mut rest = text;
    loop {
        let (first, after) = number(rest)?;
        rest = after;
        let mut last = first;
        if let Some(range) = rest.strip_prefix('-') {
            (last, rest) = number(range)?;
        }
        match first <= last {
            true => ids.extend(first..=last),
            false => ids.extend((last..=first).rev()),
        }
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Ok((ids, rest)),
        }
    }
}
fn number(text: &str) -> Result<(i32, &str), &'static str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let n = text[..end].parse().ok().filter(|n| i64::from(*n) <= MAX_ID);
    Ok((n.ok_or("invalid identifier")?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn levels_are_read() {
        assert_eq!(parse("L0-1c0-1"), Ok(vec![[-1, 0, -1, 0, 0, 0], [-1, 0, -1, 1, 0, 1]]));
        let two = "L0t0c0n1p0:L1t0c0n2p1";
        assert_eq!(parse(two), Ok(vec![[-1, 0, 1, 0, 0, 0], [-1, 1, 2, 0, 0, 1]]));
        assert_eq!(parse("L1,0p3N2").map(|v| (v[0][5], v[1][0])), Ok((1, 2)));
        assert_eq!(parse("L1-0").map(|v| v[0][5]), Ok(1));
    }
    #[test]
    fn reports_errors() {
        let reasons = [
            ("", "missing cpu topology"),
            ("x", "invalid identifier type"),
            ("c0", "missing logical identifier"),
            ("L0L1", "invalid hierarchy"),
            ("L0p0c0", "invalid hierarchy"),
            ("L0-2c0-1", "invalid identifier range"),
            ("L", "invalid identifier"),
            ("L65536", "invalid identifier"),
        ];
        for (text, reason) in reasons {
            assert_eq!(parse(text), Err(reason), "{text}");
        }
    }
}
