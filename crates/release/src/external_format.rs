//! The external term format.

use crate::Release;

impl Release {
    /// Whether `term_to_binary/1` writes all atoms in UTF-8 (`minor_version` 2).
    pub fn encodes_atoms_as_utf8(&self) -> bool {
        self.number >= 26
    }

    /// Whether there is a node-local external format (option `local`), and `prim_inet` puts a
    /// reference in it before the data it sends.
    pub fn has_local_format(&self) -> bool {
        self.number >= 26
    }

    /// Whether every port is encoded with 64 bits for its number, also where 32 would do.
    pub fn encodes_ports_with_64_bits(&self) -> bool {
        self.number >= 26
    }

    /// Whether `external_size/1` of a fun is the size that it is encoded with.
    pub fn sizes_funs_exactly(&self) -> bool {
        self.number >= 26
    }

    /// The largest number that text or bytes may give a port of this node.
    pub fn max_port_number(&self) -> u64 {
        match self.number {
            ..=25 => (1 << 28) - 1,
            _ => (1 << 60) - 1,
        }
    }

    /// Whether `external_size/2` takes all options of `term_to_binary/2`.
    pub fn sizes_with_all_options(&self) -> bool {
        self.number >= 27
    }

    /// Whether `term_to_iovec` shares bit strings of more than 64 bytes in bits; else those of
    /// more than 64 whole bytes.
    pub fn shares_by_bits(&self) -> bool {
        self.number >= 27
    }
}
