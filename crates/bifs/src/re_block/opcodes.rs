//! PCRE 8.44's opcodes by number, and what follows each.

/// What an opcode means.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    End,
    /// An item without arguments, as a pattern has it.
    Simple(&'static str),
    Caret {
        multiline: bool,
    },
    Dollar {
        multiline: bool,
    },
    /// A property: its type and value follow.
    Property {
        not: bool,
    },
    /// A literal follows the repeat's argument.
    Char(Literal, Repeat),
    /// An opcode of a type follows the repeat's argument.
    Type(Repeat),
    /// A bitmap of 256 bits follows; without `above`, code points above are not in the class.
    Bitmap {
        above: bool,
    },
    /// Its length, flags, a bitmap if flagged, and a list follow.
    ExtendedClass,
    Reference {
        caseless: bool,
    },
    /// A slot of the name table and the number of entries with that name follow.
    NamedReference {
        caseless: bool,
    },
    /// The offset of a group follows.
    Recurse,
    /// Opcodes without a meaning of their own in a pattern: they and their arguments are skipped.
    Skip(usize),
    Alternative,
    Close(Ket),
    Open(GroupKind),
    Condition(ConditionKind),
    /// The group that follows is optional, or with `None` never matched.
    Optional(Option<Mode>),
    Verb(&'static str),
    /// A name follows: its length, the name, a zero.
    NamedVerb(&'static str),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    pub not: bool,
    pub caseless: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Greedy,
    Lazy,
    Possessive,
}

/// How often an item is repeated; bounds that are not fixed follow the opcode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Repeat {
    Once,
    Fixed(u16, Option<u16>, Mode),
    UpTo(Mode),
    Exactly,
    /// Both bounds follow; a maximum of zero is none.
    Range(Mode),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GroupKind {
    Plain,
    /// The group's number follows the link.
    Capture,
    Atomic,
    Ahead,
    NotAhead,
    Behind,
    NotBehind,
    Conditional,
}

impl GroupKind {
    pub fn is_assertion(self) -> bool {
        matches!(
            self,
            GroupKind::Ahead | GroupKind::NotAhead | GroupKind::Behind | GroupKind::NotBehind
        )
    }
}

/// How often the group that it ends is repeated.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ket {
    Once,
    Unlimited(Mode),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    Group,
    Name,
    Recursion,
    NamedRecursion,
    Define,
}

/// The opcodes from which on repeats of one kind lie, all in the order of [`REPEATS`].
const REPEATED: &[(u8, Option<Literal>)] = &[
    (33, Some(Literal { not: false, caseless: false })),
    (46, Some(Literal { not: false, caseless: true })),
    (59, Some(Literal { not: true, caseless: false })),
    (72, Some(Literal { not: true, caseless: true })),
    (85, None),
];
const REPEATS: [Repeat; 13] = [
    Repeat::Fixed(0, None, Mode::Greedy),
    Repeat::Fixed(0, None, Mode::Lazy),
    Repeat::Fixed(1, None, Mode::Greedy),
    Repeat::Fixed(1, None, Mode::Lazy),
    Repeat::Fixed(0, Some(1), Mode::Greedy),
    Repeat::Fixed(0, Some(1), Mode::Lazy),
    Repeat::UpTo(Mode::Greedy),
    Repeat::UpTo(Mode::Lazy),
    Repeat::Exactly,
    Repeat::Fixed(0, None, Mode::Possessive),
    Repeat::Fixed(1, None, Mode::Possessive),
    Repeat::Fixed(0, Some(1), Mode::Possessive),
    Repeat::UpTo(Mode::Possessive),
];

/// Repeats that follow a class or a reference, from opcode 98 on.
const FIRST_SUFFIX: u8 = 98;
const SUFFIXES: [Repeat; 12] = [
    Repeat::Fixed(0, None, Mode::Greedy),
    Repeat::Fixed(0, None, Mode::Lazy),
    Repeat::Fixed(1, None, Mode::Greedy),
    Repeat::Fixed(1, None, Mode::Lazy),
    Repeat::Fixed(0, Some(1), Mode::Greedy),
    Repeat::Fixed(0, Some(1), Mode::Lazy),
    Repeat::Range(Mode::Greedy),
    Repeat::Range(Mode::Lazy),
    Repeat::Fixed(0, None, Mode::Possessive),
    Repeat::Fixed(1, None, Mode::Possessive),
    Repeat::Fixed(0, Some(1), Mode::Possessive),
    Repeat::Range(Mode::Possessive),
];

/// Opcodes 0 to 32. `.` stands for any character, as patterns are compiled with `dotall`.
const ITEMS: [Shape; 33] = [
    Shape::End,
    Shape::Simple(r"\A"),
    Shape::Simple(r"\G"),
    Shape::Simple(r"\K"),
    Shape::Simple(r"\B"),
    Shape::Simple(r"\b"),
    Shape::Simple(r"\D"),
    Shape::Simple(r"\d"),
    Shape::Simple(r"\S"),
    Shape::Simple(r"\s"),
    Shape::Simple(r"\W"),
    Shape::Simple(r"\w"),
    Shape::Simple(r"\N"),
    Shape::Simple("."),
    Shape::Simple(r"\C"),
    Shape::Property { not: true },
    Shape::Property { not: false },
    Shape::Simple(r"\R"),
    Shape::Simple(r"\H"),
    Shape::Simple(r"\h"),
    Shape::Simple(r"\V"),
    Shape::Simple(r"\v"),
    Shape::Simple(r"\X"),
    Shape::Simple(r"\Z"),
    Shape::Simple(r"\z"),
    Shape::Dollar { multiline: false },
    Shape::Dollar { multiline: true },
    Shape::Caret { multiline: false },
    Shape::Caret { multiline: true },
    Shape::Char(Literal { not: false, caseless: false }, Repeat::Once),
    Shape::Char(Literal { not: false, caseless: true }, Repeat::Once),
    Shape::Char(Literal { not: true, caseless: false }, Repeat::Once),
    Shape::Char(Literal { not: true, caseless: true }, Repeat::Once),
];
/// The opcodes of types, of which there are repeats.
pub const TYPES: std::ops::RangeInclusive<u8> = 6..=22;

/// Opcodes 110 to 161. Groups that may match the empty string have opcodes of their own, as have
/// those that are repeated possessively, which their ends tell.
const FIRST_STRUCTURE: u8 = 110;
const STRUCTURES: [Shape; 52] = [
    Shape::Bitmap { above: false },
    Shape::Bitmap { above: true },
    Shape::ExtendedClass,
    Shape::Reference { caseless: false },
    Shape::Reference { caseless: true },
    Shape::NamedReference { caseless: false },
    Shape::NamedReference { caseless: true },
    Shape::Recurse,
    // A callout, and the place in the pattern.
    Shape::Skip(5),
    Shape::Alternative,
    Shape::Close(Ket::Once),
    Shape::Close(Ket::Unlimited(Mode::Greedy)),
    Shape::Close(Ket::Unlimited(Mode::Lazy)),
    Shape::Close(Ket::Unlimited(Mode::Possessive)),
    // The length of a lookbehind's branch.
    Shape::Skip(2),
    Shape::Open(GroupKind::Ahead),
    Shape::Open(GroupKind::NotAhead),
    Shape::Open(GroupKind::Behind),
    Shape::Open(GroupKind::NotBehind),
    Shape::Open(GroupKind::Atomic),
    Shape::Open(GroupKind::Atomic),
    Shape::Open(GroupKind::Plain),
    Shape::Open(GroupKind::Plain),
    Shape::Open(GroupKind::Capture),
    Shape::Open(GroupKind::Capture),
    Shape::Open(GroupKind::Conditional),
    Shape::Open(GroupKind::Plain),
    Shape::Open(GroupKind::Plain),
    Shape::Open(GroupKind::Capture),
    Shape::Open(GroupKind::Capture),
    Shape::Open(GroupKind::Conditional),
    Shape::Condition(ConditionKind::Group),
    Shape::Condition(ConditionKind::Name),
    Shape::Condition(ConditionKind::Recursion),
    Shape::Condition(ConditionKind::NamedRecursion),
    Shape::Condition(ConditionKind::Define),
    Shape::Optional(Some(Mode::Greedy)),
    Shape::Optional(Some(Mode::Lazy)),
    Shape::Optional(Some(Mode::Possessive)),
    Shape::NamedVerb("MARK"),
    Shape::Verb("PRUNE"),
    Shape::NamedVerb("PRUNE"),
    Shape::Verb("SKIP"),
    Shape::NamedVerb("SKIP"),
    Shape::Verb("THEN"),
    Shape::NamedVerb("THEN"),
    Shape::Verb("COMMIT"),
    Shape::Verb("FAIL"),
    Shape::Verb("ACCEPT"),
    Shape::Verb("ACCEPT"),
    // A group that is closed before (*ACCEPT).
    Shape::Skip(2),
    Shape::Optional(None),
];

/// What an opcode is; `None`: there is no such.
pub fn shape(opcode: u8) -> Option<Shape> {
    if let Some(s) = ITEMS.get(opcode as usize) {
        return Some(*s);
    }
    for (first, literal) in REPEATED {
        let repeat = opcode.checked_sub(*first).and_then(|i| REPEATS.get(i as usize));
        if let Some(r) = repeat {
            return Some(literal.map_or(Shape::Type(*r), |l| Shape::Char(l, *r)));
        }
    }
    STRUCTURES.get(opcode.checked_sub(FIRST_STRUCTURE)? as usize).copied()
}

/// The repeat that an opcode behind a class or a reference is.
pub fn suffix(opcode: u8) -> Option<Repeat> {
    SUFFIXES.get(opcode.checked_sub(FIRST_SUFFIX)? as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_have_the_numbers_of_pcre_8_44() {
        assert_eq!(shape(0), Some(Shape::End));
        assert_eq!(shape(45).map(|s| matches!(s, Shape::Char(..))), Some(true));
        assert_eq!(shape(91), Some(Shape::Type(Repeat::UpTo(Mode::Greedy))));
        assert_eq!(shape(98), None);
        assert_eq!(suffix(109), Some(Repeat::Range(Mode::Possessive)));
        assert_eq!(shape(117), Some(Shape::Recurse));
        assert_eq!(shape(133), Some(Shape::Open(GroupKind::Capture)));
        assert_eq!(shape(145), Some(Shape::Condition(ConditionKind::Define)));
        assert_eq!(shape(157), Some(Shape::Verb("FAIL")));
        assert_eq!((shape(161), shape(162)), (Some(Shape::Optional(None)), None));
    }
}
