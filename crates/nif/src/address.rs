//! Addresses of the C interface's functions: a table of them keeps functions in the program that
//! nothing else references.

/// A function's address.
pub struct Address(#[allow(dead_code)] pub *const ());
// SAFETY: an address of code.
unsafe impl Sync for Address {}

macro_rules! by_address {
    ($($name:ident),* $(,)?) => {
        #[used]
        pub static ALL: &[$crate::address::Address] =
            &[$($crate::address::Address($name as *const ())),*];
    };
}
pub(crate) use by_address;
