//! Microstate accounting for the scheduler that runs this: what it is at while a function runs, and how
//! long collections take. What is added up is in `microstate.rs`.

use kvik_env::clock::ticks::ticks;
use kvik_sys::METERED;

use super::board::Kind;
pub use super::microstate::{on, reset, switch, Meter, State};

/// The scheduler that runs this, if one does.
fn here() -> Option<&'static super::Scheduler> {
    super::local::local().map(|l| l.me)
}
/// The words of a heap that is not small.
const LARGE_HEAP: usize = 4096;

/// Times a collection of a heap of so many words.
pub fn collecting<R>(words: usize, f: impl FnOnce() -> R) -> R {
    let Some(l) = super::local::local().filter(|_| METERED) else { return f() };
    let meter = &l.me.meter;
    let was = meter.enter(State::Gc);
    let weight = if words >= LARGE_HEAP { 1 } else { l.small_collections.one() };
    let r = match weight {
        0 => f(),
        _ => {
            let ticks = ticks();
            let began = ticks.now();
            let r = f();
            l.me.page.note(Kind::Gc, ticks.between(began, ticks.now()), weight.into());
            r
        }
    };
    meter.enter(was);
    r
}
/// Notes what the scheduler that runs this is at while `f` runs.
#[inline]
pub fn during<R>(s: State, f: impl FnOnce() -> R) -> R {
    let Some(me) = here().filter(|_| METERED) else { return f() };
    let was = me.meter.enter(s);
    let r = f();
    me.meter.enter(was);
    r
}
