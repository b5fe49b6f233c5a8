//! What `make fuzz` feeds: each module's `run` takes bytes from the fuzzer, gives them to the
//! decoder it is named for, and checks what can be checked without knowing the answer.
#![forbid(unsafe_code)]

pub mod damage;
pub mod etf;
pub mod loader;
pub mod packet;
pub mod re;

use std::sync::Once;

use kvik_proc::{Bif, ErrorClass, Proc};
use kvik_term::Term;

/// The tables that the crates look into, and the stubs that native code is made around.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        kvik_vm::hooks::install();
        assert!(kvik_jit::init(), "executable memory");
    });
}

fn bif(module: &str, name: &str, arity: u8) -> Bif {
    let all = kvik_bifs::all();
    let found = all
        .iter()
        .flat_map(|table| table.iter())
        .find(|b| (b.module, b.name, b.arity) == (module, name, arity));
    found.expect("a BIF").f
}

/// The value of a BIF, called again and again while it stops in its middle; `None` where it raises or
/// goes on in Erlang code.
fn call<'h>(p: &'h Proc, f: Bif, args: &[Term<'h>]) -> Option<Term<'h>> {
    loop {
        p.heap.set_reductions(4000);
        if let Ok(t) = f(p, args) {
            return Some(t);
        }
        if p.heap.exc_class() != ErrorClass::Again as u8 {
            return None;
        }
    }
}
