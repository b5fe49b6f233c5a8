//! The operating system's local time.

use std::mem::MaybeUninit;

/// Year, month, day, hour, minute, second.
pub type Civil = [i64; 6];

fn civil(t: &libc::tm) -> Civil {
    [
        t.tm_year as i64 + 1900,
        t.tm_mon as i64 + 1,
        t.tm_mday as i64,
        t.tm_hour as i64,
        t.tm_min as i64,
        t.tm_sec as i64,
    ]
}

/// The local time of a number of seconds since 1970.
pub fn local_of_posix(seconds: i64) -> Option<Civil> {
    let mut t = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: the call fills the structure, or answers null; all zeros is a value of it too.
    unsafe {
        if libc::localtime_r(&seconds, t.as_mut_ptr()).is_null() {
            return None;
        }
        Some(civil(&t.assume_init()))
    }
}

extern "C" {
    /// Whether the zone that `tzset` has read has summer time at any time (POSIX).
    static daylight: libc::c_int;
    fn tzset();
}

/// Whether the local zone has summer time at any time.
pub fn has_summer_time() -> bool {
    // SAFETY: the C library locks while it reads the zone; the variable is a plain number that only
    // this and other readings of the zone write, with the same value unless the zone is changed.
    unsafe {
        tzset();
        (&raw const daylight).read_volatile() != 0
    }
}

/// The seconds since 1970 of a local time; `dst` says whether it is summer time, where known.
pub fn posix_of_local(c: Civil, dst: Option<bool>) -> Option<i64> {
    let part = |i: usize, less: i64| i32::try_from(c[i] - less).ok();
    let mut t = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: all zeros is a value of the structure, and its fields are plain numbers; the call
    // only reads and normalises it.
    unsafe {
        let t = &mut *t.as_mut_ptr();
        t.tm_year = part(0, 1900)?;
        t.tm_mon = part(1, 1)?;
        t.tm_mday = part(2, 0)?;
        t.tm_hour = part(3, 0)?;
        t.tm_min = part(4, 0)?;
        t.tm_sec = part(5, 0)?;
        t.tm_isdst = dst.map_or(-1, |d| d as i32);
        // The last second of 1969 is -1 as well: only where it failed the day of the week is not
        // set.
        t.tm_wday = -1;
        let seconds = libc::mktime(t);
        (t.tm_wday != -1).then_some(seconds)
    }
}
