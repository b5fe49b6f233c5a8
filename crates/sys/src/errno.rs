//! Error numbers and the names Erlang gives them.

use libc::*;

/// A system call's error number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

pub type Result<T> = std::result::Result<T, Errno>;

impl Errno {
    pub const INVAL: Errno = Errno(EINVAL);
    pub const NOMEM: Errno = Errno(ENOMEM);
    pub const AGAIN: Errno = Errno(EAGAIN);
    pub const INTR: Errno = Errno(EINTR);
    pub const PIPE: Errno = Errno(EPIPE);
    pub const NOENT: Errno = Errno(ENOENT);
    pub const EXIST: Errno = Errno(EEXIST);
    pub const NOTEMPTY: Errno = Errno(ENOTEMPTY);
    pub const ISDIR: Errno = Errno(EISDIR);
    pub const PERM: Errno = Errno(EPERM);
    pub const NXIO: Errno = Errno(ENXIO);
    pub const NOSYS: Errno = Errno(ENOSYS);
    pub const NOTSUP: Errno = Errno(ENOTSUP);
    pub const ACCES: Errno = Errno(EACCES);
    pub const NOEXEC: Errno = Errno(ENOEXEC);
    pub const NOTDIR: Errno = Errno(ENOTDIR);
    pub const ROFS: Errno = Errno(EROFS);
    pub const BADF: Errno = Errno(EBADF);
    pub const MFILE: Errno = Errno(EMFILE);
    pub const NFILE: Errno = Errno(ENFILE);
    pub const MSGSIZE: Errno = Errno(EMSGSIZE);

    /// The error of the system call that has just failed on this thread.
    pub fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
    /// Its name in small letters: `enoent`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(n, _)| *n == self.0).map_or("unknown", |(_, name)| name)
    }
    /// The error of that name.
    pub fn named(name: &str) -> Option<Errno> {
        NAMES.iter().find(|(_, n)| *n == name).map(|(n, _)| Errno(*n))
    }
}

impl From<std::io::Error> for Errno {
    fn from(e: std::io::Error) -> Errno {
        Errno(e.raw_os_error().unwrap_or(EINVAL))
    }
}

impl From<Errno> for std::io::Error {
    fn from(e: Errno) -> std::io::Error {
        std::io::Error::from_raw_os_error(e.0)
    }
}

/// Turns a call's `-1` into the error.
pub(crate) fn check(r: i32) -> Result<i32> {
    if r < 0 {
        Err(Errno::last())
    } else {
        Ok(r)
    }
}
/// The same for calls that answer a size.
#[inline]
pub(crate) fn check_size(r: isize) -> Result<usize> {
    usize::try_from(r).map_err(|_| Errno::last())
}
/// Repeats a call that a signal interrupts.
#[inline]
pub(crate) fn retry<T>(mut f: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match f() {
            Err(Errno::INTR) => continue,
            r => return r,
        }
    }
}

