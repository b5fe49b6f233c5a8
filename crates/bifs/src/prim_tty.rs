//! Module `prim_tty` (since OTP 26): the terminal, or what stands in its place. The shell's own editing
//! is done in Erlang.

use std::ffi::CStr;
use std::io::IoSlice;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::{Heap, OwnedTerm};
use kvik_port::tty::reader::{self, Notice};
use kvik_port::tty::terminfo::{self, Description, Kind};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::tty::{self, Changes, Settings};
use kvik_sys::{fd, locale, Errno};
use kvik_term::{am, map, Atom, Term};

use crate::blocking::hand_off;
use crate::iolist::bytes_of;

pub const BIFS: &[BifEntry] = &[
    bif!("prim_tty", "isatty", 1, isatty_1, since 26),
    bif!("prim_tty", "tty_create", 0, tty_create_0, since 26),
    bif!("prim_tty", "tty_init", 3, tty_init_3, since 26),
    bif!("prim_tty", "tty_set", 1, tty_set_1, since 26),
    bif!("prim_tty", "tty_read_signal", 2, tty_read_signal_2, since 26),
    bif!("prim_tty", "setlocale", 1, setlocale_1, since 26),
    bif!("prim_tty", "tty_select", 3, tty_select_3, since 26),
    bif!("prim_tty", "tty_window_size", 1, tty_window_size_1, since 26),
    bif!("prim_tty", "write_nif", 2, write_nif_2, since 26),
    bif!("prim_tty", "tty_encoding", 1, tty_encoding_1, since 26),
    bif!("prim_tty", "read_nif", 2, read_nif_2, since 26),
    bif!("prim_tty", "isprint", 1, isprint_1, since 26),
    bif!("prim_tty", "wcwidth", 1, wcwidth_1, since 26),
    bif!("prim_tty", "wcswidth", 1, wcswidth_1, since 26),
    bif!("prim_tty", "sizeof_wchar", 0, sizeof_wchar_0, since 26),
    bif!("prim_tty", "tgetent_nif", 1, tgetent_nif_1, since 26),
    bif!("prim_tty", "tgetnum_nif", 1, tgetnum_nif_1, since 26),
    bif!("prim_tty", "tgetflag_nif", 1, tgetflag_nif_1, since 26),
    bif!("prim_tty", "tgetstr_nif", 1, tgetstr_nif_1, since 26),
];

const STDIN: RawFd = 0;
const STDOUT: RawFd = 1;
/// Bytes that one read may bring.
const READ_BYTES: usize = 1024;
/// A character as C has it.
const WCHAR_BYTES: usize = 4;

/// A terminal that is being used: its settings before that, and those it is to have.
#[derive(Default)]
struct Terminal {
    settings: Mutex<Option<(Settings, Settings)>>,
}

impl Terminal {
    fn settings(&self) -> MutexGuard<'_, Option<(Settings, Settings)>> {
        self.settings.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn terminal<'h>(p: &Proc, t: Term<'h>) -> Result<&'h Terminal, Raised> {
    let found = Heap::resource_ref(t).and_then(|r| r.downcast_ref());
    found.ok_or_else(|| p.badarg())
}

fn atom<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    Atom::intern(name).map(Term::atom).map_err(|_| p.system_limit())
}
fn error<'h>(h: &'h Heap, reason: Term<'h>) -> Term<'h> {
    h.tuple(&[am::error.into(), reason])
}
fn errno_atom(e: Errno) -> Term<'static> {
    Atom::intern(e.name()).unwrap_or(am::error).into()
}
/// `{error, {Call, Errno}}`
fn call_failed<'h>(h: &'h Heap, call: &str, e: Errno) -> Term<'h> {
    let call = Atom::intern(call).unwrap_or(am::error);
    error(h, h.tuple(&[call.into(), errno_atom(e)]))
}
fn descriptor<'h>(p: &'h Proc, t: Term<'h>) -> Result<RawFd, Raised> {
    match t.as_atom().map(Atom::name) {
        Some("stdin") => Ok(STDIN),
        Some("stdout") => Ok(STDOUT),
        Some("stderr") => Ok(2),
        _ => Err(p.badarg()),
    }
}

