//! Which faults strike which calls.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use crate::faults::{Effect, Fault};
use crate::Errno;

/// Which calls an injected fault strikes, counted from its injection.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum When {
    Always,
    /// The call with this number alone, from 1.
    Nth(u64),
    /// All calls after so many.
    After(u64),
    /// Each call with this probability, by a generator with this seed.
    Probability {
        p: f64,
        seed: u64,
    },
}

struct Injected {
    fault: Fault,
    effect: Effect,
    when: When,
    calls: u64,
    /// State of the generator.
    chance: u64,
}

impl Injected {
    fn strikes(&mut self) -> bool {
        self.calls += 1;
        match self.when {
            When::Always => true,
            When::Nth(n) => self.calls == n,
            When::After(n) => self.calls > n,
            When::Probability { p, .. } => {
                self.chance = splitmix(self.chance);
                // 53 bits: as many as the fraction of an `f64` has.
                ((mix(self.chance) >> 11) as f64) < p * (1u64 << 53) as f64
            }
        }
    }
}
/// The generator SplitMix64 (Steele, Lea and Flood, 2014): the next state, and the number for it.
fn splitmix(state: u64) -> u64 {
    state.wrapping_add(0x9e37_79b9_7f4a_7c15)
}
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const FAULTS: usize = Fault::ALL.len();

/// The injected faults, and how often each has struck.
pub struct Faults {
    any: AtomicBool,
    injected: Mutex<Vec<Injected>>,
    struck: [AtomicU64; FAULTS],
}

impl Faults {
    pub(super) const fn new() -> Faults {
        Faults {
            any: AtomicBool::new(false),
            injected: Mutex::new(Vec::new()),
            struck: [const { AtomicU64::new(0) }; FAULTS],
        }
    }
    fn injected(&self) -> MutexGuard<'_, Vec<Injected>> {
        self.injected.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Injects a fault into calls from now on. `Err`: the fault cannot have that effect.
    pub fn inject(&self, fault: Fault, effect: Effect, when: When) -> Result<(), String> {
        let (_, name, effects) = Fault::ALL[fault as usize];
        if !effects.contains(&effect.kind()) {
            return Err(format!("{name} cannot have the effect {effect:?}"));
        }
        if effect == Effect::Fail(Errno::INTR) {
            return Err("calls are repeated after eintr: nobody would see it".into());
        }
        let chance = match when {
            When::Probability { seed, .. } => seed,
            _ => 0,
        };
        self.injected().push(Injected { fault, effect, when, calls: 0, chance });
        self.any.store(true, Relaxed);
        Ok(())
    }
    /// Injects the faults that a text lists: `file_write:enospc:after=3,spawn:eagain`. All of them
    /// or, with an error, none.
    pub fn arm(&self, text: &str) -> Result<(), String> {
        let all = super::spec::parse(text)?;
        let before = self.injected().len();
        let done = all.into_iter().try_for_each(|(f, e, w)| self.inject(f, e, w));
        if done.is_err() {
            self.injected().truncate(before);
        }
        done
    }
    /// Removes all faults, and resets the counts.
    pub fn clear(&self) {
        self.injected().clear();
        self.any.store(false, Relaxed);
        self.struck.iter().for_each(|n| n.store(0, Relaxed));
    }
    /// How often a fault has struck.
    pub fn struck(&self, fault: Fault) -> u64 {
        self.struck[fault as usize].load(Relaxed)
    }

    /// Decides what happens to a call that is about to be made. Every injection counts it; the
    /// first that strikes decides.
    pub(crate) fn strike(&self, fault: Fault) -> Option<Effect> {
        if !self.any.load(Relaxed) {
            return None;
        }
        let mut effect = None;
        for i in self.injected().iter_mut().filter(|i| i.fault == fault) {
            if i.strikes() {
                effect = effect.or(Some(i.effect));
            }
        }
        if effect.is_some() {
            self.struck[fault as usize].fetch_add(1, Relaxed);
        }
        effect
    }
}
