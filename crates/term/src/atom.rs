//! Atoms: an append-only table. A name is looked up by index without a lock; interning takes one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock};

use crate::atoms::NAMES;

/// Maximum length of an atom's name, in characters.
pub const MAX_CHARS: usize = 255;
/// Maximum number of atoms, unless the flag `+t` sets another.
pub const USUAL_ATOMS: usize = 1_048_576;
static LIMIT: AtomicUsize = AtomicUsize::new(USUAL_ATOMS);
/// The maximum number of atoms.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}
/// Must be called before any atoms are made but those that the VM itself names.
pub fn set_limit(n: usize) {
    LIMIT.store(n.clamp(NAMES.len(), i32::MAX as usize), Ordering::Relaxed);
}

const CHUNK: usize = 4096;
/// Atoms in a chunk beyond the default number.
const FAR_CHUNK: usize = 65_536;

#[derive(Copy, Clone, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Atom(pub(crate) u32);

struct Name {
    text: &'static str,
    /// The first eight bytes of the name as a number (padded with zeros), by which most names
    /// differ.
    first: u64,
    /// Its rank in the order of keys; 0 if it has none yet.
    rank: AtomicU32,
    /// Its hash; 0 if nothing has asked for it yet.
    hash: AtomicU32,
}

type Index = HashMap<&'static str, u32>;

type Chunk = OnceLock<Box<[OnceLock<Name>]>>;

struct Table {
    chunks: [Chunk; USUAL_ATOMS / CHUNK],
    /// Chunks of the atoms beyond those.
    far: OnceLock<Box<[Chunk]>>,
    index: RwLock<Index>,
    /// Whether small maps order atom keys by when the atoms were first named.
    by_rank: bool,
    /// The last rank assigned.
    last_rank: AtomicU32,
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
        let release = kvik_release::current();
        let table = Table {
            chunks: [const { OnceLock::new() }; USUAL_ATOMS / CHUNK],
            far: OnceLock::new(),
            // After startup there are 8,331 atoms. This is the capacity of a table of 16,384 slots.
            index: RwLock::new(HashMap::with_capacity(14_336)),
            by_rank: release.orders_map_keys_by_atom_index(),
            last_rank: AtomicU32::new(0),
        };
        let mut index = table.index.write().unwrap_or_else(|e| e.into_inner());
        for (i, name) in NAMES.iter().enumerate() {
            table.put(i, name);
            index.insert(name, i as u32);
        }
        if table.by_rank {
            for name in release.emulator_atoms() {
                let atom = table.add(&mut index, name).unwrap_or(crate::am::empty);
                table.entry(atom).map(|entry| table.give_rank(entry));
            }
        }
        drop(index);
        table
    })
}

/// A direct-mapped cache of recent look-ups, indexed by `place`.
static RECENT: [AtomicU32; 1 << RECENT_BITS] = [const { AtomicU32::new(0) }; 1 << RECENT_BITS];
const RECENT_BITS: u32 = 12;

/// Index in [`RECENT`] for a name: from its length, its first and its last bytes.
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
    // An odd number with well-mixed bits: 2^64 divided by the golden ratio.
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let h = (first ^ (name.len() as u64) << 56).wrapping_mul(MIX);
    let h = (h.rotate_left(29) ^ last).wrapping_mul(MIX);
    (h >> (64 - RECENT_BITS)) as usize
}