fn isatty_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let of = descriptor(p, a[0])?;
    Ok(match tty::settings(of) {
        _ if tty::is_terminal(of) => am::true_.into(),
        Err(Errno::BADF) => atom(p, "ebadf")?,
        _ => am::false_.into(),
    })
}

fn tty_create_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let t = p.heap.magic_ref(Arc::new(Terminal::default()));
    Ok(p.heap.tuple(&[am::ok.into(), t]))
}

/// Settles what the terminal will be like; `tty_set/1` makes it so.
fn tty_init_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let of = descriptor(p, a[1])?;
    let options = a[2].as_map().ok_or_else(|| p.badarg())?;
    let t = terminal(p, a[0])?;
    let option = |name: &str| match map::get(options, Atom::existing(name)?.into())?.as_atom()? {
        am::true_ => Some(true),
        am::false_ => Some(false),
        _ => None,
    };
    let before = match tty::settings(of) {
        Ok(s) => s,
        Err(e) => return Ok(call_failed(&p.heap, "tcgetattr", e)),
    };
    let changes = Changes { lines: option("canon"), echo: option("echo"), signals: option("sig") };
    *t.settings() = Some((before, before.changed(changes)));
    Ok(am::ok.into())
}

fn tty_set_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let t = terminal(p, a[0])?;
    if let Some((before, edited)) = *t.settings() {
        if let Err(e) = kvik_port::tty::edit_with(before, edited) {
            return Ok(call_failed(&p.heap, "tcsetattr", e));
        }
    }
    Ok(am::ok.into())
}

/// `{select, TTY, Ref, ready_input}`
fn ready_message(tty: Term<'_>, r: Term<'_>) -> Option<OwnedTerm> {
    let [select, ready] = ["select", "ready_input"].map(|n| Atom::intern(n).ok());
    let (select, ready) = (select?, ready?);
    let h = Heap::detached();
    let t = h.tuple(&[select.into(), h.copy(tty), h.copy(r), ready.into()]);
    Some(OwnedTerm::message(t))
}

fn tty_select_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let messages = ready_message(a[0], a[1]).zip(ready_message(a[0], a[2]));
    let (notice, input) = messages.ok_or_else(|| p.system_limit())?;
    if let Err(e) = reader::watch_signals() {
        return Ok(call_failed(&p.heap, "sigaction", e));
    }
    reader::await_notice(p.pid(), notice);
    match reader::await_input(p.pid(), input) {
        Ok(()) => Ok(am::ok.into()),
        Err(e) => Ok(call_failed(&p.heap, "select", e)),
    }
}

fn tty_read_signal_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let notice = reader::take_notice();
    let message = ready_message(a[0], a[1]).ok_or_else(|| p.system_limit())?;
    reader::await_notice(p.pid(), message);
    let name = match notice {
        Some(Notice::Resized) => "winch",
        Some(Notice::Continued) => "cont",
        None => return Ok(call_failed(&p.heap, "read", Errno::AGAIN)),
    };
    let name = atom(p, name)?;
    Ok(p.heap.tuple(&[am::ok.into(), name]))
}

fn setlocale_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    Ok(Term::bool(locale::is_utf8()))
}

fn tty_window_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let h = &p.heap;
    let Some((columns, rows)) = tty::window_size(STDIN).or_else(|| tty::window_size(STDOUT)) else {
        return Ok(error(h, errno_atom(Errno::NOTSUP)));
    };
    // What is not known is -1.
    let [columns, rows] = [columns, rows].map(|n| if n == 0 { -1 } else { i64::from(n) });
    match (columns, rows) {
        (-1, -1) => Ok(error(h, errno_atom(Errno::NOTSUP))),
        _ => Ok(h.tuple(&[am::ok.into(), h.tuple(&[h.integer(columns), h.integer(rows)])])),
    }
}

