//! The pattern `on_load`: a session's settings for modules loaded from now on.

use std::sync::{Arc, Mutex};

use kvik_proc::trace::SessionRef;

use super::watched::{On, Orders, Spec};

/// The settings, and the specification for meta tracing if one was set.
#[derive(Clone, Default)]
struct OnLoad {
    orders: Option<Orders>,
    meta: Option<Spec>,
}
kvik_state::vm_state! {
    static ALL: Mutex<Vec<(SessionRef, OnLoad)>> = Mutex::new(Vec::new());
}

fn with_all<R>(f: impl FnOnce(&mut Vec<(SessionRef, OnLoad)>) -> R) -> R {
    f(&mut ALL.lock().unwrap_or_else(|e| e.into_inner()))
}
/// A session's settings for new modules, and the specification for meta tracing. `None`: no
/// tracing.
pub fn get(s: &SessionRef) -> Option<(Orders, Spec)> {
    let found = with_all(|all| all.iter().find(|(owner, _)| Arc::ptr_eq(owner, s)).cloned());
    let (_, OnLoad { orders, meta }) = found?;
    Some((orders?, meta.unwrap_or(Spec::All)))
}
/// The settings of all sessions.
pub fn all() -> Vec<(Orders, Spec)> {
    let sessions = with_all(|all| all.iter().map(|(s, _)| s.clone()).collect::<Vec<_>>());
    sessions.iter().filter(|s| s.is_alive()).filter_map(get).collect()
}
pub fn forget_session(s: &SessionRef) {
    with_all(|all| all.retain(|(owner, _)| !Arc::ptr_eq(owner, s)));
}
pub fn set(o: &Orders) {
    with_all(|all| {
        let at = all.iter().position(|(owner, _)| Arc::ptr_eq(owner, &o.session));
        let at = at.unwrap_or_else(|| {
            all.push((o.session.clone(), OnLoad::default()));
            all.len() - 1
        });
        all[at].1.change(o);
        if all[at].1.orders.is_none() && all[at].1.meta.is_none() {
            all.swap_remove(at);
        }
    })
}

impl OnLoad {
    fn change(&mut self, o: &Orders) {
        let on = o.on != On::No;
        if o.meta.is_some() {
            self.meta = on.then(|| o.spec.clone());
        }
        let spec = (o.local || o.is_global()).then(|| o.spec.clone());
        let old = self.orders.clone().filter(|d| !d.is_global());
        let mut new = match old {
            // Without earlier settings, only what is named is switched on.
            None if o.is_global() => {
                self.meta = None;
                self.orders = on.then(|| o.clone());
                return;
            }
            None if !on => return,
            None => merged(o.clone(), o, true),
            Some(_) if o.is_global() => {
                if on {
                    self.meta = None;
                    self.orders = Some(o.clone());
                }
                return;
            }
            Some(old) => merged(old, o, false),
        };
        new.on = On::Yes;
        if let Some(spec) = spec {
            new.spec = spec;
        }
        self.orders = (!new.is_global()).then_some(new);
    }
}
/// Adds what `o` switches on, or removes what it switches off. Counters are not paused here.
fn merged(old: Orders, o: &Orders, first: bool) -> Orders {
    let counts = o.on == On::Yes;
    let before = |was: bool| was && !first;
    match o.on {
        On::No => Orders {
            local: old.local & !o.local,
            meta: old.meta.filter(|_| o.meta.is_none()),
            counts: old.counts & !o.counts,
            times: old.times & !o.times,
            memory: old.memory & !o.memory,
            ..old
        },
        _ => Orders {
            local: old.local | o.local,
            meta: o.meta.clone().or(old.meta),
            counts: before(old.counts) | (o.counts && counts),
            times: before(old.times) | (o.times && counts),
            memory: before(old.memory) | (o.memory && counts),
            ..old
        },
    }
}
