//! VM state as a value: statics that a run mutates are declared by [`vm_state!`].
//!
//! Without the feature `isolated` the macro makes plain statics, and threads need no VM: that is
//! how the program is built. With it, which unit tests enable, each [`Vm`] has values of its own
//! for all of these statics. docs/internals/vm-state.md says why, and which statics are not
//! declared so.

#[cfg(feature = "isolated")]
mod isolated;
#[cfg(all(test, feature = "isolated"))]
mod tests;

#[cfg(feature = "isolated")]
pub use isolated::{Membership, Slot, Vm};

/// Declares statics that belong to a VM, with the syntax of statics; in functions too.
#[cfg(not(feature = "isolated"))]
#[macro_export]
macro_rules! vm_state {
    ($($(#[$attribute:meta])* $v:vis static $name:ident: $t:ty = $init:expr;)+) => {
        $($(#[$attribute])* $v static $name: $t = $init;)+
    };
}

/// Declares statics that belong to a VM, with the syntax of statics; in functions too.
#[cfg(feature = "isolated")]
#[macro_export]
macro_rules! vm_state {
    ($($(#[$attribute:meta])* $v:vis static $name:ident: $t:ty = $init:expr;)+) => {
        $($(#[$attribute])* $v static $name: $crate::Slot<$t> = $crate::Slot::new(|| $init);)+
    };
}

/// The VM of the thread that made this, for a thread that it starts.
#[cfg(not(feature = "isolated"))]
pub struct Membership;

#[cfg(not(feature = "isolated"))]
impl Membership {
    #[inline]
    pub fn of_this_thread() -> Membership {
        Membership
    }
    /// Makes the calling thread, which has used no state yet, belong to that VM until it ends.
    #[inline]
    pub fn join(self) {}
    /// Calls `f` in that VM.
    #[inline]
    pub fn within<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// Wraps `f` for a new thread, so that it runs in the VM of the thread that calls this. Every
/// thread of the VM is started with it.
#[inline]
pub fn inherit<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let vm = Membership::of_this_thread();
    move || {
        vm.join();
        f()
    }
}

/// Wraps `f` for a later call on any thread, as when memory is freed, so that it runs in the VM of
/// the thread that calls this.
#[inline]
pub fn bind<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let vm = Membership::of_this_thread();
    move || vm.within(f)
}
