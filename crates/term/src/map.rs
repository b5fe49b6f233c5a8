//! Look-up of keys in maps. `map_node.rs` describes the layout.

use std::cmp::Ordering;

use kvik_release::KeyHash;

pub use crate::map_node::{child, iter, iter_reversed, Iter, MapChild, MapNode, COLLISION, ROOT};
use crate::{atom, cmp, hash, hash_wide};
use crate::{Map, Term, Tuple};

/// The level of collision nodes: only keys constructed for it go that deep.
pub const LAST_LEVEL: u32 = 32;
/// Levels that one 32-bit hash lasts; then the key is hashed with the next salt.
const SALT_LEVELS: u32 = 8;
/// A 64-bit hash lasts for half of the levels.
const FIRST_WIDE_LEVEL: u32 = LAST_LEVEL - u64::BITS / 4;

/// The level of a root's children.
#[inline]
pub fn first_level() -> u32 {
    match kvik_release::key_hash() {
        KeyHash::Jenkins => 0,
        KeyHash::Murmur | KeyHash::MurmurWithRecords => FIRST_WIDE_LEVEL,
    }
}

/// The path of a key in the tree: its hash, level by level.
#[derive(Copy, Clone)]
pub struct Path<'h> {
    key: Term<'h>,
    hash: u64,
    level: u32,
}

impl<'h> Path<'h> {
    pub fn new(key: Term<'h>) -> Path<'h> {
        match kvik_release::key_hash() {
            KeyHash::Jenkins => Path { key, hash: u64::from(hash::internal(key, 0)), level: 0 },
            KeyHash::Murmur | KeyHash::MurmurWithRecords => {
                Path { key, hash: hash_wide::of(key, 0), level: FIRST_WIDE_LEVEL }
            }
        }
    }
    /// The same if the key's hash (`hash::of_key`) is known.
    #[inline]
    pub fn hashed(key: Term<'h>, hash: u64) -> Path<'h> {
        Path { key, hash, level: first_level() }
    }
    /// The hash bits that are left at this level.
    pub fn hash(self) -> u64 {
        self.hash
    }
    /// The child's index at this level.
    #[inline]
    pub fn index(self) -> u32 {
        self.hash as u32 & 15
    }
    #[inline]
    pub fn down(self) -> Path<'h> {
        let level = self.level + 1;
        let hash = match level % SALT_LEVELS {
            0 if level < LAST_LEVEL => self.hash_at(level),
            _ => self.hash >> 4,
        };
        Path { hash, level, ..self }
    }
    /// The hash of the key from a level on that begins with a salt.
    #[cold]
    fn hash_at(self, level: u32) -> u64 {
        match first_level() {
            0 => u64::from(hash::internal(self.key, level / SALT_LEVELS)),
            _ => self.hash >> 4,
        }
    }
    /// Whether the node at this level is a collision node.
    #[inline]
    pub fn is_collision(self) -> bool {
        self.level == LAST_LEVEL
    }
    pub fn key(self) -> Term<'h> {
        self.key
    }
    /// A path at the level of a root's children, for [`Path::at_level_of`].
    pub fn at_first_level() -> Path<'h> {
        Path::hashed(Term::NIL, 0)
    }
    /// The path of a key at the level that another path has reached.
    pub fn at_level_of(key: Term<'h>, other: Path<'h>) -> Path<'h> {
        if other.is_collision() {
            return Path { key, ..other };
        }
        let hash = match first_level() {
            0 => {
                let salted = hash::internal(key, other.level / SALT_LEVELS);
                u64::from(salted >> (4 * (other.level % SALT_LEVELS)))
            }
            first => hash::of_key(key) >> (4 * (other.level - first)),
        };
        Path { key, hash, level: other.level }
    }
}

impl MapNode<'_> {
    /// The index of a key in a collision node, or where it would be inserted.
    pub fn place_in_collision(self, key: Term<'_>) -> Result<usize, usize> {
        self.children.binary_search_by(|c| match c.as_cons() {
            Some(cell) => cmp::compare_exact(cell.head(), key),
            None => Ordering::Less,
        })
    }
}

