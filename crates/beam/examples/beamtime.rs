//! Reads `.beam` files repeatedly and prints the cost of each step per instruction.
//!
//!     cargo run --release -p kvik-beam --example beamtime -- FILE...

use kvik_beam::{verify, BeamError, Code, Container, Module};
use std::time::{Duration, Instant};

fn main() {
    let files: Vec<Vec<u8>> =
        std::env::args().skip(1).filter_map(|path| std::fs::read(path).ok()).collect();
    let mut best = [Duration::MAX; 3];
    let mut instructions = 0;
    for _ in 0..5 {
        let mut spent = [Duration::ZERO; 3];
        instructions = 0;
        for file in &files {
            match measure(file, &mut spent) {
                Ok(count) => instructions += count,
                Err(error) => eprintln!("{error}"),
            }
        }
        for (best, spent) in best.iter_mut().zip(spent) {
            *best = spent.min(*best);
        }
    }
    println!("{} files, {instructions} instructions", files.len());
    for (what, time) in ["tables", "decode", "verify"].iter().zip(best) {
        let each = time.as_nanos() as f64 / instructions.max(1) as f64;
        println!("{what:<8}{:>9.1} ms {each:>7.1} ns per instruction", time.as_secs_f64() * 1e3);
    }
}

fn measure(file: &[u8], spent: &mut [Duration; 3]) -> Result<usize, BeamError> {
    let start = Instant::now();
    let file = Container::parse(file)?;
    let module = Module::parse(&file)?;
    let tables = Instant::now();
    let code = Code::decode(&module)?;
    spent[0] += tables - start;
    let decoded = Instant::now();
    verify(&module, &code)?;
    spent[1] += decoded - tables;
    spent[2] += decoded.elapsed();
    Ok(code.ops.len())
}
