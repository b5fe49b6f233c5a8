//! Trace sessions: independent sets of trace settings. The default session always exists and has no
//! tracer of its own; the others are created with one and end when they are destroyed, or when no
//! term refers to them any more.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use super::{atom, settings, Tracer};
use crate::signal::post;
use crate::sysmon;

pub struct Session {
    /// Its number, which weak references name; none for the default session.
    number: Option<u64>,
    name: Option<Atom>,
    /// The tracer of all its events. Without one, each setting has its own.
    tracer: Option<Tracer>,
    alive: AtomicBool,
}
pub type SessionRef = Arc<Session>;

impl Session {
    pub fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }
    /// False: it has ended, and its settings are about to be removed.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }
    pub fn is_default(&self) -> bool {
        self.number.is_none()
    }
    /// Distinguishes it from all other sessions.
    pub fn key(&self) -> u64 {
        self.number.map_or(0, |n| n + 1)
    }
    /// Identifies it in the frame of a traced call.
    pub fn id(&self) -> Term<'static> {
        match self.number {
            Some(n) => Term::small(n as i64).unwrap_or(Term::NIL),
            None => am::default.into(),
        }
    }
    /// `{Name, Number}`; `{legacy, default}` for the default session.
    pub fn weak_ref<'h>(&self, h: &'h Heap) -> Term<'h> {
        h.tuple(&[self.name.map_or(atom("legacy"), Term::from), self.id()])
    }
    /// Whether a term is its weak reference.
    pub fn has_weak_ref(&self, t: Term<'_>) -> bool {
        let named = |name: Term<'_>| name.as_atom() == self.name;
        let numbered = |n: Term<'_>| n.as_small().map(|n| n as u64) == self.number;
        self.number.is_some() && t.as_tuple_n::<2>().is_some_and(|[a, n]| named(a) && numbered(n))
    }
}

/// The strong reference. When the last copy is gone, the session ends.
pub struct SessionHandle(SessionRef);

impl SessionHandle {
    pub fn session(&self) -> &SessionRef {
        &self.0
    }
}
impl Drop for SessionHandle {
    /// May be called by a collection or under any lock: the settings are removed later, on behalf
    /// of the trace cleaner.
    fn drop(&mut self) {
        if self.0.alive.swap(false, Ordering::AcqRel) {
            locked(&DROPPED).push(self.0.clone());
            let cleaner = CLEANER.load(Ordering::Acquire);
            post(cleaner, |_| am::notify.into());
        }
    }
}

kvik_state::vm_state! {
    static DEFAULT: OnceLock<SessionRef> = OnceLock::new();
    /// The other sessions, the newest first.
    static SESSIONS: Mutex<Vec<SessionRef>> = Mutex::new(Vec::new());
    /// Sessions without strong references whose settings are not removed yet.
    static DROPPED: Mutex<Vec<SessionRef>> = Mutex::new(Vec::new());
    static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);
    /// The process that removes the settings of dropped sessions.
    static CLEANER: AtomicU32 = AtomicU32::new(0);
    static ON_END: OnceLock<fn(&SessionRef)> = OnceLock::new();
}

fn locked(all: &'static Mutex<Vec<SessionRef>>) -> MutexGuard<'static, Vec<SessionRef>> {
    all.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn default() -> &'static SessionRef {
    DEFAULT.get_or_init(|| {
        let alive = AtomicBool::new(true);
        Arc::new(Session { number: None, name: None, tracer: None, alive })
    })
}
pub fn create(name: Atom, tracer: Option<Tracer>) -> SessionHandle {
    let mut all = locked(&SESSIONS);
    let number = Some(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed));
    let session = Session { number, name: Some(name), tracer, alive: AtomicBool::new(true) };
    let session = Arc::new(session);
    all.insert(0, session.clone());
    SessionHandle(session)
}
/// The sessions that have not ended: the default session, then the newest first.
pub fn all() -> Vec<SessionRef> {
    let others = locked(&SESSIONS);
    let alive = others.iter().filter(|s| s.is_alive());
    std::iter::once(default()).chain(alive).cloned().collect()
}
/// The session that a weak reference names.
pub fn find(weak: Term<'_>) -> Option<SessionRef> {
    locked(&SESSIONS).iter().find(|s| s.has_weak_ref(weak) && s.is_alive()).cloned()
}

/// Ends a session and removes its settings. False: it had ended before.
pub fn end(s: &SessionRef) -> bool {
    let ended = !s.is_default() && s.alive.swap(false, Ordering::AcqRel);
    if ended {
        remove(s);
    }
    ended
}
fn remove(s: &SessionRef) {
    locked(&SESSIONS).retain(|other| !Arc::ptr_eq(other, s));
    settings::forget_session(s);
    sysmon::forget_session(s);
    if let Some(f) = ON_END.get() {
        f(s)
    }
}
/// Removes the settings of dropped sessions.
pub fn clean_up() {
    let dropped = std::mem::take(&mut *locked(&DROPPED));
    dropped.iter().for_each(remove);
}

/// Registers a function that removes a session's patterns. False if there is one already.
pub fn on_end(f: fn(&SessionRef)) -> bool {
    ON_END.set(f).is_ok()
}
/// Sets the process that is notified of dropped sessions.
pub fn set_cleaner(pid: u32) {
    CLEANER.store(pid, Ordering::Release);
}
pub fn is_cleaner(pid: u32) -> bool {
    pid != 0 && CLEANER.load(Ordering::Acquire) == pid
}
