//! `prim_tty:tinfo_nif/0` (since OTP 29): the names of all capabilities of terminals.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{Atom, Term};

pub const BIFS: &[BifEntry] = &[bif!("prim_tty", "tinfo_nif", 0, tinfo_nif_0, since 29)];

/// For each kind a line `= KIND`, then a line of termcap code, terminfo name and long name for each
/// capability, in the order of ncurses.
const NAMES: &str = include_str!("capability_names.txt");

/// A list for each kind, the last capability first.
fn tinfo_nif_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let h = &p.heap;
    let atom = |name: &str| Atom::intern(name).map_err(|_| p.system_limit());
    let keys = [atom("code")?, atom("name")?, atom("full_name")?];
    let mut kinds: Vec<(Atom, Term<'h>)> = Vec::new();
    for line in NAMES.lines() {
        match (line.strip_prefix("= "), kinds.last_mut()) {
            (Some(kind), _) => kinds.push((atom(kind)?, Term::NIL)),
            (None, Some((_, all))) => {
                let mut names = line.split(' ');
                let pairs = keys.map(|key| (key, h.string(names.next().unwrap_or_default())));
                *all = h.cons(h.map_of_atoms(&pairs), *all);
            }
            _ => {}
        }
    }
    Ok(h.map_of_atoms(&kinds))
}
