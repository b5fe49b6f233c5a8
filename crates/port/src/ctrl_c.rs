//! Ctrl-C: its handling by `+B`, and the hook of the break menu, which is in `bifs`.

use std::sync::OnceLock;

use kvik_env::signal::{self, SignalAction, SIGINT, SIGQUIT, SIGTSTP};
use kvik_env::{tty as terminal, Result};

use crate::stop_the_world::{self, StoppedWorld};
use crate::tty;

/// Effect of the keys that send signals.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum BreakMode {
    /// Ctrl-C opens the menu, Ctrl-\ stops the node in an orderly way.
    #[default]
    Menu,
    /// `+Bi`: Ctrl-C and Ctrl-Z do nothing.
    Ignore,
    /// `+Bc`: Ctrl-C is a key for the shell, which interrupts what it runs.
    Key,
    /// `+Bd` and `+B`: the system's default actions.
    Disabled,
}

type Menu = fn(&StoppedWorld);
kvik_state::vm_state! {
    static MENU: OnceLock<Menu> = OnceLock::new();
}

/// The menu that Ctrl-C opens. The first call counts.
pub fn set_menu(m: Menu) {
    let _ = MENU.set(m);
}

/// Called once, at the start.
pub fn init(mode: BreakMode) -> Result<()> {
    match mode {
        BreakMode::Disabled => return Ok(()),
        BreakMode::Ignore => {
            return [SIGINT, SIGQUIT, SIGTSTP]
                .iter()
                .try_for_each(|n| signal::set(*n, SignalAction::Ignore))
        }
        BreakMode::Key if terminal::is_terminal(0) => {
            let now = terminal::settings(0)?;
            tty::keep(now);
            terminal::restore(0, &now.without_interrupt())?;
        }
        BreakMode::Key | BreakMode::Menu => {}
    }
    [SIGINT, SIGQUIT].iter().try_for_each(|n| signal::set(*n, SignalAction::Handle))
}

/// SIGINT has come. A second one, while the menu is open or requested, ends the program.
pub fn requested() {
    let Some(menu) = MENU.get() else { return };
    if !stop_the_world::run_alone(*menu) {
        crate::settle();
        tty::restore();
        std::process::exit(0);
    }
}
