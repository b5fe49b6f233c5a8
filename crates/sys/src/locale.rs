//! Character properties of the user's locale. The locale is opened by name and used for one call at
//! a time, so that the program's own stays "C" for libraries that depend on it.

use std::ffi::CStr;
use std::sync::OnceLock;

struct Locale(libc::locale_t);

// SAFETY: a locale object is not changed after it is made, and never freed.
unsafe impl Send for Locale {}
// SAFETY: as above.
unsafe impl Sync for Locale {}

extern "C" {
    fn wcwidth(c: libc::wchar_t) -> libc::c_int;
}

/// The locale that the environment names; `None` if the system does not have it.
fn locale() -> Option<&'static Locale> {
    static L: OnceLock<Option<Locale>> = OnceLock::new();
    let make = || {
        // SAFETY: an empty name asks for the environment's; null is "none to change".
        let l = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), std::ptr::null_mut()) };
        (!l.is_null()).then_some(Locale(l))
    };
    L.get_or_init(make).as_ref()
}

/// Calls `f` with the user's locale in this thread.
fn within<R>(f: impl FnOnce() -> R) -> R {
    let Some(l) = locale() else { return f() };
    // SAFETY: the locale lives for ever, and the thread's own is put back.
    let before = unsafe { libc::uselocale(l.0) };
    let r = f();
    // SAFETY: as above.
    unsafe { libc::uselocale(before) };
    r
}

/// Whether texts are UTF-8.
pub fn is_utf8() -> bool {
    let Some(_) = locale() else { return false };
    within(|| {
        // SAFETY: the answer is a string that lives until the locale changes.
        let name = unsafe { CStr::from_ptr(libc::nl_langinfo(libc::CODESET)) };
        name.to_bytes() == b"UTF-8"
    })
}
/// Columns that a character takes; `None` where it cannot be shown.
pub fn width(c: char) -> Option<usize> {
    // SAFETY: no memory is involved.
    usize::try_from(within(|| unsafe { wcwidth(c as libc::wchar_t) })).ok()
}
/// Whether a byte stands for a printable character.
pub fn is_printed(byte: u8) -> bool {
    // SAFETY: no memory is involved.
    within(|| unsafe { libc::isprint(byte as libc::c_int) }) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters() {
        assert_eq!(width('a'), Some(1));
        assert_eq!(width('\x01'), None);
        assert!(is_printed(b'a') && !is_printed(b'\n'));
        if is_utf8() {
            assert_eq!((width('日'), width('\u{301}'), width('é')), (Some(2), Some(0), Some(1)));
        }
    }
}
