//! Calls that templates cannot make by themselves: BIFs, apply, funs of unknown type.

use std::panic::{catch_unwind, AssertUnwindSafe};

use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_proc::process::flag;
use kvik_proc::{Bif, BifResult, ErrorClass, Proc};
use kvik_term::word::NONE;
use kvik_term::{am, Export, ExportSlot, FunEntry, Term, View};

use super::{x_terms, Operands};

fn export_at(p: u64) -> &'static Export {
    // SAFETY: templates and stubs pass the address of an entry, which is never freed.
    unsafe { &*((p & !7) as *const Export) }
}

/// Calls a BIF. A panic in it is a bug in kvik and ends the calling process only.
fn call_bif<'h>(p: &'h Proc, e: &Export, args: &[Term<'h>]) -> Option<BifResult<'h>> {
    let f = e.extra.get();
    if f == 0 {
        return None;
    }
    // SAFETY: `bind_bif` put a function of this type there.
    let f: Bif = unsafe { std::mem::transmute::<usize, Bif>(f) };
    let r = catch_unwind(AssertUnwindSafe(|| f(p, args)));
    Some(r.unwrap_or_else(|_| Err(p.exit(am::internal_error))))
}

/// An export's BIF with arguments in x registers.
pub extern "C" fn bif(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    let e = export_at(extra);
    let args = x_terms(p, regs, e.arity as usize);
    finished(p, e, args, call_bif(p, e, args))
}

/// A BIF that is called with the last reduction: it runs in the process's next time slice, as in
/// OTP. `NONE`; or the export, if the BIF was begun before this time slice.
pub extern "C" fn put_off(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    if p.heap.is_suspended() {
        return extra;
    }
    let e = export_at(extra);
    stop(p, e, x_terms(p, regs, e.arity as usize));
    p.again_as_before();
    p.trap_to.set(Some(e));
    NONE
}

/// The same for a BIF that makes large binaries: see `kvik_heap::reset_nursery`.
pub extern "C" fn nursery_reset_bif(p: &Proc, regs: &Regs, args: Operands, extra: u64) -> u64 {
    // SAFETY: a call: its arguments are the only terms besides those on stack and in roots.
    unsafe { p.heap.reset_nursery(regs.x_ptr(), export_at(extra).arity as usize) };
    bif(p, regs, args, extra)
}

/// The type of the function in `extra` of an export entry for a NIF.
pub type Nif = for<'h> fn(&'h Proc, &'static Export, &[Term<'h>]) -> BifResult<'h>;

/// The same for a NIF.
pub extern "C" fn nif(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    let e = export_at(extra);
    let args = x_terms(p, regs, e.arity as usize);
    // SAFETY: `nif_entry` put a function of this type there.
    let f: Nif = unsafe { std::mem::transmute(e.extra.get()) };
    let r = f(p, e, args);
    if r.is_err() {
        match p.heap.exc_class() {
            // No export has its name, so the entry itself is called again.
            c if c == ErrorClass::Again as u8 => p.trap_to.set(Some(e)),
            c if c == ErrorClass::Trap as u8 => {}
            _ => return raised_for_another(p, e, args, r),
        }
    }
    finished(p, e, args, Some(r))
}
/// An exception of a NIF, attributed to the function that the NIF was called for, if it names one.
#[cold]
fn raised_for_another<'h>(
    p: &'h Proc,
    e: &'static Export,
    args: &[Term<'h>],
    r: BifResult<'h>,
) -> u64 {
    let Some(called) = p.trap_to.take() else { return finished(p, e, args, Some(r)) };
    let args = p.heap.root(Root::Trap).as_tuple().map_or(&[][..], |t| t.elements());
    p.heap.set_root(Root::Trap, Term::NIL);
    finished(p, called, args, Some(r))
}

