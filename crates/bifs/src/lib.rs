//! The built-in functions: one file per Erlang module (or part of one), one table entry per
//! function.
#![forbid(unsafe_code)]

pub mod arith;
pub mod atomics;
pub mod binary;
pub mod blocking_pool;
pub mod break_menu;
pub mod buffer;
mod capability_names;
pub mod checksum;
pub mod code;
mod compose;
pub mod convert;
pub mod counters;
mod coverage;
pub mod ddll;
pub mod debug;
mod debug_map;
mod debug_nodes;
mod debug_relations;
mod debugger;
pub mod dirty;
pub mod dump;
pub mod errors;
pub mod etf;
pub mod ets;
pub mod file;
pub mod filename;
mod float_text;
pub mod funs;
pub mod guards;
mod io_lib;
pub mod iolist;
mod iolist_join;
mod iovec;
pub mod kvik;
pub mod lists;
pub mod literals;
pub mod maps;
pub mod match_spec;
pub mod math;
mod md5;
pub mod names;
pub mod os;
pub mod packet;
pub mod path;
pub mod persistent_term;
pub mod phash;
pub mod port;
mod prim_tty;
pub mod process;
pub mod re;
mod re_block;
mod re_export;
mod re_options;
mod re_source;
mod records;
pub mod reference_scan;
pub mod search;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod speculative_load;
pub mod statistics;
mod subtract;
pub mod system;
mod table_list;
pub mod time;
pub mod trace;
pub mod tuple;
pub mod unicode;
pub mod zlib;
mod zstd;

use std::sync::OnceLock;

use kvik_proc::BifEntry;

/// All tables, one per file.
pub fn all() -> Vec<&'static [BifEntry]> {
    let mut tables: Vec<&'static [BifEntry]> = vec![
        arith::BIFS,
        convert::BIFS,
        math::BIFS,
        names::BIFS,
        trace::BIFS,
        trace::tracer::BIFS,
        phash::BIFS,
        errors::BIFS,
        tuple::BIFS,
        maps::BIFS,
        kvik::BIFS,
        lists::BIFS,
        literals::BIFS,
        guards::BIFS,
        funs::BIFS,
        atomics::BIFS,
        binary::BIFS,
        buffer::BIFS,
        checksum::BIFS,
        code::BIFS,
        coverage::BIFS,
        counters::BIFS,
        debug::BIFS,
        debug_map::BIFS,
        debugger::BIFS,
        ddll::BIFS,
        dirty::BIFS,
        etf::BIFS,
        file::BIFS,
        filename::BIFS,
        io_lib::BIFS,
        iolist::BIFS,
        iolist_join::BIFS,
        iovec::BIFS,
        match_spec::BIFS,
        os::BIFS,
        packet::BIFS,
        path::BIFS,
        persistent_term::BIFS,
        port::BIFS,
        capability_names::BIFS,
        prim_tty::BIFS,
        re::BIFS,
        records::BIFS,
        search::BIFS,
        #[cfg(feature = "simulation")]
        simulation::BIFS,
        statistics::BIFS,
        time::BIFS,
        unicode::BIFS,
        zlib::BIFS,
        zstd::BIFS,
    ];
    for more in [ets::BIFS, process::BIFS, system::BIFS] {
        tables.extend_from_slice(more);
    }
    tables
}

kvik_state::vm_state! {
    /// All bound tables, including those of higher crates.
    static BOUND: OnceLock<Vec<&'static [BifEntry]>> = OnceLock::new();
}

/// BIFs whose calls cost no reduction, nor wait for the next time slice: OTP's native code calls them
/// in another way (`hbif` in its `bif.tab`), the same in each release.
const UNCOUNTED: [(&str, &str, u8); 7] = [
    ("erlang", "erase", 1),
    ("erlang", "hibernate", 3),
    ("erlang", "process_info", 1),
    ("erlang", "process_info", 2),
    ("erlang", "put", 2),
    ("erts_internal", "check_process_code", 1),
    ("erts_internal", "garbage_collect", 1),
];

/// The bound entries that exist in the emulated release.
pub(crate) fn bound() -> impl Iterator<Item = &'static BifEntry> {
    let release = kvik_release::current();
    let all = BOUND.get().into_iter().flatten().copied().flatten();
    all.filter(move |e| e.releases.has(release))
}
/// Binds every function of the tables, including those of higher crates (`more`), to its export.
pub fn register(more: &[&'static [BifEntry]]) -> Result<(), String> {
    BOUND.get_or_init(|| all().into_iter().chain(more.iter().copied()).collect());
    for e in bound() {
        let atom = |name| kvik_term::Atom::intern(name).map_err(|e| format!("{name}: {e:?}"));
        let export = kvik_code::export(atom(e.module)?, atom(e.name)?, e.arity as u32);
        export.index.activate();
        let bind = match (e.sheds, UNCOUNTED.contains(&(e.module, e.name, e.arity))) {
            (_, true) => kvik_jit::bind_uncounted_bif,
            (true, _) => kvik_jit::bind_shedding_bif,
            (false, _) => kvik_jit::bind_bif,
        };
        bind(export, e.f);
    }
    kvik_jit::bind_apply();
    Ok(())
}
