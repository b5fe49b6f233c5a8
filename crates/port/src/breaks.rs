//! Ctrl-C: what `+B` makes of it, and the keys of the menu it opens. The menu itself is in `bifs`.

use std::sync::OnceLock;

use kvik_sys::signal::{self, Action, SIGINT, SIGQUIT, SIGTSTP};
use kvik_sys::{fd, tty as terminal, Errno, Result};

use crate::pause::{self, Alone};
use crate::{signals, tty};

/// What the keys do that send signals.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Ctrl-C opens the menu, Ctrl-\ ends the node in order.
    #[default]
    Menu,
    /// `+Bi`: nothing; Ctrl-Z neither.
    Ignore,
    /// `+Bc`: Ctrl-C is a key for the shell, which interrupts what it runs.
    Key,
    /// `+Bd` and `+B`: what the system does with them.
    Disabled,
}

type Menu = fn(&Alone);
static MENU: OnceLock<Menu> = OnceLock::new();

/// The menu that Ctrl-C opens. The first call counts.
pub fn set_menu(m: Menu) {
    let _ = MENU.set(m);
}

/// To be called once, at the start.
pub fn init(mode: Mode) -> Result<()> {
    match mode {
        Mode::Disabled => return Ok(()),
        Mode::Ignore => {
            return [SIGINT, SIGQUIT, SIGTSTP]
                .iter()
                .try_for_each(|n| signal::set(*n, Action::Ignore))
        }
        Mode::Key if terminal::is_terminal(0) => {
            let now = terminal::settings(0)?;
            tty::keep(now);
            terminal::restore(0, &now.without_interrupt())?;
        }
        Mode::Key | Mode::Menu => {}
    }
    [SIGINT, SIGQUIT].iter().try_for_each(|n| signal::set(*n, Action::Handle))
}

/// SIGINT has come. Once more while the menu is open, or is to be opened, it ends the program.
pub fn requested() {
    let Some(menu) = MENU.get() else { return };
    if !pause::ask(*menu) {
        crate::settle();
        tty::restore();
        std::process::exit(0);
    }
}

/// A key for the menu, as a terminal gives them: the first of a line. `None`: there will be none.
pub fn key() -> Option<u8> {
    let mut line = [0; 64];
    loop {
        let (typed, signalled) = match signal::event_fd() {
            Ok(notes) => fd::wait_either(0, notes).ok()?,
            Err(_) => (true, false),
        };
        if signalled {
            signals::dispatch();
        }
        if !typed {
            continue;
        }
        match fd::read_bytes(0, &mut line) {
            Ok(0) => return None,
            Ok(_) => return Some(line[0]),
            Err(Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

/// Writes all of it to standard output, which may be one that does not block.
pub fn say(text: &[u8]) {
    let mut rest = text;
    while !rest.is_empty() {
        match fd::write(1, rest) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::AGAIN) if fd::wait_ready(1, true, -1).is_ok() => {}
            Err(_) => return,
        }
    }
}