#[inline(always)]
fn finished<'h>(
    p: &'h Proc,
    e: &'static Export,
    args: &[Term<'h>],
    r: Option<BifResult<'h>>,
) -> u64 {
    match r {
        Some(Ok(t)) => {
            let mut w = t.word();
            if p.heap.gc_due() {
                if collects_soon(p) {
                    p.heap.set_exc_class(ErrorClass::ReturnsLate as u8);
                    p.heap.set_root(Root::Trap, t);
                    return NONE;
                }
                // SAFETY: the result is the only term besides those on stack and in roots.
                if !unsafe { super::stop::collect_now(p, &mut w, 1, 0) } {
                    return NONE;
                }
            }
            w
        }
        Some(Err(_)) => {
            if p.heap.exc_class() == ErrorClass::Again as u8 {
                stop(p, e, args);
            }
            if p.heap.exc_class() == ErrorClass::Trap as u8 && p.flag(flag::HANDED_OFF) {
                note_handed_off(p, e);
            }
            note_bif(p, e, args);
            NONE
        }
        None => {
            p.error(am::undef);
            note_bif(p, e, args);
            NONE
        }
    }
}

/// Ends the time slice if the collection that is due may take long.
#[cold]
fn collects_soon(p: &Proc) -> bool {
    let soon = p.collect_after_turn();
    if soon {
        p.give_up_turn();
    }
    soon
}

/// The BIFs whose exceptions belong to the function that calls them.
fn is_raiser(e: &Export) -> bool {
    let is_one = matches!(
        (e.function, e.arity),
        (am::error, 1..=3) | (am::throw | am::exit, 1) | (am::raise, 3)
    );
    e.module == am::erlang && is_one
}

/// Records the BIF's name and arguments for the first line of the stack trace.
fn note_bif<'h>(p: &'h Proc, e: &Export, args: &[Term<'h>]) {
    let class = p.heap.exc_class();
    let no_exception =
        [ErrorClass::Trap, ErrorClass::Leave, ErrorClass::Hibernate, ErrorClass::Again]
            .iter()
            .any(|c| class == *c as u8);
    if no_exception || is_raiser(e) {
        return;
    }
    let args = p.heap.list(args);
    // The error's cause takes the place of the kind of location.
    note_first(p, e, args, p.cause.take().unwrap_or(am::error));
}

/// Sets the first line of the next stack trace: function, arguments, and the kind of location
/// (`func_info`: the location of the exception itself).
pub fn note_first<'h>(p: &'h Proc, e: &Export, args: Term<'h>, kind: kvik_term::Atom) {
    let first = p.heap.tuple(&[e.module.into(), e.function.into(), args, kind.into()]);
    p.heap.set_root(Root::Spare, first);
}

/// Records the BIF and arguments with which a yielding BIF is to be called again.
fn stop<'h>(p: &'h Proc, e: &'static Export, args: &[Term<'h>]) {
    let mut words = vec![e.module.into(), e.function.into()];
    words.extend_from_slice(args);
    p.heap.set_root(Root::Trap, p.heap.tuple(&words));
    if p.trap_to.get().is_none() {
        p.trap_to.set(Some(e));
    }
}

/// Appends the name of a BIF that another thread executes to the arguments of the function that
/// waits for it. The name stays there while the process has [`flag::HANDED_OFF`], for code that
/// inspects where the process is.
#[cold]
fn note_handed_off(p: &Proc, e: &Export) {
    let wait = p.heap.root(Root::Trap).as_tuple().map_or(&[][..], |t| t.elements());
    let name = [e.module.into(), e.function.into(), Term::int(e.arity as i32)];
    p.heap.set_root(Root::Trap, p.heap.tuple_of(&[wait, &name]));
}
/// The BIF that another thread executes for a process.
pub fn handed_off(p: &Proc) -> Option<&'static Export> {
    if !p.flag(flag::HANDED_OFF) {
        return None;
    }
    let [.., m, f, a] = p.heap.root(Root::Trap).as_tuple()?.elements() else { return None };
    let arity = u32::try_from(a.as_small()?).ok()?;
    kvik_code::find_export(m.as_atom()?, f.as_atom()?, arity)
}

/// The result of `after_bif` if the time slice has ended and the BIF has not, or is to be called
/// again after a collection between time slices.
pub const STOPPED: u64 = 1;
/// The same if the time slice has ended after the BIF: its value is in x0.
pub const LATE: u64 = 2;

