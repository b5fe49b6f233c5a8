//! Calls of native functions: on the scheduler, or, for dirty ones, on a thread that may block.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm, SuspendedState};
use kvik_proc::{signal_handlers, BifResult, Proc, Raised};
use kvik_term::word::NONE;
use kvik_term::{am, Atom, Export, Term};

use crate::abi::{Native, DIRTY_CPU, DIRTY_IO};
use crate::env::{set_thread_kind, EnvPtr, NifEnv, ScheduledNif};
use crate::halt::DelayingCall;
use crate::library::NifLibrary;
use crate::pointers::{to_c, Array, CStrPtr, CTerm, Word};

/// A callable library function. `entry` comes first: native code identifies the record by that
/// address. Records are never freed.
#[repr(C)]
pub struct Record {
    pub entry: Export,
    code: Native,
    /// Those of a dirty job, and [`DELAY_HALT`].
    flags: AtomicU32,
    lib: *const NifLibrary,
    /// The NIF that was called, if this function replaces it (`enif_schedule_nif`). The first
    /// argument is then the tuple of its arguments, for exceptions.
    called: Option<&'static Export>,
}
// SAFETY: nothing in it changes but the flags; the library is there while its module's code can be called.
unsafe impl Send for Record {}
// SAFETY: as above.
unsafe impl Sync for Record {}

/// Flag of a record, beside those of a dirty job: the library delays halting.
const DELAY_HALT: c_uint = 4;

/// Identity of a record: library, code, flags, name, and the NIF that was called.
type Key = (usize, usize, c_uint, Atom, Atom, u32, usize);

fn records() -> MutexGuard<'static, HashMap<Key, &'static Record>> {
    kvik_state::vm_state! {
        static RECORDS: OnceLock<Mutex<HashMap<Key, &'static Record>>> = OnceLock::new();
    }
    RECORDS.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// The record of a function, created if missing.
pub fn record(
    lib: *const NifLibrary,
    (module, name, arity): (Atom, Atom, u32),
    code: Native,
    flags: c_uint,
    called: Option<&'static Export>,
) -> Option<&'static Record> {
    let caller = called.map_or(0, |e| std::ptr::from_ref(e) as usize);
    let key = (lib as usize, code as usize, flags, module, name, arity, caller);
    let mut all = records();
    if let Some(r) = all.get(&key) {
        return Some(r);
    }
    let entry = kvik_jit::nif_entry(module, name, arity + called.is_some() as u32, call)?;
    let flags = AtomicU32::new(flags);
    let r: &'static Record = Box::leak(Box::new(Record { entry, code, flags, lib, called }));
    all.insert(key, r);
    Some(r)
}

