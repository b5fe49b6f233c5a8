//! Module `prim_tty` (since OTP 26): the terminal, or the pipe or file used instead. Line editing
//! itself is done in Erlang.

use std::ffi::CStr;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_env::tty::{self, Changes, TtySettings};
use kvik_env::{fd, pipe, Errno};
use kvik_heap::{Heap, OwnedTerm};
use kvik_port::tty::reader::{self, Notice};
use kvik_port::tty::terminfo::{self, CapabilityKind, Description};
use kvik_port::tty::tparm::{tparm, PARAMETERS};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::locale;
use kvik_term::{am, map, Atom, Term};

use crate::blocking_pool::hand_off;
use crate::iolist::bytes_of;

pub const BIFS: &[BifEntry] = &[
    bif!("prim_tty", "isatty", 1, isatty_1, since 26),
    bif!("prim_tty", "tty_create", 0, tty_create_0, since 26 until 28),
    bif!("prim_tty", "tty_create", 1, tty_create_1, since 28),
    bif!("prim_tty", "tty_init", 2, tty_init_2, since 28),
    bif!("prim_tty", "tty_is_open", 2, tty_is_open_2, since 28),
    bif!("prim_tty", "tty_select", 2, tty_select_2, since 28),
    bif!("prim_tty", "read_nif", 3, read_nif_3, since 28),
    bif!("prim_tty", "setupterm_nif", 0, setupterm_nif_0, since 28),
    bif!("prim_tty", "tigetnum_nif", 1, tgetnum_nif_1, since 28),
    bif!("prim_tty", "tigetflag_nif", 1, tgetflag_nif_1, since 28),
    bif!("prim_tty", "tigetstr_nif", 1, tigetstr_nif_1, since 28),
    bif!("prim_tty", "tputs_nif", 2, tputs_nif_2, since 28),
    bif!("prim_tty", "tty_init", 3, tty_init_3, since 26 until 28),
    bif!("prim_tty", "tty_set", 1, tty_set_1, since 26 until 28),
    bif!("prim_tty", "tty_read_signal", 2, tty_read_signal_2, since 26 until 28),
    bif!("prim_tty", "setlocale", 1, setlocale_1, since 26),
    bif!("prim_tty", "tty_select", 3, tty_select_3, since 26 until 28),
    bif!("prim_tty", "tty_window_size", 1, tty_window_size_1, since 26),
    bif!("prim_tty", "write_nif", 2, write_nif_2, since 26),
    bif!("prim_tty", "tty_encoding", 1, tty_encoding_1, since 26),
    bif!("prim_tty", "read_nif", 2, read_nif_2, since 26 until 28),
    bif!("prim_tty", "isprint", 1, isprint_1, since 26),
    bif!("prim_tty", "wcwidth", 1, wcwidth_1, since 26),
    bif!("prim_tty", "wcswidth", 1, wcswidth_1, since 26),
    bif!("prim_tty", "sizeof_wchar", 0, sizeof_wchar_0, since 26),
    bif!("prim_tty", "tgetent_nif", 1, tgetent_nif_1, since 26 until 28),
    bif!("prim_tty", "tgetnum_nif", 1, tgetnum_nif_1, since 26 until 28),
    bif!("prim_tty", "tgetflag_nif", 1, tgetflag_nif_1, since 26 until 28),
    bif!("prim_tty", "tgetstr_nif", 1, tgetstr_nif_1, since 26 until 28),
];

const STDIN: RawFd = 0;
const STDOUT: RawFd = 1;
/// Maximum bytes per read.
const READ_BYTES: usize = 1024;
/// Size of a C `wchar_t`.
const WCHAR_BYTES: usize = 4;

/// A terminal in use: its original settings, and the ones to set.
struct Terminal {
    output: RawFd,
    /// The terminal behind `output`, opened once more for writes that do not block.
    nonblocking: Option<OwnedFd>,
    settings: Mutex<Option<(TtySettings, TtySettings)>>,
}

