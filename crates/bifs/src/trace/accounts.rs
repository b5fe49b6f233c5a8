//! `call_time` and `call_memory`: the time that functions take themselves and the words that they
//! allocate themselves, without other functions watched for it that they call. Time does not count
//! while their process does not run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_proc::trace::Session;
use kvik_proc::{clock, Proc};

use super::charges::Charges;
use super::watched::{self, Mfa, Watch};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AccountKind {
    Time,
    Memory,
}

/// The function that is charged, in one session, and the amount from which on.
#[derive(Copy, Clone)]
struct Running {
    /// [`Session::key`]
    session: u64,
    mfa: Option<Mfa>,
    since: i64,
}
#[derive(Default)]
struct Account {
    running: Vec<Running>,
    /// Memory: the words that collections have reclaimed so far.
    reclaimed: i64,
}
impl Account {
    fn of(&mut self, session: u64) -> Option<&mut Running> {
        self.running.iter_mut().find(|r| r.session == session)
    }
}
type Accounts = HashMap<u32, Account>;

kvik_state::vm_state! {
    /// Whether times or memory were ever measured: if not, a process that ends needs no lock.
    static ANY: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
}

fn accounts(kind: AccountKind) -> MutexGuard<'static, Accounts> {
    kvik_state::vm_state! {
        static ACCOUNTS: OnceLock<[Mutex<Accounts>; 2]> = OnceLock::new();
    }
    let all = ACCOUNTS.get_or_init(Default::default);
    all[kind as usize].lock().unwrap_or_else(|e| e.into_inner())
}
fn any(kind: AccountKind) -> bool {
    ANY[kind as usize].load(Relaxed)
}
/// From now on the allocations of processes are looked at.
pub fn count_memory() {
    ANY[AccountKind::Memory as usize].store(true, Relaxed);
}
fn charges(kind: AccountKind, w: &Watch) -> &Charges {
    match kind {
        AccountKind::Time => &w.times,
        AccountKind::Memory => &w.memory,
    }
}
/// Charges a function with what came up since the last change.
fn settle(kind: AccountKind, pid: u32, r: Running, now: i64) {
    let watch = r.mfa.and_then(watched::find).and_then(|f| f.watch_of(r.session));
    if let Some(w) = watch {
        charges(kind, &w).add(pid, 0, now.saturating_sub(r.since).max(0) as u64);
    }
}
/// A hook that runs for a call or its end. What it allocates on the process's heap is charged to
/// nobody.
pub struct Hook<'p> {
    p: &'p Proc,
    /// The words on the heap when it began, if allocations are looked at.
    words: Option<i64>,
}
impl<'p> Hook<'p> {
    pub fn begin(p: &'p Proc) -> Hook<'p> {
        let words = any(AccountKind::Memory).then(|| p.heap.sizes().terms() as i64);
        Hook { p, words }
    }
    /// From now on `mfa` is charged. Returns what was charged before, and the amount now.
    fn change(&self, kind: AccountKind, session: u64, mfa: Option<Mfa>) -> Option<(Running, i64)> {
        let mut all = accounts(kind);
        let account = all.entry(self.p.pid()).or_default();
        let now = match kind {
            AccountKind::Time => clock::now() as i64,
            AccountKind::Memory => self.words? + account.reclaimed,
        };
        let new = Running { session, mfa, since: now };
        if let Some(r) = account.of(session) {
            return Some((std::mem::replace(r, new), now));
        }
        // What a process begins with is charged to the function that it begins with.
        let (m, f, a) = self.p.initial_call();
        let initial = kind == AccountKind::Memory && mfa == Some((m, f, u32::from(a)));
        account.running.push(Running { since: if initial { 0 } else { now }, ..new });
        None
    }
    /// A watched function is called. Returns the function that was charged before.
    pub fn called(&self, kind: AccountKind, w: &Watch, mfa: Mfa) -> Option<Mfa> {
        if !any(kind) {
            ANY[kind as usize].store(true, Relaxed);
        }
        let before = self.change(kind, w.session.key(), Some(mfa));
        charges(kind, w).add(self.p.pid(), 1, 0);
        let (before, now) = before?;
        settle(kind, self.p.pid(), before, now);
        before.mfa
    }
    /// A watched function has returned: `to` is charged again.
    pub fn returned(&self, kind: AccountKind, session: u64, to: Option<Mfa>) {
        // A statement of its own, so that the lock is released before `settle`.
        let before = self.change(kind, session, to);
        if let Some((before, now)) = before {
            settle(kind, self.p.pid(), before, now);
        }
    }
}
impl Drop for Hook<'_> {
    fn drop(&mut self) {
        let Some(words) = self.words else { return };
        let allocated = self.p.heap.sizes().terms() as i64 - words;
        if let Some(a) = accounts(AccountKind::Memory).get_mut(&self.p.pid()) {
            a.running.iter_mut().for_each(|r| r.since += allocated);
        }
    }
}
/// A time slice begins or ends.
pub fn turn(p: &Proc, begins: bool) {
    if !any(AccountKind::Time) {
        return;
    }
    let now = clock::now() as i64;
    let before: Vec<Running> = match accounts(AccountKind::Time).get_mut(&p.pid()) {
        Some(a) => {
            let again = |r: &mut Running| std::mem::replace(r, Running { since: now, ..*r });
            a.running.iter_mut().map(again).collect()
        }
        None => return,
    };
    if !begins {
        before.into_iter().for_each(|r| settle(AccountKind::Time, p.pid(), r, now));
    }
}
/// A collection has reclaimed words.
pub fn reclaimed(p: &Proc, words: i64) {
    if any(AccountKind::Memory) {
        if let Some(a) = accounts(AccountKind::Memory).get_mut(&p.pid()) {
            a.reclaimed += words;
        }
    }
}
pub fn ended(p: &Proc) {
    for kind in [AccountKind::Time, AccountKind::Memory] {
        if any(kind) {
            accounts(kind).remove(&p.pid());
        }
    }
}
pub fn forget_session(s: &Session) {
    for kind in [AccountKind::Time, AccountKind::Memory] {
        if any(kind) {
            accounts(kind).values_mut().for_each(|a| a.running.retain(|r| r.session != s.key()));
        }
    }
}
