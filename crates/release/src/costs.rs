//! What BIFs cost in reductions, where that depends on the release.

use crate::Release;

/// What `iolist_to_iovec/1` costs, in steps.
pub struct IovecCost {
    pub steps_per_reduction: usize,
    pub byte: usize,
    /// A binary, besides the bytes of it that are copied.
    pub binary: usize,
    pub bytes_a_step: usize,
    /// The beginning and the end of a list in the list.
    pub list: usize,
    pub end: usize,
    /// Whether there are two passes, of which only the second copies.
    pub two_passes: bool,
}

impl IovecCost {
    /// Reductions for so many steps, `copied` of them for bytes.
    pub fn reductions(&self, steps: usize, copied: usize) -> usize {
        let rate = self.steps_per_reduction;
        match self.two_passes {
            true => {
                let pass = steps.saturating_sub(copied) / 2;
                pass.div_ceil(rate) + (pass + copied).div_ceil(rate)
            }
            false => steps / rate,
        }
    }
}

const IOVEC_COST: IovecCost = IovecCost {
    steps_per_reduction: 256,
    byte: 2,
    binary: 0,
    bytes_a_step: 1,
    list: 1,
    end: 0,
    two_passes: false,
};
/// Two passes of eight steps per reduction.
const IOVEC_COST_27: IovecCost = IovecCost {
    steps_per_reduction: 8,
    byte: 2,
    binary: 2,
    bytes_a_step: 32,
    list: 2,
    end: 2,
    two_passes: true,
};

impl Release {
    /// Whether `md5` gives up its turn after 100 bytes.
    pub fn has_slow_md5(&self) -> bool {
        self.number < 29
    }
    /// Whether OTP reads large integers in Erlang code.
    pub fn reads_large_integers_in_erlang(&self) -> bool {
        self.number >= 27
    }
    pub fn iovec_cost(&self) -> &'static IovecCost {
        if self.number >= 27 {
            &IOVEC_COST_27
        } else {
            &IOVEC_COST
        }
    }
    /// Whether `list_to_bitstring/1` waits for its next turn if few reductions are left, as
    /// `list_to_binary/1` does in each release.
    pub fn puts_off_joining_bits(&self) -> bool {
        self.number >= 27
    }
    /// Whether the end of a list counts like a cell when an I/O list is read.
    pub fn counts_ends_of_io_lists(&self) -> bool {
        self.number >= 27
    }
    /// Cells that `iolist_size/1` reads for a reduction.
    pub fn cells_sized_a_reduction(&self) -> usize {
        if self.number >= 27 {
            8
        } else {
            64
        }
    }
    /// Steps of a search for one binary after each match; ten are a reduction.
    pub fn steps_after_match(&self) -> usize {
        (self.number >= 27) as usize
    }
    /// Steps for a byte of one binary while `binary:longest_common_prefix/1` compares; ten are a
    /// reduction.
    pub fn steps_to_compare_a_byte(&self) -> usize {
        if self.number >= 27 {
            8
        } else {
            1
        }
    }
    /// Whether the binary that it compares the others with counts too.
    pub fn counts_the_binary_compared_with(&self) -> bool {
        self.number < 27
    }
    /// Bytes of a binary that outgrows its room for a reduction.
    pub fn bytes_grown_a_reduction(&self) -> usize {
        if self.number >= 27 {
            1 << 10
        } else {
            8 << 10
        }
    }
    /// Bytes that `binary:copy/2` copies for a reduction.
    pub fn bytes_copied_a_reduction(&self) -> usize {
        if self.number >= 27 {
            64
        } else {
            100
        }
    }
}