/// Writes all of it, and waits where the reader of it is slow.
fn write_all(bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match fd::writev(STDOUT, &[IoSlice::new(rest)]) {
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(Errno::AGAIN) => {
                fd::wait_ready(STDOUT, true, -1)?;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn write_nif_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let bytes = bytes_of(a[1]).map_err(|_| p.badarg())?;
    Err(hand_off(
        p,
        move || write_all(&bytes),
        |h, r| match r {
            Ok(()) => am::ok.into(),
            Err(e) => error(h, errno_atom(e)),
        },
    ))
}

fn read_some() -> Result<Vec<u8>, Errno> {
    let mut room = vec![0; READ_BYTES];
    let n = fd::read_bytes(STDIN, &mut room)?;
    room.truncate(n);
    Ok(room)
}

fn read_nif_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let message = ready_message(a[0], a[1]).ok_or_else(|| p.system_limit())?;
    let pid = p.pid();
    let work = move || {
        let read = match read_some() {
            Err(Errno::AGAIN | Errno::INTR) => Ok(Some(Vec::new())),
            Ok(bytes) if bytes.is_empty() => Ok(None),
            r => r.map(Some),
        };
        // After the end, or an error, nobody reads again.
        match read {
            Ok(Some(_)) => reader::await_input(pid, message).and(read),
            r => r,
        }
    };
    Err(hand_off(p, work, |h, r| match r {
        Ok(Some(bytes)) => h.tuple(&[am::ok.into(), h.binary(&bytes)]),
        Ok(None) => error(h, am::closed.into()),
        Err(e) => call_failed(h, "read", e),
    }))
}

fn tty_encoding_1<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(am::utf8.into())
}

fn isprint_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let byte = a[0].as_i64().filter(|i| i32::try_from(*i).is_ok()).ok_or_else(|| p.badarg())?;
    Ok(Term::bool(locale::is_printed(byte as u8)))
}

fn width(code: i64) -> Option<usize> {
    u32::try_from(code).ok().and_then(char::from_u32).and_then(locale::width)
}

fn not_printable<'h>(p: &'h Proc) -> BifResult<'h> {
    let reason = atom(p, "not_printable")?;
    Ok(error(&p.heap, reason))
}

fn wcwidth_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let code = a[0].as_i64().filter(|i| i32::try_from(*i).is_ok()).ok_or_else(|| p.badarg())?;
    match width(code) {
        Some(columns) => Ok(p.heap.integer(columns as i64)),
        None => not_printable(p),
    }
}

/// The columns of characters of four bytes, up to the first zero.
fn wcswidth_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bytes = bytes_of(a[0]).map_err(|_| p.badarg())?;
    let mut columns = 0;
    for c in bytes.chunks_exact(WCHAR_BYTES) {
        let code = c.try_into().map_or(0, i32::from_ne_bytes);
        if code == 0 {
            break;
        }
        match width(code.into()) {
            Some(n) => columns += n,
            None => return not_printable(p),
        }
    }
    Ok(p.heap.tuple(&[am::ok.into(), p.heap.integer(columns as i64)]))
}

fn sizeof_wchar_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::int(WCHAR_BYTES as i32))
}

/// The description of the terminal that `tgetent_nif/1` was asked for last.
static DESCRIPTION: Mutex<Option<Description>> = Mutex::new(None);

fn description() -> MutexGuard<'static, Option<Description>> {
    DESCRIPTION.lock().unwrap_or_else(|e| e.into_inner())
}

/// A name with a zero behind it, as C wants it.
fn name(p: &Proc, t: Term<'_>) -> Result<Vec<u8>, Raised> {
    let bytes = bytes_of(t).map_err(|_| p.badarg())?;
    let name = CStr::from_bytes_until_nul(&bytes).map(|s| s.to_bytes().to_vec());
    Ok(name.unwrap_or(bytes))
}

fn tgetent_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let found = Description::of(&name(p, a[0])?);
    let known = found.is_some();
    *description() = found;
    match known {
        true => Ok(am::ok.into()),
        false => Ok(call_failed(&p.heap, "tgetent", Errno::NOENT)),
    }
}

fn tgetnum_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, Kind::Number);
    let number = place.and_then(|i| description().as_ref()?.number(i));
    Ok(Term::int(number.unwrap_or(-1)))
}

fn tgetflag_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, Kind::Flag);
    Ok(Term::bool(place.is_some_and(|i| description().as_ref().is_some_and(|d| d.flag(i)))))
}

fn tgetstr_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, Kind::String);
    let all = description();
    match place.and_then(|i| all.as_ref()?.string(i)) {
        Some(text) => Ok(p.heap.tuple(&[am::ok.into(), p.heap.binary(text)])),
        None => Ok(am::false_.into()),
    }
}
