//! Ctrl-C: what `+B` makes of it, and the menu it opens, which is in `bifs`.

use std::sync::OnceLock;

use kvik_env::signal::{self, Action, SIGINT, SIGQUIT, SIGTSTP};
use kvik_env::{tty as terminal, Result};

use crate::pause::{self, Alone};
use crate::tty;

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
kvik_state::vm_state! {
    static MENU: OnceLock<Menu> = OnceLock::new();
}

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
