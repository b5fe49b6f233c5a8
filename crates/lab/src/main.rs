//! The lab without kvik around it: `cargo run -p kvik-lab -- --vm erl`.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(kvik_lab::main(std::env::args().skip(1).collect()));
}
