//! `process_flag(save_calls, N)`: a process records its last calls of functions through exports,
//! and its sends, receives and timeouts.
//!
//! Native code detects calls (`kvik_jit::breakpoints`): while any process saves calls, all exports
//! lead there. Such a process examines messages as borrowed ones, so that native code calls the
//! mailbox to take each.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::process::flag;
use crate::tracing_on::{self, User};
use crate::Proc;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Saved {
    Call(Atom, Atom, u32),
    Send,
    Receive,
    Timeout,
}

impl Saved {
    fn term(self, h: &Heap) -> Term<'_> {
        match self {
            Saved::Call(m, f, a) => h.tuple(&[m.into(), f.into(), Term::int(a as i32)]),
            Saved::Send => am::send.into(),
            Saved::Receive => am::receive.into(),
            Saved::Timeout => am::timeout.into(),
        }
    }
}

/// The last calls of a process, the oldest first.
pub struct SavedCalls {
    most: usize,
    calls: VecDeque<Saved>,
}

/// The largest number that may be requested.
pub const MAX_CALLS: usize = 10_000;

kvik_state::vm_state! {
    /// Processes that save calls.
    static SAVERS: AtomicUsize = AtomicUsize::new(0);
}

/// Whether any process saves calls.
#[inline]
pub fn on() -> bool {
    SAVERS.load(Relaxed) != 0
}

impl Proc {
    /// Sets how many calls it saves; 0 for none. Returns the old number.
    pub fn set_save_calls(&self, most: usize) -> usize {
        let new = (most > 0).then(|| Box::new(SavedCalls { most, calls: VecDeque::new() }));
        let old = self.with_rare(|x| std::mem::replace(&mut x.saved_calls, new));
        let saved = self.set_flag(flag::SAVES_CALLS, most > 0);
        if saved != (most > 0) {
            // Native code would take a message on the heap without recording that.
            self.messages().shelve();
            match saved {
                true => SAVERS.fetch_sub(1, Relaxed),
                false => SAVERS.fetch_add(1, Relaxed),
            };
            tracing_on::update(User::SavedCalls, on);
        }
        old.map_or(0, |o| o.most)
    }
    /// The process ends.
    pub(crate) fn forget_saved_calls(&self) {
        if self.set_flag(flag::SAVES_CALLS, false) {
            SAVERS.fetch_sub(1, Relaxed);
            tracing_on::update(User::SavedCalls, on);
        }
    }
    /// Records a call, if it saves calls and is not sensitive.
    #[inline]
    pub fn save_call(&self, call: Saved) {
        if self.flag(flag::SAVES_CALLS) {
            self.note_call(call);
        }
    }
    #[cold]
    fn note_call(&self, call: Saved) {
        if self.flag(flag::SENSITIVE) {
            return;
        }
        self.with_rare(|x| {
            if let Some(s) = &mut x.saved_calls {
                if s.calls.len() == s.most {
                    s.calls.pop_front();
                }
                s.calls.push_back(call);
            }
        });
    }
    /// The saved calls, the oldest first; `None` if it does not save any.
    pub fn saved_calls(&self) -> Option<Vec<Saved>> {
        self.rare(|x| Some(x.saved_calls.as_ref()?.calls.iter().copied().collect())).flatten()
    }
    /// `process_info(Pid, last_calls)`.
    pub fn last_calls<'h>(&self, h: &'h Heap) -> Term<'h> {
        let Some(calls) = self.saved_calls() else { return Term::bool(false) };
        h.list(&calls.into_iter().map(|c| c.term(h)).collect::<Vec<_>>())
    }
}