/// Whether two tuples have the same words. Tuples that are keys differ most in their last elements.
#[inline]
fn same_words(a: &[Term<'_>], b: &[Term<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).rev().all(|(a, b)| a.same(*b))
}

/// The index of a key among a flat map's keys.
#[inline]
pub fn place_of(keys: &[Term<'_>], key: Term<'_>) -> Option<usize> {
    if key.is_immediate() {
        keys.iter().position(|k| k.same(key))
    } else if let Some(key) = key.as_tuple() {
        let parts = key.elements();
        if let [a, b] = parts {
            if a.is_immediate() && b.is_immediate() {
                return place_of_pair(keys, *a, *b);
            }
        }
        if parts.iter().all(|p| p.is_immediate()) {
            // A tuple is equal only if it has the same words.
            let same = |k: &Term<'_>| k.as_tuple().is_some_and(|t| same_words(t.elements(), parts));
            return keys.iter().position(same);
        }
        let equal = |k: &Term<'_>| k.as_tuple().is_some_and(|t| cmp::same_tuples(t, key));
        keys.iter().position(equal)
    } else {
        keys.iter().position(|k| cmp::eq_exact(*k, key))
    }
}

/// The index of a key that is a tuple of two immediates.
fn place_of_pair(keys: &[Term<'_>], a: Term<'_>, b: Term<'_>) -> Option<usize> {
    let same = |k: &Term<'_>| match k.as_tuple().map(Tuple::elements) {
        Some([x, y]) => y.same(b) && x.same(a),
        _ => false,
    };
    keys.iter().position(same)
}

/// The value of a key (`=:=`).
pub fn get<'h>(m: Map<'h>, key: Term<'h>) -> Option<Term<'h>> {
    match m.root() {
        Some(root) => find(root, Path::new(key)),
        None => get_flat(m, key),
    }
}
/// The same if the key's hash (`hash::of_key`) is known.
pub fn get_hashed<'h>(m: Map<'h>, key: Term<'h>, hash: u64) -> Option<Term<'h>> {
    match m.root() {
        Some(root) => find(root, Path::hashed(key, hash)),
        None => get_flat(m, key),
    }
}

fn get_flat<'h>(m: Map<'h>, key: Term<'h>) -> Option<Term<'h>> {
    let (keys, values) = m.flat()?;
    place_of(keys, key).and_then(|i| values.get(i).copied())
}

/// The value of the path's key, at the path's level or below.
pub fn find_below<'h>(node: MapNode<'h>, path: Path<'h>) -> Option<Term<'h>> {
    match path.is_collision() {
        true => find_collision(node, path.key),
        false => find(node, path),
    }
}
fn find_collision<'h>(node: MapNode<'h>, key: Term<'h>) -> Option<Term<'h>> {
    let place = node.place_in_collision(key).ok()?;
    node.children.get(place)?.as_cons().map(|cell| cell.tail())
}

/// Descends from a node above the collision nodes.
fn find<'h>(mut node: MapNode<'h>, mut path: Path<'h>) -> Option<Term<'h>> {
    let key = path.key;
    loop {
        let (place, there) = node.place(path.index());
        if !there {
            return None;
        }
        match child(*node.children.get(place)?) {
            MapChild::Leaf(k, v) => return cmp::eq_exact(k, key).then_some(v),
            MapChild::Node(n) => node = n,
        }
        path = path.down();
        if path.is_collision() {
            return find_collision(node, key);
        }
    }
}

pub fn contains<'h>(m: Map<'h>, key: Term<'h>) -> bool {
    get(m, key).is_some()
}

/// Keys and values in the term order of the keys.
pub fn sorted_pairs(m: Map<'_>) -> Vec<(Term<'_>, Term<'_>)> {
    let mut pairs: Vec<_> = iter(m).collect();
    if !m.is_flat() || atom::keys_are_by_rank() {
        pairs.sort_by(|a, b| cmp::compare_exact(a.0, b.0));
    }
    pairs
}