/// After a BIF that returned no term: the export to call instead, 0 for an exception, `STOPPED` or
/// `LATE`.
pub extern "C" fn after_bif(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    match p.heap.exc_class() {
        c if c == ErrorClass::Again as u8 => return STOPPED,
        c if c == ErrorClass::ReturnsLate as u8 => {
            regs.set_x(0, p.heap.root(Root::Trap).word());
            p.heap.set_root(Root::Trap, Term::NIL);
            return LATE;
        }
        c if c != ErrorClass::Trap as u8 => return 0,
        _ => {}
    }
    if p.heap.gc_due() && !p.heap.is_suspended() && !collects_soon(p) {
        // SAFETY: the arguments are in a root; nothing else is live but stack and roots.
        let kept = unsafe { super::stop::collect_now(p, regs.x_ptr(), 0, 0) };
        if !kept {
            return 0;
        }
    }
    let Some(e) = p.trap_to.take() else { return 0 };
    let args = p.heap.root(Root::Trap).as_tuple().map_or(&[][..], |t| t.elements());
    // A BIF has no entry at which the time slice could end.
    if p.flag(flag::COLLECTED) && p.flag(flag::COLLECT) {
        stop(p, e, args);
        return STOPPED;
    }
    with_saved_args(p, regs, e, args)
}

/// Counts the call of a BIF that was put off, not that of one that goes on.
fn count_if_put_off(p: &Proc) {
    if !p.heap.is_suspended() {
        p.heap.bump_reductions(1);
    }
}

fn with_saved_args<'h>(p: &'h Proc, regs: &Regs, e: &'static Export, args: &[Term<'h>]) -> u64 {
    for (i, t) in args.iter().take(e.arity as usize).enumerate() {
        regs.set_x(i, t.word());
    }
    if !p.flag(flag::HANDED_OFF) {
        p.heap.set_root(Root::Trap, Term::NIL);
    }
    e as *const Export as u64
}

/// The BIF that yielded, with its arguments in place.
pub extern "C" fn resume(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    count_if_put_off(p);
    p.trap_to.set(None);
    let kept = p.heap.root(Root::Trap).as_tuple().map_or(&[][..], |t| t.elements());
    let [m, f, args @ ..] = kept else { std::process::abort() };
    let (Some(m), Some(f)) = (m.as_atom(), f.as_atom()) else { std::process::abort() };
    with_saved_args(p, regs, kvik_code::export(m, f, args.len() as u32), args)
}

/// The same for a NIF.
pub extern "C" fn resume_nif(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    count_if_put_off(p);
    let kept = p.heap.root(Root::Trap).as_tuple().map_or(&[][..], |t| t.elements());
    let (Some(e), [_, _, args @ ..]) = (p.trap_to.take(), kept) else { std::process::abort() };
    with_saved_args(p, regs, e, args)
}

/// Flag in the word that names a guard BIF: a failure jumps to a label.
pub const FAILS_TO_LABEL: u64 = 1;
/// Flag: a failure adds no line for the BIF to the stack trace.
pub const NO_LINE: u64 = 2;

/// A guard BIF.
pub extern "C" fn guard_bif(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let e = export_at(extra);
    match call_bif(p, e, args.terms(p, e.arity as usize)) {
        Some(Ok(t)) => answer_guard(p, t),
        r => {
            if r.is_none() && extra & FAILS_TO_LABEL == 0 {
                p.error(am::undef);
            }
            fail_guard(p, args, extra)
        }
    }
}

/// A guard BIF's value.
#[inline(always)]
pub(super) fn answer_guard(p: &Proc, t: Term<'_>) -> u64 {
    if p.heap.gc_due() {
        // The next function entry is a safepoint.
        p.heap.set_reductions(0);
    }
    t.word()
}

/// A guard BIF has recorded an exception.
pub(super) fn fail_guard(p: &Proc, args: Operands, extra: u64) -> u64 {
    if extra & (FAILS_TO_LABEL | NO_LINE) == 0 {
        let e = export_at(extra);
        note_bif(p, e, args.terms(p, e.arity as usize));
    }
    NONE
}

/// Raises `badarg` for a guard BIF of one argument, which the template has found to be invalid.
pub extern "C" fn bad_argument(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    p.badarg();
    note_bif(p, export_at(extra), args.terms(p, 1));
    NONE
}

