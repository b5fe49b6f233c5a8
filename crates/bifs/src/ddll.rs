//! Module `erl_ddll`: linked-in drivers. The registered [`Loader`] implements the functions;
//! without one no driver can be loaded, and the error is the one OTP gives for a file that is no
//! library.

use std::sync::OnceLock;

use kvik_proc::bif::Bif;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::Term;

pub const BIFS: &[BifEntry] = &[
    bif!("erl_ddll", "try_load", 3, try_load_3),
    bif!("erl_ddll", "try_unload", 2, try_unload_2),
    bif!("erl_ddll", "loaded_drivers", 0, loaded_drivers_0),
    bif!("erl_ddll", "info", 2, info_2),
    bif!("erl_ddll", "monitor", 2, monitor_2),
    bif!("erl_ddll", "demonitor", 1, demonitor_1),
    bif!("erl_ddll", "format_error_int", 1, format_error_int_1),
];

/// Implementation of the driver BIFs.
#[derive(Copy, Clone)]
pub struct Loader {
    pub try_load: Bif,
    pub try_unload: Bif,
    pub loaded_drivers: Bif,
    pub info: Bif,
    pub monitor: Bif,
    pub demonitor: Bif,
    pub format_error: Bif,
}

kvik_state::vm_state! {
    static LOADER: OnceLock<Loader> = OnceLock::new();
}

/// Registers the loader; only the first call has an effect.
pub fn set_loader(l: Loader) -> bool {
    LOADER.set(l).is_ok()
}

fn ask<'h>(p: &'h Proc, a: &[Term<'h>], which: impl Fn(&Loader) -> Bif) -> BifResult<'h> {
    match LOADER.get() {
        Some(l) => which(l)(p, a),
        None => Err(p.notsup()),
    }
}

/// Defines BIFs that forward to the loader.
macro_rules! asked {
    ($($bif:ident: $which:ident,)*) => {
        $(fn $bif<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
            ask(p, a, |l| l.$which)
        })*
    };
}
asked! {
    try_load_3: try_load,
    try_unload_2: try_unload,
    loaded_drivers_0: loaded_drivers,
    info_2: info,
    monitor_2: monitor,
    demonitor_1: demonitor,
    format_error_int_1: format_error,
}
