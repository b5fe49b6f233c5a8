//! Atoms: an append-only table. A name is looked up by index without a lock; interning takes one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{OnceLock, RwLock};

use crate::atoms::NAMES;

/// The most characters an atom's name may have.
pub const MAX_CHARS: usize = 255;
/// The most atoms (erl's `+t` default).
pub const MAX_ATOMS: usize = 1_048_576;

const CHUNK: usize = 4096;

#[derive(Copy, Clone, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Atom(pub(crate) u32);

struct Table {
    chunks: [OnceLock<Box<[OnceLock<&'static str>]>>; MAX_ATOMS / CHUNK],
    index: RwLock<HashMap<&'static str, u32>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AtomError {
    /// More than 255 characters: `system_limit`.
    TooLong,
    /// The table is full: `system_limit`.
    Full,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table = Table {
            chunks: [const { OnceLock::new() }; MAX_ATOMS / CHUNK],
            index: RwLock::new(HashMap::with_capacity(16_384)),
        };
        let mut index = table.index.write().unwrap_or_else(|e| e.into_inner());
        for (i, name) in NAMES.iter().enumerate() {
            table.put(i, name);
            index.insert(name, i as u32);
        }
        drop(index);
        table
    })
}

impl Table {
    fn put(&self, i: usize, name: &'static str) {
        let chunk =
            self.chunks[i / CHUNK].get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect());
        let _ = chunk[i % CHUNK].set(name);
    }
}

impl Atom {
    /// The atom of this name, made when there is none yet.
    pub fn intern(name: &str) -> Result<Atom, AtomError> {
        if let Some(a) = Atom::existing(name) {
            return Ok(a);
        }
        if name.len() > MAX_CHARS && name.chars().count() > MAX_CHARS {
            return Err(AtomError::TooLong);
        }
        let t = table();
        let mut index = t.index.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&i) = index.get(name) {
            return Ok(Atom(i));
        }
        let i = index.len();
        if i >= MAX_ATOMS {
            return Err(AtomError::Full);
        }
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        t.put(i, name);
        index.insert(name, i as u32);
        Ok(Atom(i as u32))
    }

    /// The atom of this name where there is one already.
    pub fn existing(name: &str) -> Option<Atom> {
        let index = table().index.read().unwrap_or_else(|e| e.into_inner());
        index.get(name).map(|&i| Atom(i))
    }

    pub fn name(self) -> &'static str {
        table().chunks[self.0 as usize / CHUNK]
            .get()
            .and_then(|c| c[self.0 as usize % CHUNK].get())
            .copied()
            .unwrap_or("")
    }

    pub const fn index(self) -> u32 {
        self.0
    }

    /// The atom of an index that [`Atom::index`] gave.
    pub fn from_index(i: u32) -> Option<Atom> {
        ((i as usize) < Atom::count()).then_some(Atom(i))
    }

    pub fn count() -> usize {
        table().index.read().unwrap_or_else(|e| e.into_inner()).len()
    }

    /// The atom as a term's word.
    pub const fn word(self) -> u64 {
        (self.0 as u64) << 4 | crate::word::TAG_ATOM
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interning_is_stable() {
        let a = Atom::intern("some_new_atom").unwrap();
        assert_eq!(a, Atom::intern("some_new_atom").unwrap());
        assert_eq!(a.name(), "some_new_atom");
        assert_eq!(Atom::intern("ok").unwrap(), crate::am::ok);
        assert_eq!(Atom::intern(&"x".repeat(256)), Err(AtomError::TooLong));
    }
}
