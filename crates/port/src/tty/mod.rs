//! The `tty_sl` driver: the terminal of an interactive shell. `user_drv` sends editing commands
//! (a byte and its arguments); keys come back as they are typed.
//!
//! The driver keeps the line that is being edited, so that it knows where the cursor is.

mod line;
pub mod reader;
pub mod terminfo;
mod terminfo_names;
pub mod tparm;

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};

use kvik_env::poll::Interest;
use kvik_env::signal::{self, SignalAction, SIGCONT};
use kvik_env::tty::{self, TtySettings};
use kvik_env::{fd, file, pipe, Errno};
use kvik_sys::locale;
use kvik_term::{am, Atom};

use crate::driver::{ControlReply, Driver, Exit, Flow, Ready};
use crate::poll::{self, Source};
use crate::port::state::Core;
use crate::queue::OutQueue;
use line::EditLine;

const CONTROL: u32 = 0x018b_0900;
/// Output beyond this makes a synchronous writer wait.
const WAIT: usize = 1024;

pub fn install() {
    crate::add_driver("tty_sl", |command| Box::new(Terminal::new(command)));
}

/// The terminal's settings before we changed them, and those while a line is edited.
struct SavedMode {
    before: TtySettings,
    edited: Option<TtySettings>,
}
static SAVED_MODE: Mutex<Option<SavedMode>> = Mutex::new(None);

fn kept() -> MutexGuard<'static, Option<SavedMode>> {
    SAVED_MODE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Notes the settings that [`restore`] puts back. The first call counts.
pub fn keep(before: TtySettings) {
    kept().get_or_insert(SavedMode { before, edited: None });
}
/// Restores the terminal: called before the VM ends, in every way it may end.
pub fn restore() {
    if let Some(k) = kept().take() {
        let _ = tty::restore(0, &k.before);
    }
}
/// Runs `f` with the terminal's original settings.
pub fn as_before(f: impl FnOnce()) {
    let now = tty::settings(0).ok();
    if let Some(k) = &*kept() {
        let _ = tty::restore(0, &k.before);
    }
    f();
    if let Some(s) = now {
        let _ = tty::restore(0, &s);
    }
}
/// Applies settings for editing a line; [`restore`] puts back `before` in the end.
pub fn edit_with(before: TtySettings, edited: TtySettings) -> Result<(), Errno> {
    tty::apply(0, &edited)?;
    kept().get_or_insert(SavedMode { before, edited: None }).edited = Some(edited);
    Ok(())
}
/// The program continues after a stop: other programs may have changed the terminal.
pub fn goes_on() {
    if let Some(s) = kept().as_ref().and_then(|k| k.edited) {
        let _ = tty::restore(0, &s);
    }
}

struct Terminal {
    command: Vec<u8>,
    file: Option<OwnedFd>,
    line: EditLine,
    queue: OutQueue,
    /// A synchronous writer waits for the queue to be written.
    owes_ok: bool,
    /// The first bytes of an incomplete character.
    partial: Vec<u8>,
}

impl Terminal {
    fn new(command: &[u8]) -> Terminal {
        Terminal {
            command: command.to_vec(),
            file: None,
            line: EditLine::new(locale::is_utf8()),
            queue: OutQueue::default(),
            owes_ok: false,
            partial: Vec::new(),
        }
    }

    fn open(&mut self, core: &Core) -> Result<(), Errno> {
        if !tty::is_terminal(0) || !tty::is_terminal(1) {
            return Err(Errno::INVAL);
        }
        self.line.set_moves(terminfo::of_environment().ok_or(Errno::INVAL)?);
        let path = CString::new("/proc/self/fd/0").map_err(|_| Errno::INVAL)?;
        let mode = file::OpenMode {
            read: true,
            write: true,
            nonblocking: true,
            ..file::OpenMode::default()
        };
        let f = file::open(&path, mode)?;
        let before = tty::settings(0)?;
        if self.command.windows(2).any(|w| w == b"-c") {
            tty::restore(0, &before.edited())?;
            let mut kept = kept();
            let k = kept.get_or_insert(SavedMode { before, edited: None });
            k.edited = Some(before.edited());
        }
        let i = Interest { read: true, write: true, edge: true };
        poll::add(core.home, f.as_raw_fd(), Source::Both, core.id, i)?;
        self.file = Some(f);
        signal::set(SIGCONT, SignalAction::Handle)
    }