impl Terminal {
    fn settings(&self) -> MutexGuard<'_, Option<(TtySettings, TtySettings)>> {
        self.settings.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Writes what can be written without blocking.
    fn write_nowait(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match &self.nonblocking {
            Some(fd) => pipe::write(fd.as_raw_fd(), bytes),
            None => pipe::write_nowait(self.output, bytes),
        }
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
    create(p, STDOUT, None)
}

fn create<'h>(p: &'h Proc, output: RawFd, before: Option<TtySettings>) -> BifResult<'h> {
    let settings = Mutex::new(before.map(|before| (before, before)));
    let nonblocking =
        tty::is_terminal(output).then(|| tty::reopen_nonblocking(output).ok()).flatten();
    let t = p.heap.magic_ref(Arc::new(Terminal { output, nonblocking, settings }));
    Ok(p.heap.tuple(&[am::ok.into(), t]))
}

/// Opens the terminal of standard output or standard error (since OTP 28).
fn tty_create_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let output = descriptor(p, a[0])?;
    if output == STDIN {
        return Err(p.badarg());
    }
    create(p, output, tty::settings(output).ok())
}

/// Puts the terminal into `raw` mode, or restores the original settings (since OTP 28).
fn tty_init_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let options = a[1].as_map().ok_or_else(|| p.badarg())?;
    let t = terminal(p, a[0])?;
    let input = Atom::existing("input").and_then(|key| map::get(options, key.into()));
    let raw = input.ok_or_else(|| p.badarg())?.as_atom().is_some_and(|a| a.name() == "raw");
    let mut settings = t.settings();
    let Some((before, now)) = &mut *settings else {
        return Ok(if raw { error(&p.heap, errno_atom(Errno::NOTSUP)) } else { am::ok.into() });
    };
    if raw || now.is_raw() {
        let off = Some(false);
        let changes = Changes { lines: off, echo: off, signals: None };
        *now = if raw { before.changed(changes) } else { *before };
        if let Err(e) = kvik_port::tty::edit_with(*before, *now) {
            return Ok(call_failed(&p.heap, "tcsetattr", e));
        }
    }
    Ok(am::ok.into())
}

/// Whether the other end of a standard descriptor is still open (since OTP 28).
fn tty_is_open_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    match fd::hung_up(descriptor(p, a[1])?) {
        Ok(gone) => Ok(Term::bool(!gone)),
        Err(e) => Ok(call_failed(&p.heap, "tty_is_open", e)),
    }
}

fn setupterm_nif_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let name = std::env::var_os("TERM").unwrap_or_default();
    set_description(p, name.as_bytes(), "setupterm")
}

/// Computes the terminal settings; `tty_set/1` applies them.
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
    let notice = ready_message(a[0], a[1]).ok_or_else(|| p.system_limit())?;
    if let Err(e) = reader::watch_signals() {
        return Ok(call_failed(&p.heap, "sigaction", e));
    }
    reader::await_notice(p.pid(), notice);
    tty_select_2(p, &[a[0], a[2]])
}

/// Selects for input only: signals go to `erl_signal_server` (since OTP 28).
fn tty_select_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    terminal(p, a[0])?;
    let input = ready_message(a[0], a[1]).ok_or_else(|| p.system_limit())?;
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
    // Unknown values are -1.
    let [columns, rows] = [columns, rows].map(|n| if n == 0 { -1 } else { i64::from(n) });
    match (columns, rows) {
        (-1, -1) => Ok(error(h, errno_atom(Errno::NOTSUP))),
        _ => Ok(h.tuple(&[am::ok.into(), h.tuple(&[h.integer(columns), h.integer(rows)])])),
    }
}

