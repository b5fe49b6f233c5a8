//! NIF libraries: what C programs made for OTP 25's `erl_nif.h` call, and how `erlang:load_nif/2`
//! loads them (see `docs/internals/nif.md`). Linked-in drivers: the same for `erl_driver.h` and
//! `erl_ddll` (see `docs/internals/linked-in-drivers.md`).
//!
//! The functions named `enif_…` are the interface's, documented in OTP's manual page `erl_nif`. They
//! trust their callers as C does. Nothing here unwinds into C.
#![allow(clippy::not_unsafe_ptr_arg_deref)] // A C interface: what its pointers are is its contract.

mod abi;
mod binaries;
mod call;
mod compound;
mod ddll;
mod ddll_options;
mod descriptors;
mod driver;
mod driver_async;
mod driver_binaries;
mod driver_calls;
mod driver_library;
mod driver_misc;
mod driver_monitors;
mod driver_output;
mod driver_pdl;
mod driver_ports;
mod driver_queue;
mod driver_terms;
mod driver_threads;
mod env;
mod exports;
mod ioq;
mod library;
mod load;
mod misc;
mod monitors;
mod process;
mod resources;
mod select;
mod terms;
mod text;
mod threads;
mod variadic;

/// Has `erlang:load_nif/2` load libraries. The answer is how many functions those find here.
pub fn install() -> usize {
    kvik_bifs::code::set_nif_loader(load::load_nif);
    kvik_port::poll::set_library(|fd, read, write, hangup| {
        if !descriptors::ready(fd, read, write, hangup) {
            kvik_port::select::ready(fd, read, write, hangup);
        }
    });
    let watchers =
        kvik_proc::signal::Watchers { hears: monitors::down, resource: monitors::watcher };
    let _ = kvik_proc::signal::WATCHERS.set(watchers);
    kvik_port::set_loaded_drivers(ddll::make);
    kvik_proc::hooks::on_exit(ddll::forget);
    kvik_bifs::ddll::set_loader(kvik_bifs::ddll::Loader {
        try_load: ddll::try_load,
        try_unload: ddll::try_unload,
        loaded_drivers: ddll::loaded_drivers,
        info: ddll::info,
        monitor: ddll::monitor,
        demonitor: ddll::demonitor,
        format_error: ddll::format_error,
    });
    let of_drivers = [
        descriptors::ALL,
        driver_async::ALL,
        driver_binaries::ALL,
        driver_calls::ALL,
        driver_misc::ALL,
        driver_monitors::ALL,
        driver_output::ALL,
        driver_pdl::ALL,
        driver_queue::ALL,
        driver_terms::ALL,
        driver_threads::ALL,
    ];
    exports::ALL.len() + of_drivers.iter().map(|f| f.len()).sum::<usize>()
}
