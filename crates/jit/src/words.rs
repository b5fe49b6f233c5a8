//! Words in native code, and which of them differ from one VM to another: atoms' numbers and
//! addresses. The code of a module that is kept for later VMs (`kept/`) has these filled in anew.

use kvik_term::word::{is_immediate, TAG_ATOM};
use kvik_term::{hash, Atom, Export, FunEntry, Term};

/// What a word stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum WordKind {
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
pub struct CodeWord {
    pub value: u64,
    pub kind: WordKind,
}

impl CodeWord {
    pub fn private(value: u64) -> CodeWord {
        CodeWord { value, kind: WordKind::Private }
    }
    /// An immediate or a literal of the module.
    pub fn constant(value: u64) -> CodeWord {
        let kind = match value {
            v if !is_immediate(v) => WordKind::Literal,
            v if v & 15 == TAG_ATOM => WordKind::Atom,
            _ => WordKind::Number,
        };
        CodeWord { value, kind }
    }
    /// The hash of a key.
    pub fn hash(key: Term<'_>) -> CodeWord {
        let kind = match CodeWord::constant(key.word()).is_fixed() {
            true => WordKind::Number,
            false => WordKind::Hash,
        };
        CodeWord { value: hash::of_key(key), kind }
    }
    pub fn runtime(address: usize) -> CodeWord {
        CodeWord { value: address as u64, kind: WordKind::Runtime }
    }
    /// Combines the address of an export with flags.
    pub fn with_flags(self, flags: u64) -> CodeWord {
        CodeWord { value: self.value | flags, ..self }
    }
    /// Whether it is the same in every VM of this build.
    pub fn is_fixed(self) -> bool {
        match self.kind {
            WordKind::Number => true,
            WordKind::Atom => is_static(self.value),
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

impl From<u64> for CodeWord {
    fn from(value: u64) -> CodeWord {
        CodeWord { value, kind: WordKind::Number }
    }
}
impl From<Atom> for CodeWord {
    fn from(a: Atom) -> CodeWord {
        CodeWord { value: a.word(), kind: WordKind::Atom }
    }
}
impl From<&'static Export> for CodeWord {
    fn from(e: &'static Export) -> CodeWord {
        CodeWord { value: e as *const Export as u64, kind: WordKind::Export }
    }
}
impl From<&'static FunEntry> for CodeWord {
    fn from(e: &'static FunEntry) -> CodeWord {
        CodeWord { value: e as *const FunEntry as u64, kind: WordKind::Fun }
    }
}
