//! NIF libraries and linked-in drivers find the functions they call in the program itself.

const EXPORTED: [&str; 9] = [
    "enif_*",
    "driver_*",
    "erl_drv_*",
    "erl_errno_id",
    "set_busy_port",
    "[gs]et_port_*flags",
    "add_driver_entry",
    "remove_driver_entry",
    "null_func",
];

fn main() {
    for name in EXPORTED {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