impl Record {
    /// The arguments passed to the C function.
    fn own<'a, 'h>(&self, args: &'a [Term<'h>]) -> &'a [Term<'h>] {
        &args[(self.called.is_some() as usize).min(args.len())..]
    }
    /// Attributes an exception to the NIF that was called.
    fn raised(&self, p: &Proc, args: &[Term<'_>], raised: Raised) -> Raised {
        if let (Some(e), Some(first)) = (self.called, args.first()) {
            p.trap_to.set(Some(e));
            p.heap.set_root(Root::Trap, *first);
        }
        raised
    }
    /// The VM does not halt while the function runs.
    pub fn delay_halt(&self) {
        self.flags.fetch_or(DELAY_HALT, Relaxed);
    }
    /// Begins a call that delays halting, if the library asked for that.
    fn delaying(&self) -> Option<DelayingCall> {
        (self.flags.load(Relaxed) & DELAY_HALT != 0).then(DelayingCall::begin)
    }
    /// The function that replaces this one.
    fn next(&'static self, n: &ScheduledNif) -> Option<&'static Record> {
        // SAFETY: the library whose function was called.
        let module = unsafe { self.lib.as_ref() }.map_or(am::undefined, |l| l.module);
        let name = (module, n.name, n.args.len() as u32);
        let flags = n.flags | self.flags.load(Relaxed) & DELAY_HALT;
        record(self.lib, name, n.code, flags, Some(self.called.unwrap_or(&self.entry)))
    }
    /// Continues with the next function and its arguments.
    fn go_on<'h>(
        &self,
        p: &'h Proc,
        next: &'static Record,
        args: &[Term<'h>],
        own: &[Term<'h>],
    ) -> Raised {
        let first = match self.called {
            Some(_) => args.first().copied().unwrap_or(Term::NIL),
            None => p.heap.tuple(args),
        };
        let all: Vec<Term<'h>> = std::iter::once(first).chain(own.iter().copied()).collect();
        p.trap(&next.entry, &all)
    }
}

/// Calls `f` with the number of arguments, and an array of them as C sees them.
fn with_arguments<R>(args: &[Term<'_>], f: impl FnOnce(c_int, *const Word) -> R) -> R {
    let n = args.len() as c_int;
    if args.iter().all(|t| to_c(*t) == t.word()) {
        return f(n, args.as_ptr().cast());
    }
    let words: Vec<Word> = args.iter().map(|t| to_c(*t)).collect();
    f(n, words.as_ptr())
}

/// Called when native code calls a record's entry.
fn call<'h>(p: &'h Proc, e: &'static Export, args: &[Term<'h>]) -> BifResult<'h> {
    // SAFETY: only entries in records lead here; they come first there.
    let r: &'static Record = unsafe { &*std::ptr::from_ref(e).cast() };
    let own = r.own(args);
    if r.flags.load(Relaxed) & (DIRTY_CPU | DIRTY_IO) != 0 {
        return match p.resumed::<Waiting>() {
            Some(job) => match job.take() {
                Some(outcome) => outcome.finish(p, r, args),
                // Not finished yet.
                None => Err(p.again::<Waiting>(job, None)),
            },
            None => Err(start(p, r, own)),
        };
    }
    // The call may take long or wait for a program, so pending port output is written first.
    kvik_port::write_coalescing::write();
    let mut e = NifEnv::of_call(p, r.lib);
    let delaying = r.delaying();
    // SAFETY: the function of a library that is loaded, with as many arguments as it is to have.
    let w = unsafe { with_arguments(own, |n, argv| (r.code)(&mut e, n, argv)) };
    drop(delaying);
    if e.exception.is_none() && e.next.is_none() && w.word() != NONE {
        return Ok(w.on(&p.heap));
    }
    let NifEnv { exception, next, .. } = e;
    ended(p, r, args, w, exception, next)
}

/// Calls a record's function with a heap of its own, on behalf of the process `pid` or of none.
/// `None` if it raises or schedules another function. The caller keeps the library.
pub fn call_alone(e: &'static Export, pid: Option<u32>, args: &[Term<'_>]) -> Option<OwnedTerm> {
    // SAFETY: only entries in records are in the cells of modules; they come first there.
    let r: &'static Record = unsafe { &*std::ptr::from_ref(e).cast() };
    let mut e = NifEnv::alone(r.lib);
    e.pid = pid;
    // SAFETY: the function of a library that is loaded, with as many arguments as it is to have.
    let w = unsafe { with_arguments(args, |n, argv| (r.code)(&mut e, n, argv)) };
    let ended = e.exception.is_none() && e.next.is_none() && w.word() != NONE;
    ended.then(|| OwnedTerm::new(w.term()))
}

/// Handles a call that raised, scheduled another function, or returned no term.
#[cold]
fn ended<'h>(
    p: &'h Proc,
    r: &'static Record,
    args: &[Term<'h>],
    w: CTerm,
    exception: Option<CTerm>,
    next: Option<ScheduledNif>,
) -> BifResult<'h> {
    match (exception, next) {
        (Some(why), _) => Err(r.raised(p, args, p.error(why.on(&p.heap)))),
        (None, Some(n)) => {
            let Some(next) = r.next(&n) else { return Err(p.system_limit()) };
            let own: Vec<Term<'h>> = n.args.iter().map(|w| w.on(&p.heap)).collect();
            Err(r.go_on(p, next, args, &own))
        }
        (None, None) if w.word() == NONE => Err(r.raised(p, args, p.badarg())),
        (None, None) => Ok(w.on(&p.heap)),
    }
}

