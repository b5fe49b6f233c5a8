//! Tests of collections.

use crate::block_size::MANY_WORDS;
use crate::roots::Root;
use crate::Heap;
use kvik_term::Term;

#[test]
fn requested_collection_after_many_others_shrinks_the_block() {
    let mut h = Heap::new(1000);
    h.set_root(Root::Trap, h.list(&[Term::int(7); 20_000]));
    for _ in 0..4 {
        h.collect_parked(false);
    }
    let old_block = h.sizes().old_block;
    h.set_root(Root::Trap, Term::NIL);
    h.collect_parked(true);
    assert!(old_block >= 40_000 && h.sizes().block < MANY_WORDS, "{:?}", h.sizes().block);
}
