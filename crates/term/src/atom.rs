//! Atoms: an append-only table. A name is looked up by index without a lock; interning takes one.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock};

use crate::atoms::NAMES;

/// The most characters an atom's name may have.
pub const MAX_CHARS: usize = 255;
/// The most atoms, where the flag `+t` says nothing else.
pub const USUAL_ATOMS: usize = 1_048_576;
static LIMIT: AtomicUsize = AtomicUsize::new(USUAL_ATOMS);
/// The most atoms there may be.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}
/// Before more than those with a name here are made.
pub fn set_limit(n: usize) {
    LIMIT.store(n.clamp(NAMES.len(), i32::MAX as usize), Ordering::Relaxed);
}

const CHUNK: usize = 4096;
/// Of atoms beyond the usual number.
const FAR_CHUNK: usize = 65_536;

#[derive(Copy, Clone, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Atom(pub(crate) u32);

struct Name {
    text: &'static str,
    /// Its first eight bytes as a number (zeros where it has fewer), by which most names differ.
    first: u64,
}

type Index = HashMap<&'static str, u32>;

type Chunk = OnceLock<Box<[OnceLock<Name>]>>;

struct Table {
    chunks: [Chunk; USUAL_ATOMS / CHUNK],
    /// Of atoms beyond those.
    far: OnceLock<Box<[Chunk]>>,
    index: RwLock<Index>,
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
            chunks: [const { OnceLock::new() }; USUAL_ATOMS / CHUNK],
            far: OnceLock::new(),
            // 8,331 are there when a machine has started. The most in a table of 16,384 places.
            index: RwLock::new(HashMap::with_capacity(14_336)),
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

/// Atoms that were looked for, each where its name leads.
static RECENT: [AtomicU32; 1 << RECENT_BITS] = [const { AtomicU32::new(0) }; 1 << RECENT_BITS];
const RECENT_BITS: u32 = 12;

/// Where in [`RECENT`] a name leads: by its length, its first and its last bytes.
#[inline]
fn place(name: &[u8]) -> usize {
    let (first, last) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64)
            }
            _ => (name.iter().fold(0, |w, b| w << 8 | *b as u64), 0),
        },
    };
    // An odd number whose bits are as mixed as can be: 2^64 divided by the golden ratio.
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let h = (first ^ (name.len() as u64) << 56).wrapping_mul(MIX);
    let h = (h.rotate_left(29) ^ last).wrapping_mul(MIX);
    (h >> (64 - RECENT_BITS)) as usize
}

impl Table {
    /// The atom of a name, made when there is none.
    fn add(&self, index: &mut Index, name: &str) -> Result<Atom, AtomError> {
        if let Some(&i) = index.get(name) {
            return Ok(Atom(i));
        }
        if name.len() > MAX_CHARS && name.chars().count() > MAX_CHARS {
            return Err(AtomError::TooLong);
        }
        let i = index.len();
        if i >= limit() {
            return Err(AtomError::Full);
        }
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        self.put(i, name);
        index.insert(name, i as u32);
        Ok(Atom(i as u32))
    }
    fn put(&self, i: usize, name: &'static str) {
        let new = |n: usize| (0..n).map(|_| OnceLock::new()).collect();
        let entry = match i.checked_sub(USUAL_ATOMS) {
            None => &self.chunks[i / CHUNK].get_or_init(|| new(CHUNK))[i % CHUNK],
            Some(i) => {
                let chunks = limit().saturating_sub(USUAL_ATOMS).div_ceil(FAR_CHUNK);
                let far = self.far.get_or_init(|| (0..chunks).map(|_| OnceLock::new()).collect());
                &far[i / FAR_CHUNK].get_or_init(|| new(FAR_CHUNK))[i % FAR_CHUNK]
            }
        };
        let mut first = [0; 8];
        for (to, b) in first.iter_mut().zip(name.bytes()) {
            *to = b;
        }
        let _ = entry.set(Name { text: name, first: u64::from_be_bytes(first) });
    }
}

