//! The kinds of tables, and how far a change of one may go.

use kvik_term::{am, Atom};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Set,
    Bag,
    DuplicateBag,
    OrderedSet,
}

impl Kind {
    pub fn atom(self) -> Atom {
        match self {
            Kind::Set => am::set,
            Kind::Bag => am::bag,
            Kind::DuplicateBag => am::duplicate_bag,
            Kind::OrderedSet => am::ordered_set,
        }
    }
}

/// What walks that are under way ask of those who change a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    None,
    /// A BIF stopped between two buckets: buckets stay, neither split nor joined.
    Buckets,
    /// Fixed: objects that go are only marked, and buckets stay.
    Objects,
}
