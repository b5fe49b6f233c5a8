//! Kinds of tables, and what a change may do while walks are under way.

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

/// What changes must preserve for walks that are under way.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum IterationHold {
    None,
    /// A BIF stopped between two buckets: buckets are neither split nor joined.
    Buckets,
    /// Fixed: deleted objects are only marked, and buckets stay.
    Objects,
}
