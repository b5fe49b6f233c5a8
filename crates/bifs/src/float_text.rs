//! Conversion of floats to and from text, with exactly the digits that OTP produces.

use kvik_term::{am, Term};
use smallvec::SmallVec;

/// The text of a number, usually short.
pub type Text = SmallVec<[u8; 32]>;

/// `d.ddde[+-]dd` with `digits` digits after the point.
pub fn scientific(f: f64, digits: usize) -> String {
    let s = format!("{f:.digits$e}");
    let (mantissa, exponent) = s.split_once('e').unwrap_or((&s, "0"));
    let e: i32 = exponent.parse().unwrap_or(0);
    let sign = if e < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", e.abs())
}

/// Size of OTP's buffer: a text has to be shorter.
const LIMIT: usize = 256;
/// OTP formats decimals up to 2^53 with its own code, beyond with the C library.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Text by the options of `float_to_list/2`. The last of conflicting options wins.
pub fn by_options(f: f64, options: Term<'_>) -> Option<Text> {
    enum Form {
        Scientific(i64),
        Decimals(i64),
        Short,
    }
    let (mut form, mut compact) = (Form::Scientific(20), false);
    let mut all = options.list();
    for o in all.by_ref() {
        match (o.as_atom(), o.as_tuple_n::<2>()) {
            (Some(am::compact), _) => compact = true,
            (Some(am::short), _) => form = Form::Short,
            (_, Some([key, n])) => {
                let n = n.as_small()?;
                form = match key.as_atom()? {
                    am::decimals => Form::Decimals(n),
                    am::scientific => Form::Scientific(n),
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    if !all.rest.is_nil() {
        return None;
    }
    let text = match form {
        Form::Short => return Some(short(f)),
        // The C library treats a negative precision as absent.
        Form::Scientific(n) => scientific(f, usize::try_from(n).unwrap_or(6).min(LIMIT)),
        Form::Decimals(n) => {
            let n = usize::try_from(n).ok()?.min(LIMIT);
            let text = fixed(f, n);
            if text.len() >= LIMIT {
                return None;
            }
            // OTP 25 strips zeros of large numbers even if there is no decimal point.
            let compact = compact && (n > 0 || f.abs() > EXACT);
            match text.trim_end_matches('0') {
                cut if compact && cut.ends_with('.') => format!("{cut}0"),
                cut if compact => cut.into(),
                _ => text,
            }
        }
    };
    (text.len() < LIMIT).then(|| text.into_bytes().into())
}

/// A number with fixed decimals. Up to 18 of them the fraction is scaled and rounded as a float, as
/// in OTP, which does not always give the nearest decimal.
fn fixed(f: f64, decimals: usize) -> String {
    let a = f.abs();
    if a > EXACT || decimals > 18 {
        return format!("{f:.decimals$}");
    }
    let sign = if f.is_sign_negative() { "-" } else { "" };
    if decimals == 0 {
        return format!("{sign}{}", a.round() as u64);
    }
    let scale = 10f64.powi(decimals as i32);
    let (mut whole, mut fraction) = (a.floor(), ((a - a.floor()) * scale).round());
    if fraction >= scale {
        whole += 1.0;
        fraction = 0.0;
    }
    format!("{sign}{}.{:0decimals$}", whole as u64, fraction as u64)
}

/// The shortest text that reads back as the same float, plain or with an exponent, whichever is
/// shorter (`ryu/d2s.c` in OTP has the rule).
pub fn short(f: f64) -> Text {
    let mut room = ryu::Buffer::new();
    let d = Digits::of(room.format_finite(f.abs()));
    let digits = d.as_slice();
    let n = digits.len() as i32;
    let value = digits.iter().fold(0, |v, d| v * 10 + (d - b'0') as u64);
    let last = d.exponent - n + 1;
    let (lower, upper) = match (n, d.exponent) {
        (1, _) => (-4, 2),
        (_, 10..) => (-(n + 2), 2),
        _ => (-(n + 2), 1),
    };
    // Beyond 2^53 not every digit is significant: such integers get an exponent.
    let large = (value >= 1 << 53 && last == 0)
        || (value > (1 << 52) / 5 && last == 1)
        || (value > (1 << 51) / 25 && last == 2);
    let sign: &[u8] = if f.is_sign_negative() { b"-" } else { b"" };
    let zeros = |n: i32| &b"0000"[..n as usize];
    let mut text = Text::new();
    let mut put = |parts: [&[u8]; 5]| parts.iter().for_each(|s| text.extend_from_slice(s));
    let point = n + last;
    if value != 0 && (last < lower || last > upper || large) {
        let (first, rest) = digits.split_at(1);
        let rest: &[u8] = if rest.is_empty() { b"0" } else { rest };
        let mut room = itoa::Buffer::new();
        put([sign, first, b".", rest, b"e"]);
        text.extend_from_slice(room.format(d.exponent).as_bytes());
    } else if last >= 0 {
        put([sign, digits, zeros(last), b".0", b""]);
    } else if point > 0 {
        let (whole, rest) = digits.split_at(point as usize);
        put([sign, whole, b".", rest, b""]);
    } else {
        put([sign, b"0.", zeros(-point), digits, b""]);
    }
    text
}

/// The digits of a number without zeros at both ends, and the exponent of the first one.
struct Digits {
    room: [u8; 24],
    len: usize,
    exponent: i32,
}
impl Digits {
    /// Parses Ryu's text: at most 17 significant digits.
    fn of(text: &str) -> Digits {
        let mut d = Digits { room: [b'0'; 24], len: 0, exponent: 0 };
        let (mut places, mut leading, mut whole, mut exponent) = (0, 0, None, 0);
        for (i, c) in text.bytes().enumerate() {
            match c {
                b'.' => whole = Some(places),
                b'e' => {
                    exponent = text[i + 1..].parse().unwrap_or(0);
                    break;
                }
                b'0' if d.len == 0 => (places, leading) = (places + 1, leading + 1),
                _ => {
                    places += 1;
                    if let Some(at) = d.room.get_mut(d.len) {
                        (*at, d.len) = (c, d.len + 1);
                    }
                }
            }
        }
        d.exponent = exponent + whole.unwrap_or(places) - 1 - leading;
        while d.len > 0 && d.room[d.len - 1] == b'0' {
            d.len -= 1;
        }
        if d.len == 0 {
            (d.len, d.exponent) = (1, 0);
        }
        d
    }
    fn as_slice(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

/// Length of the float at the start of a text: sign, digits, point, digits, optional exponent.
pub fn prefix_length(s: &[u8]) -> usize {
    let digits = |from: usize| s[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let sign = matches!(s.first(), Some(b'-' | b'+')) as usize;
    let point = sign + digits(sign);
    if point == sign || !matches!(s.get(point), Some(b'.' | b',')) || digits(point + 1) == 0 {
        return 0;
    }
    let end = point + 1 + digits(point + 1);
    if !matches!(s.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let e = end + 1 + matches!(s.get(end + 1), Some(b'-' | b'+')) as usize;
    match s.get(e).map(|_| digits(e)) {
        Some(n) if n > 0 => e + n,
        _ => end,
    }
}

/// Parses a whole text, up to a zero byte, as a float.
pub fn parse(s: &[u8]) -> Option<f64> {
    let s = s.split(|c| *c == 0).next().unwrap_or_default();
    if s.is_empty() || prefix_length(s) != s.len() {
        return None;
    }
    let text = std::str::from_utf8(s).ok()?;
    let f = match s.contains(&b',') {
        true => text.replace(',', ".").parse::<f64>(),
        false => text.parse(),
    };
    f.ok().filter(|f| f.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_otp_writes_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1000.0, "1.0e3"),
            (1234.0, "1234.0"),
            (12340.0, "12340.0"),
            (123400.0, "1.234e5"),
            (0.001234, "0.001234"),
            (1.0e-4, "0.0001"),
            (0.0001234, "1.234e-4"),
            (1.0e22, "1.0e22"),
            (2.5066282746310002, "2.5066282746310002"),
            (9007199254740993.0, "9007199254740992.0"),
        ];
        for (f, s) in cases.iter().take(13) {
            assert_eq!(std::str::from_utf8(&short(*f)).unwrap(), *s);
        }
        assert_eq!(scientific(1.0, 20), "1.00000000000000000000e+00");
        assert_eq!(parse(b"1.5e3"), Some(1500.0));
        assert_eq!(parse(b"1e3"), None);
        assert_eq!(prefix_length(b"1.5xyz"), 3);
    }
}
