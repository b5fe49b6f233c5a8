//! Shared memory that other programs of the same user may read: an anonymous file, reached as
//! `/proc/PID/fd/N`. It is gone when its program ends. Seals keep other programs from writing,
//! truncating or growing it.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::slice;
use std::sync::atomic::AtomicU64;

use crate::errno::{check, Errno, Result};

/// Allocates `n` words, all 0, that last as long as the program, and the file that shares them. The
/// file is closed on exec.
pub fn words(name: &CStr, n: usize) -> Result<(&'static [AtomicU64], OwnedFd)> {
    let bytes = n.checked_mul(8).filter(|b| *b > 0 && *b < 1 << 40).ok_or(Errno::INVAL)?;
    // SAFETY: the name ends in a zero byte; the descriptor is new, and belongs to nobody else.
    let fd = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        OwnedFd::from_raw_fd(check(libc::memfd_create(name.as_ptr(), flags))?)
    };
    // SAFETY: no memory is involved.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) })?;
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping that replaces nothing.
    let p =
        unsafe { libc::mmap(ptr::null_mut(), bytes, prot, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    if p == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    let seals =
        libc::F_SEAL_FUTURE_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    // SAFETY: the mapping is aligned, zeroed, that long, is never unmapped, and its file can't be
    // cut short. Words in it are only changed through this slice.
    Ok((unsafe { slice::from_raw_parts(p.cast::<AtomicU64>(), n) }, fd))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn shared_words_are_read_only_for_others() {
        let (words, fd) = super::words(c"words", 512).unwrap();
        words[3].store(0x0102_0304, Relaxed);
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let mut four = [0; 4];
        fs::File::open(&path).unwrap().read_exact_at(&mut four, 24).unwrap();
        assert_eq!(u32::from_le_bytes(four), 0x0102_0304);
        let file = fs::OpenOptions::new().write(true).open(&path);
        if let Ok(file) = file {
            assert!(file.write_at(&[9], 24).is_err());
            assert!(file.set_len(0).is_err());
            assert!(file.set_len(1 << 20).is_err());
        }
        assert_eq!(words[3].load(Relaxed), 0x0102_0304);
        assert!(super::words(c"none", 0).is_err());
    }
}