    fn write(&mut self, core: &mut Core) -> Flow {
        let Some(f) = &self.file else { return Ok(()) };
        while !self.queue.is_empty() {
            match self.queue.slices(|s| pipe::writev(f.as_raw_fd(), s)) {
                Ok(n) => self.queue.advance(n),
                Err(Errno::AGAIN) => break,
                Err(e) => return Err(Exit::Posix(e)),
            }
        }
        if self.owes_ok && self.queue.len() <= WAIT {
            self.owes_ok = false;
            core.tell_owner(0, |_| am::ok.into());
        }
        Ok(())
    }

    fn read(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        let Some(f) = &self.file else { return Ok(()) };
        loop {
            let n = match pipe::read_bytes(f.as_raw_fd(), buffer) {
                Ok(0) => return core.end_of_input(),
                Ok(n) => n,
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return core.end_of_input(),
            };
            let mut bytes = std::mem::take(&mut self.partial);
            bytes.extend_from_slice(&buffer[..n]);
            if self.line.utf8 {
                if let Err(e) = std::str::from_utf8(&bytes) {
                    match e.error_len() {
                        // The rest of the last character is yet to come.
                        None => self.partial = bytes.split_off(e.valid_up_to()),
                        Some(_) => self.line.utf8 = false,
                    }
                }
            }
            if !self.line.utf8 {
                let text: String = bytes.iter().map(|b| *b as char).collect();
                bytes = text.into_bytes();
            }
            if !bytes.is_empty() {
                core.deliver(crate::input::InputPiece::Data(&bytes));
            }
        }
    }
}

/// Columns and rows of the terminal; of one that does not know its size 80 and 24, as in OTP.
fn window_size() -> (u32, u32) {
    let (columns, rows) = tty::window_size(0).unwrap_or_default();
    let or = |size, default| if size == 0 { default } else { size };
    (or(columns, 80), or(rows, 24))
}

impl Driver for Terminal {
    fn start(&mut self, core: &mut Core) -> Flow {
        self.open(core).map_err(|_| Exit::Reason(Atom::intern("einval").unwrap_or(am::error)))
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let Some((op, data)) = bytes.split_first() else {
            return Ok(());
        };
        self.line.columns = window_size().0 as usize;
        self.line.command(*op, data);
        let out = std::mem::take(&mut self.line.out);
        self.queue.push(&out);
        self.owes_ok |= *op == 5;
        self.write(core)
    }
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        match why {
            Ready::Input { .. } => self.read(core, buffer),
            Ready::Output => self.write(core),
            _ => Ok(()),
        }
    }
    fn control(&mut self, _: &mut Core, op: u32, data: &[u8]) -> Option<ControlReply> {
        match op.checked_sub(CONTROL)? {
            100 => {
                let (columns, rows) = window_size();
                let size = [columns.to_ne_bytes(), rows.to_ne_bytes()];
                Some(ControlReply::List(size.concat()))
            }
            101 => Some(ControlReply::List(vec![self.line.utf8 as u8])),
            102 => {
                let was = self.line.utf8;
                self.line.utf8 = *data.first()? != 0;
                Some(ControlReply::List(vec![was as u8]))
            }
            _ => None,
        }
    }
    fn queued(&self) -> usize {
        self.queue.len()
    }
    fn flush(&mut self) {
        if let Some(f) = &self.file {
            while !self.queue.is_empty() && fd::wait_ready(f.as_raw_fd(), true, 1000) == Ok(true) {
                match self.queue.slices(|s| pipe::writev(f.as_raw_fd(), s)) {
                    Ok(n) => self.queue.advance(n),
                    Err(_) => self.queue.clear(),
                }
            }
        }
        restore();
    }
    fn stop(&mut self, core: &mut Core) {
        if let Some(f) = self.file.take() {
            poll::remove(core.home, f.as_raw_fd());
            let _ = signal::set(SIGCONT, SignalAction::Default);
            restore();
        }
    }
}