/// Writes all bytes; blocks if the reader is slow.
fn write_all(output: RawFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match pipe::writev(output, &[IoSlice::new(rest)]) {
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(Errno::AGAIN) => {
                fd::wait_ready(output, true, -1)?;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Output that cannot be written at once goes to another thread. Most can, and then it stands on the
/// terminal before anything that other processes write afterwards.
fn write_nif_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let t = terminal(p, a[0])?;
    let mut bytes = bytes_of(a[1]).map_err(|_| p.badarg())?;
    match t.write_nowait(&bytes) {
        Ok(n) if n >= bytes.len() => return Ok(am::ok.into()),
        Ok(n) => drop(bytes.drain(..n)),
        Err(Errno::AGAIN | Errno::NOTSUP | Errno::NOSYS) => {}
        Err(e) => return Ok(error(&p.heap, errno_atom(e))),
    }
    let output = t.output;
    Err(hand_off(
        p,
        move || write_all(output, &bytes),
        |h, r| match r {
            Ok(()) => am::ok.into(),
            Err(e) => error(h, errno_atom(e)),
        },
    ))
}

fn read_some(most: usize) -> Result<Vec<u8>, Errno> {
    let mut room = vec![0; most];
    let n = pipe::read_bytes(STDIN, &mut room)?;
    room.truncate(n);
    Ok(room)
}

fn read_nif_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    read(p, a, READ_BYTES)
}
/// Reads at most that many bytes (since OTP 28).
fn read_nif_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let most = a[2].as_u64().ok_or_else(|| p.badarg())?;
    read(p, a, most.min(READ_BYTES as u64) as usize)
}
fn read<'h>(p: &'h Proc, a: &[Term<'h>], most: usize) -> BifResult<'h> {
    terminal(p, a[0])?;
    let message = ready_message(a[0], a[1]).ok_or_else(|| p.system_limit())?;
    let pid = p.pid();
    let work = move || {
        let read = match read_some(most) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(Some(Vec::new())),
            Ok(bytes) if bytes.is_empty() => Ok(None),
            r => r.map(Some),
        };
        // After the end of input or an error there is no further read.
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

/// The display width of a string of 4-byte characters, up to the first zero.
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

kvik_state::vm_state! {
    /// The terminal description that `tgetent_nif/1` or `setupterm_nif/0` loaded last.
    static DESCRIPTION: Mutex<Option<Description>> = Mutex::new(None);
}

fn description() -> MutexGuard<'static, Option<Description>> {
    DESCRIPTION.lock().unwrap_or_else(|e| e.into_inner())
}

/// A NUL-terminated name, as C expects it.
fn name(p: &Proc, t: Term<'_>) -> Result<Vec<u8>, Raised> {
    let bytes = bytes_of(t).map_err(|_| p.badarg())?;
    let name = CStr::from_bytes_until_nul(&bytes).map(|s| s.to_bytes().to_vec());
    Ok(name.unwrap_or(bytes))
}

fn tgetent_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = name(p, a[0])?;
    set_description(p, &name, "tgetent")
}
fn set_description<'h>(p: &'h Proc, name: &[u8], call: &str) -> BifResult<'h> {
    let found = Description::of(name);
    let known = found.is_some();
    *description() = found;
    match known {
        true => Ok(am::ok.into()),
        false => Ok(call_failed(&p.heap, call, Errno::NOENT)),
    }
}

fn tgetnum_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, CapabilityKind::Number);
    let number = place.and_then(|i| description().as_ref()?.number(i));
    Ok(Term::int(number.unwrap_or(-1)))
}

fn tgetflag_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, CapabilityKind::Flag);
    Ok(Term::bool(place.is_some_and(|i| description().as_ref().is_some_and(|d| d.flag(i)))))
}

fn tgetstr_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::place(&name(p, a[0])?, CapabilityKind::String);
    let all = description();
    match place.and_then(|i| all.as_ref()?.string(i)) {
        Some(text) => Ok(p.heap.tuple(&[am::ok.into(), p.heap.binary(text)])),
        None => Ok(am::false_.into()),
    }
}

/// By terminfo name, which must exist; else `badarg`.
fn tigetstr_nif_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let place = terminfo::string_place(&name(p, a[0])?).ok_or_else(|| p.badarg())?;
    let all = description();
    match all.as_ref().and_then(|d| d.string(place)) {
        Some(text) => Ok(p.heap.tuple(&[am::ok.into(), p.heap.binary(text)])),
        None => Ok(am::false_.into()),
    }
}

/// The bytes to write for a terminfo string with these parameters.
fn tputs_nif_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let text = name(p, a[0])?;
    let given = a[1].list_to_vec().filter(|l| l.len() <= PARAMETERS).ok_or_else(|| p.badarg())?;
    let mut params = [0; PARAMETERS];
    for (slot, value) in params.iter_mut().zip(&given) {
        *slot = value.as_i64().ok_or_else(|| p.badarg())?;
    }
    let text = if given.is_empty() { text } else { tparm(&text, params) };
    let written = terminfo::without_delays(&text);
    Ok(p.heap.tuple(&[am::ok.into(), p.heap.binary(&written)]))
}
