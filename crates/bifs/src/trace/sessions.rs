//! Trace sessions as terms: `{StrongReference, {Name, Number}}`, or the weak reference alone.

use std::sync::Arc;

use kvik_heap::Heap;
use kvik_proc::signal::{self, Signal};
use kvik_proc::trace::{self, session, SessionHandle, SessionRef, Tracee};
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use super::{accounts, messages, on_load, tracer_of, watched};

pub fn install() {
    session::on_end(|s| {
        on_load::forget_session(s);
        watched::forget_session(s);
        messages::forget_session(s);
        accounts::forget_session(s);
    });
}

/// The session that a strong reference and its weak one name, alive or not.
fn strong(t: Term<'_>) -> Option<SessionRef> {
    let [strong, weak] = t.as_tuple_n::<2>()?;
    let handle = Heap::resource_ref(strong)?.downcast_ref::<SessionHandle>()?;
    Some(handle.session().clone()).filter(|s| s.has_weak_ref(weak))
}
/// The session that a term names, which has not ended.
pub fn session_of(t: Term<'_>) -> Option<SessionRef> {
    strong(t).filter(|s| s.is_alive()).or_else(|| session::find(t))
}
/// The same for an argument.
pub fn session_arg(p: &Proc, t: Term<'_>) -> Result<SessionRef, Raised> {
    session_of(t).ok_or_else(|| because(p, "session"))
}
fn because(p: &Proc, cause: &str) -> Raised {
    match Atom::intern(cause) {
        Ok(cause) => p.badarg_because(cause),
        Err(_) => p.system_limit(),
    }
}

/// `trace_session_create(Name, Tracer, [])`
pub fn create_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [name, tracer, options] = *a else { return Err(p.badarg()) };
    let name = name.as_atom().filter(|_| options.is_nil()).ok_or_else(|| p.badarg())?;
    let tracer = match tracer.is_atom(am::undefined) {
        true => None,
        false => Some(tracer_of(tracer).ok_or_else(|| p.badarg())?),
    };
    let handle = session::create(name, tracer);
    let weak = handle.session().weak_ref(&p.heap);
    Ok(p.heap.tuple(&[p.heap.magic_ref(Arc::new(handle)), weak]))
}
/// `trace_session_destroy(Session)`: false if it has ended before.
pub fn destroy_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let s = strong(a[0]).or_else(|| session::find(a[0]));
    let s = s.ok_or_else(|| p.badarg_because(am::badopt))?;
    Ok(Term::bool(session::end(&s)))
}

/// Called by the trace cleaner when sessions without strong references are left: removes their
/// settings. False: no process has to be asked, as all settings are in tables.
pub fn check_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    session::clean_up();
    Ok(Term::bool(false))
}
/// Removes the settings of ended sessions from one process or port. Only the trace cleaner may ask
/// for it, and gets the pid as an answer. True: the process will answer.
pub fn clean_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !session::is_cleaner(p.pid()) {
        return Err(p.notsup());
    }
    let who = Tracee::of(a[0]).ok_or_else(|| p.badarg())?;
    session::clean_up();
    let asked = matches!(who, Tracee::Process(pid) if trace::is_alive(pid));
    if asked {
        signal::deliver(p.pid(), Signal::Message(kvik_heap::OwnedTerm::new(a[0])));
    }
    Ok(Term::bool(asked))
}
