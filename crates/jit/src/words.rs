//! Words in native code, and which of them differ from one VM to another: atoms' numbers and
//! addresses. The code of a module that is kept for later VMs (`kept/`) has these filled in anew.

use kvik_term::word::{is_immediate, TAG_ATOM};
use kvik_term::{hash, Atom, Export, FunEntry, Term};

/// What a word stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A number that is the same everywhere.
    Number,
    /// An atom; those that every VM has are the same everywhere.
    Atom,
    /// A literal of the module.
    Literal,
    /// The hash of a map's key: the key is an atom or a literal.
    Hash,
    /// The address of an export, with flags in the bits that alignment leaves.
    Export,
    Fun,
    /// A place in the string table.
    String,
    Segments,
    NifEntry,
    /// A cell that remembers an export: see `rt::call::apply_site`.
    ApplyCell,
    /// A function of the VM.
    Runtime,
    /// What only code has that is not kept: counters, checks, native records.
    Private,
}

/// A word and what it stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub value: u64,
    pub kind: Kind,
}

impl Word {
    pub fn private(value: u64) -> Word {
        Word { value, kind: Kind::Private }
    }
    /// An immediate or a literal of the module.
    pub fn constant(value: u64) -> Word {
        let kind = match value {
            v if !is_immediate(v) => Kind::Literal,
            v if v & 15 == TAG_ATOM => Kind::Atom,
            _ => Kind::Number,
        };
        Word { value, kind }
    }
    /// The hash of a key.
    pub fn hash(key: Term<'_>) -> Word {
        let kind = match Word::constant(key.word()).is_fixed() {
            true => Kind::Number,
            false => Kind::Hash,
        };
        Word { value: hash::of_key(key), kind }
    }
    pub fn runtime(address: usize) -> Word {
        Word { value: address as u64, kind: Kind::Runtime }
    }
    /// Combines the address of an export with flags.
    pub fn with_flags(self, flags: u64) -> Word {
        Word { value: self.value | flags, ..self }
    }
    /// Whether it is the same in every VM of this build.
    pub fn is_fixed(self) -> bool {
        match self.kind {
            Kind::Number => true,
            Kind::Atom => is_static(self.value),
            _ => false,
        }
    }
}

/// Whether every VM has the atom, at the same number.
fn is_static(atom: u64) -> bool {
    // SAFETY: the caller's word is an atom's.
    let t: Term<'_> = unsafe { Term::from_word(atom) };
    t.as_atom().is_some_and(Atom::is_static)
}

impl From<u64> for Word {
    fn from(value: u64) -> Word {
        Word { value, kind: Kind::Number }
    }
}
impl From<Atom> for Word {
    fn from(a: Atom) -> Word {
        Word { value: a.word(), kind: Kind::Atom }
    }
}
impl From<&'static Export> for Word {
    fn from(e: &'static Export) -> Word {
        Word { value: e as *const Export as u64, kind: Kind::Export }
    }
}
impl From<&'static FunEntry> for Word {
    fn from(e: &'static FunEntry) -> Word {
        Word { value: e as *const FunEntry as u64, kind: Kind::Fun }
    }
}