/// Schedules another native function, whose result becomes this one's.
#[no_mangle]
pub extern "C" fn enif_schedule_nif(
    mut e: EnvPtr,
    name: CStrPtr,
    flags: c_int,
    code: Native,
    argc: c_int,
    argv: Array<CTerm>,
) -> Word {
    let Ok(name) = Atom::intern(&name.latin1()) else { return crate::env::enif_make_badarg(e) };
    let flags = flags as c_uint;
    if flags & !(DIRTY_CPU | DIRTY_IO) != 0 || flags == DIRTY_CPU | DIRTY_IO || argc < 0 {
        return crate::env::enif_make_badarg(e);
    }
    let args = argv.slice(argc as usize).to_vec();
    e.env().next = Some(ScheduledNif { name, code, flags, args });
    NONE
}

/// Result of a dirty call.
enum Outcome {
    Value(OwnedTerm),
    Raised(OwnedTerm),
    /// The next function to call, with its arguments as a tuple.
    Next(&'static Record, OwnedTerm),
    Failed,
}
/// A dirty call that a process waits for.
#[derive(Clone)]
struct Job(Arc<Mutex<Option<Outcome>>>);

enum Waiting {}
impl SuspendedState for Waiting {
    type In<'h> = Job;
}

impl Job {
    fn take(&self) -> Option<Outcome> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}
impl Outcome {
    fn finish<'h>(self, p: &'h Proc, r: &'static Record, args: &[Term<'h>]) -> BifResult<'h> {
        match self {
            Outcome::Value(t) => Ok(p.heap.copy(t.term())),
            Outcome::Raised(t) => Err(r.raised(p, args, p.error(p.heap.copy(t.term())))),
            Outcome::Next(next, t) => {
                let own = p.heap.copy(t.term()).as_tuple().map_or(&[][..], |t| t.elements());
                Err(r.go_on(p, next, args, own))
            }
            Outcome::Failed => Err(p.system_limit()),
        }
    }
}

/// Starts the call on a thread, with copies of the arguments, as the process may end meanwhile.
fn start(p: &Proc, r: &'static Record, args: &[Term<'_>]) -> Raised {
    let job = Job(Arc::new(Mutex::new(None)));
    let done = job.clone();
    let args = OwnedTerm::build(1 + args.len(), |h| {
        let copies: Vec<Term<'_>> = args.iter().map(|t| h.copy_all(*t)).collect();
        h.tuple(&copies)
    });
    let pid = p.pid();
    // SAFETY: the module's code, and with that the library, is there while the process is in it;
    // from here on the job keeps it.
    let keep = unsafe {
        Arc::increment_strong_count(r.lib);
        Arc::from_raw(r.lib)
    };
    p.suspend_for(pid);
    kvik_bifs::blocking_pool::run(Box::new(move || {
        set_thread_kind(1 + (r.flags.load(Relaxed) & (DIRTY_CPU | DIRTY_IO)) as c_int);
        let outcome = dirty_call(r, pid, &args);
        *done.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(outcome);
        set_thread_kind(0);
        drop(args);
        signal_handlers::resume(pid, pid);
        drop(keep);
    }));
    p.again::<Waiting>(job, None)
}

fn dirty_call(r: &'static Record, pid: u32, args: &OwnedTerm) -> Outcome {
    let heap = Heap::detached();
    let mut e = NifEnv::of_job(&heap, pid, r.lib);
    let delaying = r.delaying();
    let args = args.term().as_tuple().map_or(&[][..], |t| t.elements());
    // SAFETY: as in `call`; the library is kept.
    let w = unsafe { with_arguments(args, |n, argv| (r.code)(&mut e, n, argv)) };
    drop(delaying);
    match (e.exception, e.next.take()) {
        (Some(why), _) => Outcome::Raised(OwnedTerm::new(why.term())),
        (None, Some(n)) => {
            let args: Vec<Term<'_>> = n.args.iter().map(|w| w.term()).collect();
            match r.next(&n) {
                Some(next) => Outcome::Next(next, OwnedTerm::new(heap.tuple(&args))),
                None => Outcome::Failed,
            }
        }
        (None, None) if w.word() == NONE => {
            Outcome::Raised(OwnedTerm::immediate(am::badarg.into()))
        }
        (None, None) => Outcome::Value(OwnedTerm::new(w.term())),
    }
}
