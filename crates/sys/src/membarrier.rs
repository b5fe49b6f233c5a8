//! A memory barrier on all threads of the program at once (`membarrier(2)`), for algorithms whose
//! rare side pays for the fences of the frequent one.

/// `MEMBARRIER_CMD_PRIVATE_EXPEDITED` and its registration, of Linux 4.14.
const EXPEDITED: i32 = 1 << 3;
const REGISTER_EXPEDITED: i32 = 1 << 4;

/// The call with that command, without flags.
fn membarrier(command: i32) -> bool {
    // SAFETY: the call changes nothing that the program can see.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Makes [`all_threads`] available. False: the system has no such call, or forbids it.
pub fn register() -> bool {
    membarrier(REGISTER_EXPEDITED)
}
/// When it returns, each thread of the program has passed a full memory barrier since it was called.
/// Only after [`register`] was true.
pub fn all_threads() {
    let done = membarrier(EXPEDITED);
    debug_assert!(done, "registered");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_need_no_second_registration() {
        if register() {
            assert!(register());
            assert!(membarrier(EXPEDITED));
        }
    }
}
