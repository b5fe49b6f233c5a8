//! Patterns for messages: `trace_pattern(send, …)` and `trace_pattern('receive', …)`.

use std::sync::RwLock;

use kvik_heap::OwnedTerm;
use kvik_proc::trace::{self, Verdict};
use kvik_proc::Proc;
use kvik_term::{am, Term};

use super::actions::TraceActions;
use super::watched::{On, Orders, Spec};

kvik_state::vm_state! {
    /// The specifications for messages received (index 0) and sent (1); `None`: no message matches.
    static SPECS: [RwLock<Option<Spec>>; 2] = [const { RwLock::new(Some(Spec::All)) }; 2];
}

pub fn set(sent: bool, o: &Orders) -> Term<'static> {
    let spec = (o.on == On::Yes).then(|| o.spec.clone());
    *SPECS[sent as usize].write().unwrap_or_else(|e| e.into_inner()) = spec;
    Term::int(1)
}
pub fn get(sent: bool) -> Option<Spec> {
    SPECS[sent as usize].read().unwrap_or_else(|e| e.into_inner()).clone()
}
pub fn install() {
    trace::set_judge(judge);
}

fn judge<'h>(p: &'h Proc, sent: bool, args: &[Term<'h>]) -> Verdict {
    let program = match get(sent) {
        None => return Verdict::Ignore,
        Some(Spec::All) => return Verdict::Tell,
        Some(Spec::Some(program)) => program,
    };
    let answer = program.run_trace(p, args, &TraceActions::default());
    if p.trace_flags() & trace::bit::SILENT != 0 {
        return Verdict::Ignore;
    }
    match answer {
        Some(t) if t.is_atom(am::true_) => Verdict::Tell,
        Some(t) if !t.is_atom(am::false_) => Verdict::With(OwnedTerm::new(t)),
        _ => Verdict::Ignore,
    }
}
