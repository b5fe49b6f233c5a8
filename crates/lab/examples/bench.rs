//! The lab without kvik around it: `cargo run -p kvik-lab --example bench -- --vm erl`.
fn main() {
    std::process::exit(kvik_lab::main(std::env::args().skip(1).collect()));
}