/// Number of arguments from which a call raises `system_limit`, as in OTP.
const MAX_ARGS: usize = 1024;

/// Why `put_list` has failed.
enum NotPut {
    /// Not a proper list.
    BadList,
    /// More arguments than any function has, but fewer than `MAX_ARGS`.
    NoSuchArity(usize),
    TooMany,
}
fn why_not_put(args: Term<'_>) -> NotPut {
    let mut it = args.list();
    match it.by_ref().take(MAX_ARGS).count() {
        MAX_ARGS => NotPut::TooMany,
        n if it.rest.is_nil() => NotPut::NoSuchArity(n),
        _ => NotPut::BadList,
    }
}

fn put_list(regs: &Regs, args: Term<'_>) -> Option<usize> {
    let mut it = args.list();
    let mut n = 0;
    for t in it.by_ref() {
        if n == 255 {
            return None;
        }
        regs.set_x(n, t.word());
        n += 1;
    }
    it.rest.is_nil().then_some(n)
}

/// The export of that name; `None` if module or function is not an atom. The first scratch word
/// says whether it does nothing but raise.
fn find(regs: &Regs, m: Term<'_>, f: Term<'_>, arity: usize) -> Option<u64> {
    Some(called(regs, kvik_code::export(m.as_atom()?, f.as_atom()?, arity as u32)))
}
fn called(regs: &Regs, e: &'static Export) -> u64 {
    regs.set_scratch(0, is_raiser(e) as u64);
    e as *const Export as u64
}

/// Raises `badarg` from a function of `erlang` that is an instruction in kvik.
pub fn badarg_in<'h>(p: &'h Proc, function: kvik_term::Atom, args: &[Term<'h>]) -> u64 {
    p.badarg();
    let e = kvik_code::export(am::erlang, function, args.len() as u32);
    note_first(p, e, p.heap.list(args), am::error);
    NONE
}

fn limit_in<'h>(p: &'h Proc, function: kvik_term::Atom, args: &[Term<'h>]) -> u64 {
    let raised = badarg_in(p, function, args);
    p.system_limit();
    raised
}

/// Inline caches of `apply` instructions: the last export called. With more than 1024 instructions
/// they share slots.
static APPLIED: [ExportSlot; 1024] = [const { ExportSlot::new() }; 1024];

/// The cache slot of the n-th `apply` instruction of a module: its number and address. The number is
/// the same in every VM.
pub fn apply_site(module: kvik_term::Atom, n: u32) -> (u64, u64) {
    let start = kvik_term::hash::block(module.name().as_bytes(), 0);
    let n = start.wrapping_add(n) as usize % APPLIED.len();
    (n as u64, &APPLIED[n] as *const ExportSlot as u64)
}

/// The address of the cell with that number.
pub fn apply_cell(n: usize) -> Option<u64> {
    APPLIED.get(n).map(|slot| std::ptr::from_ref(slot) as u64)
}
/// The number of the cell at an address.
pub fn apply_cell_number(address: u64) -> Option<u32> {
    let offset = address.checked_sub(APPLIED.as_ptr() as u64)? as usize;
    let n = offset / size_of::<ExportSlot>();
    (n < APPLIED.len()).then_some(n as u32)
}

/// `apply` with its arguments in place: the export to call. Bits 0 to 7 of `extra` are the arity,
/// the bits above are the cache slot. An export that does nothing but raise is not cached, because
/// the template has to be told of it.
pub extern "C" fn apply_fixed(p: &Proc, regs: &Regs, args: Operands, extra: u64) -> u64 {
    let (arity, site) = (extra & 0xFF, (extra >> 8) as usize % APPLIED.len());
    let (m, f) = (args.term(p, 0), args.term(p, 1));
    if arity == 3 && m.is_atom(am::erlang) && f.is_atom(am::apply) {
        let &[m, f, args] = x_terms(p, regs, 3) else { return NONE };
        return apply_terms(p, regs, [m, f, args]);
    }
    let e = m.as_atom().zip(f.as_atom()).map(|(m, f)| {
        let e = kvik_code::export(m, f, arity as u32);
        if !is_raiser(e) {
            APPLIED[site].set(e);
        }
        called(regs, e)
    });
    e.unwrap_or_else(|| {
        let args = p.heap.list(x_terms(p, regs, arity as usize));
        badarg_in(p, am::apply, &[m, f, args])
    })
}

