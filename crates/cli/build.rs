//! NIF libraries and linked-in drivers find the functions they call in the program itself.

fn main() {
    for name in ["enif_*", "driver_*", "erl_drv_*", "set_busy_port", "set_port_control_flags"] {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
