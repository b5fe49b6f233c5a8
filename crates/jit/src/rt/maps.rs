//! Maps.

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::{FLAT_MAP_LIMIT, NONE};
use kvik_term::{am, cmp, map, Term};

use super::Operands;

/// A function that reads terms only. Parameters: the process, a map, a key, the key's hash.
pub type Find = extern "C" fn(&Proc, u64, u64, u64) -> u64;

/// The value of a key; `NONE` if it is absent or `map` is not a map. The hash is not used.
pub extern "C" fn find(p: &Proc, map: u64, key: u64, _: u64) -> u64 {
    found(term(p, map).as_map().and_then(|m| map::get(m, term(p, key))))
}
/// The same with a known hash.
pub extern "C" fn find_hashed(p: &Proc, map: u64, key: u64, hash: u64) -> u64 {
    found(term(p, map).as_map().and_then(|m| map::get_hashed(m, term(p, key), hash)))
}
fn found(value: Option<Term<'_>>) -> u64 {
    value.map_or(NONE, Term::word)
}
fn term<'h>(_: &'h Proc, w: u64) -> Term<'h> {
    // SAFETY: templates pass live terms, and nothing is collected here.
    unsafe { Term::from_word(w) }
}

/// A map with keys added or replaced. `count` operands: the map, then keys and values in turn.
pub extern "C" fn put_assoc(p: &Proc, _: &Regs, args: Operands, count: u64) -> u64 {
    put(p, args, count as usize, false)
}
/// The same, but each key must be present.
pub extern "C" fn put_exact(p: &Proc, _: &Regs, args: Operands, count: u64) -> u64 {
    put(p, args, count as usize, true)
}

/// The first missing key of an exact update: OTP updates in key order.
fn first_missing<'h>(
    p: &'h Proc,
    m: kvik_term::Map<'h>,
    args: Operands,
    count: usize,
) -> Option<Term<'h>> {
    let keys = (1..count).step_by(2).map(|i| args.term(p, i));
    keys.filter(|k| !map::contains(m, *k)).min_by(|a, b| cmp::key_order(*a, *b))
}

fn put(p: &Proc, args: Operands, count: usize, exact: bool) -> u64 {
    let source = args.term(p, 0);
    let Some(mut m) = source.as_map() else {
        p.error_pair(am::badmap, source);
        return NONE;
    };
    if count > 3 && count / 2 <= FLAT_MAP_LIMIT {
        let mut pairs = [(Term::NIL, Term::NIL); FLAT_MAP_LIMIT];
        let pairs = &mut pairs[..count / 2];
        for (pair, i) in pairs.iter_mut().zip((1..count).step_by(2)) {
            *pair = (args.term(p, i), args.term(p, i + 1));
        }
        if let Some(t) = p.heap.flat_update(m, pairs) {
            return t.word();
        }
        if m.len() == 0 && count > 5 && !exact {
            return p.heap.map(pairs).word();
        }
        if !exact {
            if let Some(t) = p.heap.flat_put_all(m, pairs) {
                return t.word();
            }
        }
    }
    let mut result = args.word(0);
    for i in (1..count).step_by(2) {
        let (key, value) = (args.term(p, i), args.term(p, i + 1));
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
