//! Arguments of `erl_ddll` functions: driver names and options.

use kvik_term::{am, Term};

/// A driver's name: an atom, or text as iodata.
pub fn name_of(t: Term<'_>) -> Option<String> {
    let bytes = match t.as_atom() {
        Some(_) => kvik_bifs::filename::native(t)?,
        None => kvik_port::iodata::bytes(t).filter(|b| !b.contains(&0))?.into_owned(),
    };
    String::from_utf8(bytes).ok().filter(|n| !n.is_empty() || t.as_atom().is_none())
}

/// Which users to wait for: ports only, or other processes too.
#[derive(Copy, Clone, PartialEq)]
pub enum PendingUsers {
    Driver,
    Any,
}
#[derive(Default)]
pub struct LoadOptions {
    pub kill_ports: bool,
    pub monitor: Option<PendingUsers>,
    pub reload: Option<PendingUsers>,
}
fn pending(t: Term<'_>) -> Option<Option<PendingUsers>> {
    match t.as_atom()? {
        am::pending_driver => Some(Some(PendingUsers::Driver)),
        am::pending => Some(Some(PendingUsers::Any)),
        _ => None,
    }
}
/// Parses the options of `try_load/3`; `None`: `badarg`.
pub fn load_options(t: Term<'_>) -> Option<LoadOptions> {
    let mut o = LoadOptions::default();
    for item in t.list_to_vec()? {
        let [tag, value] = item.as_tuple_n()?;
        match tag.as_atom()? {
            am::driver_options => {
                let all = value.list_to_vec()?;
                o.kill_ports |= !all.is_empty();
                all.iter().all(|t| *t == am::kill_ports).then_some(())?;
            }
            am::monitor => o.monitor = pending(value)?,
            am::reload => o.reload = pending(value)?,
            _ => return None,
        }
    }
    Some(o)
}
/// Parses the options of `try_unload/2`.
pub fn unload_options(t: Term<'_>) -> Option<LoadOptions> {
    let mut o = LoadOptions::default();
    for item in t.list_to_vec()? {
        if item == am::kill_ports {
            o.kill_ports = true;
            continue;
        }
        let [tag, value] = item.as_tuple_n()?;
        (tag == am::monitor).then_some(())?;
        o.monitor = pending(value)?;
    }
    Some(o)
}
