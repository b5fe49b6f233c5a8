//! [`NifEnv`], C's `ErlNifEnv`: where terms are built, and the side results of a NIF call.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use kvik_heap::Heap;
use kvik_proc::Proc;
use kvik_term::{am, Term};

use crate::abi::Native;
use crate::iovec::Vectors;

use crate::library::NifLibrary;
use crate::pointers::{to_c, CTerm, OutPointer, Word};
use crate::resource_types::Loading;

/// A request by `enif_schedule_nif`: called instead of returning the NIF's value.
pub struct ScheduledNif {
    pub name: kvik_term::Atom,
    pub code: Native,
    pub flags: c_uint,
    pub args: Vec<CTerm>,
}

/// An environment. Its terms are on the heap of the calling process, or, for an independent
/// environment, on a heap of its own.
pub struct NifEnv {
    heap: *const Heap,
    own: Option<Box<Heap>>,
    /// The process that this thread runs, in a call on a scheduler.
    pub proc: *const Proc,
    /// The process that the environment belongs to.
    pub pid: Option<u32>,
    pub lib: *const NifLibrary,
    pub exception: Option<CTerm>,
    pub next: Option<ScheduledNif>,
    /// Bytes copied for `enif_inspect_binary` and similar.
    pub bytes: Vec<Box<[u8]>>,
    /// Elements of tuples, as C sees them.
    words: Vec<Box<[Word]>>,
    /// Vectors freed with the environment.
    pub vectors: Vectors,
    /// What the library has set up, in a call that loads it.
    pub loading: Option<Box<Loading>>,
}

impl NifEnv {
    fn over(heap: *const Heap, lib: *const NifLibrary) -> NifEnv {
        NifEnv {
            heap,
            own: None,
            proc: ptr::null(),
            pid: None,
            lib,
            exception: None,
            next: None,
            bytes: Vec::new(),
            words: Vec::new(),
            vectors: Default::default(),
            loading: None,
        }
    }
    /// For a call in a process that this thread runs.
    pub fn of_call(p: &Proc, lib: *const NifLibrary) -> NifEnv {
        NifEnv { proc: p, pid: Some(p.pid()), ..NifEnv::over(&p.heap, lib) }
    }
    /// For a call on behalf of a process, on a thread that does not run the process.
    pub fn of_job(heap: &Heap, pid: u32, lib: *const NifLibrary) -> NifEnv {
        NifEnv { pid: Some(pid), ..NifEnv::over(heap, lib) }
    }
    /// With a heap of its own, for callbacks and for `enif_alloc_env`.
    pub fn alone(lib: *const NifLibrary) -> NifEnv {
        let own = Box::new(Heap::detached());
        NifEnv { heap: &*own, own: Some(own), ..NifEnv::over(ptr::null(), lib) }
    }
    pub fn heap<'a>(&self) -> &'a Heap {
        // SAFETY: the heap is the process's, which stays for the call, or our own.
        unsafe { &*self.heap }
    }
    pub fn proc<'a>(&self) -> Option<&'a Proc> {
        // SAFETY: null, or the process that this thread runs.
        unsafe { self.proc.as_ref() }
    }
    /// Drops all its terms.
    pub fn clear(&mut self) {
        if self.own.is_some() {
            let own = Box::new(Heap::detached());
            self.heap = &*own;
            self.own = Some(own);
        }
        self.bytes.clear();
        self.words.clear();
        self.vectors = Default::default();
        self.exception = None;
    }
    /// Terms as an array for C, which is there until the environment ends or is cleared.
    pub fn words_of(&mut self, terms: &[Term<'_>]) -> *const Word {
        if terms.iter().all(|t| to_c(*t) == t.word()) {
            return terms.as_ptr().cast();
        }
        let words: Box<[Word]> = terms.iter().map(|t| to_c(*t)).collect();
        let at = words.as_ptr();
        self.words.push(words);
        at
    }
    /// Keeps bytes until the environment ends or is cleared.
    pub fn keep(&mut self, bytes: Vec<u8>) -> *mut u8 {
        let mut b = bytes.into_boxed_slice();
        let at = b.as_mut_ptr();
        self.bytes.push(b);
        at
    }
}

/// `ErlNifEnv *`, as C passes it: null, or a live environment that one thread uses at a time. Only C
/// and `enif_alloc_env` make one (see [`crate::pointers`]).
#[repr(transparent)]
pub struct EnvPtr(*mut NifEnv);

impl EnvPtr {
    pub const NULL: EnvPtr = EnvPtr(ptr::null_mut());

