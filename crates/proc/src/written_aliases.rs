//! Aliases that were written out as bytes or text, and have ended since.

use crate::process::ColdFields;
use crate::signal::ask;
use crate::signal_types::RefId;
use crate::Proc;

/// Has a process forget those of these aliases, which were written out, that it has not any more.
pub fn sweep(pid: u32, written: Vec<[u32; 3]>) {
    let sweep = move |p: Option<&Proc>| {
        let has = |x: &ColdFields, id| x.aliases.get(&RefId(id)).is_some();
        let ended = |id: &[u32; 3]| p.and_then(|p| p.cold(|x| has(x, *id))) != Some(true);
        kvik_heap::written_refs::forget_ended(written.into_iter().filter(ended));
    };
    ask(pid, Box::new(sweep));
}