impl Atom {
    /// The atom of this name, made when there is none yet.
    pub fn intern(name: &str) -> Result<Atom, AtomError> {
        if let Some(a) = Atom::existing(name) {
            return Ok(a);
        }
        table().add(&mut table().index.write().unwrap_or_else(|e| e.into_inner()), name)
    }

    /// The atoms of many names, with a lock or two for all.
    pub fn intern_all(names: &[&str]) -> Result<Vec<Atom>, AtomError> {
        let t = table();
        let index = t.index.read().unwrap_or_else(|e| e.into_inner());
        let known = |name: &&str| {
            Atom::recent(name.as_bytes()).or_else(|| index.get(name).map(|&i| Atom(i)))
        };
        let known: Vec<Option<Atom>> = names.iter().map(known).collect();
        drop(index);
        let mut index = None;
        let write = || t.index.write().unwrap_or_else(|e| e.into_inner());
        let mut one = |(known, name): (Option<Atom>, &&str)| match known {
            Some(a) => Ok(a),
            None => t.add(index.get_or_insert_with(write), name),
        };
        known.into_iter().zip(names).map(&mut one).collect()
    }

    /// The atom of this name where there is one already.
    pub fn existing(name: &str) -> Option<Atom> {
        if let Some(a) = Atom::recent(name.as_bytes()) {
            return Some(a);
        }
        let index = table().index.read().unwrap_or_else(|e| e.into_inner());
        let a = index.get(name).map(|&i| Atom(i))?;
        RECENT[place(name.as_bytes())].store(a.0, Ordering::Release);
        Some(a)
    }
    /// The same where it was looked for lately, by its name in UTF-8. Takes no lock.
    #[inline]
    pub fn recent(name: &[u8]) -> Option<Atom> {
        let a = Atom(RECENT[place(name)].load(Ordering::Acquire));
        (a.name().as_bytes() == name).then_some(a)
    }

    #[inline]
    pub fn name(self) -> &'static str {
        self.entry().map_or("", |n| n.text)
    }
    #[inline]
    fn entry(self) -> Option<&'static Name> {
        let i = self.0 as usize;
        match table().chunks.get(i / CHUNK) {
            Some(chunk) => chunk.get()?[i % CHUNK].get(),
            None => Atom::far(i - USUAL_ATOMS),
        }
    }
    #[cold]
    fn far(i: usize) -> Option<&'static Name> {
        table().far.get()?.get(i / FAR_CHUNK)?.get()?[i % FAR_CHUNK].get()
    }
    /// The order of their names.
    #[inline]
    pub fn order(self, other: Atom) -> std::cmp::Ordering {
        if self == other {
            return std::cmp::Ordering::Equal;
        }
        let first = |a: Atom| a.entry().map_or(0, |n| n.first);
        first(self).cmp(&first(other)).then_with(|| self.name().cmp(other.name()))
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
        assert_eq!(Atom::existing("some_new_atom"), Some(a));
        assert_eq!(Atom::recent(b"some_new_atom"), Some(a));
        let names =
            ["", "a", "a\0", "ab", "abcdefgh", "abcdefgha", "abcdefghb", "\u{e9}", "\u{20ac}"];
        for (x, y) in names.iter().flat_map(|x| names.iter().map(move |y| (x, y))) {
            let [a, b] = [x, y].map(|n| Atom::intern(n).unwrap());
            assert_eq!(a.order(b), x.cmp(y), "{x} {y}");
        }
        for name in ["", "x", "not_there", "\u{e9}"] {
            assert_eq!(Atom::existing(name).is_some(), Atom::recent(name.as_bytes()).is_some());
        }
        assert_eq!(Atom::intern(&"x".repeat(256)), Err(AtomError::TooLong));
        let many = ["ok", "new_among_many", "a", "new_among_many", "another"];
        let one_by_one = |all: &[&str]| all.iter().map(|n| Atom::intern(n)).collect();
        assert_eq!(Atom::intern_all(&many), one_by_one(&many));
        assert_eq!(Atom::intern_all(&[]), Ok(vec![]));
        assert_eq!(Atom::intern_all(&["b", &"x".repeat(256)]), Err(AtomError::TooLong));
    }
}
