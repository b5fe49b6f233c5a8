//! NIF libraries find the functions they call in the program itself.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=enif_*");
    println!("cargo:rerun-if-changed=build.rs");
}
