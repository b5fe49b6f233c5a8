//! The kinds of tables, and how far a change of one may go.

use kvik_term::{am, Atom};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TableKind {
    Set,
    Bag,
    DuplicateBag,
    OrderedSet,
}

impl TableKind {
    pub fn atom(self) -> Atom {
        match self {
            TableKind::Set => am::set,
            TableKind::Bag => am::bag,
            TableKind::DuplicateBag => am::duplicate_bag,
            TableKind::OrderedSet => am::ordered_set,
        }
    }
}

/// What walks that are under way ask of those who change a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum IterationHold {
    None,
    /// A BIF stopped between two buckets: buckets stay, neither split nor joined.
    Buckets,
    /// Fixed: objects that go are only marked, and buckets stay.
    Objects,
}
