//! Stubs, code that all modules share: entering and leaving native code, calls of the runtime,
//! BIFs, exceptions. This file lists them; the target emits them and defines the registers in which
//! each expects its operands.

use std::sync::OnceLock;

use kvik_term::CodeAddress;

use crate::mem::NativeCode;
use crate::target::{make_stubs, Label};

/// Why native code was left.
pub const YIELD: u64 = 0;
pub const WAIT: u64 = 1;
pub const FAILED: u64 = 2;
pub const RETURNED: u64 = 3;

/// Generates from one list of names the struct of addresses, and the struct of labels used until
/// the code is in place.
macro_rules! stubs {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Addresses.
        pub struct Stubs {
            $($(#[$doc])* pub $name: CodeAddress,)*
            _code: NativeCode,
        }
        impl Stubs {
            /// The addresses that stubs take.
            pub fn range(&self) -> std::ops::Range<usize> {
                self._code.range()
            }
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
            pub fn placed(self, code: NativeCode, at: impl Fn(Label) -> Option<CodeAddress>) -> Option<Stubs> {
                Some(Stubs { $($name: at(self.$name)?,)* _code: code })
            }
        }
    };
}
stubs! {
    enter,
    /// Calls a runtime function with one word.
    runtime,
    /// Raises the exception recorded in the process; called, so that its return address is the
    /// location.
    raise,
    /// Ends the process for good: control should never reach the call.
    trap,
    /// Ends the time slice, given the address to go on at and how many x registers are live.
    yield_,
    /// Returns to the caller in the next time slice. x0 is live.
    late_return,
    /// Waits, given the address to go on at.
    wait,
    /// `erlang:hibernate/0`, with the same operands as `yield_`.
    hibernate,
    /// Target of a BIF's export; a call through an export has the export in a register.
    bif,
    /// The same for a BIF that makes large binaries.
    shedding_bif,
    /// The same for a BIF whose calls cost no reduction.
    uncounted_bif,
    /// The same for a NIF, with its entry in a register.
    nif,
    /// The same for an undefined function.
    undef,
    /// `erlang:apply/3` and `/2`.
    apply,
    apply_fun,
    /// Target of calls of funs whose module is not loaded.
    no_fun,
    /// Entry of a new process: `apply`, with `normal_exit` as the return address.
    begin,
    /// Return address of a process's first function.
    normal_exit,
    /// Called by breakpoints at lines.
    line_break,
    /// Return address of `erts_internal:breakpoint/4`, called by these.
    line_resume,
    /// Called by breakpoints from in front of the entry.
    break_call,
    /// Target of exports whose calls are traced.
    break_export,
    /// Return address of traced calls.
    returned,
    /// Looks up a key in a map: see the target's `stubs/maps.rs`.
    map_find,
    map_find_hashed,
    map_find_deep,
    map_copy,
    map_set,
    map_done,
    /// Calls an `rt::Lean` that builds terms.
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
