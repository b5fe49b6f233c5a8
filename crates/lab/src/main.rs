//! The lab as a program of its own: `cargo run -p kvik-lab -- --vm erl`.
#![forbid(unsafe_code)]

fn main() {
    // Otherwise child processes get no huge pages.
    kvik_sys::alloc::prepare();
    std::process::exit(kvik_lab::main(std::env::args().skip(1).collect()));
}
