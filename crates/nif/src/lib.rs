//! NIF libraries: the functions of `erl_nif.h` up to OTP 29's, which C libraries call, and loading by
//! `erlang:load_nif/2` (see `docs/internals/nif.md`). Linked-in drivers: the same for
//! `erl_driver.h` and `erl_ddll` (see `docs/internals/linked-in-drivers.md`).
//!
//! The functions named `enif_…` are documented in OTP's manual page `erl_nif`. They trust their
//! callers as C does: values passed by C have types that only C can construct (`pointers`). Nothing
//! here unwinds into C.

mod abi;
mod address;
mod binaries;
mod call;
mod characters;
mod compound;
mod ddll;
mod driver;
mod env;
mod exports;
mod halt;
mod ioq;
mod iovec;
mod library;
mod load;
mod lock;
mod misc;
mod monitors;
mod options;
mod pointers;
mod process;
mod resource_types;
mod resources;
mod select;
mod shared_object;
mod terms;
#[cfg(test)]
mod tests;
mod text;
mod threads;
mod tracer;
mod variadic;
mod watchers;

/// Opens a shared object, to see whether it does. What it runs then runs in this process, where it
/// stays open.
pub fn opens(file: &std::path::Path) -> Result<(), String> {
    shared_object::opens(file)
}

/// Installs the hook of `erlang:load_nif/2`. Returns the number of functions exported to libraries.
pub fn install() -> usize {
    kvik_bifs::code::set_nif_loader(load::load_nif);
    kvik_port::event_loop::set_library(|fd, read, write, hangup| {
        if !driver::descriptors::ready(fd, read, write, hangup) {
            kvik_port::select::ready(fd, read, write, hangup);
        }
    });
    let watchers =
        kvik_proc::signal::Watchers { hears: watchers::down, resource: watchers::watcher };
    let _ = kvik_proc::signal::WATCHERS.set(watchers);
    kvik_proc::trace::module::set_functions(tracer::FUNCTIONS);
    kvik_port::set_loaded_drivers(ddll::table::make);
    kvik_proc::hooks::on_exit(ddll::table::forget);
    kvik_bifs::system::set_halt_hooks(halt::HOOKS);
    kvik_bifs::ddll::set_loader(kvik_bifs::ddll::Loader {
        try_load: ddll::bifs::try_load,
        try_unload: ddll::bifs::try_unload,
        loaded_drivers: ddll::bifs::loaded_drivers,
        info: ddll::bifs::info,
        monitor: ddll::bifs::monitor,
        demonitor: ddll::bifs::demonitor,
        format_error: ddll::bifs::format_error,
    });
    exports::ALL.len() + driver::FUNCTIONS.iter().map(|f| f.len()).sum::<usize>()
}