impl Table {
    /// The atom with that name, made if there is none.
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
        let (rank, hash) = (AtomicU32::new(0), AtomicU32::new(0));
        let _ = entry.set(Name { text: name, first: u64::from_be_bytes(first), rank, hash });
    }

    #[inline]
    fn entry(&self, atom: Atom) -> Option<&Name> {
        let i = atom.0 as usize;
        match self.chunks.get(i / CHUNK) {
            Some(chunk) => chunk.get()?[i % CHUNK].get(),
            None => self.far_entry(i - USUAL_ATOMS),
        }
    }
    #[cold]
    fn far_entry(&self, i: usize) -> Option<&Name> {
        self.far.get()?.get(i / FAR_CHUNK)?.get()?[i % FAR_CHUNK].get()
    }

    /// An atom's rank in the order of keys; assigns the next one if it has none.
    fn rank(&self, entry: &Name) -> u32 {
        match entry.rank.load(Ordering::Relaxed) {
            0 if RANKING.get() == Ranking::PutOff => {
                RANKING.set(Ranking::Missed);
                0
            }
            0 if RANKING.get() == Ranking::Missed => 0,
            0 => self.give_rank(entry),
            rank => rank,
        }
    }
    #[cold]
    fn give_rank(&self, entry: &Name) -> u32 {
        let next = self.last_rank.fetch_add(1, Ordering::Relaxed) + 1;
        match entry.rank.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => next,
            Err(rank) => rank,
        }
    }
    /// Called when the program names an atom, perhaps for the first time.
    #[inline]
    fn named(&self, atom: Atom) -> Atom {
        if self.by_rank {
            let unranked = |entry: &&Name| entry.rank.load(Ordering::Relaxed) == 0;
            if let Some(entry) = self.entry(atom).filter(unranked) {
                self.first_named(atom, entry);
            }
        }
        atom
    }
    #[cold]
    fn first_named(&self, atom: Atom, entry: &Name) {
        match RANKING.get() {
            Ranking::AtOnce => drop(self.give_rank(entry)),
            Ranking::PutOff | Ranking::Missed => UNRANKED.with_borrow_mut(|all| all.push(atom)),
        }
    }
}

/// When atoms get their rank on this thread.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Ranking {
    /// When they are named.
    AtOnce,
    /// Deferred: the thread prepares code that no program has requested yet.
    PutOff,
    /// Deferred, and an atom without a rank had to be ordered.
    Missed,
}

thread_local! {
    static RANKING: Cell<Ranking> = const { Cell::new(Ranking::AtOnce) };
    /// Atoms named while ranks were deferred, in that order.
    static UNRANKED: RefCell<Vec<Atom>> = const { RefCell::new(Vec::new()) };
}

/// A result computed without assigning ranks to atoms.
pub struct Unranked<T> {
    pub made: T,
    /// The atoms without a rank that were named, in that order.
    pub atoms: Vec<Atom>,
    /// No atom without a rank had to be ordered.
    pub complete: bool,
}

/// Runs work that names atoms before the program does, without an effect on their order as keys of
/// small maps.
pub fn without_ranks<T>(work: impl FnOnce() -> T) -> Unranked<T> {
    let (outer, outer_atoms) = (RANKING.replace(Ranking::PutOff), UNRANKED.take());
    let made = work();
    let complete = RANKING.replace(outer) == Ranking::PutOff;
    Unranked { made, atoms: UNRANKED.replace(outer_atoms), complete }
}

/// Whether work [`without_ranks`] on this thread has ordered atoms that have no rank: its result is
/// of no use.
pub fn order_is_missed() -> bool {
    RANKING.get() == Ranking::Missed
}

/// Assigns ranks to these atoms now, in this order, as if the program had named them.
pub fn named(atoms: &[Atom]) {
    let table = table();
    for atom in atoms {
        table.named(*atom);
    }
}

/// Whether the order of keys in small maps depends on when the atoms were first named.
pub fn keys_are_by_rank() -> bool {
    table().by_rank
}

/// Of the name's characters: Latin-1 characters as one byte each, others as they are in UTF-8.
#[cold]
fn hashpjw(name: &str) -> u32 {
    let mut h = 0u32;
    let mut step = |byte: u8| {
        h = (h << 4).wrapping_add(u32::from(byte));
        let g = h & 0xF000_0000;
        h ^= g >> 24;
        h ^= g;
    };
    for c in name.chars() {
        match u8::try_from(c as u32) {
            Ok(byte) => step(byte),
            Err(_) => c.encode_utf8(&mut [0; 4]).bytes().for_each(&mut step),
        }
    }
    h
}

