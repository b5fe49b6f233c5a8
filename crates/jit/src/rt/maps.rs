//! Maps.

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::{FLAT_MAP_LIMIT, NONE};
use kvik_term::{am, cmp, map, Term};

use super::call::guard_bif;
use super::{arg, word};

/// The value of a key; `NONE` where it is not there.
pub extern "sysv64" fn get(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    let m = arg(p, args, 0).as_map();
    m.and_then(|m| map::get(m, arg(p, args, 1))).map_or(NONE, Term::word)
}

/// `map_get/2`; what is no map or has no such key is left to the BIF.
pub extern "sysv64" fn map_get(p: &Proc, regs: &Regs, args: *const u64, extra: u64) -> u64 {
    match arg(p, args, 1).as_map().and_then(|m| map::get(m, arg(p, args, 0))) {
        Some(v) => v.word(),
        None => guard_bif(p, regs, args, extra),
    }
}
/// `is_map_key/2`.
pub extern "sysv64" fn is_map_key(p: &Proc, regs: &Regs, args: *const u64, extra: u64) -> u64 {
    match arg(p, args, 1).as_map() {
        Some(m) => Term::bool(map::contains(m, arg(p, args, 0))).word(),
        None => guard_bif(p, regs, args, extra),
    }
}

/// A map with keys added or replaced. `count` operands: the map, then keys and values in turn.
pub extern "sysv64" fn put_assoc(p: &Proc, _: &Regs, args: *const u64, count: u64) -> u64 {
    put(p, args, count as usize, false)
}
/// The same where each key has to be there.
pub extern "sysv64" fn put_exact(p: &Proc, _: &Regs, args: *const u64, count: u64) -> u64 {
    put(p, args, count as usize, true)
}

/// The key that an exact update misses first: OTP updates in the order of the keys.
fn first_missing<'h>(
    p: &'h Proc,
    m: kvik_term::Map<'h>,
    args: *const u64,
    count: usize,
) -> Option<Term<'h>> {
    let keys = (1..count).step_by(2).map(|i| arg(p, args, i));
    keys.filter(|k| !map::contains(m, *k)).min_by(|a, b| cmp::compare_exact(*a, *b))
}

fn put(p: &Proc, args: *const u64, count: usize, exact: bool) -> u64 {
    let source = arg(p, args, 0);
    let Some(mut m) = source.as_map() else {
        p.error_pair(am::badmap, source);
        return NONE;
    };
    if count > 3 && count / 2 <= FLAT_MAP_LIMIT {
        let mut pairs = [(Term::NIL, Term::NIL); FLAT_MAP_LIMIT];
        let pairs = &mut pairs[..count / 2];
        for (pair, i) in pairs.iter_mut().zip((1..count).step_by(2)) {
            *pair = (arg(p, args, i), arg(p, args, i + 1));
        }
        if let Some(t) = p.heap.flat_update(m, pairs) {
            return t.word();
        }
        if m.len() == 0 && count > 5 && !exact {
            return p.heap.map(pairs).word();
        }
    }
    let mut result = word(args, 0);
    for i in (1..count).step_by(2) {
        let (key, value) = (arg(p, args, i), arg(p, args, i + 1));
        if exact && !map::contains(m, key) {
            let missing = first_missing(p, m, args, count).unwrap_or(key);
            p.error_pair(am::badkey, missing);
            return NONE;
        }
        let t = p.heap.map_put(m, key, value);
        result = t.word();
        match t.as_map() {
            Some(next) => m = next,
            None => return NONE,
        }
    }
    result
}
