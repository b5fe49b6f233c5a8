//! The atom cache of a connection between nodes. A message's header names its atoms, and terms
//! refer to positions in the header. An atom's text is sent once while it keeps its cache entry.

use kvik_term::Atom;

use crate::reader::Reader;
use crate::EtfError;

/// Entries of a cache: 8 segments of 256.
pub const ENTRIES: usize = 2048;
/// Maximum number of atoms in a header.
const MAX_REFS: usize = 255;
/// Flag in an atom's half byte: its text follows.
const NEW_ENTRY: u8 = 8;
/// Flag in the half byte behind those of the atoms: lengths take two bytes.
const LONG_ATOMS: u8 = 1;

/// The cache entry of an atom, the same in all connections. If the message already refers to
/// another atom with that entry, the atom is written in full.
pub fn entry(a: Atom) -> usize {
    a.index() as usize % ENTRIES
}

/// The atoms referred to by a message that is being encoded.
pub struct AtomRefs {
    atoms: Vec<Atom>,
    /// By cache entry: index in `atoms` plus 1; 0 for none.
    places: Box<[u8; ENTRIES]>,
}

impl Default for AtomRefs {
    fn default() -> AtomRefs {
        AtomRefs { atoms: Vec::new(), places: Box::new([0; ENTRIES]) }
    }
}

impl AtomRefs {
    /// The index of an atom; `None` if it must be written in full.
    #[inline]
    pub fn index(&mut self, a: Atom) -> Option<u8> {
        let place = &mut self.places[entry(a)];
        if *place == 0 {
            if self.atoms.len() == MAX_REFS {
                return None;
            }
            self.atoms.push(a);
            *place = self.atoms.len() as u8;
            return Some(*place - 1);
        }
        let i = *place - 1;
        (self.atoms[i as usize] == a).then_some(i)
    }
    /// Takes the atoms, in the order of their indices.
    pub fn take(&mut self) -> Vec<Atom> {
        let atoms = self.atoms.clone();
        self.clear();
        atoms
    }
    pub fn clear(&mut self) {
        for a in self.atoms.drain(..) {
            self.places[entry(a)] = 0;
        }
    }
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }
}

/// Our atoms in the other node's cache. Headers must be written in the order of sending.
#[derive(Default)]
pub struct SendCache {
    entries: Vec<Option<Atom>>,
}

impl SendCache {
    /// Appends the header: the number of atoms, their flags, and the atoms (at most 255).
    pub fn write_header(&mut self, atoms: &[Atom], out: &mut Vec<u8>) {
        out.push(atoms.len() as u8);
        if atoms.is_empty() {
            return;
        }
        self.entries.resize(ENTRIES, None);
        let long = atoms.iter().any(|a| a.name().len() > u8::MAX as usize);
        let flags_at = out.len();
        out.resize(flags_at + atoms.len() / 2 + 1, 0);
        let flag = |out: &mut Vec<u8>, i: usize, bits: u8| {
            out[flags_at + i / 2] |= bits << (4 * (i % 2));
        };
        for (i, a) in atoms.iter().enumerate() {
            let at = entry(*a);
            let known = self.entries[at].replace(*a) == Some(*a);
            flag(out, i, (at >> 8) as u8 | if known { 0 } else { NEW_ENTRY });
            out.push(at as u8);
            if known {
                continue;
            }
            let name = a.name().as_bytes();
            match long {
                true => out.extend_from_slice(&(name.len() as u16).to_be_bytes()),
                false => out.push(name.len() as u8),
            }
            out.extend_from_slice(name);
        }
        flag(out, atoms.len(), long as u8 * LONG_ATOMS);
    }
}

/// Atoms that the other node has sent us.
#[derive(Default)]
pub struct ReceiveCache {
    entries: Vec<Option<Atom>>,
}

impl ReceiveCache {
    /// Reads a header: its atoms and its length in bytes.
    pub fn read_header(&mut self, bytes: &[u8]) -> Result<(Vec<Atom>, usize), EtfError> {
        let mut r = Reader::new(bytes);
        let n = r.u8()? as usize;
        if n == 0 {
            return Ok((Vec::new(), 1));
        }
        self.entries.resize(ENTRIES, None);
        let flags = r.take(n / 2 + 1)?;
        let flag = |i: usize| flags[i / 2] >> (4 * (i % 2)) & 0xF;
        let long = flag(n) & LONG_ATOMS != 0;
        let mut atoms = Vec::with_capacity(n);
        for i in 0..n {
            let f = flag(i);
            let at = ((f & !NEW_ENTRY) as usize) << 8 | r.u8()? as usize;
            if f & NEW_ENTRY != 0 {
                let len = if long { r.u16()? as usize } else { r.u8()? as usize };
                self.entries[at] = Some(crate::decode::utf8_atom(r.take(len)?)?);
            }
            atoms.push(self.entries[at].ok_or(EtfError::Malformed)?);
        }
        Ok((atoms, r.pos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(name: &str) -> Atom {
        Atom::intern(name).unwrap()
    }

    #[test]
    fn header_names_new_atoms_once() {
        let atoms = [atom("one_atom"), atom("two_atom"), atom("three_atom")];
        let (mut to, mut from) = (SendCache::default(), ReceiveCache::default());
        let mut first = Vec::new();
        to.write_header(&atoms, &mut first);
        let mut second = Vec::new();
        to.write_header(&atoms[1..], &mut second);
        assert!(second.len() < first.len() && !second.windows(3).any(|w| w == b"two"));
        assert_eq!(from.read_header(&first), Ok((atoms.to_vec(), first.len())));
        assert_eq!(from.read_header(&second), Ok((atoms[1..].to_vec(), second.len())));
    }
    #[test]
    fn long_names_and_full_headers() {
        let long: String = "å".repeat(200);
        let mut refs = AtomRefs::default();
        let mut literal = 0;
        let n = MAX_REFS + 45;
        for i in 0..n {
            literal += refs.index(atom(&format!("ref_{i}"))).is_none() as usize;
        }
        assert_eq!((refs.atoms().len(), literal), (MAX_REFS, n - MAX_REFS));
        let mut atoms = refs.take();
        assert!(refs.atoms().is_empty());
        atoms.truncate(9);
        atoms.push(atom(&long));
        let mut out = Vec::new();
        SendCache::default().write_header(&atoms, &mut out);
        assert_eq!(ReceiveCache::default().read_header(&out), Ok((atoms, out.len())));
    }
    #[test]
    fn bad_headers_are_refused() {
        let mut c = ReceiveCache::default();
        for bad in [&[][..], &[1], &[1, 0], &[1, 0, 7], &[1, 8, 7], &[1, 8, 7, 3, b'a'], &[2, 0x88]]
        {
            assert_eq!(c.read_header(bad).err(), Some(EtfError::Malformed), "{bad:?}");
        }
        // An undefined entry; invalid UTF-8; an atom that is too long.
        assert!(c.read_header(&[1, 3, 255]).is_err());
        assert!(c.read_header(&[1, 8, 7, 2, 0xC0, 0x80]).is_err());
        let mut long = vec![1, 0x18, 7, 1, 44];
        long.extend_from_slice(&[b'a'; 300]);
        assert!(c.read_header(&long).is_err());
    }
}
