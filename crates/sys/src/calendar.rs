//! Calendar times: the Gregorian calendar, and the time zone by the C library.

use std::mem::MaybeUninit;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct DateTime {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + is_leap(year) as u32,
        _ => 31,
    }
}
/// Days from 1970-01-01. Years are counted from March, so that leap days come last.
fn days(year: i64, month: u32, day: u32) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month as i64 + 9) % 12) + 2) / 5 + day as i64 - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
fn date_of_days(n: i64) -> (i64, u32, u32) {
    let z = n + 719_468;
    let era = z.div_euclid(146_097);
    let d = z.rem_euclid(146_097);
    let y = (d - d / 1460 + d / 36_524 - d / 146_096) / 365;
    let of_year = d - (365 * y + y / 4 - y / 100);
    let m = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * m + 2) / 5 + 1) as u32;
    let month = if m < 10 { m + 3 } else { m - 9 } as u32;
    (y + era * 400 + (month <= 2) as i64, month, day)
}

impl DateTime {
    /// Universal time from seconds since 1970.
    pub fn of_seconds(s: i64) -> DateTime {
        let (year, month, day) = date_of_days(s.div_euclid(86_400));
        let t = s.rem_euclid(86_400) as u32;
        DateTime { year, month, day, hour: t / 3600, minute: t / 60 % 60, second: t % 60 }
    }
    /// The reverse, without a look at the time zone.
    pub fn to_seconds(&self) -> i64 {
        days(self.year, self.month, self.day) * 86_400
            + self.hour as i64 * 3600
            + self.minute as i64 * 60
            + self.second as i64
    }
    pub fn is_valid(&self) -> bool {
        (-1_000_000..1_000_000).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
    }
}

/// Local time of seconds since 1970.
pub fn local(s: i64) -> Option<DateTime> {
    let t: libc::time_t = s;
    let mut tm = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are good for the call, which fills `tm` or answers null.
    let tm = unsafe {
        if libc::localtime_r(&t, tm.as_mut_ptr()).is_null() {
            return None;
        }
        tm.assume_init()
    };
    Some(DateTime {
        year: tm.tm_year as i64 + 1900,
        month: tm.tm_mon as u32 + 1,
        day: tm.tm_mday as u32,
        hour: tm.tm_hour as u32,
        minute: tm.tm_min as u32,
        second: (tm.tm_sec as u32).min(59),
    })
}
/// Seconds since 1970 of a local time; `dst` says whether summer time is meant.
pub fn local_to_seconds(d: &DateTime, dst: Option<bool>) -> Option<i64> {
    // SAFETY: all zeros is a value of this structure.
    let mut tm: libc::tm = unsafe { MaybeUninit::zeroed().assume_init() };
    tm.tm_year = i32::try_from(d.year - 1900).ok()?;
    tm.tm_mon = d.month as i32 - 1;
    tm.tm_mday = d.day as i32;
    tm.tm_hour = d.hour as i32;
    tm.tm_min = d.minute as i32;
    tm.tm_sec = d.second as i32;
    tm.tm_isdst = dst.map_or(-1, i32::from);
    // SAFETY: the structure is ours; mktime normalises it.
    let t = unsafe { libc::mktime(&mut tm) };
    // A time that does not exist, or one before 1970 by a second, answers -1.
    (t != -1).then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let d = DateTime::of_seconds(0);
        assert_eq!((d.year, d.month, d.day, d.hour), (1970, 1, 1, 0));
        for s in [-62_167_219_200, -1, 951_782_400, 1_709_164_800, 4_102_444_799, 86_399] {
            let d = DateTime::of_seconds(s);
            assert!(d.is_valid());
            assert_eq!(d.to_seconds(), s);
        }
        assert_eq!(DateTime::of_seconds(951_782_400).day, 29);
        assert!(!DateTime { month: 2, day: 30, ..d }.is_valid());
    }

    #[test]
    fn the_time_zone_there_and_back() {
        let s = 1_700_000_000;
        let l = local(s).unwrap();
        assert_eq!(local_to_seconds(&l, None), Some(s));
    }
}