    /// The environment; `None` where the interface allows null.
    pub fn get(&mut self) -> Option<&mut NifEnv> {
        // SAFETY: the interface's contract: null, or a live environment that nobody else uses.
        unsafe { self.0.as_mut() }
    }
    /// The environment, which must not be null.
    pub fn env(&mut self) -> &mut NifEnv {
        match self.get() {
            Some(e) => e,
            None => no_environment(),
        }
    }
    /// The heap on which the environment's terms are built.
    pub fn heap(&self) -> &Heap {
        // SAFETY: as for `get`.
        match unsafe { self.0.as_ref() } {
            Some(e) => e.heap(),
            None => no_environment(),
        }
    }
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    /// # Safety
    /// Null, or an environment with no other users while this is used.
    #[cfg(test)]
    pub unsafe fn new(e: *mut NifEnv) -> EnvPtr {
        EnvPtr(e)
    }
    /// The pointer to pass to a C function.
    pub fn as_ptr(&self) -> *mut NifEnv {
        self.0
    }
}

/// C has violated the contract: there is no way to continue, and no caller to return an error to.
#[cold]
fn no_environment() -> ! {
    eprintln!("A NIF library passed a null environment to a function that needs one.");
    std::process::abort()
}

thread_local! {
    static KIND: Cell<c_int> = const { Cell::new(0) };
}
/// `ERL_NIF_THR_NORMAL_SCHEDULER` and similar: 1 plus the flags of a dirty job.
pub fn set_thread_kind(kind: c_int) {
    KIND.set(kind)
}

#[no_mangle]
pub extern "C" fn enif_thread_type() -> c_int {
    match KIND.get() {
        0 => kvik_proc::sched::is_scheduler() as c_int,
        kind => kind,
    }
}

#[no_mangle]
pub extern "C" fn enif_priv_data(mut e: EnvPtr) -> *mut c_void {
    // SAFETY: null, or the library whose code runs.
    let lib = unsafe { e.env().lib.as_ref() };
    lib.map_or(ptr::null_mut(), |l| l.data())
}

/// Libraries let go of it by `enif_free` too, which loses its terms, so the memory is `malloc`'s, as
/// that of `enif_alloc`.
#[no_mangle]
pub extern "C" fn enif_alloc_env() -> EnvPtr {
    // SAFETY: a plain call.
    let at = unsafe { libc::malloc(size_of::<NifEnv>()) }.cast::<NifEnv>();
    if !at.is_null() {
        const { assert!(align_of::<NifEnv>() <= align_of::<libc::max_align_t>()) };
        // SAFETY: new memory of this size, aligned for any type of C.
        unsafe { at.write(NifEnv::alone(ptr::null())) }
    }
    EnvPtr(at)
}
#[no_mangle]
pub extern "C" fn enif_free_env(e: EnvPtr) {
    if !e.is_null() {
        // SAFETY: the interface's contract: it came from `enif_alloc_env`, and C gives it up.
        unsafe {
            ptr::drop_in_place(e.0);
            libc::free(e.0.cast())
        }
    }
}
#[no_mangle]
pub extern "C" fn enif_clear_env(mut e: EnvPtr) {
    e.env().clear()
}

#[no_mangle]
pub extern "C" fn enif_make_copy(e: EnvPtr, t: CTerm) -> Word {
    to_c(e.heap().copy_all(t.term()))
}

#[no_mangle]
pub extern "C" fn enif_make_badarg(e: EnvPtr) -> Word {
    enif_raise_exception(e, am::badarg.into())
}
/// Returns the value that marks an exception; it is no term.
#[no_mangle]
pub extern "C" fn enif_raise_exception(mut e: EnvPtr, reason: CTerm) -> Word {
    e.env().exception = Some(reason);
    kvik_term::word::NONE
}
#[no_mangle]
pub extern "C" fn enif_is_exception(mut e: EnvPtr, t: CTerm) -> c_int {
    (t.word() == kvik_term::word::NONE && e.env().exception.is_some()) as c_int
}
#[no_mangle]
pub extern "C" fn enif_has_pending_exception(mut e: EnvPtr, reason: OutPointer<Word>) -> c_int {
    let Some(why) = e.env().exception else { return 0 };
    reason.put(why.word());
    1
}

/// Consumes `percent` of a time slice; returns 1 if it is exhausted.
#[no_mangle]
pub extern "C" fn enif_consume_timeslice(mut e: EnvPtr, percent: c_int) -> c_int {
    let Some(p) = e.env().proc() else { return 0 };
    let part = kvik_proc::sched::REDUCTIONS * percent.clamp(1, 100) as i64 / 100;
    // At most one whole time slice is consumed, however much is used up already.
    let used = kvik_proc::sched::used_in_turn(p) as i64;
    p.heap.bump_reductions(part.max(1).min(kvik_proc::sched::REDUCTIONS - used).max(0));
    p.out_of_reductions() as c_int
}
