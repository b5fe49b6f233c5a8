//! Numbers as the C library parses them for `erl`: text after the digits is ignored.

/// The number at the start of a text, and the rest.
pub fn leading(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let (number, rest) = text.split_at(text.len() - digits.len() + length);
    let limit = if number.starts_with('-') { i64::MIN } else { i64::MAX };
    Some((number.parse().unwrap_or(limit), rest))
}

/// Like C's `atoi`: 0 if there is no number.
pub fn atoi(text: &str) -> i64 {
    leading(text).map_or(0, |(n, _)| n)
}

/// Like [`atoi`], but `None` if the number is out of range.
pub fn strtol(text: &str) -> Option<i64> {
    Some(atoi(text)).filter(|n| ![i64::MIN, i64::MAX].contains(n))
}

/// `N`, `N:M` or `:M`.
pub fn pair(text: &str) -> Option<(Option<i64>, Option<i64>)> {
    let second = |rest: &str| leading(rest.strip_prefix(':')?).map(|(n, _)| n);
    match leading(text) {
        Some((n, rest)) => Some((Some(n), second(rest))),
        None => second(text).map(|m| (None, Some(m))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_digits_do() {
        assert_eq!(["12", " -3x", "x", "", "-"].map(atoi), [12, -3, 0, 0, 0]);
        assert_eq!(atoi("99999999999999999999"), i64::MAX);
        assert_eq!(strtol("99999999999999999999"), None);
        assert_eq!(pair("4:2"), Some((Some(4), Some(2))));
        assert_eq!(pair("4:x"), Some((Some(4), None)));
        assert_eq!(pair(":-1"), Some((None, Some(-1))));
        assert_eq!(pair("x"), None);
    }
}
