//! Tracers that are modules: functions of their libraries, called without a process's heap.

use std::ptr;
use std::sync::atomic::Ordering;

use kvik_code::{module, LoadedModule};
use kvik_heap::OwnedTerm;
use kvik_proc::trace::module::NativeFunctions;
use kvik_term::{Atom, Export, Term};

use crate::call::call_alone;
use crate::load::loaded_library;

pub const FUNCTIONS: NativeFunctions = NativeFunctions { has, call };

/// The entry of a function that the module's library implements.
fn entry(i: &LoadedModule, name: &str, arity: usize) -> Option<&'static Export> {
    let name = Atom::existing(name)?;
    let cell = i.nifs.iter().find(|c| c.function == name && c.arity as usize == arity)?;
    let at = cell.entry.load(Ordering::Acquire);
    // SAFETY: 0, or the address of an entry in a record, which is never freed.
    unsafe { ptr::with_exposed_provenance::<Export>(at).as_ref() }
}
fn has(m: Atom, name: &str, arity: usize) -> bool {
    module::current(m).is_some_and(|i| i.has_library() && entry(&i, name, arity).is_some())
}
fn call(m: Atom, name: &str, caller: Option<u32>, args: &[Term<'_>]) -> Option<OwnedTerm> {
    let i = module::current(m)?;
    // Keeps the library during the call.
    let lib = loaded_library(&i)?;
    let answer = call_alone(entry(&i, name, args.len())?, caller, args);
    drop(lib);
    answer
}
