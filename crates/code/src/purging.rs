//! The purge in progress. Until it is decided whether old code goes, a process that calls one of
//! its funs waits; then the call is repeated.

use std::sync::{Mutex, MutexGuard};

use kvik_term::{Atom, CodeAddress, FunEntry};

struct Purge {
    module: Atom,
    /// The process that purges.
    by: u32,
    /// The funs that lead to the old code, with their addresses.
    funs: Vec<(&'static FunEntry, CodeAddress)>,
    /// Their target during the purge.
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

/// Redirects the funs of a module's old code to `stub`. False if there is no old code.
pub fn begin(module: Atom, by: u32, stub: CodeAddress) -> bool {
    let Some(old) = crate::old(module) else { return false };
    let mut all = under_way();
    let mut purge = Purge { module, by, funs: Vec::new(), stub, waiting: Vec::new() };
    purge.funs.extend(old.funs.iter().filter(|(e, at)| e.code.redirect(*at, stub)));
    *all = Some(purge);
    true
}

/// Whether a process that calls this fun has to wait: if so, records it and returns the purging
/// process.
pub fn wait(fun: &FunEntry, pid: u32) -> Option<u32> {
    let mut all = under_way();
    let purge = all.as_mut()?;
    let same = |e: &FunEntry| std::ptr::eq(e, fun) && e.code.get() == purge.stub;
    purge.funs.iter().any(|(e, _)| same(e)).then(|| {
        purge.waiting.push(pid);
        purge.by
    })
}

/// Ends the purge; the old code stays or goes. Returns the purging process and the waiting ones.
pub fn end(module: Atom, stays: bool) -> Option<(u32, Vec<u32>)> {
    let mut all = under_way();
    let purge = all.take_if(|p| p.module == module)?;
    for (e, at) in purge.funs.iter().filter(|_| stays) {
        e.code.redirect(purge.stub, *at);
    }
    Some((purge.by, purge.waiting))
}
