//! A purge that is under way. While it is not yet decided whether old code goes, who calls one of
//! its funs waits; then the call is made once more.

use std::sync::{Mutex, MutexGuard};

use kvik_term::{Atom, CodeAddress, FunEntry};

struct Purge {
    module: Atom,
    /// The process that purges.
    by: u32,
    /// The funs whose code is the old one, with where it is.
    funs: Vec<(&'static FunEntry, CodeAddress)>,
    /// Where they lead in the meantime.
    stub: CodeAddress,
    waiting: Vec<u32>,
}

kvik_state::vm_state! {
    /// Only `erts_code_purger` purges, one module after the other.
    static UNDER_WAY: Mutex<Option<Purge>> = Mutex::new(None);
}

fn under_way() -> MutexGuard<'static, Option<Purge>> {
    UNDER_WAY.lock().unwrap_or_else(|e| e.into_inner())
}

/// Has the funs of a module's old code lead to `stub`. False: it has none.
pub fn begin(module: Atom, by: u32, stub: CodeAddress) -> bool {
    let Some(old) = crate::old(module) else { return false };
    let mut all = under_way();
    let mut purge = Purge { module, by, funs: Vec::new(), stub, waiting: Vec::new() };
    purge.funs.extend(old.funs.iter().filter(|(e, at)| e.code.redirect(*at, stub)));
    *all = Some(purge);
    true
}

/// Does a process that calls this fun have to wait? For whom, if so; it is noted then.
pub fn wait(fun: &FunEntry, pid: u32) -> Option<u32> {
    let mut all = under_way();
    let purge = all.as_mut()?;
    let same = |e: &FunEntry| std::ptr::eq(e, fun) && e.code.get() == purge.stub;
    purge.funs.iter().any(|(e, _)| same(e)).then(|| {
        purge.waiting.push(pid);
        purge.by
    })
}

/// The purge is over, and the old code stays or goes. Who waited, and for whom.
pub fn end(module: Atom, stays: bool) -> Option<(u32, Vec<u32>)> {
    let mut all = under_way();
    let purge = all.take_if(|p| p.module == module)?;
    for (e, at) in purge.funs.iter().filter(|_| stays) {
        e.code.redirect(purge.stub, *at);
    }
    Some((purge.by, purge.waiting))
}