/// `erlang:apply(M, F, Args)`: the export to call, its arguments in place.
pub extern "C" fn apply_list(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    let &[m, f, args] = x_terms(p, regs, 3) else { return NONE };
    apply_terms(p, regs, [m, f, args])
}
/// The elements of a list of three.
fn three(list: Term<'_>) -> Option<[Term<'_>; 3]> {
    let mut it = list.list();
    let all = [it.next()?, it.next()?, it.next()?];
    (it.next().is_none() && it.rest.is_nil()).then_some(all)
}
/// `apply` of `erlang:apply/3` is that of its arguments, as often as that comes.
fn apply_terms<'h>(p: &'h Proc, regs: &Regs, [mut m, mut f, mut args]: [Term<'h>; 3]) -> u64 {
    while let (true, Some(inner)) = (m.is_atom(am::erlang) && f.is_atom(am::apply), three(args)) {
        [m, f, args] = inner;
    }
    let Some(n) = put_list(regs, args) else {
        return apply_many(p, regs, [m, f, args]);
    };
    find(regs, m, f, n).unwrap_or_else(|| badarg_in(p, am::apply, &[m, f, args]))
}
/// More arguments than there are registers for: no function has so many, so the error handler is
/// called.
fn apply_many<'h>(p: &'h Proc, regs: &Regs, mfa: [Term<'h>; 3]) -> u64 {
    let names = mfa[0].as_atom().zip(mfa[1].as_atom());
    match (why_not_put(mfa[2]), names) {
        (NotPut::NoSuchArity(n), Some((m, f))) => {
            let handler = kvik_code::export(error_handler(p), am::undefined_function, 3);
            if handler.code.get() != kvik_code::undef_stub() {
                regs.set_scratch(0, is_raiser(handler) as u64);
                return call_with(regs, handler, mfa);
            }
            p.error(am::undef);
            note_first(p, kvik_code::export(m, f, n as u32), mfa[2], am::undef);
            NONE
        }
        (NotPut::TooMany, Some(_)) => limit_in(p, am::apply, &mfa),
        _ => badarg_in(p, am::apply, &mfa),
    }
}
/// The same for a fun, whose arity must differ.
fn apply_fun_many<'h>(p: &'h Proc, regs: &Regs, [f, args]: [Term<'h>; 2]) -> u64 {
    regs.set_scratch(0, 0);
    match why_not_put(args) {
        NotPut::NoSuchArity(n) if n < MAX_ARGS - 1 => {
            regs.set_scratch(0, 1);
            match f.as_fun() {
                Some(_) => p.error_pair(am::badarity, p.heap.tuple(&[f, args])),
                None => p.error_pair(am::badfun, f),
            };
            NONE
        }
        NotPut::BadList => badarg_in(p, am::apply, &[f, args]),
        _ => limit_in(p, am::apply, &[f, args]),
    }
}

/// `erlang:apply(Fun, Args)` as an instruction. After `NONE`, scratch word 0 says whether the call
/// has begun, that is, whether the arguments are a list.
pub extern "C" fn apply_fun(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    let &[f, args] = x_terms(p, regs, 2) else { return NONE };
    let Some(n) = put_list(regs, args) else {
        return apply_fun_many(p, regs, [f, args]);
    };
    let to = prepare(p, regs, f, n);
    if to == NONE {
        regs.set_scratch(0, 1);
    }
    to
}

/// `erlang:apply/2` called like any other function: it appears in the stack trace of its failures.
pub extern "C" fn called_apply_fun(p: &Proc, regs: &Regs, _: Operands, _: u64) -> u64 {
    let &[f, args] = x_terms(p, regs, 2) else { return NONE };
    let apply = kvik_code::export(am::erlang, am::apply, 2);
    let Some(n) = put_list(regs, args) else {
        p.badarg();
        note_first(p, apply, p.heap.list(&[f, args]), am::apply);
        return NONE;
    };
    let to = prepare(p, regs, f, n);
    if to == NONE {
        note_first(p, apply, Term::int(2), am::undef);
    }
    to
}