const NAMES: &[(i32, &str)] = &[
    (E2BIG, "e2big"),
    (EACCES, "eacces"),
    (EADDRINUSE, "eaddrinuse"),
    (EADDRNOTAVAIL, "eaddrnotavail"),
    (EADV, "eadv"),
    (EAFNOSUPPORT, "eafnosupport"),
    (EAGAIN, "eagain"),
    (EALREADY, "ealready"),
    (EBADE, "ebade"),
    (EBADF, "ebadf"),
    (EBADFD, "ebadfd"),
    (EBADMSG, "ebadmsg"),
    (EBADR, "ebadr"),
    (EBADRQC, "ebadrqc"),
    (EBADSLT, "ebadslt"),
    (EBUSY, "ebusy"),
    (ECHILD, "echild"),
    (ECHRNG, "echrng"),
    (ECOMM, "ecomm"),
    (ECONNABORTED, "econnaborted"),
    (ECONNREFUSED, "econnrefused"),
    (ECONNRESET, "econnreset"),
    (EDEADLK, "edeadlk"),
    (EDESTADDRREQ, "edestaddrreq"),
    (EDOM, "edom"),
    (EDOTDOT, "edotdot"),
    (EDQUOT, "edquot"),
    (EEXIST, "eexist"),
    (EFAULT, "efault"),
    (EFBIG, "efbig"),
    (EHOSTDOWN, "ehostdown"),
    (EHOSTUNREACH, "ehostunreach"),
    (EIDRM, "eidrm"),
    (EILSEQ, "eilseq"),
    (EINPROGRESS, "einprogress"),
    (EINTR, "eintr"),
    (EINVAL, "einval"),
    (EIO, "eio"),
    (EISCONN, "eisconn"),
    (EISDIR, "eisdir"),
    (EISNAM, "eisnam"),
    (EL2HLT, "el2hlt"),
    (EL2NSYNC, "el2nsync"),
    (EL3HLT, "el3hlt"),
    (EL3RST, "el3rst"),
    (ELIBACC, "elibacc"),
    (ELIBBAD, "elibbad"),
    (ELIBEXEC, "elibexec"),
    (ELIBMAX, "elibmax"),
    (ELIBSCN, "elibscn"),
    (ELNRNG, "elnrng"),
    (ELOOP, "eloop"),
    (EMFILE, "emfile"),
    (EMLINK, "emlink"),
    (EMSGSIZE, "emsgsize"),
    (EMULTIHOP, "emultihop"),
    (ENAMETOOLONG, "enametoolong"),
    (ENAVAIL, "enavail"),
    (ENETDOWN, "enetdown"),
    (ENETRESET, "enetreset"),
    (ENETUNREACH, "enetunreach"),
    (ENFILE, "enfile"),
    (ENOANO, "enoano"),
    (ENOBUFS, "enobufs"),
    (ENOCSI, "enocsi"),
    (ENODATA, "enodata"),
    (ENODEV, "enodev"),
    (ENOENT, "enoent"),
    (ENOEXEC, "enoexec"),
    (ENOLCK, "enolck"),
    (ENOLINK, "enolink"),
    (ENOMEM, "enomem"),
    (ENOMSG, "enomsg"),
    (ENONET, "enonet"),
    (ENOPKG, "enopkg"),
    (ENOPROTOOPT, "enoprotoopt"),
    (ENOSPC, "enospc"),
    (ENOSR, "enosr"),
    (ENOSTR, "enostr"),
    (ENOSYS, "enosys"),
    (ENOTBLK, "enotblk"),
    (ENOTCONN, "enotconn"),
    (ENOTDIR, "enotdir"),
    (ENOTEMPTY, "enotempty"),
    (ENOTNAM, "enotnam"),
    (ENOTSOCK, "enotsock"),
    (ENOTSUP, "enotsup"),
    (ENOTTY, "enotty"),
    (ENOTUNIQ, "enotuniq"),
    (ENXIO, "enxio"),
    (EOVERFLOW, "eoverflow"),
    (EPERM, "eperm"),
    (EPFNOSUPPORT, "epfnosupport"),
    (EPIPE, "epipe"),
    (EPROTO, "eproto"),
    (EPROTONOSUPPORT, "eprotonosupport"),
    (EPROTOTYPE, "eprototype"),
    (ERANGE, "erange"),
    (EREMCHG, "eremchg"),
    (EREMOTE, "eremote"),
    (EREMOTEIO, "eremoteio"),
    (EROFS, "erofs"),
    (ESHUTDOWN, "eshutdown"),
    (ESOCKTNOSUPPORT, "esocktnosupport"),
    (ESPIPE, "espipe"),
    (ESRCH, "esrch"),
    (ESRMNT, "esrmnt"),
    (ESTALE, "estale"),
    (ETIME, "etime"),
    (ETIMEDOUT, "etimedout"),
    (ETOOMANYREFS, "etoomanyrefs"),
    (ETXTBSY, "etxtbsy"),
    (EUCLEAN, "euclean"),
    (EUNATCH, "eunatch"),
    (EUSERS, "eusers"),
    (EXDEV, "exdev"),
    (EXFULL, "exfull"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Errno::NOENT.name(), "enoent");
        assert_eq!(Errno(EAGAIN).name(), "eagain");
        assert_eq!(Errno(EOPNOTSUPP).name(), "enotsup");
        assert_eq!(Errno(0).name(), "unknown");
        assert_eq!((Errno::named("enoent"), Errno::named("")), (Some(Errno::NOENT), None));
    }
}
