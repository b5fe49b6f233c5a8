//! `.beam` files: all there is between a file's bytes and native code that could be called.

use kvik_beam::{verify, BeamError, Code, Container, Module};

fn verified(file: &[u8]) -> Result<(), BeamError> {
    let container = Container::parse(file)?;
    let module = Module::parse(&container)?;
    let code = Code::decode(&module)?;
    verify(&module, &code).map(|_| ())
}

pub fn run(file: &[u8]) {
    crate::install();
    // Atoms and exports stay for good: only files that could be loaded get that far.
    if verified(file).is_ok() {
        // It may still be refused, for its literals.
        let _ = kvik_jit::prepare(file);
    }
}
