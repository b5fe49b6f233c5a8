//! The lab without kvik around it: `cargo run -p kvik-lab -- --vm erl`.
#![forbid(unsafe_code)]

fn main() {
    // Otherwise whoever is started has no huge pages.
    kvik_sys::alloc::prepare();
    std::process::exit(kvik_lab::main(std::env::args().skip(1).collect()));
}
