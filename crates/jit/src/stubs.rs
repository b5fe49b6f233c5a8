//! Code that all modules share: the way in and out of native code, calls of the runtime, BIFs,
//! exceptions. Here is what there is of it; a target makes it, and says in which registers a stub expects
//! what.

use std::sync::OnceLock;

use kvik_term::CodeAddress;

use crate::mem::Code;
use crate::target::{make_stubs, Label};

/// Why native code was left.
pub const YIELD: u64 = 0;
pub const WAIT: u64 = 1;
pub const FAILED: u64 = 2;
pub const RETURNED: u64 = 3;

/// From one list of names: the addresses, and the labels they are until the code is in place.
macro_rules! stubs {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Addresses.
        pub struct Stubs {
            $($(#[$doc])* pub $name: CodeAddress,)*
            _code: Code,
        }
        #[cfg(test)]
        impl Stubs {
            /// The name of the stub at an address.
            pub fn name(&self, address: usize) -> Option<&'static str> {
                $(if self.$name.get() == address { return Some(stringify!($name)) })*
                None
            }
        }
        /// The same before the code is in place.
        pub struct Labels {
            $(pub $name: Label,)*
        }
        impl Labels {
            pub fn placed(self, code: Code, at: impl Fn(Label) -> Option<CodeAddress>) -> Option<Stubs> {
                Some(Stubs { $($name: at(self.$name)?,)* _code: code })
            }
        }
    };
}
stubs! {
    enter,
    /// Calls a runtime function with one word.
    runtime,
    /// Raises what the process has noted; called, so that its return address is the place.
    raise,
    /// Ends the process for good: what called it could not come here.
    trap,
    /// Ends the turn, given the address to go on at and how many x registers are live.
    yield_,
    /// Waits, given the address to go on at.
    wait,
    /// What a BIF's export points to; who comes here by a call of an export has the export at hand.
    bif,
    /// The same of a BIF that makes large binaries.
    shedding_bif,
    /// The same of a function that a NIF library has, and its entry.
    nif,
    /// The same of a function that is not there.
    undef,
    /// `erlang:apply/3` and `/2`.
    apply,
    apply_fun,
    /// A call of a fun whose module is not loaded.
    no_fun,
    /// Where a new process begins: `apply`, with `normal_exit` to come back to.
    begin,
    /// What breakpoints call from in front of the entry.
    break_call,
    /// Where exports lead whose calls are watched.
    break_export,
    /// Where a watched call comes back to.
    returned,
    /// The value of a key in a map: see the target's `stubs/maps.rs`.
    map_find,
    map_find_hashed,
    map_find_deep,
    map_copy,
    map_set,
    map_done,
    /// Calls an `rt::Lean` that makes terms.
    lean_alloc,
    /// See the target's `stubs/bits.rs`.
    start_match,
    get_bits,
    get_tail,
    get_utf8,
    binary_part,
    /// See the target's `stubs/build.rs`.
    append,
    private_append,
    put_binary,
    put_utf8,
    /// See the target's `stubs/dictionary.rs`.
    dictionary_get,
    dictionary_put,
    /// See the target's `stubs/terms.rs`.
    compare,
    length,
    equal,
    set_element,
}

pub fn get() -> Option<&'static Stubs> {
    kvik_state::vm_state! {
        static STUBS: OnceLock<Option<Stubs>> = OnceLock::new();
    }
    STUBS.get_or_init(make_stubs).as_ref()
}
