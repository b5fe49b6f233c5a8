//! Patterns for messages: `trace_pattern(send, …)` and `trace_pattern('receive', …)`.

use std::sync::{Arc, RwLock};

use kvik_heap::OwnedTerm;
use kvik_proc::trace::{self, SessionRef, Verdict};
use kvik_proc::Proc;
use kvik_term::{am, Term};

use super::actions::TraceActions;
use super::watched::{On, Orders, Spec};

/// The specifications for messages received (index 0) and sent (1); `None`: no message matches.
type Specs = [Option<Spec>; 2];

kvik_state::vm_state! {
    /// The sessions that have patterns of their own.
    static SPECS: RwLock<Vec<(SessionRef, Specs)>> = RwLock::new(Vec::new());
}

pub fn set(s: &SessionRef, sent: bool, o: &Orders) -> Term<'static> {
    let spec = (o.on == On::Yes).then(|| o.spec.clone());
    let mut all = SPECS.write().unwrap_or_else(|e| e.into_inner());
    match all.iter_mut().find(|(owner, _)| Arc::ptr_eq(owner, s)) {
        Some((_, specs)) => specs[sent as usize] = spec,
        None => {
            let mut specs = [Some(Spec::All), Some(Spec::All)];
            specs[sent as usize] = spec;
            all.push((s.clone(), specs));
        }
    }
    Term::int(1)
}
pub fn get(s: &SessionRef, sent: bool) -> Option<Spec> {
    let all = SPECS.read().unwrap_or_else(|e| e.into_inner());
    let own = all.iter().find(|(owner, _)| Arc::ptr_eq(owner, s));
    own.map_or(Some(Spec::All), |(_, specs)| specs[sent as usize].clone())
}
pub fn forget_session(s: &SessionRef) {
    let mut all = SPECS.write().unwrap_or_else(|e| e.into_inner());
    all.retain(|(owner, _)| !Arc::ptr_eq(owner, s));
}
pub fn install() {
    trace::set_judge(judge);
}

fn judge<'h>(p: &'h Proc, s: &SessionRef, sent: bool, args: &[Term<'h>]) -> Verdict {
    let program = match get(s, sent) {
        None => return Verdict::Ignore,
        Some(Spec::All) => return Verdict::Tell,
        Some(Spec::Some(program)) => program,
    };
    let answer = program.run_trace(p, args, &TraceActions::of(s));
    let flags = trace::of(p.tracee(), s).map_or(0, |setting| setting.0);
    if flags & trace::bit::SILENT != 0 {
        return Verdict::Ignore;
    }
    match answer {
        Some(t) if t.is_atom(am::true_) => Verdict::Tell,
        Some(t) if !t.is_atom(am::false_) => Verdict::With(OwnedTerm::new(t)),
        _ => Verdict::Ignore,
    }
}
