//! Native code that later VMs of the same build need not make again (docs/internals/code-cache.md).
//!
//! An entry holds what compiling a module makes, with symbols in place of the words that differ from
//! VM to VM. A file with the same contents gets its module from the entry: its tables and literals
//! are read as ever, but its code is neither decoded nor verified nor compiled.

mod format;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::sync::OnceLock;

use kvik_beam::Container;
use kvik_code::{CoverageMode, DebuggerSwitches};

use crate::checked;
use crate::words::WordKind;

pub(crate) use read::{read, PlacedCode};
pub(crate) use write::{write, Kept};

/// Tells files apart by all of their contents that affect loading.
pub type Key = [u8; 32];

/// Where entries are. Whoever provides it vouches that an entry is what `add` was given by this
/// build of the VM, for this release of OTP and on this kind of CPU.
pub trait CodeCache: Send + Sync {
    /// What has to be read for it goes to `room`.
    fn find<'a>(&'a self, key: &Key, room: &'a mut Vec<u8>) -> Option<&'a [u8]>;
    fn add(&self, key: Key, entry: Vec<u8>);
    /// Makes what was added last beyond this VM.
    fn save(&self);
    /// Does the same whenever much was added and nothing follows. Returns at once if nothing can be
    /// added, otherwise never.
    fn keep_up(&self) {}
}

kvik_state::vm_state! {
    static CACHE: OnceLock<Box<dyn CodeCache>> = OnceLock::new();
}

/// From now on modules are looked up there. The first call counts.
pub fn set_code_cache(cache: Box<dyn CodeCache>) {
    let _ = CACHE.set(cache);
}

/// Keeps the modules made so far for later VMs. Nothing is said if that fails.
pub fn save_code_cache() {
    if let Some(cache) = CACHE.get() {
        cache.save();
    }
}

/// Keeps the modules that are made from now on, while the VM runs. May not return.
pub fn keep_up_code_cache() {
    if let Some(cache) = CACHE.get() {
        cache.keep_up();
    }
}

/// The cache, if modules are made now that any VM can use.
pub(crate) fn current() -> Option<&'static dyn CodeCache> {
    let usual = CoverageMode::current() == CoverageMode::None
        && DebuggerSwitches::current() == DebuggerSwitches::default()
        && !checked::is_wanted();
    CACHE.get().filter(|_| usual).map(|cache| &**cache)
}

/// The key of a file's bytes. `None`: it is no compiled module.
pub fn code_key(file: &[u8]) -> Option<Key> {
    Container::parse(file).ok().map(|file| key(&file))
}

pub(crate) fn key(file: &Container) -> Key {
    let mut hasher = blake3::Hasher::new();
    file.each_essential_part(|bytes| {
        hasher.update(bytes);
    });
    *hasher.finalize().as_bytes()
}

/// An address from which those of the VM's functions are counted.
fn text() -> usize {
    key as *const () as usize
}

/// Where a branch out of the module's code leads.
const TO_STUB: u32 = 0;
const TO_TEXT: u32 = 1;

/// Kinds of words as entries number them.
const KINDS: [WordKind; 10] = [
    WordKind::Atom,
    WordKind::Literal,
    WordKind::Hash,
    WordKind::Export,
    WordKind::Fun,
    WordKind::String,
    WordKind::Segments,
    WordKind::NifEntry,
    WordKind::ApplyCell,
    WordKind::Runtime,
];
/// Bits for the kind of a word, below its place.
const KIND_BITS: u32 = 4;

/// In the number of an atom: it is one that every VM has, not one of the module's list.
const STATIC: u32 = 1 << 31;
/// In the symbol of a hash: its key is a literal, not an atom.
const OF_LITERAL: u32 = 1 << 30;

/// A constant in a list of keys.
const KEY_NIL: u32 = 0;
const KEY_ATOM: u32 = 1;
const KEY_INTEGER: u32 = 2;
const KEY_LITERAL: u32 = 3;
