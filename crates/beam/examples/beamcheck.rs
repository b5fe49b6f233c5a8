//! Verifies `.beam` files, prints why files are refused, and counts the instructions that need a
//! test because the verifier couldn't prove what they rely on.
//!
//!     cargo run --release -p kvik-beam --example beamcheck -- FILE...
//!
//! `$KVIK_OTP` selects the release whose instructions a file may have; the newest is the default.

use kvik_beam::{verify, BeamError, Code, Container, Module, Opcode};
use std::collections::BTreeMap;

/// How often an instruction occurs, and how often it needs a test.
type Counts = BTreeMap<u8, (usize, usize)>;

fn main() {
    let asked = std::env::var("KVIK_OTP").ok();
    let release = match &asked {
        Some(name) => kvik_release::by_name(name),
        None => kvik_release::RELEASES.last(),
    };
    let Some(release) = release else {
        eprintln!("no release {asked:?}; there are: {}", kvik_release::supported());
        std::process::exit(2);
    };
    kvik_release::select(release, release.erts_version);
    let mut counts = Counts::new();
    let (mut files, mut refused) = (0, 0);
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        files += 1;
        if let Err(error) = check(&bytes, &mut counts) {
            refused += 1;
            println!("{path}: {error}");
        }
    }
    println!("{files} files, {refused} refused");
    for (number, (all, checked)) in counts {
        if let Some(opcode) = Opcode::from_number(number).filter(|_| checked > 0) {
            println!("{:<22}{checked:>9} of {all:>9} need a test", opcode.name());
        }
    }
}

fn check(bytes: &[u8], counts: &mut Counts) -> Result<(), BeamError> {
    let file = Container::parse(bytes)?;
    let module = Module::parse(&file)?;
    let code = Code::decode(&module)?;
    let proof = verify(&module, &code)?;
    for (at, op) in code.ops.iter().enumerate().filter(|(at, _)| proof.reachable(*at)) {
        let count = counts.entry(op.opcode as u8).or_default();
        count.0 += 1;
        count.1 += usize::from(proof.checked_needed(at));
    }
    Ok(())
}
