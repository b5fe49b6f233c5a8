//! Words on a stack.

/// A word on a stack that a call comes back to: addresses of continuations end in 8.
pub fn is_continuation(w: u64) -> bool {
    w & 15 == 8
}
