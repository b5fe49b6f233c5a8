//! What sets the releases apart in the module `ets`.

use crate::Release;

impl Release {
    /// Whether `ets:update_element` tells that a position is out of range.
    pub fn names_bad_positions(&self) -> bool {
        self.number >= 27
    }

    /// Whether a default object that has no element for the key is refused even if it is not needed.
    pub fn judges_defaults_first(&self) -> bool {
        self.number >= 29
    }

    /// Whether a table may have an heir that is told nothing.
    pub fn has_heirs_without_gift(&self) -> bool {
        self.number >= 28
    }

    /// Whether a walk over a table knows that a map in a key's pattern matches larger maps.
    pub fn keys_with_maps_match_others(&self) -> bool {
        self.number >= 26
    }

    /// Whether a list of objects that is copied before it is inserted into a table keeps its order.
    pub fn inserts_copied_lists_in_order(&self) -> bool {
        self.number >= 27
    }
}
