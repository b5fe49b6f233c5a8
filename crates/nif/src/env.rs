//! [`Env`], which C knows as `ErlNifEnv`: where terms are made, and what a call of a NIF leaves
//! behind besides its value.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::Ordering;

use kvik_heap::Heap;
use kvik_proc::Proc;
use kvik_term::am;

use crate::abi::Native;
use crate::iovec::Vectors;
use crate::library::Library;
use crate::pointers::{put, term, Word};
use crate::resource_types::Opened;

/// What `enif_schedule_nif` asked for: it is called in place of the NIF's value.
pub struct Next {
    pub name: kvik_term::Atom,
    pub code: Native,
    pub flags: c_uint,
    pub args: Vec<Word>,
}

/// An environment. Terms made in it live on the heap of the process that calls, or, where it
/// stands alone, on one of its own.
pub struct Env {
    heap: *const Heap,
    own: Option<Box<Heap>>,
    /// The process that runs on this thread, in a call on a scheduler.
    pub proc: *const Proc,
    /// The process that the environment belongs to.
    pub pid: Option<u32>,
    pub lib: *const Library,
    pub exception: Option<Word>,
    pub next: Option<Next>,
    /// Bytes that were moved for `enif_inspect_binary` and its kin.
    pub bytes: Vec<Box<[u8]>>,
    /// Vectors that it frees at its end.
    pub vectors: Vectors,
    /// Resource types opened while a library is loaded.
    pub opened: Option<Vec<Opened>>,
}

impl Env {
    fn over(heap: *const Heap, lib: *const Library) -> Env {
        Env {
            heap,
            own: None,
            proc: ptr::null(),
            pid: None,
            lib,
            exception: None,
            next: None,
            bytes: Vec::new(),
            vectors: Default::default(),
            opened: None,
        }
    }
    /// For a call in a process that this thread runs.
    pub fn of_call(p: &Proc, lib: *const Library) -> Env {
        Env { proc: p, pid: Some(p.pid()), ..Env::over(&p.heap, lib) }
    }
    /// For a call on behalf of a process, on a thread that does not run it.
    pub fn of_job(heap: &Heap, pid: u32, lib: *const Library) -> Env {
        Env { pid: Some(pid), ..Env::over(heap, lib) }
    }
    /// With a heap of its own, for callbacks and for `enif_alloc_env`.
    pub fn alone(lib: *const Library) -> Env {
        let own = Box::new(Heap::detached());
        Env { heap: &*own, own: Some(own), ..Env::over(ptr::null(), lib) }
    }
    pub fn heap<'a>(&self) -> &'a Heap {
        // SAFETY: the heap is the process's, which stays for the call, or our own.
        unsafe { &*self.heap }
    }
    pub fn proc<'a>(&self) -> Option<&'a Proc> {
        // SAFETY: null, or the process that this thread runs.
        unsafe { self.proc.as_ref() }
    }
    /// Forgets all its terms.
    pub fn clear(&mut self) {
        if self.own.is_some() {
            let own = Box::new(Heap::detached());
            self.heap = &*own;
            self.own = Some(own);
        }
        self.bytes.clear();
        self.vectors = Default::default();
        self.exception = None;
    }
    /// Keeps bytes until the environment ends or is cleared.
    pub fn keep(&mut self, bytes: Vec<u8>) -> *mut u8 {
        let mut b = bytes.into_boxed_slice();
        let at = b.as_mut_ptr();
        self.bytes.push(b);
        at
    }
}

/// The environment behind a pointer from C.
///
/// Callers are functions of the C interface, whose contract says that it is a live `ErlNifEnv` and
/// used by one thread at a time.
pub fn env<'a>(e: *mut Env) -> &'a mut Env {
    // SAFETY: as above.
    unsafe { &mut *e }
}
/// The heap that terms of an environment are made on.
pub fn heap<'a>(e: *mut Env) -> &'a Heap {
    env(e).heap()
}
thread_local! {
    static KIND: Cell<c_int> = const { Cell::new(0) };
}
/// `ERL_NIF_THR_NORMAL_SCHEDULER` and its kin; they are `1 +` the flags of a dirty job.
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
pub extern "C" fn enif_priv_data(e: *mut Env) -> *mut c_void {
    // SAFETY: null, or the library whose code runs.
    let lib = unsafe { env(e).lib.as_ref() };
    lib.map_or(ptr::null_mut(), |l| l.priv_data.load(Ordering::Acquire))
}

#[no_mangle]
pub extern "C" fn enif_alloc_env() -> *mut Env {
    Box::into_raw(Box::new(Env::alone(ptr::null())))
}
#[no_mangle]
pub extern "C" fn enif_free_env(e: *mut Env) {
    if !e.is_null() {
        // SAFETY: it came from `enif_alloc_env`.
        drop(unsafe { Box::from_raw(e) })
    }
}
#[no_mangle]
pub extern "C" fn enif_clear_env(e: *mut Env) {
    env(e).clear()
}

#[no_mangle]
pub extern "C" fn enif_make_copy(e: *mut Env, t: Word) -> Word {
    heap(e).copy_all(term(t)).word()
}

#[no_mangle]
pub extern "C" fn enif_make_badarg(e: *mut Env) -> Word {
    enif_raise_exception(e, am::badarg.word())
}
/// What stands for an exception in a NIF's value: no term.
#[no_mangle]
pub extern "C" fn enif_raise_exception(e: *mut Env, reason: Word) -> Word {
    env(e).exception = Some(reason);
    kvik_term::word::NONE
}
#[no_mangle]
pub extern "C" fn enif_is_exception(e: *mut Env, t: Word) -> c_int {
    (t == kvik_term::word::NONE && env(e).exception.is_some()) as c_int
}
#[no_mangle]
pub extern "C" fn enif_has_pending_exception(e: *mut Env, reason: *mut Word) -> c_int {
    let Some(why) = env(e).exception else { return 0 };
    put(reason, why);
    1
}

/// Takes `percent` of a turn; 1 where nothing is left of it.
#[no_mangle]
pub extern "C" fn enif_consume_timeslice(e: *mut Env, percent: c_int) -> c_int {
    let Some(p) = env(e).proc() else { return 0 };
    let part = kvik_proc::sched::REDUCTIONS * percent.clamp(1, 100) as i64 / 100;
    // A turn is all that can be taken, however much of it is gone already.
    let used = kvik_proc::sched::used_in_turn(p) as i64;
    p.heap.bump_reductions(part.max(1).min(kvik_proc::sched::REDUCTIONS - used).max(0));
    p.out_of_reductions() as c_int
}
