//! The process dictionary: neither function builds a term or fails.

use kvik_proc::Proc;
use kvik_term::Term;

fn term<'h>(_: &'h Proc, w: u64) -> Term<'h> {
    // SAFETY: templates pass live terms, and nothing is collected here.
    unsafe { Term::from_word(w) }
}

/// `get(Key)`
pub extern "C" fn get(p: &Proc, key: u64, _: u64, _: u64) -> u64 {
    p.dict_get(term(p, key)).word()
}
/// `put(Key, Value)`
pub extern "C" fn put(p: &Proc, key: u64, value: u64, _: u64) -> u64 {
    p.dict_put(term(p, key), term(p, value)).word()
}
