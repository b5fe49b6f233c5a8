//! Recognizes return addresses on a stack.

/// Whether a stack word is a return address: addresses of continuations end in 8.
pub fn is_continuation(w: u64) -> bool {
    w & 15 == 8
}