impl Atom {
    /// The atom with this name, made if there is none.
    pub fn intern(name: &str) -> Result<Atom, AtomError> {
        let table = table();
        if let Some(a) = Atom::existing(name) {
            return Ok(a);
        }
        let mut index = table.index.write().unwrap_or_else(|e| e.into_inner());
        table.add(&mut index, name).map(|a| table.named(a))
    }

    /// The atoms with these names, with one or two lock acquisitions for all.
    pub fn intern_all(names: &[&str]) -> Result<Vec<Atom>, AtomError> {
        let t = table();
        let index = t.index.read().unwrap_or_else(|e| e.into_inner());
        let known = |name: &&str| {
            Atom::found(name.as_bytes()).or_else(|| index.get(name).map(|&i| Atom(i)))
        };
        let known: Vec<Option<Atom>> = names.iter().map(known).collect();
        drop(index);
        let mut index = None;
        let write = || t.index.write().unwrap_or_else(|e| e.into_inner());
        let mut one = |(known, name): (Option<Atom>, &&str)| match known {
            Some(a) => Ok(t.named(a)),
            None => t.add(index.get_or_insert_with(write), name).map(|a| t.named(a)),
        };
        known.into_iter().zip(names).map(&mut one).collect()
    }

    /// The atom with this name, if there is one already.
    pub fn existing(name: &str) -> Option<Atom> {
        if let Some(a) = Atom::recent(name.as_bytes()) {
            return Some(a);
        }
        let index = table().index.read().unwrap_or_else(|e| e.into_inner());
        let a = index.get(name).map(|&i| Atom(i))?;
        RECENT[place(name.as_bytes())].store(a.0, Ordering::Release);
        Some(table().named(a))
    }
    /// The same if it was looked up recently, by its name in UTF-8. Takes no lock.
    #[inline]
    pub fn recent(name: &[u8]) -> Option<Atom> {
        Atom::found(name).map(|a| table().named(a))
    }
    #[inline]
    fn found(name: &[u8]) -> Option<Atom> {
        let a = Atom(RECENT[place(name)].load(Ordering::Acquire));
        (a.name().as_bytes() == name).then_some(a)
    }

    #[inline]
    pub fn name(self) -> &'static str {
        self.entry().map_or("", |n| n.text)
    }
    #[inline]
    fn entry(self) -> Option<&'static Name> {
        table().entry(self)
    }
    /// The hash of the name, which `phash2` gives for the atom, and which OTP's tables use.
    #[inline]
    pub fn name_hash(self) -> u32 {
        let Some(entry) = self.entry() else { return 0 };
        match entry.hash.load(Ordering::Relaxed) {
            0 => {
                let hash = hashpjw(entry.text);
                entry.hash.store(hash, Ordering::Relaxed);
                hash
            }
            hash => hash,
        }
    }
    /// Compares the names.
    #[inline]
    pub fn order(self, other: Atom) -> std::cmp::Ordering {
        if self == other {
            return std::cmp::Ordering::Equal;
        }
        let first = |a: Atom| a.entry().map_or(0, |n| n.first);
        first(self).cmp(&first(other)).then_with(|| self.name().cmp(other.name()))
    }

    /// Compares atoms as keys of small maps: by name, or since OTP 26 by when they were first
    /// named.
    #[inline]
    pub fn key_order(self, other: Atom) -> std::cmp::Ordering {
        let table = table();
        if !table.by_rank || self == other {
            return self.order(other);
        }
        let rank = |a: Atom| table.entry(a).map_or(0, |entry| table.rank(entry));
        rank(self).cmp(&rank(other))
    }

    /// Whether the VM itself names it: it has the same index in every VM of this build.
    pub const fn is_static(self) -> bool {
        (self.0 as usize) < NAMES.len()
    }

    pub const fn index(self) -> u32 {
        self.0
    }

    /// The atom with an index that [`Atom::index`] returned.
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
