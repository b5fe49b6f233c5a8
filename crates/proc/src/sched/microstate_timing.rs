//! Microstate accounting for the current scheduler: its state while a function runs, and the time
//! collections take. The sums are in `microstate.rs`.

use kvik_env::clock::tsc::ticks;
use kvik_sys::METERED;

use super::metrics_page::HistogramKind;
pub use super::microstate::{on, reset, switch, Microstate, MicrostateClock};

/// The current thread's scheduler, if it is one.
fn here() -> Option<&'static super::Scheduler> {
    super::local::local().map(|l| l.me)
}
/// Words from which on a heap is not small.
const LARGE_HEAP: usize = 4096;

/// Times a collection of a heap of `words` words.
pub fn collecting<R>(words: usize, f: impl FnOnce() -> R) -> R {
    let Some(l) = super::local::local().filter(|_| METERED) else { return f() };
    let meter = &l.me.meter;
    let was = meter.enter(Microstate::Gc);
    let weight = if words >= LARGE_HEAP { 1 } else { l.small_collections.one() };
    let r = match weight {
        0 => f(),
        _ => {
            let ticks = ticks();
            let began = ticks.now();
            let r = f();
            l.me.page.note(HistogramKind::Gc, ticks.between(began, ticks.now()), weight.into());
            r
        }
    };
    meter.enter(was);
    r
}
/// Sets the current scheduler's state while `f` runs.
#[inline]
pub fn during<R>(s: Microstate, f: impl FnOnce() -> R) -> R {
    let Some(me) = here().filter(|_| METERED) else { return f() };
    let was = me.meter.enter(s);
    let r = f();
    me.meter.enter(was);
    r
}
