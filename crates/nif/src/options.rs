//! `enif_set_option`: what a library asks for while it is loaded.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use crate::abi::LibraryCallback;
use crate::env::EnvPtr;

/// `ErlNifOption`
const DELAY_HALT: c_int = 1;
const ON_HALT: c_int = 2;
const ON_UNLOAD_THREAD: c_int = 3;

/// Sets an option, which can be set once. Returns 0, or an error code.
///
/// In C it has a variable number of arguments; the calling convention passes the one behind the
/// option, if there is one, as it would to a function with three.
#[no_mangle]
pub extern "C" fn enif_set_option(
    mut e: EnvPtr,
    option: c_int,
    argument: MaybeUninit<Option<LibraryCallback>>,
) -> c_int {
    let Some(loading) = e.get().and_then(|e| e.loading.as_mut()) else { return libc::EINVAL };
    let options = &mut loading.options;
    let slot = match option {
        DELAY_HALT if options.delay_halt => return libc::EINVAL,
        DELAY_HALT => {
            options.delay_halt = true;
            return 0;
        }
        ON_HALT => &mut options.on_halt,
        ON_UNLOAD_THREAD => &mut options.on_unload_thread,
        _ => return libc::EINVAL,
    };
    // SAFETY: the interface's contract: these options have an argument, a function or null.
    let callback = unsafe { argument.assume_init() };
    if slot.is_some() || callback.is_none() {
        return libc::EINVAL;
    }
    *slot = callback;
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::NifEnv;

    unsafe extern "C" fn called(_: *mut std::ffi::c_void) {}

    #[test]
    fn options_are_set_once_and_while_loading() {
        let mut e = NifEnv::alone(std::ptr::null());
        let mut set = |loading: bool, option, f: Option<LibraryCallback>| {
            if loading {
                e.loading.get_or_insert_default();
            }
            // SAFETY: it is there for the call.
            enif_set_option(unsafe { EnvPtr::new(&mut e) }, option, MaybeUninit::new(f))
        };
        assert_eq!(set(false, DELAY_HALT, None), libc::EINVAL);
        assert_eq!((set(true, DELAY_HALT, None), set(true, DELAY_HALT, None)), (0, libc::EINVAL));
        for option in [ON_HALT, ON_UNLOAD_THREAD] {
            assert_eq!(set(true, option, None), libc::EINVAL);
            assert_eq!(set(true, option, Some(called)), 0);
            assert_eq!(set(true, option, Some(called)), libc::EINVAL);
        }
        assert_eq!(set(true, 4, Some(called)), libc::EINVAL);
        let none = MaybeUninit::new(Some(called as LibraryCallback));
        assert_eq!(enif_set_option(EnvPtr::NULL, ON_HALT, none), libc::EINVAL);
    }
}