/// A fun call that the template could not make: the address to jump to, with the entry and the fun
/// in the scratch words.
pub extern "C" fn fun(p: &Proc, regs: &Regs, args: Operands, arity: u64) -> u64 {
    prepare(p, regs, args.term(p, 0), arity as usize)
}

fn prepare<'h>(p: &'h Proc, regs: &Regs, f: Term<'h>, arity: usize) -> u64 {
    let View::Fun(fun) = f.view() else {
        p.error_pair(am::badfun, f);
        return NONE;
    };
    if fun.arity() != arity {
        let args = p.heap.list(x_terms(p, regs, arity));
        let pair = p.heap.tuple(&[f, args]);
        p.error_pair(am::badarity, pair);
        return NONE;
    }
    regs.set_scratch(0, fun.export().map_or(0, |e| e as *const Export as u64));
    regs.set_scratch(1, f.word());
    match (fun.export(), fun.entry()) {
        (Some(e), _) => e.address() as u64,
        (_, Some(e)) => e.address() as u64,
        _ => NONE,
    }
}

/// `fun` with an environment: `extra` is its entry.
pub extern "C" fn make_fun(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    // SAFETY: the template passes the address of an entry, with an operand for each free variable.
    let e: &'static FunEntry = unsafe { &*(extra as *const FunEntry) };
    p.heap.fun(e, e.arity as usize, p.self_pid(), args.terms(p, e.num_free as usize)).word()
}

/// The process's error handler module, called for undefined functions.
pub fn error_handler(p: &Proc) -> kvik_term::Atom {
    p.rare(|x| x.error_handler).unwrap_or(am::error_handler)
}

/// An undefined function: returns the error handler's export, with its arguments in place.
pub extern "C" fn undefined(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    let e = export_at(extra);
    if kvik_release::current().stages_applied() {
        kvik_code::stage(e);
    }
    let args = p.heap.list(x_terms(p, regs, e.arity as usize));
    let handler = kvik_code::export(error_handler(p), am::undefined_function, 3);
    if handler.code.get() == kvik_code::undef_stub() {
        p.error(am::undef);
        note_first(p, e, args, am::undef);
        return NONE;
    }
    regs.set_x(0, e.module.word());
    regs.set_x(1, e.function.word());
    regs.set_x(2, args.word());
    handler as *const Export as u64
}

/// A fun without code: usually its module isn't loaded.
pub extern "C" fn fun_without_code(p: &Proc, regs: &Regs, _: Operands, extra: u64) -> u64 {
    // SAFETY: the fun was in a register of the process.
    let f: Term<'_> = unsafe { Term::from_word(extra) };
    let Some(fun) = f.as_fun() else { return NONE };
    let args = p.heap.list(x_terms(p, regs, fun.arity()));
    let module = fun.entry().map_or(am::undefined, |e| e.module);
    if let Some(by) = fun.entry().and_then(|e| kvik_code::purging::wait(e, p.pid())) {
        // Its time slice ends at the entry of that function.
        p.suspend_for(by);
        p.heap.set_reductions(0);
        let wait = kvik_code::export(am::erts_code_purger, am::pending_purge_lambda, 3);
        return call_with(regs, wait, [module.into(), f, args]);
    }
    let handler = kvik_code::export(error_handler(p), am::undefined_lambda, 3);
    // Loading a loaded module again would not add the missing fun.
    let loaded = kvik_code::module::current(module).is_some();
    if loaded || handler.code.get() == kvik_code::undef_stub() {
        p.error_pair(am::badfun, f);
        return NONE;
    }
    call_with(regs, handler, [module.into(), f, args])
}
/// Prepares the call of another function and returns its export.
fn call_with(regs: &Regs, e: &'static Export, args: [Term<'_>; 3]) -> u64 {
    args.iter().enumerate().for_each(|(i, t)| regs.set_x(i, t.word()));
    e as *const Export as u64
}
